// SPDX-License-Identifier: MIT OR Apache-2.0
// Puts together what the lines of a scan say, and makes its answer.
//
// Contract: while `move_i` is high, an answer is valid two clocks after the last line of its scan,
// otherwise all outputs stay.
module probe_result #(
    parameter int unsigned SlotBytes  = 32,
    parameter int unsigned Lanes      = 2,
    parameter int unsigned ValueWords = 2
) (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  logic                        move_i,

    input  logic                        valid_i,
    input  logic                        hit_i,
    input  logic                        torn_i,
    input  logic [1:0]                  lane_i,
    input  logic [21:0]                 sum_i,
    input  logic [63:0]                 meta_i,
    input  logic [ValueWords-1:0][63:0] value_i,
    input  probe_scan_pkg::control_t    control_i,

    output logic                        valid_o,
    output probe_scan_pkg::answer_t     answer_o,   // no registers
    output logic [ValueWords-1:0][63:0] value_o
);
    import probe_scan_pkg::*;

    localparam int unsigned LogLanes = $clog2(Lanes);
    localparam logic [2:0]  LastPart = SlotBytes > 64 ? 3'(SlotBytes / 64 - 1) : 3'd0;

    // ---- Third clock: the lines together. The sum of 64 stamps has 26 bits.

    logic                        last_q, found_q, candidate_q, torn_q, broken_q;
    logic [25:0]                 sum_q;
    logic [8:0]                  place_q;           // of the hit, in lanes of all lines
    logic [63:0]                 meta_q;
    logic [ValueWords-1:0][63:0] value_q;
    control_t                    control_q;
    logic                        begins, first, known, candidate;
    assign begins    = control_i.part == 0;
    assign first     = control_i.first;
    assign known     = found_q && !first;
    assign candidate = begins ? hit_i && !known : candidate_q && !torn_i;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) last_q <= 1'b0;
        else if (move_i) last_q <= valid_i && control_i.last;
        if (move_i && valid_i) begin
            candidate_q <= candidate;
            found_q     <= known || candidate && control_i.part == LastPart;
            torn_q      <= torn_q && !first || torn_i;
            broken_q    <= broken_q && !first || control_i.broken;
            sum_q       <= (first ? '0 : sum_q) + 26'(sum_i);
            control_q   <= control_i;
            if (begins && candidate) begin
                place_q <= 9'({control_i.group, 2'd0} >> (2 - LogLanes)) + 9'(lane_i);
                meta_q  <= meta_i;
            end
            for (int unsigned word = 0; word < ValueWords; word++) begin
                // A slot has one line, or six words of the value in its first one.
                if (candidate && control_i.part == 3'(SlotBytes > 64 && word >= 6)) begin
                    value_q[word] <= value_i[word];
                end
            end
        end
    end

    // ---- Fourth clock: the status, and the lower half of the sum. An error has zeros.

    logic        right_q, carry_q, torn_answer_q;
    logic [2:0]  status, status_q;
    logic [6:0]  slots_q;                           // from the first one to where the answer points
    logic [15:0] low_q, displacement_q;
    logic [15:0] high_q;
    logic [9:0]  own_high_q;
    logic [7:0]  token_q;
    logic [63:0] meta_answer_q;
    always_comb begin
        if (broken_q) status = Error;
        else if (found_q) status = Found;
        else if (torn_q) status = Torn;
        else if (control_q.scan.is_overflow) status = Absent;
        else if (control_q.nearer) status = More;
        else status = Overflow;
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) valid_o <= 1'b0;
        else if (move_i) valid_o <= last_q;
        if (move_i) begin
            right_q          <= !broken_q;
            status_q         <= status;
            torn_answer_q    <= (torn_q || control_q.scan.torn) && !broken_q;
            token_q          <= control_q.scan.token;
            displacement_q   <= control_q.scan.displacement;
            slots_q          <= found_q ? 7'(place_q - 9'(control_q.first_lane))
                : 7'(control_q.scan.more_slots) + 7'd1;
            {carry_q, low_q} <= 17'(control_q.scan.sum[15:0]) + 17'(sum_q[15:0]);
            high_q           <= control_q.scan.sum[31:16];
            own_high_q       <= sum_q[25:16];
            meta_answer_q    <= found_q && !broken_q ? meta_q : '0;
            value_o          <= found_q && !broken_q ? value_q : '0;
        end
    end

    // ---- Behind it: the rest of the sums.

    logic [15:0] high, displacement;
    assign high         = high_q + 16'(own_high_q) + 16'(carry_q);
    assign displacement = displacement_q + 16'(slots_q);
    assign answer_o = '{
        meta:         meta_answer_q,
        zero:         '0,
        torn:         torn_answer_q,
        status:       status_q,
        token:        token_q,
        displacement: right_q ? displacement : '0,
        sum:          right_q ? {high, low_q} : '0
    };

    logic unused;
    assign unused = ^control_q;

endmodule
