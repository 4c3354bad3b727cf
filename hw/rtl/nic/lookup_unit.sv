// SPDX-License-Identifier: MIT OR Apache-2.0
// nic_lookup (docs/nic-lookup.md) on a gated clock, which stops while nothing happens.
//
// Contract: the unit answers as it would on `clk_i`, a few clocks later. It reacts only to beats at its
// ports, and says by its `idle_o` when nothing of them is under way. So its clock stops when it has been
// idle, and no valid was high at any of its ports, for a while (activity_clock.sv). What comes from
// outside passes a register of `clk_i` first, so that the clock runs again in the cycle in which the unit
// sees the valid; the unit ignores ready without valid. `idle_o` says nothing of a request of software that
// waits until the unit is switched on.
module lookup_unit #(
    parameter int unsigned LogSets     = 12,
    parameter int unsigned LogContexts = 7
) (
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

    // Of the NIC's software. Both come from registers, as m_axis_swrsp_tready does.
    input  logic         s_axis_sw_tvalid,
    output logic         s_axis_sw_tready,
    input  logic [255:0] s_axis_sw_tdata,
    output logic         m_axis_swrsp_tvalid,
    input  logic         m_axis_swrsp_tready,
    output logic [191:0] m_axis_swrsp_tdata,

    // Of the network.
    input  logic         s_axis_req_tvalid,
    output logic         s_axis_req_tready,
    input  logic [255:0] s_axis_req_tdata,
    output logic         m_axis_rsp_tvalid,
    input  logic         m_axis_rsp_tready,
    output logic [191:0] m_axis_rsp_tdata,

    output logic         m_axi_host_arvalid,
    input  logic         m_axi_host_arready,
    output logic [7:0]   m_axi_host_arid,
    output logic [63:0]  m_axi_host_araddr,
    output logic [7:0]   m_axi_host_arlen,
    output logic [2:0]   m_axi_host_arsize,
    output logic [1:0]   m_axi_host_arburst,
    output logic [3:0]   m_axi_host_arcache,
    output logic [2:0]   m_axi_host_arprot,
    input  logic         m_axi_host_rvalid,
    output logic         m_axi_host_rready,
    input  logic [7:0]   m_axi_host_rid,
    input  logic [511:0] m_axi_host_rdata,
    input  logic [1:0]   m_axi_host_rresp,
    input  logic         m_axi_host_rlast,

    output logic         m_axi_nic_awvalid,
    input  logic         m_axi_nic_awready,
    output logic [7:0]   m_axi_nic_awid,
    output logic [63:0]  m_axi_nic_awaddr,
    output logic [7:0]   m_axi_nic_awlen,
    output logic [2:0]   m_axi_nic_awsize,
    output logic [1:0]   m_axi_nic_awburst,
    output logic [3:0]   m_axi_nic_awcache,
    output logic [2:0]   m_axi_nic_awprot,
    output logic         m_axi_nic_wvalid,
    input  logic         m_axi_nic_wready,
    output logic [511:0] m_axi_nic_wdata,
    output logic [63:0]  m_axi_nic_wstrb,
    output logic         m_axi_nic_wlast,
    input  logic         m_axi_nic_bvalid,
    output logic         m_axi_nic_bready,
    input  logic [7:0]   m_axi_nic_bid,
    input  logic [1:0]   m_axi_nic_bresp,
    output logic         m_axi_nic_arvalid,
    input  logic         m_axi_nic_arready,
    output logic [7:0]   m_axi_nic_arid,
    output logic [63:0]  m_axi_nic_araddr,
    output logic [7:0]   m_axi_nic_arlen,
    output logic [2:0]   m_axi_nic_arsize,
    output logic [1:0]   m_axi_nic_arburst,
    output logic [3:0]   m_axi_nic_arcache,
    output logic [2:0]   m_axi_nic_arprot,
    input  logic         m_axi_nic_rvalid,
    output logic         m_axi_nic_rready,
    input  logic [7:0]   m_axi_nic_rid,
    input  logic [511:0] m_axi_nic_rdata,
    input  logic [1:0]   m_axi_nic_rresp,
    input  logic         m_axi_nic_rlast,

    output logic         idle_o               // nothing is under way
);

    // The unit takes R and B always, so one register each holds them.
    logic         host_valid_q, nic_valid_q, b_valid_q, host_last_q, nic_last_q;
    logic [7:0]   host_id_q, nic_id_q, b_id_q;
    logic [511:0] host_data_q, nic_data_q;
    logic [1:0]   host_resp_q, nic_resp_q, b_resp_q;
    logic         unit_host_rready, unit_nic_rready, unit_nic_bready;
    assign m_axi_host_rready = 1'b1;
    assign m_axi_nic_rready  = 1'b1;
    assign m_axi_nic_bready  = 1'b1;

    always_ff @(posedge clk_i) begin
        host_valid_q <= rst_ni && m_axi_host_rvalid;
        nic_valid_q  <= rst_ni && m_axi_nic_rvalid;
        b_valid_q    <= rst_ni && m_axi_nic_bvalid;
        if (m_axi_host_rvalid) begin
            host_id_q   <= m_axi_host_rid;
            host_data_q <= m_axi_host_rdata;
            host_resp_q <= m_axi_host_rresp;
            host_last_q <= m_axi_host_rlast;
        end
        if (m_axi_nic_rvalid) begin
            nic_id_q   <= m_axi_nic_rid;
            nic_data_q <= m_axi_nic_rdata;
            nic_resp_q <= m_axi_nic_rresp;
            nic_last_q <= m_axi_nic_rlast;
        end
        if (m_axi_nic_bvalid) begin
            b_id_q   <= m_axi_nic_bid;
            b_resp_q <= m_axi_nic_bresp;
        end
    end

    // Requests of the network may have to wait.
    logic         req_valid, req_ready;
    logic [255:0] req_data;
    stream_buffer #(
        .Width(256)
    ) i_req (
        .clk_i,
        .rst_ni,
        .valid_i(s_axis_req_tvalid),
        .ready_o(s_axis_req_tready),
        .data_i (s_axis_req_tdata),
        .valid_o(req_valid),
        .ready_i(req_ready),
        .data_o (req_data)
    );

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

    // After a reset the unit fills its lists and empties its cache, a place a clock.
    localparam int unsigned LogPlaces = LogSets > 8 ? LogSets : 8;
    logic [LogPlaces:0] places_q;
    logic               settled;
    assign settled = places_q[LogPlaces];
    always_ff @(posedge clk_i) begin
        if (!rst_ni) places_q <= '0;
        else if (!settled) places_q <= places_q + 1'b1;
    end

    // The clock of the unit.
    logic busy, unit_idle, unit_clk;
    assign busy = !unit_idle || !settled || req_valid || m_axis_rsp_tvalid
        || s_axis_sw_tvalid || m_axis_swrsp_tvalid
        || m_axi_host_arvalid || host_valid_q
        || m_axi_nic_awvalid || m_axi_nic_wvalid || m_axi_nic_arvalid || nic_valid_q || b_valid_q
        || arvalid || awvalid || wvalid || bvalid || rvalid;
    assign idle_o = unit_idle && settled && !req_valid && !m_axis_rsp_tvalid && !m_axis_swrsp_tvalid;

    activity_clock i_clock (
        .clk_i,
        .rst_ni,
        .busy_i(busy),
        .clk_o (unit_clk)
    );

    nic_lookup #(
        .LogSets    (LogSets),
        .LogContexts(LogContexts)
    ) i_unit (
        .clk_i            (unit_clk),
        .rst_ni,
        .s_axis_req_tvalid(req_valid),
        .s_axis_req_tready(req_ready),
        .s_axis_req_tdata (req_data),
        .m_axis_rsp_tvalid,
        .m_axis_rsp_tready,
        .m_axis_rsp_tdata,
        .s_axis_sw_tvalid,
        .s_axis_sw_tready,
        .s_axis_sw_tdata,
        .m_axis_swrsp_tvalid,
        .m_axis_swrsp_tready,
        .m_axis_swrsp_tdata,
        .m_axi_host_arvalid,
        .m_axi_host_arready,
        .m_axi_host_arid,
        .m_axi_host_araddr,
        .m_axi_host_arlen,
        .m_axi_host_arsize,
        .m_axi_host_arburst,
        .m_axi_host_arcache,
        .m_axi_host_arprot,
        .m_axi_host_rvalid(host_valid_q),
        .m_axi_host_rready(unit_host_rready),
        .m_axi_host_rid   (host_id_q),
        .m_axi_host_rdata (host_data_q),
        .m_axi_host_rresp (host_resp_q),
        .m_axi_host_rlast (host_last_q),
        .m_axi_nic_awvalid,
        .m_axi_nic_awready,
        .m_axi_nic_awid,
        .m_axi_nic_awaddr,
        .m_axi_nic_awlen,
        .m_axi_nic_awsize,
        .m_axi_nic_awburst,
        .m_axi_nic_awcache,
        .m_axi_nic_awprot,
        .m_axi_nic_wvalid,
        .m_axi_nic_wready,
        .m_axi_nic_wdata,
        .m_axi_nic_wstrb,
        .m_axi_nic_wlast,
        .m_axi_nic_bvalid (b_valid_q),
        .m_axi_nic_bready (unit_nic_bready),
        .m_axi_nic_bid    (b_id_q),
        .m_axi_nic_bresp  (b_resp_q),
        .m_axi_nic_arvalid,
        .m_axi_nic_arready,
        .m_axi_nic_arid,
        .m_axi_nic_araddr,
        .m_axi_nic_arlen,
        .m_axi_nic_arsize,
        .m_axi_nic_arburst,
        .m_axi_nic_arcache,
        .m_axi_nic_arprot,
        .m_axi_nic_rvalid (nic_valid_q),
        .m_axi_nic_rready (unit_nic_rready),
        .m_axi_nic_rid    (nic_id_q),
        .m_axi_nic_rdata  (nic_data_q),
        .m_axi_nic_rresp  (nic_resp_q),
        .m_axi_nic_rlast  (nic_last_q),
        .s_axil_awvalid   (awvalid),
        .s_axil_awready   (awready),
        .s_axil_awaddr    (address_i),
        .s_axil_awprot    ('0),
        .s_axil_wvalid    (wvalid),
        .s_axil_wready    (wready),
        .s_axil_wdata     (data_i),
        .s_axil_wstrb     (strobe_i),
        .s_axil_bvalid    (bvalid),
        .s_axil_bready    (1'b1),
        .s_axil_bresp     (bresp),
        .s_axil_arvalid   (arvalid),
        .s_axil_arready   (arready),
        .s_axil_araddr    (address_i),
        .s_axil_arprot    ('0),
        .s_axil_rvalid    (rvalid),
        .s_axil_rready    (1'b1),
        .s_axil_rdata     (data_o),
        .s_axil_rresp     (rresp),
        .idle_o           (unit_idle),
        .trace_request_valid_o(),
        .trace_request_data_o (),
        .trace_answer_valid_o (),
        .trace_answer_data_o  (),
        .trace_read_valid_o   (),
        .trace_read_data_o    (),
        .trace_done_valid_o   (),
        .trace_done_data_o    (),
        .trace_scan_valid_o   (),
        .trace_scan_data_o    (),
        .trace_word_valid_o   (),
        .trace_word_data_o    (),
        .trace_sent_o         ()
    );

`ifndef SYNTHESIS
    unit_always_takes_answers: assert property (@(posedge clk_i) disable iff (!rst_ni)
        (!host_valid_q || unit_host_rready) && (!nic_valid_q || unit_nic_rready)
            && (!b_valid_q || unit_nic_bready));
`endif

endmodule
