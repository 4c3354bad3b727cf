// SPDX-License-Identifier: MIT OR Apache-2.0
// queue_engine, with the fetch and the store inside as they are: it begins with all counts at 0 when nothing of an earlier
// enablement is left, and stops at once; each doorbell is judged by what the ring can hold; each error halts it and is told;
// RETURN counts what is under way, and events tell what happened.
`include "../rules/rule.svh"
module queue_engine_formal #(
    parameter bit EveryRequestCompletes = 1
) (
    input logic                   clk_i,
    input logic                   rst_ni,
    input logic                   enable_i,
    input queue_pkg::rings_t      rings_i,
    input logic [15:0]            submission_tail_i,
    input logic [15:0]            completion_head_i,
    input logic [1:0]             interrupt_enable_i,
    input logic                   read_ready_i,
    input logic                   line_valid_i,
    input logic                   line_error_i,
    input logic [511:0]           line_i,
    input logic                   store_ready_i,
    input logic                   stored_valid_i,
    input logic                   stored_error_i,
    input logic                   submission_ready_i,
    input logic                   completion_valid_i,
    input queue_pkg::completion_t completion_i
);
    logic                   clear_o, halt_o, completed_o, running_o, memory_quiet_o, read_valid_o, store_valid_o;
    logic                   submission_valid_o, completion_ready_o;
    logic [15:0]            submission_head_o, completion_tail_o;
    logic [1:0]             error_o;
    logic [31:0]            return_o;
    queue_pkg::events_t     events_o;
    logic [63:6]            read_address_o;
    logic [63:3]            store_address_o;
    logic [63:0]            store_data_o;
    queue_pkg::submission_t submission_o;

    power_up i_power_up (.*);
    queue_engine #(.EveryRequestCompletes(EveryRequestCompletes)) i_block (.*);

    // What counts of the outputs.
    logic [$bits(submission_o)+$bits(events_o)+259:0] seen;
    assign seen = {clear_o, halt_o, submission_head_o, completion_tail_o, error_o, return_o, completed_o, running_o,
        memory_quiet_o, events_o, read_valid_o, read_valid_o ? read_address_o : '0, store_valid_o,
        store_valid_o ? {store_address_o, store_data_o} : '0, submission_valid_o,
        submission_valid_o ? submission_o : '0, completion_ready_o};

    // ---- The registers before it, as queue_block is proven to have them: they are 0 after a reset; one of them is written in
    // every third clock at most; else the queue is on until it halts, and doorbells stay until they are cleared. The rings
    // stay while it is on.

    typedef enum logic [1:0] {None, Control, Tail, Head} register_t;
    logic [1:0]  set, set_q, set2_q, set3_q;
    logic        on_before_q, halted_q;
    logic [15:0] tail_before_q, head_before_q;
    anything #(.Width(2)) i_set (.clk_i, .value_o(set));
    always_ff @(posedge clk_i) begin
        {set_q, set2_q, set3_q} <= rst_ni ? {set, set_q, set2_q} : '0;
        on_before_q   <= rst_ni && enable_i && !halt_o;
        halted_q      <= rst_ni && halt_o;
        tail_before_q <= rst_ni && !clear_o ? submission_tail_i : '0;
        head_before_q <= rst_ni && !clear_o ? completion_head_i : '0;
    end
    `RULE(registers_are_written_in_every_third_clock, 0, set == None || set_q == None && set2_q == None)
    `RULE(queue_is_on_as_it_was_told, 0, enable_i == on_before_q || set_q == Control && !halted_q)
    `RULE(tail_stays_until_it_is_written, 0, submission_tail_i == tail_before_q || set_q == Tail)
    `RULE(head_stays_until_it_is_written, 0, completion_head_i == head_before_q || set_q == Head)
    `RULE(ring_has_a_size, 0, rings_i.log2_entries <= 4'd12)
    `RULE(rings_stay_while_the_queue_is_on, 0, !$past(rst_ni && enable_i) || $stable(rings_i))

    // ---- On, and at work once nothing is left of what was under way before.

    logic       on_q, runs_q, asks, stores, gives, takes, nothing_left;
    logic [3:0] lines_q;     // that were asked for and have not come
    logic [4:0] stores_q;    // that are not answered
    logic [5:0] inside_q;    // submissions that the block behind has
    assign asks         = read_valid_o && read_ready_i;
    assign stores       = store_valid_o && store_ready_i;
    assign gives        = submission_valid_o && submission_ready_i;
    assign takes        = completion_valid_i && completion_ready_o;
    assign nothing_left = lines_q == 0 && stores_q == 0 && inside_q == 0;
    always_ff @(posedge clk_i) begin
        lines_q  <= lines_q + 4'(asks) - 4'(line_valid_i);
        stores_q <= stores_q + 5'(stores) - 5'(stored_valid_i);
        if (EveryRequestCompletes) inside_q <= inside_q + 6'(gives) - 6'(takes);
        on_q     <= enable_i && !halt_o;
        runs_q   <= enable_i && !halt_o && (runs_q || on_q && nothing_left);
        if (!rst_ni) {lines_q, stores_q, inside_q, on_q, runs_q} <= '0;
    end
    `RULE(counts_are_cleared_when_it_is_enabled, 1, clear_o == (enable_i && !on_q))
    `RULE(counts_begin_at_0, 1, !$past(rst_ni && clear_o)
        || submission_head_o == 0 && completion_tail_o == 0 && error_o == 0)
    `RULE(work_begins_when_nothing_is_left, 1, running_o == runs_q)
    `RULE(stops_at_once, 1, !$past(rst_ni && !(enable_i && !halt_o)) || !running_o)
    `RULE(queue_that_is_off_does_nothing, 1, running_o || !read_valid_o && !store_valid_o && !submission_valid_o
        && !completed_o && !events_o.fetched && !events_o.written && completion_ready_o)
    `RULE(memory_is_quiet_when_nothing_is_owed, 1, memory_quiet_o == (lines_q == 0 && stores_q == 0))
    `RULE(few_accesses_are_under_way, 1, lines_q <= 4'd8 && stores_q <= 5'd16)
    `RULE(on_is_known, 1, i_block.enabled_q == on_q && i_block.inside_q == inside_q)

    // ---- Counts of this enablement, and what is answered while it runs is of it.

    logic        written;
    logic [15:0] asked_q, fetched_q, given_q, taken_q, written_q;
    assign written = events_o.written;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || clear_o) {asked_q, fetched_q, given_q, taken_q, written_q} <= '0;
        else begin
            asked_q   <= asked_q + 16'(asks);
            fetched_q <= fetched_q + 16'(events_o.fetched);
            given_q   <= given_q + 16'(gives);
            taken_q   <= taken_q + 16'(runs_q && takes);
            written_q <= written_q + 16'(written);
        end
    end
    `RULE(head_counts_what_was_fetched, 1, submission_head_o == fetched_q)
    `RULE(tail_counts_what_was_written, 1, completion_tail_o == written_q)
    `RULE(lines_that_come_are_of_this_enablement, 1, !runs_q || 16'(asked_q - fetched_q) == 16'(lines_q))
    `RULE(answers_that_come_are_of_this_enablement, 1, !runs_q || 16'(stores_q) + 16'(i_block.i_store.half_q)
        + (i_block.i_store.valid_q ? 16'd2 - 16'(i_block.i_store.second_q) : 16'd0) == {15'(taken_q - written_q), 1'b0})
    `RULE(counts_are_known, 1, {asked_q, given_q, taken_q}
        == {i_block.i_fetch.asked_q, i_block.i_fetch.handed_q, i_block.i_store.taken_q})
    `RULE(owed_are_known, 1, lines_q == 4'(i_block.i_fetch.sent_q - i_block.i_fetch.come_q)
        && stores_q == i_block.i_store.outstanding_q)
    `RULE(nothing_is_counted_before_work_begins, 1, !on_q || runs_q
        || {asked_q, fetched_q, given_q, taken_q, written_q} == '0 && !i_block.i_store.valid_q)
    `RULE(submission_stays_until_it_is_taken, 1, !$past(rst_ni && submission_valid_o && !submission_ready_i)
        || !running_o || submission_valid_o && $stable(submission_o))

    // ---- What goes through.

    localparam int unsigned LogDepth = 3;
    logic        run, interrupts;
    logic [63:6] submission_base, completion_base;
    logic [3:0]  log2_entries;
    assign run             = runs_q;
    assign submission_base = rings_i.submission_base;
    assign completion_base = rings_i.completion_base;
    assign log2_entries    = rings_i.log2_entries;
    assign interrupts      = completed_o;
    `define FETCH i_block.i_fetch
    `include "submissions.svh"
    `define STORE i_block.i_store
    `include "completions.svh"

    // ---- Doorbells. Each is judged in the clock after it came, by what the ring could hold when it came.

    logic        judges_q, bad;
    logic [15:0] entries, tail_q, head_q;
    logic [15:0] rung_tail_q, rung_head_q, steps_q, space_q, consumed_q, unread_q;
    assign entries = 16'd1 << rings_i.log2_entries;
    assign bad     = judges_q && on_q && enable_i && (steps_q > space_q || consumed_q > unread_q);
    always_ff @(posedge clk_i) begin
        judges_q    <= rst_ni && on_q && enable_i;
        rung_tail_q <= submission_tail_i;
        rung_head_q <= completion_head_i;
        steps_q     <= submission_tail_i - tail_q;
        space_q     <= entries - 16'(tail_q - fetched_q);
        consumed_q  <= completion_head_i - head_q;
        unread_q    <= taken_q - head_q;
        if (!rst_ni || clear_o) {tail_q, head_q} <= '0;
        else if (judges_q && !bad) {tail_q, head_q} <= {rung_tail_q, rung_head_q};
    end
    `RULE(good_doorbells_are_known, 1, {i_block.tail_q, i_block.head_q} == {tail_q, head_q})
    `RULE(doorbell_that_stays_was_judged, 1, !judges_q
        || (rung_tail_q == tail_q || set2_q == Tail || !on_q && set3_q == Tail)
        && (rung_head_q == head_q || set2_q == Head || !on_q && set3_q == Head))
    `RULE(submissions_fit_the_ring, 1, !on_q || 16'(tail_q - fetched_q) <= entries)
    `RULE(reads_are_between_head_and_tail, 1, !on_q || 16'(tail_q - asked_q) <= 16'(tail_q - fetched_q))
    `RULE(completions_fit_the_ring, 1, !on_q || 16'(taken_q - head_q) <= entries)
    // As the jobs of submission_fetch and completion_store assume, besides the assertions in these blocks.
    `RULE(doorbell_is_not_behind, 1, !runs_q || 16'(tail_q - asked_q) <= 16'd4096)
    `RULE(counts_and_rings_stay_while_it_runs, 1, !running_o || !clear_o && $stable(rings_i))

    // ---- Errors.

    logic       line_fails, store_fails;
    logic [1:0] error_q;
    assign line_fails  = runs_q && line_valid_i && line_error_i;
    assign store_fails = runs_q && stored_valid_i && stored_error_i;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) error_q <= 2'd0;
        else if (bad) error_q <= 2'd3;
        else if (line_fails) error_q <= 2'd1;
        else if (store_fails) error_q <= 2'd2;
        else if (clear_o) error_q <= 2'd0;
    end
    `RULE(each_error_halts_the_queue, 1, halt_o == (bad || line_fails || store_fails))
    `RULE(error_is_told, 1, error_o == error_q)

    // ---- What is under way, and what happened.

    logic [31:0] under_way;
    assign under_way = 32'(lines_q) + 32'(inside_q)
        + (runs_q ? 32'(16'(fetched_q - given_q)) + 32'(16'(taken_q - written_q)) : 32'(stores_q != 0));
    `RULE(what_is_under_way_is_told, 1,
        return_o == (EveryRequestCompletes || !on_q ? under_way : 32'(submission_head_o)))
    `RULE(rings_rest_when_nothing_is_told, 1, on_q || return_o != 0 || nothing_left && !running_o && memory_quiet_o)
    `RULE(interrupts_are_those_that_are_enabled, 1, events_o.interrupts
        == 2'(completed_o && interrupt_enable_i[0]) + 2'(halt_o && interrupt_enable_i[1]))
    `RULE(line_that_comes_is_fetched, 1, events_o.fetched == (runs_q && line_valid_i && !line_error_i))
    `RULE(bytes_and_failures_are_those_of_completions, 1, {events_o.bytes, events_o.failure}
        == (takes ? {completion_i.bytes, completion_i.status != 8'd0} : 33'd0))

    // ---- All else is between the ports and the two blocks inside.

    `RULE(fetch_gets_what_is_for_it, 1, {
        rings_i.submission_base, rings_i.log2_entries, tail_q, runs_q, clear_o, read_ready_i, line_valid_i, line_error_i,
        line_i, submission_ready_i
    } == {
        i_block.i_fetch.base_i, i_block.i_fetch.log2_entries_i, i_block.i_fetch.tail_i, i_block.i_fetch.run_i,
        i_block.i_fetch.clear_i, i_block.i_fetch.read_ready_i, i_block.i_fetch.line_valid_i,
        i_block.i_fetch.line_error_i, i_block.i_fetch.line_i, i_block.i_fetch.submission_ready_i
    })
    `RULE(store_gets_what_is_for_it, 1, {
        rings_i.completion_base, rings_i.log2_entries, head_q, runs_q, clear_o, completion_valid_i, completion_i,
        store_ready_i, stored_valid_i, stored_error_i
    } == {
        i_block.i_store.base_i, i_block.i_store.log2_entries_i, i_block.i_store.head_i, i_block.i_store.run_i,
        i_block.i_store.clear_i, i_block.i_store.completion_valid_i, i_block.i_store.completion_i,
        i_block.i_store.store_ready_i, i_block.i_store.stored_valid_i, i_block.i_store.stored_error_i
    })
    `RULE(both_are_behind_the_ports, 1, {
        read_valid_o, read_address_o, submission_valid_o, submission_o, completion_ready_o, store_valid_o,
        store_address_o, store_data_o, completed_o, events_o.written
    } == {
        i_block.i_fetch.read_valid_o, i_block.i_fetch.read_address_o, i_block.i_fetch.submission_valid_o,
        i_block.i_fetch.submission_o, i_block.i_store.completion_ready_o, i_block.i_store.store_valid_o,
        i_block.i_store.store_address_o, i_block.i_store.store_data_o, i_block.i_store.interrupt_o,
        i_block.i_store.written_o
    })

    `REACHED(submission_is_given, gives)
    `REACHED(completion_is_written, events_o.written)
    `REACHED(tail_goes_back, bad && steps_q > 16'h8000)
    `REACHED(tail_goes_too_far, bad && steps_q == space_q + 16'd1)
    `REACHED(head_goes_too_far, bad && consumed_q == unread_q + 16'd1)
    `REACHED(head_is_ahead_of_the_tail, !bad && judges_q && consumed_q != 0 && rung_head_q == completion_tail_o + 16'd1)
    `REACHED(read_fails, error_q == 2'd1)
    `REACHED(line_comes_after_a_halt, $past(rst_ni && halt_o) && line_valid_i)
    `REACHED(new_work_waits_for_a_line, on_q && !runs_q && lines_q != 0)
    `REACHED(new_work_waits_for_a_store, on_q && !runs_q && stores_q != 0)
    `REACHED(work_begins_again, runs_q && error_q == 0 && $past(rst_ni && on_q && !runs_q && line_valid_i, 2))
endmodule
