// SPDX-License-Identifier: MIT OR Apache-2.0
// A value that the prover chooses in each clock.
//
// It is read from a register, since a signal that nothing drives may have another value wherever it is used.
module anything #(
    parameter int unsigned Width = 1
) (
    input  logic             clk_i,
    output logic [Width-1:0] value_o
);
    logic [Width-1:0] free;
    always_ff @(posedge clk_i) value_o <= free;
endmodule
