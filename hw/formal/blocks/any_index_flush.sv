// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of index_flush, whose job proves it: it begins when nothing else is under way and no request may come, and then
// offers places, at any time and any of them, until it ends. Requests may come again after that.
`include "../rules/rule.svh"
module index_flush #(
    parameter int unsigned LogSets   = 12,
    parameter int unsigned LogWays   = 2,
    parameter int unsigned LogMisses = 4,
    localparam int unsigned Misses   = 2**LogMisses
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  flush_i,
    input  logic                  idle_i,
    output logic                  stops_o,
    output logic                  busy_o,
    output logic                  flushed_o,
    output logic                  failed_o,
    output logic                  walk_o,
    output logic                  clean_o,
    output logic [LogMisses-1:0]  miss_o,
    output logic [LogSets-1:0]    set_o,
    output logic [LogWays-1:0]    way_o,
    input  logic                  walked_i,
    input  logic                  changed_i,
    input  logic [LogMisses-1:0]  walked_miss_i,
    input  logic [Misses-1:0]     written_i,
    input  logic                  write_error_i
);
    // What was offered in the last two clocks, in which it is not told of; it may end before a clean is decided on.
    logic       offers, cleans, begins, ends, goes_on;
    logic [1:0] offered_q, walks_q;
    anything #(.Width(4)) i_any (.clk_i, .value_o({offers, cleans, begins, ends}));
    anything #(.Width(LogMisses + LogSets + LogWays + 2)) i_place (
        .clk_i, .value_o({miss_o, set_o, way_o, flushed_o, failed_o}));
    assign walk_o  = busy_o && offers && !cleans;
    assign clean_o = busy_o && offers && cleans;
    assign goes_on = busy_o ? !(ends && !offers && walks_q == 0) : stops_o && flush_i && idle_i && begins;
    always_ff @(posedge clk_i) begin
        offered_q <= {offered_q[0], offers && busy_o};
        walks_q   <= {walks_q[0], walk_o};
        busy_o    <= goes_on;
        stops_o   <= flush_i || goes_on;
        if (!rst_ni) {offered_q, walks_q, busy_o, stops_o} <= '0;
    end
    `RULE(nothing_else_is_under_way, 1, !busy_o || idle_i)
    `RULE(what_is_offered_is_told_of, 1, !walked_i || walks_q[1])
    logic unused;
    assign unused = ^{changed_i, walked_miss_i, written_i, write_error_i};
endmodule
