// SPDX-License-Identifier: MIT OR Apache-2.0
// lock_port: requests go out in order and whole, or are refused; a response for a tag, which is any, becomes a
// completion if this enablement has used the tag, and is dropped else.
`include "../rules/rule.svh"
module lock_port_formal (
    input logic                   clk_i,
    input logic                   rst_ni,
    input logic                   running_i,
    input logic                   submission_valid_i,
    input queue_pkg::submission_t submission_i,
    input logic                   completion_ready_i,
    input logic                   m_axis_req_tready,
    input logic                   s_axis_rsp_tvalid,
    input logic [63:0]            s_axis_rsp_tdata
);
    logic                   submission_ready_o, completion_valid_o, m_axis_req_tvalid, s_axis_rsp_tready;
    queue_pkg::completion_t completion_o;
    logic [191:0]           m_axis_req_tdata;

    power_up i_power_up (.*);
    lock_port i_block (.*);
    axi4_stream_rules #(.Width(192)) i_requests (
        .clk_i, .rst_ni, .tvalid(m_axis_req_tvalid), .tready(m_axis_req_tready), .payload(m_axis_req_tdata));
    axi4_stream_rules #(.Width(64), .Proven(0), .Dense(0)) i_responses (
        .clk_i, .rst_ni, .tvalid(s_axis_rsp_tvalid), .tready(s_axis_rsp_tready), .payload(s_axis_rsp_tdata));
    axi4_stream_rules #(.Width($bits(queue_pkg::completion_t))) i_completions (
        .clk_i, .rst_ni, .tvalid(completion_valid_o), .tready(completion_ready_i), .payload(completion_o));

    logic known, takes;
    assign known = submission_i.opcode == 8'd1;
    assign takes = submission_valid_i && submission_ready_o;
    `RULE(request_goes_out_as_it_came, 1, !$past(rst_ni && takes && known)
        || m_axis_req_tvalid && m_axis_req_tdata == $past(submission_i.argument[383:192]))
    `RULE(no_beat_without_a_request, 1,
        !m_axis_req_tvalid || $past(rst_ni && (takes && known || m_axis_req_tvalid && !m_axis_req_tready)))
    `RULE(unknown_request_completes, 1, !$past(rst_ni && takes && !known) || completion_valid_o && completion_o
        == {64'd0, 32'd0, 1'b1, 8'd1, $past(submission_i.identifier)})

    // What counts of the outputs.
    logic [$bits(queue_pkg::completion_t)+195:0] seen;
    assign seen = {submission_ready_o, completion_valid_o, completion_valid_o ? completion_o : '0, m_axis_req_tvalid,
        m_axis_req_tvalid ? m_axis_req_tdata : '0, s_axis_rsp_tready};

    // Whether this enablement has used the tag.
    logic        its, gone, free;
    logic [6:0]  tag;
    logic        ours_q, waits_q;
    logic [63:0] response_q;
    arbitrary #(.Width(7)) i_tag (.clk_i, .value_o(tag));
    always_ff @(posedge clk_i) begin
        if (!rst_ni || !running_i) ours_q <= 1'b0;
        else if (takes && known && submission_i.argument[198:192] == tag) ours_q <= 1'b1;
        if (!rst_ni) waits_q <= 1'b0;
        else if (s_axis_rsp_tready) waits_q <= s_axis_rsp_tvalid;
        else waits_q <= !gone;
        if (s_axis_rsp_tvalid && s_axis_rsp_tready) response_q <= s_axis_rsp_tdata;
    end
    // The response that waits is of the tag.
    assign its  = waits_q && response_q[6:0] == tag;
    assign free = !completion_valid_o || completion_ready_i;
    assign gone = its ? !ours_q || free : free || !i_block.ours_q[response_q[6:0]];
    `RULE(response_becomes_the_next_completion, 1, !$past(rst_ni && its && ours_q && free)
        || completion_valid_o && completion_o == {$past(response_q), 32'd0, 1'b1, 8'd0, 16'(tag)})
    `RULE(no_completion_of_an_abandoned_request, 1, !$past(rst_ni && its && !ours_q && free)
        || !completion_valid_o || completion_o.status == 8'd1)
    `RULE(abandoned_response_is_dropped, 1, !$past(rst_ni && its && !ours_q) || s_axis_rsp_tready)
    `RULE(responses_are_taken_one_by_one, 1, s_axis_rsp_tready == !waits_q)
    `RULE(tags_in_use_are_known, 1, i_block.ours_q[tag] == ours_q)
    `RULE(response_is_kept, 1, i_block.rsp_q == waits_q && (!waits_q || i_block.rsp_data_q == response_q))
    // A response of any tag makes a completion in this clock.
    logic answers;
    assign answers = waits_q && i_block.ours_q[response_q[6:0]] && free;
    `RULE(no_completion_without_a_reason, 1, !completion_valid_o || $past(rst_ni
        && (answers || takes && !known || completion_valid_o && !completion_ready_i)))
    `RULE(refusal_waits_for_completions_alone, 1, !submission_valid_i || known
        || submission_ready_o == (free && !answers))
    `RULE(request_waits_for_the_unit_alone, 1, !submission_valid_i || !known
        || submission_ready_o == (!m_axis_req_tvalid || m_axis_req_tready))
    `REACHED(response_is_dropped, its && !ours_q)
    `REACHED(response_completes, its && ours_q && free)
endmodule
