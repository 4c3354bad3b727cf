// SPDX-License-Identifier: MIT OR Apache-2.0
// lookup_home: the home is that of the key of seven clocks before: the product of its hash and the number of slots, without the
// lower half, where the hash is the upper half of the lower 64 bits of the folded key times a constant.
`include "../rules/rule.svh"
module lookup_home_formal (
    input logic        clk_i,
    input logic        rst_ni,       // only for the properties: the block has none
    input logic [63:0] key_i,
    input logic [31:0] slots_i
);
    localparam logic [63:0] Golden = 64'h9E37_79B9_7F4A_7C15;

    logic [31:0] home_o;

    power_up i_power_up (.*);
    lookup_home i_block (.*);

    // Products as one learns them at school, with digits of 16 bits: no solver sees by itself that the sum of these is the
    // product of the whole numbers. Nor that the products of two equal numbers are the same; so from a number that is proven
    // to be that in the block the next ones are computed as the block has it.
    function automatic logic [63:0] digits(input logic [15:0] one, input logic [15:0] other, input int unsigned place);
        digits = 64'(32'(one) * 32'(other)) << 16 * place;
    endfunction
    // At the highest place only 16 bits are left of it.
    function automatic logic [63:0] highest(input logic [15:0] one, input logic [15:0] other);
        highest = {16'(32'(one) * 32'(other)), 48'd0};
    endfunction
    function automatic logic [63:0] times_golden(input logic [63:0] one);
        times_golden = digits(one[15:0], Golden[15:0], 0)
            + digits(one[15:0], Golden[31:16], 1) + digits(one[31:16], Golden[15:0], 1)
            + digits(one[31:16], Golden[31:16], 2) + digits(one[15:0], Golden[47:32], 2) + digits(one[47:32], Golden[15:0], 2)
            + highest(one[15:0], Golden[63:48]) + highest(one[31:16], Golden[47:32])
            + highest(one[47:32], Golden[31:16]) + highest(one[63:48], Golden[15:0]);
    endfunction
    function automatic logic [63:0] product(input logic [31:0] one, input logic [31:0] other);
        product = digits(one[15:0], other[15:0], 0)
            + digits(one[15:0], other[31:16], 1) + digits(one[31:16], other[15:0], 1) + digits(one[31:16], other[31:16], 2);
    endfunction

    // What is known of each key, so many clocks after it.
    logic [63:0] folded_1_q, hashed_2_q, hashed_3_q, share_5_q, share_6_q;
    logic [31:0] hash_4_q, home_7_q;
    logic [2:0]  known_q;            // clocks since a reset, or since the number of slots has changed
    logic [31:0] slots_q;
    always_ff @(posedge clk_i) begin
        slots_q    <= slots_i;
        folded_1_q <= key_i ^ key_i >> 32;
        hashed_2_q <= times_golden(i_block.folded_q);
        hashed_3_q <= hashed_2_q;
        hash_4_q   <= hashed_3_q[63:32];
        share_5_q  <= product(i_block.hash_q, slots_i);
        share_6_q  <= share_5_q;
        home_7_q   <= share_6_q[63:32];
        if (!rst_ni || slots_q != slots_i) known_q <= '0;
        else if (known_q != '1) known_q <= known_q + 1'b1;
    end
    `RULE(key_is_folded, 1, known_q < 3'd1 || i_block.folded_q == folded_1_q)
    `RULE(products_of_the_hash, 1, known_q < 3'd2 || hashed_2_q == 64'(i_block.p00_q)
        + (64'(i_block.p01_q) << 16) + (64'(i_block.p10_q) << 16)
        + (64'(i_block.p11_q) << 32) + (64'(i_block.p02_q) << 32) + (64'(i_block.p20_q) << 32)
        + {i_block.p03_q, 48'd0} + {i_block.p12_q, 48'd0} + {i_block.p21_q, 48'd0} + {i_block.p30_q, 48'd0})
    `RULE(sums_of_the_hash, 1, known_q < 3'd3
        || i_block.high_q + 32'(i_block.middle_q[33:16]) + {i_block.cross_q, 16'd0} == hashed_3_q[63:32])
    `RULE(hash_is_the_upper_half, 1, known_q < 3'd4 || i_block.hash_q == hash_4_q)
    `RULE(products_of_the_home, 1, known_q < 3'd5 || share_5_q == 64'(i_block.h00_q)
        + (64'(i_block.h01_q) << 16) + (64'(i_block.h10_q) << 16) + (64'(i_block.h11_q) << 32))
    `RULE(sums_of_the_home, 1, known_q < 3'd6 || i_block.top_q + 32'(i_block.share_q[33:16]) == share_6_q[63:32])
    `RULE(home_is_that_of_the_key, 1, known_q < 3'd7 || home_o == home_7_q)

    `REACHED(home_of_a_key, known_q == '1 && slots_i == 32'd1000 && home_o != 0)
    `REACHED(homes_follow, known_q == '1 && $past(known_q) == '1 && $past(home_o) != home_o)
endmodule
