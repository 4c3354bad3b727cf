// SPDX-License-Identifier: MIT OR Apache-2.0
// Divides by 127 by adding up digits of 7 bits, a digit a clock: n = 128 a + b = 127 a + (a + b).
//
// Contract: `start_i` takes `number_i`; the quotient is valid from the clock in which `done_o` is
// first high until the next start.
module divide_by_127 (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        start_i,
    input  logic [36:0] number_i,
    output logic        done_o,
    output logic [36:0] quotient_o,
    output logic [6:0]  remainder_o
);

    logic [36:0] left_q;
    logic        busy_q;
    assign remainder_o = left_q[6:0];
    assign done_o      = !busy_q;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            busy_q <= 1'b0;
        end else if (start_i) begin
            busy_q     <= 1'b1;
            left_q     <= number_i;
            quotient_o <= '0;
        end else if (busy_q) begin
            if (left_q == 37'd127) begin
                left_q     <= '0;
                quotient_o <= quotient_o + 1'b1;
            end else if (left_q > 37'd127) begin
                left_q     <= 37'(left_q[36:7]) + 37'(left_q[6:0]);
                quotient_o <= quotient_o + 37'(left_q[36:7]);
            end else begin
                busy_q <= 1'b0;
            end
        end
    end

endmodule
