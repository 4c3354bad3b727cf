// SPDX-License-Identifier: MIT OR Apache-2.0
// What queue_engine asks of the block behind it: it completes only what it has taken, and has few submissions at a time.
// The wrapper has declared `held`, how many the block has.

logic [5:0] in_hand_q;
always_ff @(posedge clk_i) begin
    if (!rst_ni) in_hand_q <= '0;
    else in_hand_q <= in_hand_q + 6'(submission_valid_i && submission_ready_o)
        - 6'(completion_valid_o && completion_ready_i);
end
`RULE(completes_only_what_it_took, 1, !(completion_valid_o && completion_ready_i) || in_hand_q != 0)
`RULE(has_few_submissions, 1, in_hand_q <= 6'd17)
`RULE(submissions_in_hand_are_known, 1, in_hand_q == held)
