// SPDX-License-Identifier: MIT OR Apache-2.0
// float_multiply: a product comes seven clocks after its pair, its sign is that of both, and what needs no computing is
// right: products with what is no number, with infinities and with zeros. The others are left to tests.
`include "../rules/rule.svh"
module float_multiply_formal
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
    float_multiply i_block (.*);

    // What is known of each pair: its sign, and what it is.
    typedef struct packed {
        logic sign;
        logic nan;
        logic infinite;
        logic zero;
    } pair_t;
    function automatic special_t special_of(input pair_t one);
        return one.nan ? Nan : one.infinite ? Infinity : one.zero ? Zero : None;
    endfunction

    logic [6:0]  came_q;
    pair_t [6:0] pairs_q;
    pair_t       pair, last;
    logic        a_infinite, b_infinite, a_nan, b_nan, a_zero, b_zero;
    assign a_infinite = a_i[62:0] == {11'h7ff, 52'd0};
    assign b_infinite = b_i[62:0] == {11'h7ff, 52'd0};
    assign a_nan      = a_i[62:0] > {11'h7ff, 52'd0};
    assign b_nan      = b_i[62:0] > {11'h7ff, 52'd0};
    assign a_zero     = a_i[62:0] == 0;
    assign b_zero     = b_i[62:0] == 0;
    assign pair.sign     = a_i[63] ^ b_i[63];
    assign pair.nan      = a_nan || b_nan || a_infinite && b_zero || a_zero && b_infinite;
    assign pair.infinite = (a_infinite || b_infinite) && !pair.nan;
    assign pair.zero     = (a_zero || b_zero) && !pair.nan;
    always_ff @(posedge clk_i) begin
        came_q  <= rst_ni ? {came_q[5:0], valid_i} : '0;
        pairs_q <= {pairs_q[5:0], pair};
    end
    assign last = pairs_q[6];
    `RULE(product_comes_seven_clocks_later, 1, valid_o == came_q[6])
    `RULE(pairs_are_counted, 1, i_block.valid_q == came_q)
    `RULE(what_is_no_number_is_one_word, 1, !(valid_o && last.nan) || result_o == 64'h7ff8_0000_0000_0000)
    `RULE(infinity_keeps_its_sign, 1, !(valid_o && last.infinite) || result_o == {last.sign, 11'h7ff, 52'd0})
    `RULE(zero_keeps_its_sign, 1, !(valid_o && last.zero) || result_o == {last.sign, 63'd0})
    `RULE(sign_is_that_of_both, 1, !valid_o || last.nan || result_o[63] == last.sign)
    for (genvar n = 0; n < 6; n++) begin : g_stages
        `RULE(pair_is_known, 1, !came_q[n] || i_block.sign_q[n+1] == pairs_q[n].sign)
        if (n > 0) begin : g_special
            `RULE(special_is_known, 1, !came_q[n] || i_block.special_q[n+1] == special_of(pairs_q[n]))
        end
        `RULE(pair_is_one_of_them, 1, !came_q[n] || $onehot0({pairs_q[n].nan, pairs_q[n].infinite, pairs_q[n].zero}))
    end
    `RULE(operands_are_known, 1, !came_q[0]
        || i_block.special_of(i_block.a_kind_q, i_block.b_kind_q) == special_of(pairs_q[0]))
    `REACHED(infinity_comes, valid_o && last.infinite)
    `REACHED(zero_comes, valid_o && last.zero)
endmodule
