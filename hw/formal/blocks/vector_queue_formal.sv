// SPDX-License-Identifier: MIT OR Apache-2.0
// vector_queue: elements go to the vector of their direction, none is lost, and an idle queue sends what it has. What
// a vector does is proven of vector_fill.
`include "../rules/rule.svh"
module vector_queue_formal
    import vector_pkg::*;
(
    input logic         clk_i,
    input logic         rst_ni,
    input logic         enable_i,
    input logic [15:0]  idle_time_i,
    input logic [15:0]  flush_time_i,
    input logic         s_axis_tvalid,
    input logic [160:0] s_axis_tdata,
    input logic [1:0]   pop_i
);
    logic           s_axis_tready, accepted_o;
    sent_t    [1:0] sent_o;
    logic     [1:0] waits_o, last_o;
    element_t [1:0] head_o;

    power_up i_power_up (.*);
    vector_queue i_block (.*);
    axi4_stream_rules #(.Width(161), .Proven(0)) i_in (
        .clk_i, .rst_ni, .tvalid(s_axis_tvalid), .tready(s_axis_tready), .payload(s_axis_tdata));
    `RULE(elements_are_popped_where_some_wait, 0, (pop_i & ~waits_o) == 0)

    `RULE(accepted_is_told, 1, accepted_o == (s_axis_tvalid && s_axis_tready))
    `RULE(nothing_is_taken_while_disabled, 1, enable_i || !s_axis_tready)
    `RULE(element_is_taken_where_neither_is_full, 1, s_axis_tready
        == (enable_i && i_block.g_ways[0].i_fill.open_q != 4'd15 && i_block.g_ways[1].i_fill.open_q != 4'd15))

    // Clocks since the last element came.
    logic [15:0] quiet_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || accepted_o) quiet_q <= 16'd1;
        else if (quiet_q != '1) quiet_q <= quiet_q + 1'b1;
    end
    // Elements of each direction that are inside.
    logic [1:0][4:0] inside_q;
    for (genvar way = 0; way < 2; way++) begin : g_ways
        always_ff @(posedge clk_i) begin
            if (!rst_ni) inside_q[way] <= '0;
            else inside_q[way] <= inside_q[way] + 5'(accepted_o && s_axis_tdata[160] == 1'(way)) - 5'(pop_i[way]);
        end
        `RULE(elements_are_in_their_vectors, 1, inside_q[way] == 5'(i_block.g_ways[way].i_fill.open_q)
            + 5'(i_block.g_ways[way].i_fill.sent_q))
        `RULE(vectors_have_at_most_15, 1, i_block.g_ways[way].i_fill.sent_q <= 4'd15)
        // Nothing came for the idle time: nothing is left open behind a vector that was taken.
        `RULE(idle_queue_sends, 1, !(quiet_q >= idle_time_i && !accepted_o && !waits_o[way])
            || i_block.g_ways[way].i_fill.open_q == 0 || sent_o[way] != NotSent)
    end
    `RULE(quiet_clocks_are_counted, 1, quiet_q == i_block.quiet_q)
    `REACHED(both_send, sent_o[0] != NotSent && sent_o[1] != NotSent)
endmodule
