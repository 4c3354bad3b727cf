// SPDX-License-Identifier: MIT OR Apache-2.0
// Submissions of submission_fetch: entries are asked for in the order of their ring, and each is handed on in the order in
// which it came, whole, while `run` is high. The wrapper has declared `run`, `submission_base`, `log2_entries`,
// `asked_q`, how many were asked for, and `FETCH`, the block. `held` are the submissions that are buffered.

`RULE(reads_go_round_the_ring, 1, !read_valid_o
    || read_address_o == submission_base + 58'(12'(asked_q) & 12'((16'd1 << log2_entries) - 16'd1)))

// One bit, which is any, stands for all.
localparam int unsigned Width = $bits(queue_pkg::submission_t);
logic [LogDepth:0] held;
logic              runs;
logic [8:0]        followed_bit;
logic [Width-1:0]  arrives, leaves;
arbitrary #(.Width(9)) i_bit (.clk_i, .value_o(followed_bit));
followed_bit_is_one: assume property (@(posedge clk_i) 32'(followed_bit) < Width);
assign runs    = rst_ni && run;
assign arrives = {line_i[511:64], line_i[63:32], line_i[24], line_i[23:16], line_i[15:0]};
assign leaves  = submission_o;
ordered_words #(.Width(1), .Most(2**LogDepth)) i_words (
    .clk_i, .rst_ni(runs),
    .push_i(line_valid_i && !line_error_i), .pushed_i(arrives[followed_bit]),
    .pop_i(submission_valid_o && submission_ready_i), .popped_i(leaves[followed_bit]),
    .inside_o(held));
`RULE(submission_is_offered_in_the_clock_after, 1, !run || submission_valid_o == (held != 0))
`RULE(held_are_known, 1, !run || `FETCH.buffered_lines == held)
logic [2**LogDepth-1:0] kept;
always_comb for (int unsigned n = 0; n < 2**LogDepth; n++) kept[n] = `FETCH.i_buffer.words[n][followed_bit];
logic [LogDepth-1:0] its_place;
assign its_place = `FETCH.handed_q[LogDepth-1:0] + i_words.ahead_q[LogDepth-1:0];
`RULE(followed_word_is_in_its_place, 1, !run || !i_words.followed_q || kept[its_place] == i_words.word_q)
