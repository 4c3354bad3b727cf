// SPDX-License-Identifier: MIT OR Apache-2.0
// tuple_lock_unit: the rules of its five interfaces, AXI4 with atomics among them; and one response a request.
//
// A tag, which is any, is followed from its request to its last response: it is in one place of the unit at a time, or
// in memory, so it is never lost, has one access at a time, and is answered once, or queued and then answered once.
//
// Assumed are, besides the rules of the buses: the requester does not use the tag while it is open; no cancel aims at
// the tag, so this says nothing of acquires that are cancelled; memory answers an access of the tag as often as it
// should; and a queue of completed accesses, which has a place for each tag, is not full when one more completes.
// The last follows from what is proven of any tag: each has at most one access. So does that no more than 128 writes are
// under way, which the rules of AXI4 assume.
`include "../rules/rule.svh"
`include "lock_types.svh"
module tuple_lock_unit_formal (
`include "lock_ports.svh"

    power_up i_power_up (.*);
    tuple_lock_unit i_block (.*);

    axi4_stream_rules #(.Width(192), .Proven(0)) i_requests (
        .clk_i, .rst_ni, .tvalid(s_axis_req_tvalid), .tready(s_axis_req_tready), .payload(s_axis_req_tdata));
    axi4_stream_rules #(.Width(64), .Proven(0), .Waits(0)) i_invalidations (
        .clk_i, .rst_ni, .tvalid(s_axis_inv_tvalid), .tready(s_axis_inv_tready), .payload(s_axis_inv_tdata));
    axi4_stream_rules #(.Width(64), .Dense(0)) i_responses (
        .clk_i, .rst_ni, .tvalid(m_axis_rsp_tvalid), .tready(m_axis_rsp_tready), .payload(m_axis_rsp_tdata));
    axi4_lite_rules #(.AddressWidth(15), .Most(6)) i_registers (
        .clk_i, .rst_ni,
        .awvalid(s_axil_awvalid), .awready(s_axil_awready), .awaddr({s_axil_awprot, s_axil_awaddr}),
        .wvalid(s_axil_wvalid), .wready(s_axil_wready), .wdata(s_axil_wdata), .wstrb(s_axil_wstrb),
        .bvalid(s_axil_bvalid), .bready(s_axil_bready), .bresp(s_axil_bresp),
        .arvalid(s_axil_arvalid), .arready(s_axil_arready), .araddr({s_axil_arprot, s_axil_araddr}),
        .rvalid(s_axil_rvalid), .rready(s_axil_rready), .rdata(s_axil_rdata), .rresp(s_axil_rresp));
    axi4_rules #(.IdWidth(11), .Most(128), .Atomics(1), .Bursts(0)) i_memory (
        .clk_i, .rst_ni,
        .awvalid(m_axi_awvalid), .awready(m_axi_awready), .awid(m_axi_awid), .awaddr(m_axi_awaddr),
        .awlen(m_axi_awlen), .awsize(m_axi_awsize), .awburst(m_axi_awburst), .awlock(m_axi_awlock),
        .awatop(m_axi_awatop),
        .wvalid(m_axi_wvalid), .wready(m_axi_wready), .wdata(m_axi_wdata), .wstrb(m_axi_wstrb),
        .wlast(m_axi_wlast),
        .bvalid(m_axi_bvalid), .bready(m_axi_bready), .bid(m_axi_bid), .bresp(m_axi_bresp),
        .arvalid(m_axi_arvalid), .arready(m_axi_arready), .arid(m_axi_arid), .araddr(m_axi_araddr),
        .arlen(m_axi_arlen), .arsize(m_axi_arsize), .arburst(m_axi_arburst), .arlock(m_axi_arlock),
        .rvalid(m_axi_rvalid), .rready(m_axi_rready), .rid(m_axi_rid), .rdata(m_axi_rdata), .rresp(m_axi_rresp),
        .rlast(m_axi_rlast));
    // What goes with an address besides.
    `RULE(properties_of_a_write_hold, 1, !$past(rst_ni && m_axi_awvalid && !m_axi_awready)
        || $stable({m_axi_awcache, m_axi_awprot, m_axi_awqos}))
    `RULE(properties_of_a_read_hold, 1, !$past(rst_ni && m_axi_arvalid && !m_axi_arready)
        || $stable({m_axi_arcache, m_axi_arprot, m_axi_arqos}))

    // Its data, whatever their order: the words that a write compares and stores, next to each other.
    logic [63:0] strobes;
    assign strobes = i_memory.g_followed.i_write.width == 4 ? 64'hffff << {i_memory.g_followed.i_write.begins[5:4], 4'd0}
        : 64'hff << {i_memory.g_followed.i_write.begins[5:3], 3'd0};
    `RULE(data_are_those_of_their_address, 1,
        !(i_memory.g_followed.i_write.known && i_memory.g_followed.i_write.its_beat) || m_axi_wstrb == strobes)

    // ------------------------------------------------------------------ what the registers hold, as in hw/bsv
    import lock_types::*;
    typedef struct packed {
        logic [6:0]   tag;
        request_t     request;
        progress_t    progress;
        logic [3:0]   phase;
        logic         failed;
    } fetched_t;
    typedef struct packed {
        logic [6:0]   tag;
        request_t     request;
        logic [3:0]   phase;
        logic [2:0]   deed;
        logic [3:0]   next;       // phase of an access
        logic [2:0]   slot;
        logic [1:0]   change;
        logic [3:0]   code;
        logic         again;
        logic [2:0]   position;
        progress_t    progress;
        logic [63:0]  changed;
    } decided_t;
    typedef struct packed {
        logic [6:0] tag;
        logic       good;
        request_t   request;
    } decoded_t;
    localparam logic [2:0] IssueWrite = 0, IssueRead = 1, Finish = 2, Enter = 3, Stay = 4;

    // Those of a request, before and after it was queued.
    function automatic logic is_phase_of(logic [1:0] op, logic waited, logic [3:0] phase);
        case (op)
            Release: return phase >= Free && phase <= HandOver;
            Cancel:  return phase >= Inspect && phase <= Clear;
            Poll:    return phase == Inspect;
            default: return waited ? phase == Leave || phase == Clear || phase == Watch
                : phase <= Withdraw || phase == Review;
        endcase
    endfunction

    // ------------------------------------------------------------------ where the tag is
    logic [6:0] tag;
    assign tag = i_memory.id[6:0];
    // Requests to come, requests that were admitted, and responses.
    logic       open_q, waited_q, waited, told_q, used_q;
    logic [1:0] op_q;
    logic       asks, is_open, answers, is_last;
    assign asks    = s_axis_req_tvalid && s_axis_req_tready && s_axis_req_tdata[6:0] == tag;
    assign answers = m_axis_rsp_tvalid && m_axis_rsp_tready && m_axis_rsp_tdata[6:0] == tag;
    assign is_last = m_axis_rsp_tdata[11:8] != Queued || op_q == Poll;
    assign is_open = i_block.unit_busy[tag];
    assign waited  = waited_q || i_block.unit_waiters_waiting[tag];

    // In memory: its phase, and whether B and R are to come.
    logic [3:0] phase_q;
    logic       b_q, r_q, takes_aw, takes_ar, takes_b, takes_r;
    assign takes_aw = m_axi_awvalid && m_axi_awready && m_axi_awid[6:0] == tag;
    assign takes_ar = m_axi_arvalid && m_axi_arready && m_axi_arid[6:0] == tag;
    assign takes_b  = m_axi_bvalid && m_axi_bid[6:0] == tag;
    assign takes_r  = m_axi_rvalid && m_axi_rid[6:0] == tag;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            open_q   <= 1'b0;
            told_q   <= 1'b0;
            waited_q <= 1'b0;
            b_q      <= 1'b0;
            r_q      <= 1'b0;
            used_q   <= 1'b0;
        end else begin
            open_q   <= asks || open_q && !(answers && is_last);
            told_q   <= !asks && (told_q || answers && !is_last);
            waited_q <= is_open && waited;
            b_q      <= takes_aw || b_q && !takes_b;
            r_q      <= takes_ar || takes_aw && m_axi_awatop[5] || r_q && !takes_r;
            used_q   <= used_q || answers && is_last;
            if (asks) op_q <= s_axis_req_tdata[9:8];
            if (takes_aw) phase_q <= m_axi_awid[10:7];
            else if (takes_ar) phase_q <= m_axi_arid[10:7];
        end
    end

    // ------------------------------------------------------------------ assumed
    `RULE(tag_is_not_used_while_it_is_open, 0, !s_axis_req_tvalid || s_axis_req_tdata[6:0] != tag || !open_q)
    `RULE(no_cancel_aims_at_the_tag, 0, !s_axis_req_tvalid || s_axis_req_tdata[9:8] != Cancel
        || s_axis_req_tdata[166:160] != tag)
    `RULE(write_response_is_of_the_access, 0, !takes_b || b_q && m_axi_bid[10:7] == phase_q)
    `RULE(read_data_are_of_the_access, 0, !takes_r || r_q && m_axi_rid[10:7] == phase_q
        && m_axi_rlast)
    // Of the other tags the memories hold anything here; what they hold came with a request.
    decided_t decided;
    assign decided = i_block.unit_decided_held;
    `RULE(no_cancel_of_another_aims_at_the_tag, 0, !i_block.unit_decided_full || decided.tag == tag
        || decided.request.op != Cancel || decided.request.target != tag)
    logic [7:0] by_read, by_write;
    assign by_read  = i_block.unit_memory_doneByRead_written - i_block.unit_memory_doneByRead_taken;
    assign by_write = i_block.unit_memory_doneByWrite_written - i_block.unit_memory_doneByWrite_taken;
    `RULE(completed_reads_have_room, 0, !i_block.unit_memory_doneByRead_items_write_enable_i || by_read < 128)
    `RULE(completed_writes_have_room, 0, !i_block.unit_memory_doneByWrite_items_write_enable_i || by_write < 128)
    // What the memories follow is this tag; their other words are those of others.
    `RULE(memories_follow_the_tag, 0, i_block.unit_requestsToFetch.g_one.address == tag
        && i_block.unit_progressesToFetch.g_one.address == tag
        && i_block.unit_memory_doneByRead_items.g_entry.tag == tag
        && i_block.unit_memory_doneByWrite_items.g_entry.tag == tag
        && i_block.unit_memory_doneByRead_items.other[6:0] != tag
        && i_block.unit_memory_doneByWrite_items.other[6:0] != tag)

    // ------------------------------------------------------------------ proven
    `RULE(response_has_a_request, 1, !answers || open_q)
    `RULE(request_is_queued_once, 1, !answers || is_last || op_q == Acquire && !told_q)
    `RULE(notice_is_the_second_response, 1, !answers || m_axis_rsp_tdata[15] == told_q)

    // Places on the way in, of the access under way, and on the way out.
    fetched_t fetched, fetched_2, compared, examined;
    decoded_t decoded, decoded_2, standing;
    logic [191:0] beat, beat_2;
    logic [63:0]  response, response_2;
    assign {fetched, fetched_2}   = {i_block.unit_fetched_head, i_block.unit_fetched_tail};
    assign compared               = i_block.unit_compared_held[416:155];
    assign examined               = i_block.unit_examined_held[528:267];
    assign {decoded, decoded_2}   = {i_block.unit_decoded_head, i_block.unit_decoded_tail};
    assign standing               = i_block.unit_standing_held[129:1];
    assign {beat, beat_2}         = {i_block.unit_beats_head, i_block.unit_beats_tail};
    assign {response, response_2} = {i_block.unit_responses_head, i_block.unit_responses_tail};

    logic [4:0] comes;
    assign comes = {i_block.unit_beats_tailFull && beat_2[6:0] == tag, i_block.unit_beats_headFull && beat[6:0] == tag,
        i_block.unit_decoded_tailFull && decoded_2.tag == tag, i_block.unit_decoded_headFull && decoded.tag == tag,
        i_block.unit_standing_full && standing.tag == tag};
    logic [1:0] leaves, lasts;
    assign leaves = {i_block.unit_responses_tailFull && response_2[6:0] == tag,
        i_block.unit_responses_headFull && response[6:0] == tag};
    assign lasts = {leaves[1] && (response_2[11:8] != Queued || op_q == Poll),
        leaves[0] && (response[11:8] != Queued || op_q == Poll)};
    logic [1:0] queued;
    assign queued = leaves & ~lasts;
    // Its places in the queues of completed accesses.
    logic [7:0] read_at_q, write_at_q;
    logic       in_reads_q, in_writes_q, to_reads, to_writes;
    assign to_reads = i_block.unit_memory_doneByRead_items_write_enable_i
        && i_block.unit_memory_doneByRead_items_write_data_i[6:0] == tag;
    assign to_writes = i_block.unit_memory_doneByWrite_items_write_enable_i
        && i_block.unit_memory_doneByWrite_items_write_data_i[6:0] == tag;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            in_reads_q  <= 1'b0;
            in_writes_q <= 1'b0;
        end else begin
            in_reads_q <= to_reads || in_reads_q && !(i_block.unit_memory_doneByRead_taken_EN
                && i_block.unit_memory_doneByRead_taken == read_at_q);
            in_writes_q <= to_writes || in_writes_q && !(i_block.unit_memory_doneByWrite_taken_EN
                && i_block.unit_memory_doneByWrite_taken == write_at_q);
            if (to_reads) read_at_q <= i_block.unit_memory_doneByRead_written;
            if (to_writes) write_at_q <= i_block.unit_memory_doneByWrite_written;
        end
    end
    logic [12:0] under_way;
    assign under_way = {
        i_block.unit_memory_addresses_headFull && i_block.unit_memory_addresses_head[68:62] == tag,
        i_block.unit_memory_addresses_tailFull && i_block.unit_memory_addresses_tail[68:62] == tag,
        i_block.unit_memory_reads_headFull && i_block.unit_memory_reads_head[65:59] == tag,
        i_block.unit_memory_reads_tailFull && i_block.unit_memory_reads_tail[65:59] == tag,
        b_q || r_q, in_reads_q, in_writes_q,
        i_block.unit_memory_done_full && i_block.unit_memory_done_held[6:0] == tag,
        i_block.unit_fetched_headFull && fetched.tag == tag, i_block.unit_fetched_tailFull && fetched_2.tag == tag,
        i_block.unit_compared_full && compared.tag == tag, i_block.unit_examined_full && examined.tag == tag,
        i_block.unit_decided_full && decided.tag == tag};

    // The phase of the access, wherever it is.
    logic [3:0] phase;
    always_comb begin
        case (1'b1)
            under_way[12]: phase = i_block.unit_memory_addresses_head[72:69];
            under_way[11]: phase = i_block.unit_memory_addresses_tail[72:69];
            under_way[10]: phase = i_block.unit_memory_reads_head[69:66];
            under_way[9]:  phase = i_block.unit_memory_reads_tail[69:66];
            under_way[8]:  phase = phase_q;
            under_way[7]:  phase = i_block.unit_memory_doneByRead_items.g_entry.word_q[10:7];
            under_way[6]:  phase = i_block.unit_memory_doneByWrite_items.g_entry.word_q[10:7];
            under_way[5]:  phase = i_block.unit_memory_done_held[10:7];
            under_way[4]:  phase = fetched.phase;
            under_way[3]:  phase = fetched_2.phase;
            under_way[2]:  phase = compared.phase;
            under_way[1]:  phase = examined.phase;
            default:       phase = decided.phase;
        endcase
    end
    logic waits, rereads;
    assign waits   = i_block.unit_waiters_waiting[tag];
    assign rereads = i_block.unit_waiters_rereading[tag];
    `RULE(request_is_in_one_place, 1, $onehot0({comes, is_open, lasts}) && |{comes, is_open, lasts} == open_q)
    `RULE(open_request_is_in_one_place, 1, is_open ? $onehot0(under_way) && |under_way == (!waits || rereads)
        : under_way == 0)
    `RULE(only_open_requests_wait, 1, (is_open || !waits) && (waits || !rereads))
    `RULE(completed_once, 1, !(to_reads && in_reads_q) && !(to_writes && in_writes_q))
    `RULE(completed_are_as_many_as_fit, 1, by_read <= 128 && by_write <= 128)
    `RULE(completed_read_is_in_its_place, 1, !in_reads_q || 8'(read_at_q - i_block.unit_memory_doneByRead_taken) < by_read
        && i_block.unit_memory_doneByRead_items.g_entry.written_q
        && i_block.unit_memory_doneByRead_items.g_entry.at_q == read_at_q[6:0]
        && i_block.unit_memory_doneByRead_items.g_entry.word_q[6:0] == tag)
    `RULE(completed_write_is_in_its_place, 1, !in_writes_q
        || 8'(write_at_q - i_block.unit_memory_doneByWrite_taken) < by_write
        && i_block.unit_memory_doneByWrite_items.g_entry.written_q
        && i_block.unit_memory_doneByWrite_items.g_entry.at_q == write_at_q[6:0]
        && i_block.unit_memory_doneByWrite_items.g_entry.word_q[6:0] == tag)
    `RULE(read_that_left_is_not_in_the_queue, 1, in_reads_q || !i_block.unit_memory_doneByRead_items.g_entry.written_q
        || 8'(7'(i_block.unit_memory_doneByRead_items.g_entry.at_q - i_block.unit_memory_doneByRead_taken[6:0]))
            >= by_read)
    `RULE(write_that_left_is_not_in_the_queue, 1, in_writes_q
        || !i_block.unit_memory_doneByWrite_items.g_entry.written_q
        || 8'(7'(i_block.unit_memory_doneByWrite_items.g_entry.at_q - i_block.unit_memory_doneByWrite_taken[6:0]))
            >= by_write)
    `RULE(phase_is_one_of_the_request, 1, under_way == 0 || is_phase_of(op_q, waited, phase) && rereads == (phase == Watch))
    `RULE(only_acquires_wait, 1, !waited || op_q == Acquire || !is_open)
    `RULE(offered_reader_waits, 1, !i_block.unit_waiters_offer[65] || i_block.unit_waiters_offer[64:58] != tag
        || waits && !rereads)
    `RULE(access_is_on_its_channel, 1, under_way == 0 || (
        |under_way[12:11] ? is_atomic(phase) || is_store(phase)
        : |under_way[10:9] ? is_read(phase)
        : !under_way[8] || (is_atomic(phase_q) || is_store(phase_q) || !b_q) && (!is_store(phase_q) || !r_q)))
    `RULE(only_atomics_are_half_done, 1, i_block.unit_memory_halfDone[tag]
        == (is_atomic(phase_q) && (b_q != r_q)))
    `RULE(atomics_are_marked, 1, !(under_way[12] && i_block.unit_memory_addresses_head[0] != is_atomic(phase))
        && !(under_way[11] && i_block.unit_memory_addresses_tail[0] != is_atomic(phase)))
    function automatic logic fits(request_t request);
        return request.op == op_q && (request.op != Cancel || request.target != tag);
    endfunction
    `RULE(known_request_is_its_own, 1, !is_open || fits(i_block.unit_requestsToFetch.g_one.word_q))
    `RULE(request_comes_along, 1, (!under_way[4] || fits(fetched.request)) && (!under_way[3] || fits(fetched_2.request))
        && (!under_way[2] || fits(compared.request)) && (!under_way[1] || fits(examined.request))
        && (!under_way[0] || fits(decided.request)))
    `RULE(request_comes_in, 1, (!comes[4] || beat_2[9:8] == op_q) && (!comes[3] || beat[9:8] == op_q)
        && (!comes[2] || decoded_2.request.op == op_q) && (!comes[1] || decoded.request.op == op_q)
        && (!comes[0] || standing.request.op == op_q && !i_block.unit_standing_held[0]))
    function automatic logic aims(logic full, logic [1:0] op, logic [6:0] target);
        return full && op == Cancel && target == tag;
    endfunction
    `RULE(no_cancel_that_comes_aims_at_it, 1, !aims(i_block.unit_beats_tailFull, beat_2[9:8], beat_2[166:160])
        && !aims(i_block.unit_beats_headFull, beat[9:8], beat[166:160])
        && !aims(i_block.unit_decoded_tailFull, decoded_2.request.op, decoded_2.request.target)
        && !aims(i_block.unit_decoded_headFull, decoded.request.op, decoded.request.target)
        && !aims(i_block.unit_standing_full, standing.request.op, standing.request.target))
    // What was decided fits the request, and is what its phase lets follow.
    `RULE(next_access_is_one_of_the_request, 1, !under_way[0] || (
        decided.deed == IssueWrite ? is_phase_of(op_q, waited, decided.next)
            && (is_atomic(decided.next) || is_store(decided.next))
            && (decided.change != 0) == is_atomic(decided.next)
        : decided.deed == IssueRead ? is_phase_of(op_q, waited, decided.next) && is_read(decided.next)
            && decided.next != Watch
        : decided.deed == Enter ? op_q == Acquire && !waited
        : decided.deed == Stay ? op_q == Acquire && waited
        : decided.deed == Finish && (op_q == Poll || decided.code != Queued)))
    // Its end, once decided, is not to be queued.
    function automatic logic has_end(progress_t progress);
        return !progress.ends || progress.ending != Queued;
    endfunction
    `RULE(only_open_requests_have_begun, 1, is_open || !i_block.unit_begun[tag])
    `RULE(end_is_known, 1, !is_open || !i_block.unit_begun[tag]
        || has_end(i_block.unit_progressesToFetch.g_one.word_q))
    `RULE(end_comes_along, 1, (!under_way[4] || has_end(fetched.progress)) && (!under_way[3] || has_end(fetched_2.progress))
        && (!under_way[2] || has_end(compared.progress)) && (!under_way[1] || has_end(examined.progress))
        && (!under_way[0] || has_end(decided.progress)))
    `RULE(notice_is_given_to_who_was_queued, 1,
        (!leaves[0] || response[15] == (lasts[0] && op_q == Acquire && told_q))
        && (!leaves[1] || response_2[15] == (lasts[1] && op_q == Acquire && (told_q || queued[0]))))
    // Queued is told before the last response, and once.
    `RULE(queued_is_told_once, 1, $onehot0({queued, told_q && open_q}) && (queued == 0 || op_q == Acquire))
    `RULE(only_acquires_are_queued, 1, !told_q || !open_q || op_q == Acquire)
    `RULE(queued_is_told_when_it_waited, 1, !is_open || (|queued || told_q) == waited)
    `RULE(queued_is_told_first, 1, !(queued[1] && lasts[0]) && (queued == 0 || is_open || |lasts))
    `RULE(nothing_is_told_before, 1, comes == 0 || queued == 0 && !told_q)

    // Ids: what is counted by the rules of AXI4 is this access, if it has the phase that is followed there.
    logic of_id;
    assign of_id = i_memory.id[10:7] == phase_q;
    `RULE(counted_accesses_are_its_own, 1, i_memory.reads_q == 5'(r_q && of_id) && i_memory.writes_q == 5'(b_q && of_id))
    `RULE(counted_atomic_is_its_own, 1, !(of_id && (b_q || r_q)) || i_memory.atomics_q == 5'(is_atomic(phase_q)))

    // ------------------------------------------------------------------ queues, as what is counted needs them
    function automatic logic [2:0] places(logic head, logic tail);
        return 3'(head) + 3'(tail);
    endfunction
    logic [2:0] write_addresses, write_datas, write_answers, read_addresses, read_answers, addresses, datas;
    assign write_addresses = places(i_block.unit_registers_writeAddresses_headFull,
        i_block.unit_registers_writeAddresses_tailFull);
    assign write_datas   = places(i_block.unit_registers_writeDatas_headFull, i_block.unit_registers_writeDatas_tailFull);
    assign write_answers = places(i_block.unit_registers_writeAnswers_headFull,
        i_block.unit_registers_writeAnswers_tailFull);
    assign read_addresses = places(i_block.unit_registers_readAddresses_headFull,
        i_block.unit_registers_readAddresses_tailFull);
    assign read_answers = places(i_block.unit_registers_readAnswers_headFull, i_block.unit_registers_readAnswers_tailFull);
    assign addresses    = places(i_block.unit_memory_addresses_headFull, i_block.unit_memory_addresses_tailFull);
    assign datas        = places(i_block.unit_memory_datas_headFull, i_block.unit_memory_datas_tailFull);
    `RULE(queues_fill_from_the_head, 1, ({
        i_block.unit_registers_writeAddresses_tailFull, i_block.unit_registers_writeDatas_tailFull,
        i_block.unit_registers_writeAnswers_tailFull, i_block.unit_registers_readAddresses_tailFull,
        i_block.unit_registers_readAnswers_tailFull, i_block.unit_memory_addresses_tailFull,
        i_block.unit_memory_datas_tailFull, i_block.unit_memory_reads_tailFull, i_block.unit_beats_tailFull,
        i_block.unit_decoded_tailFull, i_block.unit_fetched_tailFull, i_block.unit_fetchedLines_tailFull,
        i_block.unit_responses_tailFull} & ~{
        i_block.unit_registers_writeAddresses_headFull, i_block.unit_registers_writeDatas_headFull,
        i_block.unit_registers_writeAnswers_headFull, i_block.unit_registers_readAddresses_headFull,
        i_block.unit_registers_readAnswers_headFull, i_block.unit_memory_addresses_headFull,
        i_block.unit_memory_datas_headFull, i_block.unit_memory_reads_headFull, i_block.unit_beats_headFull,
        i_block.unit_decoded_headFull, i_block.unit_fetched_headFull, i_block.unit_fetchedLines_headFull,
        i_block.unit_responses_headFull}) == '0)
    `RULE(fetched_lines_go_along, 1, i_block.unit_fetchedLines_headFull == i_block.unit_fetched_headFull
        && i_block.unit_fetchedLines_tailFull == i_block.unit_fetched_tailFull)
    `RULE(register_accesses_are_in_the_queues, 1, i_registers.addresses_q == write_addresses + write_answers
        && i_registers.data_q == write_datas + write_answers && i_registers.reads_q == read_addresses + read_answers)
    `RULE(register_answers_are_not_exokay, 1,
        !(i_block.unit_registers_writeAnswers_headFull && i_block.unit_registers_writeAnswers_head == 2'b01)
        && !(i_block.unit_registers_writeAnswers_tailFull && i_block.unit_registers_writeAnswers_tail == 2'b01)
        && !(i_block.unit_registers_readAnswers_headFull && i_block.unit_registers_readAnswers_head[1:0] == 2'b01)
        && !(i_block.unit_registers_readAnswers_tailFull && i_block.unit_registers_readAnswers_tail[1:0] == 2'b01))
    // Addresses and data enter their queues together, so the last of both are of one write.
    `RULE(data_lead_by_what_is_queued, 1, i_memory.g_followed.i_write.lead_q
        == 6'(signed'({3'b0, datas})) - 6'(signed'({3'b0, addresses})) && !i_memory.g_followed.i_write.partial_q)
    logic [3:0] last_address, last_data;
    assign last_address = i_block.unit_memory_addresses_tailFull ? i_block.unit_memory_addresses_tail[3:0]
        : i_block.unit_memory_addresses_head[3:0];
    assign last_data = i_block.unit_memory_datas_tailFull ? i_block.unit_memory_datas_tail[131:128]
        : i_block.unit_memory_datas_head[131:128];
    `RULE(last_address_and_data_are_of_one_write, 1, addresses == 0 || datas == 0
        || {last_address[3:1], last_address[0]} == last_data)
    `RULE(first_address_and_data_are_of_one_write, 1, addresses != 2 || datas != 2
        || i_block.unit_memory_addresses_head[3:0] == i_block.unit_memory_datas_head[131:128])
    logic [3:0] its_data;
    assign its_data = i_memory.g_followed.i_write.bursts_q == 0 ? i_block.unit_memory_datas_head[131:128]
        : i_block.unit_memory_datas_tail[131:128];
    `RULE(data_wait_for_their_turn, 1, !i_memory.g_followed.i_write.addressed_q || i_memory.g_followed.i_write.length_q == 0
        && (i_memory.g_followed.i_write.ended_q
            || its_data == {i_memory.g_followed.i_write.address_q[5:3], i_memory.g_followed.i_write.size_q == 4}
            && (i_memory.g_followed.i_write.size_q == 4 || i_memory.g_followed.i_write.size_q == 3)))
    `RULE(data_that_came_are_one_beat, 1, !i_memory.g_followed.i_write.ended_q || i_memory.g_followed.i_write.beats_q == 1)
    `RULE(data_to_come_are_no_beat, 1, i_memory.g_followed.i_write.ended_q || i_memory.g_followed.i_write.beats_q == 0)

    `REACHED(acquire_is_answered, answers && is_last && op_q == Acquire && m_axis_rsp_tdata[11:8] == 0)
    `REACHED(release_is_answered, answers && is_last && op_q == Release && m_axis_rsp_tdata[11:8] == 6)
    `REACHED(tag_is_used_again, asks && used_q)
endmodule
