// SPDX-License-Identifier: MIT OR Apache-2.0
// submission_fetch: entries are asked for in order, at their places of the ring and only as far as the doorbell;
// lines become submissions in order and whole; there is a place for each that comes.
`include "../rules/rule.svh"
module submission_fetch_formal #(
    parameter int unsigned LogDepth = 2
) (
    input logic         clk_i,
    input logic         rst_ni,
    input logic         run_i,
    input logic         clear_i,
    input logic [63:6]  base_i,
    input logic [3:0]   log2_entries_i,
    input logic [15:0]  tail_i,
    input logic         read_ready_i,
    input logic         line_valid_i,
    input logic         line_error_i,
    input logic [511:0] line_i,
    input logic         submission_ready_i
);
    logic                   read_valid_o, submission_valid_o, fetched_o, failed_o;
    logic [63:6]            read_address_o;
    queue_pkg::submission_t submission_o;
    logic [15:0]            head_o;
    logic [LogDepth:0]      outstanding_o, buffered_o;

    power_up i_power_up (.*);
    submission_fetch #(.LogDepth(LogDepth)) i_block (.*);

    // What counts of the outputs.
    logic [$bits(queue_pkg::submission_t)+2*LogDepth+79:0] seen;
    assign seen = {read_valid_o, read_valid_o ? read_address_o : '0, submission_valid_o,
        submission_valid_o ? submission_o : '0, head_o, outstanding_o, buffered_o, fetched_o, failed_o};

    // Entries asked for, in a count of its own.
    logic [15:0] asked_q;
    logic        ask;
    assign ask = read_valid_o && read_ready_i;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || clear_i) asked_q <= '0;
        else asked_q <= asked_q + 16'(ask);
    end

    // The user stops where a line fails, clears only while stopped, and starts when nothing is under way. The
    // doorbell only goes forward, by no more than the ring has entries. queue_engine is proven to keep to this.
    stops_at_a_failure: assume property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && failed_o) || !run_i);
    clears_while_stopped: assume property (@(posedge clk_i) disable iff (!rst_ni) !clear_i || !run_i);
    doorbell_is_not_behind: assume property (@(posedge clk_i) disable iff (!rst_ni)
        !run_i || 16'(tail_i - asked_q) <= 16'd4096);
    ring_stays: assume property (@(posedge clk_i) disable iff (!rst_ni) !run_i || $stable({base_i, log2_entries_i}));

    `RULE(reads_end_at_the_doorbell, 1, !read_valid_o || run_i && asked_q != tail_i)

    // Places that are taken: each line asked for has one.
    logic [LogDepth:0] owed_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) owed_q <= '0;
        else owed_q <= owed_q + (LogDepth+1)'(ask) - (LogDepth+1)'(line_valid_i);
    end
    `RULE(lines_owed_are_told, 1, outstanding_o == owed_q)
    `RULE(each_line_has_a_place, 1, 32'(owed_q) <= 2**LogDepth)
    `RULE(lines_and_words_fit, 1, !run_i || 16'(owed_q) + 16'(buffered_o) <= 16'(2**LogDepth))
    `RULE(counts_agree, 1, i_block.asked_q == asked_q && (!run_i || asked_q - i_block.head_q == 16'(owed_q)))
    `RULE(counts_follow_each_other, 1, 16'(asked_q - i_block.head_q) <= 16'(asked_q - i_block.handed_q)
        && 16'(asked_q - i_block.handed_q) <= 16'(2**LogDepth))

    // Submissions, while the queue runs.
    logic        run;
    logic [63:6] submission_base;
    logic [3:0]  log2_entries;
    assign run             = run_i;
    assign submission_base = base_i;
    assign log2_entries    = log2_entries_i;
    `define FETCH i_block
    `include "submissions.svh"
    `RULE(buffered_are_told, 1, !run_i || buffered_o == held)
    `RULE(line_is_asked_for_where_it_has_a_place, 1, read_valid_o == (run_i && asked_q != tail_i
        && 16'(asked_q - i_block.handed_q) < 16'(2**LogDepth)))
    `RULE(fetched_are_told, 1, fetched_o == (run_i && line_valid_i && !line_error_i))
    `RULE(fetched_are_counted, 1, !run_i || head_o == asked_q - 16'(owed_q))
    `RULE(failures_are_told, 1, failed_o == (run_i && line_valid_i && line_error_i))
    `REACHED(ring_is_entered_again, ask && asked_q == 16'd3 && log2_entries_i == 4'd1)
    `REACHED(all_places_are_taken, 32'(owed_q) == 2**LogDepth)
    `REACHED(line_comes_after_the_stop, line_valid_i && !run_i)
endmodule
