// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of activity_clock: a clock that never stops. What a block does when its clock stops is not proven with it.
module activity_clock #(
    parameter int unsigned Cycles = 64
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic busy_i,
    output logic clk_o
);
    assign clk_o = clk_i;
endmodule
