// SPDX-License-Identifier: MIT OR Apache-2.0
// probe_lines: a line comes out a clock after it was taken, with its scan and with the lanes that have slots of it. It is
// broken exactly where it should be, up to the line with which the scan should end; after that nothing of the scan counts.
`include "../rules/rule.svh"
module probe_lines_formal
    import probe_scan_pkg::*;
#(
    parameter int unsigned SlotBytes = 32,
    localparam int unsigned Lanes     = SlotBytes <= 64 ? 64 / SlotBytes : 1,
    localparam int unsigned LaneWords = 8 / Lanes,
    localparam int unsigned Parts     = SlotBytes <= 64 ? 1 : SlotBytes / 64
) (
    input logic         clk_i,
    input logic         rst_ni,
    input logic         move_i,
    input logic         scan_valid_i,
    input scan_t        scan_i,
    input logic         line_valid_i,
    input logic [511:0] line_i,
    input logic         line_last_i,
    input logic         line_error_i
);
    logic             scan_ready_o, line_ready_o, valid_o;
    logic [511:0]     line_o;
    logic [Lanes-1:0] lanes_o;
    control_t         control_o;

    power_up i_power_up (.*);
    probe_lines #(.SlotBytes(SlotBytes), .Lanes(Lanes)) i_block (.*);
    axi4_stream_rules #(.Width($bits(scan_t)), .Proven(0)) i_scan (
        .clk_i, .rst_ni, .tvalid(scan_valid_i), .tready(scan_ready_o), .payload(scan_i));
    axi4_stream_rules #(.Width(514), .Proven(0)) i_line (
        .clk_i, .rst_ni, .tvalid(line_valid_i), .tready(line_ready_o), .payload({line_i, line_last_i, line_error_i}));

    // What counts of the outputs.
    logic [512+Lanes+$bits(control_t)+2:0] seen;
    assign seen = {scan_ready_o, line_ready_o, valid_o, valid_o ? {line_o, lanes_o, control_o} : '0};

    // ---- Where the scan is: which words it has, counted from the first one of its first line, and how many lines.
    logic        take, starts, wrong_q;
    logic [8:0]  line_q;        // lines before
    logic [11:0] behind, words; // the word behind its last one, and words before this line
    logic [8:0]  lines;
    assign take   = line_valid_i && line_ready_o;
    assign behind = 12'(scan_i.first_word) + (12'(scan_i.more_slots) + 12'd1) * 12'(SlotBytes / 8);
    assign lines  = 9'((behind + 12'd7) >> 3);
    assign words  = {line_q, 3'd0};
    assign starts = 4'(scan_i.first_word) % 4'(LaneWords) == 0;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || take && line_last_i) begin
            line_q  <= '0;
            wrong_q <= 1'b0;
        end else if (take && starts) begin
            line_q  <= line_q + 9'd1;
            wrong_q <= wrong_q || line_q + 9'd1 == lines;
        end else if (take) begin
            wrong_q <= 1'b1;
        end
    end

    // ---- What should come out.
    logic             taken_q, right_q;
    logic [511:0]     was_q;
    logic [Lanes-1:0] lanes, lanes_q;
    control_t         control, control_q;
    logic [6:0]       group_q;
    logic [2:0]       part_q;
    for (genvar n = 0; n < Lanes; n++) begin : g_lanes
        logic [11:0] word;
        assign word     = words + 12'(n * LaneWords);
        assign lanes[n] = word >= 12'(scan_i.first_word) && word < behind;
    end
    always_comb begin
        control            = '0;
        control.first      = i_block.first_q;
        control.last       = line_last_i;
        control.broken     = line_error_i || !starts || line_last_i != (line_q == lines - 9'd1);
        control.part       = part_q;
        control.group      = group_q;
        control.last_slot  = 17'(scan_i.displacement) + 17'(scan_i.more_slots);
        control.first_lane = 2'(scan_i.first_word / 4'(LaneWords));
        control.scan       = scan_i;
    end
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            taken_q <= 1'b0;
        end else if (move_i) begin
            taken_q   <= take;
            right_q   <= !wrong_q;
            was_q     <= line_i;
            lanes_q   <= lanes;
            control_q <= control;
        end
    end
    assign group_q = i_block.group_q;
    assign part_q  = i_block.part_q;
    // Which of the slots, or lines, and which part of it.
    `RULE(line_is_counted, 1, wrong_q || 32'(line_q) == 32'(group_q) * Parts + 32'(part_q) && 32'(part_q) < Parts)
    `RULE(line_is_of_its_scan, 1, line_q == 0 && !wrong_q || scan_valid_i && (wrong_q || line_q < lines))
    // Which line is the first, of any number.
    logic first_q;
    always_ff @(posedge clk_i) if (!rst_ni || take) first_q <= !rst_ni || line_last_i;
    `RULE(first_line_is_known, 1, i_block.first_q == first_q && first_q == (line_q == 0 && !wrong_q))

    `RULE(line_is_taken_with_its_scan, 1, !line_ready_o || scan_valid_i && move_i)
    `RULE(line_of_a_scan_is_taken, 1, line_ready_o || !scan_valid_i || !move_i)
    `RULE(scan_is_taken_with_its_last_line, 1, scan_ready_o == (take && line_last_i))
    `RULE(line_comes_a_clock_later, 1, valid_o == taken_q)
    `RULE(outputs_stay_while_nothing_moves, 1, $past(!rst_ni || move_i) || $stable({valid_o, line_o, lanes_o, control_o}))
    `RULE(line_comes_as_it_was, 1, !valid_o || line_o == was_q)
    `RULE(scan_comes_with_its_lines, 1, !valid_o || control_o.scan == control_q.scan
        && control_o.first == control_q.first && control_o.last == control_q.last)
    // The others count only up to the line with which the scan should end; then that one was broken.
    `RULE(lanes_have_slots_of_the_scan, 1, !(valid_o && right_q) || lanes_o == lanes_q || control_o.broken)
    `RULE(line_is_broken_where_it_should_be, 1, !(valid_o && right_q) || control_o.broken == control_q.broken)
    `RULE(line_has_its_place, 1, !(valid_o && right_q) || control_o.part == control_q.part
        && control_o.group == control_q.group && control_o.last_slot == control_q.last_slot
        && (control_o.broken || control_o.first_lane == control_q.first_lane))

    // What probe_slots takes for granted, of all lines, also of those that count no more.
    logic headed_q;     // the first part of a slot has come out since the reset
    always_ff @(posedge clk_i) headed_q <= rst_ni && (headed_q || move_i && valid_o && control_o.part == 0);
    `RULE(line_is_a_part_of_a_slot, 1, !valid_o || 32'(control_o.part) < Parts)
    `RULE(slot_begins_with_its_first_part, 1, !valid_o || control_o.part == 0 || headed_q)
    `RULE(next_line_is_a_part_of_a_slot, 1, 32'(part_q) < Parts
        && (part_q == 0 || headed_q || valid_o && control_o.part == 0))

    `REACHED(scan_of_three_lines_is_whole, valid_o && right_q && control_o.last && !control_o.broken && control_o.group == 2)
    `REACHED(scan_has_too_many_lines, valid_o && !right_q && control_o.last)
    if (Lanes > 1) begin : g_some
        `REACHED(line_has_other_slots_too, valid_o && lanes_o != '1 && !control_o.broken && !control_o.first)
    end else begin : g_several
        `REACHED(slot_ends, valid_o && !control_o.broken && 32'(control_o.part) == Parts - 1 && control_o.group != 0)
    end
endmodule
