// SPDX-License-Identifier: MIT OR Apache-2.0
// nic_lookup, whatever the blocks in it do: the rules of AXI4-Lite at its registers; requests to the index, of which those that
// tell go first; when it is idle; the traces; and that each pin of each block has the one of its neighbour that it is named after.
`include "../rules/rule.svh"
module nic_lookup_formal
    import lookup_pkg::*;
    import vector_pkg::*;
#(
    parameter int unsigned SlotBytes    = 32,
    parameter int unsigned ValueWords   = 1,
    parameter int unsigned LogSets      = 12,
    parameter int unsigned LogWays      = 2,
    parameter int unsigned SegmentBits  = 24,
    parameter int unsigned Objects      = 2,
    parameter int unsigned MostPins     = 255,
    parameter int unsigned LogMisses    = 4,
    parameter int unsigned LogParked    = 4,
    parameter int unsigned LogContexts  = 7,
    parameter int unsigned LandingLines = 32
) (
    input logic                         clk_i,
    input logic                         rst_ni,
    input logic                         s_axil_awvalid,
    input logic [11:0]                  s_axil_awaddr,
    input logic [2:0]                   s_axil_awprot,
    input logic                         s_axil_wvalid,
    input logic [31:0]                  s_axil_wdata,
    input logic [3:0]                   s_axil_wstrb,
    input logic                         s_axil_bready,
    input logic                         s_axil_arvalid,
    input logic [11:0]                  s_axil_araddr,
    input logic [2:0]                   s_axil_arprot,
    input logic                         s_axil_rready,
    input logic                         s_axis_req_tvalid,
    input logic [64*(3+ValueWords)-1:0] s_axis_req_tdata,
    input logic                         m_axis_rsp_tready,
    input logic                         s_axis_sw_tvalid,
    input logic [64*(3+ValueWords)-1:0] s_axis_sw_tdata,
    input logic                         m_axis_swrsp_tready,
    input logic                         m_axi_host_arready,
    input logic                         m_axi_host_rvalid,
    input logic [7:0]                   m_axi_host_rid,
    input logic [511:0]                 m_axi_host_rdata,
    input logic [1:0]                   m_axi_host_rresp,
    input logic                         m_axi_host_rlast,
    input logic                         m_axi_nic_awready,
    input logic                         m_axi_nic_wready,
    input logic                         m_axi_nic_bvalid,
    input logic [7:0]                   m_axi_nic_bid,
    input logic [1:0]                   m_axi_nic_bresp,
    input logic                         m_axi_nic_arready,
    input logic                         m_axi_nic_rvalid,
    input logic [7:0]                   m_axi_nic_rid,
    input logic [511:0]                 m_axi_nic_rdata,
    input logic [1:0]                   m_axi_nic_rresp,
    input logic                         m_axi_nic_rlast
);
    logic s_axil_awready, s_axil_wready, s_axil_bvalid, s_axil_arready, s_axil_rvalid, s_axis_req_tready,
        m_axis_rsp_tvalid, s_axis_sw_tready, m_axis_swrsp_tvalid, m_axi_host_arvalid, m_axi_host_rready,
        m_axi_nic_awvalid, m_axi_nic_wvalid, m_axi_nic_wlast, m_axi_nic_bready, m_axi_nic_arvalid, m_axi_nic_rready,
        idle_o, trace_request_valid_o, trace_answer_valid_o, trace_read_valid_o, trace_done_valid_o,
        trace_scan_valid_o, trace_word_valid_o;
    logic [1:0] s_axil_bresp, s_axil_rresp, m_axi_host_arburst, m_axi_nic_awburst, m_axi_nic_arburst;
    logic [31:0] s_axil_rdata;
    logic [64*(2+ValueWords)-1:0] m_axis_rsp_tdata, m_axis_swrsp_tdata;
    logic [7:0] m_axi_host_arid, m_axi_host_arlen, m_axi_nic_awid, m_axi_nic_awlen, m_axi_nic_arid, m_axi_nic_arlen;
    logic [63:0] m_axi_host_araddr, m_axi_nic_awaddr, m_axi_nic_wstrb, m_axi_nic_araddr;
    logic [2:0] m_axi_host_arsize, m_axi_host_arprot, m_axi_nic_awsize, m_axi_nic_awprot, m_axi_nic_arsize,
        m_axi_nic_arprot;
    logic [3:0] m_axi_host_arcache, m_axi_nic_awcache, m_axi_nic_arcache;
    logic [511:0] m_axi_nic_wdata;
    logic [64*(4+ValueWords)-1:0] trace_request_data_o;
    logic [64*(3+ValueWords)-1:0] trace_answer_data_o, trace_scan_data_o;
    logic [95:0] trace_read_data_o;
    logic [15:0] trace_done_data_o, trace_sent_o;
    logic [127:0] trace_word_data_o;

    power_up i_power_up (.*);
    nic_lookup #(
        .SlotBytes(SlotBytes),
        .ValueWords(ValueWords),
        .LogSets(LogSets),
        .LogWays(LogWays),
        .SegmentBits(SegmentBits),
        .Objects(Objects),
        .MostPins(MostPins),
        .LogMisses(LogMisses),
        .LogParked(LogParked),
        .LogContexts(LogContexts),
        .LandingLines(LandingLines)
    ) i_block (.*);

    `define BLOCK i_block.i_block
    `define ENTRANCE i_block.i_entrance
    `define INDEX i_block.i_index
    `define ANSWERS i_block.i_answers
    `define READS i_block.i_reads
    `define LANDING i_block.i_landing
    `define SCANS i_block.i_scans
    `define WALK i_block.i_walk
    `define BUS i_block.i_axi_lite
    `define WIRED(NAME, ONE, OTHER) `RULE(NAME, 1, (ONE) == (OTHER))

    // ---- Registers.

    localparam int unsigned Blocks = 1;
    axi4_lite_rules #(.AddressWidth(12)) i_registers (
        .clk_i, .rst_ni, .awvalid(s_axil_awvalid), .awready(s_axil_awready), .awaddr(s_axil_awaddr), .wvalid(s_axil_wvalid),
        .wready(s_axil_wready), .wdata(s_axil_wdata), .wstrb(s_axil_wstrb), .bvalid(s_axil_bvalid), .bready(s_axil_bready),
        .bresp(s_axil_bresp), .arvalid(s_axil_arvalid), .arready(s_axil_arready), .araddr(s_axil_araddr),
        .rvalid(s_axil_rvalid), .rready(s_axil_rready), .rdata(s_axil_rdata), .rresp(s_axil_rresp));
`include "axi_lite_port.svh"
    `WIRED(access_reaches_the_registers,
        {`BLOCK.valid_i, `BLOCK.write_i, `BLOCK.address_i, `BLOCK.data_i, `BLOCK.strobe_i},
        {`BUS.block_valid_o, `BUS.block_write_o, `BUS.block_address_o, `BUS.block_data_o, `BUS.block_strobe_o})
    `WIRED(answer_comes_from_the_registers, {`BUS.block_done_i, `BUS.block_error_i, `BUS.block_data_i},
        {`BLOCK.done_o, `BLOCK.error_o, `BLOCK.data_o})
    // All addresses are of the one block.
    `RULE(addresses_are_of_the_registers, 1, (!`BUS.read_held_q || read_at_q[15:12] == 0)
        && (!`BUS.address_held_q || write_at_q[15:12] == 0))
    logic read_ends, write_ends;
    assign read_ends  = `BLOCK.valid_i && `BLOCK.done_o && !`BLOCK.write_i;
    assign write_ends = `BLOCK.valid_i && `BLOCK.done_o && `BLOCK.write_i;
    `RULE(access_is_one_of_the_bus, 1, !`BLOCK.valid_i || (`BLOCK.write_i
        ? i_registers.addresses_q != 0 && i_registers.data_q != 0 : i_registers.reads_q != 0))
    `RULE(read_ends_when_it_has_been_carried_out, 1, s_axil_rvalid
        == (read_ends || $past(rst_ni && s_axil_rvalid && !s_axil_rready)))
    `RULE(write_ends_when_it_has_been_carried_out, 1, s_axil_bvalid
        == (write_ends || $past(rst_ni && s_axil_bvalid && !s_axil_bready)))
    `RULE(answers_are_kept_until_they_are_taken, 1, {`BUS.read_kept_q, `BUS.write_kept_q}
        == $past({2{rst_ni}} & {s_axil_rvalid && !s_axil_rready, s_axil_bvalid && !s_axil_bready}))

    // ---- What the index gets: what it is told goes before what it is asked. None is lost, none made up, and their order stays.

    localparam int unsigned Request = 64 * (4 + ValueWords);
    logic       told, asked, given;
    logic [1:0] held;
    assign told  = `WALK.tell_valid_o && `WALK.tell_ready_i;
    assign asked = `ENTRANCE.index_valid_o && `ENTRANCE.index_ready_i;
    assign given = `INDEX.s_axis_req_tvalid && `INDEX.s_axis_req_tready;
    ordered_words #(.Width(Request), .Most(2)) i_requests (
        .clk_i, .rst_ni, .push_i(told || asked), .pushed_i(told ? `WALK.tell_data_o : `ENTRANCE.index_data_o),
        .pop_i(given), .popped_i(`INDEX.s_axis_req_tdata), .inside_o(held));
    axi4_stream_rules #(.Width(Request)) i_given (.clk_i, .rst_ni, .tvalid(`INDEX.s_axis_req_tvalid),
        .tready(`INDEX.s_axis_req_tready), .payload(`INDEX.s_axis_req_tdata));
    `RULE(index_is_told_before_it_is_asked, 1, `ENTRANCE.index_ready_i == (held < 2'd2 && !`WALK.tell_valid_o))
    `RULE(index_is_told_while_there_is_room, 1, `WALK.tell_ready_i == (held < 2'd2))
    `RULE(request_is_offered_in_the_clock_after, 1, `INDEX.s_axis_req_tvalid == (held != 0))
    // Which induction needs: how many are held, and where a request that is followed is.
    `RULE(two_are_held_at_most, 1, held == 2'(i_block.i_index_requests.valid_o) + 2'(!i_block.i_index_requests.ready_o))
    `RULE(followed_request_is_in_its_place, 1, !i_requests.followed_q
        || i_requests.word_q == (i_requests.ahead_q == 0 ? `INDEX.s_axis_req_tdata : i_block.i_index_requests.second_q))

    // ---- Idle, and under way.

    `WIRED(idle_is_told_a_clock_later, idle_o, $past(`ENTRANCE.idle_o && `INDEX.idle_o
        && !(s_axis_req_tvalid && s_axis_req_tready) && !(s_axis_sw_tvalid && s_axis_sw_tready)))
    `WIRED(registers_know_when_nothing_is_under_way, `BLOCK.idle_i, `ENTRANCE.idle_o && `INDEX.idle_o)
    `WIRED(registers_know_how_many_are_under_way, `BLOCK.under_way_i, `ENTRANCE.under_way_o)
    `WIRED(requests_are_taken_while_on_and_cleared, `ENTRANCE.enable_i, `BLOCK.enable_o && !`READS.clearing_o)
    `WIRED(answers_that_leave_are_told, {`ENTRANCE.answered_i, `ENTRANCE.sw_answered_i},
        {m_axis_rsp_tvalid && m_axis_rsp_tready, m_axis_swrsp_tvalid && m_axis_swrsp_tready})

    // ---- Ports.

    `WIRED(requests_come_to_the_entrance, {`ENTRANCE.s_axis_req_tvalid, `ENTRANCE.s_axis_req_tdata, s_axis_req_tready},
        {s_axis_req_tvalid, s_axis_req_tdata, `ENTRANCE.s_axis_req_tready})
    `WIRED(requests_of_software_come_to_the_entrance,
        {`ENTRANCE.s_axis_sw_tvalid, `ENTRANCE.s_axis_sw_tdata, s_axis_sw_tready},
        {s_axis_sw_tvalid, s_axis_sw_tdata, `ENTRANCE.s_axis_sw_tready})
    `WIRED(answers_go_out, {m_axis_rsp_tvalid, m_axis_rsp_tdata, `ANSWERS.m_axis_rsp_tready},
        {`ANSWERS.m_axis_rsp_tvalid, `ANSWERS.m_axis_rsp_tdata, m_axis_rsp_tready})
    `WIRED(answers_to_software_go_out, {m_axis_swrsp_tvalid, m_axis_swrsp_tdata, `ANSWERS.m_axis_swrsp_tready},
        {`ANSWERS.m_axis_swrsp_tvalid, `ANSWERS.m_axis_swrsp_tdata, m_axis_swrsp_tready})

    `WIRED(reads_of_the_host_go_out, {m_axi_host_arvalid, m_axi_host_arid, m_axi_host_araddr, m_axi_host_arlen},
        {`LANDING.m_axi_arvalid, `LANDING.m_axi_arid, `LANDING.m_axi_araddr, `LANDING.m_axi_arlen})
    `WIRED(reads_are_taken_by_the_host, `LANDING.m_axi_arready, m_axi_host_arready)
    `WIRED(read_data_of_the_host_come, {
        `LANDING.m_axi_rvalid, `LANDING.m_axi_rid, `LANDING.m_axi_rdata, `LANDING.m_axi_rresp, `LANDING.m_axi_rlast
    }, {m_axi_host_rvalid, m_axi_host_rid, m_axi_host_rdata, m_axi_host_rresp, m_axi_host_rlast})
    `RULE(bursts_of_the_host_are_of_whole_lines, 1, m_axi_host_arsize == 3'd6 && m_axi_host_arburst == 2'b01
        && m_axi_host_arcache == 4'b0011 && m_axi_host_arprot == 0)
    `RULE(read_data_of_the_host_are_always_taken, 1, m_axi_host_rready)

    `WIRED(writes_of_the_index_go_out, {
        m_axi_nic_awvalid, m_axi_nic_awid, m_axi_nic_awaddr, m_axi_nic_awlen, m_axi_nic_awsize, m_axi_nic_awburst,
        m_axi_nic_wvalid, m_axi_nic_wdata, m_axi_nic_wstrb, m_axi_nic_wlast, m_axi_nic_bready
    }, {
        `INDEX.m_axi_awvalid, `INDEX.m_axi_awid, `INDEX.m_axi_awaddr, `INDEX.m_axi_awlen, `INDEX.m_axi_awsize,
        `INDEX.m_axi_awburst, `INDEX.m_axi_wvalid, `INDEX.m_axi_wdata, `INDEX.m_axi_wstrb, `INDEX.m_axi_wlast,
        `INDEX.m_axi_bready
    })
    `WIRED(reads_of_the_index_go_out, {
        m_axi_nic_arvalid, m_axi_nic_arid, m_axi_nic_araddr, m_axi_nic_arlen, m_axi_nic_arsize, m_axi_nic_arburst,
        m_axi_nic_rready
    }, {
        `INDEX.m_axi_arvalid, `INDEX.m_axi_arid, `INDEX.m_axi_araddr, `INDEX.m_axi_arlen, `INDEX.m_axi_arsize,
        `INDEX.m_axi_arburst, `INDEX.m_axi_rready
    })
    `WIRED(memory_of_the_nic_answers_the_index, {
        `INDEX.m_axi_awready, `INDEX.m_axi_wready, `INDEX.m_axi_bvalid, `INDEX.m_axi_bid, `INDEX.m_axi_bresp,
        `INDEX.m_axi_arready, `INDEX.m_axi_rvalid, `INDEX.m_axi_rid, `INDEX.m_axi_rdata, `INDEX.m_axi_rresp,
        `INDEX.m_axi_rlast
    }, {
        m_axi_nic_awready, m_axi_nic_wready, m_axi_nic_bvalid, m_axi_nic_bid, m_axi_nic_bresp, m_axi_nic_arready,
        m_axi_nic_rvalid, m_axi_nic_rid, m_axi_nic_rdata, m_axi_nic_rresp, m_axi_nic_rlast
    })
    `RULE(memory_of_the_nic_is_not_cached, 1, m_axi_nic_awcache == 4'b0011 && m_axi_nic_arcache == 4'b0011
        && m_axi_nic_awprot == 0 && m_axi_nic_arprot == 0)

`include "nic_lookup_wires.svh"
`include "nic_lookup_traces.svh"

    `REACHED(index_is_told_and_asked_at_once, told && `ENTRANCE.index_valid_o)
    `REACHED(index_is_asked_while_a_request_waits, asked && held == 2'd1 && !given)
    `REACHED(request_of_software_ends_idleness, s_axis_sw_tvalid && s_axis_sw_tready && $past(idle_o))
    `REACHED(access_fails, s_axil_bvalid && s_axil_bresp == 2'b10)
    `REACHED(all_is_traced_at_once, trace_request_valid_o && trace_answer_valid_o && trace_read_valid_o && trace_done_valid_o
        && trace_scan_valid_o && trace_word_valid_o)
endmodule
