// SPDX-License-Identifier: MIT OR Apache-2.0
// lookup_port: each submission completes once, with what its answer says; a request goes out as it came, but for its
// token, which no other open request has.
`include "../rules/rule.svh"
module lookup_port_formal
    import queue_pkg::*;
(
    input logic         clk_i,
    input logic         rst_ni,
    input logic         submission_valid_i,
    input submission_t  submission_i,
    input logic         completion_ready_i,
    input logic         m_axis_sw_tready,
    input logic         s_axis_swrsp_tvalid,
    input logic [191:0] s_axis_swrsp_tdata
);
    logic         submission_ready_o, completion_valid_o, m_axis_sw_tvalid, s_axis_swrsp_tready;
    completion_t  completion_o;
    logic [255:0] m_axis_sw_tdata;

    power_up i_power_up (.*);
    lookup_port i_block (.*);
    axi4_stream_rules #(.Width($bits(completion_t))) i_completions (
        .clk_i, .rst_ni, .tvalid(completion_valid_o), .tready(completion_ready_i), .payload(completion_o));
    axi4_stream_rules #(.Width(256)) i_requests (
        .clk_i, .rst_ni, .tvalid(m_axis_sw_tvalid), .tready(m_axis_sw_tready), .payload(m_axis_sw_tdata));
    // The block takes an answer every second clock at most.
    axi4_stream_rules #(.Width(192), .Proven(0), .Dense(0)) i_answers (
        .clk_i, .rst_ni, .tvalid(s_axis_swrsp_tvalid), .tready(s_axis_swrsp_tready), .payload(s_axis_swrsp_tdata));

    // What counts of the outputs.
    logic [$bits(completion_t)+259:0] seen;
    assign seen = {submission_ready_o, completion_valid_o, completion_valid_o ? completion_o : '0, m_axis_sw_tvalid,
        m_axis_sw_tvalid ? m_axis_sw_tdata : '0, s_axis_swrsp_tready};

    // A token: whether it is open, and with what.
    logic [3:0]   token;
    logic         takes, known, starts, refuses, open_q, particulars_q, interrupt_q, comes, completes;
    logic [15:0]  identifier_q;
    logic         answer_q;    // one waits
    logic [191:0] answer;
    arbitrary #(.Width(4)) i_token (.clk_i, .value_o(token));
    assign takes   = submission_valid_i && submission_ready_o;
    assign known   = submission_i.opcode == 8'd1 || submission_i.opcode == 8'd2;
    assign starts  = takes && known && i_block.free_token == token;
    assign refuses = takes && !known;
    assign comes   = s_axis_swrsp_tvalid && s_axis_swrsp_tready;
    // It completes in the clock in which its answer is in the register and a completion can be made.
    assign completes = answer_q && answer[15:0] == 16'(token) && open_q
        && (!completion_valid_o || completion_ready_i);
    // It is of a request that is open, with any token.
    logic answer_known, answers;
    assign answer_known = answer_q && answer[15:4] == 0 && i_block.open_q[answer[3:0]];
    assign answers      = answer_known && (!completion_valid_o || completion_ready_i);
    always_ff @(posedge clk_i) begin
        if (comes) answer <= s_axis_swrsp_tdata;
        if (starts) begin
            particulars_q <= submission_i.opcode == 8'd2;
            interrupt_q   <= submission_i.wants_interrupt;
            identifier_q  <= submission_i.identifier;
        end
        if (!rst_ni) begin
            answer_q <= 1'b0;
            open_q   <= 1'b0;
        end else begin
            answer_q <= comes || answer_q && answer_known && completion_valid_o && !completion_ready_i;
            open_q   <= starts || open_q && !completes;
        end
    end
    `RULE(token_is_with_one_request, 1, !starts || !open_q)
    `RULE(request_goes_out_as_it_came, 1, !$past(rst_ni && takes && known) || m_axis_sw_tvalid
        && m_axis_sw_tdata == $past({submission_i.argument[255:80], 12'd0, i_block.free_token,
            submission_i.argument[63:0]}))
    `RULE(nothing_else_goes_out, 1, !m_axis_sw_tvalid || $past(rst_ni && (takes && known
        || m_axis_sw_tvalid && !m_axis_sw_tready)))

    // What its completion should say.
    logic [7:0]  status;
    logic [63:0] result;
    always_comb begin
        status = {4'h4, answer[19:16]};
        if (answer[19:16] == 4'd0) status = answer[21] ? 8'h50 : StatusDone;
        result = answer[19:16] == 4'd2 ? 64'(answer[95:80]) : answer[191:128];
        if (particulars_q) result = {answer[31:16], answer[111:64]};
    end
    `RULE(answer_completes_its_submission, 1, !$past(rst_ni && completes) || completion_valid_o
        && completion_o == $past(completion_t'{result: result, bytes: answer[63:32], wants_interrupt: interrupt_q,
            status: status, identifier: identifier_q}))
    `RULE(unknown_opcode_completes_at_once, 1, !$past(rst_ni && refuses) || completion_valid_o
        && completion_o == $past(completion_t'{result: '0, bytes: '0, wants_interrupt: submission_i.wants_interrupt,
            status: StatusBadOpcode, identifier: submission_i.identifier}))
    `RULE(nothing_else_completes, 1, !completion_valid_o || $past(rst_ni && (refuses
        || completion_valid_o && !completion_ready_i || answers)))
    // Nothing waits without a reason.
    `RULE(answers_are_taken_one_by_one, 1, s_axis_swrsp_tready == !answer_q)
    `RULE(request_waits_for_the_stream_and_a_token_alone, 1, !submission_valid_i || !known
        || submission_ready_o == (i_block.open_q != '1 && (!m_axis_sw_tvalid || m_axis_sw_tready)))
    `RULE(refusal_waits_for_completions_alone, 1, !submission_valid_i || known
        || submission_ready_o == ((!completion_valid_o || completion_ready_i) && !answers))
    `RULE(answer_is_of_an_open_request, 1, !(i_block.answer && answer[15:0] == 16'(token)) || completes)
    `RULE(one_completion_is_made_in_a_clock, 1, !(refuses && i_block.answer))
    `RULE(at_most_16_are_open, 1, !(takes && known) || i_block.open_q != '1)

    `RULE(open_requests_agree, 1, i_block.open_q[token] == open_q)
    `RULE(answers_agree, 1, i_block.rsp_q == answer_q && (!answer_q || i_block.rsp_data_q == answer))
    `RULE(what_was_asked_is_kept, 1, !open_q
        || i_block.i_requests.words[token] == {particulars_q, interrupt_q, identifier_q})

    logic [5:0] held;
    assign held = 6'($countones(i_block.open_q)) + 6'(completion_valid_o);
`include "in_hand.svh"

    `REACHED(request_completes, $past(rst_ni && completes) && completion_o.status == StatusDone)
    `REACHED(answer_is_dropped, answer_q && !i_block.rsp_known)
endmodule
