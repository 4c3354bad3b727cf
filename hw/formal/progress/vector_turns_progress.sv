// SPDX-License-Identifier: MIT OR Apache-2.0
// vector_turns: where there is a place for an element within `Late` clocks, and vectors have at most `Elements`, the next
// element of each queue, which is any, is taken in time, after a vector of each other queue at most.
`include "../rules/rule.svh"
module vector_turns_progress
    import vector_pkg::*;
#(
    parameter int unsigned Late     = 1,
    parameter int unsigned Elements = 2
) (
    input logic              clk_i,
    input logic              rst_ni,
    input logic              ready_i,
    input logic [Queues-1:0] waits_i,
    input logic [Queues-1:0] went_q,     // queues whose vectors began since it waits
    input logic [Queues-1:0] queue,      // any
    input logic              waits,
    input logic              its,        // its element is taken
    input logic              take,
    input logic              ends,
    input logic              under_way      // a vector is under way
);
    waits_at_most #(.Most(Late), .Proven(0)) i_place (
        .clk_i, .rst_ni, .waits_i(waits_i != 0), .served_i(ready_i));
    logic [7:0] taken_q;    // of the vector under way
    always_ff @(posedge clk_i) begin
        if (!rst_ni) taken_q <= '0;
        else if (take) taken_q <= ends ? '0 : taken_q + 1'b1;
    end
    `RULE(vectors_have_few_elements, 0, !take || ends || 32'(taken_q) + 1 < Elements)

    // One that is under way when it begins to wait, and one of each other queue.
    waits_at_most #(.Most((Elements*Queues - 1)*(Late + 1) + Late), .Seen(2*Elements)) i_element (
        .clk_i, .rst_ni, .waits_i(waits), .served_i(its));
    logic [7:0] others_q;    // elements that were taken since it waits
    always_ff @(posedge clk_i) begin
        if (!rst_ni || !waits || its) others_q <= '0;
        else if (take) others_q <= others_q + 1'b1;
    end
    `RULE(each_element_takes_its_time, 1, !waits
        || 32'(i_element.waited_q) == 0
        || 32'(i_element.waited_q) <= 32'(others_q) * (Late + 1) + 32'(i_place.waited_q))
    `RULE(elements_under_way_are_counted, 1, under_way == (taken_q != 0) && 32'(taken_q) < Elements)
    `RULE(queue_does_not_go_before_itself, 1, (went_q & queue) == 0)
    // A vector that was under way before is one more, whose elements were not all taken since.
    `RULE(elements_are_of_vectors, 1, 32'(others_q) + (under_way ? Elements - 32'(taken_q) : 0)
        <= Elements * (32'($countones(went_q)) + 1) - 1)
endmodule
bind vector_turns_formal vector_turns_progress i_progress (
    .waits(waits_i[number]), .under_way(i_block.inside_q), .*);
