// SPDX-License-Identifier: MIT OR Apache-2.0
// Whoever keeps asking is taken after each of the others went once at most. Follows one of them, which is any. What
// take_turns holds is given, since induction needs to be told why it is so.
`include "rule.svh"
module fair_turns #(
    parameter int unsigned Count = 2
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic [Count-1:0] asks_i,
    input logic [Count-1:0] taken_i,    // the one that is taken in this clock
    input logic [Count-1:0] behind_i    // those behind the one that was taken last
);
    logic [$clog2(Count)-1:0] number;
    logic [Count-1:0]         one, up_to_one, went_q;
    arbitrary #(.Width($clog2(Count))) i_number (.clk_i, .value_o(number));
    assign one       = Count'(1) << number;
    assign up_to_one = one | (one - 1'b1);
    always_ff @(posedge clk_i) begin
        if (!rst_ni || (asks_i & one) == 0 || (taken_i & one) != 0) went_q <= '0;
        else went_q <= went_q | taken_i;
    end
    `RULE(nobody_goes_twice_before, 1, (asks_i & one) == 0 || (went_q & taken_i) == 0)
    `RULE(those_that_went_are_not_before_one, 1, (behind_i & one) != 0
        ? (went_q & behind_i & up_to_one) == 0 : (went_q & (behind_i | up_to_one)) == 0 || one == 0)
    `RULE(all_behind_the_last_are_known, 1, (behind_i | behind_i << 1) == behind_i)
endmodule
