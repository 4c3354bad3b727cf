// SPDX-License-Identifier: MIT OR Apache-2.0
// Any pieces, in place of piece_splitter, of which the job of that name proves what is assumed here.
`include "../rules/rule.svh"
module piece_splitter
    import vector_pkg::*;
(
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        copy_valid_i,
    input  copy_t       copy_i,
    output logic        copy_ready_o,
    output logic        piece_valid_o,
    input  logic        piece_ready_i,
    output logic [63:0] source_o,
    output logic [63:0] target_o,
    output logic [8:0]  bytes_o,
    output logic        first_o,
    output logic        last_o,
    output logic [4:0]  number_o,
    output logic [2:0]  queue_o,
    output logic [15:0] token_o
);
    anything #(.Width(165)) i_any (
        .clk_i, .value_o({copy_ready_o, piece_valid_o, source_o, target_o, bytes_o, first_o, last_o, number_o, queue_o, token_o}));
    `RULE(piece_is_not_offered_after_reset, 0, $past(rst_ni) || !piece_valid_o)
    `RULE(piece_holds_until_taken, 0, !$past(rst_ni && piece_valid_o && !piece_ready_i)
        || piece_valid_o && $stable({source_o, target_o, bytes_o, first_o, last_o, number_o, queue_o, token_o}))
    `RULE(piece_has_a_length, 0, !piece_valid_o || bytes_o != 0 && bytes_o <= PieceBytes)
    `RULE(piece_stays_in_its_pages, 0, !piece_valid_o || 13'(source_o[11:0]) + 13'(bytes_o) <= 13'd4096
        && 13'(target_o[11:0]) + 13'(bytes_o) <= 13'd4096)
endmodule
