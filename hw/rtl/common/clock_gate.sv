// SPDX-License-Identifier: MIT OR Apache-2.0
// Stops a clock while its enable is low.
//
// The latch is open while the clock is low, so the gated clock has whole pulses only,
// whenever the enable changes. An AND gate alone would shorten pulses when the enable
// changes while the clock is high. `enable_i` applies to the next rising edge, and must be
// stable before that edge: derive it from registers of `clk_i`.
//
// With the macro LOCKSTEP_BUFGCE it is the clock buffer of an FPGA, which contains the same latch;
// gates in the fabric would skew the clock.
module clock_gate (
    input  logic clk_i,
    input  logic enable_i,
    output logic clk_o
);

`ifdef LOCKSTEP_BUFGCE
    BUFGCE i_buffer (
        .I (clk_i),
        .CE(enable_i),
        .O (clk_o)
    );
`else
    logic enable_q;

    always_latch begin
        if (!clk_i) enable_q = enable_i;
    end

    assign clk_o = clk_i && enable_q;
`endif

endmodule
