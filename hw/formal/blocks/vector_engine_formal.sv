// SPDX-License-Identifier: MIT OR Apache-2.0
// vector_engine: an element of any queue and direction, which is any, goes from place to place until it ends on the stream, with its
// token; as many have ended as were accepted, or are inside. Each block is connected to its part of the ports, of which those of
// AXI4 keep its rules. Queues, checks and paths are what their own jobs prove of them (any_*.sv).
`include "../rules/rule.svh"
`include "same_rules.svh"
module vector_engine_formal
    import vector_pkg::*;
#(
    parameter int unsigned Ways = 2
) (
    input logic                     clk_i,
    input logic                     rst_ni,
    input logic                     enable_i,
    input logic [15:0]              idle_time_i,
    input logic [15:0]              flush_time_i,
    input logic [63:12]             host_first_i,
    input logic [63:12]             host_last_i,
    input logic [63:12]             nic_first_i,
    input logic [63:12]             nic_last_i,
    input logic [Queues-1:0]        s_axis_cmd_tvalid,
    input logic [Queues-1:0][160:0] s_axis_cmd_tdata,
    input logic                     m_axis_done_tready,
    input logic [Ways-1:0]          m_axi_arready,
    input logic [Ways-1:0]          m_axi_rvalid,
    input logic [Ways-1:0][7:0]     m_axi_rid,
    input logic [Ways-1:0][511:0]   m_axi_rdata,
    input logic [Ways-1:0][1:0]     m_axi_rresp,
    input logic [Ways-1:0]          m_axi_rlast,
    input logic [Ways-1:0]          m_axi_awready,
    input logic [Ways-1:0]          m_axi_wready,
    input logic [Ways-1:0]          m_axi_bvalid,
    input logic [Ways-1:0][7:0]     m_axi_bid,
    input logic [Ways-1:0][1:0]     m_axi_bresp
);
    logic  [Queues-1:0]           s_axis_cmd_tready, accepted_o;
    logic                         m_axis_done_tvalid;
    done_t                        m_axis_done_tdata;
    logic  [Ways-1:0]             m_axi_arvalid, m_axi_awvalid, m_axi_wvalid, m_axi_wlast, m_axi_bready, refused_o;
    logic  [Ways-1:0][7:0]        m_axi_arid, m_axi_arlen, m_axi_awid, m_axi_awlen;
    logic  [Ways-1:0][63:0]       m_axi_araddr, m_axi_awaddr, m_axi_wstrb;
    logic  [Ways-1:0][511:0]      m_axi_wdata;
    sent_t [Ways-1:0][Queues-1:0] sent_o;
    logic  [Ways-1:0][Queues-1:0] begun_o;
    logic  [Ways-1:0][8:0]        bytes_o;

    power_up i_power_up (.*);
    vector_engine #(.Ways(Ways)) i_block (.*);
    axi4_stream_rules #(.Width($bits(done_t))) i_done (
        .clk_i, .rst_ni, .tvalid(m_axis_done_tvalid), .tready(m_axis_done_tready), .payload(m_axis_done_tdata));

    // What counts of the outputs.
    logic [Ways-1:0][7:0]   while_read, while_write;
    logic [Ways-1:0][63:0]  while_reading, while_writing, while_strobe;
    logic [Ways-1:0][511:0] while_data;
    always_comb for (int unsigned way = 0; way < Ways; way++) begin
        while_read[way]    = {8{m_axi_arvalid[way]}};
        while_write[way]   = {8{m_axi_awvalid[way]}};
        while_reading[way] = {64{m_axi_arvalid[way]}};
        while_writing[way] = {64{m_axi_awvalid[way]}};
        while_strobe[way]  = {64{m_axi_wvalid[way]}};
        while_data[way]    = {512{m_axi_wvalid[way]}};
    end
    logic [2*Queues+22 + Ways*(3*Queues+759)-1:0] seen;
    assign seen = {
        s_axis_cmd_tready, m_axis_done_tvalid, m_axis_done_tvalid ? m_axis_done_tdata : 21'd0, accepted_o, sent_o, begun_o,
        bytes_o, refused_o, m_axi_arvalid, m_axi_arid & while_read, m_axi_araddr & while_reading, m_axi_arlen & while_read,
        m_axi_awvalid, m_axi_awid & while_write, m_axi_awaddr & while_writing, m_axi_awlen & while_write,
        m_axi_wvalid, m_axi_wdata & while_data, m_axi_wstrb & while_strobe,
        m_axi_wlast & m_axi_wvalid, m_axi_bready
    };

    // ---- What the blocks inside get and give. Way 0 is of reads, way 1 of writes.

    typedef logic [4:0] count_t;
    logic     [Ways-1:0][Queues-1:0] pop, begins, in_queue;
    count_t   [Ways-1:0][Queues-1:0] ahead;
    element_t [Ways-1:0][Queues-1:0] element_of;
    logic     [Queues-1:0][6:0]      queued;
    sent_t    [Ways-1:0][Queues-1:0] sent;
    logic     [Queues-1:0]           accepted;
    for (genvar n = 0; n < Queues; n++) begin : g_queues
        axi4_stream_rules #(.Width(161), .Proven(0), .Waits(0), .Dense(0)) i_cmd (
            .clk_i, .rst_ni, .tvalid(s_axis_cmd_tvalid[n]), .tready(s_axis_cmd_tready[n]), .payload(s_axis_cmd_tdata[n]));
        assign accepted[n] = s_axis_cmd_tvalid[n] && s_axis_cmd_tready[n];
        for (genvar way = 0; way < Ways; way++) begin : g_ways
            assign pop[way][n]        = i_block.g_queues[n].i_queue.pop_i[way];
            assign begins[way][n]     = i_block.g_queues[n].i_queue.begins[way];
            assign in_queue[way][n]   = i_block.g_queues[n].i_queue.followed_q[way];
            assign ahead[way][n]      = i_block.g_queues[n].i_queue.ahead_q[way];
            assign element_of[way][n] = i_block.g_queues[n].i_queue.element_q[way];
            assign sent[way][n]       = i_block.g_queues[n].i_queue.sent_o[way];
        end
        always_comb begin
            queued[n] = '0;
            for (int unsigned way = 0; way < Ways; way++)
                queued[n] += 7'(i_block.g_queues[n].i_queue.open_q[way]) + 7'(i_block.g_queues[n].i_queue.sent_q[way]);
        end
        `RULE(reads_alone_come_where_no_writes_can, 0, !s_axis_cmd_tvalid[n] || 32'(s_axis_cmd_tdata[n][160]) < Ways)
        `RULE(queue_has_its_settings, 1, {i_block.g_queues[n].i_queue.enable_i, i_block.g_queues[n].i_queue.idle_time_i,
            i_block.g_queues[n].i_queue.flush_time_i} == {enable_i, idle_time_i, flush_time_i})
        `RULE(stream_is_that_of_its_queue, 1, {i_block.g_queues[n].i_queue.s_axis_tvalid, i_block.g_queues[n].i_queue.s_axis_tdata,
            i_block.g_queues[n].i_queue.s_axis_tready} == {s_axis_cmd_tvalid[n], s_axis_cmd_tdata[n], s_axis_cmd_tready[n]})
    end
    `RULE(nothing_is_accepted_while_disabled, 1, enable_i || s_axis_cmd_tready == 0)

    logic [Ways-1:0]       given, check_begins, in_check, check_refuses, check_front, path_begins, in_path, path_offers;
    logic [Ways-1:0]       copied, refused, ended, take;
    logic [Ways-1:0][4:0]  check_places;
    logic [Ways-1:0][8:0]  path_count, path_bytes;
    element_t [Ways-1:0]   given_element, check_element;
    logic [Ways-1:0][2:0]  given_queue, check_queue, path_queue;
    logic [Ways-1:0][15:0] path_token;
    logic [Ways-1:0][1:0]  check_code, end_response;
    copy_t [Ways-1:0]      path_copy;
    for (genvar way = 0; way < Ways; way++) begin : g_ways
        assign given[way]         = i_block.g_ways[way].i_turns.valid_o;
        assign given_element[way] = i_block.g_ways[way].i_turns.element_o;
        assign given_queue[way]   = i_block.g_ways[way].i_turns.queue_o;
        assign check_begins[way]  = i_block.g_ways[way].i_check.begins;
        assign in_check[way]      = i_block.g_ways[way].i_check.followed_q;
        assign check_refuses[way] = i_block.g_ways[way].i_check.refused_q;
        assign check_front[way]   = i_block.g_ways[way].i_check.in_front;
        assign check_element[way] = i_block.g_ways[way].i_check.element_q;
        assign check_queue[way]   = i_block.g_ways[way].i_check.queue_q;
        assign check_code[way]    = i_block.g_ways[way].i_check.code_q;
        assign check_places[way]  = i_block.g_ways[way].i_check.places_q;
        assign copied[way]        = i_block.g_ways[way].i_check.leaves[0];
        assign refused[way]       = i_block.g_ways[way].i_check.leaves[1];
        assign path_copy[way]     = i_block.g_ways[way].i_path.copy_i;
        assign path_begins[way]   = i_block.g_ways[way].i_path.begins;
        assign in_path[way]       = i_block.g_ways[way].i_path.followed_q;
        assign path_offers[way]   = i_block.g_ways[way].i_path.offered_q;
        assign path_queue[way]    = i_block.g_ways[way].i_path.queue_q;
        assign path_token[way]    = i_block.g_ways[way].i_path.token_q;
        assign path_bytes[way]    = i_block.g_ways[way].i_path.bytes_o;
        assign take[way]          = i_block.g_ways[way].take;
        assign path_count[way]    = i_block.g_ways[way].i_path.count_q;
        assign ended[way]         = i_block.g_ways[way].i_path.leaves;
        assign end_response[way]  = i_block.g_ways[way].i_path.done_o.response;
        `RULE(windows_are_those_of_the_settings, 1, {i_block.g_ways[way].i_check.host_first_i,
            i_block.g_ways[way].i_check.host_last_i, i_block.g_ways[way].i_check.nic_first_i,
            i_block.g_ways[way].i_check.nic_last_i} == {host_first_i, host_last_i, nic_first_i, nic_last_i})
        `RULE(copies_go_from_their_side, 1, i_block.g_ways[way].i_check.Writes == (way == 1))
        `RULE(addresses_are_those_of_the_path, 1, {
            m_axi_arvalid[way], m_axi_arid[way], m_axi_araddr[way], m_axi_arlen[way],
            m_axi_awvalid[way], m_axi_awid[way], m_axi_awaddr[way], m_axi_awlen[way]
        } == {
            i_block.g_ways[way].i_path.m_axi_arvalid, i_block.g_ways[way].i_path.m_axi_arid,
            i_block.g_ways[way].i_path.m_axi_araddr, i_block.g_ways[way].i_path.m_axi_arlen,
            i_block.g_ways[way].i_path.m_axi_awvalid, i_block.g_ways[way].i_path.m_axi_awid,
            i_block.g_ways[way].i_path.m_axi_awaddr, i_block.g_ways[way].i_path.m_axi_awlen
        })
        `RULE(data_are_those_of_the_path, 1, {m_axi_wvalid[way], m_axi_wdata[way], m_axi_wstrb[way], m_axi_wlast[way]} == {
            i_block.g_ways[way].i_path.m_axi_wvalid, i_block.g_ways[way].i_path.m_axi_wdata,
            i_block.g_ways[way].i_path.m_axi_wstrb, i_block.g_ways[way].i_path.m_axi_wlast
        })
        `RULE(answers_come_to_the_path, 1, {
            m_axi_rvalid[way], m_axi_rid[way], m_axi_rdata[way], m_axi_rresp[way], m_axi_rlast[way], m_axi_bvalid[way],
            m_axi_bid[way], m_axi_bresp[way]
        } == {
            i_block.g_ways[way].i_path.m_axi_rvalid, i_block.g_ways[way].i_path.m_axi_rid,
            i_block.g_ways[way].i_path.m_axi_rdata, i_block.g_ways[way].i_path.m_axi_rresp,
            i_block.g_ways[way].i_path.m_axi_rlast, i_block.g_ways[way].i_path.m_axi_bvalid,
            i_block.g_ways[way].i_path.m_axi_bid, i_block.g_ways[way].i_path.m_axi_bresp
        })
        `RULE(bus_is_taken_as_it_is_ready, 1, {
            m_axi_arready[way], m_axi_awready[way], m_axi_wready[way], m_axi_bready[way]
        } == {
            i_block.g_ways[way].i_path.m_axi_arready, i_block.g_ways[way].i_path.m_axi_awready,
            i_block.g_ways[way].i_path.m_axi_wready, i_block.g_ways[way].i_path.m_axi_bready
        })
        // Read data are always taken.
        axi4_rules #(.Most(256)) i_rules (
            .clk_i, .rst_ni,
            .awvalid(m_axi_awvalid[way]), .awready(m_axi_awready[way]), .awid(m_axi_awid[way]), .awaddr(m_axi_awaddr[way]),
            .awlen(m_axi_awlen[way]), .awsize(3'd6), .awburst(2'b01), .awlock('0), .awatop('0),
            .wvalid(m_axi_wvalid[way]), .wready(m_axi_wready[way]), .wdata(m_axi_wdata[way]), .wstrb(m_axi_wstrb[way]),
            .wlast(m_axi_wlast[way]), .bvalid(m_axi_bvalid[way]), .bready(m_axi_bready[way]), .bid(m_axi_bid[way]),
            .bresp(m_axi_bresp[way]), .arvalid(m_axi_arvalid[way]), .arready(m_axi_arready[way]), .arid(m_axi_arid[way]),
            .araddr(m_axi_araddr[way]), .arlen(m_axi_arlen[way]), .arsize(3'd6), .arburst(2'b01), .arlock('0),
            .rvalid(m_axi_rvalid[way]), .rready(1'b1), .rid(m_axi_rid[way]), .rdata(m_axi_rdata[way]),
            .rresp(m_axi_rresp[way]), .rlast(m_axi_rlast[way]));
        `SAME_RULES(i_rules, i_block.g_ways[way].i_path.i_rules)
        `RULE(bursts_have_five_lines_at_most, 1, (!m_axi_arvalid[way] || m_axi_arlen[way] < 8'd5)
            && (!m_axi_awvalid[way] || m_axi_awlen[way] < 8'd5)
            && (!m_axi_wvalid[way] || i_block.g_ways[way].i_path.lines_q < 3'd4 || m_axi_wlast[way]))
        for (genvar n = 0; n < Queues; n++) begin : g_turns
            `RULE(turns_hear_of_each_queue, 1, {i_block.g_ways[way].i_turns.waits_i[n], i_block.g_ways[way].i_turns.last_i[n],
                i_block.g_ways[way].i_turns.head_i[n]} == {i_block.g_queues[n].i_queue.waits_o[way],
                i_block.g_queues[n].i_queue.last_o[way], i_block.g_queues[n].i_queue.head_o[way]})
        end
        `RULE(element_is_taken_as_soon_as_there_is_a_place, 1,
            i_block.g_ways[way].i_turns.ready_i == i_block.g_ways[way].i_check.ready_o)
        `RULE(copies_go_to_the_path, 1, {i_block.g_ways[way].i_check.copy_valid_o, i_block.g_ways[way].i_check.copy_ready_i}
            == {i_block.g_ways[way].i_path.copy_valid_i, i_block.g_ways[way].i_path.copy_ready_o})
        // What induction needs of vector_turns.
        `RULE(one_queue_has_the_turn, 1, $onehot(i_block.g_ways[way].i_turns.turn_q))
    end

    // ---- What is told a clock later.

    `RULE(accepted_elements_are_told, 1, accepted_o == $past(rst_ni ? accepted : '0))
    `RULE(sent_vectors_are_told, 1, sent_o == $past(rst_ni ? sent : '0))
    `RULE(elements_that_begin_are_told, 1, begun_o == $past(rst_ni ? pop : '0))
    `RULE(bytes_are_told, 1, bytes_o == $past(rst_ni ? path_bytes : '0))
    `RULE(refusals_are_told, 1, refused_o == $past(rst_ni ? refused : '0))

    // ---- Ends that wait in done_merge: those of paths, then those refused.

    localparam int unsigned Places = 2 * Ways;
    logic  [Places-1:0]      merge_comes, merge_leaves;
    logic  [Places-1:0][1:0] merge_held, merge_popped;
    done_t [Places-1:0][1:0] merge_words;
    assign merge_comes = {refused, ended};
    for (genvar n = 0; n < Places; n++) begin : g_places
        assign merge_leaves[n] = i_block.i_merge.g_places[n].pop;
        assign merge_popped[n] = i_block.i_merge.g_places[n].i_waiting.popped_q;
        assign merge_words[n]  = {i_block.i_merge.g_places[n].i_waiting.i_words.words[1],
            i_block.i_merge.g_places[n].i_waiting.i_words.words[0]};
        always_ff @(posedge clk_i) begin
            merge_held[n] <= rst_ni ? merge_held[n] + 2'(merge_comes[n]) - 2'(merge_leaves[n]) : '0;
        end
        `RULE(ends_that_wait_are_counted, 1, merge_held[n] == i_block.i_merge.g_places[n].count_q && merge_held[n] <= 2'd2
            && merge_held[n] == i_block.i_merge.g_places[n].i_waiting.pushed_q - i_block.i_merge.g_places[n].i_waiting.popped_q)
    end

    `RULE(end_that_waits_goes_to_a_free_stream, 1, !$past(rst_ni && i_block.i_merge.waits != 0
        && (!m_axis_done_tvalid || m_axis_done_tready)) || m_axis_done_tvalid)
    fair_turns #(.Count(Places)) i_turns (
        .clk_i, .rst_ni, .asks_i(i_block.i_merge.waits), .taken_i(merge_leaves), .behind_i(i_block.i_merge.i_turns.behind_q));

    // ---- Elements that were accepted and have not ended: in queues, in checks, in paths, and behind those. Sums are made queue by
    // queue, so that each is a small step from the one before.

    typedef logic [11:0] total_t;
    total_t [Queues:0] up_to_q, comes, leaves;
    assign up_to_q[0] = '0;
    assign comes[0]   = '0;
    assign leaves[0]  = '0;
    for (genvar n = 0; n < Queues; n++) begin : g_sums
        assign comes[n+1]  = comes[n] + total_t'(accepted[n]);
        always_comb begin
            leaves[n+1] = leaves[n];
            for (int unsigned way = 0; way < Ways; way++) leaves[n+1] += total_t'(pop[way][n]);
        end
        always_ff @(posedge clk_i) up_to_q[n+1] <= rst_ni ? up_to_q[n+1] + comes[n+1] - leaves[n+1] : '0;
        `RULE(elements_in_queues_are_counted, 1, up_to_q[n+1] == up_to_q[n] + total_t'(queued[n]))
    end
    // Behind each place they are counted once more, with what goes on from there: the queues, the check of each way, its path, the ends
    // of its path, its refusals, and the stream.
    localparam int unsigned Stages = 4, Sums = Stages * Ways + 2;
    total_t [Sums-1:0] sum_q, part, go;
    total_t            come;
    // What goes to each stage of a way, and at the end to the stream.
    logic [Stages:0][Ways-1:0][1:0] goes_to;
    total_t [Stages-1:0][Ways-1:0]  held;
    assign come = total_t'($countones(accepted));
    always_comb begin
        for (int unsigned way = 0; way < Ways; way++) begin
            goes_to[0][way] = 2'(take[way]);
            goes_to[1][way] = 2'(copied[way]) + 2'(refused[way]);
            goes_to[2][way] = 2'(ended[way]) + 2'(refused[way]);
            goes_to[3][way] = 2'(merge_leaves[way]) + 2'(refused[way]);
            goes_to[4][way] = 2'(merge_leaves[way]) + 2'(merge_leaves[Ways+way]);
            held[0][way]    = total_t'(check_places[way]);
            held[1][way]    = total_t'(path_count[way]);
            held[2][way]    = total_t'(merge_held[way]);
            held[3][way]    = total_t'(merge_held[Ways+way]);
        end
        go   = '0;
        part = '0;
        for (int unsigned way = 0; way < Ways; way++) go[0] += total_t'(goes_to[0][way]);
        for (int unsigned n = 0; n < Stages * Ways; n++) begin
            part[n+1] = held[n/Ways][n%Ways];
            for (int unsigned way = 0; way < Ways; way++) go[n+1] += total_t'(goes_to[n/Ways + 32'(way <= n % Ways)][way]);
        end
        go[Sums-1]   = total_t'(m_axis_done_tvalid && m_axis_done_tready);
        part[Sums-1] = total_t'(m_axis_done_tvalid);
    end
    for (genvar n = 0; n < Sums; n++) begin : g_parts
        always_ff @(posedge clk_i) sum_q[n] <= rst_ni ? sum_q[n] + come - go[n] : '0;
        `RULE(elements_up_to_here_are_counted, 1, sum_q[n] == (n == 0 ? up_to_q[Queues] : sum_q[n == 0 ? 0 : n - 1]) + part[n])
    end
    `RULE(each_element_is_inside_until_it_ends, 1, i_block.under_way_q == 32'(sum_q[Sums-1]))

    // What was accepted a clock ago is still in its queue, so no element has ended before it is told that it was accepted.
    total_t [Queues:0] told;
    assign told[0] = '0;
    for (genvar n = 0; n < Queues; n++) begin : g_told
        assign told[n+1] = told[n] + total_t'(accepted_o[n]);
        `RULE(element_is_queued_first, 1, queued[n] >= 7'(accepted_o[n]) && up_to_q[n+1] < 12'd500 && up_to_q[n+1] >= told[n+1])
    end
    `RULE(element_ends_after_it_was_told, 1, !m_axis_done_tvalid || i_block.under_way_q > 32'($countones(accepted_o)))

    // A reset is one of all blocks.
    for (genvar way = 0; way < Ways; way++) begin : g_resets
        reset_comes_to_all: assert property (@(posedge clk_i) i_block.g_ways[way].i_check.rst_ni == rst_ni
            && i_block.g_ways[way].i_path.rst_ni == rst_ni && i_block.g_ways[way].i_turns.rst_ni == rst_ni);
    end
    for (genvar n = 0; n < Queues; n++) begin : g_resets_of_queues
        reset_comes_to_the_queue: assert property (@(posedge clk_i) i_block.g_queues[n].i_queue.rst_ni == rst_ni);
    end

    // ---- One element, which is any: the first that its queue follows, until it has ended. Where a block follows another one, nothing
    // more is said of it.

    typedef enum logic [2:0] {Nowhere, Queue, Given, Check, Path, Merge, Out} place_t;
    place_t     at_q;
    logic       way, behind_q;
    logic [2:0] number;
    logic [1:0] response_q;
    logic [$clog2(Places)-1:0] its_place, its_place_q;    // in the merge
    logic       its_pop, its_copy, its_refusal, its_end;
    element_t   element_q;
    done_t      end_q, merge_word;
    arbitrary #(.Width(4)) i_queue (.clk_i, .value_o({way, number}));
    `RULE(followed_element_is_of_a_way, 0, 32'(way) < Ways)
    assign its_pop     = at_q == Queue && pop[way][number] && ahead[way][number] == 0;
    assign its_copy    = at_q == Check && copied[way] && check_front[way] && !check_refuses[way];
    assign its_refusal = at_q == Check && refused[way] && check_front[way] && check_refuses[way];
    assign its_end     = at_q == Path && ended[way] && path_offers[way];
    assign its_place   = $bits(its_place)'(32'(way) + (its_refusal ? Ways : 0));
    assign end_q       = '{response: response_q, from_queue: number, token: element_q.token};
    always_ff @(posedge clk_i) begin
        case (at_q)
            Queue:   if (its_pop) at_q <= Given;
            Given:   at_q <= check_begins[way] ? Check : Nowhere;
            Check: begin
                if (its_copy) at_q <= path_begins[way] ? Path : Nowhere;
                if (its_refusal) at_q <= Merge;
            end
            Path:    if (its_end) at_q <= Merge;
            Merge: begin
                if (merge_leaves[its_place_q]) {at_q, behind_q} <= {behind_q ? Merge : Out, 1'b0};
            end
            Out:     if (m_axis_done_tready) at_q <= Nowhere;
            default: if (begins[way][number]) begin
                at_q      <= Queue;
                element_q <= s_axis_cmd_tdata[number][159:0];
            end
        endcase
        if (its_refusal || its_end) begin
            its_place_q <= its_place;
            response_q  <= its_refusal ? check_code[way] : end_response[way];
            behind_q    <= merge_held[its_place] != 2'(merge_leaves[its_place]);
        end
        if (!rst_ni) at_q <= Nowhere;
    end
    assign merge_word = merge_words[its_place_q][merge_popped[its_place_q][0] ^ behind_q];
    `RULE(element_is_accepted_of_its_direction, 1, !begins[way][number] || accepted[number] && s_axis_cmd_tdata[number][160] == way)
    `RULE(element_waits_in_its_queue, 1, at_q != Queue || in_queue[way][number] && element_of[way][number] == element_q)
    `RULE(element_is_given_as_it_came, 1, at_q != Given
        || given[way] && given_queue[way] == number && given_element[way] == element_q)
    `RULE(element_is_checked_as_it_came, 1, at_q != Check
        || in_check[way] && check_queue[way] == number && check_element[way] == element_q && check_code[way][1])
    // From the host to the NIC, or the other way round.
    `RULE(element_is_copied_from_its_side, 1, !its_copy || path_copy[way] == {
        way ? {element_q.host_address, element_q.nic_address} : {element_q.nic_address, element_q.host_address},
        element_q.bytes[12:0], number, element_q.token})
    `RULE(copy_has_its_queue_and_token, 1, at_q != Path
        || in_path[way] && path_queue[way] == number && path_token[way] == element_q.token)
    `RULE(end_waits_in_its_place, 1, at_q != Merge || 2'(behind_q) < merge_held[its_place_q] && merge_word == end_q)
    `RULE(element_ends_with_its_token, 1, at_q != Out || m_axis_done_tvalid && m_axis_done_tdata == end_q)
    `RULE(element_is_in_a_known_place, 1, at_q <= Out && (at_q == Nowhere || at_q == Queue || at_q == Given || at_q == Check
        || at_q == Path || 32'(its_place_q) == 32'(way) || 32'(its_place_q) == 32'(way) + Ways && response_q[1]))

    `REACHED(element_that_was_copied_ends, at_q == Out && 32'(its_place_q) == Ways - 1 && response_q == 2'd0)
    `REACHED(copy_ends_with_an_error, at_q == Out && its_place_q == 0 && response_q == 2'd3)
    `REACHED(refused_element_ends, at_q == Out && 32'(its_place_q) == Places - 1 && number == 3'd5)
    `REACHED(element_ends_behind_another_of_its_place, at_q == Out && $past(at_q == Merge, 1) && $past(behind_q, 2))
    `REACHED(all_that_were_accepted_ended, i_block.under_way_q == 0 && $past(i_block.under_way_q == 1) && $past(begun_o != 0, 8))
    if (Ways > 1) begin : g_both
        `REACHED(both_ways_begin_one_at_once, pop[0] != 0 && pop[1] != 0)
    end
endmodule
