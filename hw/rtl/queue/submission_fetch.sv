// SPDX-License-Identifier: MIT OR Apache-2.0
// Fetches submissions from their ring in memory, in order, and hands them on.
//
// Contract: while `run_i`, lines are asked for as long as the doorbell is ahead, and at most
// 2**LogDepth are asked for or buffered, so that every line that comes has a place. When
// `run_i` falls, what is buffered is forgotten; lines that were asked for still come, are
// counted in `outstanding_o`, and otherwise ignored. `run_i` rises only when
// `outstanding_o` is 0, and after `clear_i`; the ring is constant from the clock before on.
// `submission_valid_o` may fall with `run_i`.
module submission_fetch #(
    parameter int unsigned LogDepth = 3
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   run_i,
    input  logic                   clear_i,           // sets the counts to 0
    input  logic [63:6]            base_i,
    input  logic [3:0]             log2_entries_i,
    input  logic [15:0]            tail_i,            // submissions that software has written

    output logic                   read_valid_o,
    output logic [63:6]            read_address_o,
    input  logic                   read_ready_i,
    input  logic                   line_valid_i,      // in the order of the reads
    input  logic                   line_error_i,
    input  logic [511:0]           line_i,

    output logic                   submission_valid_o,
    output queue_pkg::submission_t submission_o,
    input  logic                   submission_ready_i,

    output logic [15:0]            head_o,            // submissions fetched
    output logic [LogDepth:0]      outstanding_o,     // lines asked for that have not come
    output logic [LogDepth:0]      buffered_o,        // fetched and not handed on
    output logic                   fetched_o,
    output logic                   failed_o
);

    localparam int unsigned Width = $bits(queue_pkg::submission_t);

    // The bits of a count that are a place in the ring.
    logic [11:0] places_q;
    always_ff @(posedge clk_i) places_q <= queue_pkg::place('1, log2_entries_i);

    // Counts since enabling: asked for, come, handed on.
    logic [15:0] asked_q, head_q, handed_q;

    // Of all lines, whichever enablement asked for them.
    logic [LogDepth:0] sent_q, come_q, outstanding;
    logic ask, hand;
    assign outstanding = sent_q - come_q;
    assign ask  = read_valid_o && read_ready_i;
    assign hand = submission_valid_o && submission_ready_i;

    // Places that are taken, at most 2**LogDepth, so that low bits of the counts tell them.
    logic [LogDepth:0] taken, buffered_lines;
    assign taken          = asked_q[LogDepth:0] - handed_q[LogDepth:0];
    assign buffered_lines = head_q[LogDepth:0] - handed_q[LogDepth:0];

    assign read_valid_o   = run_i && asked_q != tail_i && !taken[LogDepth];
    assign read_address_o = base_i + 58'(asked_q[11:0] & places_q);
    assign fetched_o      = run_i && line_valid_i && !line_error_i;
    assign failed_o       = run_i && line_valid_i && line_error_i;
    assign head_o         = head_q;
    assign outstanding_o  = outstanding;
    assign buffered_o     = run_i ? buffered_lines : '0;

    queue_pkg::submission_t arrived;
    assign arrived = '{
        identifier:      line_i[15:0],
        opcode:          line_i[23:16],
        wants_interrupt: line_i[24],
        length:          line_i[63:32],
        argument:        line_i[511:64]
    };

    logic unused;
    assign unused = ^line_i[31:25];

    logic [Width-1:0] buffered;
    lut_ram #(
        .AddressWidth(LogDepth),
        .DataWidth   (Width)
    ) i_buffer (
        .clk_i,
        .write_enable_i (fetched_o),
        .write_address_i(head_q[LogDepth-1:0]),
        .write_data_i   (arrived),
        .read_address_i (handed_q[LogDepth-1:0]),
        .read_data_o    (buffered)
    );
    assign submission_o       = buffered;
    assign submission_valid_o = run_i && buffered_lines != 0;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            sent_q <= '0;
            come_q <= '0;
        end else begin
            if (ask) sent_q <= sent_q + 1'b1;
            if (line_valid_i) come_q <= come_q + 1'b1;
        end
        if (!rst_ni || clear_i) begin
            asked_q  <= '0;
            head_q   <= '0;
            handed_q <= '0;
        end else begin
            if (ask) asked_q <= asked_q + 1'b1;
            if (fetched_o) head_q <= head_q + 1'b1;
            if (hand) handed_q <= handed_q + 1'b1;
        end
    end

`ifndef SYNTHESIS
    each_line_was_requested: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !line_valid_i || outstanding != 0);
    places_are_enough: assert property (@(posedge clk_i) disable iff (!rst_ni)
        asked_q - handed_q <= 16'd1 << LogDepth && head_q - handed_q <= asked_q - handed_q);
    fetched_lines_have_a_place: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !fetched_o || head_q - handed_q < 16'd1 << LogDepth);
    starts_only_when_quiet: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$rose(run_i) || outstanding == 0 && asked_q == 0 && handed_q == 0);
`endif

endmodule
