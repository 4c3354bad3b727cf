// SPDX-License-Identifier: MIT OR Apache-2.0
// lockstep_device: the rules of its ports, and that each port is that of the block which docs/device.md names; registers,
// queues, memory and interrupts by their numbers; idle when nothing was valid for long and no answer is missing. Queues,
// the lock unit, the look-up unit and the shell's registers do anything here: their own jobs say what they do.
`include "../rules/rule.svh"
module lockstep_device_formal #(
    // Each is another number than those of the blocks by themselves.
    parameter int unsigned CardLog2Bytes     = 30,
    parameter int unsigned LookupLogSets     = 9,
    parameter int unsigned LookupLogContexts = 5
) (
    input logic          clk_i,
    input logic          rst_ni,
    input logic          s_axil_awvalid,
    input logic [15:0]   s_axil_awaddr,
    input logic [2:0]    s_axil_awprot,
    input logic          s_axil_wvalid,
    input logic [31:0]   s_axil_wdata,
    input logic [3:0]    s_axil_wstrb,
    input logic          s_axil_bready,
    input logic          s_axil_arvalid,
    input logic [15:0]   s_axil_araddr,
    input logic [2:0]    s_axil_arprot,
    input logic          s_axil_rready,
    input logic          m_axi_queue_awready,
    input logic          m_axi_queue_wready,
    input logic          m_axi_queue_bvalid,
    input logic [10:0]   m_axi_queue_bid,
    input logic [1:0]    m_axi_queue_bresp,
    input logic          m_axi_queue_arready,
    input logic          m_axi_queue_rvalid,
    input logic [10:0]   m_axi_queue_rid,
    input logic [511:0]  m_axi_queue_rdata,
    input logic [1:0]    m_axi_queue_rresp,
    input logic          m_axi_queue_rlast,
    input logic          m_axi_lock_awready,
    input logic          m_axi_lock_wready,
    input logic          m_axi_lock_bvalid,
    input logic [10:0]   m_axi_lock_bid,
    input logic [1:0]    m_axi_lock_bresp,
    input logic          m_axi_lock_arready,
    input logic          m_axi_lock_rvalid,
    input logic [10:0]   m_axi_lock_rid,
    input logic [511:0]  m_axi_lock_rdata,
    input logic [1:0]    m_axi_lock_rresp,
    input logic          m_axi_lock_rlast,
    input logic          s_axis_inv_tvalid,
    input logic [63:0]   s_axis_inv_tdata,
    input logic          m_axis_move_tready,
    input logic          s_axis_moved_tvalid,
    input logic [63:0]   s_axis_moved_tdata,
    input logic          m_axis_job_tready,
    input logic          s_axis_jobdone_tvalid,
    input logic [127:0]  s_axis_jobdone_tdata,
    input logic          m_axi_nichost_arready,
    input logic          m_axi_nichost_rvalid,
    input logic [7:0]    m_axi_nichost_rid,
    input logic [511:0]  m_axi_nichost_rdata,
    input logic [1:0]    m_axi_nichost_rresp,
    input logic          m_axi_nichost_rlast,
    input logic          m_axi_nic_awready,
    input logic          m_axi_nic_wready,
    input logic          m_axi_nic_bvalid,
    input logic [7:0]    m_axi_nic_bid,
    input logic [1:0]    m_axi_nic_bresp,
    input logic          m_axi_nic_arready,
    input logic          m_axi_nic_rvalid,
    input logic [7:0]    m_axi_nic_rid,
    input logic [511:0]  m_axi_nic_rdata,
    input logic [1:0]    m_axi_nic_rresp,
    input logic          m_axi_nic_rlast,
    input logic          s_axis_netreq_tvalid,
    input logic [255:0]  s_axis_netreq_tdata,
    input logic          m_axis_netrsp_tready,
    input logic          m_axis_irq_tready
);
    logic          idle_o, s_axil_awready, s_axil_wready, s_axil_bvalid, s_axil_arready, s_axil_rvalid,
                   m_axi_queue_awvalid, m_axi_queue_awlock, m_axi_queue_wvalid, m_axi_queue_wlast, m_axi_queue_bready,
                   m_axi_queue_arvalid, m_axi_queue_arlock, m_axi_queue_rready, m_axi_lock_awvalid, m_axi_lock_awlock,
                   m_axi_lock_wvalid, m_axi_lock_wlast, m_axi_lock_bready, m_axi_lock_arvalid, m_axi_lock_arlock,
                   m_axi_lock_rready, s_axis_inv_tready, m_axis_move_tvalid, s_axis_moved_tready, m_axis_job_tvalid,
                   s_axis_jobdone_tready, m_axi_nichost_arvalid, m_axi_nichost_rready, m_axi_nic_awvalid,
                   m_axi_nic_wvalid, m_axi_nic_wlast, m_axi_nic_bready, m_axi_nic_arvalid, m_axi_nic_rready,
                   s_axis_netreq_tready, m_axis_netrsp_tvalid, m_axis_irq_tvalid;
    logic [1:0]    s_axil_bresp, s_axil_rresp, m_axi_queue_awburst, m_axi_queue_arburst, m_axi_lock_awburst,
                   m_axi_lock_arburst, m_axi_nichost_arburst, m_axi_nic_awburst, m_axi_nic_arburst;
    logic [31:0]   s_axil_rdata;
    logic [10:0]   m_axi_queue_awid, m_axi_queue_arid, m_axi_lock_awid, m_axi_lock_arid;
    logic [63:0]   m_axi_queue_awaddr, m_axi_queue_wstrb, m_axi_queue_araddr, m_axi_lock_awaddr, m_axi_lock_wstrb,
                   m_axi_lock_araddr, m_axi_nichost_araddr, m_axi_nic_awaddr, m_axi_nic_wstrb, m_axi_nic_araddr;
    logic [7:0]    m_axi_queue_awlen, m_axi_queue_arlen, m_axi_lock_awlen, m_axi_lock_arlen, m_axi_nichost_arid,
                   m_axi_nichost_arlen, m_axi_nic_awid, m_axi_nic_awlen, m_axi_nic_arid, m_axi_nic_arlen,
                   m_axis_irq_tdata;
    logic [2:0]    m_axi_queue_awsize, m_axi_queue_awprot, m_axi_queue_arsize, m_axi_queue_arprot, m_axi_lock_awsize,
                   m_axi_lock_awprot, m_axi_lock_arsize, m_axi_lock_arprot, m_axi_nichost_arsize,
                   m_axi_nichost_arprot, m_axi_nic_awsize, m_axi_nic_awprot, m_axi_nic_arsize, m_axi_nic_arprot;
    logic [3:0]    m_axi_queue_awcache, m_axi_queue_awqos, m_axi_queue_arcache, m_axi_queue_arqos, m_axi_lock_awcache,
                   m_axi_lock_awqos, m_axi_lock_arcache, m_axi_lock_arqos, m_axi_nichost_arcache, m_axi_nic_awcache,
                   m_axi_nic_arcache;
    logic [5:0]    m_axi_queue_awatop, m_axi_lock_awatop;
    logic [511:0]  m_axi_queue_wdata, m_axi_lock_wdata, m_axis_job_tdata, m_axi_nic_wdata;
    logic [191:0]  m_axis_move_tdata, m_axis_netrsp_tdata;

    power_up i_power_up (.*);
    lockstep_device #(
        .CardLog2Bytes(CardLog2Bytes), .LookupLogSets(LookupLogSets), .LookupLogContexts(LookupLogContexts)
    ) i_block (.*);
    `RULE(blocks_are_as_large_as_the_device, 1, {
        i_block.i_shell.CardLog2Bytes, i_block.i_lookup_unit.LogSets, i_block.i_lookup_unit.LogContexts
    } == {CardLog2Bytes, LookupLogSets, LookupLogContexts})

    // What counts of the outputs.
    logic [3389:0] seen;
    assign seen = {
        idle_o, s_axil_awready, s_axil_wready, s_axil_arready, m_axi_queue_bready, m_axi_queue_rready,
        m_axi_lock_bready, m_axi_lock_rready, s_axis_inv_tready, s_axis_moved_tready, s_axis_jobdone_tready,
        m_axi_nichost_rready, m_axi_nic_bready, m_axi_nic_rready, s_axis_netreq_tready, s_axil_bvalid,
        s_axil_rvalid, m_axi_queue_awvalid, m_axi_queue_wvalid, m_axi_queue_arvalid, m_axi_lock_awvalid,
        m_axi_lock_wvalid, m_axi_lock_arvalid, m_axis_move_tvalid, m_axis_job_tvalid, m_axi_nichost_arvalid,
        m_axi_nic_awvalid, m_axi_nic_wvalid, m_axi_nic_arvalid, m_axis_netrsp_tvalid, m_axis_irq_tvalid,
        s_axil_bvalid ? s_axil_bresp : '0,
        s_axil_rvalid ? {s_axil_rdata, s_axil_rresp} : '0,
        m_axi_queue_awvalid ? {m_axi_queue_awid, m_axi_queue_awaddr, m_axi_queue_awlen, m_axi_queue_awsize,
            m_axi_queue_awburst, m_axi_queue_awlock, m_axi_queue_awcache, m_axi_queue_awprot, m_axi_queue_awqos,
            m_axi_queue_awatop} : '0,
        m_axi_queue_wvalid ? {m_axi_queue_wdata, m_axi_queue_wstrb, m_axi_queue_wlast} : '0,
        m_axi_queue_arvalid ? {m_axi_queue_arid, m_axi_queue_araddr, m_axi_queue_arlen, m_axi_queue_arsize,
            m_axi_queue_arburst, m_axi_queue_arlock, m_axi_queue_arcache, m_axi_queue_arprot, m_axi_queue_arqos} :
            '0,
        m_axi_lock_awvalid ? {m_axi_lock_awid, m_axi_lock_awaddr, m_axi_lock_awlen, m_axi_lock_awsize,
            m_axi_lock_awburst, m_axi_lock_awlock, m_axi_lock_awcache, m_axi_lock_awprot, m_axi_lock_awqos,
            m_axi_lock_awatop} : '0,
        m_axi_lock_wvalid ? {m_axi_lock_wdata, m_axi_lock_wstrb, m_axi_lock_wlast} : '0,
        m_axi_lock_arvalid ? {m_axi_lock_arid, m_axi_lock_araddr, m_axi_lock_arlen, m_axi_lock_arsize,
            m_axi_lock_arburst, m_axi_lock_arlock, m_axi_lock_arcache, m_axi_lock_arprot, m_axi_lock_arqos} : '0,
        m_axis_move_tvalid ? m_axis_move_tdata : '0,
        m_axis_job_tvalid ? m_axis_job_tdata : '0,
        m_axi_nichost_arvalid ? {m_axi_nichost_arid, m_axi_nichost_araddr, m_axi_nichost_arlen,
            m_axi_nichost_arsize, m_axi_nichost_arburst, m_axi_nichost_arcache, m_axi_nichost_arprot} : '0,
        m_axi_nic_awvalid ? {m_axi_nic_awid, m_axi_nic_awaddr, m_axi_nic_awlen, m_axi_nic_awsize, m_axi_nic_awburst,
            m_axi_nic_awcache, m_axi_nic_awprot} : '0,
        m_axi_nic_wvalid ? {m_axi_nic_wdata, m_axi_nic_wstrb, m_axi_nic_wlast} : '0,
        m_axi_nic_arvalid ? {m_axi_nic_arid, m_axi_nic_araddr, m_axi_nic_arlen, m_axi_nic_arsize, m_axi_nic_arburst,
            m_axi_nic_arcache, m_axi_nic_arprot} : '0,
        m_axis_netrsp_tvalid ? m_axis_netrsp_tdata : '0,
        m_axis_irq_tvalid ? m_axis_irq_tdata : '0
    };

    // As docs/device.md and docs/registers.md number them: copies, locks, jobs, look-ups.
    localparam int unsigned Blocks      = 7;
    localparam int unsigned Queues      = 4;
    localparam int unsigned BlockOf[4]  = '{2, 3, 4, 6};
    localparam int unsigned VectorOf[4] = '{1, 2, 4, 5};

    // ---- Rules.

    axi4_lite_rules i_registers (
        .clk_i, .rst_ni,
        .awvalid(s_axil_awvalid), .awready(s_axil_awready), .awaddr(s_axil_awaddr),
        .wvalid(s_axil_wvalid), .wready(s_axil_wready), .wdata(s_axil_wdata), .wstrb(s_axil_wstrb),
        .bvalid(s_axil_bvalid), .bready(s_axil_bready), .bresp(s_axil_bresp),
        .arvalid(s_axil_arvalid), .arready(s_axil_arready), .araddr(s_axil_araddr),
        .rvalid(s_axil_rvalid), .rready(s_axil_rready), .rdata(s_axil_rdata), .rresp(s_axil_rresp));
    // A queue has 8 reads and 16 stores under way at most, as its job proves.
    axi4_rules #(.Manager(1), .IdWidth(11), .Most(64), .Bursts(0)) i_rings (
        .clk_i, .rst_ni,
        .awvalid(m_axi_queue_awvalid), .awready(m_axi_queue_awready), .awid(m_axi_queue_awid),
        .awaddr(m_axi_queue_awaddr), .awlen(m_axi_queue_awlen), .awsize(m_axi_queue_awsize),
        .awburst(m_axi_queue_awburst), .awlock(m_axi_queue_awlock), .awatop(m_axi_queue_awatop),
        .wvalid(m_axi_queue_wvalid), .wready(m_axi_queue_wready), .wdata(m_axi_queue_wdata),
        .wstrb(m_axi_queue_wstrb), .wlast(m_axi_queue_wlast),
        .bvalid(m_axi_queue_bvalid), .bready(m_axi_queue_bready), .bid(m_axi_queue_bid), .bresp(m_axi_queue_bresp),
        .arvalid(m_axi_queue_arvalid), .arready(m_axi_queue_arready), .arid(m_axi_queue_arid),
        .araddr(m_axi_queue_araddr), .arlen(m_axi_queue_arlen), .arsize(m_axi_queue_arsize),
        .arburst(m_axi_queue_arburst), .arlock(m_axi_queue_arlock),
        .rvalid(m_axi_queue_rvalid), .rready(m_axi_queue_rready), .rid(m_axi_queue_rid), .rdata(m_axi_queue_rdata),
        .rresp(m_axi_queue_rresp), .rlast(m_axi_queue_rlast));
    axi4_stream_rules #(.Width(192)) i_moves (.clk_i, .rst_ni,
        .tvalid(m_axis_move_tvalid), .tready(m_axis_move_tready), .payload(m_axis_move_tdata));
    axi4_stream_rules #(.Width(512)) i_jobs (.clk_i, .rst_ni,
        .tvalid(m_axis_job_tvalid), .tready(m_axis_job_tready), .payload(m_axis_job_tdata));
    axi4_stream_rules #(.Width(8)) i_vectors (.clk_i, .rst_ni,
        .tvalid(m_axis_irq_tvalid), .tready(m_axis_irq_tready), .payload(m_axis_irq_tdata));

    // Known of the port of the queues: address and data of a store begin together.
    `RULE(address_and_data_are_of_one_store, 1, !i_rings.g_followed.i_write.partial_q
        && i_rings.g_followed.i_write.lead_q
        == 9'(m_axi_queue_wvalid && !m_axi_queue_awvalid) - 9'(m_axi_queue_awvalid && !m_axi_queue_wvalid))
    `RULE(followed_store_has_one_beat, 1, !i_rings.g_followed.i_write.addressed_q
        || i_rings.g_followed.i_write.length_q == 0 && i_rings.g_followed.i_write.size_q == 3'd3
        && i_rings.g_followed.i_write.burst_q == 2'b01)
    `RULE(followed_store_is_the_last, 1, !i_rings.g_followed.i_write.addressed_q || i_rings.g_followed.i_write.ended_q
        || m_axi_queue_wvalid && i_rings.g_followed.i_write.address_q == m_axi_queue_awaddr[11:0])
    `RULE(stores_are_of_8_bytes, 1, !m_axi_queue_wvalid
        || m_axi_queue_wstrb == 64'hff << m_axi_queue_awaddr[5:0] && m_axi_queue_awaddr[2:0] == 0)
    `RULE(number_of_a_vector_is_known, 1, 32'(m_axis_irq_tdata) < 6)

    `RULE(rings_are_read_and_written_beat_by_beat, 1, m_axi_queue_awlen == 0 && m_axi_queue_awsize == 3'd3
        && m_axi_queue_awburst == 2'b01 && m_axi_queue_wlast && m_axi_queue_arlen == 0 && m_axi_queue_arsize == 3'd6
        && m_axi_queue_arburst == 2'b01 && m_axi_queue_bready && m_axi_queue_rready)
    `RULE(rings_are_not_cached, 1, m_axi_queue_awcache == 4'b0011 && m_axi_queue_arcache == 4'b0011
        && m_axi_queue_awprot == 0 && m_axi_queue_arprot == 0 && m_axi_queue_awqos == 0 && m_axi_queue_arqos == 0
        && !m_axi_queue_awlock && !m_axi_queue_arlock && m_axi_queue_awatop == 0)

    // ---- Registers: each block of them has the access to its addresses, and its answer goes back.

    `define ACCESS(BLOCK) {BLOCK.valid_i, BLOCK.write_i, BLOCK.address_i, BLOCK.data_i, BLOCK.strobe_i}
    `define ANSWER(BLOCK) {BLOCK.done_o, BLOCK.error_o, BLOCK.data_o}
    `define BUS i_block.i_blocks
    `define HAS_BLOCK(NAME, N, BLOCK) \
        `RULE(access_reaches_``NAME, 1, `ACCESS(BLOCK) == {`BUS.block_valid_o[N], `BUS.block_write_o, \
            `BUS.block_address_o, `BUS.block_data_o, `BUS.block_strobe_o}) \
        `RULE(answer_comes_from_``NAME, 1, `ANSWER(BLOCK) \
            == {`BUS.block_done_i[N], `BUS.block_error_i[N], `BUS.block_data_i[N]})
    `HAS_BLOCK(shell, 0, i_block.i_shell)
    `HAS_BLOCK(lock_unit, 1, i_block.i_lock_block)
    `HAS_BLOCK(lookup_unit, 5, i_block.i_lookup_unit)
`include "axi_lite_port.svh"

    // ---- Queues.

    `define QUEUE i_block.gen_queue[n].i_queue
    `define PORT i_block.i_queue_memory_port
    for (genvar n = 0; n < Queues; n++) begin : g_queues
        `HAS_BLOCK(queue, BlockOf[n], `QUEUE)
        `RULE(queue_reads_and_stores_by_its_number, 1, {
            `QUEUE.read_valid_o, `QUEUE.read_address_o, `QUEUE.read_ready_i,
            `QUEUE.store_valid_o, `QUEUE.store_address_o, `QUEUE.store_data_o, `QUEUE.store_ready_i
        } == {
            `PORT.read_valid_i[n], `PORT.read_address_i[n], `PORT.read_ready_o[n],
            `PORT.store_valid_i[n], `PORT.store_address_i[n], `PORT.store_data_i[n], `PORT.store_ready_o[n]
        })
        `RULE(answers_come_by_the_number_of_the_queue, 1, {
            `QUEUE.line_valid_i, `QUEUE.line_error_i, `QUEUE.line_i, `QUEUE.stored_valid_i, `QUEUE.stored_error_i
        } == {
            `PORT.line_valid_o[n], `PORT.line_error_o, `PORT.line_o, `PORT.stored_valid_o[n], `PORT.stored_error_o
        })
        `RULE(queue_is_of_its_kind, 1, `QUEUE.Kind == 8'(n + 1) && `QUEUE.EveryRequestCompletes == (n != 1)
            && `QUEUE.CountsBytes == (n != 3))
        `RULE(vector_of_the_queue_is_raised, 1, 3'(i_block.i_interrupts.raised_i[VectorOf[n]])
            == 3'(`QUEUE.interrupts_o) + 3'(i_block.i_shell.force_o[VectorOf[n]]))
    end
    `define SERVES(NAME, N, BLOCK) \
        `RULE(NAME``_serves_its_queue, 1, { \
            BLOCK.submission_valid_i, BLOCK.submission_i, BLOCK.submission_ready_o, BLOCK.completion_valid_o, \
            BLOCK.completion_o, BLOCK.completion_ready_i \
        } == { \
            i_block.gen_queue[N].i_queue.submission_valid_o, i_block.gen_queue[N].i_queue.submission_o, \
            i_block.gen_queue[N].i_queue.submission_ready_i, i_block.gen_queue[N].i_queue.completion_valid_i, \
            i_block.gen_queue[N].i_queue.completion_i, i_block.gen_queue[N].i_queue.completion_ready_o \
        })
    `SERVES(copy_engine, 0, i_block.i_copy_engine)
    `SERVES(lock_port, 1, i_block.i_lock_port)
    `SERVES(job_port, 2, i_block.i_job_port)
    `SERVES(lookup_port, 3, i_block.i_lookup_port)

    // ---- The lock unit and the look-up unit, behind their queues.

    `RULE(lock_unit_gets_the_requests_of_its_queue, 1, {
        i_block.i_lock_port.m_axis_req_tvalid, i_block.i_lock_port.m_axis_req_tready,
        i_block.i_lock_port.m_axis_req_tdata, i_block.i_lock_port.s_axis_rsp_tvalid,
        i_block.i_lock_port.s_axis_rsp_tready, i_block.i_lock_port.s_axis_rsp_tdata, i_block.i_lock_port.running_i
    } == {
        i_block.i_lock_block.s_axis_req_tvalid, i_block.i_lock_block.s_axis_req_tready,
        i_block.i_lock_block.s_axis_req_tdata, i_block.i_lock_block.m_axis_rsp_tvalid,
        i_block.i_lock_block.m_axis_rsp_tready, i_block.i_lock_block.m_axis_rsp_tdata,
        i_block.gen_queue[1].i_queue.running_o
    })
    `RULE(lookup_unit_gets_the_requests_of_its_queue, 1, {
        i_block.i_lookup_port.m_axis_sw_tvalid, i_block.i_lookup_port.m_axis_sw_tready,
        i_block.i_lookup_port.m_axis_sw_tdata, i_block.i_lookup_port.s_axis_swrsp_tvalid,
        i_block.i_lookup_port.s_axis_swrsp_tready, i_block.i_lookup_port.s_axis_swrsp_tdata
    } == {
        i_block.i_lookup_unit.s_axis_sw_tvalid, i_block.i_lookup_unit.s_axis_sw_tready,
        i_block.i_lookup_unit.s_axis_sw_tdata, i_block.i_lookup_unit.m_axis_swrsp_tvalid,
        i_block.i_lookup_unit.m_axis_swrsp_tready, i_block.i_lookup_unit.m_axis_swrsp_tdata
    })

    // ---- Ports that are those of one block, which keeps their rules.

    `define LOCKS i_block.i_lock_block
    `define LOOKUPS i_block.i_lookup_unit
    `RULE(lock_unit_has_its_writes, 1, {
        m_axi_lock_awvalid, m_axi_lock_awready, m_axi_lock_awid, m_axi_lock_awaddr, m_axi_lock_awlen,
        m_axi_lock_awsize, m_axi_lock_awburst, m_axi_lock_awlock, m_axi_lock_awcache, m_axi_lock_awprot,
        m_axi_lock_awqos, m_axi_lock_awatop, m_axi_lock_wvalid, m_axi_lock_wready, m_axi_lock_wdata,
        m_axi_lock_wstrb, m_axi_lock_wlast, m_axi_lock_bvalid, m_axi_lock_bready, m_axi_lock_bid, m_axi_lock_bresp
    } == {
        `LOCKS.m_axi_awvalid, `LOCKS.m_axi_awready, `LOCKS.m_axi_awid, `LOCKS.m_axi_awaddr, `LOCKS.m_axi_awlen,
        `LOCKS.m_axi_awsize, `LOCKS.m_axi_awburst, `LOCKS.m_axi_awlock, `LOCKS.m_axi_awcache, `LOCKS.m_axi_awprot,
        `LOCKS.m_axi_awqos, `LOCKS.m_axi_awatop, `LOCKS.m_axi_wvalid, `LOCKS.m_axi_wready, `LOCKS.m_axi_wdata,
        `LOCKS.m_axi_wstrb, `LOCKS.m_axi_wlast, `LOCKS.m_axi_bvalid, `LOCKS.m_axi_bready, `LOCKS.m_axi_bid,
        `LOCKS.m_axi_bresp
    })
    `RULE(lock_unit_has_its_reads, 1, {
        m_axi_lock_arvalid, m_axi_lock_arready, m_axi_lock_arid, m_axi_lock_araddr, m_axi_lock_arlen,
        m_axi_lock_arsize, m_axi_lock_arburst, m_axi_lock_arlock, m_axi_lock_arcache, m_axi_lock_arprot,
        m_axi_lock_arqos, m_axi_lock_rvalid, m_axi_lock_rready, m_axi_lock_rid, m_axi_lock_rdata, m_axi_lock_rresp
    } == {
        `LOCKS.m_axi_arvalid, `LOCKS.m_axi_arready, `LOCKS.m_axi_arid, `LOCKS.m_axi_araddr, `LOCKS.m_axi_arlen,
        `LOCKS.m_axi_arsize, `LOCKS.m_axi_arburst, `LOCKS.m_axi_arlock, `LOCKS.m_axi_arcache, `LOCKS.m_axi_arprot,
        `LOCKS.m_axi_arqos, `LOCKS.m_axi_rvalid, `LOCKS.m_axi_rready, `LOCKS.m_axi_rid, `LOCKS.m_axi_rdata,
        `LOCKS.m_axi_rresp
    })
    `RULE(lock_unit_is_told_of_void_lines, 1, {
        s_axis_inv_tvalid, s_axis_inv_tready, s_axis_inv_tdata
    } == {
        `LOCKS.s_axis_inv_tvalid, `LOCKS.s_axis_inv_tready, `LOCKS.s_axis_inv_tdata
    })
    `RULE(lookup_unit_has_its_reads_of_the_host, 1, {
        m_axi_nichost_arvalid, m_axi_nichost_arready, m_axi_nichost_arid, m_axi_nichost_araddr, m_axi_nichost_arlen,
        m_axi_nichost_arsize, m_axi_nichost_arburst, m_axi_nichost_arcache, m_axi_nichost_arprot,
        m_axi_nichost_rvalid, m_axi_nichost_rready, m_axi_nichost_rid, m_axi_nichost_rdata, m_axi_nichost_rresp,
        m_axi_nichost_rlast
    } == {
        `LOOKUPS.m_axi_host_arvalid, `LOOKUPS.m_axi_host_arready, `LOOKUPS.m_axi_host_arid,
        `LOOKUPS.m_axi_host_araddr, `LOOKUPS.m_axi_host_arlen, `LOOKUPS.m_axi_host_arsize,
        `LOOKUPS.m_axi_host_arburst, `LOOKUPS.m_axi_host_arcache, `LOOKUPS.m_axi_host_arprot,
        `LOOKUPS.m_axi_host_rvalid, `LOOKUPS.m_axi_host_rready, `LOOKUPS.m_axi_host_rid, `LOOKUPS.m_axi_host_rdata,
        `LOOKUPS.m_axi_host_rresp, `LOOKUPS.m_axi_host_rlast
    })
    `RULE(lookup_unit_has_its_writes_of_the_card, 1, {
        m_axi_nic_awvalid, m_axi_nic_awready, m_axi_nic_awid, m_axi_nic_awaddr, m_axi_nic_awlen, m_axi_nic_awsize,
        m_axi_nic_awburst, m_axi_nic_awcache, m_axi_nic_awprot, m_axi_nic_wvalid, m_axi_nic_wready, m_axi_nic_wdata,
        m_axi_nic_wstrb, m_axi_nic_wlast, m_axi_nic_bvalid, m_axi_nic_bready, m_axi_nic_bid, m_axi_nic_bresp
    } == {
        `LOOKUPS.m_axi_nic_awvalid, `LOOKUPS.m_axi_nic_awready, `LOOKUPS.m_axi_nic_awid, `LOOKUPS.m_axi_nic_awaddr,
        `LOOKUPS.m_axi_nic_awlen, `LOOKUPS.m_axi_nic_awsize, `LOOKUPS.m_axi_nic_awburst, `LOOKUPS.m_axi_nic_awcache,
        `LOOKUPS.m_axi_nic_awprot, `LOOKUPS.m_axi_nic_wvalid, `LOOKUPS.m_axi_nic_wready, `LOOKUPS.m_axi_nic_wdata,
        `LOOKUPS.m_axi_nic_wstrb, `LOOKUPS.m_axi_nic_wlast, `LOOKUPS.m_axi_nic_bvalid, `LOOKUPS.m_axi_nic_bready,
        `LOOKUPS.m_axi_nic_bid, `LOOKUPS.m_axi_nic_bresp
    })
    `RULE(lookup_unit_has_its_reads_of_the_card, 1, {
        m_axi_nic_arvalid, m_axi_nic_arready, m_axi_nic_arid, m_axi_nic_araddr, m_axi_nic_arlen, m_axi_nic_arsize,
        m_axi_nic_arburst, m_axi_nic_arcache, m_axi_nic_arprot, m_axi_nic_rvalid, m_axi_nic_rready, m_axi_nic_rid,
        m_axi_nic_rdata, m_axi_nic_rresp, m_axi_nic_rlast
    } == {
        `LOOKUPS.m_axi_nic_arvalid, `LOOKUPS.m_axi_nic_arready, `LOOKUPS.m_axi_nic_arid, `LOOKUPS.m_axi_nic_araddr,
        `LOOKUPS.m_axi_nic_arlen, `LOOKUPS.m_axi_nic_arsize, `LOOKUPS.m_axi_nic_arburst, `LOOKUPS.m_axi_nic_arcache,
        `LOOKUPS.m_axi_nic_arprot, `LOOKUPS.m_axi_nic_rvalid, `LOOKUPS.m_axi_nic_rready, `LOOKUPS.m_axi_nic_rid,
        `LOOKUPS.m_axi_nic_rdata, `LOOKUPS.m_axi_nic_rresp, `LOOKUPS.m_axi_nic_rlast
    })
    `RULE(lookup_unit_has_the_network, 1, {
        s_axis_netreq_tvalid, s_axis_netreq_tready, s_axis_netreq_tdata, m_axis_netrsp_tvalid, m_axis_netrsp_tready,
        m_axis_netrsp_tdata
    } == {
        `LOOKUPS.s_axis_req_tvalid, `LOOKUPS.s_axis_req_tready, `LOOKUPS.s_axis_req_tdata,
        `LOOKUPS.m_axis_rsp_tvalid, `LOOKUPS.m_axis_rsp_tready, `LOOKUPS.m_axis_rsp_tdata
    })
    `RULE(copy_engine_has_the_mover, 1, {
        m_axis_move_tvalid, m_axis_move_tready, m_axis_move_tdata, s_axis_moved_tvalid, s_axis_moved_tready,
        s_axis_moved_tdata
    } == {
        i_block.i_copy_engine.m_axis_move_tvalid, i_block.i_copy_engine.m_axis_move_tready,
        i_block.i_copy_engine.m_axis_move_tdata, i_block.i_copy_engine.s_axis_moved_tvalid,
        i_block.i_copy_engine.s_axis_moved_tready, i_block.i_copy_engine.s_axis_moved_tdata
    })
    `RULE(job_port_has_the_job_engine, 1, {
        m_axis_job_tvalid, m_axis_job_tready, m_axis_job_tdata, s_axis_jobdone_tvalid, s_axis_jobdone_tready,
        s_axis_jobdone_tdata
    } == {
        i_block.i_job_port.m_axis_job_tvalid, i_block.i_job_port.m_axis_job_tready,
        i_block.i_job_port.m_axis_job_tdata, i_block.i_job_port.s_axis_jobdone_tvalid,
        i_block.i_job_port.s_axis_jobdone_tready, i_block.i_job_port.s_axis_jobdone_tdata
    })

    // ---- Interrupts: 0 is raised by hand alone, 3 with the first clock of a bus error, the others by queues.

    logic bus_error_q;
    always_ff @(posedge clk_i) bus_error_q <= rst_ni && `LOCKS.interrupt_o;
    `RULE(vector_0_is_raised_by_hand, 1, i_block.i_interrupts.raised_i[0] == 2'(i_block.i_shell.force_o[0]))
    `RULE(bus_error_is_raised_once, 1, i_block.i_interrupts.raised_i[3]
        == 2'(i_block.i_shell.force_o[3]) + 2'(`LOCKS.interrupt_o && !bus_error_q))
    for (genvar v = 0; v < 6; v++) begin : g_vectors
        `RULE(count_of_the_vector_is_told, 1, i_block.i_shell.interrupt_count_i[v] == i_block.i_interrupts.count_o[v])
    end

    // ---- Idle: nothing valid, and no answer missing, in 65 clocks, none of them in reset; told a clock later.

    logic       something, quiet_q;
    logic [6:0] still_q;
    assign something =
        |{s_axil_awvalid, s_axil_wvalid, s_axil_bvalid, s_axil_arvalid, s_axil_rvalid}
        || |{m_axi_queue_awvalid, m_axi_queue_wvalid, m_axi_queue_bvalid, m_axi_queue_arvalid, m_axi_queue_rvalid}
        || |{m_axi_lock_awvalid, m_axi_lock_wvalid, m_axi_lock_bvalid, m_axi_lock_arvalid, m_axi_lock_rvalid}
        || |{m_axi_nic_awvalid, m_axi_nic_wvalid, m_axi_nic_bvalid, m_axi_nic_arvalid, m_axi_nic_rvalid}
        || |{m_axi_nichost_arvalid, m_axi_nichost_rvalid, s_axis_netreq_tvalid, m_axis_netrsp_tvalid}
        || |{s_axis_inv_tvalid, m_axis_irq_tvalid, m_axis_move_tvalid, m_axis_job_tvalid}
        || s_axis_moved_tvalid && s_axis_moved_tready || s_axis_jobdone_tvalid && s_axis_jobdone_tready;
    logic missing;
    assign missing = !i_block.i_copy_engine.quiet_o || !`LOCKS.memory_quiet_o || !`LOOKUPS.idle_o
        || !i_block.gen_queue[0].i_queue.memory_quiet_o || !i_block.gen_queue[1].i_queue.memory_quiet_o
        || !i_block.gen_queue[2].i_queue.memory_quiet_o || !i_block.gen_queue[3].i_queue.memory_quiet_o;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || something || missing) still_q <= '0;
        else if (still_q != 7'd64) still_q <= still_q + 1'b1;
        quiet_q <= rst_ni && !something && !missing && still_q == 7'd64;
    end
    `RULE(idle_after_so_many_quiet_clocks, 1, idle_o == quiet_q)
    `RULE(quiet_clocks_are_counted, 1, i_block.i_quiet_watch.count_q == still_q)

    `REACHED(each_queue_asks_and_is_answered, m_axi_queue_rvalid && m_axi_queue_rid == 11'd3)
    `REACHED(lookup_queue_has_an_access, `BUS.block_valid_o == 7'h40 && `BUS.block_done_i[6])
    `REACHED(bus_error_interrupts, m_axis_irq_tvalid && m_axis_irq_tdata == 8'd3)
    `REACHED(vector_has_three_in_one_clock, i_block.i_interrupts.raised_i[5] == 2'd3)
    `REACHED(device_is_quiet_for_a_while, still_q == 7'd4 && something)
endmodule
