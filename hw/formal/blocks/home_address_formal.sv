// SPDX-License-Identifier: MIT OR Apache-2.0
// home_address: the address is the base and 16 times the units times the home of four clocks before, all 64 bits of it.
`include "../rules/rule.svh"
module home_address_formal (
    input logic        clk_i,
    input logic        rst_ni,       // only for the properties: the block has none
    input logic [63:0] base_i,
    input logic [4:0]  units_i,
    input logic [31:0] home_i
);
    logic [63:0] address_o;

    power_up i_power_up (.*);
    home_address i_block (.*);

    // Step by step, since no solver sees by itself that the products of two equal numbers are the same: the home of the clock
    // before is that in the block, and what goes from there to the address is the product and the sum of the contract.
    logic [31:0] home_q;
    logic [63:0] ahead_q, sum_q, address_q;     // bytes of those before the home, in the clock after; and so on
    logic [2:0]  known_q;                       // clocks since a reset, or since the configuration has changed
    logic [68:0] configuration_q;
    always_ff @(posedge clk_i) begin
        configuration_q <= {base_i, units_i};
        home_q    <= home_i;
        ahead_q   <= 64'd16 * (64'(units_i) * 64'(i_block.home_q));
        sum_q     <= base_i + ahead_q;
        address_q <= sum_q;
        if (!rst_ni || configuration_q != {base_i, units_i}) known_q <= '0;
        else if (!known_q[2]) known_q <= known_q + 1'b1;
    end
    `RULE(home_is_that_of_the_clock_before, 1, known_q == 0 || i_block.home_q == home_q)
    `RULE(product_is_that_of_the_home, 1, known_q < 3'd2 || {23'd0, i_block.product_q, 4'd0} == ahead_q)
    `RULE(both_halves_are_those_of_the_sum, 1, known_q < 3'd3
        || {i_block.high_q + 32'(i_block.low_q[32]), i_block.low_q[31:0]} == sum_q)
    `RULE(address_is_that_of_the_home, 1, known_q < 3'd4 || address_o == address_q)

    `REACHED(last_home_of_large_slots, known_q[2] && $past(&home_q, 3) && units_i == '1 && base_i == 0
        && address_o == 64'h1ef_ffff_fe10)
    `REACHED(lower_half_carries, known_q[2] && base_i[31:0] == '1 && address_o[63:32] == base_i[63:32] + 32'd1)
    `REACHED(address_wraps, known_q[2] && address_o < base_i)
    `REACHED(address_of_another_configuration, known_q[2] && $past(known_q == 0 && rst_ni, 5) && address_o != 0)
    `REACHED(homes_follow, known_q[2] && $past(known_q[2]) && $past(address_o) != address_o)
endmodule
