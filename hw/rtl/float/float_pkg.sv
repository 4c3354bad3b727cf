// SPDX-License-Identifier: MIT OR Apache-2.0
// Functions shared by the IEEE 754 binary64 units: parts of a number, normalising and rounding.
//
// Between the stages a number is a sign, an exponent and a significand with guard and sticky
// bit; its value is significand / 2^54 * 2^(exponent - 1023), with the significand's bit 54 as
// the units. The exponent is biased, of 13 bits with a sign.
package float_pkg;

    // The one result that is no number.
    localparam logic [63:0] NotANumber = 64'h7ff8_0000_0000_0000;

    typedef struct packed {
        logic        sign;
        logic [10:0] exponent;
        logic [51:0] fraction;
    } float_t;

    // What a result is without any computing; `none` when it must be computed.
    typedef enum logic [1:0] {
        None,
        Nan,
        Infinity,
        Zero
    } special_t;

    function automatic logic is_nan(input float_t x);
        return &x.exponent && x.fraction != 0;
    endfunction

    function automatic logic is_infinity(input float_t x);
        return &x.exponent && x.fraction == 0;
    endfunction

    function automatic logic is_zero(input float_t x);
        return x.exponent == 0 && x.fraction == 0;
    endfunction

    // With the leading one of a normal number.
    function automatic logic [52:0] significand(input float_t x);
        return {x.exponent != 0, x.fraction};
    endfunction

    // Subnormal numbers have the exponent of the smallest normal ones.
    function automatic logic [10:0] biased_exponent(input float_t x);
        return x.exponent == 0 ? 11'd1 : x.exponent;
    endfunction

    // Zeros above the highest one of eight bits; 0 when there is none.
    function automatic logic [2:0] leading_zeros_of_8(input logic [7:0] value);
        leading_zeros_of_8 = '0;
        for (int unsigned n = 0; n < 8; n++) if (value[n]) leading_zeros_of_8 = 3'(7 - n);
    endfunction

    // Zeros above the highest one in two steps, of a clock each: first of the eights and of each eight
    // bits, then which of these count. Without a one there seem to be none.
    typedef struct packed {
        logic [2:0]      eights;
        logic [7:0][2:0] zeros;
    } zero_counts_t;

    function automatic zero_counts_t counts_of_zeros(input logic [63:0] value);
        zero_counts_t counts;
        logic [7:0]   some;
        for (int unsigned n = 0; n < 8; n++) begin
            some[n]         = value[8*n +: 8] != 0;
            counts.zeros[n] = leading_zeros_of_8(value[8*n +: 8]);
        end
        counts.eights = leading_zeros_of_8(some);
        return counts;
    endfunction

    function automatic logic [2:0] zeros_beside_eights(input zero_counts_t counts);
        return counts.zeros[3'd7 - counts.eights];
    endfunction

    function automatic logic [5:0] leading_zeros(input zero_counts_t counts);
        return {counts.eights, zeros_beside_eights(counts)};
    endfunction

    // How far to shift right, in seven bits: more than six bits of a distance are one more, behind
    // which nothing is left.
    function automatic logic [6:0] places_right(input logic [11:0] distance);
        return {distance[11:6] != 0, distance[5:0]};
    endfunction

    // Whether a shift to the right loses ones: of each eight bits here, so that a clock has the shift,
    // and the next all of them.
    function automatic logic [6:0] lost_ones(input logic [55:0] value, input logic [6:0] places);
        logic [55:0] lost;
        lost = value & ~(~56'd0 << places);
        for (int unsigned n = 0; n < 7; n++) lost_ones[n] = lost[8*n +: 8] != 0;
    endfunction

    // To nearest, ties to even. The significand has 53 bits, guard and sticky; its highest bit
    // is 0 for subnormal numbers, whose exponent is 1. A carry out of the fraction is one more
    // in the exponent, also from the largest subnormal to the smallest normal number.
    function automatic logic [63:0] rounded(
        input logic sign, input logic signed [12:0] exponent, input logic [54:0] value
    );
        logic [62:0] packed_bits;
        logic        up;
        up          = value[1] && (value[0] || value[2]);
        packed_bits = {value[54] ? exponent[10:0] : 11'd0, value[53:2]} + 63'(up);
        if (exponent >= 13'sd2047) packed_bits = {11'h7ff, 52'd0};
        return {sign, packed_bits};
    endfunction

    function automatic logic [63:0] special_result(input special_t special, input logic sign);
        case (special)
            Infinity: return {sign, 11'h7ff, 52'd0};
            Zero:     return {sign, 63'd0};
            default:  return NotANumber;
        endcase
    endfunction

endpackage
