// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of arithmetic_unit: an operation ends once, four to seven clocks later as that is proven to, with any result; only of
// a product of integers may it be told that it overflows.
module arithmetic_unit (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        valid_i,
    input  logic [1:0]  operation_i,
    input  logic [63:0] a_i,
    input  logic [63:0] b_i,
    output logic        done_o,
    output logic [63:0] result_o,
    output logic        overflow_o
);
    logic       busy_q, overflows;
    logic [1:0] operation_q;
    logic [2:0] clocks_q, clocks;
    always_comb begin
        case (operation_q)
            2'd0:    clocks = 3'd4;
            2'd3:    clocks = 3'd7;
            default: clocks = 3'd6;
        endcase
    end
    assign done_o     = busy_q && clocks_q == clocks;
    assign overflow_o = overflows && done_o && operation_q == 2'd0;
    anything #(.Width(65)) i_any (.clk_i, .value_o({overflows, result_o}));
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            busy_q <= 1'b0;
        end else if (valid_i) begin
            busy_q      <= 1'b1;
            operation_q <= operation_i;
            clocks_q    <= 3'd1;
        end else begin
            busy_q   <= busy_q && !done_o;
            clocks_q <= clocks_q + 3'd1;
        end
    end
    logic unused;
    assign unused = ^{a_i, b_i};
endmodule
