// SPDX-License-Identifier: MIT OR Apache-2.0
// probe_result: a scan has one answer, two clocks after its last line, in which everything moves. It is of the first slot that has
// the key and of which no part is torn, or else says why there is none; with an error it has nothing else.
`include "../rules/rule.svh"
module probe_result_formal
    import probe_scan_pkg::*;
#(
    parameter int unsigned SlotBytes  = 32,
    parameter int unsigned ValueWords = 2,
    localparam int unsigned Lanes     = SlotBytes <= 64 ? 64 / SlotBytes : 1,
    localparam int unsigned Parts     = SlotBytes <= 64 ? 1 : SlotBytes / 64
) (
    input logic                        clk_i,
    input logic                        rst_ni,
    input logic                        move_i,
    input logic                        valid_i,
    input logic                        hit_i,
    input logic                        torn_i,
    input logic [1:0]                  lane_i,
    input logic [21:0]                 sum_i,
    input logic [63:0]                 meta_i,
    input logic [ValueWords-1:0][63:0] value_i,
    input control_t                    control_i
);
    logic                        valid_o;
    answer_t                     answer_o;
    logic [ValueWords-1:0][63:0] value_o;

    power_up i_power_up (.*);
    probe_result #(.SlotBytes(SlotBytes), .Lanes(Lanes), .ValueWords(ValueWords)) i_block (.*);

    // What counts of the outputs.
    logic [64*ValueWords+128:0] seen;
    assign seen = {valid_o, valid_o ? {value_o, answer_o} : '0};

    // ---- The scan that comes, line by line.
    logic        comes, starts_q, broken_q, torn_q, broken, torn;
    logic [31:0] sum_q, sum;
    logic [8:0]  part_q;
    logic [6:0]  group_q;
    logic [8:0]  place;
    assign comes  = move_i && valid_i;
    assign broken = !starts_q && broken_q || control_i.broken;
    assign torn   = !starts_q && torn_q || torn_i;
    assign sum    = (starts_q ? '0 : sum_q) + 32'(sum_i);
    assign place  = 9'(control_i.group) * 9'(Lanes) + 9'(lane_i) - 9'(control_i.first_lane);
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            starts_q <= 1'b1;
            part_q   <= '0;
            group_q  <= '0;
        end else if (comes) begin
            starts_q <= control_i.last;
            broken_q <= broken;
            torn_q   <= torn;
            sum_q    <= sum;
            part_q   <= control_i.last || 32'(part_q) == Parts - 1 ? '0 : part_q + 9'd1;
            group_q  <= control_i.last ? '0 : group_q + 7'(32'(part_q) == Parts - 1);
        end
    end
    // What probe_lines is proven to count, up to the line that is broken since there are too few or too many of them; and what
    // probe_slots is proven to say: hits and stamps are of slots of the scan, of which there are 64 at most, and a stamp has
    // 20 bits.
    `RULE(first_line_is_marked, 0, !valid_i || control_i.first == starts_q)
    `RULE(lines_come_in_their_order, 0, !valid_i || broken
        || 32'(control_i.part) == 32'(part_q) && control_i.group == group_q
            && 32'(control_i.group) * Lanes <= 32'(control_i.first_lane) + 32'(control_i.scan.more_slots))
    `RULE(whole_slots_come, 0, !valid_i || broken || !control_i.last || 32'(part_q) == Parts - 1)
    `RULE(hits_are_of_slots_of_the_scan, 0, !(valid_i && hit_i) || broken
        || control_i.part == 0 && 32'(lane_i) < Lanes && place <= 9'(control_i.scan.more_slots))
    `RULE(stamps_are_of_slots_of_the_scan, 0, !valid_i || broken || sum < 32'd1 << 26)

    // ---- One slot of it, which is any: whether it has the key, and no part of it is torn.
    logic [5:0]                  slot;
    logic                        its, begins, ends, good_q, had_q, earlier_q, good, had, earlier;
    logic [63:0]                 meta_q, meta;
    logic [ValueWords-1:0][63:0] value_q, value;
    logic [6:0]                  its_group, its_group_q;
    logic [1:0]                  its_lane;
    arbitrary #(.Width(6)) i_slot (.clk_i, .value_o(slot));
    assign its_group = 7'((9'(slot) + 9'(control_i.first_lane)) / 9'(Lanes));
    assign its_lane  = 2'((9'(slot) + 9'(control_i.first_lane)) % 9'(Lanes));
    assign its       = control_i.group == its_group && !broken;
    assign begins    = its && control_i.part == 0;
    assign ends      = 32'(control_i.part) == Parts - 1;
    // Of the slots of a line, the one that is told comes first.
    assign good      = begins ? hit_i && lane_i == its_lane : good_q && !starts_q && !(its && torn_i);
    // A slot before it is good: one that began in an earlier line and is whole, or is told of in its own.
    assign had       = control_i.part == 0 ? hit_i : had_q && !torn_i;
    assign earlier   = !starts_q && earlier_q
        || ends && had && (control_i.group < its_group || begins && lane_i < its_lane);
    always_ff @(posedge clk_i) begin
        if (comes) begin
            good_q    <= good;
            had_q     <= had;
            earlier_q <= earlier;
            if (begins) meta_q <= meta_i;
            value_q   <= value;
        end
    end
    assign meta = begins ? meta_i : meta_q;
    for (genvar n = 0; n < ValueWords; n++) begin : g_value
        assign value[n] = its && 32'(control_i.part) == (Parts > 1 && n >= 6 ? 1 : 0) ? value_i[n] : value_q[n];
    end
    // The first line says where the slots begin, and the others say the same.
    logic [1:0] lane_q;
    always_ff @(posedge clk_i) if (comes) lane_q <= control_i.first_lane;
    `RULE(lines_agree_on_the_first_lane, 0, !valid_i || starts_q || broken || control_i.first_lane == lane_q)

    // ---- What was seen of the scan whose last line came before: then its answer, as it should be.
    logic     last_q, any_q, found;
    answer_t  base, base_q;
    logic     right_q, good2_q, first2_q, any2_q;
    logic [63:0] meta2_q;
    logic [ValueWords-1:0][63:0] value2_q;
    control_t control_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) last_q <= 1'b0;
        else if (move_i) last_q <= valid_i && control_i.last;
        if (comes) begin
            control_q <= control_i;
            // Whether any slot is good.
            any_q     <= !starts_q && any_q || ends && had;
        end
    end
    always_comb begin
        base       = '0;
        base.token = control_q.scan.token;
        if (broken_q) begin
            base.status = Error;
        end else begin
            base.torn         = torn_q || control_q.scan.torn;
            base.sum          = control_q.scan.sum + sum_q;
            base.displacement = control_q.scan.displacement + (any_q ? 16'(slot) : 16'(control_q.scan.more_slots) + 16'd1);
            base.status       = any_q ? Found : torn_q ? Torn : control_q.scan.is_overflow ? Absent
                : control_q.nearer ? More : Overflow;
            base.meta         = any_q ? meta_q : '0;
        end
    end
    logic valid_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) valid_q <= 1'b0;
        else if (move_i) valid_q <= last_q;
        if (move_i) begin
            base_q   <= base;
            right_q  <= !broken_q;
            any2_q   <= any_q;
            good2_q  <= good_q;
            first2_q <= good_q && !earlier_q;
            value2_q <= value_q;
        end
    end
    `RULE(answer_comes_two_clocks_after_the_last_line, 1, valid_o == valid_q)
    `RULE(outputs_stay_while_nothing_moves, 1, $past(!rst_ni || move_i) || $stable({valid_o, answer_o, value_o}))
    `RULE(token_is_that_of_the_scan, 1, !valid_o || answer_o.token == base_q.token && answer_o.zero == 0)
    `RULE(status_says_what_was_found, 1, !valid_o || answer_o.status == base_q.status)
    `RULE(torn_slots_are_told, 1, !valid_o || answer_o.torn == base_q.torn)
    `RULE(stamps_are_added_up, 1, !valid_o || answer_o.sum == base_q.sum)
    `RULE(first_good_slot_is_told, 1, !(valid_o && right_q && first2_q) || answer_o.status == Found
        && answer_o.displacement == base_q.displacement && answer_o.meta == base_q.meta && value_o == value2_q)
    `RULE(no_good_slot_is_missed, 1, !(valid_o && right_q && good2_q) || answer_o.status == Found)
    `RULE(nothing_found_has_no_words, 1, !valid_o || right_q && any2_q || answer_o.meta == 0 && value_o == 0)
    `RULE(end_of_the_scan_is_told, 1, !(valid_o && right_q && !any2_q) || answer_o.displacement == base_q.displacement)
    `RULE(error_has_nothing_else, 1, !valid_o || right_q
        || {answer_o.displacement, answer_o.sum, answer_o.meta, answer_o.torn, value_o} == 0)

    // ---- What is known inside, which induction needs to be told.
    logic there, over;         // of the scan a line has come, and its answer has not been made; the followed slot has ended
    logic before_q;             // a slot before that of the line is good
    logic [8:0] place_q;
    assign there = !starts_q || last_q;
    assign over   = control_q.group > its_group_q || 32'(control_q.part) == Parts - 1;
    assign its_group_q = 7'((9'(slot) + 9'(lane_q)) / 9'(Lanes));
    assign place_q     = 9'(slot) + 9'(lane_q);
    always_ff @(posedge clk_i) if (comes && control_i.part == 0) before_q <= !starts_q && any_q;
    `RULE(last_line_is_known, 1, i_block.last_q == last_q && (!last_q || starts_q))
    `RULE(lines_are_kept_together, 1, !there || i_block.broken_q == broken_q && i_block.torn_q == torn_q
        && i_block.control_q == control_q && lane_q == control_q.first_lane)
    `RULE(stamps_are_kept_together, 1, !there || broken_q || i_block.sum_q == sum_q && sum_q < 32'd1 << 26)
    `RULE(lines_are_counted, 1, starts_q ? part_q == 0 && group_q == 0 : broken_q || 32'(part_q) < Parts && (part_q == 0
        ? 32'(control_q.part) == Parts - 1 && group_q == control_q.group + 7'd1
        : 9'(control_q.part) + 9'd1 == part_q && group_q == control_q.group))
    `RULE(line_is_within_the_scan, 1, !there || broken_q || 32'(control_q.part) < Parts
        && 32'(control_q.group) * Lanes <= 32'(control_q.first_lane) + 32'(control_q.scan.more_slots))
    `RULE(last_line_ends_a_slot, 1, !last_q || broken_q || 32'(control_q.part) == Parts - 1)
    `RULE(candidate_is_known, 1, !there || broken_q || i_block.found_q == any_q && i_block.candidate_q == (had_q && !before_q)
        && any_q == (before_q || had_q && 32'(control_q.part) == Parts - 1))
    `RULE(earlier_slot_is_one, 1, !there || broken_q || !earlier_q || any_q)
    `RULE(good_slot_has_come, 1, !there || broken_q || !good_q || control_q.group >= its_group_q
        && (over ? any_q : had_q))
    `RULE(first_good_slot_is_kept, 1, !there || broken_q || !good_q || earlier_q || !over && before_q
        || i_block.place_q == place_q && i_block.meta_q == meta_q)
    `RULE(earlier_slots_are_known, 1, !there || broken_q || earlier_q
        || (!before_q || control_q.group > its_group_q) && (!any_q || control_q.group >= its_group_q))
    for (genvar n = 0; n < ValueWords; n++) begin : g_kept
        `RULE(its_value_is_kept, 1, !there || broken_q || !good_q || earlier_q || !over && before_q
            || Parts > 1 && n >= 6 && control_q.group == its_group_q && control_q.part == 0
            || i_block.value_q[n] == value_q[n])
    end

    `REACHED(second_slot_is_found, valid_o && answer_o.status == Found && answer_o.displacement == base_q.displacement
        && slot == 6'd1 && first2_q)
    `REACHED(torn_slot_is_seen, valid_o && answer_o.status == Torn && base_q.sum > 32'd7)
    `REACHED(more_is_to_be_read, valid_o && answer_o.status == More)
    `REACHED(error_comes_after_a_good_slot, valid_o && answer_o.status == Error && good2_q)
endmodule
