// SPDX-License-Identifier: MIT OR Apache-2.0
// Any lane, in place of program_lane where only what is around it is proven: it says what the prover wants, within what
// program_lanes_formal assumes.
module program_lane (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         has_program_i,
    input  logic [3:0]   outputs_i,
    input  logic         wants_payloads_i,
    input  logic         code_write_i,
    input  logic         constant_write_i,
    input  logic [5:0]   store_address_i,
    input  logic [63:0]  store_data_i,
    output logic         free_o,
    input  logic         row_valid_i,
    input  logic [511:0] row_data_i,
    input  logic         row_last_i,
    output logic         packet_valid_o,
    output logic [511:0] packet_data_o,
    output logic         packet_first_o,
    output logic         packet_last_o,
    input  logic         packet_taken_i
);
    anything #(.Width(516)) i_lane (
        .clk_i, .value_o({free_o, packet_valid_o, packet_first_o, packet_last_o, packet_data_o}));
endmodule
