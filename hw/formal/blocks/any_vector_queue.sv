// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of vector_queue, whose job proves it: elements are taken where neither open vector is full, and leave in order.
// Times do not count, so an open vector is sent at any time when the last one has been taken. Of each vector one element, which is
// any, is followed; the others are anything. What is asked of whoever uses it is proven here.
`include "../rules/rule.svh"
module vector_queue
    import vector_pkg::*;
#(
    parameter int unsigned Ways = 2
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                enable_i,
    input  logic     [15:0]     idle_time_i,
    input  logic     [15:0]     flush_time_i,
    input  logic                s_axis_tvalid,
    output logic                s_axis_tready,
    input  logic     [160:0]    s_axis_tdata,
    output logic                accepted_o,
    output sent_t    [Ways-1:0] sent_o,
    output logic     [Ways-1:0] waits_o,
    output logic     [Ways-1:0] last_o,
    output element_t [Ways-1:0] head_o,
    input  logic     [Ways-1:0] pop_i
);
    // Elements since the last vector was sent, and of that one those that were not taken.
    logic     [Ways-1:0][3:0] open_q, sent_q;
    logic     [Ways-1:0]      room;
    // The one that is followed, and how many are ahead of it.
    logic     [Ways-1:0]      begins, followed_q;
    logic     [Ways-1:0][4:0] ahead_q;
    element_t [Ways-1:0]      element_q;
    assign s_axis_tready = enable_i && &room;
    assign accepted_o    = s_axis_tvalid && s_axis_tready;
    for (genvar way = 0; way < Ways; way++) begin : g_ways
        logic       push, free, mark, sends, other_last;
        logic [1:0] why;
        logic [3:0] count;
        element_t   other;
        anything #(.Width($bits(element_t) + 5)) i_any (.clk_i, .value_o({mark, sends, why, other_last, other}));
        assign room[way]   = open_q[way] != VectorLength;
        assign push        = accepted_o && s_axis_tdata[160] == 1'(way);
        assign begins[way] = push && mark && !followed_q[way];
        assign count       = open_q[way] + 4'(push);
        assign free        = sent_q[way] == 0 || sent_q[way] == 4'd1 && pop_i[way];
        assign sent_o[way]  = free && count != 0 && sends ? sent_t'(why) : NotSent;
        assign waits_o[way] = sent_q[way] != 0;
        assign last_o[way]  = waits_o[way] ? sent_q[way] == 4'd1 : other_last;
        assign head_o[way]  = followed_q[way] && ahead_q[way] == 0 && waits_o[way] ? element_q[way] : other;
        always_ff @(posedge clk_i) begin
            open_q[way] <= sent_o[way] != NotSent ? '0 : count;
            sent_q[way] <= sent_o[way] != NotSent ? count : sent_q[way] - 4'(pop_i[way]);
            if (begins[way]) begin
                element_q[way] <= s_axis_tdata[159:0];
                ahead_q[way]   <= 5'(open_q[way]) + 5'(sent_q[way]) - 5'(pop_i[way]);
            end else begin
                ahead_q[way] <= ahead_q[way] - 5'(pop_i[way]);
            end
            followed_q[way] <= begins[way] || followed_q[way] && !(pop_i[way] && ahead_q[way] == 0);
            if (!rst_ni) begin
                open_q[way]     <= '0;
                sent_q[way]     <= '0;
                followed_q[way] <= 1'b0;
            end
        end
        `RULE(element_is_popped_where_one_waits, 1, !pop_i[way] || waits_o[way])
        `RULE(followed_element_is_in_a_vector, 1, !followed_q[way] || ahead_q[way] < 5'(open_q[way]) + 5'(sent_q[way]))
        `RULE(vectors_have_at_most_15, 1, open_q[way] <= VectorLength && sent_q[way] <= VectorLength)
    end
    axi4_stream_rules #(.Width(161), .Proven(1), .Waits(0), .Dense(0)) i_in (
        .clk_i, .rst_ni, .tvalid(s_axis_tvalid), .tready(s_axis_tready), .payload(s_axis_tdata));
endmodule
