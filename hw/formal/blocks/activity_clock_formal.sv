// SPDX-License-Identifier: MIT OR Apache-2.0
// activity_clock: its edges are those of its clock while something happens and for so many clocks after it, and in reset from the
// second on; then there are none. Which edges pass is told by `clk_o` in the clock before each.
`include "../rules/rule.svh"
module activity_clock_formal #(
    parameter int unsigned Cycles = 6
) (
    input logic clk_i,
    input logic rst_ni,
    input logic busy_i
);
    logic clk_o;

    power_up i_power_up (.*);
    activity_clock #(.Cycles(Cycles)) i_block (.*);

    // Whether something happened, or a reset was, in each of the last clocks.
    logic [Cycles-1:0] loud_q;
    logic              resets_q = 1'b0;
    always_ff @(posedge clk_i) begin
        loud_q   <= {loud_q[Cycles-2:0], !rst_ni || busy_i};
        resets_q <= !rst_ni;
    end
    `RULE(clock_runs_while_something_happens_and_so_long_after, 1, clk_o == (busy_i || loud_q != '0))
    runs_in_reset_from_the_second_edge: assert property (@(posedge clk_i) rst_ni || !resets_q || clk_o);

    `REACHED(clock_stops, !clk_o)
    `REACHED(clock_runs_again, $past(rst_ni && !clk_o) && clk_o)
endmodule
