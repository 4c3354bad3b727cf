// SPDX-License-Identifier: MIT OR Apache-2.0
// integer_multiply: a product comes four clocks after its pair. The block puts it together from the products of the halves of both
// magnitudes; that they are those, and that all the rest is right for any four products, is proven. What a product of 32 bits
// by 32 is, is left to the operator, which stands here as it does in the block.
`include "../rules/rule.svh"
module integer_multiply_formal (
    input logic        clk_i,
    input logic        rst_ni,
    input logic        valid_i,
    input logic [63:0] a_i,
    input logic [63:0] b_i
);
    logic        valid_o, overflow_o;
    logic [63:0] result_o;

    power_up i_power_up (.*);
    integer_multiply i_block (.*);

    // What counts of the outputs.
    logic [65:0] seen;
    assign seen = {valid_o, valid_o ? {overflow_o, result_o} : '0};

    // ---- The pairs that came, as magnitudes and the sign of the product.
    typedef struct packed {
        logic        negative;
        logic [63:0] a;
        logic [63:0] b;
    } pair_t;
    function automatic logic [63:0] magnitude_of(input logic [63:0] word);
        magnitude_of = $signed(word) < 0 ? 64'd0 - word : word;
    endfunction
    logic [3:0]  came_q;
    pair_t [3:0] pairs_q;
    always_ff @(posedge clk_i) begin
        came_q  <= rst_ni ? {came_q[2:0], valid_i} : '0;
        pairs_q <= {pairs_q[2:0], {a_i[63] != b_i[63], magnitude_of(a_i), magnitude_of(b_i)}};
    end
    `RULE(product_comes_four_clocks_later, 1, valid_o == came_q[3])
    `RULE(pairs_are_counted, 1, i_block.valid_q == came_q)
    `RULE(magnitudes_are_known, 1, !came_q[0] || i_block.a_q == pairs_q[0].a && i_block.b_q == pairs_q[0].b
        && i_block.negative1_q == pairs_q[0].negative)

    // ---- The products of the halves of these, each at its place in the product of both. The pair is taken from the block, so that
    // the same operator has the same operands; it is the right one by the rule above.
    typedef struct packed {
        logic [63:0] high;
        logic [63:0] ab;
        logic [63:0] ba;
        logic [63:0] low;
    } parts_t;
    parts_t       parts_q;
    logic [129:0] whole, whole_q;    // with room for any four parts
    logic         negative, fits;
    always_ff @(posedge clk_i) begin
        parts_q.high <= 64'(i_block.a_q[63:32]) * 64'(i_block.b_q[63:32]);
        parts_q.ab   <= 64'(i_block.a_q[63:32]) * 64'(i_block.b_q[31:0]);
        parts_q.ba   <= 64'(i_block.a_q[31:0]) * 64'(i_block.b_q[63:32]);
        parts_q.low  <= 64'(i_block.a_q[31:0]) * 64'(i_block.b_q[31:0]);
        whole_q      <= whole;
    end
    assign whole = {2'd0, parts_q.high, 64'd0} + {34'd0, parts_q.ab, 32'd0} + {34'd0, parts_q.ba, 32'd0}
        + {66'd0, parts_q.low};
    `RULE(products_of_halves_are_known, 1, !came_q[1] || {i_block.high_q, i_block.cross_ab_q, i_block.cross_ba_q, i_block.low_q}
        == parts_q && i_block.negative2_q == pairs_q[1].negative)

    // ---- The product, as a number with a sign. Of what is above bit 63, the block has only whether it is there.
    `RULE(magnitude_is_the_sum_of_the_parts, 1, !came_q[2] || i_block.magnitude_q == whole_q[63:0]
        && i_block.large_q == (whole_q[129:64] != 0) && i_block.negative3_q == pairs_q[2].negative)
    logic [129:0] last_q;
    always_ff @(posedge clk_i) last_q <= whole_q;
    assign negative = pairs_q[3].negative;
    assign fits     = negative ? last_q <= 130'h8000_0000_0000_0000 : last_q < 130'h8000_0000_0000_0000;
    `RULE(product_has_its_sign, 1, !valid_o || result_o == (negative ? 64'd0 - last_q[63:0] : last_q[63:0]))
    `RULE(overflow_is_told, 1, !valid_o || overflow_o == !fits)

    // What needs no product.
    `RULE(product_with_zero_is_zero, 1, !(valid_o && (pairs_q[3].a == 0 || pairs_q[3].b == 0)) || result_o == 0 && !overflow_o)
    `RULE(product_with_one_is_the_other, 1, !(valid_o && pairs_q[3].b == 64'd1) || !overflow_o
        && result_o == (negative ? 64'd0 - pairs_q[3].a : pairs_q[3].a) || pairs_q[3].a[63])
    for (genvar n = 1; n < 4; n++) begin : g_simple
        logic [129:0] product;
        assign product = n == 1 ? whole : n == 2 ? whole_q : last_q;
        `RULE(zero_is_known, 1, !(came_q[n] && (pairs_q[n].a == 0 || pairs_q[n].b == 0)) || product == 0)
        `RULE(one_is_known, 1, !(came_q[n] && pairs_q[n].b == 64'd1) || product == 130'(pairs_q[n].a))
    end

    `REACHED(products_follow, valid_o && $past(valid_o))
    `REACHED(smallest_number_comes, valid_o && result_o == 64'h8000_0000_0000_0000 && !overflow_o && negative)
endmodule
