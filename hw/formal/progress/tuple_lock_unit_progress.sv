// SPDX-License-Identifier: MIT OR Apache-2.0
// tuple_lock_unit: where memory takes an address or data, and the requester a response, within `Late` clocks, and memory
// answers an access within `Answers`, each access of a tag, which is any, leads to the next step of its request in time,
// whatever the other tags do.
//
// How many steps a request takes is not said, nor how long it waits for its first: steps go before reads of those that
// wait in the table, and these before new requests.
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
    input logic        advances,
    input logic        standing_full, // a request that is to be admitted
    input logic        cancels,
    input logic        admits,
    input logic        rereads
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

    // A request before admission, but for a cancel, which also waits for a read of its target, never waits alone.
    waits_at_most #(.Most(Late + 2), .Seen(0)) i_some_go_on (.clk_i, .rst_ni,
        .waits_i(standing_full && !cancels), .served_i(admits || advances || rereads));
endmodule
bind tuple_lock_unit_formal tuple_lock_unit_progress i_progress (
    .reads_taken(i_block.unit_memory_doneByRead_taken), .writes_taken(i_block.unit_memory_doneByWrite_taken),
    .some_completed(by_read != 0 || by_write != 0), .writes_turn(i_block.unit_memory_writesTurn),
    .serves(i_block.WILL_FIRE_RL_unit_memory_serve), .done_full(i_block.unit_memory_done_full),
    .fetched_full(i_block.unit_fetched_tailFull), .decided_full(i_block.unit_decided_full),
    .advances(i_block.WILL_FIRE_RL_unit_advance), .standing_full(i_block.unit_standing_full),
    .cancels(standing.request.op == Cancel), .admits(i_block.WILL_FIRE_RL_unit_admit),
    .rereads(i_block.unit_waiters_rereads_whas), .*);
