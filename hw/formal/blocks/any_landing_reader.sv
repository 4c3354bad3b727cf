// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of landing_reader: it may do anything.
module landing_reader
    import lookup_pkg::*;
    import vector_pkg::*;
#(
    parameter int unsigned LogContexts  = 7,
    parameter int unsigned LandingLines = 32,
    localparam int unsigned AddressBits = 9 + $clog2(LandingLines)
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic [15:0]            idle_time_i,
    input  logic [15:0]            flush_time_i,
    input  logic [Queues-1:0]      cmd_valid_i,
    output logic [Queues-1:0]      cmd_ready_o,
    input  element_t               cmd_i,
    output logic                   done_valid_o,
    output done_t                  done_o,
    input  logic [AddressBits-1:0] line_address_i,
    output logic [511:0]           line_o,
    input  context_t               word_number_i,
    output logic [63:0]            word_o,
    output logic                   landed_o,
    output context_t               landed_number_o,
    output logic [63:0]            landed_word_o,
    output sent_t [Queues-1:0]     sent_o,
    output logic                   m_axi_arvalid,
    input  logic                   m_axi_arready,
    output logic [7:0]             m_axi_arid,
    output logic [63:0]            m_axi_araddr,
    output logic [7:0]             m_axi_arlen,
    input  logic                   m_axi_rvalid,
    input  logic [7:0]             m_axi_rid,
    input  logic [511:0]           m_axi_rdata,
    input  logic [1:0]             m_axi_rresp,
    input  logic                   m_axi_rlast
);
    anything #(.Width($bits(cmd_ready_o))) i_cmd_ready (.clk_i, .value_o(cmd_ready_o));
    anything #(.Width($bits(done_valid_o))) i_done_valid (.clk_i, .value_o(done_valid_o));
    anything #(.Width($bits(done_o))) i_done (.clk_i, .value_o(done_o));
    anything #(.Width($bits(line_o))) i_line (.clk_i, .value_o(line_o));
    anything #(.Width($bits(word_o))) i_word (.clk_i, .value_o(word_o));
    anything #(.Width($bits(landed_o))) i_landed (.clk_i, .value_o(landed_o));
    anything #(.Width($bits(landed_number_o))) i_landed_number (.clk_i, .value_o(landed_number_o));
    anything #(.Width($bits(landed_word_o))) i_landed_word (.clk_i, .value_o(landed_word_o));
    anything #(.Width($bits(sent_o))) i_sent (.clk_i, .value_o(sent_o));
    anything #(.Width($bits(m_axi_arvalid))) i_m_axi_arvalid (.clk_i, .value_o(m_axi_arvalid));
    anything #(.Width($bits(m_axi_arid))) i_m_axi_arid (.clk_i, .value_o(m_axi_arid));
    anything #(.Width($bits(m_axi_araddr))) i_m_axi_araddr (.clk_i, .value_o(m_axi_araddr));
    anything #(.Width($bits(m_axi_arlen))) i_m_axi_arlen (.clk_i, .value_o(m_axi_arlen));
endmodule
