// SPDX-License-Identifier: MIT OR Apache-2.0
// A queue with its registers (docs/registers.md) and counters, on a gated clock, which
// stops while nothing happens.
//
// Contract: all inputs come from registers of `clk_i`, except for the ready signals, which
// are ignored without valid. Output pulses (interrupts, submissions, accesses to memory)
// follow an input, so none is high when the clock is stopped.
module queue_block #(
    parameter logic [7:0]  Kind                  = 8'd1,
    parameter bit          EveryRequestCompletes = 1'b1,
    parameter bit          CountsBytes           = 1'b1   // what completions have as bytes is some
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,

    // A register access: valid and all beside it hold until done.
    input  logic                   valid_i,
    input  logic                   write_i,
    input  logic [11:0]            address_i,
    input  logic [31:0]            data_i,
    input  logic [3:0]             strobe_i,
    output logic                   done_o,
    output logic                   error_o,
    output logic [31:0]            data_o,

    output logic [1:0]             interrupts_o,        // raised in this clock
    output logic                   running_o,
    output logic                   memory_quiet_o,

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

    output logic                   submission_valid_o,
    output queue_pkg::submission_t submission_o,
    input  logic                   submission_ready_i,
    input  logic                   completion_valid_i,
    input  queue_pkg::completion_t completion_i,
    output logic                   completion_ready_o
);

    queue_registers_pkg::queue__in_t  to_registers;
    queue_registers_pkg::queue__out_t from_registers;

    logic clk;
    activity_clock i_clock (
        .clk_i,
        .rst_ni,
        .busy_i(valid_i || line_valid_i || stored_valid_i || completion_valid_i
            || read_valid_o || store_valid_o || submission_valid_o),
        .clk_o (clk)
    );

    // Nothing but the queue itself changes its enable between the judgement of a write and the write.
    logic        refused;
    logic        cpuif_req, cpuif_req_is_wr, cpuif_rd_ack, cpuif_rd_err, cpuif_wr_ack, cpuif_wr_err;
    logic [11:0] cpuif_addr;
    logic [31:0] cpuif_wr_data, cpuif_wr_biten, cpuif_rd_data;
    assign refused = write_i && queue_map_pkg::write_refused(
        address_i, data_i, strobe_i, from_registers.CONTROL.enable.value);

    register_access i_access (
        .clk_i            (clk),
        .rst_ni,
        .valid_i,
        .write_i,
        .address_i,
        .data_i,
        .strobe_i,
        .refused_i        (refused),
        .done_o,
        .error_o,
        .data_o,
        .m_cpuif_req      (cpuif_req),
        .m_cpuif_req_is_wr(cpuif_req_is_wr),
        .m_cpuif_addr     (cpuif_addr),
        .m_cpuif_wr_data  (cpuif_wr_data),
        .m_cpuif_wr_biten (cpuif_wr_biten),
        .m_cpuif_rd_ack   (cpuif_rd_ack),
        .m_cpuif_rd_err   (cpuif_rd_err),
        .m_cpuif_rd_data  (cpuif_rd_data),
        .m_cpuif_wr_ack   (cpuif_wr_ack),
        .m_cpuif_wr_err   (cpuif_wr_err)
    );

    logic               clear, halt, completed;
    logic [15:0]        submission_head, completion_tail;
    logic [1:0]         error;
    logic [31:0]        in_hand;
    // Interrupts and counters follow a clock after what they are about, and are on no path of its.
    queue_pkg::events_t events, events_q;
    always_ff @(posedge clk) events_q <= rst_ni ? events : '0;
    assign interrupts_o = events_q.interrupts;

    logic [63:0] submissions_q, completions_q, interrupts_q, bytes_q, failures_q;
    always_ff @(posedge clk) begin
        if (!rst_ni) begin
            submissions_q <= '0;
            completions_q <= '0;
            interrupts_q  <= '0;
            bytes_q       <= '0;
            failures_q    <= '0;
        end else begin
            if (events_q.fetched) submissions_q <= submissions_q + 1'b1;
            if (events_q.written) completions_q <= completions_q + 1'b1;
            if (events_q.interrupts != 0) interrupts_q <= interrupts_q + 64'(events_q.interrupts);
            if (CountsBytes && events_q.bytes != 0) bytes_q <= bytes_q + 64'(events_q.bytes);
            if (events_q.failure) failures_q <= failures_q + 1'b1;
        end
    end

    always_comb begin
        to_registers.CONTROL.enable.hwclr        = halt;
        to_registers.ISR.completion.hwset        = completed;
        to_registers.ISR.error.hwset             = halt;
        to_registers.RETURN.value.next           = in_hand;
        to_registers.SUBMISSION_TAIL.count.hwclr = clear;
        to_registers.COMPLETION_HEAD.count.hwclr = clear;
        to_registers.SUBMISSION_HEAD.count.next  = submission_head;
        to_registers.COMPLETION_TAIL.count.next  = completion_tail;
        to_registers.ERROR.cause.next            = error;
        to_registers.CAPABILITIES.kind.next      = Kind;
        to_registers.SUBMISSIONS.value.next      = submissions_q;
        to_registers.COMPLETIONS.value.next      = completions_q;
        to_registers.INTERRUPTS.value.next       = interrupts_q;
        to_registers.BYTES_MOVED.value.next      = bytes_q;
        to_registers.FAILURES.value.next         = failures_q;
    end

    queue_registers i_registers (
        .clk                 (clk),
        .rst_n               (rst_ni),
        .s_cpuif_req         (cpuif_req),
        .s_cpuif_req_is_wr   (cpuif_req_is_wr),
        .s_cpuif_addr        (cpuif_addr),
        .s_cpuif_wr_data     (cpuif_wr_data),
        .s_cpuif_wr_biten    (cpuif_wr_biten),
        .s_cpuif_req_stall_wr(),
        .s_cpuif_req_stall_rd(),
        .s_cpuif_rd_ack      (cpuif_rd_ack),
        .s_cpuif_rd_err      (cpuif_rd_err),
        .s_cpuif_rd_data     (cpuif_rd_data),
        .s_cpuif_wr_ack      (cpuif_wr_ack),
        .s_cpuif_wr_err      (cpuif_wr_err),
        .hwif_in             (to_registers),
        .hwif_out            (from_registers)
    );

    queue_pkg::rings_t rings;
    assign rings = '{
        submission_base: {
            from_registers.SUBMISSION_BASE.high.value, from_registers.SUBMISSION_BASE.low.value
        },
        completion_base: {
            from_registers.COMPLETION_BASE.high.value, from_registers.COMPLETION_BASE.low.value
        },
        log2_entries: from_registers.LOG2_ENTRIES.value.value
    };

    logic [1:0] interrupt_enable;
    assign interrupt_enable = {
        from_registers.GIE.enable.value && from_registers.IER.error.value,
        from_registers.GIE.enable.value && from_registers.IER.completion.value
    };

    queue_engine #(
        .EveryRequestCompletes(EveryRequestCompletes)
    ) i_engine (
        .clk_i             (clk),
        .rst_ni,
        .enable_i          (from_registers.CONTROL.enable.value),
        .rings_i           (rings),
        .submission_tail_i (from_registers.SUBMISSION_TAIL.count.value),
        .completion_head_i (from_registers.COMPLETION_HEAD.count.value),
        .interrupt_enable_i(interrupt_enable),
        .clear_o           (clear),
        .halt_o            (halt),
        .submission_head_o (submission_head),
        .completion_tail_o (completion_tail),
        .error_o           (error),
        .return_o          (in_hand),
        .completed_o       (completed),
        .running_o,
        .memory_quiet_o,
        .events_o          (events),
        .read_valid_o,
        .read_address_o,
        .read_ready_i,
        .line_valid_i,
        .line_error_i,
        .line_i,
        .store_valid_o,
        .store_address_o,
        .store_data_o,
        .store_ready_i,
        .stored_valid_i,
        .stored_error_i,
        .submission_valid_o,
        .submission_o,
        .submission_ready_i,
        .completion_valid_i,
        .completion_i,
        .completion_ready_o
    );

endmodule
