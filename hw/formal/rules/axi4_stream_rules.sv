// SPDX-License-Identifier: MIT OR Apache-2.0
// The rules of AXI4-Stream (IHI 0051) for one stream, whose transmitter is proven or assumed to keep them.
`include "rule.svh"
module axi4_stream_rules #(
    parameter int unsigned Width  = 8,     // of all that goes with tvalid
    parameter bit          Proven = 1,
    parameter bit          Waits  = 1,     // the receiver can make beats wait
    parameter bit          Dense  = 1      // beats can follow each other clock by clock
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             tvalid,
    input logic             tready,
    input logic [Width-1:0] payload
);
    // 2.7.2: tvalid is low in the first clock after a reset.
    `RULE(tvalid_is_low_after_reset, Proven, $past(rst_ni) || !tvalid)
    // 2.2.1: once asserted, tvalid stays until the handshake.
    `RULE(tvalid_holds, Proven, !$past(rst_ni && tvalid && !tready) || tvalid)
    // 2.2.1: what is offered does not change before it.
    `RULE(payload_is_stable, Proven, !$past(rst_ni && tvalid && !tready) || $stable(payload))

    if (Waits) begin : g_waits
        `REACHED(transfer_waits, $past(rst_ni && tvalid && !tready) && tvalid && tready)
    end
    if (Dense) begin : g_dense
        `REACHED(transfers_follow, $past(rst_ni && tvalid && tready) && tvalid && tready)
    end
endmodule
