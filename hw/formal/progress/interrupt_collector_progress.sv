// SPDX-License-Identifier: MIT OR Apache-2.0
// interrupt_collector: where the stream is taken within `Late` clocks, a vector that waits, which is any, is offered in
// time, after one interrupt of each other vector at most, and then handed over.
`include "../rules/rule.svh"
module interrupt_collector_progress #(
    parameter int unsigned Late    = 1,
    parameter int unsigned Vectors = 3
) (
    input logic clk_i,
    input logic rst_ni,
    input logic m_axis_irq_tvalid,
    input logic m_axis_irq_tready,
    input logic waits,
    input logic chosen,
    input logic open,     // raised and not handed over
    input logic handed
);
    waits_at_most #(.Most(Late), .Proven(0)) i_stream (
        .clk_i, .rst_ni, .waits_i(m_axis_irq_tvalid), .served_i(m_axis_irq_tready));
    waits_at_most #(.Most(Vectors*(Late + 1) - 1)) i_is_offered (
        .clk_i, .rst_ni, .waits_i(waits), .served_i(chosen));
    waits_at_most #(.Most(Vectors*(Late + 1))) i_is_handed_over (
        .clk_i, .rst_ni, .waits_i(open), .served_i(handed));
endmodule
bind interrupt_collector_formal interrupt_collector_progress #(.Vectors(Vectors)) i_progress (
    .open(raised_q != handed_q), .*);
