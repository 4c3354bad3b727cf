// SPDX-License-Identifier: MIT OR Apache-2.0
// What waits is served in time: it waits for at most `Most` clocks before the one in which it is served. The side that
// serves is the block, of which this is proven, or the world around it, of which it is assumed.
`include "../rules/rule.svh"
module waits_at_most #(
    parameter int unsigned Most   = 1,
    parameter bit          Proven = 1,
    parameter int unsigned Seen   = Most    // clocks for which something does wait, in some run
) (
    input logic clk_i,
    input logic rst_ni,
    input logic waits_i,
    input logic served_i    // counts in clocks in which something waits
);
    typedef logic [$clog2(Most+2)-1:0] count_t;

    // Clocks in a row in which something waited in vain.
    count_t waited_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || !waits_i || served_i) waited_q <= '0;
        else if (waited_q <= count_t'(Most)) waited_q <= waited_q + 1'b1;
    end
    `RULE(is_served_in_time, Proven, !waits_i || served_i || waited_q < count_t'(Most))
    if (Proven) begin : g_proven
        // With `Most` the bound is no larger than it needs to be.
        `REACHED(waits_as_long_as_it_may, waits_i && served_i && waited_q == count_t'(Seen))
    end
endmodule
