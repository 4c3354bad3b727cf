// SPDX-License-Identifier: MIT OR Apache-2.0
// Anything is written, in place of piece_writer where only the reads of copy_path are proven.
module piece_writer
    import vector_pkg::*;
(
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         landed_valid_i,
    input  logic [7:0]   landed_id_i,
    input  logic [1:0]   landed_response_i,
    output logic         landed_ready_o,
    output logic [7:0]   piece_id_o,
    input  piece_t       piece_i,
    output logic [7:0]   read_id_o,
    output logic [2:0]   read_line_o,
    input  logic [511:0] line_i,
    output logic         failed_valid_o,
    output logic [7:0]   failed_id_o,
    output logic [1:0]   failed_response_o,
    output logic         m_axi_awvalid,
    input  logic         m_axi_awready,
    output logic [7:0]   m_axi_awid,
    output logic [63:0]  m_axi_awaddr,
    output logic [7:0]   m_axi_awlen,
    output logic         m_axi_wvalid,
    input  logic         m_axi_wready,
    output logic [511:0] m_axi_wdata,
    output logic [63:0]  m_axi_wstrb,
    output logic         m_axi_wlast
);
    anything #(.Width(690)) i_any (
        .clk_i, .value_o({landed_ready_o, piece_id_o, read_id_o, read_line_o, failed_valid_o, failed_id_o, failed_response_o, m_axi_awvalid, m_axi_awid, m_axi_awaddr, m_axi_awlen, m_axi_wvalid, m_axi_wdata, m_axi_wstrb, m_axi_wlast}));
endmodule
