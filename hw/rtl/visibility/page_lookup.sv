// SPDX-License-Identifier: MIT OR Apache-2.0
// The first half of a hop: from a RecordID to the line pointer of its version.
//
// A walk goes through a pipeline that never stalls: a search among the page entries of the shared
// state, a look into the cache of the L2P map, a look into the results of checks. A walk that needs
// a line of the map, or a check, starts it and is called back when it is done. Until then, the
// entries that its next look-up needs cannot be replaced, so every such wait advances one walk.
// Other walks that find map or checker busy are parked and look again when something has changed.
//
// An answer is used clocks after it was read, and more may have been learned by then. But walks stay in
// their order, and a fetch or a check keeps its place until its walk has come back, behind all that looked
// before. So a walk that has seen too little is parked; none fetches a line or checks a page once more.
//
// Contract: a walk is in one place at a time, so nothing here overflows. The output is the address
// of the line pointer's line and the place of the page, or a fault.
module page_lookup #(
    parameter int unsigned LogChains = 7,
    parameter int unsigned LogPages  = 16,
    parameter int unsigned LogSlots  = 3,
    parameter logic [7:0]  FirstCheckId = 8'h88,
    parameter logic [7:0]  MapId        = 8'h82
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic                 start_i,
    input  logic                 forget_pages_i,     // with start_i
    output logic                 forgetting_o,       // and whenever the store is another one
    input  logic [63:6]          storage_base_i,
    input  logic [63:0]          storage_pages_i,
    input  logic [63:3]          map_chunks_i,
    input  logic [63:0]          logical_pages_i,
    input  logic [63:6]          images_i,
    input  logic [63:0]          store_i,
    input  logic [63:0]          epoch_i,
    input  logic [31:0]          table_i,

    input  logic                 entry_valid_i,      // page entries of the shared state
    input  logic [9:0]           entry_position_i,
    input  logic [63:0]          entry_page_i,
    input  logic [31:0]          entry_image_i,
    input  logic [10:0]          entry_count_i,
    input  logic                 entries_broken_i,

    input  logic                 vid_valid_i,        // a walk that begins
    output logic                 vid_ready_o,
    input  logic [LogChains-1:0] vid_chain_i,
    input  logic [63:0]          vid_record_i,
    input  walk_pkg::code_t      vid_code_i,
    input  logic                 hop_valid_i,        // a walk that goes on
    input  logic [LogChains-1:0] hop_chain_i,
    input  logic [63:0]          hop_record_i,
    output logic                 enter_valid_o,      // either has been taken
    output logic [LogChains-1:0] enter_chain_o,
    output logic [63:0]          enter_record_o,

    output logic                 line_valid_o,
    output logic [LogChains-1:0] line_chain_o,
    output logic [63:6]          line_address_o,
    output logic [63:6]          line_page_o,        // where the page begins
    output logic [15:0]          line_lines_o,       // line pointers that the page has
    output logic                 fault_valid_o,
    output logic [LogChains-1:0] fault_chain_o,
    output walk_pkg::code_t      fault_code_o,

    output logic                 checked_o,          // a page, in this clock
    output logic                 missed_o,           // the cache of the L2P map
    output logic                 quiet_o,

    output logic [1:0]           check_read_valid_o,
    output logic [1:0][63:6]     check_read_address_o,
    output logic [1:0][7:0]      check_read_id_o,
    input  logic [1:0]           check_read_ready_i,
    output logic                 map_read_valid_o,
    output logic [63:6]          map_read_address_o,
    output logic [7:0]           map_read_id_o,
    input  logic                 map_read_ready_i,
    input  logic [1:0]           come_valid_i,       // lines of both ports; the map's come on 0
    input  logic [1:0][7:0]      come_id_i,
    input  logic [1:0]           come_error_i,
    input  logic [1:0][511:0]    come_i
);
    import walk_pkg::*;

    localparam int unsigned Chains  = 2**LogChains;
    localparam int unsigned Slots   = 2**LogSlots;
    localparam int unsigned Latency = 12;            // of the choice and the search
    typedef logic [LogChains-1:0] chain_t;
    typedef logic [LogSlots-1:0]  slot_t;

    typedef struct packed {
        logic        valid;
        chain_t      chain;
        code_t       code;
        logic [63:0] record;
    } look_t;

    // ---- Which walk looks next: one that is called back, a parked one, or one with a new record.

    logic   hop_waits, pop_hop, parked_waits, pop_parked, take_vid, called_back_q, parked_turn_q;
    chain_t call_chain_q, parked_chain, hop_chain;
    logic [63:0] hop_record, known_record;
    logic [LogChains:0] parked_q, released_q;   // released: may look again
    logic   any_released_q;
    logic   park, released;
    look_t  picked;

    lut_fifo #(.LogDepth(LogChains), .Width(LogChains + 64)) i_hops (
        .clk_i, .rst_ni,
        .push_i(hop_valid_i), .data_i({hop_chain_i, hop_record_i}),
        .pop_i(pop_hop), .valid_o(hop_waits), .data_o({hop_chain, hop_record})
    );

    // Whether a record waits is kept in a register: all that follows from it takes its time.
    logic [LogChains:0] hops_waiting_q;
    logic               hop_waits_q;
    always_ff @(posedge clk_i) begin
        hops_waiting_q <= hops_waiting_q + (LogChains+1)'(hop_valid_i) - (LogChains+1)'(pop_hop);
        hop_waits_q    <= hop_valid_i || (pop_hop ? hops_waiting_q > 1 : hop_waits_q);
        if (!rst_ni) begin
            hops_waiting_q <= '0;
            hop_waits_q    <= 1'b0;
        end
    end

    assign pop_parked = !called_back_q && any_released_q && (parked_turn_q || !hop_waits_q);
    assign pop_hop    = !called_back_q && !pop_parked && hop_waits_q;
    assign take_vid   = !called_back_q && !pop_parked && !hop_waits_q && vid_valid_i;
    assign vid_ready_o    = take_vid;
    assign enter_valid_o  = pop_hop || take_vid;
    assign enter_chain_o  = pop_hop ? hop_chain : vid_chain_i;
    assign enter_record_o = pop_hop ? hop_record : vid_record_i;

    always_comb begin
        picked = '{valid: 1'b1, chain: call_chain_q, code: Found, record: known_record};
        if (pop_parked) picked.chain = parked_chain;
        if (enter_valid_o) begin
            picked.chain  = enter_chain_o;
            picked.record = enter_record_o;
        end
        if (take_vid) picked.code = vid_code_i;
        picked.valid = called_back_q || pop_parked || enter_valid_o;
    end

    lut_ram #(.AddressWidth(LogChains), .DataWidth(64)) i_records (
        .clk_i,
        .write_enable_i(enter_valid_o), .write_address_i(enter_chain_o),
        .write_data_i(enter_record_o),
        .read_address_i(called_back_q ? call_chain_q : parked_chain), .read_data_o(known_record)
    );

    // ---- The search, and at its end the look into the cache of the map.

    look_t looks_q[1:Latency];
    look_t placing;
    always_ff @(posedge clk_i) begin
        looks_q[1] <= picked;
        for (int unsigned n = 2; n <= Latency; n++) looks_q[n] <= looks_q[n-1];
        if (!rst_ni) begin
            for (int unsigned n = 1; n <= Latency; n++) looks_q[n].valid <= 1'b0;
        end
    end
    assign placing = looks_q[Latency];

    logic        in_delta;
    logic [9:0]  position;
    logic [31:0] image;
    delta_page_table i_delta_pages (
        .clk_i,
        .write_i         (entry_valid_i),
        .write_position_i(entry_position_i),
        .write_page_i    (entry_page_i),
        .write_image_i   (entry_image_i),
        .count_i         (entry_count_i),
        .page_i          (looks_q[1].record[63:8]),
        .found_o         (in_delta),
        .position_o      (position),
        .image_o         (image)
    );

    // The L2P map of a checkpoint does not change.
    logic [63:0] store_q, epoch_q;
    logic        other_store;
    assign other_store = store_i != store_q;
    always_ff @(posedge clk_i) begin
        if (start_i) {store_q, epoch_q} <= {store_i, epoch_i};
    end

    logic   map_known, fetch, fetch_busy, fetched, fetch_mine, map_forgets;
    place_t map_place, fetched_place;
    code_t  fetched_code;
    page_map_cache #(.Id(MapId)) i_page_map (
        .clk_i, .rst_ni,
        .forget_i       (start_i && (forget_pages_i || other_store || epoch_i != epoch_q)),
        .forgetting_o   (map_forgets),
        .storage_base_i,
        .storage_pages_i,
        .chunks_i       (map_chunks_i),
        .look_page_i    (looks_q[Latency-2].record[47:8]),
        .known_o        (map_known),
        .place_o        (map_place),
        .fetch_i        (fetch),
        .fetch_page_i   (placing.record[47:8]),
        .busy_o         (fetch_busy),
        .fetched_o      (fetched),
        .fetched_code_o (fetched_code),
        .fetched_place_o(fetched_place),
        .release_i      (fetch_mine),
        .read_valid_o   (map_read_valid_o),
        .read_address_o (map_read_address_o),
        .read_id_o      (map_read_id_o),
        .read_ready_i   (map_read_ready_i),
        .line_valid_i   (come_valid_i[0]),
        .line_id_i      (come_id_i[0]),
        .line_error_i   (come_error_i[0]),
        .line_i         (come_i[0])
    );

    // The walk for which the map is fetched, and whether it was called back.
    chain_t fetch_chain_q;
    logic   fetch_called_q, placing_fetched_q;
    assign fetch_mine = placing.valid && fetched && fetch_called_q && placing_fetched_q;
    // Where this is told of the walk before, a fetch has just begun, and nobody was called back yet.
    always_ff @(posedge clk_i) placing_fetched_q <= fetch_chain_q == looks_q[Latency-1].chain;

    // ---- Where the page stands.

    typedef struct packed {
        look_t       look;
        logic        parks;
        logic        is_image;
        place_t      place;       // of an image: its position
        logic [63:6] address;
    } placed_t;
    placed_t placed, asked_q, placed_q;
    logic    in_map_q;
    place_t  place;
    logic    nowhere, beyond;
    assign place  = fetch_mine ? fetched_place : map_place;
    // Both places are looked at while it is found which of them counts.
    assign nowhere = fetch_mine ? {fetched_place.epoch, fetched_place.physical} == 0
        : {map_place.epoch, map_place.physical} == 0;
    assign beyond  = fetch_mine ? 64'(fetched_place.physical) >= storage_pages_i
        : 64'(map_place.physical) >= storage_pages_i;

    always_comb begin
        fetch  = 1'b0;
        placed = '{
            look: placing, parks: 1'b0, is_image: in_delta,
            place: in_delta ? '{physical: 40'(position), default: '0} : place,
            address: in_delta ? page_address(images_i, 40'(image))
                : page_address(storage_base_i, place.physical)
        };
        if (placing.code != Found) begin
            placed.look.code = placing.code;
        end else if (entries_broken_i) begin
            placed.look.code = Bus;
        end else if (!in_delta) begin
            if (!in_map_q) placed.look.code = NoPlace;
            else if (fetch_mine && fetched_code != Found) placed.look.code = fetched_code;
            else if (!fetch_mine && !map_known) begin
                placed.parks      = fetch_busy;
                placed.look.valid = placing.valid && fetch_busy;
                fetch             = placing.valid && !fetch_busy;
            end else if (nowhere) placed.look.code = NoPlace;
            else if (beyond) placed.look.code = BeyondStorage;
        end
    end
    always_ff @(posedge clk_i) begin
        in_map_q <= looks_q[Latency-1].record[63:48] == 0
            && 64'(looks_q[Latency-1].record[63:8]) < logical_pages_i;
        asked_q  <= placed;
        placed_q <= asked_q;
        if (!rst_ni) begin
            asked_q.look.valid  <= 1'b0;
            placed_q.look.valid <= 1'b0;
        end
    end

    // ---- What the check has found.

    logic   known, results_forget, learn;
    facts_t facts, facts_q, checked;
    slot_t  checked_slot;

    // The checks that run, or whose walk has not come back.
    typedef struct packed {
        chain_t      chain;
        logic        is_image;
        logic [39:0] page;
        place_t      place;
    } slot_state_t;
    slot_state_t      slots_q[Slots];
    logic [Slots-1:0] taken_q, done_q, called_q;

    page_results #(.LogPages(LogPages)) i_results (
        .clk_i, .rst_ni,
        .forget_i        (start_i && (forget_pages_i || other_store)),
        .forget_images_i (start_i),
        .busy_o          (results_forget),
        .look_is_image_i (placed.is_image),
        .look_page_i     (placed.look.record[47:8]),
        .look_place_i    (placed.place),
        .known_o         (known),
        .facts_o         (facts),
        .learn_i         (learn),
        .learn_is_image_i(slots_q[checked_slot].is_image),
        .learn_page_i    (slots_q[checked_slot].page),
        .learn_place_i   (slots_q[checked_slot].place),
        .facts_i         (checked)
    );
    assign forgetting_o = results_forget || map_forgets;

    // A check may take the place of another result, but of none that a walk still comes back for.
    logic  slot_free, check;
    slot_t free_slot;
    always_comb begin
        slot_free  = 1'b0;
        free_slot  = '0;
        for (int unsigned n = 0; n < Slots; n++) begin
            if (!taken_q[n]) begin
                slot_free = 1'b1;
                free_slot = slot_t'(n);
            end
        end
    end

    // The slot that the walk comes back for. It is compared a clock before: a slot that is taken in that clock calls
    // nobody yet.
    logic [Slots-1:0] same_chain_q, mine;
    assign mine = taken_q & called_q & same_chain_q;
    always_ff @(posedge clk_i) begin
        for (int unsigned n = 0; n < Slots; n++) same_chain_q[n] <= slots_q[n].chain == asked_q.look.chain;
    end

    // Whether it would take such a place is looked at a clock before. The check that starts in that clock
    // counts already; a slot that is left in it still counts, so at worst a walk is parked.
    logic clash, clash_q;
    always_comb begin
        clash = check && placed_q.is_image == asked_q.is_image && placed_q.place
            .physical[LogPages-1:0] == asked_q.place.physical[LogPages-1:0];
        for (int unsigned n = 0; n < Slots; n++) begin
            if (taken_q[n] && slots_q[n].is_image == asked_q.is_image && slots_q[n].place
                .physical[LogPages-1:0] == asked_q.place.physical[LogPages-1:0]) begin
                clash = 1'b1;
            end
        end
    end
    always_ff @(posedge clk_i) clash_q <= clash;

    // What the facts say of the walk is found before it is known that they are of its page.
    logic other_table_q, no_line_q;
    always_ff @(posedge clk_i) begin
        facts_q       <= facts;
        other_table_q <= facts.table_number != table_i;
        no_line_q     <= 16'(asked_q.look.record[7:0]) >= facts.lines;
    end

    code_t code;
    logic  looks;            // at a page that stands somewhere
    assign looks = placed_q.look.valid && !placed_q.parks && placed_q.look.code == Found;
    always_comb begin
        code = placed_q.look.code;
        if (looks) begin
            if (facts_q.code != Found) code = facts_q.code;
            else if (other_table_q) code = OtherTable;
            else if (no_line_q) code = NoLine;
        end
    end
    assign check          = looks && !known && slot_free && !clash_q;
    assign park           = placed_q.look.valid
        && (placed_q.parks || looks && !known && !(slot_free && !clash_q));
    assign fault_valid_o  = placed_q.look.valid && !placed_q.parks && (!looks || known)
        && code != Found;
    assign fault_chain_o  = placed_q.look.chain;
    assign fault_code_o   = code;
    assign line_valid_o   = looks && known && code == Found;
    assign line_chain_o   = placed_q.look.chain;
    assign line_address_o = placed_q.address + 58'd1 + 58'(placed_q.look.record[7:4]);
    assign line_page_o    = placed_q.address;
    assign line_lines_o   = facts_q.lines;

    page_checker #(.LogSlots(LogSlots), .FirstId(FirstCheckId)) i_checker (
        .clk_i, .rst_ni,
        .store_i,
        .epoch_i,
        .start_i        (check),
        .start_slot_i   (free_slot),
        .check_i        ('{
            is_image: placed_q.is_image, is_map: 1'b0, epoch: placed_q.place.epoch,
            page: {8'd0, placed_q.look.record[63:8]}, address: placed_q.address
        }),
        .checked_valid_o(learn),
        .checked_slot_o (checked_slot),
        .checked_o      (checked),
        .quiet_o,
        .read_valid_o   (check_read_valid_o),
        .read_address_o (check_read_address_o),
        .read_id_o      (check_read_id_o),
        .read_ready_i   (check_read_ready_i),
        .line_valid_i   (come_valid_i),
        .line_id_i      (come_id_i),
        .line_error_i   (come_error_i),
        .line_i         (come_i)
    );
    assign checked_o = learn;
    assign missed_o  = fetch;

    // ---- Calling back, and parking.

    logic             slot_calls, fetch_calls;
    logic [Slots-1:0] leaves;
    slot_t            calling_slot;
    assign leaves      = placed_q.look.valid && !placed_q.parks ? mine : '0;
    assign fetch_calls = fetched && !fetch_called_q;
    always_comb begin
        slot_calls   = 1'b0;
        calling_slot = '0;
        for (int unsigned n = 0; n < Slots; n++) begin
            if (done_q[n] && !called_q[n]) begin
                slot_calls   = 1'b1;
                calling_slot = slot_t'(n);
            end
        end
    end

    lut_fifo #(.LogDepth(LogChains), .Width(LogChains)) i_parked (
        .clk_i, .rst_ni,
        .push_i(park), .data_i(placed_q.look.chain),
        .pop_i(pop_parked), .valid_o(parked_waits), .data_o(parked_chain)
    );
    assign released = learn || leaves != 0 || fetch_mine || fetch_calls
        || taken_q == 0 && !fetch_busy;

    always_ff @(posedge clk_i) begin
        call_chain_q <= fetch_calls ? fetch_chain_q : slots_q[calling_slot].chain;
        if (fetch) fetch_chain_q <= placing.chain;
        if (check) begin
            slots_q[free_slot] <= '{
                chain: placed_q.look.chain, is_image: placed_q.is_image,
                page: placed_q.look.record[47:8], place: placed_q.place
            };
        end
        if (!rst_ni) begin
            called_back_q  <= 1'b0;
            fetch_called_q <= 1'b0;
            taken_q        <= '0;
            done_q         <= '0;
            called_q       <= '0;
            parked_q       <= '0;
            released_q     <= '0;
            any_released_q <= 1'b0;
            parked_turn_q  <= 1'b0;
        end else begin
            called_back_q <= fetch_calls || slot_calls;
            parked_turn_q <= !pop_parked;
            if (fetch || fetch_mine) fetch_called_q <= 1'b0;
            else if (fetch_calls) fetch_called_q <= 1'b1;
            if (learn) done_q[checked_slot] <= 1'b1;
            if (slot_calls && !fetch_calls) called_q[calling_slot] <= 1'b1;
            for (int unsigned n = 0; n < Slots; n++) begin
                if (leaves[n]) begin
                    taken_q[n]  <= 1'b0;
                    done_q[n]   <= 1'b0;
                    called_q[n] <= 1'b0;
                end
            end
            if (check) taken_q[free_slot] <= 1'b1;
            parked_q <= parked_q + (LogChains + 1)'(park) - (LogChains + 1)'(pop_parked);
            if (released) begin
                released_q     <= parked_q - (LogChains + 1)'(pop_parked);
                any_released_q <= pop_parked ? parked_q != 1 : parked_q != 0;
            end else if (pop_parked) begin
                released_q     <= released_q - 1'b1;
                any_released_q <= released_q != 1;
            end
        end
    end

    logic unused;
    assign unused = ^{placed_q.place.in_memory, facts_q.table_number, parked_waits, hop_waits, Chains};

`ifndef SYNTHESIS
    // No page is checked that is known, or that a slot has.
    logic [Slots-1:0] of_this_place;
    always_comb begin
        for (int unsigned n = 0; n < Slots; n++) begin
            of_this_place[n] = taken_q[n] && slots_q[n].is_image == placed_q.is_image
                && slots_q[n].place.physical == placed_q.place.physical;
        end
    end
    records_that_wait_are_known: assert property (@(posedge clk_i) disable iff (!rst_ni)
        hop_waits_q == hop_waits && hop_waits == (hops_waiting_q != 0));
    only_parked_walks_are_released: assert property (@(posedge clk_i) disable iff (!rst_ni)
        any_released_q == (released_q != 0) && released_q <= parked_q && parked_waits == (parked_q != 0));
    only_checks_under_way_ask: assert property (@(posedge clk_i) disable iff (!rst_ni)
        (!check_read_valid_o[0] || taken_q[check_read_id_o[0][LogSlots-1:0]])
            && (!check_read_valid_o[1] || taken_q[check_read_id_o[1][LogSlots-1:0]]));
    no_page_is_checked_twice: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !check || !known && of_this_place == 0);
    returning_walk_finds_its_result: assert property (@(posedge clk_i) disable iff (!rst_ni)
        leaves == 0 || !looks || known);
    a_walk_comes_back_for_one_check: assert property (@(posedge clk_i) disable iff (!rst_ni)
        $onehot0(leaves));
`endif

endmodule
