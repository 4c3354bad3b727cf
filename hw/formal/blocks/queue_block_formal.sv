// SPDX-License-Identifier: MIT OR Apache-2.0
// queue_block, on a clock that does not stop, and with an engine that does anything: of any word of the map, what a read
// gives is what was written last, or what the engine has made of it, or what was counted; the engine gets the settings as
// they were written, and they stay while the queue is on.
`include "../rules/rule.svh"
module queue_block_formal
    import queue_map_pkg::*;
#(
    parameter bit EveryRequestCompletes = 1,
    parameter bit CountsBytes = 1,
    parameter bit Asleep = 0    // with the engine as it is: what it does when nothing happens
) (
    input logic                   clk_i,
    input logic                   rst_ni,
    input logic                   valid_i,
    input logic                   write_i,
    input logic [11:0]            address_i,
    input logic [31:0]            data_i,
    input logic [3:0]             strobe_i,
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
    logic                   done_o, error_o, running_o, memory_quiet_o, read_valid_o, store_valid_o;
    logic                   submission_valid_o, completion_ready_o;
    logic [31:0]            data_o;
    logic [1:0]             interrupts_o;
    logic [63:6]            read_address_o;
    logic [63:3]            store_address_o;
    logic [63:0]            store_data_o;
    queue_pkg::submission_t submission_o;

    power_up i_power_up (.*);
    queue_block #(.EveryRequestCompletes(EveryRequestCompletes), .CountsBytes(CountsBytes)) i_block (.*);

    // What counts: of the outputs, and of what the engine gets from the registers.
    logic [$bits(submission_o)+380:0] seen;
    assign seen = {
        done_o, done_o && error_o, done_o && !write_i && !error_o ? data_o : 32'd0, i_block.i_engine.enable_i,
        i_block.i_engine.rings_i, i_block.i_engine.submission_tail_i, i_block.i_engine.completion_head_i,
        i_block.i_engine.interrupt_enable_i, interrupts_o, running_o, memory_quiet_o, read_valid_o, read_address_o,
        store_valid_o, store_address_o, store_data_o, submission_valid_o, submission_o, completion_ready_o,
        i_block.i_clock.busy_i
    };

    logic [11:0] address;
    arbitrary #(.Width(12)) i_address (.clk_i, .value_o(address));

    `RULE(engine_has_the_parameter_of_its_queue, 1, i_block.i_engine.EveryRequestCompletes == EveryRequestCompletes)

    // ---- What is counted, a clock after it happened. In the order of the map.

    localparam int unsigned Counters = 5;
    queue_pkg::events_t        events, events_q;
    logic [Counters-1:0][63:0] counts;
    logic [Counters-1:0][31:0] come;
    assign events = i_block.i_engine.events_o;
    assign counts = {
        i_block.failures_q, i_block.bytes_q, i_block.interrupts_q, i_block.completions_q, i_block.submissions_q
    };
    assign come   = {
        32'(events_q.failure), CountsBytes ? events_q.bytes : 32'd0, 32'(events_q.interrupts), 32'(events_q.written), 32'(events_q.fetched)
    };
    always_ff @(posedge clk_i) events_q <= rst_ni ? events : '0;
    for (genvar n = 0; n < Counters; n++) begin : g_counters
        `RULE(all_that_come_are_counted, 1, counts[n] == $past(rst_ni ? counts[n] + 64'(come[n]) : 64'd0))
    end
    `RULE(what_happened_comes, 1, i_block.events_q == events_q)
    `RULE(interrupts_are_raised, 1, interrupts_o == events_q.interrupts)

    // ---- The map.

    localparam bit ReadsLate = 0;
    localparam bit HasTheBus = 0, Inside = 0;
    logic        refused, enable_q;
    logic [1:0]  isr_q;
    logic [15:0] tail_q, head_q;
    logic [31:0] told, given, word;
    assign given   = data_i;
    assign refused = write_refused(address_i, data_i, strobe_i, enable_q);
    always_comb begin
        case (address)
            CONTROL:         told = 32'(enable_q);
            ISR:             told = 32'(isr_q);
            RETURN:          told = i_block.i_engine.return_o;
            SUBMISSION_TAIL: told = 32'(tail_q);
            COMPLETION_HEAD: told = 32'(head_q);
            SUBMISSION_HEAD: told = 32'(i_block.i_engine.submission_head_o);
            COMPLETION_TAIL: told = 32'(i_block.i_engine.completion_tail_o);
            ERROR:           told = 32'(i_block.i_engine.error_o);
            default:         told = counts[address[5:3]][32*address[2] +: 32];
        endcase
    end
    // Settings, as the engine gets them.
    queue_pkg::rings_t rings;
    logic              gie;
    logic [1:0]        ier;
    assign rings = i_block.i_engine.rings_i;
    assign gie   = i_block.from_registers.GIE.enable.value;
    assign ier   = {i_block.from_registers.IER.error.value, i_block.from_registers.IER.completion.value};
    always_comb begin
        case (address)
            GIE:                     word = 32'(gie);
            IER:                     word = 32'(ier);
            SUBMISSION_BASE:         word = {rings.submission_base[31:6], 6'd0};
            SUBMISSION_BASE + 12'd4: word = rings.submission_base[63:32];
            COMPLETION_BASE:         word = {rings.completion_base[31:6], 6'd0};
            COMPLETION_BASE + 12'd4: word = rings.completion_base[63:32];
            LOG2_ENTRIES:            word = 32'(rings.log2_entries);
            default:                 word = place_of(address).first;
        endcase
    end
`include "registers.svh"
`include "queue_map.svh"

    // An error disables the queue, and an event stays, whatever is written in its clock.
    logic carries;
    assign carries = carried_q && write_i && !refused_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || i_block.i_engine.halt_o) enable_q <= 1'b0;
        else if (carries && address_i == CONTROL) enable_q <= data_i[0];
        isr_q <= isr_q & ~(carries && address_i == ISR ? data_i[1:0] : 2'd0)
            | {i_block.i_engine.halt_o, i_block.i_engine.completed_o};
        if (carries && address_i == SUBMISSION_TAIL) tail_q <= data_i[15:0];
        else if (i_block.i_engine.clear_o) tail_q <= '0;
        if (carries && address_i == COMPLETION_HEAD) head_q <= data_i[15:0];
        else if (i_block.i_engine.clear_o) head_q <= '0;
        if (!rst_ni) {isr_q, tail_q, head_q} <= '0;
    end
    // As the engine takes for granted.
    `RULE(registers_are_written_in_every_third_clock, 1,
        !carried_q || !$past(rst_ni && carried_q) && !$past(rst_ni && carried_q, 2))
    `RULE(queue_is_on_as_it_was_told, 1, i_block.i_engine.enable_i == enable_q)
    `RULE(doorbells_ring_as_they_were_written, 1,
        {i_block.i_engine.submission_tail_i, i_block.i_engine.completion_head_i} == {tail_q, head_q})
    `RULE(events_stay_until_they_are_cleared, 1,
        {i_block.from_registers.ISR.error.value, i_block.from_registers.ISR.completion.value} == isr_q)

    `RULE(interrupts_are_enabled_by_both, 1, i_block.i_engine.interrupt_enable_i == (gie ? ier : 2'd0))
    `RULE(settings_stay_while_the_queue_is_on, 1, !$past(rst_ni && enable_q) || $stable(rings))
    `RULE(ring_has_a_size, 1, rings.log2_entries <= 4'd12)

    // All else goes through.
    `RULE(engine_is_behind_the_ports, 1, {
        running_o, memory_quiet_o, read_valid_o, read_address_o, store_valid_o, store_address_o, store_data_o,
        submission_valid_o, submission_o, completion_ready_o
    } == {
        i_block.i_engine.running_o, i_block.i_engine.memory_quiet_o, i_block.i_engine.read_valid_o,
        i_block.i_engine.read_address_o, i_block.i_engine.store_valid_o, i_block.i_engine.store_address_o,
        i_block.i_engine.store_data_o, i_block.i_engine.submission_valid_o, i_block.i_engine.submission_o,
        i_block.i_engine.completion_ready_o
    })
    `RULE(ports_are_before_the_engine, 1, {
        read_ready_i, line_valid_i, line_error_i, line_i, store_ready_i, stored_valid_i, stored_error_i,
        submission_ready_i, completion_valid_i, completion_i
    } == {
        i_block.i_engine.read_ready_i, i_block.i_engine.line_valid_i, i_block.i_engine.line_error_i,
        i_block.i_engine.line_i, i_block.i_engine.store_ready_i, i_block.i_engine.stored_valid_i,
        i_block.i_engine.stored_error_i, i_block.i_engine.submission_ready_i, i_block.i_engine.completion_valid_i,
        i_block.i_engine.completion_i
    })

    // The clock runs while a valid signal is high.
    `RULE(clock_runs_while_something_happens, 1, i_block.i_clock.busy_i == (valid_i || line_valid_i || stored_valid_i
        || completion_valid_i || read_valid_o || store_valid_o || submission_valid_o))

    // A few clocks after the last valid signal no register changes any more, and no pulse is high. So a clock that stops, which
    // it does later, changes nothing.
    if (Asleep) begin : g_asleep
        localparam logic [2:0] Settles = 3'd5;
        logic [2:0]    quiet_q;
        logic [1043:0] state;
        always_ff @(posedge clk_i) begin
            if (!rst_ni || i_block.i_clock.busy_i) quiet_q <= '0;
            else if (quiet_q != Settles) quiet_q <= quiet_q + 1'b1;
        end
        assign state = {
            i_block.events_q, counts, i_block.i_access.taken_q, i_block.i_access.m_cpuif_req,
            i_block.i_access.refused_q, i_block.i_access.done_o, i_block.i_access.error_o, i_block.i_access.data_o,
            i_block.i_access.m_cpuif_req_is_wr, i_block.i_access.m_cpuif_addr, i_block.i_access.m_cpuif_wr_data,
            i_block.i_access.strobe_q, i_block.from_registers.CONTROL.enable.value, gie, ier,
            i_block.from_registers.ISR.error.value, i_block.from_registers.ISR.completion.value, rings,
            i_block.from_registers.SUBMISSION_TAIL.count.value, i_block.from_registers.COMPLETION_HEAD.count.value,
            i_block.i_engine.enabled_q, i_block.i_engine.running_q, i_block.i_engine.error_q, i_block.i_engine.tail_q,
            i_block.i_engine.head_q, i_block.i_engine.inside_q, i_block.i_engine.judges_q,
            i_block.i_engine.tail_rung_q, i_block.i_engine.head_rung_q, i_block.i_engine.submissions_waiting_q,
            i_block.i_engine.submissions_rung_q, i_block.i_engine.completions_unread_q,
            i_block.i_engine.completions_consumed_q, i_block.i_engine.i_fetch.places_q,
            i_block.i_engine.i_fetch.sent_q, i_block.i_engine.i_fetch.come_q, i_block.i_engine.i_fetch.asked_q,
            i_block.i_engine.i_fetch.head_q, i_block.i_engine.i_fetch.handed_q, i_block.i_engine.i_store.taken_q,
            i_block.i_engine.i_store.tail_q, i_block.i_engine.i_store.valid_q, i_block.i_engine.i_store.second_q,
            i_block.i_engine.i_store.place_q, i_block.i_engine.i_store.word0_q, i_block.i_engine.i_store.word1_q,
            i_block.i_engine.i_store.wants_q, i_block.i_engine.i_store.outstanding_q,
            i_block.i_engine.i_store.half_q
        };
        `RULE(nothing_changes_once_it_is_quiet, 1, quiet_q != Settles
            || $stable(state) && !$past(i_block.i_engine.i_fetch.i_buffer.write_enable_i))
        `RULE(no_pulse_is_high_once_it_is_quiet, 1, quiet_q != Settles || !done_o && interrupts_o == 0
            && (i_block.i_clock.busy_i || !read_valid_o && !store_valid_o && !submission_valid_o))
        `REACHED(queue_is_quiet_while_it_runs, quiet_q == Settles && running_o)
    end

    `REACHED(write_is_refused_while_the_queue_is_on, ends_q && refused_q && enable_q && strobe_i == '1)
    `REACHED(error_comes_with_a_write, $past(rst_ni && carries && address_i == CONTROL && data_i[0]) && !enable_q)
    `REACHED(event_comes_with_its_clearing, $past(rst_ni && carries && address_i == ISR && data_i[0]) && isr_q[0])
    `REACHED(doorbell_rings, carries && address_i == SUBMISSION_TAIL && enable_q && data_i[15:0] == tail_q + 1'b1)
    `REACHED(bytes_are_counted, counts[3] > 64'd4 << 30)
endmodule
