// SPDX-License-Identifier: MIT OR Apache-2.0
// index_misses: of fetches and the requests that wait for them. Each fetch goes to memory once, has a place claimed, and has what
// stood there written; then its requests, of which any is followed, are offered in their order, each until it is issued, and
// it ends with the last. There is room for all that is let in, and what has room is let in.
`include "../rules/rule.svh"
module index_misses_formal
    import index_pkg::*;
#(
    parameter int unsigned LogWays     = 1,
    parameter int unsigned SegmentBits = 2,
    parameter int unsigned LogMisses   = 2,
    parameter int unsigned LogParked   = 3,
    localparam int unsigned ValueWords = 1,
    localparam int unsigned Misses     = 2**LogMisses,
    localparam int unsigned Parked     = 2**LogParked
) (
    input logic                     clk_i,
    input logic                     rst_ni,
    input logic                     park_i,
    input logic                     start_i,
    input logic                     claimed_i,
    input logic                     dirty_i,
    input logic                     unclaimed_i,
    input logic                     issued_i,
    input logic                     again_i,
    input logic                     changed_i,
    input logic [LogMisses-1:0]     decided_miss_i,
    input logic [LogMisses-1:0]     replayed_miss_i,
    input logic [LogWays-1:0]       way_i,
    input logic [SegmentBits-1:0]   victim_i,
    input logic [1:0]               undecided_i,
    input request_t                 parked_request_i,
    input logic [64*ValueWords-1:0] parked_value_i,
    input logic                     may_replay_i,
    input logic [Misses-1:0]        fetch_taken_i,
    input logic [Misses-1:0]        write_taken_i,
    input logic [Misses-1:0]        fetched_i,
    input logic [Misses-1:0]        written_i,
    input logic                     fetch_error_i,
    input logic                     write_error_i,
    input logic                     snapshot_i,
    input logic [LogMisses-1:0]     snapshot_miss_i,
    // What the tags are offered beside replays and claims: a request, or a step of a flush with its number.
    input logic                     new_i,
    input logic                     walk_i,
    input logic [LogMisses-1:0]     walk_miss_i
);
    typedef logic [LogMisses-1:0]   miss_t;
    typedef logic [LogParked:0]     count_t;
    typedef logic [LogParked-1:0]   index_t;
    typedef logic [SegmentBits-1:0] segment_t;
    typedef logic [Misses-1:0]      misses_t;

    misses_t                            active_o, to_fetch_o, to_write_o;
    logic [Misses-1:0][SegmentBits-1:0] segments_o, victims_o;
    miss_t                              free_o, miss_o;
    logic                               last_o, may_offer_o, idle_o, replay_o, claim_o, offers_o, first_o;
    logic                               bus_error_o, write_error_o, has_place_o;
    logic [LogWays-1:0]                 way_o;
    segment_t                           segment_o;
    request_t                           request_o;
    logic [64*ValueWords-1:0]           value_o;

    power_up i_power_up (.*);
    index_misses #(
        .LogWays(LogWays), .SegmentBits(SegmentBits), .ValueWords(ValueWords), .LogMisses(LogMisses), .LogParked(LogParked)
    ) i_block (.*);

    function automatic misses_t only(input logic valid, input miss_t miss);
        only = misses_t'(valid) << miss;
    endfunction

    // ---- The tags: what is offered is decided on two clocks later.
    typedef enum logic [2:0] {Nothing, New, Replay, Claim, Walk} kind_t;
    kind_t      offered, reading_q, deciding_q;
    miss_t      offered_miss, reading_miss_q, deciding_miss_q;
    logic       reading_first_q, deciding_first_q, flushes;
    logic [1:0] news, replays;     // under way
    assign offered      = replay_o ? Replay : claim_o ? Claim : new_i ? New : walk_i ? Walk : Nothing;
    assign offered_miss = walk_i ? walk_miss_i : miss_o;
    assign news         = 2'(reading_q == New) + 2'(deciding_q == New);
    assign replays      = 2'(reading_q == Replay) + 2'(deciding_q == Replay);
    always_ff @(posedge clk_i) begin
        reading_q        <= rst_ni ? offered : Nothing;
        deciding_q       <= rst_ni ? reading_q : Nothing;
        reading_miss_q   <= offered_miss;
        deciding_miss_q  <= reading_miss_q;
        reading_first_q  <= first_o;
        deciding_first_q <= reading_first_q;
    end
    `RULE(requests_come_where_they_may, 0, !new_i || may_offer_o && !offers_o && !flushes)
    `RULE(undecided_are_told, 0, undecided_i == {deciding_q == New, reading_q == New})
    `RULE(only_new_requests_are_parked, 0, !park_i || deciding_q == New)
    `RULE(fetch_starts_where_it_is_free, 0, !start_i || park_i && decided_miss_i == free_o)
    `RULE(requests_wait_for_what_is_fetched, 0, !(park_i && !start_i) || active_o[decided_miss_i])
    `RULE(place_is_for_a_start_or_a_claim, 0, !claimed_i || start_i || deciding_q == Claim)
    `RULE(claim_has_a_place_or_none, 0, (claimed_i || unclaimed_i) == (start_i ? claimed_i : deciding_q == Claim)
        && !(claimed_i && unclaimed_i) && !(start_i && unclaimed_i))
    `RULE(replay_goes_on_or_comes_again, 0, (issued_i || again_i) == (deciding_q == Replay)
        && !(issued_i && again_i) && !(again_i && !deciding_first_q))
    `RULE(only_a_flush_writes_without_a_fetch, 0, !changed_i || deciding_q == Walk)
    `RULE(decision_is_of_what_was_offered, 0, deciding_q == Nothing || deciding_q == New || decided_miss_i == deciding_miss_q)
    `RULE(replay_is_of_what_was_offered, 0, deciding_q != Replay || replayed_miss_i == deciding_miss_q)

    // ---- What is known of each fetch, as the tags and memory tell it.
    misses_t active_q, placed_q, again_q, fetch_failed_q, write_failed_q;
    misses_t to_fetch_q, fetches_q, fetched_q;         // wanted, on the way, there
    misses_t to_copy_q, to_write_q, writes_q;          // the same of what stood in its place: to be copied, wanted, on the way
    count_t  counts_q[Misses];
    misses_t starts, issues, ends, copies, writing, claiming, ready;
    logic    claims_q;
    miss_t   claimant;
    assign starts   = only(start_i, decided_miss_i);
    assign issues   = only(issued_i, replayed_miss_i);
    assign copies   = only(claimed_i && dirty_i || again_i || changed_i, decided_miss_i);
    assign writing  = to_copy_q | to_write_q | writes_q;
    assign claimant = i_block.claimant_q;
    assign claiming = only(claims_q, claimant) | only(reading_q == Claim, reading_miss_q)
        | only(deciding_q == Claim, deciding_miss_q);
    assign ready    = active_q & fetched_q & ~writing & ~claiming & (placed_q | fetch_failed_q);
    assign flushes  = reading_q == Walk || deciding_q == Walk || (writing & ~active_q) != 0;
    for (genvar n = 0; n < Misses; n++) begin : g_fetch
        assign ends[n] = issues[n] && counts_q[n] == 1;
        always_ff @(posedge clk_i) begin
            if (starts[n]) begin
                placed_q[n]       <= claimed_i;
                again_q[n]        <= 1'b0;
                fetch_failed_q[n] <= 1'b0;
                write_failed_q[n] <= 1'b0;
                fetched_q[n]      <= 1'b0;
            end else begin
                if (claimed_i && decided_miss_i == miss_t'(n)) placed_q[n] <= 1'b1;
                if (again_i && decided_miss_i == miss_t'(n)) again_q[n] <= 1'b1;
                if (fetched_i[n]) fetch_failed_q[n] <= fetch_error_i;
                if (written_i[n]) write_failed_q[n] <= write_error_i;
                if (fetched_i[n]) fetched_q[n] <= 1'b1;
            end
            if (park_i && decided_miss_i == miss_t'(n)) counts_q[n] <= start_i ? count_t'(1) : counts_q[n] + 1'b1;
            else if (issues[n]) counts_q[n] <= counts_q[n] - 1'b1;
            if (!rst_ni) counts_q[n] <= '0;
        end
    end
    always_ff @(posedge clk_i) begin
        active_q   <= rst_ni ? (active_q | starts) & ~ends : '0;
        to_fetch_q <= rst_ni ? (to_fetch_q | starts) & ~fetch_taken_i : '0;
        fetches_q  <= rst_ni ? (fetches_q | fetch_taken_i) & ~fetched_i : '0;
        to_copy_q  <= rst_ni ? to_copy_q & ~only(snapshot_i, snapshot_miss_i) | copies : '0;
        to_write_q <= rst_ni ? to_write_q & ~write_taken_i | only(snapshot_i, snapshot_miss_i) : '0;
        writes_q   <= rst_ni ? (writes_q | write_taken_i) & ~written_i : '0;
    end

    // Memory takes what is wanted, and ends each once.
    `RULE(fetch_is_taken_that_is_wanted, 0, (fetch_taken_i & ~to_fetch_o) == 0 && $onehot0(fetch_taken_i))
    `RULE(write_is_taken_that_is_wanted, 0, (write_taken_i & ~to_write_o) == 0 && $onehot0(write_taken_i))
    `RULE(fetch_ends_that_was_taken, 0, (fetched_i & ~fetches_q) == 0 && $onehot0(fetched_i))
    `RULE(write_ends_that_was_taken, 0, (written_i & ~writes_q) == 0 && $onehot0(written_i))
    `RULE(copy_is_of_what_is_to_be_written, 0, !snapshot_i || to_copy_q[snapshot_miss_i])
    // A flush comes when nothing else is under way, with a number that is free.
    `RULE(flush_comes_alone, 0, !walk_i || idle_o && news == 0 && !new_i)
    `RULE(number_of_a_flush_is_free, 0, !walk_i || !writing[walk_miss_i]
        && !(reading_q == Walk && reading_miss_q == walk_miss_i) && !(deciding_q == Walk && deciding_miss_q == walk_miss_i))

    // ---- What the block says of its fetches.
    `RULE(fetches_are_active_until_their_last_request, 1, active_o == active_q && idle_o == (active_q == 0))
    `RULE(each_is_fetched_once, 1, to_fetch_o == to_fetch_q)
    `RULE(each_copy_is_written_once, 1, to_write_o == to_write_q)
    `RULE(last_request_is_told, 1, !issued_i || last_o == (counts_q[replayed_miss_i] == 1))
    `RULE(new_fetch_is_free, 1, deciding_q != New || !active_o[free_o])
    `RULE(nothing_is_written_twice_at_once, 1, (copies & writing) == 0 && (starts & writing) == 0)

    // Wide words of one fetch, which is any.
    miss_t              miss;
    segment_t           segment_q, victim_q;
    logic [LogWays-1:0] way_q;
    arbitrary #(.Width(LogMisses)) i_miss (.clk_i, .value_o(miss));
    always_ff @(posedge clk_i) begin
        if (starts[miss]) segment_q <= parked_request_i.segment[SegmentBits-1:0];
        if (copies[miss]) victim_q <= victim_i;
        if (claimed_i && decided_miss_i == miss) way_q <= way_i;
    end
    `RULE(segment_is_that_of_its_first_request, 1, !active_q[miss] || segments_o[miss] == segment_q)
    `RULE(victim_is_what_is_written, 1, !writing[miss] || victims_o[miss] == victim_q)

    // ---- Room: a fetch for each request that may start one, and four places in each queue, where nothing was changed again.
    logic       has_room_q, none_again_q;
    misses_t    full;
    always_comb for (int unsigned n = 0; n < Misses; n++) full[n] = counts_q[n] > count_t'(Parked - 5);
    always_ff @(posedge clk_i) begin
        has_room_q   <= rst_ni && full == 0;
        none_again_q <= (active_q & again_q) == 0;
    end
    `RULE(requests_are_let_in_where_there_is_room, 1, may_offer_o == (has_room_q && none_again_q
        && 32'($countones(~active_q)) > 32'(news)))
    `RULE(each_new_request_may_start_a_fetch, 1, 32'($countones(~active_q)) >= 32'(news))
    for (genvar n = 0; n < Misses; n++) begin : g_room
        `RULE(queue_is_never_full, 1, 32'(counts_q[n]) + 32'(news) < Parked)
        `RULE(queue_has_room_for_one_that_is_let_in, 1, !i_block.may_offer_q || 32'(counts_q[n]) + 32'(news) < Parked - 1)
        `RULE(fetch_has_requests, 1, active_q[n] == (counts_q[n] != 0))
    end

    // ---- What is offered to the tags.
    localparam logic [1:0] Idle = 2'd0, First = 2'd1, Await = 2'd2, Stream = 2'd3;
    logic  serves, first_replays;
    miss_t serving;
    assign serves        = i_block.state_q != Idle;
    assign serving       = i_block.serving_q;
    assign first_replays = reading_q == Replay && reading_first_q || deciding_q == Replay && deciding_first_q;
    logic  offered_q;      // one of its requests
    always_ff @(posedge clk_i) offered_q <= rst_ni && (offered_q || replay_o) && ends == 0 && !again_i;
    `RULE(one_is_offered, 1, !(replay_o && claim_o) && offers_o == (replay_o || claim_o || i_block.replays))
    `RULE(replay_has_a_place_among_the_answers, 1, replay_o == (i_block.replays && may_replay_i))
    `RULE(replay_is_of_a_fetch_that_is_ready, 1, !i_block.replays || ready[miss_o])
    `RULE(only_what_waits_is_offered, 1, !i_block.replays || counts_q[miss_o] > count_t'(replays))
    `RULE(others_wait_for_the_first, 1, !i_block.replays || !first_replays)
    `RULE(one_fetch_at_a_time, 1, !i_block.replays || replays == 0 && !offered_q || miss_o == serving)
    `RULE(first_brings_the_entry, 1, !replay_o || first_o == (!offered_q && !bus_error_o))
    `RULE(failures_are_told, 1, !replay_o || bus_error_o == (fetch_failed_q[miss_o] || write_failed_q[miss_o])
        && write_error_o == write_failed_q[miss_o])
    `RULE(place_is_told, 1, !replay_o || has_place_o == placed_q[miss_o]
        && (!has_place_o || miss_o != miss || way_o == way_q))
    `RULE(segment_is_told, 1, !(replay_o || claim_o) || miss_o != miss || segment_o == segment_q)

    // One request, which is any, until it is issued. It is written to a place in memory, where no other is written, and that is
    // the place which is read in its turn; that what is read is what was written is proven of lut_ram. The place is counted
    // from the first that waits.
    localparam int unsigned LogPlaces = LogMisses + LogParked;
    typedef logic [LogPlaces-1:0] place_t;
    logic                                       mark, followed_q, writes;
    logic [$bits(request_t)+64*ValueWords-1:0]  written, read;
    place_t                                     written_place, read_place, its_place_q;
    miss_t                                      its_miss_q;
    count_t                                     ahead_q;
    assign writes        = i_block.i_parked.write_enable_i;
    assign written_place = i_block.i_parked.write_address_i;
    assign written       = i_block.i_parked.write_data_i;
    assign read_place    = i_block.i_parked.read_address_i;
    assign read          = i_block.i_parked.read_data_o;
    anything i_mark (.clk_i, .value_o(mark));
    always_ff @(posedge clk_i) begin
        if (!rst_ni) followed_q <= 1'b0;
        else if (park_i && mark && !followed_q) followed_q <= 1'b1;
        else if (issues[its_miss_q] && ahead_q == 0) followed_q <= 1'b0;
        if (!followed_q) begin
            its_miss_q  <= decided_miss_i;
            ahead_q     <= start_i ? '0 : counts_q[decided_miss_i];
            its_place_q <= written_place;
        end else if (issues[its_miss_q]) begin
            ahead_q <= ahead_q - 1'b1;
        end
    end
    function automatic index_t first_place(input miss_t of);   // of the request that waits longest
        first_place = i_block.tails_q[of] - index_t'(counts_q[of]);
    endfunction
    `RULE(parked_request_is_written_as_it_came, 1, writes == park_i && (!park_i || written == {parked_value_i, parked_request_i}))
    `RULE(followed_request_waits_for_a_fetch, 1, !followed_q || active_q[its_miss_q] && ahead_q < counts_q[its_miss_q])
    `RULE(no_other_is_written_to_its_place, 1, !(followed_q && writes) || written_place != its_place_q)
    `RULE(request_comes_in_its_turn, 1, !(followed_q && replay_o && miss_o == its_miss_q && ahead_q == count_t'(replays))
        || read_place == its_place_q)
    `RULE(request_comes_as_it_is_read, 1, !replay_o || {value_o, request_o} == read)
    `RULE(request_is_in_its_place, 1, !followed_q || its_place_q == {its_miss_q, index_t'(first_place(its_miss_q) + ahead_q)})

    // What counts of the outputs. In place of the request that is read, its place; and what is written.
    logic [Misses-1:0][SegmentBits-1:0] while_active, while_written;
    localparam int unsigned SeenBits = 3 * Misses + 2 * Misses * SegmentBits + 13 + 2 * LogPlaces + $bits(written)
        + LogWays + SegmentBits + LogMisses;
    logic [SeenBits-1:0] seen;
    always_comb for (int unsigned n = 0; n < Misses; n++) begin
        while_active[n]  = {SegmentBits{active_q[n]}};
        while_written[n] = {SegmentBits{writing[n]}};
    end
    assign seen = {active_o, idle_o, segments_o & while_active, deciding_q == New && active_o[free_o], issued_i && last_o,
        may_offer_o, to_fetch_o, to_write_o, victims_o & while_written, replay_o, claim_o, offers_o,
        replay_o ? {first_o, bus_error_o, write_error_o, has_place_o, {value_o, request_o} == read, read_place} : '0,
        replay_o && has_place_o ? way_o : '0, replay_o || claim_o ? {segment_o, miss_o} : '0,
        writes, writes ? {written_place, written} : '0};

    // ---- Claims: one at a time, for a fetch that has no place; 15 clocks later where there was none.
    misses_t    wants;
    logic [3:0] since_q;    // clocks since a claim found none, as far as they count
    logic       begins;
    assign wants  = active_q & ~placed_q & ~claiming & ~(fetched_q & fetch_failed_q);
    assign begins = wants != 0 && claiming == 0 && since_q == '1;
    always_ff @(posedge clk_i) begin
        since_q  <= !rst_ni ? '1 : unclaimed_i ? '0 : since_q + 4'(since_q != '1);
        claims_q <= rst_ni && (begins || claims_q && !claim_o);
    end
    logic later_q;          // a claim found none
    always_ff @(posedge clk_i) later_q <= rst_ni && (later_q || unclaimed_i);
    `RULE(claim_is_offered, 1, claim_o == (claims_q && !i_block.replays))
    `RULE(claim_is_of_a_fetch_without_a_place, 1, (claiming & ~(active_q & ~placed_q)) == 0)
    `RULE(claim_says_whose_it_is, 1, !claim_o || miss_o == claimant)
    `RULE(claim_begins_where_one_wants, 1, !$past(rst_ni && begins) || $past(wants[i_block.claimant]))
    `RULE(one_claim_at_a_time, 1, $onehot0({claims_q, reading_q == Claim, deciding_q == Claim}))
    `RULE(claims_under_way_are_known, 1, i_block.claiming_q == claiming && i_block.claims_q == claims_q
        && i_block.pause_q == ~since_q)

    // ---- Nothing waits without a reason.
    logic [1:0] waits_q;    // clocks in which a fetch was ready and none was served
    logic       begun_q, parked_q, late_q;
    count_t     unoffered;
    always_ff @(posedge clk_i) begin
        waits_q  <= rst_ni && ready != 0 && !serves ? waits_q + 2'(waits_q != 3) : '0;
        begun_q  <= rst_ni && serves && !i_block.begins;
        parked_q <= park_i && decided_miss_i == serving;
        late_q   <= rst_ni && (ends != 0 || again_i) && i_block.next_valid_q;
    end
    assign unoffered = counts_q[serving] - count_t'(replays);
    `RULE(ready_fetch_is_served, 1, waits_q != 3 || serves)
    `RULE(ready_fetch_goes_on, 1, waits_q == 0 || serves || i_block.next_valid_q || waits_q == 1 && i_block.ready_q != 0)
    `RULE(next_is_served_at_once, 1, !late_q || serves)
    `RULE(first_is_offered, 1, !serves || offered_q || !begun_q || i_block.replays)
    `RULE(next_request_is_offered, 1, !serves || first_replays || !begun_q || i_block.replays == (unoffered > count_t'(parked_q)))
    fair_turns #(.Count(Misses)) i_turns (
        .clk_i, .rst_ni, .asks_i(i_block.ready_q), .taken_i(i_block.next_valid_q ? '0 : i_block.turn),
        .behind_i(i_block.i_turns.behind_q));
    `RULE(next_is_whose_turn_it_is, 1, !$past(rst_ni && i_block.ready_q != 0 && !i_block.next_valid_q)
        || i_block.next_valid_q && only(1'b1, i_block.next_q) == $past(i_block.turn))
    `RULE(next_goes_on, 1, !$past(rst_ni && i_block.begins) || serves && serving == $past(i_block.next_q))

    // ---- What induction needs of the block: its registers say what is known of the fetches.
    for (genvar n = 0; n < Misses; n++) begin : g_known
        `RULE(flags_of_a_fetch_are_known, 1, !active_q[n] || i_block.has_place_q[n] == placed_q[n]
            && i_block.fetched_q[n] == fetched_q[n] && i_block.again_q[n] == again_q[n] && i_block.unwritten_q[n] == writing[n]
            && (!fetched_q[n] || i_block.fetch_error_q[n] == fetch_failed_q[n]) && i_block.write_error_q[n] == write_failed_q[n])
        `RULE(fetch_is_in_one_state, 1, $onehot0({to_fetch_q[n], fetches_q[n], active_q[n] && fetched_q[n]})
            && (active_q[n] ? to_fetch_q[n] || fetches_q[n] || fetched_q[n] : !to_fetch_q[n] && !fetches_q[n]))
        `RULE(write_is_in_one_state, 1, $onehot0({to_copy_q[n], to_write_q[n], writes_q[n]})
            && (!writing[n] || i_block.unwritten_q[n] && (!active_q[n] || placed_q[n])))
        `RULE(way_and_counts_are_known, 1, i_block.counts_q[n] == counts_q[n]
            && (!active_q[n] || !placed_q[n] || miss != miss_t'(n) || i_block.ways_q[n] == way_q))
        `RULE(requests_are_in_order, 1, !active_q[n] || serves && serving == miss_t'(n) && i_block.state_q == Stream
            || first_place(miss_t'(n)) == 0)
        `RULE(those_that_ask_are_ready, 1, !i_block.ready_q[n] || ready[n] && !(serves && serving == miss_t'(n)))
    end
    `RULE(flush_is_alone, 1, reading_q != Walk && deciding_q != Walk || active_q == 0 && news == 0)
    misses_t reading_walk, deciding_walk;
    assign reading_walk  = only(reading_q == Walk, reading_miss_q);
    assign deciding_walk = only(deciding_q == Walk, deciding_miss_q);
    `RULE(walks_have_numbers_of_their_own, 1, (reading_walk & (deciding_walk | writing)) == 0 && (deciding_walk & writing) == 0)
    `RULE(no_flush_while_requests_come, 1, news == 0 || !flushes)
    `RULE(served_fetch_is_ready, 1, !serves || ready[serving])
    `RULE(next_fetch_is_ready, 1, !i_block.next_valid_q || ready[i_block.next_q] && !(serves && serving == i_block.next_q))
    `RULE(state_is_that_of_what_is_offered, 1, i_block.state_q == Await ? replays == 1 && first_replays && offered_q
        : !first_replays && (i_block.state_q == Stream || replays == 0 && !offered_q))
    `RULE(replays_are_of_the_fetch_that_is_served, 1, (reading_q != Replay || reading_miss_q == serving && offered_q)
        && (deciding_q != Replay || deciding_miss_q == serving && offered_q))
    `RULE(what_is_offered_waits, 1, !serves || 32'(counts_q[serving]) >= 32'(replays))
    `RULE(head_is_the_next_to_offer, 1, !serves || i_block.head_q == first_place(serving) + index_t'(replays))
    `RULE(tail_is_not_beyond, 1, i_block.state_q != Stream
        || 32'(index_t'(i_block.tail_q - i_block.head_q)) <= 32'(unoffered))
    `RULE(words_of_the_served_are_known, 1, !serves || i_block.is_error_q == (fetch_failed_q[serving] || write_failed_q[serving])
        && i_block.write_error_of_q == write_failed_q[serving] && i_block.has_place_of_q == placed_q[serving]
        && (serving != miss || i_block.segment_q == segment_q && (!placed_q[serving] || i_block.way_q == way_q)))
    `RULE(an_error_has_no_first, 1, !serves || (i_block.is_error_q ? i_block.state_q == Stream && !first_replays
        : i_block.state_q != Stream || offered_q))

    `REACHED(followed_request_is_issued_behind_another, followed_q && issues[its_miss_q] && ahead_q == 0 && $past(ahead_q == 1))
    `REACHED(fetch_comes_again, again_q != 0 && ends != 0)
    `REACHED(fetch_fails, ends != 0 && deciding_q == Replay && fetch_failed_q[deciding_miss_q])
    `REACHED(claim_comes_later_and_finds_a_place, claimed_i && deciding_q == Claim && $past(since_q == '1) && later_q)
    `REACHED(no_more_fetches, &active_q && ready == 0)
endmodule
