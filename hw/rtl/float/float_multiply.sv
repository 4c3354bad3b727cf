// SPDX-License-Identifier: MIT OR Apache-2.0
// Product of two IEEE 754 binary64 numbers, rounded to nearest, ties to even.
//
// Contract: a pair is taken in every cycle in which `valid_i` is high; its product is on
// `result_o` seven clocks later, with `valid_o`. Subnormal operands and results are kept. A NaN
// result is always 64'h7ff8_0000_0000_0000.
//
// The stages: operands; products of halves; their sum; leading zeros; the left shift that removes
// them; the right shift of a subnormal result; rounding.
module float_multiply (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        valid_i,
    input  logic [63:0] a_i,
    input  logic [63:0] b_i,
    output logic        valid_o,
    output logic [63:0] result_o
);

    import float_pkg::*;

    localparam int unsigned Stages = 7;

    logic [Stages-1:0] valid_q;
    assign valid_o = valid_q[Stages-1];

    always_ff @(posedge clk_i) begin
        valid_q <= rst_ni ? {valid_q[Stages-2:0], valid_i} : '0;
    end

    // Sign, special case and exponent go beside the significand.
    logic     [Stages-1:1] sign_q;
    special_t special_q[Stages-1:1];
    logic signed [12:0] exponent_q[Stages-1:1];
    always_ff @(posedge clk_i) begin
        for (int unsigned n = 2; n < Stages; n++) begin
            if (valid_q[n-2]) begin
                sign_q[n]    <= sign_q[n-1];
                special_q[n] <= special_q[n-1];
            end
        end
    end

    function automatic special_t special_of(input float_t a, input float_t b);
        if (is_nan(a) || is_nan(b)) return Nan;
        if (is_infinity(a) || is_infinity(b)) return is_zero(a) || is_zero(b) ? Nan : Infinity;
        return is_zero(a) || is_zero(b) ? Zero : None;
    endfunction

    // Stage 1: the operands. The exponent is that of a product whose bit 105 is the units.
    float_t      a, b;
    logic [52:0] a_q, b_q;
    assign a = a_i;
    assign b = b_i;
    always_ff @(posedge clk_i) begin
        if (valid_i) begin
            a_q           <= significand(a);
            b_q           <= significand(b);
            sign_q[1]     <= a.sign ^ b.sign;
            special_q[1]  <= special_of(a, b);
            exponent_q[1] <= 13'(biased_exponent(a)) + 13'(biased_exponent(b)) - 13'sd1022;
        end
    end

    // Stage 2: four products of halves, of 27 and 26 bits.
    logic [53:0] low_q, cross_ab_q, cross_ba_q, high_q;
    always_ff @(posedge clk_i) begin
        if (valid_q[0]) begin
            low_q         <= 54'(a_q[26:0]) * 54'(b_q[26:0]);
            cross_ab_q    <= 54'(a_q[52:27]) * 54'(b_q[26:0]);
            cross_ba_q    <= 54'(a_q[26:0]) * 54'(b_q[52:27]);
            high_q        <= 54'(a_q[52:27]) * 54'(b_q[52:27]);
            exponent_q[2] <= exponent_q[1];
        end
    end

    // Stage 3: their sum.
    logic [105:0] product_q;
    always_ff @(posedge clk_i) begin
        if (valid_q[1]) begin
            product_q     <= {high_q[51:0], low_q} + (106'(cross_ab_q) << 27)
                + (106'(cross_ba_q) << 27);
            exponent_q[3] <= exponent_q[2];
        end
    end

    // Stage 4: its leading zeros. More than 53 are only there when both operands are subnormal;
    // then the result is far below the smallest number, wherever its bits are.
    logic [105:0] counted_q;
    logic [6:0]   zeros_q;
    always_ff @(posedge clk_i) begin
        if (valid_q[2]) begin
            counted_q     <= product_q;
            zeros_q       <= leading_zeros(product_q[105:42]);
            exponent_q[4] <= exponent_q[3];
        end
    end

    // Stage 5: without them, down to 53 bits, guard and sticky.
    function automatic logic [54:0] normalised(input logic [105:0] value, input logic [6:0] zeros);
        logic [105:0] shifted;
        shifted = value << zeros;
        return {shifted[105:52], shifted[51:0] != 0};
    endfunction

    logic [54:0] normalised_q;
    always_ff @(posedge clk_i) begin
        if (valid_q[3]) begin
            normalised_q  <= normalised(counted_q, zeros_q);
            exponent_q[5] <= exponent_q[4] - 13'(zeros_q);
        end
    end

    // Stage 6: below the smallest normal number, with its exponent.
    function automatic logic [54:0] subnormal(
        input logic [54:0] value, input logic signed [12:0] exponent
    );
        logic signed [12:0] distance;
        distance = 13'sd1 - exponent;
        return 55'(shift_right_sticky({1'b0, value}, distance > 13'sd60 ? 6'd60 : distance[5:0]));
    endfunction

    logic [54:0] ready_q;
    always_ff @(posedge clk_i) begin
        if (valid_q[4]) begin
            ready_q       <= exponent_q[5] < 13'sd1
                ? subnormal(normalised_q, exponent_q[5]) : normalised_q;
            exponent_q[6] <= exponent_q[5] < 13'sd1 ? 13'sd1 : exponent_q[5];
        end
    end

    // Stage 7: rounding.
    always_ff @(posedge clk_i) begin
        if (valid_q[5]) begin
            result_o <= special_q[6] == None
                ? rounded(sign_q[6], exponent_q[6], ready_q)
                : special_result(special_q[6], sign_q[6]);
        end
    end

    // The halves' highest product has no more bits.
    logic unused;
    assign unused = ^high_q[53:52];

endmodule
