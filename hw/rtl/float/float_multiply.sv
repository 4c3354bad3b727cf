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
    special_t special_q[Stages-1:2];
    logic signed [12:0] exponent_q[Stages-1:1];
    always_ff @(posedge clk_i) begin
        for (int unsigned n = 2; n < Stages; n++) begin
            if (valid_q[n-2]) sign_q[n] <= sign_q[n-1];
            if (n > 2 && valid_q[n-2]) special_q[n] <= special_q[n-1];
        end
    end

    // What is told of an operand beside its value.
    typedef struct packed {
        logic nan;
        logic infinite;
        logic zero;
    } kind_t;

    function automatic kind_t kind_of(input float_t x);
        return '{nan: is_nan(x), infinite: is_infinity(x), zero: is_zero(x)};
    endfunction

    function automatic special_t special_of(input kind_t a, input kind_t b);
        if (a.nan || b.nan) return Nan;
        if (a.infinite || b.infinite) return a.zero || b.zero ? Nan : Infinity;
        return a.zero || b.zero ? Zero : None;
    endfunction

    // Stage 1: the operands. The exponent, until the result is ready, is one less than that of a
    // product whose bit 105 is the units: 0 of the smallest normal number.
    float_t      a, b;
    kind_t       a_kind_q, b_kind_q;
    logic [52:0] a_q, b_q;
    assign a = a_i;
    assign b = b_i;
    always_ff @(posedge clk_i) begin
        if (valid_i) begin
            a_q           <= significand(a);
            b_q           <= significand(b);
            sign_q[1]     <= a.sign ^ b.sign;
            a_kind_q      <= kind_of(a);
            b_kind_q      <= kind_of(b);
            exponent_q[1] <= 13'(biased_exponent(a)) + 13'(biased_exponent(b)) - 13'sd1023;
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
            special_q[2]  <= special_of(a_kind_q, b_kind_q);
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
    zero_counts_t zeros_q;
    always_ff @(posedge clk_i) begin
        if (valid_q[2]) begin
            counted_q     <= product_q;
            zeros_q       <= counts_of_zeros(product_q[105:42]);
            exponent_q[4] <= exponent_q[3];
        end
    end

    // Stage 5: without them, down to 53 bits and guard. Of the bits below only whether there are any:
    // of each six of them here, and of all in the next stage. And how far the result is below the
    // smallest normal number.
    logic [105:0]       shifted;
    logic signed [12:0] distance;
    logic [53:0]        normalised_q;
    logic [8:0]         below_q;
    logic [6:0]         places_q;
    assign shifted  = counted_q << {zeros_q.eights, 3'b000} << zeros_beside_eights(zeros_q);
    assign distance = 13'(leading_zeros(zeros_q)) - exponent_q[4];
    always_ff @(posedge clk_i) begin
        if (valid_q[3]) begin
            normalised_q  <= shifted[105:52];
            for (int unsigned n = 0; n < 9; n++) begin
                below_q[n] <= 6'({2'b00, shifted[51:0]} >> 6 * n) != 0;
            end
            places_q      <= distance < 0 ? '0 : places_right(distance[11:0]);
            exponent_q[5] <= exponent_q[4] - 13'(leading_zeros(zeros_q));
        end
    end

    // Stage 6: there, with the exponent of that number.
    logic [53:0] ready_q;
    logic [7:0]  sticky_q;
    always_ff @(posedge clk_i) begin
        if (valid_q[4]) begin
            ready_q       <= normalised_q >> places_q;
            sticky_q      <= {below_q != 0, lost_ones({2'b00, normalised_q}, places_q)};
            exponent_q[6] <= exponent_q[5] < 0 ? 13'sd1 : exponent_q[5] + 13'sd1;
        end
    end

    // Stage 7: rounding.
    always_ff @(posedge clk_i) begin
        if (valid_q[5]) begin
            result_o <= special_q[6] == None
                ? rounded(sign_q[6], exponent_q[6], {ready_q, sticky_q != 0})
                : special_result(special_q[6], sign_q[6]);
        end
    end

    // The halves' highest product has no more bits.
    logic unused;
    assign unused = ^high_q[53:52];

endmodule
