// SPDX-License-Identifier: MIT OR Apache-2.0
// The ports of a wrapper of the lock unit, whose inputs are those of the unit, and its outputs.
    input logic         clk_i,
    input logic         rst_ni,
    input logic         s_axis_req_tvalid,
    input logic [191:0] s_axis_req_tdata,
    input logic         m_axis_rsp_tready,
    input logic         s_axis_inv_tvalid,
    input logic [63:0]  s_axis_inv_tdata,
    input logic         m_axi_awready,
    input logic         m_axi_wready,
    input logic         m_axi_bvalid,
    input logic [10:0]  m_axi_bid,
    input logic [1:0]   m_axi_bresp,
    input logic         m_axi_arready,
    input logic         m_axi_rvalid,
    input logic [10:0]  m_axi_rid,
    input logic [511:0] m_axi_rdata,
    input logic [1:0]   m_axi_rresp,
    input logic         m_axi_rlast,
    input logic         s_axil_awvalid,
    input logic [11:0]  s_axil_awaddr,
    input logic [2:0]   s_axil_awprot,
    input logic         s_axil_wvalid,
    input logic [31:0]  s_axil_wdata,
    input logic [3:0]   s_axil_wstrb,
    input logic         s_axil_bready,
    input logic         s_axil_arvalid,
    input logic [11:0]  s_axil_araddr,
    input logic [2:0]   s_axil_arprot,
    input logic         s_axil_rready
);
    logic         s_axis_req_tready, m_axis_rsp_tvalid, s_axis_inv_tready, m_axi_awlock, m_axi_awvalid;
    logic         m_axi_wlast, m_axi_wvalid, m_axi_bready, m_axi_arlock, m_axi_arvalid, m_axi_rready;
    logic         s_axil_awready, s_axil_wready, s_axil_bvalid, s_axil_arready, s_axil_rvalid, intr_o;
    logic [63:0]  m_axis_rsp_tdata, m_axi_awaddr, m_axi_wstrb, m_axi_araddr;
    logic [10:0]  m_axi_awid, m_axi_arid;
    logic [7:0]   m_axi_awlen, m_axi_arlen;
    logic [2:0]   m_axi_awsize, m_axi_awprot, m_axi_arsize, m_axi_arprot;
    logic [1:0]   m_axi_awburst, m_axi_arburst, s_axil_bresp, s_axil_rresp;
    logic [3:0]   m_axi_awcache, m_axi_awqos, m_axi_arcache, m_axi_arqos;
    logic [5:0]   m_axi_awatop;
    logic [511:0] m_axi_wdata;
    logic [31:0]  s_axil_rdata;
