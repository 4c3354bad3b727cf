// SPDX-License-Identifier: MIT OR Apache-2.0
// Any words, in place of lut_fifo where it does not matter which they are, nor whether there are some.
module lut_fifo #(
    parameter int unsigned LogDepth = 4,
    parameter int unsigned Width    = 32
) (
    input  logic              clk_i,
    input  logic              rst_ni,
    input  logic              push_i,
    input  logic [Width-1:0]  data_i,
    input  logic              pop_i,
    output logic              valid_o,
    output logic [Width-1:0]  data_o
);
    anything #(.Width(Width + 1)) i_any (.clk_i, .value_o({valid_o, data_o}));
endmodule
