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

    // Zeros above the highest one; 64 when there is none. Of each eight bits and of the eights at the
    // same time, so that the path is short.
    function automatic logic [6:0] leading_zeros(input logic [63:0] value);
        logic [7:0]      some;
        logic [7:0][2:0] zeros;
        logic [2:0]      eights;
        for (int unsigned n = 0; n < 8; n++) begin
            some[n]  = value[8*n +: 8] != 0;
            zeros[n] = leading_zeros_of_8(value[8*n +: 8]);
        end
        eights = leading_zeros_of_8(some);
        return some == 0 ? 7'd64 : {1'b0, eights, zeros[3'd7 - eights]};
    endfunction

    // Shifted right; the lowest bit is set as soon as a one was shifted out.
    function automatic logic [55:0] shift_right_sticky(
        input logic [55:0] value, input logic [5:0] distance
    );
        logic [55:0] lost;
        lost = value & ~(~56'd0 << distance);
        return (value >> distance) | 56'(lost != 0);
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
