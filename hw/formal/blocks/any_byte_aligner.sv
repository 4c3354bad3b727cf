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

`include "followed_byte.svh"
    logic         other_last, strobed;
    logic [7:0]   given;
    logic [63:0]  other_strobe;
    logic [511:0] other;
    anything #(.Width(577)) i_other (.clk_i, .value_o({other_last, other_strobe, other}));
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
