// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of nic_index_cache: it may do anything.
module nic_index_cache #(
    parameter int unsigned LogSets     = 12,
    parameter int unsigned LogWays     = 2,
    parameter int unsigned SegmentBits = 24,
    parameter int unsigned Objects     = 2,
    parameter int unsigned ValueWords  = 1,
    parameter int unsigned MostPins    = 255,
    parameter int unsigned LogMisses   = 4,
    parameter int unsigned LogParked   = 4
) (
    input  logic                           clk_i,
    input  logic                           rst_ni,
    input  logic [63:0]                    index_base_i,
    input  logic [31:0]                    segments_i,
    input  logic [63:0]                    table_base_i,
    input  logic [31:0]                    slots_i,
    input  logic [4:0]                     slot_units_i,
    input  logic [5:0]                     limit_i,
    input  logic [6:0]                     more_i,
    output logic                           idle_o,
    input  logic                           flush_i,
    output logic                           flushed_o,
    output logic                           flush_failed_o,
    output logic                           accepted_o,
    output logic                           fetch_o,
    output logic                           write_back_o,
    output logic                           failed_o,
    input  logic                           s_axis_req_tvalid,
    output logic                           s_axis_req_tready,
    input  logic [64*(4+ValueWords)-1:0]   s_axis_req_tdata,
    output logic                           m_axis_rsp_tvalid,
    input  logic                           m_axis_rsp_tready,
    output logic [64*(3+ValueWords)-1:0]   m_axis_rsp_tdata,
    output logic                           m_axi_awvalid,
    input  logic                           m_axi_awready,
    output logic [7:0]                     m_axi_awid,
    output logic [63:0]                    m_axi_awaddr,
    output logic [7:0]                     m_axi_awlen,
    output logic [2:0]                     m_axi_awsize,
    output logic [1:0]                     m_axi_awburst,
    output logic                           m_axi_wvalid,
    input  logic                           m_axi_wready,
    output logic [511:0]                   m_axi_wdata,
    output logic [63:0]                    m_axi_wstrb,
    output logic                           m_axi_wlast,
    input  logic                           m_axi_bvalid,
    output logic                           m_axi_bready,
    input  logic [7:0]                     m_axi_bid,
    input  logic [1:0]                     m_axi_bresp,
    output logic                           m_axi_arvalid,
    input  logic                           m_axi_arready,
    output logic [7:0]                     m_axi_arid,
    output logic [63:0]                    m_axi_araddr,
    output logic [7:0]                     m_axi_arlen,
    output logic [2:0]                     m_axi_arsize,
    output logic [1:0]                     m_axi_arburst,
    input  logic                           m_axi_rvalid,
    output logic                           m_axi_rready,
    input  logic [7:0]                     m_axi_rid,
    input  logic [511:0]                   m_axi_rdata,
    input  logic [1:0]                     m_axi_rresp,
    input  logic                           m_axi_rlast
);
    anything #(.Width($bits(idle_o))) i_idle (.clk_i, .value_o(idle_o));
    anything #(.Width($bits(flushed_o))) i_flushed (.clk_i, .value_o(flushed_o));
    anything #(.Width($bits(flush_failed_o))) i_flush_failed (.clk_i, .value_o(flush_failed_o));
    anything #(.Width($bits(accepted_o))) i_accepted (.clk_i, .value_o(accepted_o));
    anything #(.Width($bits(fetch_o))) i_fetch (.clk_i, .value_o(fetch_o));
    anything #(.Width($bits(write_back_o))) i_write_back (.clk_i, .value_o(write_back_o));
    anything #(.Width($bits(failed_o))) i_failed (.clk_i, .value_o(failed_o));
    anything #(.Width($bits(s_axis_req_tready))) i_s_axis_req_tready (.clk_i, .value_o(s_axis_req_tready));
    anything #(.Width($bits(m_axis_rsp_tvalid))) i_m_axis_rsp_tvalid (.clk_i, .value_o(m_axis_rsp_tvalid));
    anything #(.Width($bits(m_axis_rsp_tdata))) i_m_axis_rsp_tdata (.clk_i, .value_o(m_axis_rsp_tdata));
    anything #(.Width($bits(m_axi_awvalid))) i_m_axi_awvalid (.clk_i, .value_o(m_axi_awvalid));
    anything #(.Width($bits(m_axi_awid))) i_m_axi_awid (.clk_i, .value_o(m_axi_awid));
    anything #(.Width($bits(m_axi_awaddr))) i_m_axi_awaddr (.clk_i, .value_o(m_axi_awaddr));
    anything #(.Width($bits(m_axi_awlen))) i_m_axi_awlen (.clk_i, .value_o(m_axi_awlen));
    anything #(.Width($bits(m_axi_awsize))) i_m_axi_awsize (.clk_i, .value_o(m_axi_awsize));
    anything #(.Width($bits(m_axi_awburst))) i_m_axi_awburst (.clk_i, .value_o(m_axi_awburst));
    anything #(.Width($bits(m_axi_wvalid))) i_m_axi_wvalid (.clk_i, .value_o(m_axi_wvalid));
    anything #(.Width($bits(m_axi_wdata))) i_m_axi_wdata (.clk_i, .value_o(m_axi_wdata));
    anything #(.Width($bits(m_axi_wstrb))) i_m_axi_wstrb (.clk_i, .value_o(m_axi_wstrb));
    anything #(.Width($bits(m_axi_wlast))) i_m_axi_wlast (.clk_i, .value_o(m_axi_wlast));
    anything #(.Width($bits(m_axi_bready))) i_m_axi_bready (.clk_i, .value_o(m_axi_bready));
    anything #(.Width($bits(m_axi_arvalid))) i_m_axi_arvalid (.clk_i, .value_o(m_axi_arvalid));
    anything #(.Width($bits(m_axi_arid))) i_m_axi_arid (.clk_i, .value_o(m_axi_arid));
    anything #(.Width($bits(m_axi_araddr))) i_m_axi_araddr (.clk_i, .value_o(m_axi_araddr));
    anything #(.Width($bits(m_axi_arlen))) i_m_axi_arlen (.clk_i, .value_o(m_axi_arlen));
    anything #(.Width($bits(m_axi_arsize))) i_m_axi_arsize (.clk_i, .value_o(m_axi_arsize));
    anything #(.Width($bits(m_axi_arburst))) i_m_axi_arburst (.clk_i, .value_o(m_axi_arburst));
    anything #(.Width($bits(m_axi_rready))) i_m_axi_rready (.clk_i, .value_o(m_axi_rready));
endmodule
