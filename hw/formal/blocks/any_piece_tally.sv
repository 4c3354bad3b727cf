// SPDX-License-Identifier: MIT OR Apache-2.0
// Any pieces and elements end, in place of piece_tally where only the reads of copy_path are proven.
module piece_tally
    import vector_pkg::*;
(
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       clear_i,
    input  logic [7:0] clear_element_i,
    input  logic       told_i,
    input  logic [7:0] told_element_i,
    input  logic       told_last_i,
    input  logic [4:0] told_number_i,
    input  logic       m_axi_bvalid,
    output logic       m_axi_bready,
    input  logic [7:0] m_axi_bid,
    input  logic [1:0] m_axi_bresp,
    input  logic       failed_valid_i,
    input  logic [7:0] failed_id_i,
    input  logic [1:0] failed_response_i,
    output logic [7:0] piece_id_o,
    input  logic [7:0] element_i,
    output logic       free_o,
    output logic [7:0] free_id_o,
    output logic       done_o,
    output logic [7:0] done_element_o,
    output logic [1:0] done_response_o
);
    anything #(.Width(29)) i_any (
        .clk_i, .value_o({m_axi_bready, piece_id_o, free_o, free_id_o, done_o, done_element_o, done_response_o}));
endmodule
