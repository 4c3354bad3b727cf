// SPDX-License-Identifier: MIT OR Apache-2.0
// The DMA vectorizer of docs/nic-lookup.md without its registers.
//
// Contract: each element that is accepted ends once on `m_axis_done`, with its token. Elements of one
// queue and direction are begun in the order in which they were accepted. Configuration is stable
// while elements are under way: windows are the numbers of their first and last pages of 4 kB, times
// are in clocks. Of each pair of AXI4 channels, number 0 serves reads, which go from host memory
// (AR and R) to NIC memory (AW, W and B), and number 1 writes, the other way round; with one way
// there are reads alone. Read data are always taken. The outputs at the end say what happened a clock ago.
module vector_engine
    import vector_pkg::*;
#(
    parameter int unsigned Ways = 2   // 1: reads alone
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,

    input  logic                         enable_i,          // elements are accepted
    input  logic  [15:0]                 idle_time_i,
    input  logic  [15:0]                 flush_time_i,
    input  logic  [63:12]                host_first_i,
    input  logic  [63:12]                host_last_i,
    input  logic  [63:12]                nic_first_i,
    input  logic  [63:12]                nic_last_i,

    input  logic  [Queues-1:0]           s_axis_cmd_tvalid,
    output logic  [Queues-1:0]           s_axis_cmd_tready,
    input  logic  [Queues-1:0][160:0]    s_axis_cmd_tdata,  // an element_t; bit 160: a write

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
    output sent_t [Ways-1:0][Queues-1:0] sent_o,            // vectors of reads, of writes
    output logic  [Ways-1:0][Queues-1:0] begun_o,           // elements that left their vector
    output logic  [Ways-1:0][8:0]        bytes_o,           // of elements, asked for
    output logic  [Ways-1:0]             refused_o          // elements that ended without being carried out
);

    // ---- Queues. Way 0 is of reads (host to NIC), way 1 of writes.

    logic     [Queues-1:0]           accepted;
    sent_t    [Ways-1:0][Queues-1:0] sent;
    logic     [Ways-1:0][Queues-1:0] waits, last, pop;
    element_t [Ways-1:0][Queues-1:0] head;
    for (genvar n = 0; n < Queues; n++) begin : g_queues
        sent_t    [Ways-1:0] own_sent;
        logic     [Ways-1:0] own_waits, own_last, own_pop;
        element_t [Ways-1:0] own_head;
        vector_queue #(
            .Ways(Ways)
        ) i_queue (
            .clk_i,
            .rst_ni,
            .idle_time_i,
            .flush_time_i,
            .enable_i,
            .s_axis_tvalid(s_axis_cmd_tvalid[n]),
            .s_axis_tready(s_axis_cmd_tready[n]),
            .s_axis_tdata (s_axis_cmd_tdata[n]),
            .accepted_o   (accepted[n]),
            .sent_o       (own_sent),
            .waits_o      (own_waits),
            .last_o       (own_last),
            .head_o       (own_head),
            .pop_i        (own_pop)
        );
        for (genvar way = 0; way < Ways; way++) begin : g_ways
            assign sent[way][n]  = own_sent[way];
            assign waits[way][n] = own_waits[way];
            assign last[way][n]  = own_last[way];
            assign head[way][n]  = own_head[way];
            assign own_pop[way]  = pop[way][n];
        end
    end

    always_ff @(posedge clk_i) begin
        accepted_o <= rst_ni ? accepted : '0;
        sent_o     <= rst_ni ? sent : '0;
        begun_o    <= rst_ni ? pop : '0;
    end

    // ---- The two directions, each with its part of both ports.

    logic  [Ways-1:0]      done_valid, done_ready, refused_valid, refused_ready;
    done_t [Ways-1:0]      done, refused;
    logic  [Ways-1:0][8:0] bytes;
    for (genvar way = 0; way < Ways; way++) begin : g_ways
        logic       room, take, taken_valid, copy_valid, copy_ready;
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
            .take_o   (take),
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
            .take_i         (take),
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
            .m_axi_arvalid(m_axi_arvalid[way]),
            .m_axi_arready(m_axi_arready[way]),
            .m_axi_arid   (m_axi_arid[way]),
            .m_axi_araddr (m_axi_araddr[way]),
            .m_axi_arlen  (m_axi_arlen[way]),
            .m_axi_rvalid (m_axi_rvalid[way]),
            .m_axi_rid    (m_axi_rid[way]),
            .m_axi_rdata  (m_axi_rdata[way]),
            .m_axi_rresp  (m_axi_rresp[way]),
            .m_axi_rlast  (m_axi_rlast[way]),
            .m_axi_awvalid(m_axi_awvalid[way]),
            .m_axi_awready(m_axi_awready[way]),
            .m_axi_awid   (m_axi_awid[way]),
            .m_axi_awaddr (m_axi_awaddr[way]),
            .m_axi_awlen  (m_axi_awlen[way]),
            .m_axi_wvalid (m_axi_wvalid[way]),
            .m_axi_wready (m_axi_wready[way]),
            .m_axi_wdata  (m_axi_wdata[way]),
            .m_axi_wstrb  (m_axi_wstrb[way]),
            .m_axi_wlast  (m_axi_wlast[way]),
            .m_axi_bvalid (m_axi_bvalid[way]),
            .m_axi_bready (m_axi_bready[way]),
            .m_axi_bid    (m_axi_bid[way]),
            .m_axi_bresp  (m_axi_bresp[way])
        );
    end
    always_ff @(posedge clk_i) begin
        bytes_o   <= rst_ni ? bytes : '0;
        refused_o <= rst_ni ? refused_valid & refused_ready : '0;
    end

    // ---- Ends.

    done_merge #(
        .Places(2 * Ways)
    ) i_merge (
        .clk_i,
        .rst_ni,
        .valid_i      ({refused_valid, done_valid}),
        .done_i       ({refused, done}),
        .ready_o      ({refused_ready, done_ready}),
        .m_axis_tvalid(m_axis_done_tvalid),
        .m_axis_tready(m_axis_done_tready),
        .m_axis_tdata (m_axis_done_tdata)
    );

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
        !m_axis_done_tvalid || under_way_q != 0);
`endif

endmodule
