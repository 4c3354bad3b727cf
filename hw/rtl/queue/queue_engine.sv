// SPDX-License-Identifier: MIT OR Apache-2.0
// One queue: its rings in memory, and the streams to and from the block behind it.
//
// Contract: software controls `enable_i`. When it rises, the counts are set to 0
// (`clear_o` clears the registers that keep two of them), and the queue begins to work
// once no work of an earlier enablement is in progress: lines, stores and, if every
// request completes, submissions inside the block. So none of these can be mistaken for
// one of the new enablement. When it falls, the queue stops at once: buffered submissions
// are forgotten, and completions from the block are dropped. An error sets `error_o` and
// requests the fall of `enable_i` by `halt_o`.
//
// The doorbells are plain values, each compared with the one before it in the clock after it has
// come; so they change in every other clock at most. The tail of submissions may not go backwards,
// nor beyond what the ring can hold; the head of completions may not go backwards, nor beyond the
// completions that were taken from the block: software may see one in memory before its store is
// answered here.
module queue_engine #(
    parameter bit EveryRequestCompletes = 1'b1  // just once
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,

    input  logic                   enable_i,
    input  queue_pkg::rings_t      rings_i,            // constant while enabled
    input  logic [15:0]            submission_tail_i,
    input  logic [15:0]            completion_head_i,
    input  logic [1:0]             interrupt_enable_i, // for completions, for errors
    output logic                   clear_o,
    output logic                   halt_o,
    output logic [15:0]            submission_head_o,
    output logic [15:0]            completion_tail_o,
    output logic [1:0]             error_o,
    output logic [31:0]            return_o,
    output logic                   completed_o,        // one that wants an interrupt
    output logic                   running_o,
    output logic                   memory_quiet_o,     // no access is under way
    output queue_pkg::events_t     events_o,

    output logic                   read_valid_o,
    output logic [63:6]            read_address_o,
    input  logic                   read_ready_i,
    input  logic                   line_valid_i,
    input  logic                   line_error_i,
    input  logic [511:0]           line_i,
    output logic                   store_valid_o,
    output logic [63:3]            store_address_o,
    output logic [63:0]            store_data_o,
    input  logic                   store_ready_i,
    input  logic                   stored_valid_i,
    input  logic                   stored_error_i,

    output logic                   submission_valid_o,  // may fall with running_o
    output queue_pkg::submission_t submission_o,
    input  logic                   submission_ready_i,
    input  logic                   completion_valid_i,
    input  queue_pkg::completion_t completion_i,
    output logic                   completion_ready_o
);

    localparam int unsigned LogDepth = 3;

    // As the field ERROR of the registers has it.
    localparam logic [1:0] NoError         = 2'd0;
    localparam logic [1:0] ReadSubmission  = 2'd1;
    localparam logic [1:0] WriteCompletion = 2'd2;
    localparam logic [1:0] Doorbell        = 2'd3;

    logic        enabled_q, running_q;
    logic [1:0]  error_q;
    logic [15:0] tail_q, head_q;    // the doorbells, as far as they were found good

    logic [LogDepth:0] lines_outstanding, lines_buffered, completions_under_way;
    logic              read_failed, store_failed, stores_quiet;
    logic [15:0]       completions_taken;
    logic [5:0]        inside_q;    // submissions that the block has in hand
    logic              quiet, halt, doorbell_bad;

    assign clear_o = enable_i && !enabled_q;
    assign quiet   = memory_quiet_o && inside_q == 0;

    // The doorbells of the clock before, and their distances from what is behind them, modulo 2**16.
    logic        judges_q;
    logic [15:0] tail_rung_q, head_rung_q;
    logic [15:0] entries, submissions_waiting_q, submissions_rung_q;
    logic [15:0] completions_unread_q, completions_consumed_q;
    always_ff @(posedge clk_i) begin
        judges_q               <= rst_ni && enabled_q && enable_i;
        tail_rung_q            <= submission_tail_i;
        head_rung_q            <= completion_head_i;
        submissions_waiting_q  <= tail_q - submission_head_o;
        submissions_rung_q     <= submission_tail_i - submission_head_o;
        completions_unread_q   <= completions_taken - head_q;
        completions_consumed_q <= completion_head_i - head_q;
    end
    assign entries      = 16'd1 << rings_i.log2_entries;
    assign doorbell_bad = judges_q && enabled_q && enable_i
        && (submissions_rung_q < submissions_waiting_q || submissions_rung_q > entries
            || completions_consumed_q > completions_unread_q);

    assign halt      = doorbell_bad || read_failed || store_failed;
    assign halt_o    = halt;
    assign error_o   = error_q;
    assign running_o = running_q;
    assign memory_quiet_o = lines_outstanding == 0 && stores_quiet;

    submission_fetch #(
        .LogDepth(LogDepth)
    ) i_fetch (
        .clk_i,
        .rst_ni,
        .run_i         (running_q),
        .clear_i       (clear_o),
        .base_i        (rings_i.submission_base),
        .log2_entries_i(rings_i.log2_entries),
        .tail_i        (tail_q),
        .read_valid_o,
        .read_address_o,
        .read_ready_i,
        .line_valid_i,
        .line_error_i,
        .line_i,
        .submission_valid_o,
        .submission_o,
        .submission_ready_i,
        .head_o        (submission_head_o),
        .outstanding_o (lines_outstanding),
        .buffered_o    (lines_buffered),
        .fetched_o     (events_o.fetched),
        .failed_o      (read_failed)
    );

    completion_store #(
        .LogDepth(LogDepth)
    ) i_store (
        .clk_i,
        .rst_ni,
        .run_i         (running_q),
        .clear_i       (clear_o),
        .base_i        (rings_i.completion_base),
        .log2_entries_i(rings_i.log2_entries),
        .head_i        (head_q),
        .completion_valid_i,
        .completion_i,
        .completion_ready_o,
        .store_valid_o,
        .store_address_o,
        .store_data_o,
        .store_ready_i,
        .stored_valid_i,
        .stored_error_i,
        .taken_o       (completions_taken),
        .tail_o        (completion_tail_o),
        .under_way_o   (completions_under_way),
        .quiet_o       (stores_quiet),
        .written_o     (events_o.written),
        .interrupt_o   (completed_o),
        .failed_o      (store_failed)
    );

    // Submissions in hand. Where requests need not complete once each, none is counted.
    logic given, returned;
    assign given    = EveryRequestCompletes && submission_valid_o && submission_ready_i;
    assign returned = EveryRequestCompletes && completion_valid_i && completion_ready_o;

    // While the queue is off: what is still under way, so that 0 says that its rings are
    // not touched any more.
    logic [7:0] under_way;
    assign under_way = 8'(lines_outstanding) + 8'(lines_buffered) + 8'(inside_q)
        + 8'(completions_under_way) + 8'(!running_q && !stores_quiet);
    assign return_o  = EveryRequestCompletes || !enabled_q
        ? 32'(under_way) : 32'(submission_head_o);

    // At most one completion and one error in a clock.
    assign events_o.interrupts = 2'(completed_o && interrupt_enable_i[0])
        + 2'(halt && interrupt_enable_i[1]);
    assign events_o.bytes = completion_valid_i && completion_ready_o ? completion_i.bytes : '0;
    assign events_o.failure = completion_valid_i && completion_ready_o
        && completion_i.status != queue_pkg::StatusDone;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            enabled_q <= 1'b0;
            running_q <= 1'b0;
            error_q   <= NoError;
            tail_q    <= '0;
            head_q    <= '0;
            inside_q  <= '0;
        end else begin
            enabled_q <= enable_i && !halt;
            running_q <= enable_i && !halt && (running_q || enabled_q && quiet);
            if (given != returned) inside_q <= given ? inside_q + 1'b1 : inside_q - 1'b1;
            if (clear_o) begin
                tail_q <= '0;
                head_q <= '0;
            end else if (judges_q && !doorbell_bad) begin
                tail_q <= tail_rung_q;
                head_q <= head_rung_q;
            end
            if (halt) begin
                error_q <= doorbell_bad ? Doorbell : read_failed ? ReadSubmission : WriteCompletion;
            end else if (clear_o) begin
                error_q <= NoError;
            end
        end
    end

`ifndef SYNTHESIS
    runs_only_while_enabled: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !running_q || enabled_q);
    returns_only_given_submissions: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(returned && !given) || inside_q != 0);
    count_never_overflows: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(given && !returned) || inside_q != '1);
    doorbells_change_in_every_other_clock: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(judges_q && enabled_q) || (submission_tail_i == tail_rung_q || tail_rung_q == tail_q)
            && (completion_head_i == head_rung_q || head_rung_q == head_q));
    rings_hold_while_enabled: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && enabled_q && enable_i) || $stable(rings_i));
`endif

endmodule
