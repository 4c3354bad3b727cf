// SPDX-License-Identifier: MIT OR Apache-2.0
// float_add: a sum comes six clocks after its pair, and is the one of the standard (IEEE 754-2019, 4.3.1 and 6): the exact sum, of
// which the bits that are lost in aligning count as one more bit, is brought to the place that the exponent admits and then rounded
// to nearest, ties to even. Each stage is compared with what it should make of all stages before, said in another way.
`include "../rules/rule.svh"
module float_add_formal
    import float_pkg::*;
(
    input logic        clk_i,
    input logic        rst_ni,
    input logic        valid_i,
    input logic [63:0] a_i,
    input logic [63:0] b_i
);
    logic        valid_o;
    logic [63:0] result_o;

    power_up i_power_up (.*);
    float_add i_block (.*);

    // What counts of the outputs.
    logic [64:0] seen;
    assign seen = {valid_o, valid_o ? result_o : '0};

    logic [5:0] came_q;
    always_ff @(posedge clk_i) came_q <= rst_ni ? {came_q[4:0], valid_i} : '0;
    `RULE(sum_comes_six_clocks_later, 1, valid_o == came_q[5])
    `RULE(pairs_are_counted, 1, i_block.valid_q == came_q)

    // ---- The pair: the larger magnitude first, and what needs no computing.
    localparam logic [62:0] Infinite = {11'h7ff, 52'd0};
    localparam logic [63:0] OneNan   = 64'h7ff8_0000_0000_0000;      // as the contract says it
    typedef struct packed {
        logic [63:0] larger;
        logic [63:0] smaller;
        logic        nan;
        logic        infinite;
    } pair_t;
    pair_t       pair;
    pair_t [5:0] pairs_q;
    logic        a_is_larger;
    assign a_is_larger = a_i[62:0] >= b_i[62:0];
    always_comb begin
        pair.larger    = a_is_larger ? a_i : b_i;
        pair.smaller    = a_is_larger ? b_i : a_i;
        pair.nan      = a_i[62:0] > Infinite || b_i[62:0] > Infinite
            || a_i[62:0] == Infinite && b_i[62:0] == Infinite && a_i[63] != b_i[63];
        pair.infinite = !pair.nan && (a_i[62:0] == Infinite || b_i[62:0] == Infinite);
    end
    always_ff @(posedge clk_i) pairs_q <= {pairs_q[4:0], pair};
    // Whether the signs differ, of the pairs of each stage but the first.
    logic [5:0]  subtracted_q;
    always_ff @(posedge clk_i) subtracted_q <= {subtracted_q[4:1], pairs_q[0].larger[63] != pairs_q[0].smaller[63], 1'b0};
    `RULE(larger_one_is_known, 1, !came_q[0] || i_block.large_q == pairs_q[0].larger && i_block.small_q == pairs_q[0].smaller)
    `RULE(magnitudes_are_in_order, 1, !came_q[0] || pairs_q[0].larger[62:0] >= pairs_q[0].smaller[62:0])

    // Exponent and significand. A subnormal number has the exponent 1 and no leading one.
    function automatic logic [10:0] exponent_of(input logic [63:0] word);
        exponent_of = word[62:52] + 11'(word[62:52] == 0);
    endfunction
    function automatic logic [52:0] significand_of(input logic [63:0] word);
        significand_of = {word[62:52] != 0, word[51:0]};
    endfunction
    logic [10:0] distance;
    assign distance = exponent_of(pairs_q[0].larger) - exponent_of(pairs_q[0].smaller);
    `RULE(distance_is_known, 1, !came_q[0] || i_block.distance_q == distance
        && i_block.small_units_q == (pairs_q[0].smaller[62:52] != 0))

    // ---- Aligned, with three bits more below, the lowest of which says whether any bit was lost.
    logic [55:0] aligned, aligned_q, place;
    logic        lost, lost_q;
    assign place   = {significand_of(pairs_q[0].smaller), 3'd0};
    assign aligned = distance < 11'd56 ? place >> distance[5:0] : 56'd0;
    always_comb begin
        lost = 1'b0;
        for (int unsigned n = 0; n < 56; n++) if (place[n] && 11'(n) < distance) lost = 1'b1;
    end
    always_ff @(posedge clk_i) begin
        aligned_q <= aligned;
        lost_q    <= lost;
    end
    `RULE(smaller_one_is_aligned, 1, !came_q[1] || i_block.small_bits_q == aligned_q && (i_block.lost_q != 0) == lost_q
        && i_block.large_bits_q == {significand_of(pairs_q[1].larger), 3'd0})

    // ---- The sum, in units of 2^-55 of its exponent, and what else goes with it.
    logic        subtracts;
    logic [55:0] one, other;
    logic [4:2][56:0] sum_q;       // of the pairs of these stages
    assign subtracts = pairs_q[1].larger[63] != pairs_q[1].smaller[63];
    assign one       = {significand_of(pairs_q[1].larger), 3'd0};
    assign other     = {aligned_q[55:1], aligned_q[0] || lost_q};
    always_ff @(posedge clk_i) begin
        sum_q[2] <= subtracts ? {1'b0, one} - {1'b0, other} : {1'b0, one} + {1'b0, other};
        sum_q[3] <= sum_q[2];
        sum_q[4] <= sum_q[3];
    end
    `RULE(sum_is_known, 1, !came_q[2] || i_block.sum_q == sum_q[2])
    `RULE(sum_goes_on, 1, !came_q[3] || i_block.counted_q == sum_q[3])
    `RULE(nothing_is_left_where_all_cancels, 1, (!came_q[2] || i_block.cancelled_q == (subtracted_q[2] && sum_q[2] == 0))
        && (!came_q[3] || i_block.cancelled4_q == (subtracted_q[3] && sum_q[3] == 0))
        && (!came_q[4] || i_block.cancelled5_q == (subtracted_q[4] && sum_q[4] == 0)))
    // What is between: signs, exponents, and what needs no computing.
    for (genvar n = 0; n < 6; n++) begin : g_stages
        if (n > 0) begin : g_difference
            `RULE(difference_is_known, 1, !came_q[n] || subtracted_q[n] == (pairs_q[n].larger[63] != pairs_q[n].smaller[63]))
        end
        if (n < 5) begin : g_sign
            `RULE(sign_is_that_of_the_larger, 1, !came_q[n] || i_block.sign_q[n+1] == pairs_q[n].larger[63])
        end
        `RULE(pair_is_one_of_them, 1, !came_q[n] || !(pairs_q[n].nan && pairs_q[n].infinite)
            && (pairs_q[n].nan || pairs_q[n].infinite) == (pairs_q[n].larger[62:0] >= Infinite))
        if (n > 0 && n < 5) begin : g_special
            `RULE(special_is_known, 1, !came_q[n] || i_block.special_q[n+1]
                == (pairs_q[n].nan ? Nan : pairs_q[n].infinite ? Infinity : None))
        end
    end
    `RULE(what_is_no_number_is_told_of, 1, !came_q[0] || pairs_q[0].nan == (pairs_q[0].larger[62:0] > Infinite
        || pairs_q[0].larger[62:0] == Infinite && pairs_q[0].smaller[62:0] == Infinite
            && pairs_q[0].larger[63] != pairs_q[0].smaller[63]))
    `RULE(exponent_is_that_of_the_larger, 1, (!came_q[1] || i_block.exponent2_q == exponent_of(pairs_q[1].larger))
        && (!came_q[2] || i_block.exponent3_q == exponent_of(pairs_q[2].larger))
        && (!came_q[3] || i_block.exponent4_q == exponent_of(pairs_q[3].larger)))
    `RULE(difference_is_no_longer, 1, !came_q[1] || i_block.subtract_q == subtracted_q[1])

    // ---- As far to the left as there is room, or as the exponent admits; that is 1 at least. By how far is told by the exponent.
    logic [10:0] exponent4;
    logic [12:0] shift, exponent5;
    logic [56:0] shifted;
    assign exponent4 = exponent_of(pairs_q[4].larger);
    assign exponent5 = i_block.exponent5_q;
    assign shift     = 13'(exponent4) + 13'd1 - exponent5;
    assign shifted   = sum_q[4] << shift[5:0];
    `RULE(exponent_stays_within_its_bounds, 1, !came_q[4] || shift <= 13'd56 && exponent5 >= 13'd1 && exponent5 <= 13'd2048)
    `RULE(no_one_is_shifted_out, 1, !came_q[4] || sum_q[4] >> (6'd57 - shift[5:0]) == 0 || shift == 0)
    `RULE(sum_is_as_far_left_as_it_may_be, 1, !came_q[4] || shifted[56] || exponent5 == 13'd1 || sum_q[4] == 0)
    `RULE(sum_is_normalised, 1, !came_q[4] || i_block.ready_q == {shifted[56:3], shifted[2:0] != 0})

    `RULE(nothing_is_shifted_as_far, 1, !came_q[4] || sum_q[4] != 0 || shift == (exponent4 < 11'd56 ? 13'(exponent4) : 13'd56))
    // In the stages before, a one stands at the place to which the exponent admits a shift, so that there is one to be found.
    function automatic logic [56:0] limit_of(input logic [10:0] exponent);
        limit_of = 57'h100_0000_0000_0000 >> (exponent < 11'd56 ? exponent : 11'd56);
    endfunction
    logic [56:0] marked;
    logic [5:0]  zeros;
    assign marked = sum_q[3] | limit_of(exponent_of(pairs_q[3].larger));
    assign zeros  = leading_zeros(i_block.zeros_q);
    `RULE(mark_is_known, 1, !came_q[2] || i_block.marked_q == (sum_q[2] | limit_of(exponent_of(pairs_q[2].larger))))
    `RULE(zeros_are_counted, 1, !came_q[3] || zeros <= 6'd56 && marked >> (6'd56 - zeros) == 57'd1)

    // ---- Rounded: of the 53 bits, guard and sticky bit. A carry may make it a normal number, or the next exponent.
    logic [53:0] kept;
    logic        up, cancels;
    logic [12:0] field;
    logic [63:0] result, result_q;
    assign kept    = {1'b0, i_block.ready_q[54:2]} + 54'(up);
    assign up      = i_block.ready_q[1:0] > 2'b10 || i_block.ready_q[1:0] == 2'b10 && i_block.ready_q[2];
    assign field   = kept[53] ? exponent5 + 13'd1 : kept[52] ? exponent5 : 13'd0;
    assign cancels = subtracted_q[4] && sum_q[4] == 0;
    always_comb begin
        if (pairs_q[4].nan) result = OneNan;
        else if (pairs_q[4].infinite) result = {pairs_q[4].larger[63], Infinite};
        else if (cancels) result = '0;
        else if (field >= 13'd2047) result = {pairs_q[4].larger[63], Infinite};
        else result = {pairs_q[4].larger[63], field[10:0], kept[53] ? 52'd0 : kept[51:0]};
    end
    always_ff @(posedge clk_i) result_q <= result;
    `RULE(sum_is_rounded, 1, !valid_o || result_o == result_q)

    // ---- What needs no computing, of the pair itself.
    pair_t last;
    assign last = pairs_q[5];
    `RULE(what_is_no_number_is_one_word, 1, !(valid_o && last.nan) || result_o == OneNan)
    `RULE(infinity_keeps_its_sign, 1, !(valid_o && last.infinite) || result_o == {last.larger[63], Infinite})
    `RULE(sign_is_the_one_of_the_larger, 1, !valid_o || last.nan || result_o[63] == last.larger[63]
        || result_o == 0 && subtracted_q[5])
    // With zero, a number stays as it is, and opposite ones are +0.
    logic [5:1] still;
    for (genvar n = 1; n < 6; n++) begin : g_zero
        assign still[n] = came_q[n] && pairs_q[n].smaller[62:0] == 0 && pairs_q[n].larger[62:0] < Infinite;
        if (n > 1 && n < 5) begin : g_sum
            `RULE(sum_with_zero_is_known, 1, !still[n] || sum_q[n] == {1'b0, significand_of(pairs_q[n].larger), 3'd0})
        end
    end
    `RULE(zero_is_aligned, 1, !still[1] || aligned_q == 0 && !lost_q)
    `RULE(exponent_with_zero_is_known, 1, !still[4] || pairs_q[4].larger[62:0] == 0
        || i_block.ready_q == {significand_of(pairs_q[4].larger), 2'd0} && exponent5 == 13'(exponent4))
    `RULE(number_and_zero_are_the_number, 1, !still[5] || result_o == last.larger || last.larger[62:0] == 0)
    for (genvar n = 2; n < 6; n++) begin : g_opposite
        logic opposite;
        assign opposite = came_q[n] && pairs_q[n].larger[62:0] == pairs_q[n].smaller[62:0]
            && pairs_q[n].larger[63] != pairs_q[n].smaller[63] && pairs_q[n].larger[62:0] < Infinite;
        if (n < 5) begin : g_sum
            `RULE(opposite_numbers_leave_nothing, 1, !opposite || sum_q[n] == 0)
        end else begin : g_result
            `RULE(opposite_numbers_are_zero, 1, !opposite || result_o == 0)
        end
    end
    `RULE(equal_numbers_are_aligned, 1, !came_q[1] || pairs_q[1].larger[62:0] != pairs_q[1].smaller[62:0]
        || aligned_q == {significand_of(pairs_q[1].larger), 3'd0} && !lost_q)

    `REACHED(sum_is_rounded_up, valid_o && !last.nan && $past(up))
    `REACHED(result_is_subnormal, valid_o && result_o[62:52] == 0 && result_o[51:0] != 0 && last.larger[62:52] > 11'd3)
    `REACHED(sum_becomes_infinite, valid_o && result_o[62:0] == Infinite && !last.infinite)
endmodule
