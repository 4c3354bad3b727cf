// SPDX-License-Identifier: MIT OR Apache-2.0
// Sum of two IEEE 754 binary64 numbers, rounded to nearest, ties to even.
//
// Contract: a pair is taken in every cycle in which `valid_i` is high; its sum is on `result_o`
// six clocks later, with `valid_o`. Subnormal operands and results are kept. A NaN result is
// always 64'h7ff8_0000_0000_0000. For a difference the caller inverts the sign of `b_i`.
//
// The stages: order the operands by magnitude; align the smaller one; add or subtract; count
// leading zeros; shift them out; round.
module float_add (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        valid_i,
    input  logic [63:0] a_i,
    input  logic [63:0] b_i,
    output logic        valid_o,
    output logic [63:0] result_o
);

    import float_pkg::*;

    localparam int unsigned Stages = 6;

    logic [Stages-1:0] valid_q;
    assign valid_o = valid_q[Stages-1];

    always_ff @(posedge clk_i) begin
        valid_q <= rst_ni ? {valid_q[Stages-2:0], valid_i} : '0;
    end

    // Sign and special case go beside the significand.
    logic [Stages-1:1] sign_q;
    special_t special_q[Stages-1:1];
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
        if (is_infinity(a) && is_infinity(b)) return a.sign == b.sign ? Infinity : Nan;
        return is_infinity(a) || is_infinity(b) ? Infinity : None;
    endfunction

    // Stage 1: by magnitude. The sign of the larger one is that of the sum.
    float_t a, b, large_q, small_q;
    logic   swap;
    assign a    = a_i;
    assign b    = b_i;
    assign swap = a_i[62:0] < b_i[62:0];
    always_ff @(posedge clk_i) begin
        if (valid_i) begin
            large_q      <= swap ? b : a;
            small_q      <= swap ? a : b;
            sign_q[1]    <= swap ? b.sign : a.sign;
            special_q[1] <= special_of(a, b);
        end
    end

    // Stage 2: the smaller one at the place of the larger, with guard, round and sticky bit.
    function automatic logic [55:0] aligned(input float_t larger, input float_t smaller);
        logic [10:0] distance;
        distance = biased_exponent(larger) - biased_exponent(smaller);
        return shift_right_sticky(
            {significand(smaller), 3'b000}, distance > 11'd60 ? 6'd60 : distance[5:0]);
    endfunction

    logic [55:0] large_bits_q, small_bits_q;
    logic [10:0] exponent2_q, exponent3_q, exponent4_q;
    logic        subtract_q;
    always_ff @(posedge clk_i) begin
        if (valid_q[0]) begin
            large_bits_q <= {significand(large_q), 3'b000};
            small_bits_q <= aligned(large_q, small_q);
            exponent2_q  <= biased_exponent(large_q);
            subtract_q   <= large_q.sign != small_q.sign;
        end
    end

    // Stage 3: the sum, of which bit 56 is the carry.
    logic [56:0] sum_q;
    logic        cancelled_q;
    always_ff @(posedge clk_i) begin
        if (valid_q[1]) begin
            sum_q       <= subtract_q
                ? {1'b0, large_bits_q} - {1'b0, small_bits_q}
                : {1'b0, large_bits_q} + {1'b0, small_bits_q};
            cancelled_q <= subtract_q && large_bits_q == small_bits_q;
            exponent3_q <= exponent2_q;
        end
    end

    // Stage 4: its leading zeros, of which a shift takes away as many as the exponent allows.
    logic [56:0] counted_q;
    logic [6:0]  zeros_q;
    logic        cancelled4_q;
    always_ff @(posedge clk_i) begin
        if (valid_q[2]) begin
            counted_q    <= sum_q;
            zeros_q      <= leading_zeros({sum_q, 7'd0});
            cancelled4_q <= cancelled_q;
            exponent4_q  <= exponent3_q;
        end
    end

    // Stage 5: without them. The units are at bit 56 now, for which the exponent is one more.
    logic [6:0] distance;
    assign distance = 11'(zeros_q) <= exponent4_q ? zeros_q : exponent4_q[6:0];

    function automatic logic [54:0] shifted(input logic [56:0] value, input logic [6:0] places);
        logic [56:0] left;
        left = value << places;
        return {left[56:3], left[2:0] != 0};
    endfunction

    logic [54:0]        ready_q;
    logic signed [12:0] exponent5_q;
    logic               cancelled5_q;
    always_ff @(posedge clk_i) begin
        if (valid_q[3]) begin
            ready_q      <= shifted(counted_q, distance);
            exponent5_q  <= 13'(exponent4_q) + 13'sd1 - 13'(distance);
            cancelled5_q <= cancelled4_q;
        end
    end

    // Stage 6: rounding. What cancels wholly is +0.
    always_ff @(posedge clk_i) begin
        if (valid_q[4]) begin
            result_o <= special_q[5] == None
                ? rounded(sign_q[5] && !cancelled5_q, exponent5_q, ready_q)
                : special_result(special_q[5], sign_q[5]);
        end
    end

endmodule
