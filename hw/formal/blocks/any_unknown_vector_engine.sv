// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of vector_engine: it may do anything.
module vector_engine
    import vector_pkg::*;
#(
    parameter int unsigned Ways = 2
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,
    input  logic                         enable_i,
    input  logic  [15:0]                 idle_time_i,
    input  logic  [15:0]                 flush_time_i,
    input  logic  [63:12]                host_first_i,
    input  logic  [63:12]                host_last_i,
    input  logic  [63:12]                nic_first_i,
    input  logic  [63:12]                nic_last_i,
    input  logic  [Queues-1:0]           s_axis_cmd_tvalid,
    output logic  [Queues-1:0]           s_axis_cmd_tready,
    input  logic  [Queues-1:0][160:0]    s_axis_cmd_tdata,
    output logic                         m_axis_done_tvalid,
    input  logic                         m_axis_done_tready,
    output done_t                        m_axis_done_tdata,
    output logic  [Ways-1:0]             m_axi_arvalid,
    input  logic  [Ways-1:0]             m_axi_arready,
    output logic  [Ways-1:0][7:0]        m_axi_arid,
    output logic  [Ways-1:0][63:0]       m_axi_araddr,
    output logic  [Ways-1:0][7:0]        m_axi_arlen,
    input  logic  [Ways-1:0]             m_axi_rvalid,
    input  logic  [Ways-1:0][7:0]        m_axi_rid,
    input  logic  [Ways-1:0][511:0]      m_axi_rdata,
    input  logic  [Ways-1:0][1:0]        m_axi_rresp,
    input  logic  [Ways-1:0]             m_axi_rlast,
    output logic  [Ways-1:0]             m_axi_awvalid,
    input  logic  [Ways-1:0]             m_axi_awready,
    output logic  [Ways-1:0][7:0]        m_axi_awid,
    output logic  [Ways-1:0][63:0]       m_axi_awaddr,
    output logic  [Ways-1:0][7:0]        m_axi_awlen,
    output logic  [Ways-1:0]             m_axi_wvalid,
    input  logic  [Ways-1:0]             m_axi_wready,
    output logic  [Ways-1:0][511:0]      m_axi_wdata,
    output logic  [Ways-1:0][63:0]       m_axi_wstrb,
    output logic  [Ways-1:0]             m_axi_wlast,
    input  logic  [Ways-1:0]             m_axi_bvalid,
    output logic  [Ways-1:0]             m_axi_bready,
    input  logic  [Ways-1:0][7:0]        m_axi_bid,
    input  logic  [Ways-1:0][1:0]        m_axi_bresp,
    output logic  [Queues-1:0]           accepted_o,
    output sent_t [Ways-1:0][Queues-1:0] sent_o,
    output logic  [Ways-1:0][Queues-1:0] begun_o,
    output logic  [Ways-1:0][8:0]        bytes_o,
    output logic  [Ways-1:0]             refused_o
);
    anything #(.Width($bits(s_axis_cmd_tready))) i_s_axis_cmd_tready (.clk_i, .value_o(s_axis_cmd_tready));
    anything #(.Width($bits(m_axis_done_tvalid))) i_m_axis_done_tvalid (.clk_i, .value_o(m_axis_done_tvalid));
    anything #(.Width($bits(m_axis_done_tdata))) i_m_axis_done_tdata (.clk_i, .value_o(m_axis_done_tdata));
    anything #(.Width($bits(m_axi_arvalid))) i_m_axi_arvalid (.clk_i, .value_o(m_axi_arvalid));
    anything #(.Width($bits(m_axi_arid))) i_m_axi_arid (.clk_i, .value_o(m_axi_arid));
    anything #(.Width($bits(m_axi_araddr))) i_m_axi_araddr (.clk_i, .value_o(m_axi_araddr));
    anything #(.Width($bits(m_axi_arlen))) i_m_axi_arlen (.clk_i, .value_o(m_axi_arlen));
    anything #(.Width($bits(m_axi_awvalid))) i_m_axi_awvalid (.clk_i, .value_o(m_axi_awvalid));
    anything #(.Width($bits(m_axi_awid))) i_m_axi_awid (.clk_i, .value_o(m_axi_awid));
    anything #(.Width($bits(m_axi_awaddr))) i_m_axi_awaddr (.clk_i, .value_o(m_axi_awaddr));
    anything #(.Width($bits(m_axi_awlen))) i_m_axi_awlen (.clk_i, .value_o(m_axi_awlen));
    anything #(.Width($bits(m_axi_wvalid))) i_m_axi_wvalid (.clk_i, .value_o(m_axi_wvalid));
    anything #(.Width($bits(m_axi_wdata))) i_m_axi_wdata (.clk_i, .value_o(m_axi_wdata));
    anything #(.Width($bits(m_axi_wstrb))) i_m_axi_wstrb (.clk_i, .value_o(m_axi_wstrb));
    anything #(.Width($bits(m_axi_wlast))) i_m_axi_wlast (.clk_i, .value_o(m_axi_wlast));
    anything #(.Width($bits(m_axi_bready))) i_m_axi_bready (.clk_i, .value_o(m_axi_bready));
    anything #(.Width($bits(accepted_o))) i_accepted (.clk_i, .value_o(accepted_o));
    anything #(.Width($bits(sent_o))) i_sent (.clk_i, .value_o(sent_o));
    anything #(.Width($bits(begun_o))) i_begun (.clk_i, .value_o(begun_o));
    anything #(.Width($bits(bytes_o))) i_bytes (.clk_i, .value_o(bytes_o));
    anything #(.Width($bits(refused_o))) i_refused (.clk_i, .value_o(refused_o));
endmodule
