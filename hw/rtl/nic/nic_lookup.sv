// SPDX-License-Identifier: MIT OR Apache-2.0
// Looks keys up: in an index on the NIC, and else in a Robin Hood table in the host's memory.
//
// Contract: each request that is accepted on `s_axis_req` or `s_axis_sw` is answered once on
// `m_axis_rsp` or `m_axis_swrsp`, with its token; docs/nic-lookup.md has the layouts of all streams
// and says what each operation does. Answers of one port come in any order. A port whose answers are
// not taken holds up no other. No request is accepted before software has set where the table and the
// index lie, and switched the block on. The host's memory is only read. Nothing else may write to the
// index. Read data and write responses are always taken.
//
// The outputs `trace_*_o` say what happened a clock ago, for tests and waves; nothing need be
// connected. Requests and answers of the index are whole beats of its streams (`nic_index_cache`),
// the rest is:
//
//   trace_read_data_o   7:0 context, 9:8 part, 31:16 bytes, 95:32 host address: a read of host memory
//                       was given to the vectorizer
//   trace_done_data_o   7:0 context, 9:8 part, 11:10 response: it has ended
//   trace_scan_data_o   7:0 context, 9:8 part, from 64 on the answer of the scanner
//   trace_word_data_o   7:0 context, 127:64 a word of the directory that has come
//
// A part is 0 for slots of the row, 1 for slots of a bucket, 2 for the word of the directory. Bit 7
// of a context says that its request is one of software.
//
// Source: Xenic, sections 3.5 and 4.1.3.
module nic_lookup #(
    parameter int unsigned SlotBytes    = 32,    // of a slot of the host's table
    parameter int unsigned ValueWords   = 1,     // of an answer and of a cached value
    parameter int unsigned LogSets      = 12,    // of the index, as the next ones
    parameter int unsigned LogWays      = 2,
    parameter int unsigned SegmentBits  = 24,
    parameter int unsigned Objects      = 2,
    parameter int unsigned MostPins     = 255,
    parameter int unsigned LogMisses    = 4,
    parameter int unsigned LogParked    = 4,
    parameter int unsigned LogContexts  = 7,     // requests of the network under way, 1 to 7
    parameter int unsigned LandingLines = 32     // that one read may bring, 1 to 64, a slot at least
) (
    input  logic                           clk_i,
    input  logic                           rst_ni,

    input  logic                           s_axil_awvalid,
    output logic                           s_axil_awready,
    input  logic [11:0]                    s_axil_awaddr,
    input  logic [2:0]                     s_axil_awprot,
    input  logic                           s_axil_wvalid,
    output logic                           s_axil_wready,
    input  logic [31:0]                    s_axil_wdata,
    input  logic [3:0]                     s_axil_wstrb,
    output logic                           s_axil_bvalid,
    input  logic                           s_axil_bready,
    output logic [1:0]                     s_axil_bresp,
    input  logic                           s_axil_arvalid,
    output logic                           s_axil_arready,
    input  logic [11:0]                    s_axil_araddr,
    input  logic [2:0]                     s_axil_arprot,
    output logic                           s_axil_rvalid,
    input  logic                           s_axil_rready,
    output logic [31:0]                    s_axil_rdata,
    output logic [1:0]                     s_axil_rresp,

    input  logic                           s_axis_req_tvalid,
    output logic                           s_axis_req_tready,
    input  logic [64*(3+ValueWords)-1:0]   s_axis_req_tdata,
    output logic                           m_axis_rsp_tvalid,
    input  logic                           m_axis_rsp_tready,
    output logic [64*(2+ValueWords)-1:0]   m_axis_rsp_tdata,
    input  logic                           s_axis_sw_tvalid,
    output logic                           s_axis_sw_tready,
    input  logic [64*(3+ValueWords)-1:0]   s_axis_sw_tdata,
    output logic                           m_axis_swrsp_tvalid,
    input  logic                           m_axis_swrsp_tready,
    output logic [64*(2+ValueWords)-1:0]   m_axis_swrsp_tdata,

    output logic                           m_axi_host_arvalid,
    input  logic                           m_axi_host_arready,
    output logic [7:0]                     m_axi_host_arid,
    output logic [63:0]                    m_axi_host_araddr,
    output logic [7:0]                     m_axi_host_arlen,
    output logic [2:0]                     m_axi_host_arsize,
    output logic [1:0]                     m_axi_host_arburst,
    output logic [3:0]                     m_axi_host_arcache,
    output logic [2:0]                     m_axi_host_arprot,
    input  logic                           m_axi_host_rvalid,
    output logic                           m_axi_host_rready,
    input  logic [7:0]                     m_axi_host_rid,
    input  logic [511:0]                   m_axi_host_rdata,
    input  logic [1:0]                     m_axi_host_rresp,
    input  logic                           m_axi_host_rlast,

    output logic                           m_axi_nic_awvalid,
    input  logic                           m_axi_nic_awready,
    output logic [7:0]                     m_axi_nic_awid,
    output logic [63:0]                    m_axi_nic_awaddr,
    output logic [7:0]                     m_axi_nic_awlen,
    output logic [2:0]                     m_axi_nic_awsize,
    output logic [1:0]                     m_axi_nic_awburst,
    output logic [3:0]                     m_axi_nic_awcache,
    output logic [2:0]                     m_axi_nic_awprot,
    output logic                           m_axi_nic_wvalid,
    input  logic                           m_axi_nic_wready,
    output logic [511:0]                   m_axi_nic_wdata,
    output logic [63:0]                    m_axi_nic_wstrb,
    output logic                           m_axi_nic_wlast,
    input  logic                           m_axi_nic_bvalid,
    output logic                           m_axi_nic_bready,
    input  logic [7:0]                     m_axi_nic_bid,
    input  logic [1:0]                     m_axi_nic_bresp,
    output logic                           m_axi_nic_arvalid,
    input  logic                           m_axi_nic_arready,
    output logic [7:0]                     m_axi_nic_arid,
    output logic [63:0]                    m_axi_nic_araddr,
    output logic [7:0]                     m_axi_nic_arlen,
    output logic [2:0]                     m_axi_nic_arsize,
    output logic [1:0]                     m_axi_nic_arburst,
    output logic [3:0]                     m_axi_nic_arcache,
    output logic [2:0]                     m_axi_nic_arprot,
    input  logic                           m_axi_nic_rvalid,
    output logic                           m_axi_nic_rready,
    input  logic [7:0]                     m_axi_nic_rid,
    input  logic [511:0]                   m_axi_nic_rdata,
    input  logic [1:0]                     m_axi_nic_rresp,
    input  logic                           m_axi_nic_rlast,

    output logic                           idle_o,             // nothing is under way

    output logic                           trace_request_valid_o,
    output logic [64*(4+ValueWords)-1:0]   trace_request_data_o,
    output logic                           trace_answer_valid_o,
    output logic [64*(3+ValueWords)-1:0]   trace_answer_data_o,
    output logic                           trace_read_valid_o,
    output logic [95:0]                    trace_read_data_o,
    output logic                           trace_done_valid_o,
    output logic [15:0]                    trace_done_data_o,
    output logic                           trace_scan_valid_o,
    output logic [64*(3+ValueWords)-1:0]   trace_scan_data_o,
    output logic                           trace_word_valid_o,
    output logic [127:0]                   trace_word_data_o
);
    import lookup_pkg::*;

    if (LogContexts < 1 || LogContexts > 7) begin : g_contexts
        $error("LogContexts is %0d, expected 1 to 7", LogContexts);
    end
    if (LandingLines < 1 || LandingLines > 64 || 64 * LandingLines < SlotBytes) begin : g_lines
        $error("LandingLines is %0d, expected 1 to 64 and a slot's", LandingLines);
    end

    // ---- Registers.

    logic         access_valid, access_write, access_done, access_error;
    logic [11:0]  access_address;
    logic [31:0]  access_data, read_data;
    logic [3:0]   access_strobe;
    axi_lite_blocks #(
        .Blocks(1)
    ) i_axi_lite (
        .clk_i,
        .rst_ni,
        .s_axil_awvalid,
        .s_axil_awready,
        .s_axil_awaddr  ({4'd0, s_axil_awaddr}),
        .s_axil_wvalid,
        .s_axil_wready,
        .s_axil_wdata,
        .s_axil_wstrb,
        .s_axil_bvalid,
        .s_axil_bready,
        .s_axil_bresp,
        .s_axil_arvalid,
        .s_axil_arready,
        .s_axil_araddr  ({4'd0, s_axil_araddr}),
        .s_axil_rvalid,
        .s_axil_rready,
        .s_axil_rdata,
        .s_axil_rresp,
        .block_valid_o  (access_valid),
        .block_write_o  (access_write),
        .block_address_o(access_address),
        .block_data_o   (access_data),
        .block_strobe_o (access_strobe),
        .block_done_i   (access_done),
        .block_error_i  (access_error),
        .block_data_i   (read_data)
    );

    logic          enable, nothing_under_way;
    settings_t     settings;
    logic [8:0]    under_way;
    index_events_t index_events;
    walk_events_t  walk_events;
    logic          read_given;
    read_t         given_read;
    lookup_block #(
        .SlotBytes   (SlotBytes),
        .ValueWords  (ValueWords),
        .LogSets     (LogSets),
        .LogWays     (LogWays),
        .SegmentBits (SegmentBits),
        .Objects     (Objects),
        .MostPins    (MostPins),
        .LogContexts (LogContexts),
        .LandingLines(LandingLines)
    ) i_block (
        .clk_i,
        .rst_ni,
        .valid_i       (access_valid),
        .write_i       (access_write),
        .address_i     (access_address),
        .data_i        (access_data),
        .strobe_i      (access_strobe),
        .done_o        (access_done),
        .error_o       (access_error),
        .data_o        (read_data),
        .enable_o      (enable),
        .settings_o    (settings),
        .idle_i        (nothing_under_way),
        .under_way_i   (under_way),
        .index_events_i(index_events),
        .walk_events_i (walk_events),
        .read_valid_i  (read_given),
        .read_slots_i  (given_read.slots),
        .read_bytes_i  (given_read.bytes)
    );

    // ---- Not yet connected.

    assign nothing_under_way = 1'b1;
    assign under_way = '0;
    assign index_events = '0;
    assign walk_events = '0;
    assign read_given = 1'b0;
    assign given_read = '0;
    assign {s_axis_req_tready, m_axis_rsp_tvalid, s_axis_sw_tready, m_axis_swrsp_tvalid} = '0;
    assign {m_axis_rsp_tdata, m_axis_swrsp_tdata} = '0;
    assign {m_axi_host_arvalid, m_axi_host_arid, m_axi_host_araddr, m_axi_host_arlen,
            m_axi_host_arsize, m_axi_host_arburst, m_axi_host_arcache, m_axi_host_arprot,
            m_axi_host_rready} = '0;
    assign {m_axi_nic_awvalid, m_axi_nic_awid, m_axi_nic_awaddr, m_axi_nic_awlen, m_axi_nic_awsize,
            m_axi_nic_awburst, m_axi_nic_awcache, m_axi_nic_awprot, m_axi_nic_wvalid, m_axi_nic_wdata,
            m_axi_nic_wstrb, m_axi_nic_wlast, m_axi_nic_bready, m_axi_nic_arvalid, m_axi_nic_arid,
            m_axi_nic_araddr, m_axi_nic_arlen, m_axi_nic_arsize, m_axi_nic_arburst,
            m_axi_nic_arcache, m_axi_nic_arprot, m_axi_nic_rready} = '0;
    assign idle_o = 1'b1;
    assign {trace_request_valid_o, trace_request_data_o, trace_answer_valid_o, trace_answer_data_o,
            trace_read_valid_o, trace_read_data_o, trace_done_valid_o, trace_done_data_o,
            trace_scan_valid_o, trace_scan_data_o, trace_word_valid_o, trace_word_data_o} = '0;

    logic unused;
    assign unused = ^{s_axil_awprot, s_axil_arprot, enable, settings, LogMisses, LogParked,
        s_axis_req_tvalid, s_axis_req_tdata, m_axis_rsp_tready, s_axis_sw_tvalid, s_axis_sw_tdata,
        m_axis_swrsp_tready, m_axi_host_arready, m_axi_host_rvalid, m_axi_host_rid, m_axi_host_rdata,
        m_axi_host_rresp, m_axi_host_rlast, m_axi_nic_awready, m_axi_nic_wready, m_axi_nic_bvalid,
        m_axi_nic_bid, m_axi_nic_bresp, m_axi_nic_arready, m_axi_nic_rvalid, m_axi_nic_rid,
        m_axi_nic_rdata, m_axi_nic_rresp, m_axi_nic_rlast, given_read};

endmodule
