// SPDX-License-Identifier: MIT OR Apache-2.0
// copy_engine: where the mover takes moves and ends one that it has, and the queue takes completions, within `Late`
// clocks, each submission is taken in time, and some open move completes.
`include "../rules/rule.svh"
module copy_engine_progress #(
    parameter int unsigned Late = 2
) (
    input logic        clk_i,
    input logic        rst_ni,
    input logic        submission_valid_i,
    input logic        submission_ready_o,
    input logic        good,
    input logic        completion_valid_o,
    input logic        completion_ready_i,
    input logic        m_axis_move_tvalid,
    input logic        m_axis_move_tready,
    input logic [3:0]  going,      // the tag of the move on the stream
    input logic        s_axis_moved_tvalid,
    input logic        s_axis_moved_tready,
    input logic [15:0] coming,     // that of the end which is offered
    input logic [15:0] open,
    input logic        waits_q,    // an end is in its register
    input logic [3:0]  come,       // its tag
    input logic        known_end,
    input logic        free
);
    waits_at_most #(.Most(Late), .Proven(0)) i_takes_moves (
        .clk_i, .rst_ni, .waits_i(m_axis_move_tvalid), .served_i(m_axis_move_tready));
    waits_at_most #(.Most(Late), .Proven(0)) i_queue (
        .clk_i, .rst_ni, .waits_i(completion_valid_o), .served_i(completion_ready_i));
    // Moves that the mover has.
    logic [15:0] handed;
    assign handed = open & ~(16'(m_axis_move_tvalid) << going) & ~(16'(waits_q) << come);
    waits_at_most #(.Most(Late), .Proven(0)) i_ends_moves (
        .clk_i, .rst_ni, .waits_i(handed != 0 && s_axis_moved_tready), .served_i(s_axis_moved_tvalid));
    `RULE(mover_ends_moves_that_it_has, 0, !s_axis_moved_tvalid || coming < 16 && handed[coming[3:0]])
    `RULE(end_is_of_an_open_move, 1, !waits_q || known_end)

    // A move waits for the stream, and where 16 are open, for the end of one.
    logic ends;
    assign ends = known_end && free;
    waits_at_most #(.Most(Late + 1), .Seen(Late)) i_move (
        .clk_i, .rst_ni, .waits_i(submission_valid_i && good), .served_i(submission_ready_o));
    waits_at_most #(.Most(3*Late + 2)) i_completes (.clk_i, .rst_ni, .waits_i(open != 0), .served_i(ends));
    waits_at_most #(.Most(Late + 1)) i_end (
        .clk_i, .rst_ni, .waits_i(s_axis_moved_tvalid), .served_i(s_axis_moved_tready));
    // Ends go before a refusal, but not for ever: no move goes out while one is refused.
    waits_at_most #(.Most(Late)) i_refusal (.clk_i, .rst_ni,
        .waits_i(submission_valid_i && !good), .served_i(submission_ready_o || ends));
    logic [4:0] before_q;    // ends since a refusal waits
    always_ff @(posedge clk_i) begin
        if (!rst_ni || !submission_valid_i || good) before_q <= '0;
        else before_q <= before_q + 5'(ends);
    end
    `RULE(few_ends_go_before_a_refusal, 1, 32'(before_q) + 32'($countones(open)) <= 32'd16)
    `REACHED(refusal_follows_two_ends, submission_valid_i && !good && submission_ready_o && before_q == 5'd2)
endmodule
bind copy_engine_formal copy_engine_progress i_progress (
    .going(m_axis_move_tdata[3:0]), .coming(s_axis_moved_tdata[15:0]), .open(i_block.open_q), .come(end_q[3:0]), .*);
