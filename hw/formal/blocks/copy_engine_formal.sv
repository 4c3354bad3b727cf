// SPDX-License-Identifier: MIT OR Apache-2.0
// copy_engine: moves go out as they were submitted, with a tag that is free; the end of a move with a tag, which is any,
// completes its submission once; wrong submissions complete at once.
`include "../rules/rule.svh"
module copy_engine_formal (
    input logic                   clk_i,
    input logic                   rst_ni,
    input logic                   submission_valid_i,
    input queue_pkg::submission_t submission_i,
    input logic                   completion_ready_i,
    input logic                   m_axis_move_tready,
    input logic                   s_axis_moved_tvalid,
    input logic [63:0]            s_axis_moved_tdata
);
    logic                   submission_ready_o, completion_valid_o, m_axis_move_tvalid, s_axis_moved_tready, quiet_o;
    queue_pkg::completion_t completion_o;
    logic [191:0]           m_axis_move_tdata;

    power_up i_power_up (.*);
    copy_engine i_block (.*);
    axi4_stream_rules #(.Width(192)) i_moves (
        .clk_i, .rst_ni, .tvalid(m_axis_move_tvalid), .tready(m_axis_move_tready), .payload(m_axis_move_tdata));
    axi4_stream_rules #(.Width(64), .Proven(0), .Dense(0)) i_ends (
        .clk_i, .rst_ni, .tvalid(s_axis_moved_tvalid), .tready(s_axis_moved_tready),
        .payload(s_axis_moved_tdata));
    axi4_stream_rules #(.Width($bits(queue_pkg::completion_t))) i_completions (
        .clk_i, .rst_ni, .tvalid(completion_valid_o), .tready(completion_ready_i), .payload(completion_o));

    // What counts of the outputs.
    logic [$bits(queue_pkg::completion_t)+196:0] seen;
    assign seen = {submission_ready_o, completion_valid_o, completion_valid_o ? completion_o : '0, m_axis_move_tvalid,
        m_axis_move_tvalid ? m_axis_move_tdata : '0, s_axis_moved_tready, quiet_o};

    // What the contract calls wrong, and which status says so.
    logic       known, fits, good, takes;
    logic [7:0] fault;
    assign known = submission_i.opcode >= 8'd1 && submission_i.opcode <= 8'd3;
    assign fits  = submission_i.length != 0 && submission_i.length <= 32'h4000_0000;
    assign good  = known && fits;
    assign fault = known ? 8'd2 : 8'd1;
    assign takes = submission_valid_i && submission_ready_o;
    `RULE(wrong_submission_completes, 1, !$past(rst_ni && takes && !good) || completion_valid_o && completion_o
        == {64'd0, 32'd0, $past(submission_i.wants_interrupt), $past(fault), $past(submission_i.identifier)})
    `RULE(move_goes_out_as_it_came, 1, !$past(rst_ni && takes && good)
        || m_axis_move_tvalid && m_axis_move_tdata[191:16] == {$past(submission_i.argument[127:0]),
            $past(submission_i.length), 8'd0, $past(submission_i.opcode)} && m_axis_move_tdata[15:4] == 0)
    `RULE(no_beat_without_a_move, 1,
        !m_axis_move_tvalid || $past(rst_ni && (takes && good || m_axis_move_tvalid && !m_axis_move_tready)))

    // One tag, which is any. It is open from the clock in which its move is on the stream for the first time.
    logic [3:0]  tag;
    logic        begins, open_q, wants_q, waits_q, its, ends, gone, free;
    logic [15:0] identifier_q;
    logic [63:0] end_q;
    arbitrary #(.Width(4)) i_tag (.clk_i, .value_o(tag));
    assign begins = takes && good && i_block.free_tag == tag;
    assign its    = waits_q && end_q[15:0] == 16'(tag);
    assign free   = !completion_valid_o || completion_ready_i;
    assign ends   = its && open_q && free;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            open_q  <= 1'b0;
            waits_q <= 1'b0;
        end else begin
            open_q  <= begins || open_q && !ends;
            waits_q <= s_axis_moved_tvalid && s_axis_moved_tready || waits_q && !gone;
        end
        if (begins) begin
            identifier_q <= submission_i.identifier;
            wants_q      <= submission_i.wants_interrupt;
        end
        if (s_axis_moved_tvalid && s_axis_moved_tready) end_q <= s_axis_moved_tdata;
    end
    // It is of a move that is open, with any tag.
    logic known_end;
    assign known_end = waits_q && end_q[15:4] == 0 && i_block.open_q[end_q[3:0]];
    // The end that waits is gone after this clock.
    assign gone = its ? !open_q || free : free || !known_end;
    `RULE(move_has_the_tag_that_is_opened, 1, !$past(rst_ni && begins) || m_axis_move_tdata[15:0] == 16'(tag))
    `RULE(tag_of_a_move_was_free, 1, !begins || !open_q)
    `RULE(end_completes_its_submission, 1, !$past(rst_ni && ends) || completion_valid_o && completion_o
        == {64'd0, $past(end_q[63:32]), $past(wants_q), $past(end_q[23:16]), $past(identifier_q)})
    `RULE(unknown_end_is_dropped, 1, !$past(rst_ni && its && !open_q) || s_axis_moved_tready)
    `RULE(ends_are_taken_one_by_one, 1, s_axis_moved_tready == !waits_q)
    `RULE(quiet_only_without_open_moves_or_places, 1, !quiet_o || !open_q || waits_q)
    `RULE(tags_in_use_are_known, 1, i_block.open_q[tag] == open_q)
    `RULE(submission_of_a_tag_is_kept, 1, !open_q
        || i_block.identifiers_q[tag] == identifier_q && i_block.wants_q[tag] == wants_q)
    `RULE(end_is_kept, 1, i_block.moved_q == waits_q && (!waits_q || i_block.moved_data_q == end_q))
    // Nothing waits without a reason.
    `RULE(refusal_waits_for_completions_alone, 1, !submission_valid_i || good
        || submission_ready_o == (free && !known_end))
    `RULE(no_completion_without_a_reason, 1, !completion_valid_o || $past(rst_ni
        && (known_end && free || takes && !good || completion_valid_o && !completion_ready_i)))
    `RULE(quiet_where_no_end_could_come, 1, quiet_o == (i_block.open_q == 0 || waits_q))
    `RULE(move_waits_for_the_stream_and_a_tag_alone, 1, !submission_valid_i || !good || i_block.open_q == '1
        || submission_ready_o == (!m_axis_move_tvalid || m_axis_move_tready))

    logic [5:0] held;
    assign held = 6'($countones(i_block.open_q)) + 6'(completion_valid_o);
`include "in_hand.svh"

    `REACHED(tag_is_used_again, begins && end_q[15:0] == 16'(tag))
    `REACHED(all_tags_are_open, i_block.open_q == '1)
    `REACHED(end_is_dropped, its && !open_q)
endmodule
