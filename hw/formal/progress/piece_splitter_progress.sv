// SPDX-License-Identifier: MIT OR Apache-2.0
// piece_splitter: where pieces are taken within `Late` clocks, the next one is offered in time, and a copy, which is any,
// is cut to its end in time; so is one that waits for it let in.
`include "../rules/rule.svh"
module piece_splitter_progress #(
    parameter int unsigned Late = 2
) (
    input logic       clk_i,
    input logic       rst_ni,
    input logic       copy_valid_i,
    input logic       copy_ready_o,
    input logic       piece_valid_o,
    input logic       piece_ready_i,
    input logic       last_o,
    input logic [1:0] inside_q,     // copies
    input logic       followed_q,
    input logic [1:0] ahead_q,
    input logic [4:0] pieces_q      // of the copy that were taken
);
    waits_at_most #(.Most(Late), .Proven(0)) i_user (
        .clk_i, .rst_ni, .waits_i(piece_valid_o), .served_i(piece_ready_i));
    logic takes, begun;
    assign takes = piece_valid_o && piece_ready_i;
    waits_at_most #(.Most(Late + 1)) i_piece (.clk_i, .rst_ni, .waits_i(inside_q != 0), .served_i(takes));
    // At most 18 pieces, each a clock after the one before it was taken.
    assign begun = followed_q && ahead_q == 0;
    waits_at_most #(.Most(18*(Late + 2) - 1), .Seen(2*(Late + 2) - 1)) i_copy (
        .clk_i, .rst_ni, .waits_i(begun), .served_i(takes && last_o));
    `RULE(each_piece_takes_its_time, 1, !begun
        || 32'(i_copy.waited_q) <= 32'(pieces_q) * (Late + 2) + 32'(i_piece.waited_q))
    // Whatever waits is let in with the end of the first copy.
    logic ended_q;
    always_ff @(posedge clk_i) ended_q <= rst_ni && takes && last_o;
    `RULE(copy_waits_for_the_first_alone, 1, !copy_valid_i || copy_ready_o || !ended_q || inside_q != 0)
endmodule
bind piece_splitter_formal piece_splitter_progress i_progress (.*);
