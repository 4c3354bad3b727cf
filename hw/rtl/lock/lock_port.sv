// SPDX-License-Identifier: MIT OR Apache-2.0
// Between the lock queue and the lock unit: submissions become requests, responses become
// completions.
//
// Contract: words 4 to 6 of a submission are the request beat of docs/lock-unit.md; an unknown
// opcode completes at once. A request may have two responses (queued, then its notice), so
// completions are not counted against requests. When `running_i` is low, the requests of this
// enablement are abandoned: their responses are taken and dropped, whenever they come, unless
// the next enablement uses their tag. The unit answers "tag busy" to such a use as long as the
// tag is open. A beat that waits for the unit stays when `running_i` falls.
module lock_port (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   running_i,

    input  logic                   submission_valid_i,
    input  queue_pkg::submission_t submission_i,
    output logic                   submission_ready_o,
    output logic                   completion_valid_o,
    output queue_pkg::completion_t completion_o,
    input  logic                   completion_ready_i,

    output logic                   m_axis_req_tvalid,
    input  logic                   m_axis_req_tready,
    output logic [191:0]           m_axis_req_tdata,
    input  logic                   s_axis_rsp_tvalid,
    output logic                   s_axis_rsp_tready,
    input  logic [63:0]            s_axis_rsp_tdata
);

    localparam logic [7:0]  Request = 8'd1;
    localparam int unsigned LogTags = 7;

    // Tags for which this enablement has handed a request over.
    logic [2**LogTags-1:0] ours_q;

    logic        rsp_q;
    logic [63:0] rsp_data_q;

    logic completion_free, answer, refuse, start;
    logic [191:0]       beat;
    logic [LogTags-1:0] response_tag, request_tag;
    assign beat              = submission_i.argument[383:192];
    assign response_tag      = rsp_data_q[LogTags-1:0];
    assign request_tag       = beat[LogTags-1:0];
    assign s_axis_rsp_tready = !rsp_q;
    assign completion_free   = !completion_valid_o || completion_ready_i;

    // Responses go first: the unit waits for nothing else.
    assign answer = rsp_q && ours_q[response_tag] && completion_free;
    assign refuse = submission_valid_i && submission_i.opcode != Request
        && completion_free && !answer;
    assign start  = submission_valid_i && submission_i.opcode == Request
        && (!m_axis_req_tvalid || m_axis_req_tready);
    assign submission_ready_o = refuse || start;

    // Every response wants an interrupt; a request has no length and no other words.
    logic unused;
    assign unused = ^{
        submission_i.wants_interrupt, submission_i.length,
        submission_i.argument[447:384], submission_i.argument[191:0]
    };

    always_ff @(posedge clk_i) begin
        if (s_axis_rsp_tvalid && s_axis_rsp_tready) rsp_data_q <= s_axis_rsp_tdata;
        if (start) m_axis_req_tdata <= beat;
        if (answer) begin
            completion_o <= '{
                result:          rsp_data_q,
                bytes:           '0,
                wants_interrupt: 1'b1,
                status:          queue_pkg::StatusDone,
                identifier:      16'(response_tag)
            };
        end else if (refuse) begin
            completion_o <= '{
                result:          '0,
                bytes:           '0,
                wants_interrupt: 1'b1,
                status:          queue_pkg::StatusBadOpcode,
                identifier:      submission_i.identifier
            };
        end
        if (!rst_ni) begin
            ours_q             <= '0;
            rsp_q              <= 1'b0;
            completion_valid_o <= 1'b0;
            m_axis_req_tvalid  <= 1'b0;
        end else begin
            if (!running_i) ours_q <= '0;
            else if (start) ours_q[request_tag] <= 1'b1;
            if (rsp_q) rsp_q <= ours_q[response_tag] && !answer;
            else rsp_q <= s_axis_rsp_tvalid;
            completion_valid_o <= answer || refuse || completion_valid_o && !completion_ready_i;
            m_axis_req_tvalid  <= start || m_axis_req_tvalid && !m_axis_req_tready;
        end
    end

`ifndef SYNTHESIS
    request_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axis_req_tvalid && !m_axis_req_tready)
            || m_axis_req_tvalid && $stable(m_axis_req_tdata));
    completion_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && completion_valid_o && !completion_ready_i)
            || completion_valid_o && $stable(completion_o));
`endif

endmodule
