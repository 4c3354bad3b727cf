// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of index_misses, whose job proves it: fetches go to memory once; those whose entry has come have their requests
// offered again, in order, each until it was issued. When that is, is anything, and so are places and segments. One request, which
// is any, is followed; the others are anything.
`include "../rules/rule.svh"
module index_misses
    import index_pkg::*;
#(
    parameter int unsigned LogWays     = 2,
    parameter int unsigned SegmentBits = 24,
    parameter int unsigned ValueWords  = 1,
    parameter int unsigned LogMisses   = 3,
    parameter int unsigned LogParked   = 4,
    localparam int unsigned Misses     = 2**LogMisses
) (
    input  logic                               clk_i,
    input  logic                               rst_ni,
    input  logic                               park_i,
    input  logic                               start_i,
    input  logic                               claimed_i,
    input  logic                               dirty_i,
    input  logic                               unclaimed_i,
    input  logic                               issued_i,
    input  logic                               again_i,
    input  logic                               changed_i,
    input  logic [LogMisses-1:0]               decided_miss_i,
    input  logic [LogMisses-1:0]               replayed_miss_i,
    input  logic [LogWays-1:0]                 way_i,
    input  logic [SegmentBits-1:0]             victim_i,
    input  logic [1:0]                         undecided_i,
    input  request_t                           parked_request_i,
    input  logic [64*ValueWords-1:0]           parked_value_i,
    output logic [Misses-1:0]                  active_o,
    output logic [Misses-1:0][SegmentBits-1:0] segments_o,
    output logic [LogMisses-1:0]               free_o,
    output logic                               last_o,
    output logic                               may_offer_o,
    output logic                               idle_o,
    input  logic                               may_replay_i,
    output logic                               replay_o,
    output logic                               claim_o,
    output logic                               offers_o,
    output logic                               first_o,
    output logic                               bus_error_o,
    output logic                               write_error_o,
    output logic                               has_place_o,
    output logic [LogMisses-1:0]               miss_o,
    output logic [LogWays-1:0]                 way_o,
    output logic [SegmentBits-1:0]             segment_o,
    output request_t                           request_o,
    output logic [64*ValueWords-1:0]           value_o,
    output logic [Misses-1:0]                  to_fetch_o,
    output logic [Misses-1:0]                  to_write_o,
    output logic [Misses-1:0][SegmentBits-1:0] victims_o,
    input  logic [Misses-1:0]                  fetch_taken_i,
    input  logic [Misses-1:0]                  write_taken_i,
    input  logic [Misses-1:0]                  fetched_i,
    input  logic [Misses-1:0]                  written_i,
    input  logic                               fetch_error_i,
    input  logic                               write_error_i,
    input  logic                               snapshot_i,
    input  logic [LogMisses-1:0]               snapshot_miss_i
);
    localparam int unsigned Parked = 2**LogParked;
    localparam int unsigned WordBits = $bits(request_t) + 64 * ValueWords;
    typedef logic [LogMisses-1:0] miss_t;
    typedef logic [LogParked:0]   count_t;
    typedef struct packed {
        logic  valid;
        logic  first;
        logic  its;        // the request that is followed
        miss_t miss;
    } offer_t;

    logic [Misses-1:0]   fetched_q, fetch_failed_q, write_failed_q, starts, ends, issues;
    count_t [Misses-1:0] counts_q;
    offer_t              reading_q, its_q;
    logic                wants, wants_claim, wants_first, lets_in, mark, replays, its, has_room;
    miss_t               miss, other_free;
    logic [WordBits-1:0] other, word_q;
    anything #(.Width(5 + 2*LogMisses + WordBits)) i_any (
        .clk_i, .value_o({wants, wants_claim, wants_first, lets_in, mark, miss, other_free, other}));
    anything #(.Width(2*Misses*SegmentBits + SegmentBits + LogWays + 1)) i_places (
        .clk_i, .value_o({segments_o, victims_o, segment_o, way_o, has_place_o}));

    // ---- Fetches.
    assign starts    = Misses'(start_i) << decided_miss_i;
    assign issues    = Misses'(issued_i) << replayed_miss_i;
    assign idle_o    = active_o == '0;
    assign last_o    = counts_q[replayed_miss_i] == 1;
    always_comb begin
        free_o   = '0;
        has_room = 32'($countones(~active_o)) > 32'(undecided_i[0]) + 32'(undecided_i[1]);
        for (int unsigned n = 0; n < Misses; n++) begin
            ends[n] = issues[n] && counts_q[n] == 1;
            if (!active_o[n]) free_o = miss_t'(n);
            if (32'(counts_q[n]) > Parked - 5) has_room = 1'b0;
        end
        if (!active_o[other_free]) free_o = other_free;
    end
    assign may_offer_o = lets_in && has_room;
    always_ff @(posedge clk_i) begin
        active_o   <= (active_o | starts) & ~ends;
        to_fetch_o <= (to_fetch_o | starts) & ~fetch_taken_i;
        to_write_o <= to_write_o & ~write_taken_i | Misses'(snapshot_i) << snapshot_miss_i;
        for (int unsigned n = 0; n < Misses; n++) begin
            if (park_i && decided_miss_i == miss_t'(n)) counts_q[n] <= start_i ? count_t'(1) : counts_q[n] + 1'b1;
            else if (issues[n]) counts_q[n] <= counts_q[n] - 1'b1;
            if (starts[n]) {fetched_q[n], fetch_failed_q[n], write_failed_q[n]} <= '0;
            else begin
                if (fetched_i[n]) {fetched_q[n], fetch_failed_q[n]} <= {1'b1, fetch_error_i};
                if (written_i[n]) write_failed_q[n] <= write_error_i;
            end
        end
        if (!rst_ni) {active_o, to_fetch_o, to_write_o, counts_q} <= '0;
    end

    // ---- What is offered. Of one that brings the entry, the others wait for the decision.
    function automatic count_t under_way(input miss_t of);
        under_way = count_t'(reading_q.valid && reading_q.miss == of) + count_t'(its_q.valid && its_q.miss == of);
    endfunction
    logic   followed_q, begins;
    miss_t  its_miss_q;
    count_t ahead_q;
    assign replays       = wants && active_o[miss] && fetched_q[miss] && counts_q[miss] > under_way(miss)
        && !(reading_q.valid && reading_q.first) && !(its_q.valid && its_q.first);
    assign replay_o      = replays && may_replay_i;
    assign claim_o       = wants_claim && active_o[miss] && !replays;
    assign offers_o      = replays || wants_claim && active_o[miss];
    assign miss_o        = miss;
    assign write_error_o = write_failed_q[miss];
    assign bus_error_o   = fetch_failed_q[miss] || write_failed_q[miss];
    assign first_o       = wants_first && !bus_error_o;
    assign its           = followed_q && miss == its_miss_q && ahead_q == under_way(miss);
    assign {value_o, request_o} = its ? word_q : other;
    assign begins        = park_i && mark && !followed_q;
    always_ff @(posedge clk_i) begin
        reading_q <= '{valid: replay_o, first: first_o, its: its, miss: miss};
        its_q     <= reading_q;
        if (begins) begin
            word_q     <= {parked_value_i, parked_request_i};
            its_miss_q <= decided_miss_i;
            ahead_q    <= start_i ? '0 : counts_q[decided_miss_i];
        end else if (issues[its_miss_q]) begin
            ahead_q <= ahead_q - 1'b1;
        end
        followed_q <= begins || followed_q && !(issues[its_miss_q] && ahead_q == 0);
        if (!rst_ni) {reading_q.valid, its_q.valid, followed_q} <= '0;
    end

    // ---- What is asked of those around it, as far as it goes through the block that connects them.
    `RULE(replay_is_decided_on_two_clocks_later, 1, (issued_i || again_i) == its_q.valid
        && (!its_q.valid || replayed_miss_i == its_q.miss && !(issued_i && again_i) && !(again_i && !its_q.first)))
    `RULE(fetch_starts_where_it_is_free, 1, !start_i || park_i && !active_o[decided_miss_i])
    `RULE(request_waits_for_what_is_fetched, 1, !park_i || start_i || active_o[decided_miss_i])
    `RULE(queue_has_room, 1, !park_i || start_i || 32'(counts_q[decided_miss_i]) < Parked)
    `RULE(fetch_is_taken_that_is_wanted, 1, (fetch_taken_i & ~to_fetch_o) == 0 && (write_taken_i & ~to_write_o) == 0)
    // What induction needs.
    for (genvar n = 0; n < Misses; n++) begin : g_fetches
        `RULE(fetch_has_requests, 1, active_o[n] == (counts_q[n] != 0) && counts_q[n] >= under_way(miss_t'(n)))
        `RULE(fetch_is_wanted_before_it_comes, 1, !to_fetch_o[n] || active_o[n] && !fetched_q[n])
        `RULE(replays_are_of_what_was_fetched, 1, under_way(miss_t'(n)) == 0 || fetched_q[n] && !to_fetch_o[n])
        `RULE(queue_is_never_full, 1, 32'(counts_q[n]) + 32'($countones(undecided_i)) < Parked)
    end
    `RULE(each_new_request_may_start_a_fetch, 1, 32'($countones(~active_o)) >= 32'($countones(undecided_i)))
    `RULE(followed_request_waits, 1, !followed_q || active_o[its_miss_q] && ahead_q < counts_q[its_miss_q])
    `RULE(its_replays_are_known, 1, (!reading_q.valid || reading_q.its == (followed_q && reading_q.miss == its_miss_q
            && ahead_q == count_t'(its_q.valid && its_q.miss == reading_q.miss)))
        && (!its_q.valid || its_q.its == (followed_q && its_q.miss == its_miss_q && ahead_q == 0)))
    `RULE(first_is_alone, 1, !(reading_q.valid && its_q.valid && its_q.first))
    `RULE(first_is_of_what_came, 1, (!(reading_q.valid && reading_q.first) || !fetch_failed_q[reading_q.miss])
        && (!(its_q.valid && its_q.first) || !fetch_failed_q[its_q.miss]))
    logic unused;
    assign unused = ^{claimed_i, dirty_i, unclaimed_i, changed_i, way_i, victim_i};
endmodule
