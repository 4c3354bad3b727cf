// SPDX-License-Identifier: MIT OR Apache-2.0
// lut_fifo: words leave it in order and whole. That its user pushes and pops as it may is assumed.
`include "../rules/rule.svh"
module lut_fifo_formal #(
    parameter int unsigned LogDepth = 2,
    parameter int unsigned Width    = 4
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             push_i,
    input logic [Width-1:0] data_i,
    input logic             pop_i
);
    logic              valid_o;
    logic [Width-1:0]  data_o;
    logic [LogDepth:0] held;

    power_up i_power_up (.*);
    lut_fifo #(.LogDepth(LogDepth), .Width(Width)) i_block (.*);
    ordered_words #(.Width(Width), .Most(2**LogDepth)) i_words (
        .clk_i, .rst_ni, .push_i, .pushed_i(data_i), .pop_i, .popped_i(data_o), .inside_o(held));

    `RULE(word_is_visible_in_the_clock_after, 1, valid_o == (held != 0))
endmodule
