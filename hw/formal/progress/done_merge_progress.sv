// SPDX-License-Identifier: MIT OR Apache-2.0
// done_merge: where the stream is taken within `Late` clocks, an end that a place, which is any, offers is taken in time,
// and leaves in time.
`include "../rules/rule.svh"
module done_merge_progress #(
    parameter int unsigned Late   = 1,
    parameter int unsigned Places = 3
) (
    input logic              clk_i,
    input logic              rst_ni,
    input logic [Places-1:0] valid_i,
    input logic [Places-1:0] ready_o,
    input logic [Places-1:0] place,
    input logic              m_axis_tvalid,
    input logic              m_axis_tready,
    input logic              followed,    // an end of the place, which is any
    input logic              leaves
);
    waits_at_most #(.Most(Late), .Proven(0)) i_stream (
        .clk_i, .rst_ni, .waits_i(m_axis_tvalid), .served_i(m_axis_tready));
    waits_at_most #(.Most(Places*(Late + 1) - 1)) i_is_taken (.clk_i, .rst_ni,
        .waits_i((place & valid_i) != 0), .served_i((place & ready_o) != 0));
    waits_at_most #(.Most((2*Places + 1)*(Late + 1) - 2)) i_leaves (
        .clk_i, .rst_ni, .waits_i(followed), .served_i(leaves));
endmodule
bind done_merge_formal done_merge_progress #(.Places(Places)) i_progress (
    .followed(i_words.followed_q),
    .leaves(m_axis_tvalid && m_axis_tready && (from_q & place) != 0 && i_words.ahead_q == 0), .*);
