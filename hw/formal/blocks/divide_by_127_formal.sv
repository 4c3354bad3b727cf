// SPDX-License-Identifier: MIT OR Apache-2.0
// divide_by_127: quotient and remainder are those of the number that was taken last, eight clocks after it at the latest.
`include "../rules/rule.svh"
module divide_by_127_formal (
    input logic        clk_i,
    input logic        rst_ni,
    input logic        start_i,
    input logic [36:0] number_i
);
    // Clocks after which a division has ended.
    localparam int unsigned Clocks = 8;

    logic        done_o;
    logic [36:0] quotient_o;
    logic [6:0]  remainder_o;

    power_up i_power_up (.*);
    divide_by_127 i_block (.*);

    // The number, and clocks since it was taken; 0 before the first.
    logic [36:0] number_q;
    logic [3:0]  clocks_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) clocks_q <= '0;
        else if (start_i) clocks_q <= 4'd1;
        else if (clocks_q != 0 && clocks_q != '1) clocks_q <= clocks_q + 1'b1;
        if (start_i) number_q <= number_i;
    end

    // What counts of the outputs.
    logic [44:0] seen;
    assign seen = {done_o, done_o && clocks_q != 0 ? {quotient_o, remainder_o} : '0};

    `RULE(quotient_is_right, 1, clocks_q == 0 || !done_o
        || {quotient_o, 7'd0} + 44'(remainder_o) == 44'(number_q) + 44'(quotient_o) && remainder_o < 7'd127)
    `RULE(nothing_is_done_before_the_first, 1, clocks_q != 0 || done_o)
    `RULE(it_is_not_done_at_once, 1, clocks_q != 4'd1 || !done_o)
    `RULE(it_is_done_in_time, 1, clocks_q < 4'(Clocks) || done_o)

    // In each clock a digit less is left.
    logic [36:0] most;
    always_comb begin
        unique case (clocks_q)
            4'd1:    most = '1;
            4'd2:    most = 37'h4000_007e;
            4'd3:    most = 37'd8_388_735;
            4'd4:    most = 37'd65_663;
            4'd5:    most = 37'd639;
            4'd6:    most = 37'd131;
            default: most = 37'd126;
        endcase
    end
    `RULE(digits_are_added_up, 1, clocks_q == 0 || i_block.left_q <= most)
    `RULE(nothing_is_lost, 1, clocks_q == 0
        || {quotient_o, 7'd0} + 44'(i_block.left_q) == 44'(number_q) + 44'(quotient_o))
    `RULE(what_is_left_is_a_remainder, 1, clocks_q == 0 || !done_o || i_block.left_q < 37'd127)

    `REACHED(all_clocks_are_taken, clocks_q == 4'(Clocks - 1) && !done_o)
    `REACHED(largest_number, done_o && number_q == '1 && clocks_q != 0)
endmodule
