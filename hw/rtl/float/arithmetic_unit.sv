// SPDX-License-Identifier: MIT OR Apache-2.0
// The arithmetic of a lane that takes several clocks: products, and sums of floating-point
// numbers.
//
// Contract: `valid_i` is high for one cycle with an operation and its operands; `done_o` is
// high for one cycle with the result, four to seven clocks later. One operation at a time.
module arithmetic_unit (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        valid_i,
    input  logic [1:0]  operation_i,  // 0: product of integers; of floats 1: a + b, 2: a - b, 3: a * b
    input  logic [63:0] a_i,
    input  logic [63:0] b_i,
    output logic        done_o,
    output logic [63:0] result_o,
    output logic        overflow_o    // of the product of integers
);

    localparam logic [1:0] IntegerProduct = 2'd0;
    localparam logic [1:0] Difference     = 2'd2;
    localparam logic [1:0] Product        = 2'd3;

    logic        integer_done, product_done, sum_done, integer_overflow;
    logic [63:0] integer_result, product_result, sum_result;

    integer_multiply i_integer_multiply (
        .clk_i,
        .rst_ni,
        .valid_i   (valid_i && operation_i == IntegerProduct),
        .a_i,
        .b_i,
        .valid_o   (integer_done),
        .result_o  (integer_result),
        .overflow_o(integer_overflow)
    );

    float_multiply i_float_multiply (
        .clk_i,
        .rst_ni,
        .valid_i (valid_i && operation_i == Product),
        .a_i,
        .b_i,
        .valid_o (product_done),
        .result_o(product_result)
    );

    float_add i_float_add (
        .clk_i,
        .rst_ni,
        .valid_i (valid_i && operation_i != IntegerProduct && operation_i != Product),
        .a_i,
        .b_i     ({b_i[63] ^ (operation_i == Difference), b_i[62:0]}),
        .valid_o (sum_done),
        .result_o(sum_result)
    );

    assign done_o     = integer_done || product_done || sum_done;
    assign overflow_o = integer_done && integer_overflow;
    always_comb begin
        result_o = sum_result;
        if (integer_done) result_o = integer_result;
        if (product_done) result_o = product_result;
    end

`ifndef SYNTHESIS
    one_result_at_a_time: assert property (@(posedge clk_i) disable iff (!rst_ni)
        $onehot0({integer_done, product_done, sum_done}));
`endif

endmodule
