// SPDX-License-Identifier: MIT OR Apache-2.0
// lock_port: where the unit takes requests, and the queue completions, within `Late` clocks, each submission is taken in
// time, and each response is taken and completes.
`include "../rules/rule.svh"
module lock_port_progress #(
    parameter int unsigned Late = 3
) (
    input logic clk_i,
    input logic rst_ni,
    input logic submission_valid_i,
    input logic submission_ready_o,
    input logic known,
    input logic completion_valid_o,
    input logic completion_ready_i,
    input logic m_axis_req_tvalid,
    input logic m_axis_req_tready,
    input logic s_axis_rsp_tvalid,
    input logic s_axis_rsp_tready,
    input logic its,            // a response of the tag waits
    input logic ours_q,
    input logic free,
    input logic answers         // a response of any tag completes
);
    waits_at_most #(.Most(Late), .Proven(0)) i_unit (
        .clk_i, .rst_ni, .waits_i(m_axis_req_tvalid), .served_i(m_axis_req_tready));
    waits_at_most #(.Most(Late), .Proven(0)) i_queue (
        .clk_i, .rst_ni, .waits_i(completion_valid_o), .served_i(completion_ready_i));

    waits_at_most #(.Most(Late)) i_request (
        .clk_i, .rst_ni, .waits_i(submission_valid_i && known), .served_i(submission_ready_o));
    waits_at_most #(.Most(Late + 1)) i_response (
        .clk_i, .rst_ni, .waits_i(s_axis_rsp_tvalid), .served_i(s_axis_rsp_tready));
    waits_at_most #(.Most(Late)) i_answer (.clk_i, .rst_ni, .waits_i(its && ours_q), .served_i(free));

    // Responses go before a refusal, but not for ever: the unit owes some to requests, of which none goes out while one
    // is refused.
    logic       refused;
    logic [1:0] before_q;    // responses since it waits
    assign refused = submission_valid_i && !known;
    waits_at_most #(.Most(Late)) i_refusal (
        .clk_i, .rst_ni, .waits_i(refused), .served_i(submission_ready_o || answers));
    always_ff @(posedge clk_i) begin
        if (!rst_ni || !refused) before_q <= '0;
        else if (answers && !before_q[1]) before_q <= before_q + 1'b1;
    end
    `REACHED(refusal_follows_two_responses, refused && submission_ready_o && before_q[1])
endmodule
bind lock_port_formal lock_port_progress i_progress (.*);
