// SPDX-License-Identifier: MIT OR Apache-2.0
// lut_fifo: where words are popped within `Late` clocks, each leaves in time.
`include "../rules/rule.svh"
module lut_fifo_progress #(
    parameter int unsigned Late   = 2,
    parameter int unsigned Places = 4
) (
    input logic clk_i,
    input logic rst_ni,
    input logic valid_o,
    input logic pop_i,
    input logic followed,    // a word, which is any, is inside
    input logic leaves
);
    waits_at_most #(.Most(Late), .Proven(0)) i_user (.clk_i, .rst_ni, .waits_i(valid_o), .served_i(pop_i));
    waits_at_most #(.Most(Places*(Late + 1) - 2)) i_leaves (.clk_i, .rst_ni, .waits_i(followed), .served_i(leaves));
endmodule
bind lut_fifo_formal lut_fifo_progress #(.Places(2**LogDepth)) i_progress (
    .followed(i_words.followed_q), .leaves(pop_i && i_words.ahead_q == 0), .*);
