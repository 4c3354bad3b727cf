// SPDX-License-Identifier: MIT OR Apache-2.0
// stream_buffer: a stream goes through it in order and whole, and one word a clock.
`include "../rules/rule.svh"
module stream_buffer_formal #(
    parameter int unsigned Width = 8
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             valid_i,
    input logic [Width-1:0] data_i,
    input logic             ready_i
);
    logic             ready_o, valid_o;
    logic [Width-1:0] data_o;
    logic [1:0]       held;

    power_up i_power_up (.*);
    stream_buffer #(.Width(Width)) i_block (.*);
    axi4_stream_rules #(.Width(Width), .Proven(0)) i_in (
        .clk_i, .rst_ni, .tvalid(valid_i), .tready(ready_o), .payload(data_i));
    axi4_stream_rules #(.Width(Width)) i_out (
        .clk_i, .rst_ni, .tvalid(valid_o), .tready(ready_i), .payload(data_o));
    ordered_words #(.Width(Width), .Most(2)) i_words (
        .clk_i, .rst_ni,
        .push_i(valid_i && ready_o), .pushed_i(data_i),
        .pop_i(valid_o && ready_i), .popped_i(data_o),
        .inside_o(held));

    `RULE(word_is_offered_in_the_clock_after, 1, valid_o == (held != 0))
    `RULE(there_is_room_unless_two_wait, 1, ready_o == (held < 2'd2))
endmodule
