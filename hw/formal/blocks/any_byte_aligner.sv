// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of byte_aligner: what its job proves of any one byte of a target line holds of one, which is any. The others
// are anything, and so is all that is given while nothing is to be taken.
`include "../rules/rule.svh"
module byte_aligner (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         step_i,
    input  logic         emit_i,
    input  logic         first_i,
    input  logic         last_i,
    input  logic [5:0]   rotation_i,
    input  logic [5:0]   first_byte_i,
    input  logic [5:0]   last_byte_i,
    input  logic [511:0] line_i,
    output logic         valid_o,
    output logic         last_o,
    output logic [511:0] data_o,
    output logic [63:0]  strobe_o
);
    // What its job assumes of whoever asks.
    `RULE(first_byte_is_not_behind_the_last, 1, !(step_i && emit_i && first_i && last_i) || first_byte_i <= last_byte_i)

    typedef struct packed {
        logic       emits;
        logic       first;
        logic       last;
        logic [5:0] rotation;
        logic [5:0] from;
        logic [5:0] to;
    } step_t;
    logic         asked_q, asked2_q, other_last, wanted, strobed;
    logic [1:0]   lines_q;                  // that came, up to two
    step_t        step_q, step2_q;
    logic [5:0]   place, source;
    logic [7:0]   byte_q, before_q, given;
    logic [63:0]  other_strobe;
    logic [511:0] other;
    arbitrary #(.Width(6)) i_place (.clk_i, .value_o(place));
    anything #(.Width(577)) i_other (.clk_i, .value_o({other_last, other_strobe, other}));
    assign source = place - step_q.rotation;
    always_ff @(posedge clk_i) begin
        step_q  <= '{emit_i, first_i, last_i, rotation_i, first_byte_i, last_byte_i};
        step2_q <= step_q;
        if (asked_q) begin
            byte_q   <= line_i[8*32'(source) +: 8];
            before_q <= byte_q;
        end
        if (!rst_ni) begin
            asked_q  <= 1'b0;
            asked2_q <= 1'b0;
            lines_q  <= '0;
        end else begin
            asked_q  <= step_i;
            asked2_q <= asked_q;
            if (asked_q && !lines_q[1]) lines_q <= lines_q + 1'b1;
        end
    end
    assign wanted  = (!step2_q.first || place >= step2_q.from) && (!step2_q.last || place <= step2_q.to);
    assign valid_o = asked2_q && step2_q.emits;
    assign last_o  = valid_o ? step2_q.last : other_last;
    always_comb begin
        given   = other[7:0];
        strobed = other_strobe[0];
        if (valid_o) begin
            strobed = wanted;
            if (!wanted) given = '0;
            else if (place >= step2_q.rotation) given = byte_q;
            else if (lines_q[1]) given = before_q;
        end
        for (int unsigned n = 0; n < 64; n++) begin
            strobe_o[n]       = 6'(n) == place ? strobed : other_strobe[n];
            data_o[8*n +: 8]  = 6'(n) == place ? given : other[8*n +: 8];
        end
    end
endmodule
