// SPDX-License-Identifier: MIT OR Apache-2.0
// A clock gate that stops its clock while nothing happens.
//
// Contract: the logic on `clk_o` reacts only to the signals in `busy_i`, and within `Cycles`
// clocks of the last of them. `busy_i` comes from registers of `clk_i`. In the cycle in
// which it rises, and for `Cycles` clocks after it fell, the rising edges of `clk_o` are those
// of `clk_i`; then there are none. In reset the clock runs, from the second edge at the latest.
module activity_clock #(
    parameter int unsigned Cycles = 64
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic busy_i,
    output logic clk_o
);

    logic quiet;

    quiet_watch #(
        .Cycles(Cycles)
    ) i_quiet_watch (
        .clk_i,
        .rst_ni,
        .busy_i,
        .quiet_o(quiet)
    );

    clock_gate i_clock_gate (
        .clk_i,
        .enable_i(!quiet),
        .clk_o
    );

endmodule
