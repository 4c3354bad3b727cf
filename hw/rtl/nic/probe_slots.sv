// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares the slots of a line with the key, and adds up their stamps, in two clocks.
//
// Contract: while `move_i` is high, each line comes out two clocks later, otherwise all outputs
// stay. Of a slot of several lines, the first one tells whether it has the key, and the others
// whether they belong to it. Of an empty slot only the first one says anything.
module probe_slots #(
    parameter int unsigned SlotBytes  = 32,
    parameter int unsigned Lanes      = 2,
    parameter int unsigned ValueWords = 2
) (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  logic                        move_i,

    input  logic                        valid_i,
    input  logic [511:0]                line_i,
    input  logic [Lanes-1:0]            lanes_i,
    input  probe_scan_pkg::control_t    control_i,

    output logic                        valid_o,
    output logic                        hit_o,      // a slot that begins here has the key
    output logic                        torn_o,     // the first part is odd, or another one not of its object
    output logic [1:0]                  lane_o,     // of the first hit
    output logic [21:0]                 sum_o,      // of the stamps of the slots that begin here
    output logic [63:0]                 meta_o,     // of the first hit
    output logic [ValueWords-1:0][63:0] value_o,
    output probe_scan_pkg::control_t    control_o
);
    import probe_scan_pkg::*;

    localparam int unsigned LaneWords = 8 / Lanes;

    logic begins;                                   // a slot does, in this line
    assign begins = control_i.part == 0;

    // ---- First clock: each slot by itself.

    logic [7:0][63:0]   words, words_q;
    logic [Lanes-1:0]   hit, hit_q, odd;
    logic [3:0][19:0]   stamp;
    logic               valid_q, torn_q, foreign;
    logic [1:0][20:0]   sums_q;
    control_t           control_q;
    assign words = line_i;
    always_comb begin
        stamp = '0;
        for (int unsigned lane = 0; lane < Lanes; lane++) begin
            odd[lane] = lanes_i[lane] && begins && words[lane * LaneWords][0];
            hit[lane] = lanes_i[lane] && begins && !words[lane * LaneWords][0]
                && words[lane * LaneWords][UsedBit]
                && words[lane * LaneWords + 1] == control_i.scan.key;
            if (lanes_i[lane] && begins) stamp[lane] = words[lane * LaneWords][StampBits-1:0];
        end
    end

    if (SlotBytes > 64) begin : g_parts
        // The meta word of the slot's first part, which all the others of an object have to have.
        logic [63:0] meta_q;
        always_ff @(posedge clk_i) begin
            if (move_i && valid_i && begins) meta_q <= words[0];
        end
        assign foreign = !begins && meta_q[UsedBit] && words[0] != meta_q;
    end else begin : g_one_part
        assign foreign = 1'b0;
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) valid_q <= 1'b0;
        else if (move_i) valid_q <= valid_i;
        if (move_i) begin
            words_q          <= words;
            hit_q            <= hit;
            torn_q           <= odd != 0 || foreign;
            sums_q[0]        <= 21'(stamp[0]) + 21'(stamp[1]);
            sums_q[1]        <= 21'(stamp[2]) + 21'(stamp[3]);
            control_q        <= control_i;
            control_q.nearer <= control_i.last_slot < 17'(control_i.scan.limit);
        end
    end

    // ---- Second clock: the slots together.

    logic [1:0]                  lane;
    logic [63:0]                 meta;
    logic [ValueWords-1:0][63:0] value;
    always_comb begin
        lane  = '0;
        value = '0;
        for (int unsigned n = Lanes - 1; n > 0; n--) begin
            if (hit_q[n]) lane = 2'(n);
        end
        if (hit_q[0]) lane = '0;
        meta = words_q[32'(lane) * LaneWords];
        for (int unsigned word = 0; word < ValueWords; word++) begin
            if (SlotBytes > 64) begin
                // Six in the first part, seven in the next, behind its meta word.
                value[word] = words_q[word < 6 ? word + 2 : word - 5];
            end else if (word + 2 < LaneWords) begin
                value[word] = words_q[32'(lane) * LaneWords + 2 + word];
            end
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) valid_o <= 1'b0;
        else if (move_i) valid_o <= valid_q;
        if (move_i) begin
            hit_o     <= hit_q != 0;
            torn_o    <= torn_q;
            lane_o    <= lane;
            sum_o     <= 22'(sums_q[0]) + 22'(sums_q[1]);
            meta_o    <= meta;
            value_o   <= value;
            control_o <= control_q;
        end
    end

    logic unused;
    assign unused = ^words_q;                       // keys, and what no answer carries

endmodule
