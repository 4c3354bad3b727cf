// SPDX-License-Identifier: MIT OR Apache-2.0
// vector_turns: a vector is taken whole, elements are given as they were, and a queue, which is any, waits for one vector
// of each of the others at most.
`include "../rules/rule.svh"
module vector_turns_formal
    import vector_pkg::*;
(
    input logic                  clk_i,
    input logic                  rst_ni,
    input logic     [Queues-1:0] waits_i,
    input logic     [Queues-1:0] last_i,
    input element_t [Queues-1:0] head_i,
    input logic                  ready_i
);
    logic     [Queues-1:0] pop_o;
    logic                  take_o, valid_o;
    logic     [2:0]        queue_o;
    element_t              element_o;

    power_up i_power_up (.*);
    vector_turns i_block (.*);

    logic [Queues-1:0] chosen;
    logic              take, ends;
    assign chosen = i_block.chosen;
    assign take   = ready_i && waits_i != 0;
    assign ends   = (chosen & last_i) != 0;

    // One queue, which is any.
    logic [2:0]        number;
    logic [Queues-1:0] queue;
    logic              its;
    arbitrary #(.Width(3)) i_number (.clk_i, .value_o(number));
    assign queue = Queues'(1) << number;
    assign its   = (pop_o & queue) != 0;
    `RULE(element_is_given_in_the_clock_after, 1, valid_o == $past(rst_ni && ready_i && waits_i != 0))
    `RULE(element_is_given_as_it_was, 1, !$past(rst_ni && its)
        || valid_o && queue_o == number && element_o == $past(head_i[number]))
    `RULE(an_element_is_said_to_be_taken, 1, take_o == (pop_o != 0))
    `RULE(one_is_taken_where_there_is_a_place, 1, ready_i ? (waits_i == 0 || $onehot(pop_o)) : pop_o == 0)

    // Whether its vector is under way: nothing of others is taken then.
    logic inside_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) inside_q <= 1'b0;
        else if (its) inside_q <= !ends;
    end
    `RULE(vector_is_taken_whole, 1, !inside_q || (pop_o & ~queue) == 0)
    `RULE(vector_under_way_is_known, 1, !inside_q || i_block.inside_q && i_block.turn_q == queue)
    `RULE(no_other_vector_is_under_way, 1, !(i_block.inside_q && i_block.turn_q == queue) || inside_q)
    `RULE(one_queue_has_the_turn, 1, $onehot(i_block.turn_q))

    // Queues whose vectors began since it waits.
    logic [Queues-1:0] went_q;
    logic              begins;
    assign begins = take && !i_block.inside_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || !waits_i[number] || its) went_q <= '0;
        else if (begins) went_q <= went_q | chosen;
    end
    `RULE(nobody_goes_twice_before, 1, !begins || !waits_i[number] || (went_q & chosen) == 0)
    `REACHED(all_others_went_before, went_q == ~queue && its)
    `REACHED(vector_of_two_ends, its && inside_q && ends)
endmodule
