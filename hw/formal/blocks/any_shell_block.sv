// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of shell_block: it may do anything.
module shell_block #(
    parameter int unsigned CardLog2Bytes = 26
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        valid_i,
    input  logic        write_i,
    input  logic [11:0] address_i,
    input  logic [31:0] data_i,
    input  logic [3:0]  strobe_i,
    output logic        done_o,
    output logic        error_o,
    output logic [31:0] data_o,
    input  logic [31:0] interrupt_count_i[6],
    output logic [5:0]  force_o
);
    anything #(.Width(40)) i_any (.clk_i, .value_o({
        done_o, error_o, data_o, force_o
    }));
endmodule
