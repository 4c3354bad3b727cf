// SPDX-License-Identifier: MIT OR Apache-2.0
// take_turns: one that asks is chosen, and whoever keeps asking is taken after at most all others.
`include "../rules/rule.svh"
module take_turns_formal #(
    parameter int unsigned Count     = 7,
    localparam int unsigned LogCount = $clog2(Count)
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic [Count-1:0] asks_i,
    input logic             taken_i
);
    logic [Count-1:0]    chosen_o;
    logic [LogCount-1:0] number_o;

    power_up i_power_up (.*);
    take_turns #(.Count(Count)) i_block (.*);
    // Something is taken only where something is chosen.
    `RULE(taken_where_one_asks, 0, !taken_i || asks_i != 0)

    logic [LogCount-1:0] one;
    logic [LogCount:0]   others_q;
    arbitrary #(.Width(LogCount)) i_one (.clk_i, .value_o(one));
    `RULE(one_is_some_of_them, 0, 32'(one) < Count)
    always_ff @(posedge clk_i) begin
        if (!rst_ni || !asks_i[one]) others_q <= '0;
        else if (taken_i) others_q <= chosen_o[one] ? '0 : others_q + 1'b1;
    end
    `RULE(whoever_asks_is_taken_in_turn, 1, 32'(others_q) < Count)
    `RULE(number_is_of_the_chosen, 1, asks_i == 0 || chosen_o == Count'(1) << number_o)
    `RULE(nobody_is_chosen_of_none, 1, asks_i != 0 || chosen_o == 0)

    // The turn stays while nobody asks.
    logic [Count-1:0] behind_last_q, of_those;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) behind_last_q <= '0;
        else if (taken_i) behind_last_q <= ~(chosen_o | chosen_o - 1'b1);
    end
    assign of_those = (asks_i & behind_last_q) != 0 ? asks_i & behind_last_q : asks_i;
    `RULE(those_behind_the_last_go_first, 1, chosen_o == (of_those & -of_those))
    `RULE(turn_is_of_those_behind_the_last, 1, i_block.behind_q == behind_last_q)

    // Why it is so: those that went since this one asks are not behind the last that was taken.
    logic [Count-1:0] went_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || !asks_i[one]) went_q <= '0;
        else if (taken_i) went_q <= chosen_o[one] ? '0 : went_q | chosen_o;
    end
    `RULE(nobody_goes_twice_before, 1, !taken_i || !asks_i[one] || (went_q & chosen_o) == 0)
    `RULE(those_that_went_are_counted, 1, 32'(others_q) == 32'($countones(went_q)))
    logic             fresh_q;
    logic [Count-1:0] before_chosen;
    always_ff @(posedge clk_i) fresh_q <= !rst_ni || fresh_q && !taken_i;
    assign before_chosen = (Count'(1) << number_o) - 1'b1;
    `RULE(first_turn_is_of_the_first, 1, !fresh_q || (asks_i & before_chosen) == 0)
    `REACHED(all_others_went_before, 32'(others_q) == Count - 1 && taken_i && chosen_o[one])
endmodule
