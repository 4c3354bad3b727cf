// SPDX-License-Identifier: MIT OR Apache-2.0
// lookup_port: where the NIC takes requests and answers one that it has, and the queue takes completions, within `Late`
// clocks, each submission is taken in time, and some open request completes.
`include "../rules/rule.svh"
module lookup_port_progress #(
    parameter int unsigned Late = 2
) (
    input logic        clk_i,
    input logic        rst_ni,
    input logic        submission_valid_i,
    input logic        submission_ready_o,
    input logic        known,
    input logic        completion_valid_o,
    input logic        completion_ready_i,
    input logic        m_axis_sw_tvalid,
    input logic        m_axis_sw_tready,
    input logic [3:0]  going,      // the token of the request on the stream
    input logic        s_axis_swrsp_tvalid,
    input logic        s_axis_swrsp_tready,
    input logic [15:0] coming,     // that of the answer which is offered
    input logic [15:0] open,
    input logic        answer_q,   // an answer is in its register
    input logic [3:0]  come,       // its token
    input logic        answers
);
    waits_at_most #(.Most(Late), .Proven(0)) i_takes_requests (
        .clk_i, .rst_ni, .waits_i(m_axis_sw_tvalid), .served_i(m_axis_sw_tready));
    waits_at_most #(.Most(Late), .Proven(0)) i_queue (
        .clk_i, .rst_ni, .waits_i(completion_valid_o), .served_i(completion_ready_i));
    // Requests that the NIC has.
    logic [15:0] handed;
    assign handed = open & ~(16'(m_axis_sw_tvalid) << going) & ~(16'(answer_q) << come);
    waits_at_most #(.Most(Late), .Proven(0)) i_answers_requests (
        .clk_i, .rst_ni, .waits_i(handed != 0 && s_axis_swrsp_tready), .served_i(s_axis_swrsp_tvalid));
    `RULE(nic_answers_requests_that_it_has, 0, !s_axis_swrsp_tvalid || coming < 16 && handed[coming[3:0]])
    `RULE(answer_is_of_an_open_request, 1, !answer_q || open[come])

    // A request waits for the stream, and where 16 are open, for an answer.
    waits_at_most #(.Most(Late + 1), .Seen(Late)) i_request (
        .clk_i, .rst_ni, .waits_i(submission_valid_i && known), .served_i(submission_ready_o));
    waits_at_most #(.Most(3*Late + 2)) i_completes (.clk_i, .rst_ni, .waits_i(open != 0), .served_i(answers));
    waits_at_most #(.Most(Late + 1)) i_answer (
        .clk_i, .rst_ni, .waits_i(s_axis_swrsp_tvalid), .served_i(s_axis_swrsp_tready));
    // Answers go before a refusal, but not for ever: no request goes out while one is refused.
    waits_at_most #(.Most(Late)) i_refusal (.clk_i, .rst_ni,
        .waits_i(submission_valid_i && !known), .served_i(submission_ready_o || answers));
    logic [4:0] before_q;    // answers since a refusal waits
    always_ff @(posedge clk_i) begin
        if (!rst_ni || !submission_valid_i || known) before_q <= '0;
        else before_q <= before_q + 5'(answers);
    end
    `RULE(few_answers_go_before_a_refusal, 1, 32'(before_q) + 32'($countones(open)) <= 32'd16)
    `REACHED(refusal_follows_two_answers, submission_valid_i && !known && submission_ready_o && before_q == 5'd2)
endmodule
bind lookup_port_formal lookup_port_progress i_progress (
    .going(m_axis_sw_tdata[67:64]), .coming(s_axis_swrsp_tdata[15:0]), .open(i_block.open_q), .come(answer[3:0]), .*);
