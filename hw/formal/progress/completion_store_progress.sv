// SPDX-License-Identifier: MIT OR Apache-2.0
// completion_store: where memory takes a store and answers one, and software makes room in a full ring, within `Late`
// clocks, each completion is taken, and one of those under way is written, in time.
`include "../rules/rule.svh"
module completion_store_progress #(
    parameter int unsigned Late     = 1,
    parameter int unsigned LogDepth = 1
) (
    input logic        clk_i,
    input logic        rst_ni,
    input logic        run_i,
    input logic [3:0]  log2_entries_i,
    input logic [15:0] head_i,
    input logic        completion_valid_i,
    input logic        completion_ready_o,
    input logic        store_valid_o,
    input logic        store_ready_i,
    input logic        stored_valid_i,
    input logic        quiet_o,
    input logic        written_o,
    input logic        failed_o,
    input logic [15:0] taken_o,
    input logic [15:0] tail_o
);
    waits_at_most #(.Most(Late), .Proven(0)) i_takes_stores (
        .clk_i, .rst_ni, .waits_i(store_valid_o), .served_i(store_ready_i));
    waits_at_most #(.Most(Late), .Proven(0)) i_answers_stores (
        .clk_i, .rst_ni, .waits_i(!quiet_o), .served_i(stored_valid_i));
    // Software consumes what was written, and not more; while the ring is full it does so.
    logic full;
    assign full = 16'(taken_o - head_i) >= 16'd1 << log2_entries_i;
    waits_at_most #(.Most(Late), .Proven(0)) i_software (
        .clk_i, .rst_ni, .waits_i(run_i && full && tail_o != head_i), .served_i(1'b0));
    `RULE(software_consumes_what_was_written, 0, !run_i || 16'(tail_o - head_i) <= 16'd1 << log2_entries_i)
    `RULE(software_goes_forward, 0, !$past(rst_ni && run_i) || !run_i
        || 16'(head_i - $past(head_i)) <= 16'($past(tail_o) - $past(head_i)))
    `RULE(ring_holds_what_was_taken, 1, !run_i || 16'(taken_o - head_i) <= 16'd1 << log2_entries_i)

    waits_at_most #(.Most(4*Late + 3)) i_completion (
        .clk_i, .rst_ni, .waits_i(completion_valid_i), .served_i(completion_ready_o));
    waits_at_most #(.Most(3*Late + 2)) i_is_written (.clk_i, .rst_ni,
        .waits_i(run_i && taken_o != tail_o), .served_i(written_o || failed_o));
endmodule
bind completion_store_formal completion_store_progress #(.LogDepth(LogDepth)) i_progress (.*);
