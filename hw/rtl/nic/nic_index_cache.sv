// SPDX-License-Identifier: MIT OR Apache-2.0
// Caches entries of an index that lies in NIC memory, and carries out operations on their objects.
//
// Contract: takes requests on `s_axis_req` and answers each once on `m_axis_rsp`, with its token;
// layouts of both, and what each operation does, are in docs/nic-lookup.md and the crate `nic`
// (ndp-runtime/nic/src/index). Operations on one entry are carried out, and answered, in the order
// in which they were accepted; others overtake those that wait for memory. An entry that is not
// cached is fetched over `m_axi`, and the one whose place it takes is first written back there if it
// was changed. If either access fails, the requests that wait for the entry are answered with
// BusError and have changed nothing; what was changed stays in the cache. The configuration stays as
// it is from the first request on: the base of the index is a multiple of an entry's stride, there
// are at most 2**SegmentBits segments, `more_i` (k) is 1 to 64. Nothing else may write to the index.
//
// While `flush_i` is high, from the clock after it has risen on, no request is accepted; when nothing
// is under way any more, all changed entries are written back, and stay cached. `flushed_o` is high
// from the end of this until `flush_i` falls, with `flush_failed_o` if a write has failed, whose entry
// then counts as changed. A flush that ends earlier is called off.
//
// Source: Xenic, sections 4.1.3 (caching index) and 4.2 (locks, versions, pins).
module nic_index_cache #(
    parameter int unsigned LogSets     = 12,
    parameter int unsigned LogWays     = 2,
    parameter int unsigned SegmentBits = 24,
    parameter int unsigned Objects     = 2,
    parameter int unsigned ValueWords  = 1,
    parameter int unsigned MostPins    = 255,
    parameter int unsigned LogMisses   = 4,   // fetches under way, 2 to 128
    parameter int unsigned LogParked   = 4    // requests that wait for each of them, at least 8
) (
    input  logic                           clk_i,
    input  logic                           rst_ni,

    input  logic [63:0]                    index_base_i,
    input  logic [31:0]                    segments_i,
    input  logic [63:0]                    table_base_i,
    input  logic [31:0]                    slots_i,
    input  logic [4:0]                     slot_units_i,   // of 16 bytes
    input  logic [5:0]                     limit_i,        // D_m
    input  logic [6:0]                     more_i,         // k
    output logic                           idle_o,         // nothing is under way

    input  logic                           flush_i,
    output logic                           flushed_o,
    output logic                           flush_failed_o,

    // A clock ago, each for one clock, for counters.
    output logic                           accepted_o,     // a request was accepted
    output logic                           fetch_o,        // the fetch of an entry began
    output logic                           write_back_o,   // an entry was written back
    output logic                           failed_o,       // an access to memory failed

    input  logic                           s_axis_req_tvalid,
    output logic                           s_axis_req_tready,
    input  logic [64*(4+ValueWords)-1:0]   s_axis_req_tdata,
    output logic                           m_axis_rsp_tvalid,
    input  logic                           m_axis_rsp_tready,
    output logic [64*(3+ValueWords)-1:0]   m_axis_rsp_tdata,

    output logic                           m_axi_awvalid,
    input  logic                           m_axi_awready,
    output logic [7:0]                     m_axi_awid,
    output logic [63:0]                    m_axi_awaddr,
    output logic [7:0]                     m_axi_awlen,
    output logic [2:0]                     m_axi_awsize,
    output logic [1:0]                     m_axi_awburst,
    output logic                           m_axi_wvalid,
    input  logic                           m_axi_wready,
    output logic [511:0]                   m_axi_wdata,
    output logic [63:0]                    m_axi_wstrb,
    output logic                           m_axi_wlast,
    input  logic                           m_axi_bvalid,
    output logic                           m_axi_bready,
    input  logic [7:0]                     m_axi_bid,
    input  logic [1:0]                     m_axi_bresp,
    output logic                           m_axi_arvalid,
    input  logic                           m_axi_arready,
    output logic [7:0]                     m_axi_arid,
    output logic [63:0]                    m_axi_araddr,
    output logic [7:0]                     m_axi_arlen,
    output logic [2:0]                     m_axi_arsize,
    output logic [1:0]                     m_axi_arburst,
    input  logic                           m_axi_rvalid,
    output logic                           m_axi_rready,
    input  logic [7:0]                     m_axi_rid,
    input  logic [511:0]                   m_axi_rdata,
    input  logic [1:0]                     m_axi_rresp,
    input  logic                           m_axi_rlast
);
    import index_pkg::*;

    localparam int unsigned Misses     = 2**LogMisses;
    localparam int unsigned EntryWords = 1 + Objects * (2 + ValueWords);
    localparam int unsigned Lines      = (EntryWords + 7) / 8;
    localparam int unsigned LogAnswers = 4;
    typedef logic [LogMisses-1:0]     miss_t;
    typedef logic [LogWays-1:0]       way_t;
    typedef logic [SegmentBits-1:0]   segment_t;
    typedef logic [64*ValueWords-1:0] value_t;

    // What enters the pipeline: a waiting request or a claim goes before a new request, and a flush
    // lets none in.
    logic     takes_new, offers, replays, claims, may_offer, has_room, clearing, stops, flushes;
    request_t new_request, parked_request, request, undecided_request;
    value_t   new_value, parked_value, value, undecided_value;
    assign new_request = request_t'(s_axis_req_tdata[255:0]);
    assign new_value   = s_axis_req_tdata[256 +: 64*ValueWords];
    assign takes_new   = s_axis_req_tvalid && s_axis_req_tready;
    assign request     = replays ? parked_request : new_request;
    assign value       = replays ? parked_value : new_value;
    assign s_axis_req_tready = !clearing && !stops && !offers && may_offer && has_room;

    // Each request in the pipeline has a place among the answers.
    logic                 parks, again, answered, answer_taken;
    logic [LogAnswers:0]  owed_q;
    logic                 enters, leaves, no_fetch, is_idle;
    assign has_room     = !owed_q[LogAnswers];
    assign enters       = takes_new || replays;
    assign leaves       = parks || again;
    assign is_idle      = no_fetch && owed_q == 0;
    assign idle_o       = is_idle && !flushes;
    assign answer_taken = m_axis_rsp_tvalid && m_axis_rsp_tready;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) owed_q <= '0;
        else owed_q <= owed_q + (LogAnswers + 1)'(enters) - (LogAnswers + 1)'(leaves)
            - (LogAnswers + 1)'(answer_taken);
    end

    logic [Misses-1:0]    active;
    logic [Misses-1:0][SegmentBits-1:0] segments, victims;
    logic [Misses-1:0]    to_fetch, to_write, fetch_taken, write_taken, fetched, written;
    logic                 fetch_error, write_error, starts, claimed, dirty, unclaimed, issued, last;
    logic                 first, has_error, has_write_error, has_place;
    logic [1:0]           undecided;
    miss_t                free, decided_miss, replayed_miss, offered_miss;
    way_t                 offered_way, victim_way;
    segment_t             offered_segment, segment, victim;
    logic               walks, cleans, walked, changed;
    miss_t              flush_miss;
    way_t               flush_way;
    logic [LogSets-1:0] flush_set;
    assign segment = flushes ? segment_t'(flush_set)
        : offers ? offered_segment : new_request.segment[SegmentBits-1:0];

    logic                       step_valid;
    step_t                      step;
    logic [LogSets+LogWays-1:0] place;
    miss_t                      step_miss;
    request_t                   step_request;
    value_t                     step_value;

    index_tags #(
        .LogSets    (LogSets),
        .LogWays    (LogWays),
        .SegmentBits(SegmentBits),
        .ValueWords (ValueWords),
        .LogMisses  (LogMisses)
    ) i_tags (
        .clk_i,
        .rst_ni,
        .clearing_o      (clearing),
        .segments_i,
        .slots_i,
        .limit_i,
        .new_i           (takes_new),
        .replay_i        (replays),
        .claim_i         (claims),
        .walk_i          (walks),
        .clean_i         (cleans),
        .first_i         (first),
        .bus_error_i     (has_error),
        .write_error_i   (has_write_error),
        .has_place_i     (has_place),
        .miss_i          (flushes ? flush_miss : offered_miss),
        .way_i           (flushes ? flush_way : offered_way),
        .segment_i       (segment),
        .request_i       (request),
        .value_i         (value),
        .active_i        (active),
        .segments_of_i   (segments),
        .free_i          (free),
        .last_i          (last),
        .replayed_miss_o (replayed_miss),
        .undecided_o     (undecided),
        .decided_miss_o  (decided_miss),
        .park_o          (parks),
        .start_o         (starts),
        .claimed_o       (claimed),
        .dirty_o         (dirty),
        .unclaimed_o     (unclaimed),
        .issued_o        (issued),
        .again_o         (again),
        .walked_o        (walked),
        .changed_o       (changed),
        .way_o           (victim_way),
        .victim_o        (victim),
        .parked_request_o(undecided_request),
        .parked_value_o  (undecided_value),
        .step_valid_o    (step_valid),
        .step_o          (step),
        .place_o         (place),
        .step_miss_o     (step_miss),
        .step_request_o  (step_request),
        .step_value_o    (step_value)
    );

    logic                  snapshot;
    miss_t                 snapshot_miss, line_miss;
    logic [512*Lines-1:0]  line, snapshot_line;

    index_misses #(
        .LogWays    (LogWays),
        .SegmentBits(SegmentBits),
        .ValueWords (ValueWords),
        .LogMisses  (LogMisses),
        .LogParked  (LogParked)
    ) i_misses (
        .clk_i,
        .rst_ni,
        .park_i          (parks),
        .start_i         (starts),
        .claimed_i       (claimed),
        .dirty_i         (dirty),
        .unclaimed_i     (unclaimed),
        .issued_i        (issued),
        .again_i         (again),
        .changed_i       (changed),
        .decided_miss_i  (decided_miss),
        .replayed_miss_i (replayed_miss),
        .way_i           (victim_way),
        .victim_i        (victim),
        .undecided_i     (undecided),
        .parked_request_i(undecided_request),
        .parked_value_i  (undecided_value),
        .active_o        (active),
        .segments_o      (segments),
        .free_o          (free),
        .last_o          (last),
        .may_offer_o     (may_offer),
        .idle_o          (no_fetch),
        .may_replay_i    (has_room),
        .replay_o        (replays),
        .claim_o         (claims),
        .offers_o        (offers),
        .first_o         (first),
        .bus_error_o     (has_error),
        .write_error_o   (has_write_error),
        .has_place_o     (has_place),
        .miss_o          (offered_miss),
        .way_o           (offered_way),
        .segment_o       (offered_segment),
        .request_o       (parked_request),
        .value_o         (parked_value),
        .to_fetch_o      (to_fetch),
        .to_write_o      (to_write),
        .victims_o       (victims),
        .fetch_taken_i   (fetch_taken),
        .write_taken_i   (write_taken),
        .fetched_i       (fetched),
        .written_i       (written),
        .fetch_error_i   (fetch_error),
        .write_error_i   (write_error),
        .snapshot_i      (snapshot),
        .snapshot_miss_i (snapshot_miss)
    );

    index_flush #(
        .LogSets  (LogSets),
        .LogWays  (LogWays),
        .LogMisses(LogMisses)
    ) i_flush (
        .clk_i,
        .rst_ni,
        .flush_i,
        .idle_i       (is_idle && !clearing),
        .stops_o      (stops),
        .busy_o       (flushes),
        .flushed_o,
        .failed_o     (flush_failed_o),
        .walk_o       (walks),
        .clean_o      (cleans),
        .miss_o       (flush_miss),
        .set_o        (flush_set),
        .way_o        (flush_way),
        .walked_i     (walked),
        .changed_i    (changed),
        .walked_miss_i(decided_miss),
        .written_i    (written),
        .write_error_i(write_error)
    );

    index_memory_port #(
        .SegmentBits(SegmentBits),
        .LogMisses  (LogMisses),
        .Lines      (Lines)
    ) i_memory_port (
        .clk_i,
        .rst_ni,
        .base_i         (index_base_i),
        .to_fetch_i     (to_fetch),
        .to_write_i     (to_write),
        .segments_i     (segments),
        .victims_i      (victims),
        .fetch_taken_o  (fetch_taken),
        .write_taken_o  (write_taken),
        .fetched_o      (fetched),
        .written_o      (written),
        .fetch_error_o  (fetch_error),
        .write_error_o  (write_error),
        .line_miss_i    (line_miss),
        .line_o         (line),
        .snapshot_i     (snapshot),
        .snapshot_miss_i(snapshot_miss),
        .snapshot_line_i(snapshot_line),
        .m_axi_awvalid,
        .m_axi_awready,
        .m_axi_awid,
        .m_axi_awaddr,
        .m_axi_awlen,
        .m_axi_awsize,
        .m_axi_awburst,
        .m_axi_wvalid,
        .m_axi_wready,
        .m_axi_wdata,
        .m_axi_wstrb,
        .m_axi_wlast,
        .m_axi_bvalid,
        .m_axi_bready,
        .m_axi_bid,
        .m_axi_bresp,
        .m_axi_arvalid,
        .m_axi_arready,
        .m_axi_arid,
        .m_axi_araddr,
        .m_axi_arlen,
        .m_axi_arsize,
        .m_axi_arburst,
        .m_axi_rvalid,
        .m_axi_rready,
        .m_axi_rid,
        .m_axi_rdata,
        .m_axi_rresp,
        .m_axi_rlast
    );

    answer_t answer, whole_answer;
    value_t  answer_value;
    logic [63:0] address;

    index_entries #(
        .LogPlaces (LogSets + LogWays),
        .Objects   (Objects),
        .ValueWords(ValueWords),
        .MostPins  (MostPins),
        .LogMisses (LogMisses),
        .Lines     (Lines)
    ) i_entries (
        .clk_i,
        .rst_ni,
        .limit_i,
        .more_i,
        .valid_i        (step_valid),
        .step_i         (step),
        .place_i        (place),
        .miss_i         (step_miss),
        .request_i      (step_request),
        .value_i        (step_value),
        .line_miss_o    (line_miss),
        .line_i         (line),
        .snapshot_o     (snapshot),
        .snapshot_miss_o(snapshot_miss),
        .snapshot_line_o(snapshot_line),
        .answer_valid_o (answered),
        .answer_o       (answer),
        .answer_value_o (answer_value)
    );

    // Five clocks from the offer to the answer.
    logic [31:0] home_q;
    always_ff @(posedge clk_i) home_q <= request.home;
    home_address i_home_address (
        .clk_i,
        .base_i   (table_base_i),
        .units_i  (slot_units_i),
        .home_i   (home_q),
        .address_o(address)
    );
    always_comb begin
        whole_answer         = answer;
        whole_answer.address = answer.status == OutOfRange || answer.status == BusError ? '0 : address;
    end

    lut_fifo #(
        .LogDepth(LogAnswers),
        .Width   ($bits(answer_t) + 64 * ValueWords)
    ) i_answers (
        .clk_i,
        .rst_ni,
        .push_i (answered),
        .data_i ({answer_value, whole_answer}),
        .pop_i  (answer_taken),
        .valid_o(m_axis_rsp_tvalid),
        .data_o (m_axis_rsp_tdata)
    );

    // A fetch and a write-back can fail in one clock: then the event of one follows later.
    logic               fetch_fails, write_fails, fails;
    logic [LogMisses:0] failures_q;
    assign fetch_fails = |fetched && fetch_error;
    assign write_fails = |written && write_error;
    assign fails       = fetch_fails || write_fails || failures_q != 0;
    always_ff @(posedge clk_i) begin
        accepted_o   <= takes_new;
        fetch_o      <= starts;
        write_back_o <= |written && !write_error;
        failed_o     <= fails;
        failures_q   <= failures_q + (LogMisses + 1)'(fetch_fails) + (LogMisses + 1)'(write_fails)
            - (LogMisses + 1)'(fails);
        if (!rst_ni) begin
            accepted_o   <= 1'b0;
            fetch_o      <= 1'b0;
            write_back_o <= 1'b0;
            failed_o     <= 1'b0;
            failures_q   <= '0;
        end
    end

`ifndef SYNTHESIS
    answer_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axis_rsp_tvalid && !m_axis_rsp_tready)
            || m_axis_rsp_tvalid && $stable(m_axis_rsp_tdata));
    answers_have_room: assert property (@(posedge clk_i) disable iff (!rst_ni)
        owed_q <= (LogAnswers + 1)'(2**LogAnswers));
    failures_are_counted: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(&failures_q));
`endif

endmodule
