// SPDX-License-Identifier: MIT OR Apache-2.0
// A rule that one side of an interface keeps: it is proven where that side is the block under proof, and
// assumed where it is the world around it. After a reset, as long as none begins.
`define RULE(NAME, PROVEN, HOLDS) \
    if (PROVEN) begin : g_``NAME \
        NAME: assert property (@(posedge clk_i) disable iff (!rst_ni) HOLDS); \
    end else begin : g_``NAME \
        NAME: assume property (@(posedge clk_i) disable iff (!rst_ni) HOLDS); \
    end
// Something that happens in some run; a proof for which it does not would say nothing.
`define REACHED(NAME, HAPPENS) \
    NAME: cover property (@(posedge clk_i) disable iff (!rst_ni) HAPPENS);
