// SPDX-License-Identifier: MIT OR Apache-2.0
// nic_index_cache, around blocks that may do what their jobs prove of them (any_*.sv): a request, which is any, goes from place to place
// until it is answered, with its token and the address of its home; as many are answered as were accepted, or are inside. There is
// room for each answer. An entry is brought only after it came. The ports keep their rules, and a flush is alone.
`include "../rules/rule.svh"
`include "same_rules.svh"
module nic_index_cache_formal
    import index_pkg::*;
#(
    parameter int unsigned LogSets     = 1,
    parameter int unsigned LogWays     = 1,
    parameter int unsigned SegmentBits = 3,
    parameter int unsigned Objects     = 2,
    parameter int unsigned MostPins    = 5,
    parameter int unsigned LogMisses   = 2,
    parameter int unsigned LogParked   = 3,
    localparam int unsigned ValueWords = 1,
    localparam int unsigned Misses     = 2**LogMisses
) (
    input logic                         clk_i,
    input logic                         rst_ni,
    input logic [63:0]                  index_base_i,
    input logic [31:0]                  segments_i,
    input logic [63:0]                  table_base_i,
    input logic [31:0]                  slots_i,
    input logic [4:0]                   slot_units_i,
    input logic [5:0]                   limit_i,
    input logic [6:0]                   more_i,
    input logic                         flush_i,
    input logic                         s_axis_req_tvalid,
    input logic [64*(4+ValueWords)-1:0] s_axis_req_tdata,
    input logic                         m_axis_rsp_tready,
    input logic                         m_axi_awready,
    input logic                         m_axi_wready,
    input logic                         m_axi_bvalid,
    input logic [7:0]                   m_axi_bid,
    input logic [1:0]                   m_axi_bresp,
    input logic                         m_axi_arready,
    input logic                         m_axi_rvalid,
    input logic [7:0]                   m_axi_rid,
    input logic [511:0]                 m_axi_rdata,
    input logic [1:0]                   m_axi_rresp,
    input logic                         m_axi_rlast
);
    logic         idle_o, flushed_o, flush_failed_o, accepted_o, fetch_o, write_back_o, failed_o, s_axis_req_tready;
    logic         m_axis_rsp_tvalid, m_axi_awvalid, m_axi_wvalid, m_axi_wlast, m_axi_bready, m_axi_arvalid, m_axi_rready;
    logic [64*(3+ValueWords)-1:0] m_axis_rsp_tdata;
    logic [7:0]   m_axi_awid, m_axi_awlen, m_axi_arid, m_axi_arlen;
    logic [63:0]  m_axi_awaddr, m_axi_wstrb, m_axi_araddr;
    logic [2:0]   m_axi_awsize, m_axi_arsize;
    logic [1:0]   m_axi_awburst, m_axi_arburst;
    logic [511:0] m_axi_wdata;

    power_up i_power_up (.*);
    nic_index_cache #(
        .LogSets(LogSets), .LogWays(LogWays), .SegmentBits(SegmentBits), .Objects(Objects), .ValueWords(ValueWords),
        .MostPins(MostPins), .LogMisses(LogMisses), .LogParked(LogParked)
    ) i_block (.*);
    axi4_stream_rules #(.Width(64*(4+ValueWords)), .Proven(0)) i_requests (
        .clk_i, .rst_ni, .tvalid(s_axis_req_tvalid), .tready(s_axis_req_tready), .payload(s_axis_req_tdata));
    axi4_stream_rules #(.Width(64*(3+ValueWords))) i_responses (
        .clk_i, .rst_ni, .tvalid(m_axis_rsp_tvalid), .tready(m_axis_rsp_tready), .payload(m_axis_rsp_tdata));
    axi4_rules #(.Most(8), .Bursts(0)) i_rules (
        .clk_i, .rst_ni,
        .awvalid(m_axi_awvalid), .awready(m_axi_awready), .awid(m_axi_awid), .awaddr(m_axi_awaddr),
        .awlen(m_axi_awlen), .awsize(m_axi_awsize), .awburst(m_axi_awburst), .awlock('0), .awatop('0),
        .wvalid(m_axi_wvalid), .wready(m_axi_wready), .wdata(m_axi_wdata), .wstrb(m_axi_wstrb), .wlast(m_axi_wlast),
        .bvalid(m_axi_bvalid), .bready(m_axi_bready), .bid(m_axi_bid), .bresp(m_axi_bresp),
        .arvalid(m_axi_arvalid), .arready(m_axi_arready), .arid(m_axi_arid), .araddr(m_axi_araddr),
        .arlen(m_axi_arlen), .arsize(m_axi_arsize), .arburst(m_axi_arburst), .arlock('0),
        .rvalid(m_axi_rvalid), .rready(m_axi_rready), .rid(m_axi_rid), .rdata(m_axi_rdata), .rresp(m_axi_rresp),
        .rlast(m_axi_rlast));
    `SAME_RULES(i_rules, i_block.i_memory_port.i_rules)
    `RULE(answers_come_to_the_memory_port, 1, {
        m_axi_rvalid, m_axi_rid, m_axi_rdata, m_axi_rresp, m_axi_rlast, m_axi_bvalid, m_axi_bid, m_axi_bresp
    } == {
        i_block.i_memory_port.m_axi_rvalid, i_block.i_memory_port.m_axi_rid, i_block.i_memory_port.m_axi_rdata,
        i_block.i_memory_port.m_axi_rresp, i_block.i_memory_port.m_axi_rlast, i_block.i_memory_port.m_axi_bvalid,
        i_block.i_memory_port.m_axi_bid, i_block.i_memory_port.m_axi_bresp
    })
    `RULE(accesses_are_those_of_the_memory_port, 1, {
        m_axi_arvalid, m_axi_arid, m_axi_araddr, m_axi_awvalid, m_axi_awid, m_axi_awaddr, m_axi_wvalid, m_axi_wdata
    } == {
        i_block.i_memory_port.m_axi_arvalid, i_block.i_memory_port.m_axi_arid, i_block.i_memory_port.m_axi_araddr,
        i_block.i_memory_port.m_axi_awvalid, i_block.i_memory_port.m_axi_awid, i_block.i_memory_port.m_axi_awaddr,
        i_block.i_memory_port.m_axi_wvalid, i_block.i_memory_port.m_axi_wdata
    })

    // What counts of the outputs.
    logic [64*(3+ValueWords)+765:0] seen;
    assign seen = {
        idle_o, flushed_o, flush_failed_o, accepted_o, fetch_o, write_back_o, failed_o, s_axis_req_tready, m_axis_rsp_tvalid,
        m_axis_rsp_tvalid ? m_axis_rsp_tdata : '0, m_axi_bready, m_axi_rready,
        m_axi_awvalid, m_axi_awvalid ? {m_axi_awid, m_axi_awaddr, m_axi_awlen, m_axi_awsize, m_axi_awburst} : 85'd0,
        m_axi_wvalid, m_axi_wvalid ? {m_axi_wdata, m_axi_wstrb, m_axi_wlast} : 577'd0,
        m_axi_arvalid, m_axi_arvalid ? {m_axi_arid, m_axi_araddr, m_axi_arlen, m_axi_arsize, m_axi_arburst} : 85'd0
    };

    // ---- Parameters and settings come to their blocks, and a reset to all.

    localparam int unsigned Lines = (1 + Objects * (2 + ValueWords) + 7) / 8;
    `RULE(blocks_are_as_large_as_the_cache, 1, {
        i_block.i_tags.LogSets, i_block.i_tags.LogWays, i_block.i_tags.SegmentBits, i_block.i_tags.ValueWords,
        i_block.i_tags.LogMisses, i_block.i_misses.LogWays, i_block.i_misses.SegmentBits, i_block.i_misses.ValueWords,
        i_block.i_misses.LogMisses, i_block.i_misses.LogParked
    } == {LogSets, LogWays, SegmentBits, ValueWords, LogMisses, LogWays, SegmentBits, ValueWords, LogMisses, LogParked})
    `RULE(entries_and_lines_are_as_many, 1, {
        i_block.i_entries.LogPlaces, i_block.i_entries.Objects, i_block.i_entries.ValueWords, i_block.i_entries.MostPins,
        i_block.i_entries.LogMisses, i_block.i_entries.Lines, i_block.i_memory_port.SegmentBits, i_block.i_memory_port.LogMisses,
        i_block.i_memory_port.Lines, i_block.i_flush.LogSets, i_block.i_flush.LogWays, i_block.i_flush.LogMisses
    } == {LogSets + LogWays, Objects, ValueWords, MostPins, LogMisses, Lines, SegmentBits, LogMisses, Lines, LogSets, LogWays,
        LogMisses})
    `RULE(table_is_that_of_the_ports, 1, {
        i_block.i_tags.segments_i, i_block.i_tags.slots_i, i_block.i_tags.limit_i, i_block.i_entries.limit_i,
        i_block.i_entries.more_i, i_block.i_memory_port.base_i, i_block.i_home_address.base_i, i_block.i_home_address.units_i
    } == {segments_i, slots_i, limit_i, limit_i, more_i, index_base_i, table_base_i, slot_units_i})
    `RULE(what_memory_answers_is_always_taken, 1, m_axi_rready && m_axi_bready)
    reset_comes_to_all: assert property (@(posedge clk_i) {i_block.i_tags.rst_ni, i_block.i_misses.rst_ni, i_block.i_flush.rst_ni,
        i_block.i_memory_port.rst_ni, i_block.i_entries.rst_ni, i_block.i_answers.rst_ni} == {6{rst_ni}});

    // ---- Tags, fetches, the flush and memory hear of each other.

    logic offers_fetch, offers_step;
    assign offers_fetch = i_block.i_tags.replay_i || i_block.i_tags.claim_i;
    assign offers_step  = i_block.i_tags.walk_i || i_block.i_tags.clean_i;
    `RULE(offers_come_to_the_tags, 1, {
        i_block.i_tags.replay_i, i_block.i_tags.claim_i, i_block.i_tags.walk_i, i_block.i_tags.clean_i,
        i_block.i_tags.new_i
    } == {
        i_block.i_misses.replay_o, i_block.i_misses.claim_o, i_block.i_flush.walk_o, i_block.i_flush.clean_o,
        s_axis_req_tvalid && s_axis_req_tready
    })
    `RULE(fetch_is_offered_with_its_words, 1, !offers_fetch || {
        i_block.i_tags.first_i, i_block.i_tags.bus_error_i, i_block.i_tags.write_error_i, i_block.i_tags.has_place_i,
        i_block.i_tags.miss_i, i_block.i_tags.way_i, i_block.i_tags.segment_i
    } == {
        i_block.i_misses.first_o, i_block.i_misses.bus_error_o, i_block.i_misses.write_error_o,
        i_block.i_misses.has_place_o, i_block.i_misses.miss_o, i_block.i_misses.way_o, i_block.i_misses.segment_o
    })
    `RULE(step_of_a_flush_is_at_its_place, 1, !offers_step || {
        i_block.i_tags.miss_i, i_block.i_tags.way_i, i_block.i_tags.segment_i
    } == {
        i_block.i_flush.miss_o, i_block.i_flush.way_o, SegmentBits'(i_block.i_flush.set_o)
    })
    `RULE(fetches_are_known_to_the_tags, 1, {
        i_block.i_tags.active_i, i_block.i_tags.segments_of_i, i_block.i_tags.free_i, i_block.i_tags.last_i
    } == {
        i_block.i_misses.active_o, i_block.i_misses.segments_o, i_block.i_misses.free_o, i_block.i_misses.last_o
    })
    `RULE(decisions_come_to_the_fetches, 1, {
        i_block.i_misses.park_i, i_block.i_misses.start_i, i_block.i_misses.claimed_i, i_block.i_misses.dirty_i,
        i_block.i_misses.unclaimed_i, i_block.i_misses.issued_i, i_block.i_misses.again_i, i_block.i_misses.changed_i,
        i_block.i_misses.decided_miss_i, i_block.i_misses.replayed_miss_i, i_block.i_misses.way_i,
        i_block.i_misses.victim_i, i_block.i_misses.undecided_i
    } == {
        i_block.i_tags.park_o, i_block.i_tags.start_o, i_block.i_tags.claimed_o, i_block.i_tags.dirty_o,
        i_block.i_tags.unclaimed_o, i_block.i_tags.issued_o, i_block.i_tags.again_o, i_block.i_tags.changed_o,
        i_block.i_tags.decided_miss_o, i_block.i_tags.replayed_miss_o, i_block.i_tags.way_o, i_block.i_tags.victim_o,
        i_block.i_tags.undecided_o
    })
    `RULE(memory_does_what_is_wanted, 1, {
        i_block.i_memory_port.to_fetch_i, i_block.i_memory_port.to_write_i, i_block.i_memory_port.segments_i,
        i_block.i_memory_port.victims_i
    } == {
        i_block.i_misses.to_fetch_o, i_block.i_misses.to_write_o, i_block.i_misses.segments_o, i_block.i_misses.victims_o
    })
    `RULE(fetches_hear_of_memory, 1, {
        i_block.i_misses.fetch_taken_i, i_block.i_misses.write_taken_i, i_block.i_misses.fetched_i,
        i_block.i_misses.written_i, i_block.i_misses.fetch_error_i, i_block.i_misses.write_error_i
    } == {
        i_block.i_memory_port.fetch_taken_o, i_block.i_memory_port.write_taken_o, i_block.i_memory_port.fetched_o,
        i_block.i_memory_port.written_o, i_block.i_memory_port.fetch_error_o, i_block.i_memory_port.write_error_o
    })
    `RULE(flush_hears_of_its_steps, 1, {
        i_block.i_flush.flush_i, i_block.i_flush.walked_i, i_block.i_flush.changed_i, i_block.i_flush.walked_miss_i,
        i_block.i_flush.written_i, i_block.i_flush.write_error_i
    } == {
        flush_i, i_block.i_tags.walked_o, i_block.i_tags.changed_o, i_block.i_tags.decided_miss_o,
        i_block.i_memory_port.written_o, i_block.i_memory_port.write_error_o
    })

    // ---- Requests: in the tags, undecided; decided on, to be answered; answers that wait. Each has a place among the answers.

    localparam logic [2:0] New = 3'd1, Replay = 3'd2, Walk = 3'd4, Clean = 3'd5;     // kinds of what the tags are offered
    logic       accepts, gives;
    logic [1:0] reading, deciding;
    logic [4:0] waiting;
    logic [6:0] owed;
    logic [2:0] answering;
    assign accepts   = s_axis_req_tvalid && s_axis_req_tready;
    assign gives     = m_axis_rsp_tvalid && m_axis_rsp_tready;
    assign reading   = {i_block.i_tags.reading_q.kind == Replay, i_block.i_tags.reading_q.kind == New};
    assign deciding  = {i_block.i_tags.its_q.kind == Replay, i_block.i_tags.its_q.kind == New};
    for (genvar n = 0; n < 3; n++) begin : g_answering
        assign answering[n] = i_block.i_entries.steps_q[n].valid && i_block.i_entries.steps_q[n].step.is_answered;
    end
    assign waiting   = i_block.i_answers.count;
    assign owed      = 7'(reading != 0) + 7'(deciding != 0) + 7'(answering[0]) + 7'(answering[1]) + 7'(answering[2]) + 7'(waiting);
    `RULE(answers_have_places, 1, 7'(i_block.owed_q) == owed && owed <= 7'd16)
    `RULE(request_is_accepted_where_it_may_be, 1, s_axis_req_tready == (i_block.i_misses.may_offer_o
        && !i_block.i_misses.offers_o && !i_block.i_tags.clearing_o && !i_block.i_flush.stops_o && owed != 7'd16))
    `RULE(waiting_request_goes_on_where_its_answer_has_a_place, 1, i_block.i_misses.may_replay_i == (owed != 7'd16))
    // As many as were accepted have been answered, or are inside: they wait for a fetch, or are on their way to their answers.
    logic [7:0] inside_q, parked, behind;
    always_comb begin
        parked = '0;
        for (int unsigned n = 0; n < Misses; n++) parked += 8'(i_block.i_misses.counts_q[n]);
    end
    assign behind = parked + 8'(reading[0]) + 8'(deciding[0]) + 8'(answering[0]) + 8'(answering[1]) + 8'(answering[2]) + 8'(waiting);
    always_ff @(posedge clk_i) inside_q <= rst_ni ? inside_q + 8'(accepts) - 8'(gives) : '0;
    `RULE(each_request_is_inside_until_it_is_answered, 1, inside_q == behind)
    `RULE(idle_where_nothing_is_inside, 1, idle_o == (inside_q == 0 && !i_block.i_flush.busy_o))

    // ---- The flush: no request comes from the clock after it was asked for on.

    `RULE(no_request_comes_into_a_flush, 1, !$past(rst_ni && flush_i) || !accepts)
    `RULE(steps_of_a_flush_are_in_the_tags, 1, i_block.i_flush.offered_q == {i_block.i_tags.its_q.kind == Walk
        || i_block.i_tags.its_q.kind == Clean, i_block.i_tags.reading_q.kind == Walk || i_block.i_tags.reading_q.kind == Clean}
        && i_block.i_flush.walks_q == {i_block.i_tags.its_q.kind == Walk, i_block.i_tags.reading_q.kind == Walk}
        && (!i_block.i_flush.offered_q[0] && i_block.i_flush.walks_q == 0 || i_block.i_flush.busy_o))
    `RULE(nothing_is_inside_while_clearing, 1, !i_block.i_tags.clearing_o || inside_q == 0)
    `RULE(flush_is_alone, 1, !i_block.i_flush.busy_o || inside_q == 0 && !accepts && !i_block.i_tags.clearing_o)
    `RULE(flush_may_begin_when_nothing_is_inside, 1,
        i_block.i_flush.idle_i == (inside_q == 0 && !i_block.i_tags.clearing_o))
    `RULE(flush_ends_as_it_says, 1, {flushed_o, flush_failed_o} == {i_block.i_flush.flushed_o, i_block.i_flush.failed_o})

    // ---- An entry that is brought came before, and its line is there when it is read.

    logic [Misses-1:0] came, under_way;
    assign came      = i_block.i_misses.active_o & i_block.i_misses.fetched_q & ~i_block.i_misses.fetch_failed_q;
    assign under_way = i_block.i_memory_port.fetches_q;
    `RULE(install_was_fetched_before_its_step, 1, !(i_block.step_valid && i_block.step.is_install)
        || i_block.i_memory_port.there_q[i_block.step_miss])
    `RULE(line_is_there_when_it_is_read, 1, !(i_block.i_entries.steps_q[0].valid && i_block.i_entries.steps_q[0].step.is_install)
        || i_block.i_memory_port.there_q[i_block.i_memory_port.line_miss_i])
    `RULE(line_is_that_of_its_fetch, 1, i_block.i_entries.line_i == i_block.i_memory_port.line_o)
    `RULE(copy_is_that_of_the_entry, 1, {i_block.i_memory_port.snapshot_i, i_block.i_memory_port.snapshot_miss_i,
        i_block.i_memory_port.snapshot_line_i} == {i_block.i_entries.snapshot_o, i_block.i_entries.snapshot_miss_o,
        i_block.i_entries.snapshot_line_o} && i_block.i_misses.snapshot_i == i_block.i_entries.snapshot_o
        && i_block.i_misses.snapshot_miss_i == i_block.i_entries.snapshot_miss_o)
    `RULE(fetch_under_way_is_known, 1, (came & ~i_block.i_memory_port.there_q) == 0
        && (under_way & (~i_block.i_misses.active_o | i_block.i_misses.fetched_q | i_block.i_misses.to_fetch_o)) == 0)

    // ---- What is told a clock later.

    `RULE(requests_are_told, 1, accepted_o == $past(rst_ni && accepts))
    `RULE(fetches_are_told, 1, fetch_o == $past(rst_ni && i_block.i_tags.start_o))
    `RULE(write_backs_are_told, 1, write_back_o
        == $past(rst_ni && i_block.i_memory_port.written_o != 0 && !i_block.i_memory_port.write_error_o))
    // Of two failures in one clock one is told later.
    logic [LogMisses:0] untold_q;
    logic               fetch_fails, write_fails;
    assign fetch_fails = i_block.i_memory_port.fetched_o != 0 && i_block.i_memory_port.fetch_error_o;
    assign write_fails = i_block.i_memory_port.written_o != 0 && i_block.i_memory_port.write_error_o;
    always_ff @(posedge clk_i) untold_q <= !rst_ni ? '0 : untold_q + (LogMisses + 1)'(fetch_fails) + (LogMisses + 1)'(write_fails)
        - (LogMisses + 1)'(fetch_fails || write_fails || untold_q != 0);
    `RULE(failures_are_told, 1, failed_o == $past(rst_ni && (fetch_fails || write_fails || untold_q != 0))
        && i_block.failures_q == untold_q)

    // ---- One request, which is any, from its acceptance to its answer. Where a block follows another one, nothing more is said of it.

    typedef enum logic [3:0] {Nowhere, Reading, Deciding, Parked, ReadingAgain, DecidingAgain, Read, Compared, Answered, Waiting} place_t;
    place_t       at_q;
    logic         mark, is_error_q, its_replay, its_answer, its_leaves, has_home;
    request_t     request_q;
    logic [63:0]  value_q;
    logic [255:0] word;
    answer_t      answer;
    anything i_mark (.clk_i, .value_o(mark));
    assign its_replay = at_q == Parked && i_block.i_misses.replay_o && i_block.i_misses.its;
    assign its_answer = i_block.i_tags.step_valid_o && i_block.i_tags.step_o.is_answered;
    assign its_leaves = i_block.i_answers.in_front && gives;
    always_ff @(posedge clk_i) begin
        case (at_q)
            Reading:       at_q <= Deciding;
            Deciding:      at_q <= its_answer ? Read : i_block.i_misses.begins ? Parked : Nowhere;
            Parked:        if (its_replay) at_q <= ReadingAgain;
            ReadingAgain:  at_q <= DecidingAgain;
            DecidingAgain: at_q <= its_answer ? Read : Parked;
            Read:          at_q <= Compared;
            Compared:      at_q <= Answered;
            Answered:      at_q <= i_block.i_answers.mark && !i_block.i_answers.followed_q ? Waiting : Nowhere;
            Waiting:       if (its_leaves) at_q <= Nowhere;
            default:       if (accepts && mark) begin
                at_q      <= Reading;
                request_q <= s_axis_req_tdata[255:0];
                value_q   <= s_axis_req_tdata[319:256];
            end
        endcase
        if (at_q == Deciding || at_q == DecidingAgain) begin
            is_error_q <= i_block.i_tags.step_o.out_of_range || i_block.i_tags.step_o.bus_error;
        end
        if (!rst_ni) at_q <= Nowhere;
    end
    assign word     = i_block.i_answers.word_q;
    assign answer   = at_q == Answered ? i_block.i_answers.data_i[191:0] : at_q == Waiting ? word[191:0] : '0;
    assign has_home = request_q.home == i_block.i_home_address.home;
    `RULE(request_is_read_as_it_came, 1, at_q != Reading || reading[0] && {i_block.i_tags.reading_q.value,
        i_block.i_tags.reading_q.request} == {value_q, request_q})
    `RULE(request_is_decided_on_as_it_came, 1, at_q != Deciding || deciding[0]
        && {i_block.i_tags.its_q.value, i_block.i_tags.its_q.request} == {value_q, request_q})
    `RULE(request_waits_as_it_came, 1, !(at_q == Parked || at_q == ReadingAgain || at_q == DecidingAgain)
        || i_block.i_misses.followed_q && i_block.i_misses.word_q == {value_q, request_q})
    `RULE(request_is_read_again_as_it_came, 1, at_q != ReadingAgain || reading[1] && i_block.i_misses.reading_q.its
        && {i_block.i_tags.reading_q.value, i_block.i_tags.reading_q.request} == {value_q, request_q})
    `RULE(request_is_decided_on_again_as_it_came, 1, at_q != DecidingAgain || deciding[1] && i_block.i_misses.its_q.its
        && {i_block.i_tags.its_q.value, i_block.i_tags.its_q.request} == {value_q, request_q})
    `RULE(request_waits_or_is_answered, 1, at_q != Deciding || its_answer != i_block.i_tags.park_o)
    `RULE(request_waits_while_its_fetch_is_under_way, 1, at_q != Parked || !(i_block.i_misses.reading_q.valid
        && i_block.i_misses.reading_q.its) && !(i_block.i_misses.its_q.valid && i_block.i_misses.its_q.its))
    `RULE(step_is_that_of_the_request, 1, !(at_q == Deciding || at_q == DecidingAgain) || !its_answer
        || i_block.i_entries.valid_i && {i_block.i_entries.value_i, i_block.i_entries.request_i} == {value_q, request_q})
    `RULE(operation_is_carried_out_that_is_known, 1, !(at_q == Deciding || at_q == DecidingAgain) || !its_answer
        || i_block.i_entries.step_i.out_of_range || request_q.operation <= SetHint)
    `RULE(operation_that_waits_is_known, 1, !(at_q == Parked || at_q == ReadingAgain || at_q == DecidingAgain)
        || request_q.operation <= SetHint)
    `RULE(step_is_that_of_the_tags, 1, {i_block.i_entries.valid_i, i_block.i_entries.step_i, i_block.i_entries.place_i,
        i_block.i_entries.miss_i} == {i_block.i_tags.step_valid_o, i_block.i_tags.step_o, i_block.i_tags.place_o,
        i_block.i_tags.step_miss_o})
    for (genvar n = 0; n < 3; n++) begin : g_steps
        `RULE(step_has_its_token, 1, at_q != (n == 0 ? Read : n == 1 ? Compared : Answered) || answering[n]
            && i_block.i_entries.steps_q[n].token == request_q.token && is_error_q
                == (i_block.i_entries.steps_q[n].step.out_of_range || i_block.i_entries.steps_q[n].step.bus_error))
    end
    // The address of its home comes with its answer.
    `RULE(home_goes_to_its_address, 1, !has_home
        || !(at_q == Reading || at_q == ReadingAgain) || i_block.home_q == request_q.home)
    `RULE(home_is_on_its_way, 1, !has_home || (!(at_q == Deciding || at_q == DecidingAgain) || i_block.i_home_address.is_its_q[1])
        && (at_q != Read || i_block.i_home_address.is_its_q[2]) && (at_q != Compared || i_block.i_home_address.is_its_q[3])
        && (at_q != Answered || i_block.i_home_address.is_its_q[4]))
    `RULE(answer_has_token_and_address, 1, !(at_q == Answered || at_q == Waiting) || answer.token == request_q.token
        && (is_error_q ? answer.address == 0 : !has_home || answer.address == i_block.i_home_address.address))
    `RULE(answer_is_that_of_the_entry, 1, at_q != Answered || i_block.i_answers.push_i && i_block.i_answers.data_i[255:192]
        == i_block.i_entries.answer_value_o && i_block.i_answers.data_i[191:64] == i_block.i_entries.answer_o[191:64])
    `RULE(answer_waits, 1, at_q != Waiting || i_block.i_answers.followed_q
        && is_error_q == (answer.status == OutOfRange || answer.status == BusError))
    `RULE(answer_leaves_as_it_is, 1, !(at_q == Waiting && its_leaves) || m_axis_rsp_tdata == word)
    `RULE(place_is_known, 1, at_q <= Waiting)

    // What induction needs of the queue of answers, and of the replays.
    logic [4:0] its_place;
    assign its_place = i_block.i_answers.at_q - i_block.i_answers.popped_q;
    `RULE(followed_answer_is_in_the_queue, 1, !i_block.i_answers.followed_q || its_place < waiting)
    `RULE(replays_are_those_of_the_fetches, 1, i_block.i_misses.reading_q.valid == reading[1]
        && i_block.i_misses.its_q.valid == deciding[1]
        && (!reading[1] || {i_block.i_misses.reading_q.first, i_block.i_misses.reading_q.miss}
            == {i_block.i_tags.reading_q.first, i_block.i_tags.reading_q.miss})
        && (!deciding[1] || {i_block.i_misses.its_q.first, i_block.i_misses.its_q.miss}
            == {i_block.i_tags.its_q.first, i_block.i_tags.its_q.miss}))
    `RULE(first_has_no_error, 1, !(reading[1] && i_block.i_tags.reading_q.first && i_block.i_tags.reading_q.bus_error)
        && !(deciding[1] && i_block.i_tags.its_q.first && i_block.i_tags.its_q.bus_error))

    `REACHED(request_that_waited_is_answered, at_q == Waiting && its_leaves && !is_error_q && i_block.i_misses.active_o == 0
        && $past(at_q == Answered) && has_home)
    `REACHED(request_comes_again, at_q == Parked && $past(at_q == DecidingAgain))
    `REACHED(request_fails, at_q == Waiting && its_leaves && is_error_q)
    `REACHED(all_places_of_answers_are_taken, owed == 7'd16)
    `REACHED(flush_begins_after_a_request, i_block.i_flush.busy_o && $past(gives, 3))
    `REACHED(request_comes_as_the_last_place_is_cleaned, accepts && i_block.i_tags.its_q.kind == Clean)
    `REACHED(failure_is_told_later, failed_o && $past(untold_q != 0))
endmodule
