// SPDX-License-Identifier: MIT OR Apache-2.0
// Any pieces land, with any lines, in place of piece_landing where only the reads of copy_path are proven.
module piece_landing
(
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         clear_i,
    input  logic [7:0]   clear_id_i,
    input  logic         m_axi_rvalid,
    input  logic [7:0]   m_axi_rid,
    input  logic [511:0] m_axi_rdata,
    input  logic [1:0]   m_axi_rresp,
    input  logic         m_axi_rlast,
    output logic         landed_valid_o,
    output logic [7:0]   landed_id_o,
    output logic [1:0]   landed_response_o,
    input  logic         landed_ready_i,
    input  logic [7:0]   read_id_i,
    input  logic [2:0]   read_line_i,
    output logic [511:0] line_o
);
    anything #(.Width(523)) i_any (
        .clk_i, .value_o({landed_valid_o, landed_id_o, landed_response_o, line_o}));
endmodule
