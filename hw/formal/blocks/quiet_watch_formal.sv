// SPDX-License-Identifier: MIT OR Apache-2.0
// quiet_watch: its contract, word by word.
`include "../rules/rule.svh"
module quiet_watch_formal #(
    parameter int unsigned Cycles = 6
) (
    input logic clk_i,
    input logic rst_ni,
    input logic busy_i
);
    logic quiet_o;

    power_up i_power_up (.*);
    quiet_watch #(.Cycles(Cycles)) i_block (.*);

    // Whether something happened, or a reset was, in each of the last clocks.
    logic [Cycles-1:0] loud_q;
    always_ff @(posedge clk_i) loud_q <= {loud_q[Cycles-2:0], !rst_ni || busy_i};

    `RULE(quiet_after_so_many_clocks, 1, quiet_o == (!busy_i && loud_q == '0))
    `REACHED(quiet_ends, $past(rst_ni && quiet_o) && !quiet_o)
endmodule
