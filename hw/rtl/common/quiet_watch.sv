// SPDX-License-Identifier: MIT OR Apache-2.0
// Detects that nothing has happened for a while.
//
// Contract: `quiet_o` is high when `busy_i` is low and was low in each of the last `Cycles`
// clocks, none of them in reset. It falls in the cycle in which `busy_i` rises.
module quiet_watch #(
    parameter int unsigned Cycles = 64
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic busy_i,
    output logic quiet_o
);

    localparam int unsigned Width = $clog2(Cycles + 1);

    logic [Width-1:0] count_q;

    assign quiet_o = count_q == Width'(Cycles) && !busy_i;

    always_ff @(posedge clk_i) begin
        if (!rst_ni || busy_i) count_q <= '0;
        else if (count_q != Width'(Cycles)) count_q <= count_q + 1'b1;
    end

endmodule
