// SPDX-License-Identifier: MIT OR Apache-2.0
// completion_store: each completion that is taken is stored whole at its place, word 1 before word 0 with its phase;
// it counts and interrupts once, when both stores are answered; none is taken for which the ring has no room.
`include "../rules/rule.svh"
module completion_store_formal #(
    parameter int unsigned LogDepth = 1
) (
    input logic                   clk_i,
    input logic                   rst_ni,
    input logic                   run_i,
    input logic                   clear_i,
    input logic [63:6]            base_i,
    input logic [3:0]             log2_entries_i,
    input logic [15:0]            head_i,
    input logic                   completion_valid_i,
    input queue_pkg::completion_t completion_i,
    input logic                   store_ready_i,
    input logic                   stored_valid_i,
    input logic                   stored_error_i
);
    logic                completion_ready_o, store_valid_o, quiet_o, written_o, interrupt_o, failed_o;
    logic [63:3]         store_address_o;
    logic [63:0]         store_data_o;
    logic [15:0]         taken_o, tail_o;
    logic [LogDepth:0]   under_way_o;

    power_up i_power_up (.*);
    completion_store #(.LogDepth(LogDepth)) i_block (.*);

    // The user stops where a store fails, and clears only while stopped; the ring stays while it runs: queue_engine
    // is proven to keep to this. Software consumes only what was written.
    stops_at_a_failure: assume property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && failed_o) || !run_i);
    clears_while_stopped: assume property (@(posedge clk_i) disable iff (!rst_ni) !clear_i || !run_i);
    ring_stays: assume property (@(posedge clk_i) disable iff (!rst_ni)
        !run_i || $stable({base_i, log2_entries_i}));

    // What counts of the outputs.
    logic [LogDepth+167:0] seen;
    assign seen = {completion_ready_o, store_valid_o, store_valid_o ? {store_address_o, store_data_o} : '0, taken_o,
        tail_o, under_way_o, quiet_o, written_o, interrupt_o, failed_o};

    logic cleared_q;
    always_ff @(posedge clk_i) cleared_q <= !rst_ni || clear_i || cleared_q && !run_i;
    starts_after_a_clear: assume property (@(posedge clk_i) disable iff (!rst_ni)
        !run_i || cleared_q || $past(rst_ni && run_i));
    `RULE(nothing_is_counted_after_a_clear, 1, !cleared_q || taken_o == 0 && tail_o == 0)

    // Counts of what was taken and written, and what is done with a completion.
    logic        run, takes, stores, written, interrupts;
    logic [63:6] completion_base;
    logic [3:0]  log2_entries;
    logic [15:0] taken_q, written_q;
    assign run             = run_i;
    assign completion_base = base_i;
    assign log2_entries    = log2_entries_i;
    assign takes           = run_i && completion_valid_i && completion_ready_o;
    assign stores          = store_valid_o && store_ready_i;
    assign written         = written_o;
    assign interrupts      = interrupt_o;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || clear_i) {taken_q, written_q} <= '0;
        else begin
            taken_q   <= taken_q + 16'(takes);
            written_q <= written_q + 16'(written);
        end
    end
    `define STORE i_block
    `include "completions.svh"
    `RULE(completions_are_counted, 1, taken_o == taken_q)
    `RULE(there_is_room_in_the_ring, 1, !takes || 16'(taken_q - head_i) < 16'd1 << log2_entries_i)
    `RULE(completion_waits_for_room_and_stores_alone, 1, !run_i || completion_ready_o == (!waits_q
        && 16'(taken_q - head_i) < 16'd1 << log2_entries_i && 16'(taken_q - tail_o) < 16'(2**LogDepth)))
    `RULE(those_under_way_are_told, 1, 16'(under_way_o) == (run_i ? 16'(taken_q - tail_o) : 16'd0))
    `RULE(those_written_are_counted, 1, tail_o == written_q)
    `RULE(taken_while_stopped_is_dropped, 1, run_i || completion_ready_o && !store_valid_o)

    // Stores that are owed an answer.
    logic [LogDepth+1:0] owed_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) owed_q <= '0;
        else owed_q <= owed_q + (LogDepth+2)'(stores) - (LogDepth+2)'(stored_valid_i);
    end
    `RULE(quiet_when_nothing_is_owed, 1, quiet_o == (owed_q == 0))
    `RULE(stores_are_counted, 1, i_block.outstanding_q == owed_q)
    // Answers: the second of each completion ends it.
    logic half_q, last;
    assign last = run_i && stored_valid_i && half_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || !run_i) half_q <= 1'b0;
        else half_q <= half_q != stored_valid_i;
    end
    `RULE(written_when_both_are_answered, 1, written_o == (last && !stored_error_i))
    `RULE(failures_are_told, 1, failed_o == (run_i && stored_valid_i && stored_error_i))
    `RULE(counts_are_known, 1, i_block.half_q == half_q && i_block.taken_q == taken_q)
    // Stores that are owed an answer are those of the completions under way.
    `RULE(stores_are_those_under_way, 1, !run_i
        || 16'(owed_q) + 16'(half_q) + (waits_q ? 16'd2 - 16'(second_q) : 16'd0) == {16'(taken_q - tail_o), 1'b0})
    `RULE(at_most_so_many_are_under_way, 1, 16'(taken_q - tail_o) <= 16'(2**LogDepth))
    `REACHED(two_are_written, tail_o == 16'd2)
    `REACHED(completion_interrupts, interrupt_o)
    `REACHED(answer_comes_after_the_stop, stored_valid_i && !run_i)
    `REACHED(second_pass_begins, store_valid_o && second_q && !phase)
endmodule
