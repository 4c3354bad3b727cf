// SPDX-License-Identifier: MIT OR Apache-2.0
// The lock unit (docs/lock-unit.md) on a gated clock, which stops while nothing happens.
//
// Contract: the unit answers as it would on `clk_i`, one clock later. It reacts only to beats at
// its ports, a few clocks after each. So its clock stops when no valid was high at any of its
// ports for a while (activity_clock.sv). All inputs pass a register of `clk_i` first, so that the
// clock runs again in the cycle in which the unit sees the valid; the unit ignores ready without
// valid.
module lock_block (
    input  logic         clk_i,
    input  logic         rst_ni,              // low for two clocks at least

    // A register access: valid and all beside it hold until done.
    input  logic         valid_i,
    input  logic         write_i,
    input  logic [11:0]  address_i,
    input  logic [31:0]  data_i,
    input  logic [3:0]   strobe_i,
    output logic         done_o,
    output logic         error_o,
    output logic [31:0]  data_o,

    // Both come from registers, as m_axis_rsp_tready does.
    input  logic         s_axis_req_tvalid,
    output logic         s_axis_req_tready,
    input  logic [191:0] s_axis_req_tdata,
    output logic         m_axis_rsp_tvalid,
    input  logic         m_axis_rsp_tready,
    output logic [63:0]  m_axis_rsp_tdata,

    input  logic         s_axis_inv_tvalid,
    output logic         s_axis_inv_tready,
    input  logic [63:0]  s_axis_inv_tdata,

    output logic         m_axi_awvalid,
    input  logic         m_axi_awready,
    output logic [10:0]  m_axi_awid,
    output logic [63:0]  m_axi_awaddr,
    output logic [7:0]   m_axi_awlen,
    output logic [2:0]   m_axi_awsize,
    output logic [1:0]   m_axi_awburst,
    output logic         m_axi_awlock,
    output logic [3:0]   m_axi_awcache,
    output logic [2:0]   m_axi_awprot,
    output logic [3:0]   m_axi_awqos,
    output logic [5:0]   m_axi_awatop,
    output logic         m_axi_wvalid,
    input  logic         m_axi_wready,
    output logic [511:0] m_axi_wdata,
    output logic [63:0]  m_axi_wstrb,
    output logic         m_axi_wlast,
    input  logic         m_axi_bvalid,
    output logic         m_axi_bready,
    input  logic [10:0]  m_axi_bid,
    input  logic [1:0]   m_axi_bresp,
    output logic         m_axi_arvalid,
    input  logic         m_axi_arready,
    output logic [10:0]  m_axi_arid,
    output logic [63:0]  m_axi_araddr,
    output logic [7:0]   m_axi_arlen,
    output logic [2:0]   m_axi_arsize,
    output logic [1:0]   m_axi_arburst,
    output logic         m_axi_arlock,
    output logic [3:0]   m_axi_arcache,
    output logic [2:0]   m_axi_arprot,
    output logic [3:0]   m_axi_arqos,
    input  logic         m_axi_rvalid,
    output logic         m_axi_rready,
    input  logic [10:0]  m_axi_rid,
    input  logic [511:0] m_axi_rdata,
    input  logic [1:0]   m_axi_rresp,

    output logic         interrupt_o,         // level
    output logic         memory_quiet_o       // no access is under way
);

    // The unit takes R, B and beats always, so one register each holds them.
    logic         r_valid_q, b_valid_q, inv_valid_q;
    logic [10:0]  r_id_q, b_id_q;
    logic [511:0] r_data_q;
    logic [1:0]   r_resp_q, b_resp_q;
    logic [63:0]  inv_data_q;
    logic         unit_rready, unit_bready, unit_inv_tready;
    assign m_axi_rready      = 1'b1;
    assign m_axi_bready      = 1'b1;
    assign s_axis_inv_tready = 1'b1;

    always_ff @(posedge clk_i) begin
        r_valid_q   <= rst_ni && m_axi_rvalid;
        b_valid_q   <= rst_ni && m_axi_bvalid;
        inv_valid_q <= rst_ni && s_axis_inv_tvalid;
        if (m_axi_rvalid) begin
            r_id_q   <= m_axi_rid;
            r_data_q <= m_axi_rdata;
            r_resp_q <= m_axi_rresp;
        end
        if (m_axi_bvalid) begin
            b_id_q   <= m_axi_bid;
            b_resp_q <= m_axi_bresp;
        end
        if (s_axis_inv_tvalid) inv_data_q <= s_axis_inv_tdata;
    end

    // The register access on the unit's AXI4-Lite port. A phase is sent when its handshake
    // is over.
    logic        awready, wready, arready, bvalid, rvalid;
    logic        awvalid, wvalid, arvalid;
    logic [1:0]  bresp, rresp;
    logic        address_sent_q, data_sent_q;
    assign arvalid = valid_i && !write_i && !address_sent_q;
    assign awvalid = valid_i && write_i && !address_sent_q;
    assign wvalid  = valid_i && write_i && !data_sent_q;
    assign done_o  = write_i ? bvalid : rvalid;
    assign error_o = (write_i ? bresp : rresp) != 2'b00;

    always_ff @(posedge clk_i) begin
        if (!rst_ni || done_o) begin
            address_sent_q <= 1'b0;
            data_sent_q    <= 1'b0;
        end else begin
            if (arvalid && arready || awvalid && awready) address_sent_q <= 1'b1;
            if (wvalid && wready) data_sent_q <= 1'b1;
        end
    end

    // The clock of the unit.
    logic busy, unit_clk;
    assign busy = s_axis_req_tvalid || m_axis_rsp_tvalid || inv_valid_q
        || m_axi_awvalid || m_axi_wvalid || m_axi_arvalid || b_valid_q || r_valid_q
        || arvalid || awvalid || wvalid || bvalid || rvalid;

    activity_clock i_clock (
        .clk_i,
        .rst_ni,
        .busy_i(busy),
        .clk_o (unit_clk)
    );

    // Accesses under way, of which an atomic owes both answers.
    logic [8:0] reads_q, writes_q;
    logic       read_begins, write_begins;
    logic       atomic;
    assign write_begins   = m_axi_awvalid && m_axi_awready;
    assign atomic         = write_begins && m_axi_awatop[5];
    assign read_begins    = m_axi_arvalid && m_axi_arready;
    assign memory_quiet_o = reads_q == 0 && writes_q == 0;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            reads_q  <= '0;
            writes_q <= '0;
        end else begin
            reads_q  <= reads_q + 9'(read_begins) + 9'(atomic) - 9'(m_axi_rvalid);
            writes_q <= writes_q + 9'(write_begins) - 9'(m_axi_bvalid);
        end
    end

    tuple_lock_unit i_unit (
        .clk_i            (unit_clk),
        .rst_ni,
        .s_axis_req_tvalid,
        .s_axis_req_tdata,
        .s_axis_req_tready,
        .m_axis_rsp_tvalid,
        .m_axis_rsp_tdata,
        .m_axis_rsp_tready,
        .s_axis_inv_tvalid(inv_valid_q),
        .s_axis_inv_tdata (inv_data_q),
        .s_axis_inv_tready(unit_inv_tready),
        .m_axi_awid,
        .m_axi_awaddr,
        .m_axi_awlen,
        .m_axi_awsize,
        .m_axi_awburst,
        .m_axi_awlock,
        .m_axi_awcache,
        .m_axi_awprot,
        .m_axi_awqos,
        .m_axi_awatop,
        .m_axi_awvalid,
        .m_axi_awready,
        .m_axi_wdata,
        .m_axi_wstrb,
        .m_axi_wlast,
        .m_axi_wvalid,
        .m_axi_wready,
        .m_axi_bvalid     (b_valid_q),
        .m_axi_bid        (b_id_q),
        .m_axi_bresp      (b_resp_q),
        .m_axi_bready     (unit_bready),
        .m_axi_arid,
        .m_axi_araddr,
        .m_axi_arlen,
        .m_axi_arsize,
        .m_axi_arburst,
        .m_axi_arlock,
        .m_axi_arcache,
        .m_axi_arprot,
        .m_axi_arqos,
        .m_axi_arvalid,
        .m_axi_arready,
        .m_axi_rvalid     (r_valid_q),
        .m_axi_rid        (r_id_q),
        .m_axi_rdata      (r_data_q),
        .m_axi_rresp      (r_resp_q),
        .m_axi_rlast      (1'b1),
        .m_axi_rready     (unit_rready),
        .s_axil_awvalid   (awvalid),
        .s_axil_awaddr    (address_i),
        .s_axil_awprot    ('0),
        .s_axil_awready   (awready),
        .s_axil_wvalid    (wvalid),
        .s_axil_wdata     (data_i),
        .s_axil_wstrb     (strobe_i),
        .s_axil_wready    (wready),
        .s_axil_bvalid    (bvalid),
        .s_axil_bresp     (bresp),
        .s_axil_bready    (1'b1),
        .s_axil_arvalid   (arvalid),
        .s_axil_araddr    (address_i),
        .s_axil_arprot    ('0),
        .s_axil_arready   (arready),
        .s_axil_rvalid    (rvalid),
        .s_axil_rdata     (data_o),
        .s_axil_rresp     (rresp),
        .s_axil_rready    (1'b1),
        .intr_o           (interrupt_o)
    );

`ifndef SYNTHESIS
    unit_always_takes_answers: assert property (@(posedge clk_i) disable iff (!rst_ni)
        unit_rready && unit_bready && unit_inv_tready);
    each_answer_has_an_access: assert property (@(posedge clk_i) disable iff (!rst_ni)
        (!m_axi_rvalid || reads_q != 0) && (!m_axi_bvalid || writes_q != 0));
`endif

endmodule
