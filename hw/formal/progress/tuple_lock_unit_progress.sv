// SPDX-License-Identifier: MIT OR Apache-2.0
// tuple_lock_unit: where memory takes an address or data, and the requester a response, within `Late` clocks, and memory
// answers an access within `Answers`, each access of a tag, which is any, leads to the next step of its request in time,
// whatever the other tags do.
//
// How many steps a request takes is not said, nor how long it waits for its first: steps go before reads of those that
// wait in the table, and these before new requests. Said is that one of the three goes on wherever one could.
`include "../rules/rule.svh"
module tuple_lock_unit_progress #(
    parameter int unsigned Late    = 1,
    parameter int unsigned Answers = 4
) (
    input logic        clk_i,
    input logic        rst_ni,
    input logic        m_axis_rsp_tvalid,
    input logic        m_axis_rsp_tready,
    input logic        m_axi_awvalid,
    input logic        m_axi_awready,
    input logic        m_axi_wvalid,
    input logic        m_axi_wready,
    input logic        m_axi_arvalid,
    input logic        m_axi_arready,
    input logic        b_q,           // answers that the access of the tag waits for
    input logic        r_q,
    input logic        takes_b,
    input logic        takes_r,
    input logic [12:0] under_way,     // where the access is
    input logic [7:0]  read_at_q,     // its place in a queue of completed ones
    input logic [7:0]  write_at_q,
    input logic [7:0]  reads_taken,
    input logic [7:0]  writes_taken,
    input logic        some_completed,
    input logic        writes_turn,
    input logic        serves,        // one is taken from the queues
    input logic        done_full,     // to here
    input logic        fetched_full,  // both places behind it
    input logic        decided_full,
    input logic        step_writes,   // what is decided needs a place behind the port
    input logic        step_reads,
    input logic        step_answers,
    input logic        advances,
    input logic        s_axis_req_tready,
    input logic        accepts,       // requests
    input logic        comes_in,      // one is inside and not admitted
    input logic        moves,         // nearer to where it is admitted
    input logic        held_up,       // the first is a cancel, whose target's line is being read
    input logic        responses_full,
    input logic        responses_tail_full,
    input logic        reads_full,
    input logic        addresses_full,
    input logic        data_full,
    input logic        admits,
    input logic        rereads,
    input logic        waits,         // the tag, in the table
    input logic        copied,        // and its line is kept, or comes
    input logic        read_again,    // the tag waits without a copy of its line, which nobody reads
    input logic [127:0] asks,         // all tags that do
    input logic        offer,         // one of them is chosen
    input logic [15:0] asking,        // eights of tags where some did, a clock ago, and of each the lowest
    input logic [47:0] asking_lowest,
    input logic [15:0] later,         // the same of those behind the one before
    input logic [47:0] later_lowest,
    input logic [7:0]  lowest_asking, // of them all, a clock later
    input logic [7:0]  lowest_later
);
    waits_at_most #(.Most(Late), .Proven(0)) i_takes_addresses (
        .clk_i, .rst_ni, .waits_i(m_axi_awvalid), .served_i(m_axi_awready));
    waits_at_most #(.Most(Late), .Proven(0)) i_takes_data (
        .clk_i, .rst_ni, .waits_i(m_axi_wvalid), .served_i(m_axi_wready));
    waits_at_most #(.Most(Late), .Proven(0)) i_takes_reads (
        .clk_i, .rst_ni, .waits_i(m_axi_arvalid), .served_i(m_axi_arready));
    waits_at_most #(.Most(Late), .Proven(0)) i_takes_responses (
        .clk_i, .rst_ni, .waits_i(m_axis_rsp_tvalid), .served_i(m_axis_rsp_tready));
    waits_at_most #(.Most(Answers), .Proven(0)) i_answers_writes (
        .clk_i, .rst_ni, .waits_i(b_q), .served_i(takes_b));
    waits_at_most #(.Most(Answers), .Proven(0)) i_answers_reads (
        .clk_i, .rst_ni, .waits_i(r_q), .served_i(takes_r));

    // The last stage waits for a place in a queue, all others for the last, and who is served of the completed ones for the
    // first. So all stages move in `Shift` clocks, and one is served in `Serve`.
    localparam int unsigned Blocked = Late + 1;
    localparam int unsigned Shift   = Blocked + 1;
    localparam int unsigned Serve   = Blocked + 2;
    waits_at_most #(.Most(Blocked), .Seen(0)) i_advances (
        .clk_i, .rst_ni, .waits_i(decided_full), .served_i(advances));
    waits_at_most #(.Most(Serve - 1), .Seen(0)) i_serves (
        .clk_i, .rst_ni, .waits_i(some_completed), .served_i(serves));
    logic [31:0] unblocked;
    assign unblocked = Blocked - 32'(i_advances.waited_q);
    `RULE(serve_comes_nearer, 1, !some_completed
        || 32'(i_serves.waited_q) + (done_full && fetched_full ? unblocked + 1 : 0) <= Serve - 1)

    // Clocks until the step, from each place; the largest ones of stages, queues and memory.
    localparam int unsigned Stages = 5*Shift + Blocked + 1;
    localparam int unsigned Queues = (2*127 + 1)*Serve + Serve + Stages;
    localparam int unsigned Memory = Answers + 1 + Queues;
    localparam int unsigned Step   = 2*Late + 2 + Memory;
    logic [31:0] left, serving, served_before, answering, places;
    always_comb begin
        serving       = Serve - 32'(i_serves.waited_q) + Stages;
        places        = under_way[7] ? 32'(8'(read_at_q - reads_taken)) : 32'(8'(write_at_q - writes_taken));
        served_before = 2*places + (under_way[7] == writes_turn ? 1 : 0);
        answering     = 0;
        if (b_q) answering = Answers - 32'(i_answers_writes.waited_q);
        if (r_q && Answers - 32'(i_answers_reads.waited_q) > answering) begin
            answering = Answers - 32'(i_answers_reads.waited_q);
        end
        case (1'b1)
            under_way[12]: left = Late - 32'(i_takes_addresses.waited_q) + 1 + Memory;
            under_way[11]: left = 2*Late - 32'(i_takes_addresses.waited_q) + 2 + Memory;
            under_way[10]: left = Late - 32'(i_takes_reads.waited_q) + 1 + Memory;
            under_way[9]:  left = 2*Late - 32'(i_takes_reads.waited_q) + 2 + Memory;
            under_way[8]:  left = answering + 1 + Queues;
            under_way[7], under_way[6]: left = served_before*Serve + serving;
            under_way[5]:  left = (fetched_full ? 5 : 4)*Shift + unblocked + 1;
            under_way[3]:  left = 4*Shift + unblocked;
            under_way[4]:  left = 3*Shift + unblocked;
            under_way[2]:  left = 2*Shift + unblocked;
            under_way[1]:  left = Shift + unblocked;
            under_way[0]:  left = unblocked;
            default:       left = 0;
        endcase
    end
    waits_at_most #(.Most(Step), .Seen(8)) i_step (
        .clk_i, .rst_ni, .waits_i(under_way != 0), .served_i(under_way[0] && advances));
    `RULE(step_comes_nearer, 1, under_way == 0 || 32'(i_step.waited_q) + left <= Step)

    waits_at_most #(.Most(Late)) i_response (.clk_i, .rst_ni,
        .waits_i(responses_full), .served_i(m_axis_rsp_tvalid && m_axis_rsp_tready));
    `RULE(response_waits_for_its_requester_alone, 1, i_response.waited_q == i_takes_responses.waited_q)

    // A request before admission never waits alone. A cancel also waits for a read of its target's line; that is an
    // access, whose next step comes in time.
    `RULE(request_waits_for_those_before_it_alone, 1, !accepts || s_axis_req_tready || comes_in)
    waits_at_most #(.Most(Late + 2), .Seen(0)) i_some_go_on (.clk_i, .rst_ni,
        .waits_i(comes_in && !held_up), .served_i(moves || admits || advances || rereads));

    // Nor does one in the table whose line is to be read again. No request waits there in the first clocks, in which
    // covers are looked for, so that this has none.
    logic        read_later;
    logic [31:0] waited_q;    // clocks in a row
    assign read_later = read_again && !held_up && !(rereads || admits || advances);
    always_ff @(posedge clk_i) waited_q <= rst_ni && read_later ? waited_q + 1 : 0;
    `RULE(line_is_read_again_in_time, 1, !read_later || waited_q < Late + 3)
    `RULE(line_of_who_begins_to_wait_is_read, 1, !$past(rst_ni && !waits) || !waits || !copied)
    // As long as nothing else happens, those that ask go on to do so, and one is found in three clocks.
    function automatic logic ask(logic [127:0] those, logic [15:0] some, logic [47:0] lowest);
        ask = 1'b1;
        for (int unsigned n = 0; n < 16; n++) begin
            if (some[n] && !those[7'({4'(n), lowest[3*n +: 3]})]) ask = 1'b0;
        end
    endfunction
    `RULE(eights_have_who_asks, 1, waited_q < 1 || ask(asks, asking, asking_lowest) && ask(asks, later, later_lowest))
    `RULE(lowest_asks, 1, waited_q < 2 || (!lowest_asking[7] || asks[lowest_asking[6:0]])
        && (!lowest_later[7] || asks[lowest_later[6:0]]))
    `RULE(reader_is_found_step_by_step, 1, waited_q < 1 || offer
        || asking != 0 && (lowest_asking[7] || waited_q < 2) && waited_q < 3)
    // Nothing goes in behind what waits at a port meanwhile.
    logic [31:0] longer;
    assign longer = waited_q > 32'(i_some_go_on.waited_q) ? waited_q : 32'(i_some_go_on.waited_q);
    `RULE(ports_become_free, 1, (!reads_full || longer <= 32'(i_takes_reads.waited_q))
        && (!responses_tail_full || longer <= 32'(i_takes_responses.waited_q))
        && (!addresses_full || 32'(i_some_go_on.waited_q) <= 32'(i_takes_addresses.waited_q))
        && (!data_full || 32'(i_some_go_on.waited_q) <= 32'(i_takes_data.waited_q)))
    logic [31:0] held;
    assign held = 32'(i_advances.waited_q);
    `RULE(port_of_a_step_becomes_free, 1, !decided_full
        || ((!reads_full || !step_reads || held <= 32'(i_takes_reads.waited_q))
        && (!responses_tail_full || !step_answers || held <= 32'(i_takes_responses.waited_q))
        && (!addresses_full || !step_writes || held <= 32'(i_takes_addresses.waited_q))
        && (!data_full || !step_writes || held <= 32'(i_takes_data.waited_q))))
endmodule
bind tuple_lock_unit_formal tuple_lock_unit_progress i_progress (
    .reads_taken(i_block.unit_memory_doneByRead_taken), .writes_taken(i_block.unit_memory_doneByWrite_taken),
    .some_completed(by_read != 0 || by_write != 0), .writes_turn(i_block.unit_memory_writesTurn),
    .serves(i_block.WILL_FIRE_RL_unit_memory_serve), .done_full(i_block.unit_memory_done_full),
    .fetched_full(i_block.unit_fetched_tailFull), .decided_full(i_block.unit_decided_full),
    .step_writes(decided.deed == IssueWrite), .step_reads(decided.deed == IssueRead),
    .step_answers(decided.deed == Finish || decided.deed == Enter),
    .advances(i_block.WILL_FIRE_RL_unit_advance), .accepts(i_block.unit_registers_accept),
    .comes_in(i_block.unit_beats_headFull || i_block.unit_decoded_headFull || i_block.unit_standing_full),
    .moves(i_block.unit_beats_going_whas || i_block.unit_decoded_going_whas),
    .held_up(i_block.unit_standing_full && standing.request.op == Cancel
        && i_block.unit_waiters_rereading[standing.request.target]),
    .responses_full(i_block.unit_responses_headFull), .responses_tail_full(i_block.unit_responses_tailFull),
    .reads_full(i_block.unit_memory_reads_tailFull), .addresses_full(i_block.unit_memory_addresses_tailFull),
    .data_full(i_block.unit_memory_datas_tailFull), .admits(i_block.WILL_FIRE_RL_unit_admit),
    .rereads(i_block.unit_waiters_rereads_whas), .waits, .copied(i_block.unit_waiters_valid[tag]),
    .read_again(waits && !rereads && !i_block.unit_waiters_valid[tag]),
    .asks(i_block.unit_waiters_waiting & ~i_block.unit_waiters_rereading & ~i_block.unit_waiters_valid),
    .offer(i_block.unit_waiters_offer[65]), .asking(i_block.unit_waiters_asking[63:48]),
    .asking_lowest(i_block.unit_waiters_asking[47:0]), .later(i_block.unit_waiters_later[63:48]),
    .later_lowest(i_block.unit_waiters_later[47:0]), .lowest_asking(i_block.unit_waiters_lowestAsking),
    .lowest_later(i_block.unit_waiters_lowestLater), .*);
