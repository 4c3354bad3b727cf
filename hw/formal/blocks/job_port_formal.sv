// SPDX-License-Identifier: MIT OR Apache-2.0
// job_port: jobs go out in order and whole, or are refused; answers come back in order and whole while jobs are open.
`include "../rules/rule.svh"
module job_port_formal (
    input logic                   clk_i,
    input logic                   rst_ni,
    input logic                   submission_valid_i,
    input queue_pkg::submission_t submission_i,
    input logic                   completion_ready_i,
    input logic                   m_axis_job_tready,
    input logic                   s_axis_jobdone_tvalid,
    input logic [127:0]           s_axis_jobdone_tdata
);
    logic                   submission_ready_o, completion_valid_o, m_axis_job_tvalid, s_axis_jobdone_tready;
    queue_pkg::completion_t completion_o;
    logic [511:0]           m_axis_job_tdata;

    power_up i_power_up (.*);
    job_port i_block (.*);
    axi4_stream_rules #(.Width(512)) i_jobs (
        .clk_i, .rst_ni, .tvalid(m_axis_job_tvalid), .tready(m_axis_job_tready), .payload(m_axis_job_tdata));
    axi4_stream_rules #(.Width(128), .Proven(0), .Dense(0)) i_answers (
        .clk_i, .rst_ni, .tvalid(s_axis_jobdone_tvalid), .tready(s_axis_jobdone_tready),
        .payload(s_axis_jobdone_tdata));
    axi4_stream_rules #(.Width($bits(queue_pkg::completion_t))) i_completions (
        .clk_i, .rst_ni, .tvalid(completion_valid_o), .tready(completion_ready_i), .payload(completion_o));

    logic known, takes;
    assign known = submission_i.opcode >= 8'd1 && submission_i.opcode <= 8'd5;
    assign takes = submission_valid_i && submission_ready_o;

    // What counts of the outputs.
    logic [$bits(queue_pkg::completion_t)+515:0] seen;
    assign seen = {submission_ready_o, completion_valid_o, completion_valid_o ? completion_o : '0, m_axis_job_tvalid,
        m_axis_job_tvalid ? m_axis_job_tdata : '0, s_axis_jobdone_tready};

    // A job that is taken is the next beat.
    `RULE(job_goes_out_as_it_came, 1, !$past(rst_ni && takes && known) || m_axis_job_tvalid && m_axis_job_tdata
        == {$past(submission_i.argument), $past(submission_i.length), 7'd0, $past(submission_i.wants_interrupt),
            $past(submission_i.opcode), $past(submission_i.identifier)})
    `RULE(no_beat_without_a_job, 1,
        !m_axis_job_tvalid || $past(rst_ni && (takes && known || m_axis_job_tvalid && !m_axis_job_tready)))
    // One that is not known is the next completion.
    `RULE(unknown_job_completes, 1, !$past(rst_ni && takes && !known) || completion_valid_o && completion_o
        == {64'd0, 32'd0, $past(submission_i.wants_interrupt), 8'd1, $past(submission_i.identifier)})

    // Jobs that are open, in a count of its own; an answer that finds none is dropped.
    logic [4:0]   open_q;
    logic         waits_q, answers;
    logic [127:0] answer_q;
    assign answers = waits_q && open_q != 0 && (!completion_valid_o || completion_ready_i);
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            open_q  <= '0;
            waits_q <= 1'b0;
        end else begin
            open_q  <= open_q + 5'(takes && known) - 5'(answers);
            waits_q <= s_axis_jobdone_tvalid && s_axis_jobdone_tready
                || waits_q && open_q != 0 && !answers;
        end
        if (s_axis_jobdone_tvalid && s_axis_jobdone_tready) answer_q <= s_axis_jobdone_tdata;
    end
    `RULE(at_most_16_are_open, 1, open_q <= 5'd16)
    `RULE(answer_becomes_the_next_completion, 1, !$past(rst_ni && answers) || completion_valid_o && completion_o
        == {$past(answer_q[127:32]), $past(answer_q[24:0])})
    `RULE(no_completion_without_a_reason, 1, !completion_valid_o || $past(rst_ni
        && (answers || takes && !known || completion_valid_o && !completion_ready_i)))
    `RULE(answers_are_taken_one_by_one, 1, s_axis_jobdone_tready == !waits_q)
    // What is known of the block inside.
    `RULE(open_jobs_are_counted, 1, i_block.open_q == open_q)
    `RULE(answer_is_kept, 1, i_block.done_q == waits_q && (!waits_q || i_block.done_data_q == answer_q))
    // Nothing waits without a reason.
    `RULE(job_waits_for_the_stream_alone, 1, !submission_valid_i || !known || open_q == 5'd16
        || submission_ready_o == (!m_axis_job_tvalid || m_axis_job_tready))
    `RULE(refusal_waits_for_completions_alone, 1, !submission_valid_i || known
        || submission_ready_o == (!answers && (!completion_valid_o || completion_ready_i)))

    logic [5:0] held;
    assign held = 6'(open_q) + 6'(completion_valid_o);
`include "in_hand.svh"

    `REACHED(sixteen_are_open, open_q == 5'd16)
    `REACHED(answer_is_dropped, waits_q && open_q == 0)
endmodule
