// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of tuple_lock_unit: it may do anything.
module tuple_lock_unit (
    input  logic          clk_i,
    input  logic          rst_ni,
    input  logic          s_axis_req_tvalid,
    input  logic [191:0]  s_axis_req_tdata,
    output logic          s_axis_req_tready,
    output logic          m_axis_rsp_tvalid,
    output logic [63:0]   m_axis_rsp_tdata,
    input  logic          m_axis_rsp_tready,
    input  logic          s_axis_inv_tvalid,
    input  logic [63:0]   s_axis_inv_tdata,
    output logic          s_axis_inv_tready,
    output logic [10:0]   m_axi_awid,
    output logic [63:0]   m_axi_awaddr,
    output logic [7:0]    m_axi_awlen,
    output logic [2:0]    m_axi_awsize,
    output logic [1:0]    m_axi_awburst,
    output logic          m_axi_awlock,
    output logic [3:0]    m_axi_awcache,
    output logic [2:0]    m_axi_awprot,
    output logic [3:0]    m_axi_awqos,
    output logic [5:0]    m_axi_awatop,
    output logic          m_axi_awvalid,
    input  logic          m_axi_awready,
    output logic [511:0]  m_axi_wdata,
    output logic [63:0]   m_axi_wstrb,
    output logic          m_axi_wlast,
    output logic          m_axi_wvalid,
    input  logic          m_axi_wready,
    input  logic          m_axi_bvalid,
    input  logic [10:0]   m_axi_bid,
    input  logic [1:0]    m_axi_bresp,
    output logic          m_axi_bready,
    output logic [10:0]   m_axi_arid,
    output logic [63:0]   m_axi_araddr,
    output logic [7:0]    m_axi_arlen,
    output logic [2:0]    m_axi_arsize,
    output logic [1:0]    m_axi_arburst,
    output logic          m_axi_arlock,
    output logic [3:0]    m_axi_arcache,
    output logic [2:0]    m_axi_arprot,
    output logic [3:0]    m_axi_arqos,
    output logic          m_axi_arvalid,
    input  logic          m_axi_arready,
    input  logic          m_axi_rvalid,
    input  logic [10:0]   m_axi_rid,
    input  logic [511:0]  m_axi_rdata,
    input  logic [1:0]    m_axi_rresp,
    input  logic          m_axi_rlast,
    output logic          m_axi_rready,
    input  logic          s_axil_awvalid,
    input  logic [11:0]   s_axil_awaddr,
    input  logic [2:0]    s_axil_awprot,
    output logic          s_axil_awready,
    input  logic          s_axil_wvalid,
    input  logic [31:0]   s_axil_wdata,
    input  logic [3:0]    s_axil_wstrb,
    output logic          s_axil_wready,
    output logic          s_axil_bvalid,
    output logic [1:0]    s_axil_bresp,
    input  logic          s_axil_bready,
    input  logic          s_axil_arvalid,
    input  logic [11:0]   s_axil_araddr,
    input  logic [2:0]    s_axil_arprot,
    output logic          s_axil_arready,
    output logic          s_axil_rvalid,
    output logic [31:0]   s_axil_rdata,
    output logic [1:0]    s_axil_rresp,
    input  logic          s_axil_rready,
    output logic          intr_o
);
    anything #(.Width(3)) i_answers (.clk_i, .value_o({m_axi_rready, m_axi_bready, s_axis_inv_tready}));
    anything #(.Width(67)) i_streams (.clk_i, .value_o({
        s_axis_req_tready, m_axis_rsp_tvalid, m_axis_rsp_tdata, intr_o
    }));
    anything #(.Width(685)) i_writes (.clk_i, .value_o({
        m_axi_awid, m_axi_awaddr, m_axi_awlen, m_axi_awsize, m_axi_awburst, m_axi_awlock, m_axi_awcache,
        m_axi_awprot, m_axi_awqos, m_axi_awatop, m_axi_awvalid, m_axi_wdata, m_axi_wstrb, m_axi_wlast,
        m_axi_wvalid
    }));
    anything #(.Width(101)) i_reads (.clk_i, .value_o({
        m_axi_arid, m_axi_araddr, m_axi_arlen, m_axi_arsize, m_axi_arburst, m_axi_arlock, m_axi_arcache,
        m_axi_arprot, m_axi_arqos, m_axi_arvalid
    }));
    anything #(.Width(41)) i_registers (.clk_i, .value_o({
        s_axil_awready, s_axil_wready, s_axil_bvalid, s_axil_bresp, s_axil_arready, s_axil_rvalid,
        s_axil_rdata, s_axil_rresp
    }));

    // What counts of the inputs: data only while they are valid.
    logic [874:0] seen;
    assign seen = {
        rst_ni, s_axis_req_tvalid, s_axis_req_tvalid ? s_axis_req_tdata : '0, m_axis_rsp_tready,
        s_axis_inv_tvalid, s_axis_inv_tvalid ? s_axis_inv_tdata : '0, m_axi_awready, m_axi_wready,
        m_axi_bvalid, m_axi_bvalid ? {m_axi_bid, m_axi_bresp} : '0, m_axi_arready,
        m_axi_rvalid, m_axi_rvalid ? {m_axi_rid, m_axi_rdata, m_axi_rresp, m_axi_rlast} : '0,
        s_axil_awvalid, s_axil_awvalid ? {s_axil_awaddr, s_axil_awprot} : '0,
        s_axil_wvalid, s_axil_wvalid ? {s_axil_wdata, s_axil_wstrb} : '0, s_axil_bready,
        s_axil_arvalid, s_axil_arvalid ? {s_axil_araddr, s_axil_arprot} : '0, s_axil_rready
    };
endmodule
