// SPDX-License-Identifier: MIT OR Apache-2.0
// A value that the prover chooses once for each run. What holds for it holds for every value.
module arbitrary #(
    parameter int unsigned Width = 1
) (
    input  logic             clk_i,
    output logic [Width-1:0] value_o    // from the second clock on
);
    // Nothing drives it, so it is whatever the prover wants.
    logic [Width-1:0] free;
    logic             chosen_q = 1'b0;
    always_ff @(posedge clk_i) begin
        chosen_q <= 1'b1;
        if (!chosen_q) value_o <= free;
    end
endmodule
