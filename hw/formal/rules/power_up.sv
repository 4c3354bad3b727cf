// SPDX-License-Identifier: MIT OR Apache-2.0
// The first clock is one in reset; resets that come later are up to the prover.
module power_up (
    input logic clk_i,
    input logic rst_ni
);
    logic started_q = 1'b0;
    always_ff @(posedge clk_i) started_q <= 1'b1;

    begins_in_reset: assume property (@(posedge clk_i) started_q || !rst_ni);
endmodule
