// SPDX-License-Identifier: MIT OR Apache-2.0
// probe_scan: each scan takes lines up to a last one, and then has one answer, with its token, in the order of the scans. This is
// all that lookup_scans takes for granted of it (any_probe_scan.sv). How its parts hang together is proven, too; what they
// say of lines their own jobs prove.
`include "../rules/rule.svh"
module probe_scan_formal
    import probe_scan_pkg::*;
#(
    parameter int unsigned SlotBytes  = 32,
    parameter int unsigned ValueWords = 1,
    localparam int unsigned Width     = 64 * ValueWords + 128
) (
    input logic         clk_i,
    input logic         rst_ni,
    input logic         s_axis_key_tvalid,
    input logic [151:0] s_axis_key_tdata,
    input logic         s_axis_data_tvalid,
    input logic [511:0] s_axis_data_tdata,
    input logic         s_axis_data_tlast,
    input logic         s_axis_data_tuser,
    input logic         m_axis_hit_tready
);
    logic             s_axis_key_tready, s_axis_data_tready, m_axis_hit_tvalid;
    logic [Width-1:0] m_axis_hit_tdata;

    power_up i_power_up (.*);
    probe_scan #(.SlotBytes(SlotBytes), .ValueWords(ValueWords)) i_block (.*);
    axi4_stream_rules #(.Width(152), .Proven(0)) i_key (
        .clk_i, .rst_ni, .tvalid(s_axis_key_tvalid), .tready(s_axis_key_tready), .payload(s_axis_key_tdata));
    axi4_stream_rules #(.Width(514), .Proven(0)) i_data (
        .clk_i, .rst_ni, .tvalid(s_axis_data_tvalid), .tready(s_axis_data_tready),
        .payload({s_axis_data_tdata, s_axis_data_tlast, s_axis_data_tuser}));
    axi4_stream_rules #(.Width(Width)) i_hit (
        .clk_i, .rst_ni, .tvalid(m_axis_hit_tvalid), .tready(m_axis_hit_tready), .payload(m_axis_hit_tdata));

    // ---- What any_probe_scan.sv says, in its words.
    logic       leaves, ends;
    logic [4:0] scans_q, whole_q;    // not answered yet, and of them those whose lines have all come
    assign leaves = m_axis_hit_tvalid && m_axis_hit_tready;
    assign ends   = s_axis_data_tvalid && s_axis_data_tready && s_axis_data_tlast;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            scans_q <= '0;
            whole_q <= '0;
        end else begin
            scans_q <= scans_q + 5'(s_axis_key_tvalid && s_axis_key_tready) - 5'(leaves);
            whole_q <= whole_q - 5'(leaves) + 5'(ends);
        end
    end
    `RULE(line_is_taken_after_its_scan, 1, !s_axis_data_tready || scans_q != whole_q)
    `RULE(answer_comes_after_its_lines, 1, !m_axis_hit_tvalid || $past(rst_ni) && ($past(m_axis_hit_tvalid && !leaves)
        || $past(whole_q != 5'(leaves))))
    `RULE(each_answer_is_of_a_scan, 1, !m_axis_hit_tvalid || whole_q != 0)
    `RULE(scans_are_few, 1, whole_q <= scans_q && scans_q <= 5'd9)

    // ---- What is more.
    // Lines wait for scans, and for answers that are not taken, and for nothing else.
    `RULE(line_of_a_scan_is_taken, 1, s_axis_data_tready || scans_q == whole_q || m_axis_hit_tvalid)
    `RULE(second_scan_is_taken, 1, s_axis_key_tready || scans_q - whole_q >= 5'd2)
    // Clocks since lines that were last ones, while answers were taken.
    logic [5:0] since_q;
    always_ff @(posedge clk_i) since_q <= rst_ni && i_block.move ? {since_q[4:0], ends} : '0;
    `RULE(answer_comes_in_the_sixth_clock, 1, !since_q[5] || m_axis_hit_tvalid)
    `RULE(answers_move_unless_one_waits, 1, i_block.move || m_axis_hit_tvalid)

    // ---- The parts: each has what the one before gives.
    `RULE(lines_go_to_their_slots, 1, i_block.i_slots.valid_i == i_block.i_lines.valid_o && i_block.i_slots.line_i
        == i_block.i_lines.line_o && i_block.i_slots.lanes_i == i_block.i_lines.lanes_o
        && i_block.i_slots.control_i == i_block.i_lines.control_o)
    `RULE(slots_go_to_the_result, 1, i_block.i_result.valid_i == i_block.i_slots.valid_o && {i_block.i_result.hit_i,
        i_block.i_result.torn_i, i_block.i_result.lane_i, i_block.i_result.sum_i, i_block.i_result.meta_i} == {
        i_block.i_slots.hit_o, i_block.i_slots.torn_o, i_block.i_slots.lane_o, i_block.i_slots.sum_o, i_block.i_slots.meta_o}
        && i_block.i_result.value_i == i_block.i_slots.value_o && i_block.i_result.control_i == i_block.i_slots.control_o)
    `RULE(all_move_together, 1, i_block.i_lines.move_i == i_block.i_answers.ready_o
        && i_block.i_slots.move_i == i_block.i_answers.ready_o && i_block.i_result.move_i == i_block.i_answers.ready_o)
    `RULE(line_goes_to_its_scan, 1, i_block.i_lines.line_i == s_axis_data_tdata && i_block.i_lines.line_last_i
        == s_axis_data_tlast && i_block.i_lines.line_error_i == s_axis_data_tuser && i_block.i_lines.line_valid_i
        == s_axis_data_tvalid && s_axis_data_tready == i_block.i_lines.line_ready_o)
    // Each is made for slots of this size: of several lines, where they have some.
    localparam int unsigned Parts = SlotBytes <= 64 ? 1 : SlotBytes / 64;
    `RULE(lines_are_parts_of_slots, 1, !$past(rst_ni && s_axis_data_tvalid && s_axis_data_tready && !s_axis_data_tlast)
        || 32'(i_block.i_lines.part_q) == ($past(32'(i_block.i_lines.part_q) == Parts - 1) ? 0
            : $past(32'(i_block.i_lines.part_q)) + 1))
    `RULE(slots_have_as_many_parts, 1, 32'(i_block.i_lines.part_q) < Parts)
    `RULE(slot_is_found_with_its_last_part, 1, !$past(rst_ni && i_block.move && i_block.i_result.valid_i
        && i_block.i_result.control_i.first && 32'(i_block.i_result.control_i.part) != Parts - 1) || !i_block.i_result.found_q)
    if (Parts > 1) begin : g_parts
        `RULE(parts_are_those_of_one_object, 1, !$past(rst_ni && i_block.move && i_block.i_slots.control_i.part != 0
            && i_block.i_slots.g_parts.meta_q[29] && i_block.i_slots.line_i[63:0] != i_block.i_slots.g_parts.meta_q)
            || i_block.i_slots.torn_q)
    end
    logic [1:0] scans, answers;
    ordered_words #(.Width(152), .Most(2)) i_scans (
        .clk_i, .rst_ni, .push_i(s_axis_key_tvalid && s_axis_key_tready), .pushed_i(s_axis_key_tdata),
        .pop_i(i_block.i_lines.scan_ready_o), .popped_i(i_block.i_lines.scan_i), .inside_o(scans));
    ordered_words #(.Width(Width), .Most(2)) i_answers (
        .clk_i, .rst_ni, .push_i(i_block.i_result.valid_o && i_block.move),
        .pushed_i({i_block.i_result.value_o, i_block.i_result.answer_o}), .pop_i(leaves), .popped_i(m_axis_hit_tdata),
        .inside_o(answers));

    // ---- Where the scans are whose lines have all come, which induction needs to be told: from the newest to the oldest.
    logic [6:0]      there;
    logic [6:0][7:0] tokens;
    logic [7:0][3:0] older;         // than this place
    assign there = {
        m_axis_hit_tvalid, !i_block.move, i_block.i_result.valid_o, i_block.i_result.last_q,
        i_block.i_slots.valid_o && i_block.i_slots.control_o.last,
        i_block.i_slots.valid_q && i_block.i_slots.control_q.last,
        i_block.i_lines.valid_o && i_block.i_lines.control_o.last
    };
    assign tokens = {
        m_axis_hit_tdata[AnswerTokenAt+:8], i_block.i_answers.second_q[AnswerTokenAt+:8], i_block.i_result.answer_o.token,
        i_block.i_result.control_q.scan.token, i_block.i_slots.control_o.scan.token, i_block.i_slots.control_q.scan.token,
        i_block.i_lines.control_o.scan.token
    };
    assign older[7] = '0;
    for (genvar n = 0; n < 7; n++) begin : g_places
        assign older[n] = older[n+1] + 4'(there[n]);
        `RULE(token_is_in_its_place, 1, !there[n] || tokens[n] == i_block.tokens_q[i_block.answered_q + older[n+1]])
    end
    `RULE(scans_are_counted, 1, 32'(older[0]) == 32'(whole_q) && i_block.ended_q - i_block.answered_q == older[0]
        && 32'(scans_q) == 32'(whole_q) + 32'(scans))
    `RULE(buffers_are_counted, 1, answers == 2'(m_axis_hit_tvalid) + 2'(!i_block.move)
        && scans == 2'(i_block.scan_valid) + 2'(!s_axis_key_tready) && (i_block.scan_valid || s_axis_key_tready))
    `RULE(followed_scan_is_in_its_place, 1, !i_scans.followed_q
        || (i_scans.ahead_q == 0 ? i_block.scan : i_block.i_scans.second_q) == i_scans.word_q)
    `RULE(followed_answer_is_in_its_place, 1, !i_answers.followed_q
        || (i_answers.ahead_q == 0 ? m_axis_hit_tdata : i_block.i_answers.second_q) == i_answers.word_q)
    for (genvar n = 0; n < 5; n++) begin : g_clocks
        `RULE(clocks_are_counted, 1, !since_q[n] || there[n])
    end
    // What an answer keeps to, in each place of it.
    function automatic logic is_one(input logic [Width-1:0] data);
        is_one = data[AnswerStatusAt+:3] <= Error && (data[AnswerStatusAt+:3] == Found || data[Width-1:64] == 0);
    endfunction
    `RULE(answers_are_what_they_may_be, 1, (!i_block.i_result.valid_o
        || is_one({i_block.i_result.value_o, i_block.i_result.answer_o})) && (i_block.move
        || is_one(i_block.i_answers.second_q)) && (!m_axis_hit_tvalid || is_one(m_axis_hit_tdata)))

    `REACHED(seven_answers_wait, &there)
    `REACHED(answer_comes_in_time, since_q[5])
    // Places are counted in slots from the beginning of the first line on.
    `REACHED(key_is_found_in_the_second_line, i_block.i_result.last_q && i_block.i_result.found_q && !i_block.i_result.broken_q
        && 32'(i_block.i_result.place_q) >= (SlotBytes <= 64 ? 64 / SlotBytes : 1))
    `REACHED(scan_has_an_error, m_axis_hit_tvalid && m_axis_hit_tdata[AnswerStatusAt+:3] == Error)
endmodule
