// SPDX-License-Identifier: MIT OR Apache-2.0
// submission_fetch: where memory takes a read and answers one, and the user takes submissions, within `Late` clocks,
// whatever is in the ring is handed on in time.
`include "../rules/rule.svh"
module submission_fetch_progress #(
    parameter int unsigned Late     = 1,
    parameter int unsigned LogDepth = 2
) (
    input logic              clk_i,
    input logic              rst_ni,
    input logic              run_i,
    input logic [15:0]       tail_i,
    input logic              read_valid_o,
    input logic              read_ready_i,
    input logic              line_valid_i,
    input logic              submission_valid_o,
    input logic              submission_ready_i,
    input logic              failed_o,
    input logic [LogDepth:0] outstanding_o,
    input logic [15:0]       asked_q,
    input logic [15:0]       handed    // on
);
    waits_at_most #(.Most(Late), .Proven(0)) i_takes_reads (
        .clk_i, .rst_ni, .waits_i(read_valid_o), .served_i(read_ready_i));
    waits_at_most #(.Most(Late), .Proven(0)) i_answers_reads (
        .clk_i, .rst_ni, .waits_i(outstanding_o != 0), .served_i(line_valid_i));
    waits_at_most #(.Most(Late), .Proven(0)) i_user (
        .clk_i, .rst_ni, .waits_i(submission_valid_o), .served_i(submission_ready_i));

    waits_at_most #(.Most(3*Late + 2)) i_submission (.clk_i, .rst_ni,
        .waits_i(run_i && handed != tail_i), .served_i(submission_valid_o && submission_ready_i || failed_o));
    // The next read waits for nothing but a place, which the next submission makes.
    waits_at_most #(.Most(3*Late)) i_read (.clk_i, .rst_ni,
        .waits_i(run_i && asked_q != tail_i), .served_i(read_valid_o && read_ready_i || failed_o));
endmodule
bind submission_fetch_formal submission_fetch_progress #(.LogDepth(LogDepth)) i_progress (
    .handed(i_block.handed_q), .*);
