// SPDX-License-Identifier: MIT OR Apache-2.0
// Counts the cycles in which `seen` is high, STEP for each, up to the largest number of Width bits.
`include "width_check.svh"

module event_counter #(
    parameter int unsigned Width = 8
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             seen,
    output logic [Width-1:0] count
);
    `WIDTH_CHECK(Width, 4, 31)

    always_ff @(posedge clk) begin
        if (rst) count <= '0;
        else if (seen) begin
            count <= Width'(saturate_pkg::sum(32'(count), 32'(`STEP), 32'(Width'('1))));
        end
    end
endmodule
