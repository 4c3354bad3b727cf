// SPDX-License-Identifier: MIT OR Apache-2.0
// vector_queue: where an element of a sent vector is taken within `Late` clocks, the next one that comes is taken in time,
// and an element, which is any, leaves in time.
`include "../rules/rule.svh"
module vector_queue_progress #(
    parameter int unsigned Late  = 1,
    parameter int unsigned Flush = 4    // clocks, at most
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             enable_i,
    input logic [15:0]      flush_time_i,
    input logic             s_axis_tvalid,
    input logic             s_axis_tready,
    input logic [1:0]       waits_o,
    input logic [1:0]       pop_i,
    // Of both directions: elements, the age of the oldest open one, and one that is followed.
    input logic [1:0][3:0]  open,
    input logic [1:0][3:0]  sent,
    input logic [1:0][15:0] age,
    input logic [1:0]       followed,
    input logic [1:0][4:0]  ahead
);
    localparam int unsigned Vector = 15*(Late + 1);
    `RULE(flush_time_is_short, 0, 32'(flush_time_i) <= Flush)

    // A vector is full 15 clocks after the one before it was sent at the earliest, and waits until that was taken. In the
    // first clocks, in which covers are looked for, nothing waits so.
    waits_at_most #(.Most(15*Late), .Seen(0)) i_comes_in (
        .clk_i, .rst_ni, .waits_i(enable_i && s_axis_tvalid), .served_i(s_axis_tready));
    for (genvar way = 0; way < 2; way++) begin : g_ways
        waits_at_most #(.Most(Late), .Proven(0)) i_user (
            .clk_i, .rst_ni, .waits_i(waits_o[way]), .served_i(pop_i[way]));
        waits_at_most #(.Most(2*Vector - 16), .Seen(Flush + 2)) i_leaves (
            .clk_i, .rst_ni, .waits_i(followed[way]), .served_i(pop_i[way] && ahead[way] == 0));

        // Clocks until the sent vector is taken, until the open one is sent, and until the followed element leaves.
        logic [31:0] taken, unsent, left;
        always_comb begin
            taken  = sent[way] == 0 ? 0 : 32'(sent[way])*(Late + 1) - 32'(i_user.waited_q);
            unsent = 32'(age[way]) < Flush ? Flush - 32'(age[way]) + 1 : 1;
            if (unsent < taken) unsent = taken;
            left = (32'(ahead[way]) + 1)*(Late + 1) - 32'(i_user.waited_q);
            if (ahead[way] >= 5'(sent[way])) left = unsent + (32'(ahead[way]) - 32'(sent[way]) + 1)*(Late + 1);
        end
        `RULE(vector_fills_while_the_other_is_taken, 1,
            taken + 32'(open[way]) + (open[way] == 4'd15 ? 32'(i_comes_in.waited_q) : 0) <= Vector)
        `RULE(full_vector_waits_for_the_other, 1, open[way] != 4'd15 || sent[way] != 0)
        `RULE(followed_element_is_inside, 1, !followed[way] || ahead[way] < 5'(open[way]) + 5'(sent[way]))
        `RULE(element_comes_nearer, 1, !followed[way] || 32'(i_leaves.waited_q) + left <= 2*Vector - 15)
    end
    `RULE(one_vector_is_full, 1, open[0] != 4'd15 || open[1] != 4'd15)
endmodule
bind vector_queue_formal vector_queue_progress i_progress (
    .open({g_ways[1].open_q, g_ways[0].open_q}), .sent({g_ways[1].sent_q, g_ways[0].sent_q}),
    .age({g_ways[1].age_q, g_ways[0].age_q}), .followed({g_ways[1].followed_q, g_ways[0].followed_q}),
    .ahead({g_ways[1].ahead_q, g_ways[0].ahead_q}), .*);
