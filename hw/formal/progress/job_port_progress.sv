// SPDX-License-Identifier: MIT OR Apache-2.0
// job_port: where the engine takes jobs and ends one that it has, and the queue takes completions, within `Late` clocks,
// each submission is taken in time, and some open job completes.
`include "../rules/rule.svh"
module job_port_progress #(
    parameter int unsigned Late = 2
) (
    input logic       clk_i,
    input logic       rst_ni,
    input logic       submission_valid_i,
    input logic       submission_ready_o,
    input logic       known,
    input logic       completion_valid_o,
    input logic       completion_ready_i,
    input logic       m_axis_job_tvalid,
    input logic       m_axis_job_tready,
    input logic       s_axis_jobdone_tvalid,
    input logic       s_axis_jobdone_tready,
    input logic [4:0] open_q,
    input logic       waits_q,    // an answer, in its register
    input logic       answers
);
    waits_at_most #(.Most(Late), .Proven(0)) i_takes_jobs (
        .clk_i, .rst_ni, .waits_i(m_axis_job_tvalid), .served_i(m_axis_job_tready));
    waits_at_most #(.Most(Late), .Proven(0)) i_queue (
        .clk_i, .rst_ni, .waits_i(completion_valid_o), .served_i(completion_ready_i));
    // Jobs that the engine has.
    logic [4:0] handed;
    assign handed = open_q - 5'(m_axis_job_tvalid) - 5'(waits_q);
    waits_at_most #(.Most(Late), .Proven(0)) i_ends_jobs (
        .clk_i, .rst_ni, .waits_i(handed != 0 && s_axis_jobdone_tready), .served_i(s_axis_jobdone_tvalid));
    `RULE(engine_ends_jobs_that_it_has, 0, !s_axis_jobdone_tvalid || handed != 0)
    `RULE(open_jobs_are_somewhere, 1, 6'(open_q) >= 6'(m_axis_job_tvalid) + 6'(waits_q))

    // A job waits for the stream, and where 16 are open, for the end of one.
    waits_at_most #(.Most(Late + 1), .Seen(Late)) i_job (
        .clk_i, .rst_ni, .waits_i(submission_valid_i && known), .served_i(submission_ready_o));
    waits_at_most #(.Most(3*Late + 2)) i_completes (
        .clk_i, .rst_ni, .waits_i(open_q != 0), .served_i(answers));
    waits_at_most #(.Most(Late + 1)) i_answer (
        .clk_i, .rst_ni, .waits_i(s_axis_jobdone_tvalid), .served_i(s_axis_jobdone_tready));
    // Answers go before a refusal, but not for ever: no job goes out while one is refused.
    waits_at_most #(.Most(Late)) i_refusal (.clk_i, .rst_ni,
        .waits_i(submission_valid_i && !known), .served_i(submission_ready_o || answers));
    logic [4:0] before_q;    // answers since a refusal waits
    always_ff @(posedge clk_i) begin
        if (!rst_ni || !submission_valid_i || known) before_q <= '0;
        else before_q <= before_q + 5'(answers);
    end
    `RULE(few_answers_go_before_a_refusal, 1, 6'(before_q) + 6'(open_q) <= 6'd16)
    `REACHED(refusal_follows_two_answers, submission_valid_i && !known && submission_ready_o && before_q == 5'd2)
endmodule
bind job_port_formal job_port_progress i_progress (.*);
