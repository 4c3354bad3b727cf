// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of float_multiply: any product, in the clock in which that is proven to give it.
module float_multiply (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        valid_i,
    input  logic [63:0] a_i,
    input  logic [63:0] b_i,
    output logic        valid_o,
    output logic [63:0] result_o
);
    logic [6:0] valid_q;
    assign valid_o = valid_q[6];
    always_ff @(posedge clk_i) valid_q <= rst_ni ? {valid_q[5:0], valid_i} : '0;
    anything #(.Width(64)) i_any (.clk_i, .value_o(result_o));
    logic unused;
    assign unused = ^{a_i, b_i};
endmodule
