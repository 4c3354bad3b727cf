// SPDX-License-Identifier: MIT OR Apache-2.0
// Between the job queue and the job engine: submissions go out complete, and completions come
// back.
//
// Contract: a submission with an unknown opcode completes at once. Any other becomes a beat on
// `m_axis_job`, bits 31:25 of which are 0, and completes when it is answered by a beat on
// `s_axis_jobdone`: words 0 and 1 of the completion, with bit 24 of word 0 as it was in the
// submission (an interrupt is wanted). Beats complete in the order in which they come. At most
// 16 submissions are open; the next one waits. A beat that comes while none is open is dropped.
module job_port (
    input  logic                   clk_i,
    input  logic                   rst_ni,

    input  logic                   submission_valid_i,
    input  queue_pkg::submission_t submission_i,
    output logic                   submission_ready_o,
    output logic                   completion_valid_o,
    output queue_pkg::completion_t completion_o,
    input  logic                   completion_ready_i,

    output logic                   m_axis_job_tvalid,
    input  logic                   m_axis_job_tready,
    output logic [511:0]           m_axis_job_tdata,
    input  logic                   s_axis_jobdone_tvalid,
    output logic                   s_axis_jobdone_tready,
    input  logic [127:0]           s_axis_jobdone_tdata
);

    localparam logic [7:0] Begin  = 8'd1;
    localparam logic [7:0] Forget = 8'd5;
    localparam logic [4:0] Jobs   = 5'd16;

    // Submissions that went out and were not answered.
    logic [4:0] open_q;

    // One answer waits in a register, one completion in another.
    logic         done_q;
    logic [127:0] done_data_q;

    logic known, completion_free, answer, refuse, start;
    assign known = submission_i.opcode >= Begin && submission_i.opcode <= Forget;
    assign s_axis_jobdone_tready = !done_q;
    assign completion_free       = !completion_valid_o || completion_ready_i;

    // Answers go first: they make room.
    assign answer = done_q && open_q != 0 && completion_free;
    assign refuse = submission_valid_i && !known && completion_free && !answer;
    assign start  = submission_valid_i && known && open_q < Jobs
        && (!m_axis_job_tvalid || m_axis_job_tready);
    assign submission_ready_o = refuse || start;

    logic unused;
    assign unused = ^done_data_q[31:25];

    always_ff @(posedge clk_i) begin
        if (s_axis_jobdone_tvalid && s_axis_jobdone_tready) done_data_q <= s_axis_jobdone_tdata;
        if (start) begin
            m_axis_job_tdata <= {
                submission_i.argument, submission_i.length, 7'd0,
                submission_i.wants_interrupt, submission_i.opcode, submission_i.identifier
            };
        end
        if (answer) begin
            completion_o <= '{
                result:          done_data_q[127:64],
                bytes:           done_data_q[63:32],
                wants_interrupt: done_data_q[24],
                status:          done_data_q[23:16],
                identifier:      done_data_q[15:0]
            };
        end else if (refuse) begin
            completion_o <= '{
                result:          '0,
                bytes:           '0,
                wants_interrupt: submission_i.wants_interrupt,
                status:          queue_pkg::StatusBadOpcode,
                identifier:      submission_i.identifier
            };
        end
        if (!rst_ni) begin
            open_q             <= '0;
            done_q             <= 1'b0;
            completion_valid_o <= 1'b0;
            m_axis_job_tvalid  <= 1'b0;
        end else begin
            if (start != answer) open_q <= start ? open_q + 1'b1 : open_q - 1'b1;
            if (done_q) done_q <= open_q != 0 && !answer;
            else done_q <= s_axis_jobdone_tvalid;
            completion_valid_o <= answer || refuse || completion_valid_o && !completion_ready_i;
            m_axis_job_tvalid  <= start || m_axis_job_tvalid && !m_axis_job_tready;
        end
    end

`ifndef SYNTHESIS
    job_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axis_job_tvalid && !m_axis_job_tready)
            || m_axis_job_tvalid && $stable(m_axis_job_tdata));
    completion_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && completion_valid_o && !completion_ready_i)
            || completion_valid_o && $stable(completion_o));
    counts_what_is_open: assert property (@(posedge clk_i) disable iff (!rst_ni)
        open_q <= Jobs);
`endif

endmodule
