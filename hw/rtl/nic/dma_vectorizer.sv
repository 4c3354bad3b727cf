// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes few commands to the host link out of many small copies (docs/nic-lookup.md).
//
// Contract: each element that is accepted ends once on `m_axis_done`, with its token. Elements of one
// queue and direction are begun in the order in which they were accepted. Configuration is stable
// while elements are under way: windows are the numbers of their first and last pages of 4 kB, times
// are in clocks. `m_axi_host` reads for elements that read the host and writes for those that write
// it, `m_axi_nic` the other way round. The outputs at the end say what happened a clock ago: for counters.
module dma_vectorizer (
    input  logic         clk_i,
    input  logic         rst_ni,

    input  logic [15:0]  idle_time_i,
    input  logic [15:0]  flush_time_i,
    input  logic [51:0]  host_first_i,
    input  logic [51:0]  host_last_i,
    input  logic [51:0]  nic_first_i,
    input  logic [51:0]  nic_last_i,

    input  logic         s_axis_cmd0_tvalid,
    output logic         s_axis_cmd0_tready,
    input  logic [167:0] s_axis_cmd0_tdata,
    input  logic         s_axis_cmd1_tvalid,
    output logic         s_axis_cmd1_tready,
    input  logic [167:0] s_axis_cmd1_tdata,
    input  logic         s_axis_cmd2_tvalid,
    output logic         s_axis_cmd2_tready,
    input  logic [167:0] s_axis_cmd2_tdata,
    input  logic         s_axis_cmd3_tvalid,
    output logic         s_axis_cmd3_tready,
    input  logic [167:0] s_axis_cmd3_tdata,
    input  logic         s_axis_cmd4_tvalid,
    output logic         s_axis_cmd4_tready,
    input  logic [167:0] s_axis_cmd4_tdata,
    input  logic         s_axis_cmd5_tvalid,
    output logic         s_axis_cmd5_tready,
    input  logic [167:0] s_axis_cmd5_tdata,
    input  logic         s_axis_cmd6_tvalid,
    output logic         s_axis_cmd6_tready,
    input  logic [167:0] s_axis_cmd6_tdata,
    input  logic         s_axis_cmd7_tvalid,
    output logic         s_axis_cmd7_tready,
    input  logic [167:0] s_axis_cmd7_tdata,

    output logic         m_axis_done_tvalid,
    input  logic         m_axis_done_tready,
    output logic [23:0]  m_axis_done_tdata,

    output logic         m_axi_host_awvalid,
    input  logic         m_axi_host_awready,
    output logic [7:0]   m_axi_host_awid,
    output logic [63:0]  m_axi_host_awaddr,
    output logic [7:0]   m_axi_host_awlen,
    output logic [2:0]   m_axi_host_awsize,
    output logic [1:0]   m_axi_host_awburst,
    output logic [3:0]   m_axi_host_awcache,
    output logic [2:0]   m_axi_host_awprot,
    output logic         m_axi_host_wvalid,
    input  logic         m_axi_host_wready,
    output logic [511:0] m_axi_host_wdata,
    output logic [63:0]  m_axi_host_wstrb,
    output logic         m_axi_host_wlast,
    input  logic         m_axi_host_bvalid,
    output logic         m_axi_host_bready,
    input  logic [7:0]   m_axi_host_bid,
    input  logic [1:0]   m_axi_host_bresp,
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

    output logic [7:0]   accepted_o,
    output logic [31:0]  sent_o,
    output logic [15:0]  begun_o,
    output logic [8:0]   read_bytes_o,
    output logic [8:0]   write_bytes_o
);

    import vector_pkg::*;

    // ---- Queues. Way 0 is of reads (host to NIC), way 1 of writes.

    logic     [Queues-1:0]          cmd_valid, cmd_ready, accepted;
    logic     [Queues-1:0][167:0]   cmd_data;
    assign cmd_valid[0] = s_axis_cmd0_tvalid;
    assign cmd_data[0]  = s_axis_cmd0_tdata;
    assign s_axis_cmd0_tready = cmd_ready[0];
    assign cmd_valid[1] = s_axis_cmd1_tvalid;
    assign cmd_data[1]  = s_axis_cmd1_tdata;
    assign s_axis_cmd1_tready = cmd_ready[1];
    assign cmd_valid[2] = s_axis_cmd2_tvalid;
    assign cmd_data[2]  = s_axis_cmd2_tdata;
    assign s_axis_cmd2_tready = cmd_ready[2];
    assign cmd_valid[3] = s_axis_cmd3_tvalid;
    assign cmd_data[3]  = s_axis_cmd3_tdata;
    assign s_axis_cmd3_tready = cmd_ready[3];
    assign cmd_valid[4] = s_axis_cmd4_tvalid;
    assign cmd_data[4]  = s_axis_cmd4_tdata;
    assign s_axis_cmd4_tready = cmd_ready[4];
    assign cmd_valid[5] = s_axis_cmd5_tvalid;
    assign cmd_data[5]  = s_axis_cmd5_tdata;
    assign s_axis_cmd5_tready = cmd_ready[5];
    assign cmd_valid[6] = s_axis_cmd6_tvalid;
    assign cmd_data[6]  = s_axis_cmd6_tdata;
    assign s_axis_cmd6_tready = cmd_ready[6];
    assign cmd_valid[7] = s_axis_cmd7_tvalid;
    assign cmd_data[7]  = s_axis_cmd7_tdata;
    assign s_axis_cmd7_tready = cmd_ready[7];

    sent_t    [1:0][Queues-1:0] sent;
    logic     [1:0][Queues-1:0] waits, last, pop;
    element_t [1:0][Queues-1:0] head;
    for (genvar n = 0; n < Queues; n++) begin : g_queues
        logic unused;
        assign unused = ^cmd_data[n][167:161];
        vector_queue i_queue (
            .clk_i,
            .rst_ni,
            .idle_time_i,
            .flush_time_i,
            .s_axis_tvalid(cmd_valid[n]),
            .s_axis_tready(cmd_ready[n]),
            .s_axis_tdata (cmd_data[n][160:0]),
            .accepted_o   (accepted[n]),
            .sent_o       ({sent[1][n], sent[0][n]}),
            .waits_o      ({waits[1][n], waits[0][n]}),
            .last_o       ({last[1][n], last[0][n]}),
            .head_o       ({head[1][n], head[0][n]}),
            .pop_i        ({pop[1][n], pop[0][n]})
        );
    end

    always_ff @(posedge clk_i) begin
        accepted_o <= rst_ni ? accepted : '0;
        sent_o     <= rst_ni ? sent : '0;
        begun_o    <= rst_ni ? pop : '0;
    end

    // ---- The two directions, each with its part of both ports.

    logic  [1:0]        done_valid, done_ready, refused_valid, refused_ready;
    done_t [1:0]        done, refused;
    logic  [1:0][8:0]   bytes;
    logic  [1:0]        arvalid, arready, rvalid, rlast, awvalid, awready, wvalid, wready, wlast,
                        bvalid, bready;
    logic  [1:0][7:0]   arid, arlen, rid, awid, awlen, bid;
    logic  [1:0][63:0]  araddr, awaddr, wstrb;
    logic  [1:0][511:0] rdata, wdata;
    logic  [1:0][1:0]   rresp, bresp;
    for (genvar way = 0; way < 2; way++) begin : g_ways
        logic       room, taken_valid, copy_valid, copy_ready;
        logic [2:0] taken_queue;
        element_t   taken;
        copy_t      copy;
        vector_turns i_turns (
            .clk_i,
            .rst_ni,
            .waits_i  (waits[way]),
            .last_i   (last[way]),
            .head_i   (head[way]),
            .pop_o    (pop[way]),
            .ready_i  (room),
            .valid_o  (taken_valid),
            .queue_o  (taken_queue),
            .element_o(taken)
        );
        element_check #(
            .Writes(way == 1)
        ) i_check (
            .clk_i,
            .rst_ni,
            .host_first_i,
            .host_last_i,
            .nic_first_i,
            .nic_last_i,
            .ready_o        (room),
            .take_i         (|pop[way]),
            .valid_i        (taken_valid),
            .queue_i        (taken_queue),
            .element_i      (taken),
            .copy_valid_o   (copy_valid),
            .copy_o         (copy),
            .copy_ready_i   (copy_ready),
            .refused_valid_o(refused_valid[way]),
            .refused_o      (refused[way]),
            .refused_ready_i(refused_ready[way])
        );
        copy_path i_path (
            .clk_i,
            .rst_ni,
            .copy_valid_i (copy_valid),
            .copy_i       (copy),
            .copy_ready_o (copy_ready),
            .done_valid_o (done_valid[way]),
            .done_o       (done[way]),
            .done_ready_i (done_ready[way]),
            .bytes_o      (bytes[way]),
            .m_axi_arvalid(arvalid[way]),
            .m_axi_arready(arready[way]),
            .m_axi_arid   (arid[way]),
            .m_axi_araddr (araddr[way]),
            .m_axi_arlen  (arlen[way]),
            .m_axi_rvalid (rvalid[way]),
            .m_axi_rid    (rid[way]),
            .m_axi_rdata  (rdata[way]),
            .m_axi_rresp  (rresp[way]),
            .m_axi_rlast  (rlast[way]),
            .m_axi_awvalid(awvalid[way]),
            .m_axi_awready(awready[way]),
            .m_axi_awid   (awid[way]),
            .m_axi_awaddr (awaddr[way]),
            .m_axi_awlen  (awlen[way]),
            .m_axi_wvalid (wvalid[way]),
            .m_axi_wready (wready[way]),
            .m_axi_wdata  (wdata[way]),
            .m_axi_wstrb  (wstrb[way]),
            .m_axi_wlast  (wlast[way]),
            .m_axi_bvalid (bvalid[way]),
            .m_axi_bready (bready[way]),
            .m_axi_bid    (bid[way]),
            .m_axi_bresp  (bresp[way])
        );
    end
    always_ff @(posedge clk_i) {write_bytes_o, read_bytes_o} <= rst_ni ? bytes : '0;

    assign m_axi_host_arvalid = arvalid[0];
    assign m_axi_host_arid = arid[0];
    assign m_axi_host_araddr = araddr[0];
    assign m_axi_host_arlen = arlen[0];
    assign m_axi_host_awvalid = awvalid[1];
    assign m_axi_host_awid = awid[1];
    assign m_axi_host_awaddr = awaddr[1];
    assign m_axi_host_awlen = awlen[1];
    assign m_axi_host_wvalid = wvalid[1];
    assign m_axi_host_wdata = wdata[1];
    assign m_axi_host_wstrb = wstrb[1];
    assign m_axi_host_wlast = wlast[1];
    assign m_axi_host_bready = bready[1];
    assign arready[0] = m_axi_host_arready;
    assign rvalid[0] = m_axi_host_rvalid;
    assign rid[0] = m_axi_host_rid;
    assign rdata[0] = m_axi_host_rdata;
    assign rresp[0] = m_axi_host_rresp;
    assign rlast[0] = m_axi_host_rlast;
    assign awready[1] = m_axi_host_awready;
    assign wready[1] = m_axi_host_wready;
    assign bvalid[1] = m_axi_host_bvalid;
    assign bid[1] = m_axi_host_bid;
    assign bresp[1] = m_axi_host_bresp;
    // Lines of 64 bytes, one after the other; read data are always taken.
    assign {m_axi_host_arsize, m_axi_host_arburst} = {3'd6, 2'd1};
    assign {m_axi_host_awsize, m_axi_host_awburst} = {3'd6, 2'd1};
    assign {m_axi_host_arcache, m_axi_host_arprot} = {4'b0011, 3'd0};
    assign {m_axi_host_awcache, m_axi_host_awprot} = {4'b0011, 3'd0};
    assign m_axi_host_rready = 1'b1;

    assign m_axi_nic_arvalid = arvalid[1];
    assign m_axi_nic_arid = arid[1];
    assign m_axi_nic_araddr = araddr[1];
    assign m_axi_nic_arlen = arlen[1];
    assign m_axi_nic_awvalid = awvalid[0];
    assign m_axi_nic_awid = awid[0];
    assign m_axi_nic_awaddr = awaddr[0];
    assign m_axi_nic_awlen = awlen[0];
    assign m_axi_nic_wvalid = wvalid[0];
    assign m_axi_nic_wdata = wdata[0];
    assign m_axi_nic_wstrb = wstrb[0];
    assign m_axi_nic_wlast = wlast[0];
    assign m_axi_nic_bready = bready[0];
    assign arready[1] = m_axi_nic_arready;
    assign rvalid[1] = m_axi_nic_rvalid;
    assign rid[1] = m_axi_nic_rid;
    assign rdata[1] = m_axi_nic_rdata;
    assign rresp[1] = m_axi_nic_rresp;
    assign rlast[1] = m_axi_nic_rlast;
    assign awready[0] = m_axi_nic_awready;
    assign wready[0] = m_axi_nic_wready;
    assign bvalid[0] = m_axi_nic_bvalid;
    assign bid[0] = m_axi_nic_bid;
    assign bresp[0] = m_axi_nic_bresp;
    // Lines of 64 bytes, one after the other; read data are always taken.
    assign {m_axi_nic_arsize, m_axi_nic_arburst} = {3'd6, 2'd1};
    assign {m_axi_nic_awsize, m_axi_nic_awburst} = {3'd6, 2'd1};
    assign {m_axi_nic_arcache, m_axi_nic_arprot} = {4'b0011, 3'd0};
    assign {m_axi_nic_awcache, m_axi_nic_awprot} = {4'b0011, 3'd0};
    assign m_axi_nic_rready = 1'b1;

    // ---- Ends.

    done_t given;
    done_merge #(
        .Places(4)
    ) i_merge (
        .clk_i,
        .rst_ni,
        .valid_i      ({refused_valid, done_valid}),
        .done_i       ({refused, done}),
        .ready_o      ({refused_ready, done_ready}),
        .m_axis_tvalid(m_axis_done_tvalid),
        .m_axis_tready(m_axis_done_tready),
        .m_axis_tdata (given)
    );
    // Bits 15:0 the token, 18:16 the queue, 21:20 the response.
    assign m_axis_done_tdata = {2'd0, given.response, 1'd0, given.from_queue, given.token};

`ifndef SYNTHESIS
    // Elements that were accepted and have not ended.
    logic [31:0] under_way_q;
    logic        given_one;
    assign given_one = m_axis_done_tvalid && m_axis_done_tready;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) under_way_q <= '0;
        else under_way_q <= under_way_q + 32'($countones(accepted)) - 32'(given_one);
    end
    each_end_is_of_an_accepted_element: assert property (@(posedge clk_i) disable iff (!rst_ni)
        m_axis_done_tvalid |-> under_way_q != 0);
`endif

endmodule
