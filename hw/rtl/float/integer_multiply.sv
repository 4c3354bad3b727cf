// SPDX-License-Identifier: MIT OR Apache-2.0
// Product of two signed numbers of 64 bits, and whether it needs more.
//
// Contract: a pair is taken in every cycle in which `valid_i` is high; its product is on `result_o`
// four clocks later, with `valid_o`, and `overflow_o` if 64 bits do not hold it.
module integer_multiply (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        valid_i,
    input  logic [63:0] a_i,
    input  logic [63:0] b_i,
    output logic        valid_o,
    output logic [63:0] result_o,
    output logic        overflow_o
);

    logic [3:0] valid_q;
    assign valid_o = valid_q[3];

    always_ff @(posedge clk_i) begin
        valid_q <= rst_ni ? {valid_q[2:0], valid_i} : '0;
    end

    // Stage 1: magnitudes and sign.
    logic [63:0] a_q, b_q;
    logic        negative1_q, negative2_q, negative3_q;
    always_ff @(posedge clk_i) begin
        if (valid_i) begin
            a_q         <= a_i[63] ? -a_i : a_i;
            b_q         <= b_i[63] ? -b_i : b_i;
            negative1_q <= a_i[63] ^ b_i[63];
        end
    end

    // Stage 2: four products of halves.
    logic [63:0] low_q, cross_ab_q, cross_ba_q, high_q;
    always_ff @(posedge clk_i) begin
        if (valid_q[0]) begin
            low_q       <= 64'(a_q[31:0]) * 64'(b_q[31:0]);
            cross_ab_q  <= 64'(a_q[63:32]) * 64'(b_q[31:0]);
            cross_ba_q  <= 64'(a_q[31:0]) * 64'(b_q[63:32]);
            high_q      <= 64'(a_q[63:32]) * 64'(b_q[63:32]);
            negative2_q <= negative1_q;
        end
    end

    // Stage 3: the magnitude of the product; of what is above bit 63, only whether it is there.
    logic [63:0] magnitude_q;
    logic        large_q;
    logic [33:0] middle;
    assign middle = 34'(low_q[63:32]) + 34'(cross_ab_q[31:0]) + 34'(cross_ba_q[31:0]);
    always_ff @(posedge clk_i) begin
        if (valid_q[1]) begin
            magnitude_q <= {middle[31:0], low_q[31:0]};
            large_q     <= high_q != 0 || cross_ab_q[63:32] != 0 || cross_ba_q[63:32] != 0
                || middle[33:32] != 0;
            negative3_q <= negative2_q;
        end
    end

    // Stage 4: the sign. The smallest negative number has a magnitude of its own.
    always_ff @(posedge clk_i) begin
        if (valid_q[2]) begin
            result_o   <= negative3_q ? -magnitude_q : magnitude_q;
            overflow_o <= large_q
                || magnitude_q[63] && !(negative3_q && magnitude_q[62:0] == 0);
        end
    end

endmodule
