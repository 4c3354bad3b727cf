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
    special_t special_q[Stages-1:2];
    always_ff @(posedge clk_i) begin
        for (int unsigned n = 2; n < Stages; n++) begin
            if (valid_q[n-2]) sign_q[n] <= sign_q[n-1];
            if (n > 2 && valid_q[n-2]) special_q[n] <= special_q[n-1];
        end
    end

    // Stage 1: by magnitude. The sign of the larger one is that of the sum.
    float_t      a, b, large_q, small_q;
    logic        swap, small_units_q;  // the latter: of its significand
    logic [10:0] distance_q;
    assign a    = a_i;
    assign b    = b_i;
    assign swap = a_i[62:0] < b_i[62:0];
    always_ff @(posedge clk_i) begin
        if (valid_i) begin
            large_q       <= swap ? b : a;
            small_q       <= swap ? a : b;
            small_units_q <= swap ? a.exponent != 0 : b.exponent != 0;
            sign_q[1]     <= swap ? b.sign : a.sign;
            distance_q    <= swap
                ? biased_exponent(b) - biased_exponent(a) : biased_exponent(a) - biased_exponent(b);
        end
    end

    // Stage 2: the smaller one at the place of the larger, with guard, round and sticky bit. Ones
    // that a shift loses are found here, and count as sticky bit in the next stage.
    logic [55:0] small_bits;
    logic [6:0]  places;
    assign small_bits = {small_units_q, small_q.fraction, 3'b000};
    assign places     = places_right(12'(distance_q));

    // An infinity is larger than all numbers, and what is no number larger than that.
    function automatic special_t special_of(input float_t larger, input float_t smaller);
        if (is_nan(larger)) return Nan;
        if (!is_infinity(larger)) return None;
        return is_infinity(smaller) && larger.sign != smaller.sign ? Nan : Infinity;
    endfunction

    logic [55:0] large_bits_q, small_bits_q;
    logic [6:0]  lost_q;
    logic [10:0] exponent2_q, exponent3_q, exponent4_q;
    logic        subtract_q;
    always_ff @(posedge clk_i) begin
        if (valid_q[0]) begin
            large_bits_q <= {significand(large_q), 3'b000};
            small_bits_q <= small_bits >> places;
            lost_q       <= lost_ones(small_bits, places);
            exponent2_q  <= biased_exponent(large_q);
            subtract_q   <= large_q.sign != small_q.sign;
            special_q[2] <= special_of(large_q, small_q);
        end
    end

    // Stage 3: the sum, of which bit 56 is the carry. A one at the place to which the exponent admits
    // a shift ends the search for the highest one, if that comes late or not at all.
    logic [56:0] large_part, small_part, sum, mark, sum_q, marked_q;
    logic        cancelled_q;
    assign large_part = 57'(large_bits_q);
    assign small_part = 57'(small_bits_q) | 57'(lost_q != 0);
    assign sum        = subtract_q ? large_part - small_part : large_part + small_part;
    assign mark       = 57'd1 << (exponent2_q < 11'd56 ? 6'd56 - exponent2_q[5:0] : 6'd0);
    always_ff @(posedge clk_i) begin
        if (valid_q[1]) begin
            sum_q       <= sum;
            marked_q    <= sum | mark;
            cancelled_q <= subtract_q && large_part == small_part;
            exponent3_q <= exponent2_q;
        end
    end

    // Stage 4: its leading zeros.
    logic [56:0]  counted_q;
    zero_counts_t zeros_q;
    logic         cancelled4_q;
    always_ff @(posedge clk_i) begin
        if (valid_q[2]) begin
            counted_q    <= sum_q;
            zeros_q      <= counts_of_zeros({marked_q, 7'd0});
            cancelled4_q <= cancelled_q;
            exponent4_q  <= exponent3_q;
        end
    end

    // Stage 5: without them. The units are at bit 56 now, for which the exponent is one more.
    logic [56:0] shifted;
    assign shifted = counted_q << {zeros_q.eights, 3'b000} << zeros_beside_eights(zeros_q);

    logic [54:0]        ready_q;
    logic signed [12:0] exponent5_q;
    logic               cancelled5_q;
    always_ff @(posedge clk_i) begin
        if (valid_q[3]) begin
            ready_q      <= {shifted[56:3], shifted[2:0] != 0};
            exponent5_q  <= 13'(exponent4_q) + 13'sd1 - 13'(leading_zeros(zeros_q));
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
