// SPDX-License-Identifier: MIT OR Apache-2.0
// byte_aligner: any byte of a target line is the one that stands so many bytes below, in this line or the one before
// it; strobes are from the first byte to the last.
`include "../rules/rule.svh"
module byte_aligner_formal (
    input logic         clk_i,
    input logic         rst_ni,
    input logic         step_i,
    input logic         emit_i,
    input logic         first_i,
    input logic         last_i,
    input logic [5:0]   rotation_i,
    input logic [5:0]   first_byte_i,
    input logic [5:0]   last_byte_i,
    input logic [511:0] line_i
);
    logic         valid_o, last_o;
    logic [511:0] data_o;
    logic [63:0]  strobe_o;

    power_up i_power_up (.*);
    byte_aligner i_block (.*);
    // Whoever asks: a target line has a byte. Lines of a piece have one rotation.
    `RULE(first_byte_is_not_behind_the_last, 0, !(step_i && emit_i && first_i && last_i)
        || first_byte_i <= last_byte_i)

    // What counts of the outputs.
    logic [577:0] seen;
    assign seen = {valid_o, valid_o ? {last_o, data_o, strobe_o} : '0};

`include "followed_byte.svh"
    `RULE(target_line_is_given_two_clocks_later, 1, valid_o == (asked2_q && step2_q.emits))
    `RULE(last_line_is_told, 1, !valid_o || last_o == step2_q.last)
    `RULE(byte_has_its_strobe, 1, !valid_o || strobe_o[place] == wanted)
    `RULE(byte_comes_from_its_line, 1, !valid_o || data_o[8*32'(place) +: 8]
        == (!wanted ? 8'd0 : place < step2_q.rotation ? before_q : byte_q)
        || wanted && place < step2_q.rotation && lines_q < 2'd2)
    // What is in the registers of the block.
    `RULE(steps_agree, 1, i_block.step_q == asked_q && (!asked_q || i_block.at_line_q
        == {step_q.first, step_q.last, step_q.rotation, step_q.from, step_q.to} && i_block.emit_q == step_q.emits))
    `RULE(byte_is_rotated, 1, lines_q == 0 || i_block.line_q[8*32'(place) +: 8] == byte_q)
    `RULE(byte_before_is_kept, 1, lines_q < 2'd2 || i_block.before_q[8*32'(place) +: 8] == before_q)
    `RULE(line_in_the_register_is_counted, 1, !(asked2_q || i_block.rotated_q) || lines_q != 0)
    `REACHED(byte_of_the_line_before_is_given, valid_o && wanted && place < step2_q.rotation)
endmodule
