// SPDX-License-Identifier: MIT OR Apache-2.0
// Takes lines for the scans that wait, and says which slots of its scan each line has.
//
// Contract: the first scan gets all lines up to one with `line_last_i`, and is taken with that
// line. What is said of a line comes in the clock after, while `move_i` is high; otherwise all
// outputs stay.
module probe_lines #(
    parameter int unsigned SlotBytes = 32,
    parameter int unsigned Lanes     = 2       // slots in a line, 1 when a slot has several lines
) (
    input  logic                     clk_i,
    input  logic                     rst_ni,
    input  logic                     move_i,

    input  logic                     scan_valid_i,
    output logic                     scan_ready_o,
    input  probe_scan_pkg::scan_t    scan_i,
    input  logic                     line_valid_i,
    output logic                     line_ready_o,
    input  logic [511:0]             line_i,
    input  logic                     line_last_i,
    input  logic                     line_error_i,

    output logic                     valid_o,
    output logic [511:0]             line_o,
    output logic [Lanes-1:0]         lanes_o,   // that have slots of the scan
    output probe_scan_pkg::control_t control_o
);
    import probe_scan_pkg::*;

    localparam int unsigned LogLanes = $clog2(Lanes);
    localparam int unsigned LogWords = 3 - LogLanes;     // of a lane
    localparam logic [2:0]  Inside   = 3'((1 << LogWords) - 1);
    localparam logic [2:0]  LastPart = SlotBytes > 64 ? 3'(SlotBytes / 64 - 1) : 3'd0;

    // Where the scan is; the first line begins with zeros.
    logic        first_q;
    logic [2:0]  part_q;
    logic [6:0]  group_q;                                // wraps when there are far too many lines
    logic        take, in_last_group, ends, misplaced;
    logic [1:0]  first_lane, last_lane;
    logic [6:0]  last_slot;                              // from the first lane of the first line
    assign line_ready_o  = scan_valid_i && move_i;
    assign take          = line_valid_i && line_ready_o;
    assign scan_ready_o  = take && line_last_i;
    assign misplaced     = (scan_i.first_word & Inside) != 0;
    assign first_lane    = 2'(scan_i.first_word >> LogWords);
    assign last_slot     = 7'(first_lane) + 7'(scan_i.more_slots);
    assign last_lane     = 2'(last_slot) & 2'(Lanes - 1);
    assign in_last_group = group_q == last_slot >> LogLanes;
    assign ends          = in_last_group && part_q == LastPart;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            first_q <= 1'b1;
            part_q  <= '0;
            group_q <= '0;
        end else if (take) begin
            first_q <= line_last_i;
            part_q  <= line_last_i || part_q == LastPart ? '0 : part_q + 1'b1;
            if (line_last_i) group_q <= '0;
            else if (part_q == LastPart) group_q <= group_q + 1'b1;
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) valid_o <= 1'b0;
        else if (move_i) valid_o <= take;
        if (move_i) begin
            line_o <= line_i;
            lanes_o <= Lanes'((first_q ? 4'b1111 << first_lane : 4'b1111)
                & ~(in_last_group ? 4'b1110 << last_lane : 4'b0000));
            control_o <= '{
                first:      first_q,
                last:       line_last_i,
                broken:     line_error_i || misplaced
                    || line_last_i && !ends || !line_last_i && ends,
                part:       part_q,
                group:      group_q,
                nearer:     1'b0,                        // not yet known
                last_slot:  17'(scan_i.displacement) + 17'(scan_i.more_slots),
                first_lane: first_lane,
                scan:       scan_i
            };
        end
    end

endmodule
