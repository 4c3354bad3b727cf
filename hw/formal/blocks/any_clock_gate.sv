// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of clock_gate, which is proven to pass an edge exactly where its enable was high before: here the clock that
// comes out is high in a clock whose last edge passes.
module clock_gate (
    input  logic clk_i,
    input  logic enable_i,
    output logic clk_o
);
    assign clk_o = enable_i;
    logic unused;
    assign unused = clk_i;
endmodule
