// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of nic_lookup: it may do anything.
module nic_lookup #(
    parameter int unsigned SlotBytes    = 32,
    parameter int unsigned ValueWords   = 1,
    parameter int unsigned LogSets      = 12,
    parameter int unsigned LogWays      = 2,
    parameter int unsigned SegmentBits  = 24,
    parameter int unsigned Objects      = 2,
    parameter int unsigned MostPins     = 255,
    parameter int unsigned LogMisses    = 4,
    parameter int unsigned LogParked    = 4,
    parameter int unsigned LogContexts  = 7,
    parameter int unsigned LandingLines = 32
) (
    input  logic                           clk_i,
    input  logic                           rst_ni,
    input  logic                           s_axil_awvalid,
    output logic                           s_axil_awready,
    input  logic [11:0]                    s_axil_awaddr,
    input  logic [2:0]                     s_axil_awprot,
    input  logic                           s_axil_wvalid,
    output logic                           s_axil_wready,
    input  logic [31:0]                    s_axil_wdata,
    input  logic [3:0]                     s_axil_wstrb,
    output logic                           s_axil_bvalid,
    input  logic                           s_axil_bready,
    output logic [1:0]                     s_axil_bresp,
    input  logic                           s_axil_arvalid,
    output logic                           s_axil_arready,
    input  logic [11:0]                    s_axil_araddr,
    input  logic [2:0]                     s_axil_arprot,
    output logic                           s_axil_rvalid,
    input  logic                           s_axil_rready,
    output logic [31:0]                    s_axil_rdata,
    output logic [1:0]                     s_axil_rresp,
    input  logic                           s_axis_req_tvalid,
    output logic                           s_axis_req_tready,
    input  logic [64*(3+ValueWords)-1:0]   s_axis_req_tdata,
    output logic                           m_axis_rsp_tvalid,
    input  logic                           m_axis_rsp_tready,
    output logic [64*(2+ValueWords)-1:0]   m_axis_rsp_tdata,
    input  logic                           s_axis_sw_tvalid,
    output logic                           s_axis_sw_tready,
    input  logic [64*(3+ValueWords)-1:0]   s_axis_sw_tdata,
    output logic                           m_axis_swrsp_tvalid,
    input  logic                           m_axis_swrsp_tready,
    output logic [64*(2+ValueWords)-1:0]   m_axis_swrsp_tdata,
    output logic                           m_axi_host_arvalid,
    input  logic                           m_axi_host_arready,
    output logic [7:0]                     m_axi_host_arid,
    output logic [63:0]                    m_axi_host_araddr,
    output logic [7:0]                     m_axi_host_arlen,
    output logic [2:0]                     m_axi_host_arsize,
    output logic [1:0]                     m_axi_host_arburst,
    output logic [3:0]                     m_axi_host_arcache,
    output logic [2:0]                     m_axi_host_arprot,
    input  logic                           m_axi_host_rvalid,
    output logic                           m_axi_host_rready,
    input  logic [7:0]                     m_axi_host_rid,
    input  logic [511:0]                   m_axi_host_rdata,
    input  logic [1:0]                     m_axi_host_rresp,
    input  logic                           m_axi_host_rlast,
    output logic                           m_axi_nic_awvalid,
    input  logic                           m_axi_nic_awready,
    output logic [7:0]                     m_axi_nic_awid,
    output logic [63:0]                    m_axi_nic_awaddr,
    output logic [7:0]                     m_axi_nic_awlen,
    output logic [2:0]                     m_axi_nic_awsize,
    output logic [1:0]                     m_axi_nic_awburst,
    output logic [3:0]                     m_axi_nic_awcache,
    output logic [2:0]                     m_axi_nic_awprot,
    output logic                           m_axi_nic_wvalid,
    input  logic                           m_axi_nic_wready,
    output logic [511:0]                   m_axi_nic_wdata,
    output logic [63:0]                    m_axi_nic_wstrb,
    output logic                           m_axi_nic_wlast,
    input  logic                           m_axi_nic_bvalid,
    output logic                           m_axi_nic_bready,
    input  logic [7:0]                     m_axi_nic_bid,
    input  logic [1:0]                     m_axi_nic_bresp,
    output logic                           m_axi_nic_arvalid,
    input  logic                           m_axi_nic_arready,
    output logic [7:0]                     m_axi_nic_arid,
    output logic [63:0]                    m_axi_nic_araddr,
    output logic [7:0]                     m_axi_nic_arlen,
    output logic [2:0]                     m_axi_nic_arsize,
    output logic [1:0]                     m_axi_nic_arburst,
    output logic [3:0]                     m_axi_nic_arcache,
    output logic [2:0]                     m_axi_nic_arprot,
    input  logic                           m_axi_nic_rvalid,
    output logic                           m_axi_nic_rready,
    input  logic [7:0]                     m_axi_nic_rid,
    input  logic [511:0]                   m_axi_nic_rdata,
    input  logic [1:0]                     m_axi_nic_rresp,
    input  logic                           m_axi_nic_rlast,
    output logic                           idle_o,
    output logic                           trace_request_valid_o,
    output logic [64*(4+ValueWords)-1:0]   trace_request_data_o,
    output logic                           trace_answer_valid_o,
    output logic [64*(3+ValueWords)-1:0]   trace_answer_data_o,
    output logic                           trace_read_valid_o,
    output logic [95:0]                    trace_read_data_o,
    output logic                           trace_done_valid_o,
    output logic [15:0]                    trace_done_data_o,
    output logic                           trace_scan_valid_o,
    output logic [64*(3+ValueWords)-1:0]   trace_scan_data_o,
    output logic                           trace_word_valid_o,
    output logic [127:0]                   trace_word_data_o,
    output logic [15:0]                    trace_sent_o
);
    anything #(.Width($bits(s_axil_awready))) i_s_axil_awready (.clk_i, .value_o(s_axil_awready));
    anything #(.Width($bits(s_axil_wready))) i_s_axil_wready (.clk_i, .value_o(s_axil_wready));
    anything #(.Width($bits(s_axil_bvalid))) i_s_axil_bvalid (.clk_i, .value_o(s_axil_bvalid));
    anything #(.Width($bits(s_axil_bresp))) i_s_axil_bresp (.clk_i, .value_o(s_axil_bresp));
    anything #(.Width($bits(s_axil_arready))) i_s_axil_arready (.clk_i, .value_o(s_axil_arready));
    anything #(.Width($bits(s_axil_rvalid))) i_s_axil_rvalid (.clk_i, .value_o(s_axil_rvalid));
    anything #(.Width($bits(s_axil_rdata))) i_s_axil_rdata (.clk_i, .value_o(s_axil_rdata));
    anything #(.Width($bits(s_axil_rresp))) i_s_axil_rresp (.clk_i, .value_o(s_axil_rresp));
    anything #(.Width($bits(s_axis_req_tready))) i_s_axis_req_tready (.clk_i, .value_o(s_axis_req_tready));
    anything #(.Width($bits(m_axis_rsp_tvalid))) i_m_axis_rsp_tvalid (.clk_i, .value_o(m_axis_rsp_tvalid));
    anything #(.Width($bits(m_axis_rsp_tdata))) i_m_axis_rsp_tdata (.clk_i, .value_o(m_axis_rsp_tdata));
    anything #(.Width($bits(s_axis_sw_tready))) i_s_axis_sw_tready (.clk_i, .value_o(s_axis_sw_tready));
    anything #(.Width($bits(m_axis_swrsp_tvalid))) i_m_axis_swrsp_tvalid (.clk_i, .value_o(m_axis_swrsp_tvalid));
    anything #(.Width($bits(m_axis_swrsp_tdata))) i_m_axis_swrsp_tdata (.clk_i, .value_o(m_axis_swrsp_tdata));
    anything #(.Width($bits(m_axi_host_arvalid))) i_m_axi_host_arvalid (.clk_i, .value_o(m_axi_host_arvalid));
    anything #(.Width($bits(m_axi_host_arid))) i_m_axi_host_arid (.clk_i, .value_o(m_axi_host_arid));
    anything #(.Width($bits(m_axi_host_araddr))) i_m_axi_host_araddr (.clk_i, .value_o(m_axi_host_araddr));
    anything #(.Width($bits(m_axi_host_arlen))) i_m_axi_host_arlen (.clk_i, .value_o(m_axi_host_arlen));
    anything #(.Width($bits(m_axi_host_arsize))) i_m_axi_host_arsize (.clk_i, .value_o(m_axi_host_arsize));
    anything #(.Width($bits(m_axi_host_arburst))) i_m_axi_host_arburst (.clk_i, .value_o(m_axi_host_arburst));
    anything #(.Width($bits(m_axi_host_arcache))) i_m_axi_host_arcache (.clk_i, .value_o(m_axi_host_arcache));
    anything #(.Width($bits(m_axi_host_arprot))) i_m_axi_host_arprot (.clk_i, .value_o(m_axi_host_arprot));
    anything #(.Width($bits(m_axi_host_rready))) i_m_axi_host_rready (.clk_i, .value_o(m_axi_host_rready));
    anything #(.Width($bits(m_axi_nic_awvalid))) i_m_axi_nic_awvalid (.clk_i, .value_o(m_axi_nic_awvalid));
    anything #(.Width($bits(m_axi_nic_awid))) i_m_axi_nic_awid (.clk_i, .value_o(m_axi_nic_awid));
    anything #(.Width($bits(m_axi_nic_awaddr))) i_m_axi_nic_awaddr (.clk_i, .value_o(m_axi_nic_awaddr));
    anything #(.Width($bits(m_axi_nic_awlen))) i_m_axi_nic_awlen (.clk_i, .value_o(m_axi_nic_awlen));
    anything #(.Width($bits(m_axi_nic_awsize))) i_m_axi_nic_awsize (.clk_i, .value_o(m_axi_nic_awsize));
    anything #(.Width($bits(m_axi_nic_awburst))) i_m_axi_nic_awburst (.clk_i, .value_o(m_axi_nic_awburst));
    anything #(.Width($bits(m_axi_nic_awcache))) i_m_axi_nic_awcache (.clk_i, .value_o(m_axi_nic_awcache));
    anything #(.Width($bits(m_axi_nic_awprot))) i_m_axi_nic_awprot (.clk_i, .value_o(m_axi_nic_awprot));
    anything #(.Width($bits(m_axi_nic_wvalid))) i_m_axi_nic_wvalid (.clk_i, .value_o(m_axi_nic_wvalid));
    anything #(.Width($bits(m_axi_nic_wdata))) i_m_axi_nic_wdata (.clk_i, .value_o(m_axi_nic_wdata));
    anything #(.Width($bits(m_axi_nic_wstrb))) i_m_axi_nic_wstrb (.clk_i, .value_o(m_axi_nic_wstrb));
    anything #(.Width($bits(m_axi_nic_wlast))) i_m_axi_nic_wlast (.clk_i, .value_o(m_axi_nic_wlast));
    anything #(.Width($bits(m_axi_nic_bready))) i_m_axi_nic_bready (.clk_i, .value_o(m_axi_nic_bready));
    anything #(.Width($bits(m_axi_nic_arvalid))) i_m_axi_nic_arvalid (.clk_i, .value_o(m_axi_nic_arvalid));
    anything #(.Width($bits(m_axi_nic_arid))) i_m_axi_nic_arid (.clk_i, .value_o(m_axi_nic_arid));
    anything #(.Width($bits(m_axi_nic_araddr))) i_m_axi_nic_araddr (.clk_i, .value_o(m_axi_nic_araddr));
    anything #(.Width($bits(m_axi_nic_arlen))) i_m_axi_nic_arlen (.clk_i, .value_o(m_axi_nic_arlen));
    anything #(.Width($bits(m_axi_nic_arsize))) i_m_axi_nic_arsize (.clk_i, .value_o(m_axi_nic_arsize));
    anything #(.Width($bits(m_axi_nic_arburst))) i_m_axi_nic_arburst (.clk_i, .value_o(m_axi_nic_arburst));
    anything #(.Width($bits(m_axi_nic_arcache))) i_m_axi_nic_arcache (.clk_i, .value_o(m_axi_nic_arcache));
    anything #(.Width($bits(m_axi_nic_arprot))) i_m_axi_nic_arprot (.clk_i, .value_o(m_axi_nic_arprot));
    anything #(.Width($bits(m_axi_nic_rready))) i_m_axi_nic_rready (.clk_i, .value_o(m_axi_nic_rready));
    anything #(.Width($bits(idle_o))) i_idle (.clk_i, .value_o(idle_o));
    anything #(.Width($bits(trace_request_valid_o))) i_trace_request_valid (.clk_i, .value_o(trace_request_valid_o));
    anything #(.Width($bits(trace_request_data_o))) i_trace_request_data (.clk_i, .value_o(trace_request_data_o));
    anything #(.Width($bits(trace_answer_valid_o))) i_trace_answer_valid (.clk_i, .value_o(trace_answer_valid_o));
    anything #(.Width($bits(trace_answer_data_o))) i_trace_answer_data (.clk_i, .value_o(trace_answer_data_o));
    anything #(.Width($bits(trace_read_valid_o))) i_trace_read_valid (.clk_i, .value_o(trace_read_valid_o));
    anything #(.Width($bits(trace_read_data_o))) i_trace_read_data (.clk_i, .value_o(trace_read_data_o));
    anything #(.Width($bits(trace_done_valid_o))) i_trace_done_valid (.clk_i, .value_o(trace_done_valid_o));
    anything #(.Width($bits(trace_done_data_o))) i_trace_done_data (.clk_i, .value_o(trace_done_data_o));
    anything #(.Width($bits(trace_scan_valid_o))) i_trace_scan_valid (.clk_i, .value_o(trace_scan_valid_o));
    anything #(.Width($bits(trace_scan_data_o))) i_trace_scan_data (.clk_i, .value_o(trace_scan_data_o));
    anything #(.Width($bits(trace_word_valid_o))) i_trace_word_valid (.clk_i, .value_o(trace_word_valid_o));
    anything #(.Width($bits(trace_word_data_o))) i_trace_word_data (.clk_i, .value_o(trace_word_data_o));
    anything #(.Width($bits(trace_sent_o))) i_trace_sent (.clk_i, .value_o(trace_sent_o));
endmodule
