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
//   trace_sent_o        for each queue of the vectorizer two bits: a vector was sent because it was full
//                       (1), had waited for the flush time (2) or was idle (3); else 0
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
    output logic [127:0]                   trace_word_data_o,
    output logic [15:0]                    trace_sent_o
);
    import lookup_pkg::*;
    import vector_pkg::*;

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

    logic          enable, nothing_under_way, flush, flushed, flush_failed;
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
        .flush_o       (flush),
        .flushed_i     (flushed),
        .flush_failed_i(flush_failed),
        .settings_o    (settings),
        .idle_i        (nothing_under_way),
        .under_way_i   (under_way),
        .index_events_i(index_events),
        .walk_events_i (walk_events),
        .read_valid_i  (read_given),
        .read_slots_i  (given_read.slots),
        .read_bytes_i  (given_read.bytes)
    );

    // ---- Requests come in.

    logic                         begun, homed, begins, frees, index_idle, clearing, entrance_idle;
    context_t                     begun_number, homed_number, begins_number, free_number;
    request_t                     begun_request;
    logic [31:0]                  home;
    place_t                       begins_place;
    logic [6:0]                   begins_slots;
    logic                         asks_valid, asks_ready, tells_valid, tells_ready;
    logic [64*(4+ValueWords)-1:0] asks_data, tells_data;
    lookup_entrance #(
        .ValueWords (ValueWords),
        .LogContexts(LogContexts)
    ) i_entrance (
        .clk_i,
        .rst_ni,
        .enable_i       (enable && !clearing),
        .slots_i        (settings.slots),
        .segment_shift_i(settings.segment_shift),
        .s_axis_req_tvalid,
        .s_axis_req_tready,
        .s_axis_req_tdata,
        .s_axis_sw_tvalid,
        .s_axis_sw_tready,
        .s_axis_sw_tdata,
        .begun_valid_o  (begun),
        .begun_o        (begun_number),
        .begun_request_o(begun_request),
        .homed_valid_o  (homed),
        .homed_o        (homed_number),
        .home_o         (home),
        .index_valid_o  (asks_valid),
        .index_ready_i  (asks_ready),
        .index_data_o   (asks_data),
        .free_i         (frees),
        .free_number_i  (free_number),
        .answered_i     (m_axis_rsp_tvalid && m_axis_rsp_tready),
        .sw_answered_i  (m_axis_swrsp_tvalid && m_axis_swrsp_tready),
        .idle_o         (entrance_idle),
        .under_way_o    (under_way)
    );
    assign nothing_under_way = entrance_idle && index_idle;
    always_ff @(posedge clk_i) idle_o <= nothing_under_way && !(s_axis_req_tvalid && s_axis_req_tready)
        && !(s_axis_sw_tvalid && s_axis_sw_tready);

    // ---- The index. What it is told goes before what it is asked.

    logic                         index_valid, index_ready, given_valid, given_ready;
    logic                         answer_valid, answer_ready;
    logic [64*(4+ValueWords)-1:0] given_data;
    logic [64*(3+ValueWords)-1:0] index_answer;
    assign index_valid = tells_valid || asks_valid;
    assign tells_ready = index_ready;
    assign asks_ready  = index_ready && !tells_valid;
    stream_buffer #(
        .Width(64 * (4 + ValueWords))
    ) i_index_requests (
        .clk_i,
        .rst_ni,
        .valid_i(index_valid),
        .ready_o(index_ready),
        .data_i (tells_valid ? tells_data : asks_data),
        .valid_o(given_valid),
        .ready_i(given_ready),
        .data_o (given_data)
    );

    logic [3:0] index_happened;
    nic_index_cache #(
        .LogSets    (LogSets),
        .LogWays    (LogWays),
        .SegmentBits(SegmentBits),
        .Objects    (Objects),
        .ValueWords (ValueWords),
        .MostPins   (MostPins),
        .LogMisses  (LogMisses),
        .LogParked  (LogParked)
    ) i_index (
        .clk_i,
        .rst_ni,
        .index_base_i     (settings.index_base),
        .segments_i       (settings.segments),
        .table_base_i     (settings.table_base),
        .slots_i          (settings.slots),
        .slot_units_i     (5'(SlotBytes / 16)),
        .limit_i          (settings.limit),
        .more_i           (settings.more),
        .idle_o           (index_idle),
        .flush_i          (flush),
        .flushed_o        (flushed),
        .flush_failed_o   (flush_failed),
        .accepted_o       (index_happened[0]),
        .fetch_o          (index_happened[1]),
        .write_back_o     (index_happened[2]),
        .failed_o         (index_happened[3]),
        .s_axis_req_tvalid(given_valid),
        .s_axis_req_tready(given_ready),
        .s_axis_req_tdata (given_data),
        .m_axis_rsp_tvalid(answer_valid),
        .m_axis_rsp_tready(answer_ready),
        .m_axis_rsp_tdata (index_answer),
        .m_axi_awvalid    (m_axi_nic_awvalid),
        .m_axi_awready    (m_axi_nic_awready),
        .m_axi_awid       (m_axi_nic_awid),
        .m_axi_awaddr     (m_axi_nic_awaddr),
        .m_axi_awlen      (m_axi_nic_awlen),
        .m_axi_awsize     (m_axi_nic_awsize),
        .m_axi_awburst    (m_axi_nic_awburst),
        .m_axi_wvalid     (m_axi_nic_wvalid),
        .m_axi_wready     (m_axi_nic_wready),
        .m_axi_wdata      (m_axi_nic_wdata),
        .m_axi_wstrb      (m_axi_nic_wstrb),
        .m_axi_wlast      (m_axi_nic_wlast),
        .m_axi_bvalid     (m_axi_nic_bvalid),
        .m_axi_bready     (m_axi_nic_bready),
        .m_axi_bid        (m_axi_nic_bid),
        .m_axi_bresp      (m_axi_nic_bresp),
        .m_axi_arvalid    (m_axi_nic_arvalid),
        .m_axi_arready    (m_axi_nic_arready),
        .m_axi_arid       (m_axi_nic_arid),
        .m_axi_araddr     (m_axi_nic_araddr),
        .m_axi_arlen      (m_axi_nic_arlen),
        .m_axi_arsize     (m_axi_nic_arsize),
        .m_axi_arburst    (m_axi_nic_arburst),
        .m_axi_rvalid     (m_axi_nic_rvalid),
        .m_axi_rready     (m_axi_nic_rready),
        .m_axi_rid        (m_axi_nic_rid),
        .m_axi_rdata      (m_axi_nic_rdata),
        .m_axi_rresp      (m_axi_nic_rresp),
        .m_axi_rlast      (m_axi_nic_rlast)
    );
    assign {m_axi_nic_awcache, m_axi_nic_awprot, m_axi_nic_arcache, m_axi_nic_arprot} = {2{7'b0011000}};

    logic                         walked_valid, walked_frees;
    context_t                     walked_number;
    logic [64*(2+ValueWords)-1:0] walked_data;
    lookup_answers #(
        .SlotBytes   (SlotBytes),
        .ValueWords  (ValueWords),
        .LogContexts (LogContexts),
        .LandingLines(LandingLines)
    ) i_answers (
        .clk_i,
        .rst_ni,
        .value_bytes_i  (settings.value_bytes),
        .begun_valid_i  (begun),
        .begun_i        (begun_number),
        .begun_request_i(begun_request),
        .index_valid_i  (answer_valid),
        .index_ready_o  (answer_ready),
        .index_data_i   (index_answer),
        .walk_valid_i   (walked_valid),
        .walk_frees_i   (walked_frees),
        .walk_number_i  (walked_number),
        .walk_data_i    (walked_data),
        .begins_o       (begins),
        .begins_number_o(begins_number),
        .begins_place_o (begins_place),
        .begins_slots_o (begins_slots),
        .free_o         (frees),
        .free_number_o  (free_number),
        .events_o       (index_events),
        .m_axis_rsp_tvalid,
        .m_axis_rsp_tready,
        .m_axis_rsp_tdata,
        .m_axis_swrsp_tvalid,
        .m_axis_swrsp_tready,
        .m_axis_swrsp_tdata
    );

    // ---- Reads of host memory.

    logic                trip, walk_reads, walk_read_ready, ended_valid, ended_ready;
    context_t            trip_number;
    logic [2:0]          trip_parts;
    slots_t              trip_slots;
    read_t               walk_read;
    ended_t              ended;
    logic [Queues-1:0]   cmd_valid, cmd_ready;
    element_t            cmd;
    logic                done_valid;
    done_t               done;
    lookup_reads #(
        .SlotBytes   (SlotBytes),
        .LogContexts (LogContexts),
        .LandingLines(LandingLines)
    ) i_reads (
        .clk_i,
        .rst_ni,
        .clearing_o      (clearing),
        .begins_i        (begins),
        .begins_number_i (begins_number),
        .begins_address_i(begins_place.address),
        .begins_slots_i  (begins_slots),
        .parts_valid_i   (trip),
        .parts_number_i  (trip_number),
        .parts_i         (trip_parts),
        .walk_valid_i    (walk_reads),
        .walk_ready_o    (walk_read_ready),
        .walk_read_i     (walk_read),
        .cmd_valid_o     (cmd_valid),
        .cmd_ready_i     (cmd_ready),
        .cmd_o           (cmd),
        .given_o         (read_given),
        .given_read_o    (given_read),
        .done_valid_i    (done_valid),
        .done_i          (done),
        .ended_valid_o   (ended_valid),
        .ended_ready_i   (ended_ready),
        .ended_o         (ended)
    );

    localparam int unsigned LineAddressBits = 9 + $clog2(LandingLines);
    logic [LineAddressBits-1:0] line_address;
    logic [511:0]               line;
    context_t                   word_number, landed_number;
    logic [63:0]                word, landed_word;
    logic                       landed;
    landing_reader #(
        .LogContexts (LogContexts),
        .LandingLines(LandingLines)
    ) i_landing (
        .clk_i,
        .rst_ni,
        .idle_time_i    (settings.idle_time),
        .flush_time_i   (settings.flush_time),
        .cmd_valid_i    (cmd_valid),
        .cmd_ready_o    (cmd_ready),
        .cmd_i          (cmd),
        .done_valid_o   (done_valid),
        .done_o         (done),
        .line_address_i (line_address),
        .line_o         (line),
        .word_number_i  (word_number),
        .word_o         (word),
        .landed_o       (landed),
        .landed_number_o(landed_number),
        .landed_word_o  (landed_word),
        .sent_o         (trace_sent_o),
        .m_axi_arvalid  (m_axi_host_arvalid),
        .m_axi_arready  (m_axi_host_arready),
        .m_axi_arid     (m_axi_host_arid),
        .m_axi_araddr   (m_axi_host_araddr),
        .m_axi_arlen    (m_axi_host_arlen),
        .m_axi_rvalid   (m_axi_host_rvalid),
        .m_axi_rid      (m_axi_host_rid),
        .m_axi_rdata    (m_axi_host_rdata),
        .m_axi_rresp    (m_axi_host_rresp),
        .m_axi_rlast    (m_axi_host_rlast)
    );
    assign {m_axi_host_arsize, m_axi_host_arburst} = {3'd6, 2'd1};
    assign {m_axi_host_arcache, m_axi_host_arprot} = {4'b0011, 3'd0};
    assign m_axi_host_rready = 1'b1;

    // ---- Scans, and what follows from them.

    logic                       seen_valid, seen_ready, scanned;
    seen_t                      seen;
    logic [64*ValueWords-1:0]   seen_value;
    logic [1:0]                 scanned_part;
    logic [64*ValueWords+127:0] scanned_data;
    lookup_scans #(
        .SlotBytes   (SlotBytes),
        .ValueWords  (ValueWords),
        .LogContexts (LogContexts),
        .LandingLines(LandingLines)
    ) i_scans (
        .clk_i,
        .rst_ni,
        .limit_i        (settings.limit),
        .begun_valid_i  (begun),
        .begun_i        (begun_number),
        .begun_key_i    (begun_request.key),
        .begins_i       (begins),
        .begins_number_i(begins_number),
        .begins_slots_i (begins_slots),
        .slots_valid_i  (trip),
        .slots_number_i (trip_number),
        .slots_i        (trip_slots),
        .ended_valid_i  (ended_valid),
        .ended_ready_o  (ended_ready),
        .ended_i        (ended),
        .line_address_o (line_address),
        .line_i         (line),
        .seen_valid_o   (seen_valid),
        .seen_ready_i   (seen_ready),
        .seen_o         (seen),
        .seen_value_o   (seen_value),
        .scanned_o      (scanned),
        .scanned_part_o (scanned_part),
        .scanned_data_o (scanned_data)
    );

    lookup_walk #(
        .SlotBytes   (SlotBytes),
        .ValueWords  (ValueWords),
        .LandingLines(LandingLines)
    ) i_walk (
        .clk_i,
        .rst_ni,
        .settings_i     (settings),
        .begun_valid_i  (begun),
        .begun_i        (begun_number),
        .begun_key_i    (begun_request.key),
        .begun_token_i  (begun_request.token),
        .begun_locks_i  (begun_request.operation == index_pkg::LockAndRead),
        .homed_valid_i  (homed),
        .homed_i        (homed_number),
        .home_i         (home),
        .begins_i       (begins),
        .begins_number_i(begins_number),
        .begins_place_i (begins_place),
        .begins_slots_i (begins_slots),
        .seen_valid_i   (seen_valid),
        .seen_ready_o   (seen_ready),
        .seen_i         (seen),
        .seen_value_i   (seen_value),
        .word_number_o  (word_number),
        .word_i         (word),
        .trip_o         (trip),
        .trip_number_o  (trip_number),
        .trip_parts_o   (trip_parts),
        .trip_slots_o   (trip_slots),
        .read_valid_o   (walk_reads),
        .read_ready_i   (walk_read_ready),
        .read_o         (walk_read),
        .answer_valid_o (walked_valid),
        .answer_frees_o (walked_frees),
        .answer_number_o(walked_number),
        .answer_data_o  (walked_data),
        .tell_valid_o   (tells_valid),
        .tell_ready_i   (tells_ready),
        .tell_data_o    (tells_data),
        .events_o       (walk_events)
    );

    // ---- Traces.

    always_ff @(posedge clk_i) begin
        trace_request_data_o <= given_data;
        trace_answer_data_o  <= index_answer;
        trace_done_data_o    <= {4'd0, done.response, done.token[9:0]};
        trace_scan_data_o    <= {scanned_data, 54'd0, scanned_part, scanned_data[48 +: 8]};
        trace_word_data_o    <= {landed_word, 56'd0, landed_number};
        {trace_request_valid_o, trace_answer_valid_o, trace_done_valid_o, trace_scan_valid_o,
         trace_word_valid_o} <= rst_ni ? {given_valid && given_ready, answer_valid && answer_ready,
            done_valid, scanned, landed} : '0;
    end
    assign trace_read_valid_o = read_given;
    assign trace_read_data_o  = {given_read.address, 3'd0, given_read.bytes, 6'd0, given_read.part,
        given_read.number};

    logic unused;
    assign unused = ^{s_axil_awprot, s_axil_arprot, settings, index_happened, begun_request, done};

`ifndef SYNTHESIS
    // Contexts whose slots are being scanned.
    logic [255:0] scanning_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) scanning_q <= '0;
        else begin
            if (seen_valid && seen_ready) scanning_q[seen.number] <= 1'b0;
            if (ended_valid && ended_ready) scanning_q[ended.number] <= 1'b1;
        end
    end
    nothing_lands_where_slots_are_scanned: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !read_given || !scanning_q[given_read.number]);
    a_trip_is_scanned_once: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(ended_valid && ended_ready) || !scanning_q[ended.number]);
`endif

endmodule
