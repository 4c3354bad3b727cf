// SPDX-License-Identifier: MIT OR Apache-2.0
// probe_slots: each line comes out two clocks after it came, in which everything moves, with what its slots say: which of them
// is the first that has the key, whether one is torn, and the sum of their stamps.
`include "../rules/rule.svh"
module probe_slots_formal
    import probe_scan_pkg::*;
#(
    parameter int unsigned SlotBytes  = 32,
    parameter int unsigned ValueWords = 2,
    localparam int unsigned Lanes     = SlotBytes <= 64 ? 64 / SlotBytes : 1,
    localparam int unsigned LaneWords = 8 / Lanes
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             move_i,
    input logic             valid_i,
    input logic [511:0]     line_i,
    input logic [Lanes-1:0] lanes_i,
    input control_t         control_i
);
    logic                        valid_o, hit_o, torn_o;
    logic [1:0]                  lane_o;
    logic [21:0]                 sum_o;
    logic [63:0]                 meta_o;
    logic [ValueWords-1:0][63:0] value_o;
    control_t                    control_o;

    power_up i_power_up (.*);
    probe_slots #(.SlotBytes(SlotBytes), .Lanes(Lanes), .ValueWords(ValueWords)) i_block (.*);

    // What counts of the outputs.
    logic [64*ValueWords+$bits(control_t)+90:0] seen;
    assign seen = {valid_o, valid_o ? {hit_o, torn_o, lane_o, sum_o, meta_o, value_o, control_o} : '0};

    // What came, one and two clocks ago, and the meta word of the slot that each line belongs to.
    typedef struct packed {
        logic             valid;
        logic [7:0][63:0] words;
        logic [Lanes-1:0] lanes;
        control_t         control;
        logic [63:0]      head;
    } came_t;
    came_t       now, one_q, two_q;
    logic [63:0] head_q;
    assign now = '{valid: valid_i, words: line_i, lanes: lanes_i, control: control_i,
        head: control_i.part == 0 ? line_i[63:0] : head_q};
    always_ff @(posedge clk_i) begin
        if (move_i) {one_q, two_q} <= {now, one_q};
        if (move_i && valid_i) head_q <= now.head;
        if (!rst_ni) {one_q.valid, two_q.valid} <= '0;
    end

    // A slot begins with its first part, and has no more than it has; probe_lines is proven to count them.
    `RULE(line_is_a_part_of_a_slot, 0, !valid_i || 32'(control_i.part) < (SlotBytes <= 64 ? 1 : SlotBytes / 64))

    // ---- What each slot says by itself.
    typedef struct packed {
        logic [Lanes-1:0]       hit;
        logic                   torn;
        logic [Lanes-1:0][19:0] stamps;
    } said_t;
    function automatic said_t said_of(input came_t line);
        said_of = '0;
        if (line.control.part != 0) begin
            // Of an object whose first part is not this one's.
            said_of.torn = line.head[29] && line.words[0] != line.head;
        end else begin
            for (int unsigned n = 0; n < Lanes; n++) begin
                logic [63:0] meta;
                meta = line.words[n*LaneWords];
                if (line.lanes[n] && meta[0]) said_of.torn = 1'b1;
                said_of.hit[n]    = line.lanes[n] && !meta[0] && meta[29]
                    && line.words[n*LaneWords+1] == line.control.scan.key;
                said_of.stamps[n] = line.lanes[n] ? meta[19:0] : '0;
            end
        end
    endfunction
    // In pairs, as the block adds them: another order is hard for a solver.
    function automatic logic [31:0] pair_of(input said_t said, input int unsigned at);
        pair_of = '0;
        for (int unsigned n = at; n < at + 2; n++) if (n < Lanes) pair_of += 32'(said.stamps[n]);
    endfunction
    said_t said_now, said_before, said;
    assign said_now = said_of(now);
    always_ff @(posedge clk_i) if (move_i) {said_before, said} <= {said_now, said_before};

    `RULE(line_comes_two_clocks_later, 1, valid_o == two_q.valid)
    `RULE(outputs_stay_while_nothing_moves, 1, $past(!rst_ni || move_i)
        || $stable({valid_o, hit_o, torn_o, lane_o, sum_o, meta_o, value_o, control_o}))
    `RULE(slot_with_the_key_is_found, 1, !valid_o || hit_o == (said.hit != 0))
    `RULE(torn_slot_is_told, 1, !valid_o || torn_o == said.torn)
    `RULE(stamps_are_added_up, 1, !valid_o || 32'(sum_o) == pair_of(said, 0) + pair_of(said, 2))
    // What one of the lanes has, which is any.
    logic [1:0] lane;
    logic [2:0] word;       // of the value
    arbitrary #(.Width(2)) i_lane (.clk_i, .value_o(lane));
    arbitrary #(.Width(3)) i_word (.clk_i, .value_o(word));
    logic first_hit;
    assign first_hit = 32'(lane) < Lanes && said.hit[lane] && (said.hit & ~({Lanes{1'b1}} << lane)) == 0;
    `RULE(first_slot_with_the_key_is_told, 1, !(valid_o && first_hit)
        || lane_o == lane && meta_o == two_q.words[32'(lane)*LaneWords])
    if (SlotBytes <= 64) begin : g_whole
        `RULE(its_value_is_told, 1, !(valid_o && first_hit) || 32'(word) >= ValueWords
            || value_o[word] == (32'(word) + 2 < LaneWords ? two_q.words[32'(lane)*LaneWords+2+32'(word)] : 64'd0))
    end else begin : g_parts
        `RULE(value_of_the_first_part_is_told, 1, !(valid_o && hit_o) || word >= 3'd6 || 32'(word) >= ValueWords
            || value_o[word] == two_q.words[word+3'd2])
        `RULE(value_of_the_second_part_is_told, 1, !(valid_o && control_o.part == 3'd1) || word < 3'd6
            || 32'(word) >= ValueWords || value_o[word] == two_q.words[word-3'd5])
        `REACHED(part_of_another_object_comes, valid_o && torn_o && control_o.part == 3'd1)
    end
    control_t control;
    always_comb begin
        control        = two_q.control;
        control.nearer = two_q.control.last_slot < 17'(two_q.control.scan.limit);
    end
    `RULE(control_comes_with_its_line, 1, !valid_o || control_o == control)

    // What is between, which induction needs to be told.
    `RULE(line_between_is_known, 1, i_block.valid_q == one_q.valid && (!one_q.valid || i_block.words_q == one_q.words))
    `RULE(what_its_slots_say_is_known, 1, !one_q.valid
        || i_block.hit_q == said_before.hit && i_block.torn_q == said_before.torn)
    `RULE(nearness_is_known, 1, !one_q.valid
        || i_block.control_q.nearer == (one_q.control.last_slot < 17'(one_q.control.scan.limit)))
    `RULE(sums_between_are_known, 1, !one_q.valid || 32'(i_block.sums_q[0]) == pair_of(said_before, 0)
        && 32'(i_block.sums_q[1]) == pair_of(said_before, 2))
    control_t control_before;
    always_comb begin
        control_before        = one_q.control;
        control_before.nearer = i_block.control_q.nearer;
    end
    `RULE(control_between_is_known, 1, !one_q.valid || i_block.control_q == control_before)
    if (SlotBytes > 64) begin : g_head
        logic headed_q;
        `RULE(head_is_kept, 1, i_block.g_parts.meta_q == head_q || !headed_q)
        always_ff @(posedge clk_i) headed_q <= rst_ni && (headed_q || move_i && valid_i && control_i.part == 0);
        `RULE(slot_begins_with_its_first_part, 0, !valid_i || control_i.part == 0 || headed_q)
    end

    `REACHED(key_is_found, valid_o && hit_o && 32'(lane_o) == Lanes - 1)
    `REACHED(slot_is_torn_beside_one_with_the_key, valid_o && torn_o && (hit_o || Lanes == 1))
endmodule
