// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of index_tags, whose job proves it: what is offered is decided on two clocks later. A request is answered, or waits for a
// fetch that is there or starts one; a waiting one goes on, or comes again. Which of these is anything here.
`include "../rules/rule.svh"
module index_tags
    import index_pkg::*;
#(
    parameter int unsigned LogSets     = 12,
    parameter int unsigned LogWays     = 2,
    parameter int unsigned SegmentBits = 24,
    parameter int unsigned ValueWords  = 1,
    parameter int unsigned LogMisses   = 3,
    localparam int unsigned Misses     = 2**LogMisses
) (
    input  logic                               clk_i,
    input  logic                               rst_ni,
    output logic                               clearing_o,
    input  logic [31:0]                        segments_i,
    input  logic [31:0]                        slots_i,
    input  logic [5:0]                         limit_i,
    input  logic                               new_i,
    input  logic                               replay_i,
    input  logic                               claim_i,
    input  logic                               walk_i,
    input  logic                               clean_i,
    input  logic                               first_i,
    input  logic                               bus_error_i,
    input  logic                               write_error_i,
    input  logic                               has_place_i,
    input  logic [LogMisses-1:0]               miss_i,
    input  logic [LogWays-1:0]                 way_i,
    input  logic [SegmentBits-1:0]             segment_i,
    input  request_t                           request_i,
    input  logic [64*ValueWords-1:0]           value_i,
    input  logic [Misses-1:0]                  active_i,
    input  logic [Misses-1:0][SegmentBits-1:0] segments_of_i,
    input  logic [LogMisses-1:0]               free_i,
    input  logic                               last_i,
    output logic [LogMisses-1:0]               replayed_miss_o,
    output logic [1:0]                         undecided_o,
    output logic [LogMisses-1:0]               decided_miss_o,
    output logic                               park_o,
    output logic                               start_o,
    output logic                               claimed_o,
    output logic                               dirty_o,
    output logic                               unclaimed_o,
    output logic                               issued_o,
    output logic                               again_o,
    output logic                               walked_o,
    output logic                               changed_o,
    output logic [LogWays-1:0]                 way_o,
    output logic [SegmentBits-1:0]             victim_o,
    output request_t                           parked_request_o,
    output logic [64*ValueWords-1:0]           parked_value_o,
    output logic                               step_valid_o,
    output step_t                              step_o,
    output logic [LogSets+LogWays-1:0]         place_o,
    output logic [LogMisses-1:0]               step_miss_o,
    output request_t                           step_request_o,
    output logic [64*ValueWords-1:0]           step_value_o
);
    typedef enum logic [2:0] {Nothing, New, Replay, Claim, Walk, Clean} kind_t;
    typedef struct packed {
        kind_t                    kind;
        logic                     first;
        logic                     bus_error;
        logic [LogMisses-1:0]     miss;
        request_t                 request;
        logic [64*ValueWords-1:0] value;
    } offer_t;
    offer_t reading_q, its_q;
    logic   outside, is_outside, hits, waits, finds, stands_changed, is_new;
    logic [LogMisses-1:0] waits_for;
    anything #(.Width(LogMisses + 6)) i_any (
        .clk_i, .value_o({outside, hits, waits, finds, stands_changed, dirty_o, waits_for}));
    anything #(.Width(SegmentBits + 2*LogWays + LogSets)) i_places (.clk_i, .value_o({victim_o, way_o, place_o}));
    logic cleared;
    anything i_cleared (.clk_i, .value_o(cleared));
    always_ff @(posedge clk_i) begin
        reading_q <= '{
            kind: new_i ? New : replay_i ? Replay : claim_i ? Claim : walk_i ? Walk : clean_i ? Clean : Nothing,
            first: first_i, bus_error: bus_error_i, miss: miss_i, request: request_i, value: value_i};
        its_q      <= reading_q;
        clearing_o <= clearing_o && !cleared;
        if (!rst_ni) begin
            reading_q.kind <= Nothing;
            its_q.kind     <= Nothing;
            clearing_o     <= 1'b1;
        end
    end
    // An operation that there is not is outside, too; and so is more, which depends on the table.
    assign is_outside       = outside || its_q.request.operation > SetHint;
    assign is_new           = its_q.kind == New && !is_outside;
    assign undecided_o      = {its_q.kind == New, reading_q.kind == New};
    assign replayed_miss_o  = its_q.miss;
    assign start_o          = is_new && !(waits && active_i[waits_for]) && !hits;
    assign park_o           = start_o || is_new && waits && active_i[waits_for];
    assign decided_miss_o   = start_o ? free_i : its_q.kind == New ? waits_for : its_q.miss;
    assign claimed_o        = (start_o || its_q.kind == Claim) && finds;
    assign unclaimed_o      = its_q.kind == Claim && !finds;
    assign again_o          = its_q.kind == Replay && its_q.first && stands_changed;
    assign issued_o         = its_q.kind == Replay && !again_o;
    assign walked_o         = its_q.kind == Walk;
    assign changed_o        = its_q.kind == Walk && stands_changed;
    assign parked_request_o = its_q.request;
    assign parked_value_o   = its_q.value;
    assign step_o           = '{
        is_answered:  its_q.kind == New && !park_o || issued_o,
        is_snapshot:  claimed_o && dirty_o || again_o || changed_o,
        is_install:   issued_o && its_q.first,
        out_of_range: its_q.kind == New && is_outside,
        bus_error:    its_q.kind == Replay && its_q.bus_error
    };
    assign step_valid_o     = step_o.is_answered || step_o.is_snapshot;
    assign step_miss_o      = decided_miss_o;
    assign step_request_o   = its_q.request;
    assign step_value_o     = its_q.value;

    // What is asked of whoever offers. What it asks of the fetches is proven of index_misses.
    `RULE(one_kind_comes_at_a_time, 1, $onehot0({new_i, replay_i, claim_i, walk_i, clean_i}))
    `RULE(nothing_comes_while_clearing, 1, !clearing_o || !(new_i || replay_i || claim_i || walk_i || clean_i))
    `RULE(request_is_of_its_segment, 1, !new_i || segment_i == request_i.segment[SegmentBits-1:0])
    `RULE(flush_comes_alone, 1, !(walk_i || clean_i) || active_i == 0 && reading_q.kind != New && its_q.kind != New)
    `RULE(nothing_comes_into_a_flush, 1, !(new_i || replay_i || claim_i)
        || reading_q.kind != Walk && reading_q.kind != Clean && its_q.kind != Walk)
    `RULE(one_is_free_for_a_request, 1, its_q.kind != New || !active_i[free_i])
    `RULE(kinds_are_known, 1, reading_q.kind <= Clean && its_q.kind <= Clean)
    logic unused;
    assign unused = ^{segments_i, slots_i, limit_i, write_error_i, has_place_i, way_i, segments_of_i, last_i};
endmodule
