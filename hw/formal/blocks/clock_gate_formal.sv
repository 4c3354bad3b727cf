// SPDX-License-Identifier: MIT OR Apache-2.0
// clock_gate: whole pulses only, those before which the enable was high, whenever that changes. The clock that is gated is a signal
// here; both change in steps, which are those of `clk_i`.
`include "../rules/rule.svh"
module clock_gate_formal (
    input logic clk_i,
    input logic rst_ni,
    input logic gated_i,
    input logic enable_i
);
    logic clk_o;

    power_up i_power_up (.*);
    clock_gate i_block (.clk_i(gated_i), .enable_i, .clk_o);

    `RULE(pulses_are_those_of_the_clock, 1, !clk_o || gated_i)
    `RULE(pulses_are_whole, 1, !$past(gated_i) || !gated_i || clk_o == $past(clk_o))
    `RULE(edge_passes_where_the_enable_was_high_before_it, 1, $past(gated_i) || !gated_i || clk_o == $past(enable_i))

    `REACHED(enable_falls_in_a_pulse, clk_o && $past(clk_o && enable_i) && !enable_i)
    `REACHED(enable_rises_too_late, gated_i && $past(gated_i && !enable_i) && enable_i && !clk_o)
    `REACHED(pulse_follows_a_pulse, clk_o && $past(!gated_i) && $past(clk_o, 2))
endmodule
