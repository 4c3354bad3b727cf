// SPDX-License-Identifier: MIT OR Apache-2.0
// tuple_lock_unit: the rules of its five interfaces, AXI4 with atomics among them. jobs.toml leaves out those that count
// accesses, for which induction would need to know more of the unit.
`include "../rules/rule.svh"
module tuple_lock_unit_formal (
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

    power_up i_power_up (.*);
    tuple_lock_unit i_block (.*);

    axi4_stream_rules #(.Width(192), .Proven(0)) i_requests (
        .clk_i, .rst_ni, .tvalid(s_axis_req_tvalid), .tready(s_axis_req_tready), .payload(s_axis_req_tdata));
    axi4_stream_rules #(.Width(64), .Proven(0), .Waits(0)) i_invalidations (
        .clk_i, .rst_ni, .tvalid(s_axis_inv_tvalid), .tready(s_axis_inv_tready), .payload(s_axis_inv_tdata));
    axi4_stream_rules #(.Width(64), .Dense(0)) i_responses (
        .clk_i, .rst_ni, .tvalid(m_axis_rsp_tvalid), .tready(m_axis_rsp_tready), .payload(m_axis_rsp_tdata));
    axi4_lite_rules #(.AddressWidth(15), .Most(6)) i_registers (
        .clk_i, .rst_ni,
        .awvalid(s_axil_awvalid), .awready(s_axil_awready), .awaddr({s_axil_awprot, s_axil_awaddr}),
        .wvalid(s_axil_wvalid), .wready(s_axil_wready), .wdata(s_axil_wdata), .wstrb(s_axil_wstrb),
        .bvalid(s_axil_bvalid), .bready(s_axil_bready), .bresp(s_axil_bresp),
        .arvalid(s_axil_arvalid), .arready(s_axil_arready), .araddr({s_axil_arprot, s_axil_araddr}),
        .rvalid(s_axil_rvalid), .rready(s_axil_rready), .rdata(s_axil_rdata), .rresp(s_axil_rresp));
    axi4_rules #(.IdWidth(11), .Most(8), .Atomics(1), .Bursts(0)) i_memory (
        .clk_i, .rst_ni,
        .awvalid(m_axi_awvalid), .awready(m_axi_awready), .awid(m_axi_awid), .awaddr(m_axi_awaddr),
        .awlen(m_axi_awlen), .awsize(m_axi_awsize), .awburst(m_axi_awburst), .awlock(m_axi_awlock),
        .awatop(m_axi_awatop),
        .wvalid(m_axi_wvalid), .wready(m_axi_wready), .wdata(m_axi_wdata), .wstrb(m_axi_wstrb),
        .wlast(m_axi_wlast),
        .bvalid(m_axi_bvalid), .bready(m_axi_bready), .bid(m_axi_bid), .bresp(m_axi_bresp),
        .arvalid(m_axi_arvalid), .arready(m_axi_arready), .arid(m_axi_arid), .araddr(m_axi_araddr),
        .arlen(m_axi_arlen), .arsize(m_axi_arsize), .arburst(m_axi_arburst), .arlock(m_axi_arlock),
        .rvalid(m_axi_rvalid), .rready(m_axi_rready), .rid(m_axi_rid), .rdata(m_axi_rdata), .rresp(m_axi_rresp),
        .rlast(m_axi_rlast));
    // What goes with an address besides.
    `RULE(properties_of_a_write_hold, 1, !$past(rst_ni && m_axi_awvalid && !m_axi_awready)
        || $stable({m_axi_awcache, m_axi_awprot, m_axi_awqos}))
    `RULE(properties_of_a_read_hold, 1, !$past(rst_ni && m_axi_arvalid && !m_axi_arready)
        || $stable({m_axi_arcache, m_axi_arprot, m_axi_arqos}))
endmodule
