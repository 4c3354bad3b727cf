// SPDX-License-Identifier: MIT OR Apache-2.0
// Turns submissions of the copy queue into commands for a data mover, and the ends of its
// moves into completions.
//
// Contract: a submission with an unknown opcode or an impossible length completes at once
// and moves nothing. Otherwise it takes a free tag, becomes a beat on `m_axis_move` and
// completes when a beat with its tag comes on `s_axis_moved`; moves may end in any order,
// and complete in that order. A beat with a tag that is not open is dropped. At most 16
// moves are open; the next submission waits. The mover answers each move once, after
// the bytes are where they belong.
module copy_engine (
    input  logic                   clk_i,
    input  logic                   rst_ni,

    input  logic                   submission_valid_i,
    input  queue_pkg::submission_t submission_i,
    output logic                   submission_ready_o,
    output logic                   completion_valid_o,
    output queue_pkg::completion_t completion_o,
    input  logic                   completion_ready_i,

    output logic                   m_axis_move_tvalid,
    input  logic                   m_axis_move_tready,
    output logic [191:0]           m_axis_move_tdata,
    input  logic                   s_axis_moved_tvalid,
    output logic                   s_axis_moved_tready,
    input  logic [63:0]            s_axis_moved_tdata,

    output logic                   quiet_o             // no move is open whose end could come
);

    localparam int unsigned LogMoves = 4;
    localparam int unsigned Moves    = 2**LogMoves;

    localparam logic [7:0]  HostToCard    = 8'd1;
    localparam logic [7:0]  HostToHost    = 8'd3;
    localparam logic [31:0] LargestLength = 32'd1 << 30;

    // Per tag: is a move open, and what its submission said.
    logic [Moves-1:0] open_q;
    logic [15:0]      identifiers_q[Moves];
    logic [Moves-1:0] wants_q;

    logic [LogMoves-1:0] free_tag;
    always_comb begin
        free_tag = '0;
        for (int unsigned n = 0; n < Moves; n++) begin
            if (!open_q[n]) free_tag = LogMoves'(n);
        end
    end

    // What is wrong with the submission.
    logic [7:0] fault;
    always_comb begin
        fault = queue_pkg::StatusDone;
        if (submission_i.opcode < HostToCard || submission_i.opcode > HostToHost) begin
            fault = queue_pkg::StatusBadOpcode;
        end else if (submission_i.length == 0 || submission_i.length > LargestLength) begin
            fault = queue_pkg::StatusBadLength;
        end
    end

    // One end of a move waits in a register, one completion in another.
    logic        moved_q;
    logic [63:0] moved_data_q;
    logic        completion_free, end_move, start, refuse;
    logic [LogMoves-1:0] moved_tag;
    logic                moved_known;
    assign moved_tag           = moved_data_q[LogMoves-1:0];
    assign moved_known         = moved_data_q[15:LogMoves] == 0 && open_q[moved_tag];
    assign s_axis_moved_tready = !moved_q;
    assign completion_free     = !completion_valid_o || completion_ready_i;

    // The ends of moves go first: they free tags.
    assign end_move = moved_q && moved_known && completion_free;
    assign refuse   = submission_valid_i && fault != queue_pkg::StatusDone
        && completion_free && !end_move;
    assign start    = submission_valid_i && fault == queue_pkg::StatusDone
        && !(&open_q) && (!m_axis_move_tvalid || m_axis_move_tready);
    assign submission_ready_o = refuse || start;
    assign quiet_o            = open_q == 0 || !s_axis_moved_tready;

    // The other words of the argument are for other queues.
    logic unused;
    assign unused = ^{moved_data_q[31:24], submission_i.argument[447:128]};

    always_ff @(posedge clk_i) begin
        if (s_axis_moved_tvalid && s_axis_moved_tready) moved_data_q <= s_axis_moved_tdata;
        if (end_move) begin
            completion_o <= '{
                result:          '0,
                bytes:           moved_data_q[63:32],
                wants_interrupt: wants_q[moved_tag],
                status:          moved_data_q[23:16],
                identifier:      identifiers_q[moved_tag]
            };
        end else if (refuse) begin
            completion_o <= '{
                result:          '0,
                bytes:           '0,
                wants_interrupt: submission_i.wants_interrupt,
                status:          fault,
                identifier:      submission_i.identifier
            };
        end
        if (start) begin
            identifiers_q[free_tag] <= submission_i.identifier;
            wants_q[free_tag]       <= submission_i.wants_interrupt;
            m_axis_move_tdata       <= {
                submission_i.argument[127:0],  // destination, source
                submission_i.length, 8'd0, submission_i.opcode, 16'(free_tag)
            };
        end
        if (!rst_ni) begin
            open_q             <= '0;
            moved_q            <= 1'b0;
            completion_valid_o <= 1'b0;
            m_axis_move_tvalid <= 1'b0;
        end else begin
            if (start) open_q[free_tag] <= 1'b1;
            if (end_move) open_q[moved_tag] <= 1'b0;
            if (moved_q) moved_q <= moved_known && !end_move;
            else moved_q <= s_axis_moved_tvalid;
            completion_valid_o <= end_move || refuse || completion_valid_o && !completion_ready_i;
            m_axis_move_tvalid <= start || m_axis_move_tvalid && !m_axis_move_tready;
        end
    end

`ifndef SYNTHESIS
    command_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axis_move_tvalid && !m_axis_move_tready)
            || m_axis_move_tvalid && $stable(m_axis_move_tdata));
    completion_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && completion_valid_o && !completion_ready_i)
            || completion_valid_o && $stable(completion_o));
    a_tag_starts_free: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !start || !open_q[free_tag]);
`endif

endmodule
