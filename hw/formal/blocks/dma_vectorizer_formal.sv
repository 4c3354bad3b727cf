// SPDX-License-Identifier: MIT OR Apache-2.0
// dma_vectorizer, around an engine and registers that may do what their jobs prove of them (any_*.sv): each port is that of its part
// of the engine, the ports of AXI4, AXI4-Lite and AXI4-Stream keep their rules, an access of the bus is one of the registers, and
// what registers and engine ask of each other is kept.
`include "../rules/rule.svh"
`include "same_rules.svh"
module dma_vectorizer_formal
    import vector_pkg::*;
(
    input logic         clk_i,
    input logic         rst_ni,
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
    input logic         s_axil_rready,
    input logic         s_axis_cmd0_tvalid,
    input logic [167:0] s_axis_cmd0_tdata,
    input logic         s_axis_cmd1_tvalid,
    input logic [167:0] s_axis_cmd1_tdata,
    input logic         s_axis_cmd2_tvalid,
    input logic [167:0] s_axis_cmd2_tdata,
    input logic         s_axis_cmd3_tvalid,
    input logic [167:0] s_axis_cmd3_tdata,
    input logic         s_axis_cmd4_tvalid,
    input logic [167:0] s_axis_cmd4_tdata,
    input logic         s_axis_cmd5_tvalid,
    input logic [167:0] s_axis_cmd5_tdata,
    input logic         s_axis_cmd6_tvalid,
    input logic [167:0] s_axis_cmd6_tdata,
    input logic         s_axis_cmd7_tvalid,
    input logic [167:0] s_axis_cmd7_tdata,
    input logic         m_axis_done_tready,
    input logic         m_axi_host_awready,
    input logic         m_axi_host_wready,
    input logic         m_axi_host_bvalid,
    input logic [7:0]   m_axi_host_bid,
    input logic [1:0]   m_axi_host_bresp,
    input logic         m_axi_host_arready,
    input logic         m_axi_host_rvalid,
    input logic [7:0]   m_axi_host_rid,
    input logic [511:0] m_axi_host_rdata,
    input logic [1:0]   m_axi_host_rresp,
    input logic         m_axi_host_rlast,
    input logic         m_axi_nic_awready,
    input logic         m_axi_nic_wready,
    input logic         m_axi_nic_bvalid,
    input logic [7:0]   m_axi_nic_bid,
    input logic [1:0]   m_axi_nic_bresp,
    input logic         m_axi_nic_arready,
    input logic         m_axi_nic_rvalid,
    input logic [7:0]   m_axi_nic_rid,
    input logic [511:0] m_axi_nic_rdata,
    input logic [1:0]   m_axi_nic_rresp,
    input logic         m_axi_nic_rlast
);
    logic         s_axil_awready, s_axil_wready, s_axil_bvalid, s_axil_arready, s_axil_rvalid, s_axis_cmd0_tready,
        s_axis_cmd1_tready, s_axis_cmd2_tready, s_axis_cmd3_tready, s_axis_cmd4_tready, s_axis_cmd5_tready, s_axis_cmd6_tready,
        s_axis_cmd7_tready, m_axis_done_tvalid, m_axi_host_awvalid, m_axi_host_wvalid, m_axi_host_wlast, m_axi_host_bready,
        m_axi_host_arvalid, m_axi_host_rready, m_axi_nic_awvalid, m_axi_nic_wvalid, m_axi_nic_wlast, m_axi_nic_bready,
        m_axi_nic_arvalid, m_axi_nic_rready;
    logic [1:0]   s_axil_bresp, s_axil_rresp, m_axi_host_awburst, m_axi_host_arburst, m_axi_nic_awburst, m_axi_nic_arburst;
    logic [31:0]  s_axil_rdata, sent_o;
    logic [23:0]  m_axis_done_tdata;
    logic [7:0]   m_axi_host_awid, m_axi_host_awlen, m_axi_host_arid, m_axi_host_arlen, m_axi_nic_awid, m_axi_nic_awlen,
        m_axi_nic_arid, m_axi_nic_arlen, accepted_o;
    logic [63:0]  m_axi_host_awaddr, m_axi_host_wstrb, m_axi_host_araddr, m_axi_nic_awaddr, m_axi_nic_wstrb, m_axi_nic_araddr;
    logic [2:0]   m_axi_host_awsize, m_axi_host_awprot, m_axi_host_arsize, m_axi_host_arprot, m_axi_nic_awsize,
        m_axi_nic_awprot, m_axi_nic_arsize, m_axi_nic_arprot;
    logic [3:0]   m_axi_host_awcache, m_axi_host_arcache, m_axi_nic_awcache, m_axi_nic_arcache;
    logic [511:0] m_axi_host_wdata, m_axi_nic_wdata;
    logic [15:0]  begun_o;

    power_up i_power_up (.*);
    dma_vectorizer i_block (.*);

    // ---- Registers: the rules of the bus, and each access as it came.

    axi4_lite_rules #(.AddressWidth(12)) i_registers (
        .clk_i, .rst_ni, .awvalid(s_axil_awvalid), .awready(s_axil_awready), .awaddr(s_axil_awaddr), .wvalid(s_axil_wvalid),
        .wready(s_axil_wready), .wdata(s_axil_wdata), .wstrb(s_axil_wstrb), .bvalid(s_axil_bvalid), .bready(s_axil_bready),
        .bresp(s_axil_bresp), .arvalid(s_axil_arvalid), .arready(s_axil_arready), .araddr(s_axil_araddr),
        .rvalid(s_axil_rvalid), .rready(s_axil_rready), .rdata(s_axil_rdata), .rresp(s_axil_rresp));
    // One access of a kind is served at a time, so it is the one that was taken last.
    logic [11:0] read_address_q, write_address_q, its_address;
    logic [31:0] data_q;
    logic [3:0]  strobe_q;
    logic        accesses, is_write, ends, fails;
    always_ff @(posedge clk_i) begin
        if (s_axil_arvalid && s_axil_arready) read_address_q <= s_axil_araddr;
        if (s_axil_awvalid && s_axil_awready) write_address_q <= s_axil_awaddr;
        if (s_axil_wvalid && s_axil_wready) {data_q, strobe_q} <= {s_axil_wdata, s_axil_wstrb};
    end
    assign accesses    = i_block.i_block.valid_i;
    assign is_write    = i_block.i_block.write_i;
    assign ends        = accesses && i_block.i_block.done_o;
    assign fails       = i_block.i_block.error_o;
    assign its_address = is_write ? write_address_q : read_address_q;
    `RULE(access_is_of_its_word, 1, !accesses || i_block.i_block.address_i == {its_address[11:2], 2'b00})
    `RULE(write_has_its_data, 1, !accesses || !is_write || {i_block.i_block.data_i, i_block.i_block.strobe_i} == {data_q, strobe_q})
    `RULE(access_is_one_of_the_bus, 1, !accesses || (is_write
        ? i_registers.addresses_q != 0 && i_registers.data_q != 0 : i_registers.reads_q != 0))
    `RULE(read_ends_with_its_word, 1, !ends || is_write || s_axil_rvalid
        && {s_axil_rresp, s_axil_rdata} == (fails ? {2'd3, 32'd0} : {2'd0, i_block.i_block.data_o}))
    `RULE(write_ends_with_its_response, 1, !ends || !is_write || s_axil_bvalid && s_axil_bresp == (fails ? 2'd2 : 2'd0))
    `RULE(read_ends_when_it_has_been_carried_out, 1, s_axil_rvalid
        == (ends && !is_write || $past(rst_ni && s_axil_rvalid && !s_axil_rready)))
    `RULE(write_ends_when_it_has_been_carried_out, 1, s_axil_bvalid
        == (ends && is_write || $past(rst_ni && s_axil_bvalid && !s_axil_bready)))

    // What induction needs of axi_lite_blocks: what it holds, and what it keeps until it is taken.
    `RULE(accesses_are_held_until_they_are_served, 1,
        i_registers.reads_q == 2'(i_block.i_axi_lite.read_held_q) + 2'(i_block.i_axi_lite.read_kept_q)
        && i_registers.addresses_q == 2'(i_block.i_axi_lite.address_held_q) + 2'(i_block.i_axi_lite.write_kept_q)
        && i_registers.data_q == 2'(i_block.i_axi_lite.data_held_q) + 2'(i_block.i_axi_lite.write_kept_q))
    `RULE(accesses_are_held_as_they_came, 1,
        (!i_block.i_axi_lite.read_held_q || i_block.i_axi_lite.read_address_q == {4'd0, read_address_q[11:2]})
        && (!i_block.i_axi_lite.address_held_q || i_block.i_axi_lite.write_address_q == {4'd0, write_address_q[11:2]})
        && (!i_block.i_axi_lite.data_held_q
            || {i_block.i_axi_lite.data_q, i_block.i_axi_lite.strobe_q} == {data_q, strobe_q}))
    `RULE(answers_are_kept_until_they_are_taken, 1, {i_block.i_axi_lite.read_kept_q, i_block.i_axi_lite.write_kept_q}
        == $past({2{rst_ni}} & {s_axil_rvalid && !s_axil_rready, s_axil_bvalid && !s_axil_bready}))

    // ---- The engine has the settings, and the registers count what it tells.

    `RULE(settings_are_those_of_the_registers, 1, {
        i_block.i_engine.enable_i, i_block.i_engine.idle_time_i, i_block.i_engine.flush_time_i, i_block.i_engine.host_first_i,
        i_block.i_engine.host_last_i, i_block.i_engine.nic_first_i, i_block.i_engine.nic_last_i
    } == {
        i_block.i_block.enable_o, i_block.i_block.idle_time_o, i_block.i_block.flush_time_o, i_block.i_block.host_first_o,
        i_block.i_block.host_last_o, i_block.i_block.nic_first_o, i_block.i_block.nic_last_o
    })
    `RULE(events_come_to_the_registers, 1, {
        i_block.i_block.accepted_i, i_block.i_block.sent_i, i_block.i_block.bytes_i, i_block.i_block.refused_i
    } == {i_block.i_engine.accepted_o, i_block.i_engine.sent_o, i_block.i_engine.bytes_o, i_block.i_engine.refused_o})
    `RULE(ends_come_to_the_registers, 1, i_block.i_block.ended_i == (m_axis_done_tvalid && m_axis_done_tready)
        && (!m_axis_done_tvalid || i_block.i_block.failed_i == (i_block.i_engine.m_axis_done_tdata.response != 0)))
    `RULE(events_are_told, 1, {accepted_o, sent_o, begun_o}
        == {i_block.i_engine.accepted_o, i_block.i_engine.sent_o, i_block.i_engine.begun_o})
    // The registers count an element a clock later than the engine does.
    `RULE(both_count_the_same_elements, 1, i_block.i_block.under_way_q + 32'($countones(accepted_o))
        == 32'(i_block.i_engine.count_q))
    reset_comes_to_both: assert property (@(posedge clk_i) i_block.i_engine.rst_ni == rst_ni && i_block.i_block.rst_ni == rst_ni);

    // ---- Streams.

    logic [7:0]        cmd_tvalid, cmd_tready;
    logic [7:0][167:0] cmd_tdata;
    assign cmd_tvalid = {
        s_axis_cmd7_tvalid, s_axis_cmd6_tvalid, s_axis_cmd5_tvalid, s_axis_cmd4_tvalid, s_axis_cmd3_tvalid,
        s_axis_cmd2_tvalid, s_axis_cmd1_tvalid, s_axis_cmd0_tvalid
    };
    assign cmd_tready = {
        s_axis_cmd7_tready, s_axis_cmd6_tready, s_axis_cmd5_tready, s_axis_cmd4_tready, s_axis_cmd3_tready,
        s_axis_cmd2_tready, s_axis_cmd1_tready, s_axis_cmd0_tready
    };
    assign cmd_tdata  = {
        s_axis_cmd7_tdata, s_axis_cmd6_tdata, s_axis_cmd5_tdata, s_axis_cmd4_tdata, s_axis_cmd3_tdata,
        s_axis_cmd2_tdata, s_axis_cmd1_tdata, s_axis_cmd0_tdata
    };
    for (genvar n = 0; n < 8; n++) begin : g_queues
        axi4_stream_rules #(.Width(168), .Proven(0)) i_cmd (
            .clk_i, .rst_ni, .tvalid(cmd_tvalid[n]), .tready(cmd_tready[n]), .payload(cmd_tdata[n]));
        `RULE(stream_is_that_of_its_queue, 1, {cmd_tvalid[n], cmd_tready[n], cmd_tdata[n][160:0]} == {
            i_block.i_engine.s_axis_cmd_tvalid[n], i_block.i_engine.s_axis_cmd_tready[n],
            i_block.i_engine.s_axis_cmd_tdata[n]})
    end
    `RULE(nothing_is_accepted_while_the_queues_are_off, 1, i_block.i_block.enable_o || cmd_tready == 0)
    axi4_stream_rules #(.Width(24)) i_done (
        .clk_i, .rst_ni, .tvalid(m_axis_done_tvalid), .tready(m_axis_done_tready), .payload(m_axis_done_tdata));
    `RULE(end_is_that_of_the_engine, 1, m_axis_done_tvalid == i_block.i_engine.m_axis_done_tvalid
        && m_axis_done_tready == i_block.i_engine.m_axis_done_tready)
    done_t done;
    assign done = i_block.i_engine.m_axis_done_tdata;
    `RULE(end_has_its_layout, 1, m_axis_done_tdata[15:0] == done.token && m_axis_done_tdata[18:16] == done.from_queue
        && m_axis_done_tdata[21:20] == done.response && {m_axis_done_tdata[23:22], m_axis_done_tdata[19]} == 0)

    // ---- The ports of AXI4: reads of way 0 and writes of way 1 are the host's, the others those of the NIC.

    axi4_rules #(.Most(256)) i_host (
        .clk_i, .rst_ni,
        .awvalid(m_axi_host_awvalid), .awready(m_axi_host_awready), .awid(m_axi_host_awid), .awaddr(m_axi_host_awaddr),
        .awlen(m_axi_host_awlen), .awsize(m_axi_host_awsize), .awburst(m_axi_host_awburst), .awlock('0), .awatop('0),
        .wvalid(m_axi_host_wvalid), .wready(m_axi_host_wready), .wdata(m_axi_host_wdata), .wstrb(m_axi_host_wstrb),
        .wlast(m_axi_host_wlast), .bvalid(m_axi_host_bvalid), .bready(m_axi_host_bready), .bid(m_axi_host_bid),
        .bresp(m_axi_host_bresp), .arvalid(m_axi_host_arvalid), .arready(m_axi_host_arready), .arid(m_axi_host_arid),
        .araddr(m_axi_host_araddr), .arlen(m_axi_host_arlen), .arsize(m_axi_host_arsize), .arburst(m_axi_host_arburst),
        .arlock('0), .rvalid(m_axi_host_rvalid), .rready(m_axi_host_rready), .rid(m_axi_host_rid), .rdata(m_axi_host_rdata),
        .rresp(m_axi_host_rresp), .rlast(m_axi_host_rlast));
    if (1) begin : g_host
        `SAME_RULES(i_host, i_block.i_engine.g_ports[0].i_rules)
        `RULE(reads_are_those_of_their_way, 1, {
            m_axi_host_arvalid, m_axi_host_arready, m_axi_host_arid, m_axi_host_araddr, m_axi_host_arlen, m_axi_host_rvalid, m_axi_host_rid,
            m_axi_host_rdata, m_axi_host_rresp, m_axi_host_rlast
        } == {
            i_block.i_engine.m_axi_arvalid[0], i_block.i_engine.m_axi_arready[0], i_block.i_engine.m_axi_arid[0],
            i_block.i_engine.m_axi_araddr[0], i_block.i_engine.m_axi_arlen[0], i_block.i_engine.m_axi_rvalid[0],
            i_block.i_engine.m_axi_rid[0], i_block.i_engine.m_axi_rdata[0], i_block.i_engine.m_axi_rresp[0], i_block.i_engine.m_axi_rlast[0]
        })
        `RULE(writes_are_those_of_their_way, 1, {
            m_axi_host_awvalid, m_axi_host_awready, m_axi_host_awid, m_axi_host_awaddr, m_axi_host_awlen, m_axi_host_wvalid, m_axi_host_wready,
            m_axi_host_wdata, m_axi_host_wstrb, m_axi_host_wlast, m_axi_host_bvalid, m_axi_host_bready, m_axi_host_bid, m_axi_host_bresp
        } == {
            i_block.i_engine.m_axi_awvalid[1], i_block.i_engine.m_axi_awready[1], i_block.i_engine.m_axi_awid[1],
            i_block.i_engine.m_axi_awaddr[1], i_block.i_engine.m_axi_awlen[1], i_block.i_engine.m_axi_wvalid[1],
            i_block.i_engine.m_axi_wready[1], i_block.i_engine.m_axi_wdata[1], i_block.i_engine.m_axi_wstrb[1],
            i_block.i_engine.m_axi_wlast[1], i_block.i_engine.m_axi_bvalid[1], i_block.i_engine.m_axi_bready[1],
            i_block.i_engine.m_axi_bid[1], i_block.i_engine.m_axi_bresp[1]
        })
        `RULE(bursts_are_of_whole_lines, 1, {
            m_axi_host_arsize, m_axi_host_arburst, m_axi_host_arcache, m_axi_host_arprot, m_axi_host_awsize, m_axi_host_awburst, m_axi_host_awcache,
            m_axi_host_awprot
        } == {2{3'd6, 2'd1, 4'b0011, 3'd0}})
        `RULE(read_data_are_always_taken, 1, m_axi_host_rready)
    end

    axi4_rules #(.Most(256)) i_nic (
        .clk_i, .rst_ni,
        .awvalid(m_axi_nic_awvalid), .awready(m_axi_nic_awready), .awid(m_axi_nic_awid), .awaddr(m_axi_nic_awaddr),
        .awlen(m_axi_nic_awlen), .awsize(m_axi_nic_awsize), .awburst(m_axi_nic_awburst), .awlock('0), .awatop('0),
        .wvalid(m_axi_nic_wvalid), .wready(m_axi_nic_wready), .wdata(m_axi_nic_wdata), .wstrb(m_axi_nic_wstrb),
        .wlast(m_axi_nic_wlast), .bvalid(m_axi_nic_bvalid), .bready(m_axi_nic_bready), .bid(m_axi_nic_bid),
        .bresp(m_axi_nic_bresp), .arvalid(m_axi_nic_arvalid), .arready(m_axi_nic_arready), .arid(m_axi_nic_arid),
        .araddr(m_axi_nic_araddr), .arlen(m_axi_nic_arlen), .arsize(m_axi_nic_arsize), .arburst(m_axi_nic_arburst),
        .arlock('0), .rvalid(m_axi_nic_rvalid), .rready(m_axi_nic_rready), .rid(m_axi_nic_rid), .rdata(m_axi_nic_rdata),
        .rresp(m_axi_nic_rresp), .rlast(m_axi_nic_rlast));
    if (1) begin : g_nic
        `SAME_RULES(i_nic, i_block.i_engine.g_ports[1].i_rules)
        `RULE(reads_are_those_of_their_way, 1, {
            m_axi_nic_arvalid, m_axi_nic_arready, m_axi_nic_arid, m_axi_nic_araddr, m_axi_nic_arlen, m_axi_nic_rvalid, m_axi_nic_rid,
            m_axi_nic_rdata, m_axi_nic_rresp, m_axi_nic_rlast
        } == {
            i_block.i_engine.m_axi_arvalid[1], i_block.i_engine.m_axi_arready[1], i_block.i_engine.m_axi_arid[1],
            i_block.i_engine.m_axi_araddr[1], i_block.i_engine.m_axi_arlen[1], i_block.i_engine.m_axi_rvalid[1],
            i_block.i_engine.m_axi_rid[1], i_block.i_engine.m_axi_rdata[1], i_block.i_engine.m_axi_rresp[1], i_block.i_engine.m_axi_rlast[1]
        })
        `RULE(writes_are_those_of_their_way, 1, {
            m_axi_nic_awvalid, m_axi_nic_awready, m_axi_nic_awid, m_axi_nic_awaddr, m_axi_nic_awlen, m_axi_nic_wvalid, m_axi_nic_wready,
            m_axi_nic_wdata, m_axi_nic_wstrb, m_axi_nic_wlast, m_axi_nic_bvalid, m_axi_nic_bready, m_axi_nic_bid, m_axi_nic_bresp
        } == {
            i_block.i_engine.m_axi_awvalid[0], i_block.i_engine.m_axi_awready[0], i_block.i_engine.m_axi_awid[0],
            i_block.i_engine.m_axi_awaddr[0], i_block.i_engine.m_axi_awlen[0], i_block.i_engine.m_axi_wvalid[0],
            i_block.i_engine.m_axi_wready[0], i_block.i_engine.m_axi_wdata[0], i_block.i_engine.m_axi_wstrb[0],
            i_block.i_engine.m_axi_wlast[0], i_block.i_engine.m_axi_bvalid[0], i_block.i_engine.m_axi_bready[0],
            i_block.i_engine.m_axi_bid[0], i_block.i_engine.m_axi_bresp[0]
        })
        `RULE(bursts_are_of_whole_lines, 1, {
            m_axi_nic_arsize, m_axi_nic_arburst, m_axi_nic_arcache, m_axi_nic_arprot, m_axi_nic_awsize, m_axi_nic_awburst, m_axi_nic_awcache,
            m_axi_nic_awprot
        } == {2{3'd6, 2'd1, 4'b0011, 3'd0}})
        `RULE(read_data_are_always_taken, 1, m_axi_nic_rready)
    end

    // What counts of the outputs.
    logic [1661:0] seen;
    assign seen = {
        s_axil_awready, s_axil_wready, s_axil_arready, s_axil_bvalid, s_axil_bvalid ? {s_axil_bresp} : 2'd0, s_axil_rvalid,
        s_axil_rvalid ? {s_axil_rdata, s_axil_rresp} : 34'd0, s_axis_cmd0_tready, s_axis_cmd1_tready, s_axis_cmd2_tready,
        s_axis_cmd3_tready, s_axis_cmd4_tready, s_axis_cmd5_tready, s_axis_cmd6_tready, s_axis_cmd7_tready,
        m_axis_done_tvalid, m_axis_done_tvalid ? {m_axis_done_tdata} : 24'd0, m_axi_host_awvalid,
        m_axi_host_awvalid ? {m_axi_host_awid, m_axi_host_awaddr, m_axi_host_awlen, m_axi_host_awsize,
            m_axi_host_awburst, m_axi_host_awcache, m_axi_host_awprot} : 92'd0, m_axi_host_wvalid,
        m_axi_host_wvalid ? {m_axi_host_wdata, m_axi_host_wstrb, m_axi_host_wlast} : 577'd0, m_axi_host_arvalid,
        m_axi_host_arvalid ? {m_axi_host_arid, m_axi_host_araddr, m_axi_host_arlen, m_axi_host_arsize,
            m_axi_host_arburst, m_axi_host_arcache, m_axi_host_arprot} : 92'd0, m_axi_host_bready, m_axi_host_rready,
        m_axi_nic_awvalid,
        m_axi_nic_awvalid ? {m_axi_nic_awid, m_axi_nic_awaddr, m_axi_nic_awlen, m_axi_nic_awsize, m_axi_nic_awburst,
            m_axi_nic_awcache, m_axi_nic_awprot} : 92'd0, m_axi_nic_wvalid,
        m_axi_nic_wvalid ? {m_axi_nic_wdata, m_axi_nic_wstrb, m_axi_nic_wlast} : 577'd0, m_axi_nic_arvalid,
        m_axi_nic_arvalid ? {m_axi_nic_arid, m_axi_nic_araddr, m_axi_nic_arlen, m_axi_nic_arsize, m_axi_nic_arburst,
            m_axi_nic_arcache, m_axi_nic_arprot} : 92'd0, m_axi_nic_bready, m_axi_nic_rready, accepted_o, sent_o, begun_o
    };

    `REACHED(element_fails, m_axis_done_tvalid && m_axis_done_tready && m_axis_done_tdata[21:20] == 2'd3)
    `REACHED(settings_change_after_an_element, i_block.i_engine.count_q == 0 && $past(m_axis_done_tvalid, 2)
        && !$stable(i_block.i_engine.host_first_i))
    `REACHED(access_fails_while_elements_are_under_way, ends && fails && i_block.i_engine.count_q == 12'd3)
endmodule
