// SPDX-License-Identifier: MIT OR Apache-2.0
// page_lookup: each walk is in one place of it at a time, and has one answer. A walk to a page, which is any, is answered by what is
// known of that page: by its entry, or its place in the map, and by what its last check has told, which is none of what was to be
// forgotten. No line is fetched and no page checked while it is known. The blocks inside are what their own jobs prove of one page
// or result; what these ask of their user is proven here.
`include "../rules/rule.svh"
module page_lookup_formal
    import walk_pkg::*;
#(
    parameter int unsigned LogChains    = 2,
    parameter int unsigned LogPages     = 16,
    parameter int unsigned LogSlots     = 1,
    parameter logic [7:0]  FirstCheckId = 8'h88,
    parameter logic [7:0]  MapId        = 8'h82,
    parameter bit          Played       = 1'b0,      // two walks only, to reach covers
    localparam int unsigned Chains = 2**LogChains,
    localparam int unsigned Slots  = 2**LogSlots
) (
    input logic                 clk_i,
    input logic                 rst_ni,
    input logic                 start_i,
    input logic                 forget_pages_i,
    input logic [63:6]          storage_base_i,
    input logic [63:0]          storage_pages_i,
    input logic [63:3]          map_chunks_i,
    input logic [63:0]          logical_pages_i,
    input logic [63:6]          images_i,
    input logic [63:0]          store_i,
    input logic [63:0]          epoch_i,
    input logic [31:0]          table_i,
    input logic                 entry_valid_i,
    input logic [9:0]           entry_position_i,
    input logic [63:0]          entry_page_i,
    input logic [31:0]          entry_image_i,
    input logic [10:0]          entry_count_i,
    input logic                 entries_broken_i,
    input logic                 vid_valid_i,
    input logic [LogChains-1:0] vid_chain_i,
    input logic [63:0]          vid_record_i,
    input code_t                vid_code_i,
    input logic                 hop_valid_i,
    input logic [LogChains-1:0] hop_chain_i,
    input logic [63:0]          hop_record_i,
    input logic [1:0]           check_read_ready_i,
    input logic                 map_read_ready_i,
    input logic [1:0]           come_valid_i,
    input logic [1:0][7:0]      come_id_i,
    input logic [1:0]           come_error_i,
    input logic [1:0][511:0]    come_i
);
    typedef logic [LogChains-1:0] chain_t;
    typedef logic [LogSlots-1:0]  slot_t;
    typedef logic [Chains-1:0]    chains_t;

    logic             forgetting_o, vid_ready_o, enter_valid_o, line_valid_o, fault_valid_o, checked_o, missed_o, quiet_o;
    chain_t           enter_chain_o, line_chain_o, fault_chain_o;
    logic [63:0]      enter_record_o;
    logic [63:6]      line_address_o, line_page_o, map_read_address_o;
    logic [15:0]      line_lines_o;
    code_t            fault_code_o;
    logic [1:0]       check_read_valid_o;
    logic [1:0][63:6] check_read_address_o;
    logic [1:0][7:0]  check_read_id_o;
    logic             map_read_valid_o;
    logic [7:0]       map_read_id_o;

    power_up i_power_up (.*);
    page_lookup #(
        .LogChains(LogChains), .LogPages(LogPages), .LogSlots(LogSlots), .FirstCheckId(FirstCheckId), .MapId(MapId)
    ) i_block (.*);

    for (genvar port = 0; port < 2; port++) begin : g_reads
        axi4_stream_rules #(.Width(66), .Dense(0)) i_reads (
            .clk_i, .rst_ni, .tvalid(check_read_valid_o[port]), .tready(check_read_ready_i[port]),
            .payload({check_read_id_o[port], check_read_address_o[port]}));
        `RULE(read_is_of_a_check, 1, !check_read_valid_o[port] || check_read_id_o[port][7:LogSlots] == FirstCheckId[7:LogSlots])
    end
    axi4_stream_rules #(.Width(66), .Dense(0)) i_map_reads (
        .clk_i, .rst_ni, .tvalid(map_read_valid_o), .tready(map_read_ready_i), .payload({map_read_id_o, map_read_address_o}));
    `RULE(map_read_has_its_id, 1, map_read_id_o == MapId)

    // ---- A job: it begins while nothing is left of the one before; what was to be forgotten is, and the entries are there, before
    // its first walk. It stays as it is while it runs.
    chains_t inside_q, entered_q;       // walks that are here, and those of them that have been taken
    logic    runs_q, walked_q, may_end, ends, begins;
    anything i_ends (.clk_i, .value_o(may_end));
    assign begins = vid_ready_o || hop_valid_i;
    assign ends   = may_end && inside_q == 0 && !begins;
    always_ff @(posedge clk_i) begin
        runs_q   <= rst_ni && (start_i || runs_q && !ends);
        walked_q <= rst_ni && !ends && (walked_q || begins);
    end
    `RULE(job_starts_when_quiet, 0, !start_i || !runs_q && !forgetting_o)
    `RULE(walks_are_of_a_job, 0, !vid_valid_i && !hop_valid_i || runs_q && !forgetting_o)
    `RULE(job_stays, 0, !runs_q || !$past(rst_ni && (start_i || runs_q)) || $stable({storage_base_i, storage_pages_i, map_chunks_i,
        logical_pages_i, images_i, store_i, epoch_i, table_i}))
    `RULE(entries_are_written_before, 0, !entry_valid_i || !walked_q && !begins)
    `RULE(entries_stay, 0, !walked_q || $stable({entry_count_i, entries_broken_i}))
    // A walk that comes is not here.
    `RULE(walk_begins_outside, 0, !vid_ready_o || !inside_q[vid_chain_i])
    `RULE(walk_hops_outside, 0, !hop_valid_i || !inside_q[hop_chain_i] && !(vid_ready_o && vid_chain_i == hop_chain_i))

    // ---- Walks: what came with each, and the answer.
    logic [Chains-1:0][63:0] records_q;
    code_t                   codes_q[Chains];
    logic   answers;
    chain_t answered;
    logic [63:0] record;
    code_t  answer;
    assign answers  = line_valid_o || fault_valid_o;
    assign answered = line_valid_o ? line_chain_o : fault_chain_o;
    assign record   = records_q[answered];
    assign answer   = line_valid_o ? Found : fault_code_o;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            inside_q  <= '0;
            entered_q <= '0;
        end else begin
            if (answers) begin
                inside_q[answered]  <= 1'b0;
                entered_q[answered] <= 1'b0;
            end
            if (enter_valid_o) entered_q[enter_chain_o] <= 1'b1;
            if (vid_ready_o) inside_q[vid_chain_i] <= 1'b1;
            if (hop_valid_i) inside_q[hop_chain_i] <= 1'b1;
        end
        if (vid_ready_o) begin
            records_q[vid_chain_i] <= vid_record_i;
            codes_q[vid_chain_i]   <= vid_code_i;
        end
        if (hop_valid_i) begin
            records_q[hop_chain_i] <= hop_record_i;
            codes_q[hop_chain_i]   <= Found;
        end
    end
    `RULE(one_walk_is_answered, 1, !(line_valid_o && fault_valid_o) && (!answers || entered_q[answered]))
    `RULE(fault_is_one, 1, !fault_valid_o || fault_code_o != Found)
    `RULE(walk_is_taken_once, 1, !enter_valid_o || (vid_ready_o ? enter_chain_o == vid_chain_i && enter_record_o == vid_record_i
        : inside_q[enter_chain_o] && !entered_q[enter_chain_o] && enter_record_o == records_q[enter_chain_o]))
    `RULE(walk_is_taken_when_it_is_told, 1, !vid_ready_o || vid_valid_i && enter_valid_o)

    // ---- The page that is followed: its entry, or its place in the map, which stays while store and epoch do.
    logic [55:0] page;
    logic        has;
    logic [9:0]  at;
    logic [31:0] image;
    place_t      map_q, new_map;
    logic        started_q, other_store, other_map;
    logic [63:0] store_q, epoch_q;
    arbitrary #(.Width(56)) i_page (.clk_i, .value_o(page));
    anything #(.Width(64)) i_map (.clk_i, .value_o(new_map));
    assign has         = i_block.i_delta_pages.has_q;
    assign at          = i_block.i_delta_pages.at_q;
    assign image       = i_block.i_delta_pages.image_q;
    assign other_store = start_i && (forget_pages_i || !started_q || store_i != store_q);
    assign other_map   = other_store || start_i && epoch_i != epoch_q;
    always_ff @(posedge clk_i) begin
        started_q <= rst_ni && (started_q || start_i);
        if (start_i) {store_q, epoch_q} <= {store_i, epoch_i};
        if (!rst_ni || other_map) map_q <= new_map;
    end
    `RULE(same_page_is_followed, 0, i_block.i_delta_pages.page == page && i_block.i_page_map.page == page[39:0])
    `RULE(map_stays, 0, i_block.i_page_map.memory == map_q)

    // The result that is followed; of the page, if it is this one's.
    logic        key_is_image, key_is_its;
    logic [39:0] key_page, key_physical;
    logic [22:0] key_epoch;
    assign {key_is_image, key_page, key_physical, key_epoch} = {i_block.i_results.is_image, i_block.i_results.page,
        i_block.i_results.physical, i_block.i_results.epoch};
    assign key_is_its = key_is_image == has && (has ? key_physical == 40'(at)
        : key_page == page[39:0] && key_physical == map_q.physical && key_epoch == map_q.epoch);

    // Where the page stands, or the fault that a look-up of it ends with, if its fetch has not failed.
    logic        in_map;
    code_t       place_code;
    logic [63:6] address;
    assign in_map  = page[55:40] == 0 && {8'd0, page} < logical_pages_i;
    assign address = has ? images_i + (58'(image) << 7) : storage_base_i + (58'(map_q.physical) << 7);
    always_comb begin
        place_code = Found;
        if (!has) begin
            if (!in_map || map_q.epoch == 0 && map_q.physical == 0) place_code = NoPlace;
            else if (64'(map_q.physical) >= storage_pages_i) place_code = BeyondStorage;
        end
    end

    // What the last check of it has told, now, and in the two clocks before.
    logic [Slots-1:0] checks_it_q;
    logic             check, fetch, told_q, told_1_q, told_2_q, forgets, learns;
    check_t           asked;
    facts_t           facts_q, facts_1_q, facts_2_q;
    chain_t           checker_chain, fetcher_q, fetching;
    slot_t            check_slot;
    assign check         = i_block.i_checker.start_i;
    assign check_slot    = i_block.i_checker.start_slot_i;
    assign asked         = i_block.i_checker.check_i;
    assign checker_chain = i_block.placed_q.look.chain;
    assign fetch         = i_block.i_page_map.fetch_i;
    assign fetching      = i_block.placing.chain;
    assign forgets       = !rst_ni || other_store || start_i && key_is_image;
    assign learns        = i_block.i_checker.checked_valid_o && checks_it_q[i_block.i_checker.checked_slot_o];
    always_ff @(posedge clk_i) begin
        if (check) checks_it_q[check_slot] <= asked.page == {8'd0, page} && key_is_its;
        if (learns) facts_q <= i_block.i_checker.checked_o;
        told_q   <= !forgets && (told_q || learns);
        told_1_q <= !forgets && told_q;
        told_2_q <= !forgets && told_1_q;
        facts_1_q <= facts_q;
        facts_2_q <= facts_1_q;
    end

    // The fault with which the fetch of a walk has ended.
    code_t failures_q[Chains];
    always_ff @(posedge clk_i) begin
        if (fetch) fetcher_q <= fetching;
        for (int unsigned n = 0; n < Chains; n++) begin
            if (enter_valid_o && enter_chain_o == chain_t'(n)) failures_q[n] <= Found;
            else if (i_block.i_page_map.end_now && fetcher_q == chain_t'(n)) begin
                failures_q[n] <= i_block.i_page_map.fault == 0 ? Found : i_block.i_page_map.fault[0] ? Bus : BeyondStorage;
            end
        end
    end

    // ---- Each answer.
    logic of_page;
    assign of_page = answers && record[63:8] == page && codes_q[answered] == Found && !entries_broken_i;
    `RULE(walk_with_a_fault_ends_with_it, 1, !answers || codes_q[answered] == Found || answer == codes_q[answered])
    `RULE(broken_entries_are_told, 1, !answers || codes_q[answered] != Found || !entries_broken_i || answer == Bus)
    `RULE(failure_of_its_fetch_is_told, 1, !of_page || failures_q[answered] == Found || answer == failures_q[answered])
    `RULE(page_that_is_nowhere_is_told, 1, !of_page || failures_q[answered] != Found || place_code == Found
        || answer == place_code)
    logic of_result;
    assign of_result = of_page && failures_q[answered] == Found && place_code == Found && key_is_its;
    `RULE(answer_is_what_the_last_check_told, 1, !of_result || told_2_q && answer == (facts_2_q.code != Found ? facts_2_q.code
        : facts_2_q.table_number != table_i ? OtherTable : {8'd0, record[7:0]} >= facts_2_q.lines ? NoLine : Found))
    `RULE(line_is_that_of_its_page, 1, !(line_valid_o && of_page) || line_page_o == address
        && line_address_o == address + 58'd1 + 58'(record[7:4]))
    `RULE(lines_of_the_page_are_told, 1, !(line_valid_o && of_result) || line_lines_o == facts_2_q.lines)

    // ---- Each fetch and each check.
    logic [63:0] fetch_record, check_record;
    logic        known_line, known_result, fetch_in_map;
    assign fetch_record = records_q[fetching];
    assign check_record = records_q[checker_chain];
    assign known_line   = i_block.i_page_map.known_q;
    assign known_result = i_block.i_results.known_q;
    assign fetch_in_map = fetch_record[63:48] == 0 && {8'd0, fetch_record[63:8]} < logical_pages_i;
    `RULE(fetch_is_of_a_walk_and_its_page, 1, !fetch || entered_q[fetching] && codes_q[fetching] == Found && !entries_broken_i
        && fetch_in_map && i_block.i_page_map.fetch_page_i == fetch_record[47:8])
    `RULE(no_line_is_fetched_that_is_known, 1, !(fetch && fetch_record[63:8] == page) || !has && !known_line)
    `RULE(check_is_of_a_walk_and_its_page, 1, !check || entered_q[checker_chain] && codes_q[checker_chain] == Found
        && !entries_broken_i && asked.page == {8'd0, check_record[63:8]} && !asked.is_map)
    `RULE(page_is_checked_where_it_stands, 1, !(check && check_record[63:8] == page) || place_code == Found
        && asked.is_image == has && asked.address == address && asked.epoch == (has ? '0 : map_q.epoch))
    `RULE(no_page_is_checked_that_is_known, 1, !(check && check_record[63:8] == page && key_is_its) || !known_result)
    `RULE(forgetting_is_told, 1, !$past(!rst_ni || start_i) || forgetting_o)
    `RULE(forgetting_is_told_until_it_has_ended, 1, forgetting_o == (i_block.i_results.busy_q || i_block.i_page_map.forgetting_q))
    `RULE(counts_are_told, 1, checked_o == i_block.i_checker.checked_valid_o && missed_o == fetch)
    `RULE(quiet_when_no_check_runs, 1, quiet_o == (i_block.i_checker.runs_q == 0))

    // What the blocks inside are given as it is.
    `RULE(settings_are_given, 1, {i_block.i_page_map.storage_base_i, i_block.i_page_map.storage_pages_i, i_block.i_page_map.chunks_i,
        i_block.i_checker.store_i, i_block.i_checker.epoch_i} == {storage_base_i, storage_pages_i, map_chunks_i, store_i, epoch_i})
    `RULE(entries_are_given, 1, {i_block.i_delta_pages.write_i, i_block.i_delta_pages.write_position_i,
        i_block.i_delta_pages.write_page_i, i_block.i_delta_pages.write_image_i, i_block.i_delta_pages.count_i}
        == {entry_valid_i, entry_position_i, entry_page_i, entry_image_i, entry_count_i})
    `RULE(lines_are_given, 1, {i_block.i_checker.line_valid_i, i_block.i_checker.line_id_i, i_block.i_checker.line_error_i,
        i_block.i_checker.line_i} == {come_valid_i, come_id_i, come_error_i, come_i}
        && {i_block.i_page_map.line_valid_i, i_block.i_page_map.line_id_i, i_block.i_page_map.line_error_i,
        i_block.i_page_map.line_i} == {come_valid_i[0], come_id_i[0], come_error_i[0], come_i[0]})

    // A walk that comes back for its check finds the result. What is proven of one result of one page is assumed of all others.
    logic returns, returns_for_it;
    assign returns        = i_block.leaves != 0 && i_block.looks;
    assign returns_for_it = check_record[63:8] == page && key_is_its;
    `RULE(returning_walk_finds_its_result, 1, !(returns && returns_for_it) || i_block.known)
    `RULE(other_walks_find_theirs, 0, !(returns && !returns_for_it) || i_block.known)
    // Its place is kept for it until then, so what it waited for is not for nothing.
    `RULE(slot_is_left_with_the_answer, 1, i_block.leaves == 0 || answers)

    // A walk is parked for a place only where a check would take it from another.
    logic [Slots-1:0] clashes;
    logic             clashes_with_check;
    assign clashes_with_check = check && i_block.placed_q.is_image == i_block.asked_q.is_image
        && LogPages'(i_block.placed_q.place.physical) == LogPages'(i_block.asked_q.place.physical);
    for (genvar n = 0; n < Slots; n++) begin : g_places
        assign clashes[n] = i_block.taken_q[n] && i_block.slots_q[n].is_image == i_block.asked_q.is_image
            && LogPages'(i_block.slots_q[n].place.physical) == LogPages'(i_block.asked_q.place.physical);
    end
    `RULE(clash_is_with_a_check, 1, i_block.clash_q == $past(clashes != 0 || clashes_with_check))

    // ---- What induction needs. Where each walk is.
    localparam int unsigned Latency = 12;
    logic                fetch_called, busy, fetched;
    chain_t              fetch_chain;
    logic [Slots-1:0]    taken, done, called;
    logic [LogChains:0]  hops, parked;
    assign fetch_called = i_block.fetch_called_q;
    assign fetch_chain  = i_block.fetch_chain_q;
    assign busy         = i_block.i_page_map.busy_q;
    assign fetched      = i_block.i_page_map.fetched_q;
    assign {taken, done, called} = {i_block.taken_q, i_block.done_q, i_block.called_q};
    assign hops   = i_block.i_hops.pushed_q - i_block.i_hops.popped_q;
    assign parked = i_block.i_parked.pushed_q - i_block.i_parked.popped_q;
    chains_t is_called_back, in_flight, is_parked;
    assign is_called_back = chains_t'(i_block.called_back_q) << i_block.call_chain_q;
    `RULE(counts_agree, 1, i_block.hops_waiting_q == hops && i_block.parked_q == parked)

    chains_t [Latency:1] in_stage;
    for (genvar n = 1; n <= Latency; n++) begin : g_stages
        logic [63:0] its;
        logic        valid;
        assign valid       = i_block.looks_q[n].valid;
        assign its         = records_q[i_block.looks_q[n].chain];
        assign in_stage[n] = chains_t'(valid) << i_block.looks_q[n].chain;
        `RULE(stage_has_its_walk, 1, !valid || i_block.looks_q[n].record == its
            && i_block.looks_q[n].code == codes_q[i_block.looks_q[n].chain])
        if (n > 1 && n < Latency) begin : g_search
            `RULE(search_is_of_its_page, 1, !valid || i_block.i_delta_pages.is_page_q[n-1] == (its[63:8] == page)
                && i_block.i_delta_pages.live_q[n-1])
        end
    end
    chains_t [Chains-1:0] in_hops, in_parked;
    for (genvar w = 0; w < Chains; w++) begin : g_words
        chain_t hop_place, parked_place, hop_chain;
        logic   hop_there;
        assign hop_place    = chain_t'(w) - i_block.i_hops.popped_q[LogChains-1:0];
        assign parked_place = chain_t'(w) - i_block.i_parked.popped_q[LogChains-1:0];
        assign hop_there    = {1'b0, hop_place} < hops;
        assign hop_chain    = i_block.i_hops.i_words.words[w][LogChains+63:64];
        assign in_hops[w]   = chains_t'(hop_there) << hop_chain;
        assign in_parked[w] = chains_t'({1'b0, parked_place} < parked) << i_block.i_parked.i_words.words[w];
        `RULE(hop_is_in_its_place, 1, !hop_there || i_block.i_hops.i_words.words[w][63:0] == records_q[hop_chain])
    end
    chains_t [Slots-1:0] in_slot, has_slot;
    logic                answered_has_slot;
    always_comb begin
        answered_has_slot = 1'b0;
        for (int unsigned n = 0; n < Slots; n++) if (has_slot[n][answered]) answered_has_slot = 1'b1;
    end
    for (genvar n = 0; n < Slots; n++) begin : g_slots
        logic [63:0] its;
        logic        its_page;
        assign its         = records_q[i_block.slots_q[n].chain];
        assign its_page    = its[63:8] == page;
        assign in_slot[n]  = chains_t'(taken[n] && !called[n]) << i_block.slots_q[n].chain;
        assign has_slot[n] = chains_t'(taken[n]) << i_block.slots_q[n].chain;
        `RULE(slot_is_in_one_state, 1, (!done[n] || taken[n]) && (!called[n] || done[n])
            && i_block.i_checker.runs_q[n] == (taken[n] && !done[n]))
        `RULE(slot_is_of_a_walk, 1, !taken[n] || entered_q[i_block.slots_q[n].chain]
            && codes_q[i_block.slots_q[n].chain] == Found && !entries_broken_i && i_block.slots_q[n].page == its[47:8])
        `RULE(slot_is_of_a_place, 1, !taken[n] || (i_block.slots_q[n].is_image ? i_block.slots_q[n].place.physical[39:10] == 0
            : its[63:48] == 0))
        `RULE(slot_of_the_page_has_its_place, 1, !(taken[n] && its_page) || place_code == Found
            && i_block.slots_q[n].is_image == has
            && (has ? i_block.slots_q[n].place.physical == 40'(at) : i_block.slots_q[n].place == map_q))
        `RULE(slot_of_another_page_has_another, 1, !taken[n] || its_page || !has || !i_block.slots_q[n].is_image
            || i_block.slots_q[n].place.physical != 40'(at))
        `RULE(check_of_the_page_is_known, 1, !taken[n] || checks_it_q[n] == (its_page && key_is_its))
        `RULE(its_result_is_known, 1, !(taken[n] && done[n] && checks_it_q[n]) || known_result)
        `RULE(call_is_of_the_walk_in_front, 1, !(called[n] && i_block.placed_q.look.valid)
            || i_block.same_chain_q[n] == (i_block.slots_q[n].chain == i_block.placed_q.look.chain))
        for (genvar m = 0; m < n; m++) begin : g_other
            `RULE(slots_have_different_places, 1, !(taken[n] && taken[m])
                || i_block.slots_q[n].is_image != i_block.slots_q[m].is_image
                || i_block.slots_q[n].place.physical[LogPages-1:0] != i_block.slots_q[m].place.physical[LogPages-1:0])
        end
    end
    for (genvar c = 0; c < Chains; c++) begin : g_walks
        logic [Latency-1:0] stages;
        logic [Chains-1:0]  hop_words, parked_words;
        logic [Slots-1:0]   waits_in, owns;
        logic               fetches, asked_now, placed_now, its_call;
        for (genvar n = 1; n <= Latency; n++) begin : g_n
            assign stages[n-1] = in_stage[n][c];
        end
        for (genvar w = 0; w < Chains; w++) begin : g_w
            assign hop_words[w]    = in_hops[w][c];
            assign parked_words[w] = in_parked[w][c];
        end
        for (genvar n = 0; n < Slots; n++) begin : g_s
            assign waits_in[n] = in_slot[n][c];
            assign owns[n]     = has_slot[n][c];
        end
        assign fetches    = busy && !fetch_called && fetch_chain == chain_t'(c);
        assign asked_now  = i_block.asked_q.look.valid && i_block.asked_q.look.chain == chain_t'(c);
        assign placed_now = i_block.placed_q.look.valid && i_block.placed_q.look.chain == chain_t'(c);
        assign its_call   = is_called_back[c];
        assign is_parked[c] = parked_words != 0;
        assign in_flight[c]         = its_call || stages != 0;
        `RULE(walk_is_in_one_place, 1, $onehot0({hop_words, stages, asked_now, placed_now, its_call, parked_words, fetches, waits_in}))
        `RULE(walk_is_in_some_place, 1, inside_q[c] == ({hop_words, stages, asked_now, placed_now, its_call, parked_words, fetches,
            waits_in} != 0) && entered_q[c] == (inside_q[c] && hop_words == 0))
        `RULE(walk_has_one_slot, 1, $onehot0(owns))
        `RULE(record_is_kept, 1, !entered_q[c] || i_block.i_records.words[c] == records_q[c])
        `RULE(walk_that_waits_has_no_fault, 1, !its_call && parked_words == 0 && hop_words == 0 && !fetches && waits_in == 0
            || codes_q[c] == Found)
        `RULE(failure_is_one, 1, !entered_q[c] || failures_q[c] == Found || failures_q[c] == Bus || failures_q[c] == BeyondStorage)
        `RULE(walk_with_a_failure_ends, 1, !entered_q[c] || records_q[c][63:8] != page || failures_q[c] == Found
            || fetched && fetch_chain == chain_t'(c)
            || asked_now && !i_block.asked_q.parks && i_block.asked_q.look.code == failures_q[c]
            || placed_now && !i_block.placed_q.parks && i_block.placed_q.look.code == failures_q[c])
    end

    // Walks that are parked look again, in their order, when a check or a fetch has ended, or the walk of one has gone on, or
    // none is under way; but not in each clock while records wait that go on to another page.
    chains_t may_look_q;
    logic    changes, popped_q;
    assign changes = i_block.i_checker.checked_valid_o || fetched && (!fetch_called || i_block.i_page_map.release_i)
        || taken == 0 && !busy || answers && answered_has_slot;
    always_ff @(posedge clk_i) begin
        popped_q <= rst_ni && i_block.pop_parked;
        if (!rst_ni) begin
            may_look_q <= '0;
        end else begin
            if (changes) may_look_q <= is_parked;
            if (i_block.pop_parked) may_look_q[i_block.parked_chain] <= 1'b0;
        end
    end
    for (genvar w = 0; w < Chains; w++) begin : g_released
        chain_t place;
        assign place = chain_t'(w) - i_block.i_parked.popped_q[LogChains-1:0];
        `RULE(walk_looks_again_after_a_change, 1, (in_parked[w] & may_look_q) == 0 || {1'b0, place} < i_block.released_q)
    end
    `RULE(only_parked_walks_look_again, 1, (may_look_q & ~is_parked) == 0)
    `RULE(parked_walk_goes_next, 1, !(may_look_q != 0) || i_block.called_back_q || popped_q || i_block.pop_parked)
    `RULE(record_goes_next, 1, hops == 0 && !vid_valid_i || i_block.called_back_q || i_block.pop_parked || enter_valid_o)
    `RULE(records_have_turns, 1, hops == 0 || !popped_q || !i_block.pop_parked)
    `RULE(turn_is_known, 1, i_block.parked_turn_q == !popped_q || !$past(rst_ni))
    `RULE(walk_is_called_back_at_once, 1, !$past(rst_ni && (fetched && !fetch_called || (done & ~called) != 0)) || i_block.called_back_q)

    // Jobs.
    `RULE(walks_are_in_a_job, 1, inside_q == 0 || runs_q && walked_q && started_q && !forgetting_o)
    `RULE(store_is_kept, 1, !started_q || {i_block.store_q, i_block.epoch_q} == {store_q, epoch_q})
    `RULE(job_is_the_one_that_started, 1, !runs_q || started_q && {store_i, epoch_i} == {store_q, epoch_q})
    `RULE(walked_is_started, 1, !walked_q || runs_q && started_q)
    `RULE(entries_are_counted, 1, !walked_q || !i_block.i_delta_pages.wrote_q && i_block.i_delta_pages.count_q == entry_count_i)

    // The fetch.
    logic [63:0] its_fetch;
    assign its_fetch = records_q[fetch_chain];
    `RULE(fetch_ends_before_it_calls, 1, (!fetched || busy) && (!fetch_called || fetched && in_flight[fetch_chain]))
    `RULE(fetch_is_of_its_walk, 1, !busy || fetcher_q == fetch_chain && entered_q[fetch_chain] && codes_q[fetch_chain] == Found
        && !entries_broken_i && its_fetch[63:48] == 0 && {8'd0, its_fetch[63:8]} < logical_pages_i
        && i_block.i_page_map.page_q == its_fetch[47:8] && !(its_fetch[63:8] == page && has))
    `RULE(failure_is_that_of_the_fetch, 1, !fetched || i_block.i_page_map.code_q == failures_q[fetch_chain])
    `RULE(place_is_fetched, 1, !(fetched && i_block.i_page_map.code_q == Found && i_block.i_page_map.page_q == page[39:0])
        || i_block.i_page_map.place_q == map_q)
    `RULE(fetched_walk_is_known, 1, !(fetch_called && i_block.looks_q[Latency].valid)
        || i_block.placing_fetched_q == (fetch_chain == i_block.looks_q[Latency].chain))
    `RULE(nothing_is_known_before_a_start, 1, started_q || !known_line && !known_result && !told_q)
    `RULE(known_place_is_that_of_the_map, 1, !known_line || i_block.i_page_map.kept_q == map_q)

    // The last stages.
    logic [63:0] last;
    logic        of_last, of_last_but_one;
    assign last            = i_block.looks_q[Latency].record;
    assign of_last         = i_block.looks_q[Latency].valid && last[47:8] == page[39:0];
    assign of_last_but_one = i_block.looks_q[Latency-1].valid && i_block.looks_q[Latency-1].record[47:8] == page[39:0];
    `RULE(map_is_looked_up, 1, !(of_last_but_one && i_block.i_page_map.looked_known_q) || i_block.i_page_map.looked_place_q == map_q)
    `RULE(map_was_looked_up, 1, !(of_last && i_block.map_known) || i_block.map_place == map_q)
    `RULE(line_comes, 1, !(of_last_but_one && known_line && !i_block.i_page_map.looked_known_q) || fetched && !fetch_called)
    `RULE(line_has_just_come, 1, !(of_last && known_line && !i_block.map_known) || busy)
    `RULE(map_stays_while_walks_are_here, 1, !$past(rst_ni && inside_q != 0) || $stable(map_q))
    `RULE(entry_was_looked_up, 1, !i_block.looks_q[Latency].valid || (last[63:8] == page
        ? i_block.in_delta == has && (!has || i_block.position == at && i_block.image == image)
        : !i_block.in_delta || !has || i_block.position != at))
    `RULE(bounds_of_the_map_are_known, 1, !i_block.looks_q[Latency].valid
        || i_block.in_map_q == (last[63:48] == 0 && {8'd0, last[63:8]} < logical_pages_i))

    // The look into the results: the two clocks of it.
    for (genvar n = 0; n < 2; n++) begin : g_placed
        logic        valid, parks, is_image, of_key;
        chain_t      chain;
        code_t       code;
        place_t      place;
        logic [63:6] its_address;
        logic [63:0] its, its_record;
        if (n == 0) begin : g_asked
            assign {valid, parks, is_image} = {i_block.asked_q.look.valid, i_block.asked_q.parks, i_block.asked_q.is_image};
            assign {chain, code}      = {i_block.asked_q.look.chain, i_block.asked_q.look.code};
            assign {place, its_address} = {i_block.asked_q.place, i_block.asked_q.address};
            assign its_record         = i_block.asked_q.look.record;
        end else begin : g_found
            assign {valid, parks, is_image} = {i_block.placed_q.look.valid, i_block.placed_q.parks, i_block.placed_q.is_image};
            assign {chain, code}      = {i_block.placed_q.look.chain, i_block.placed_q.look.code};
            assign {place, its_address} = {i_block.placed_q.place, i_block.placed_q.address};
            assign its_record         = i_block.placed_q.look.record;
        end
        assign its    = records_q[chain];
        assign of_key = key_is_its && its[63:8] == page && valid && !parks && code == Found;
        `RULE(record_goes_with_it, 1, !valid || its_record == its)
        `RULE(fault_goes_with_it, 1, !valid || (codes_q[chain] != Found ? !parks && code == codes_q[chain]
            : entries_broken_i ? !parks && code == Bus : parks || code == Found || code == NoPlace || code == BeyondStorage || code == Bus))
        `RULE(parked_walk_has_no_failure, 1, !(valid && parks) || codes_q[chain] == Found
            && (its[63:8] != page || failures_q[chain] == Found))
        `RULE(place_is_one, 1, !(valid && !parks && code == Found) || (its[63:8] != page || failures_q[chain] == Found)
            && (is_image ? place.physical[39:10] == 0 : its[63:48] == 0))
        `RULE(place_of_the_page_goes_with_it, 1,
            !(valid && !parks && codes_q[chain] == Found && !entries_broken_i && its[63:8] == page)
            || (failures_q[chain] != Found ? code == failures_q[chain] : code == place_code && (code != Found || is_image == has
            && its_address == address && (has ? place == place_t'({24'd0, 40'(at)}) : place == map_q))))
        `RULE(other_pages_have_other_places, 1, !(valid && !parks && code == Found && its[63:8] != page && has && is_image)
            || place.physical != 40'(at))
        logic known, waits;
        logic [Slots-1:0] holds;
        for (genvar m = 0; m < Slots; m++) begin : g_m
            assign holds[m] = taken[m] && checks_it_q[m];
            `RULE(returning_walk_has_its_result, 1,
                !(of_key && called[m] && checks_it_q[m] && i_block.slots_q[m].chain == chain) || known)
            if (n == 1) begin : g_clash
                `RULE(clash_is_known, 1, !(valid && taken[m] && !i_block.clash_q) || i_block.slots_q[m].is_image != is_image
                    || i_block.slots_q[m].place.physical[LogPages-1:0] != place.physical[LogPages-1:0])
            end
        end
        assign known = n == 0 ? i_block.i_results.looked_known_q : i_block.known;
        assign waits = n == 0 ? holds != 0 : i_block.clash_q;
        `RULE(result_has_just_come, 1, !(of_key && known_result && !known) || waits)
        if (n == 0) begin : g_facts_come
            `RULE(facts_are_those_of_the_result, 1, !(of_key && known) || told_1_q && i_block.facts == facts_1_q)
        end else begin : g_facts_are_there
            `RULE(facts_are_those_of_the_result, 1, !(of_key && known) || told_2_q && i_block.facts_q == facts_2_q)
            `RULE(facts_are_compared, 1, !valid || i_block.other_table_q == (i_block.facts_q.table_number != table_i)
                && i_block.no_line_q == ({8'd0, its[7:0]} >= i_block.facts_q.lines))
        end
    end
    `RULE(known_result_was_told, 1, !known_result || (key_is_image ? !key_is_its || !walked_q : {16'd0, key_page} != page)
        || told_q && i_block.i_results.kept_q == facts_q)
    `RULE(images_are_forgotten, 1, !key_is_image || walked_q || !runs_q || !known_result)

    if (!Played) begin : g_covers
        `REACHED(all_walks_are_inside, inside_q == '1)
        `REACHED(page_is_fetched, fetch && fetch_record[63:8] == page)
        `REACHED(walk_parks_since_another_fetches, i_block.park && i_block.placed_q.parks)
        `REACHED(image_is_checked, check && check_record[63:8] == page && key_is_its && has)
        `REACHED(walk_parks_since_its_page_is_checked, i_block.park && !i_block.placed_q.parks && check_record[63:8] == page)
        `REACHED(parked_walk_looks_again, i_block.pop_parked)
        `REACHED(fault_of_a_walk_is_told, fault_valid_o && codes_q[answered] == Stranger)
        `REACHED(page_is_outside_the_map, of_page && fault_code_o == NoPlace)
    end else begin : g_play
        // Walks come back after more clocks than a solver goes. So what happens when is given: two walks begin, one after the other, and
        // all that they wait for ends at once. Which pages they look for, and what is found, is open.
        logic [4:0] clock_q = 5'd0;
        always_ff @(posedge clk_i) clock_q <= clock_q + 5'(clock_q != '1);
        no_reset_comes: assume property (@(posedge clk_i) rst_ni == (clock_q != 0));
        `RULE(one_job_starts, 0, start_i == (clock_q == 5'd3) && !may_end && !entry_valid_i && !hop_valid_i && !entries_broken_i)
        `RULE(two_walks_begin, 0, vid_valid_i == (clock_q == 5'd6 || clock_q == 5'd7) && vid_chain_i == chain_t'(clock_q)
            && vid_code_i == Found)
        `RULE(forgetting_ends, 0, i_block.i_results.ends && i_block.i_page_map.forgotten)
        `RULE(checks_and_fetches_end, 0, i_block.i_checker.ends && i_block.i_page_map.ends && !i_block.i_page_map.asks)
        `REACHED(fetch_of_the_page_fails, of_page && failures_q[answered] == BeyondStorage)
        `REACHED(fetched_page_is_nowhere, of_page && in_map && failures_q[answered] == Found && answer == NoPlace)
        `REACHED(page_is_found, line_valid_o && of_result && !has)
        `REACHED(image_is_found, line_valid_o && of_result && has)
        `REACHED(page_is_of_another_table, of_result && answer == OtherTable)
        logic answered_q;
        always_ff @(posedge clk_i) answered_q <= rst_ni && (answered_q || line_valid_o && of_result);
        `REACHED(walk_that_was_parked_needs_no_check, answered_q && line_valid_o && of_result)
    end
endmodule
