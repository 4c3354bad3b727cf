// SPDX-License-Identifier: MIT OR Apache-2.0
// stream_buffer: where the receiver takes a word within `Late` clocks, one that comes is let in, and leaves, in time.
`include "../rules/rule.svh"
module stream_buffer_progress #(
    parameter int unsigned Late = 3
) (
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic ready_o,
    input logic valid_o,
    input logic ready_i,
    input logic followed,    // a word, which is any, is inside
    input logic leaves
);
    waits_at_most #(.Most(Late), .Proven(0)) i_receiver (.clk_i, .rst_ni, .waits_i(valid_o), .served_i(ready_i));
    // Both places are taken until the first word has left.
    waits_at_most #(.Most(Late)) i_comes_in (.clk_i, .rst_ni, .waits_i(valid_i), .served_i(ready_o));
    waits_at_most #(.Most(2*Late)) i_leaves (.clk_i, .rst_ni, .waits_i(followed), .served_i(leaves));
endmodule
bind stream_buffer_formal stream_buffer_progress i_progress (
    .followed(i_words.followed_q), .leaves(valid_o && ready_i && i_words.ahead_q == 0), .*);
