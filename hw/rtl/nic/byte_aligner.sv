// SPDX-License-Identifier: MIT OR Apache-2.0
// Moves the bytes of lines from their place in source lines to that in target lines.
//
// Contract: lines of a piece are asked for one after the other, and come a clock later at
// `line_i`. Each is rotated by `rotation_i`; a target line has its upper bytes from this line and
// those below the rotation from the one before. `emit_i` says that this step completes a target
// line: it is given two clocks after `step_i`, with strobes from `first_byte_i` on in the first
// line of a piece and up to `last_byte_i` in the last; other bytes are 0. Nothing holds it up: whoever
// asks has room.
module byte_aligner (
    input  logic         clk_i,
    input  logic         rst_ni,

    input  logic         step_i,
    input  logic         emit_i,
    input  logic         first_i,        // target line of the piece
    input  logic         last_i,
    input  logic [5:0]   rotation_i,     // bytes, upwards
    input  logic [5:0]   first_byte_i,
    input  logic [5:0]   last_byte_i,
    input  logic [511:0] line_i,         // a clock after its step

    output logic         valid_o,
    output logic         last_o,
    output logic [511:0] data_o,
    output logic [63:0]  strobe_o
);

    typedef struct packed {
        logic       first;
        logic       last;
        logic [5:0] rotation;
        logic [5:0] first_byte;
        logic [5:0] last_byte;
    } step_t;

    logic         step_q, emit_q, rotated_q, emit_rotated_q, last_rotated_q;
    step_t        at_line_q;
    logic [5:0]   rotation_q;
    logic [511:0] line_q, before_q;
    logic [63:0]  strobe_q;

    // By 16, 4 and 1 bytes: each is a choice of four.
    function automatic logic [511:0] rotated(input logic [511:0] word, input logic [5:0] by);
        logic [511:0] by_sixteens, by_fours;
        unique case (by[5:4])
            2'd0:    by_sixteens = word;
            2'd1:    by_sixteens = {word[383:0], word[511:384]};
            2'd2:    by_sixteens = {word[255:0], word[511:256]};
            default: by_sixteens = {word[127:0], word[511:128]};
        endcase
        unique case (by[3:2])
            2'd0:    by_fours = by_sixteens;
            2'd1:    by_fours = {by_sixteens[479:0], by_sixteens[511:480]};
            2'd2:    by_fours = {by_sixteens[447:0], by_sixteens[511:448]};
            default: by_fours = {by_sixteens[415:0], by_sixteens[511:416]};
        endcase
        unique case (by[1:0])
            2'd0:    rotated = by_fours;
            2'd1:    rotated = {by_fours[503:0], by_fours[511:504]};
            2'd2:    rotated = {by_fours[495:0], by_fours[511:496]};
            default: rotated = {by_fours[487:0], by_fours[511:488]};
        endcase
    endfunction

    // Bits from `from` on, and bits up to `to`.
    function automatic logic [63:0] mask(input logic [5:0] from, input logic [5:0] to);
        for (int unsigned n = 0; n < 64; n++) mask[n] = 6'(n) >= from && 6'(n) <= to;
    endfunction

    always_ff @(posedge clk_i) begin
        at_line_q <= '{first_i, last_i, rotation_i, first_byte_i, last_byte_i};
        if (step_q) begin
            line_q         <= rotated(line_i, at_line_q.rotation);
            before_q       <= line_q;
            rotation_q     <= at_line_q.rotation;
            last_rotated_q <= at_line_q.last;
            strobe_q       <= mask(at_line_q.first ? at_line_q.first_byte : '0,
                                   at_line_q.last ? at_line_q.last_byte : '1);
        end
        if (!rst_ni) begin
            step_q         <= 1'b0;
            emit_q         <= 1'b0;
            rotated_q      <= 1'b0;
            emit_rotated_q <= 1'b0;
        end else begin
            step_q         <= step_i;
            emit_q         <= emit_i;
            rotated_q      <= step_q;
            emit_rotated_q <= emit_q;
        end
    end

    assign valid_o  = rotated_q && emit_rotated_q;
    assign last_o   = last_rotated_q;
    assign strobe_o = strobe_q;
    always_comb begin
        for (int unsigned n = 0; n < 64; n++) begin
            data_o[8*n +: 8] = 6'(n) < rotation_q ? before_q[8*n +: 8] : line_q[8*n +: 8];
            if (!strobe_q[n]) data_o[8*n +: 8] = '0;
        end
    end

`ifndef SYNTHESIS
    each_line_has_a_byte: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !valid_o || strobe_o != 0);
`endif

endmodule
