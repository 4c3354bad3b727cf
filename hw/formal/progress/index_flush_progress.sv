// SPDX-License-Identifier: MIT OR Apache-2.0
// index_flush: where nothing is under way, the tags tell of a place, and memory writes an entry, within `Late` clocks, a
// flush begins in time, and goes on to its end; so does one that is called off.
`include "../rules/rule.svh"
module index_flush_progress #(
    parameter int unsigned Late   = 1,
    parameter int unsigned Misses = 4
) (
    input logic              clk_i,
    input logic              rst_ni,
    input logic              flush_i,
    input logic              idle_i,
    input logic              stops_o,
    input logic              busy_o,
    input logic              flushed_o,
    input logic              walk_o,
    input logic              clean_o,
    input logic              walked_i,
    input logic [Misses-1:0] written_i,
    input logic [Misses-1:0] offered_q,
    input logic [Misses-1:0] changed_q
);
    waits_at_most #(.Most(Late), .Proven(0)) i_comes_to_rest (
        .clk_i, .rst_ni, .waits_i(stops_o && !flushed_o), .served_i(idle_i));
    waits_at_most #(.Most(Late), .Proven(0)) i_tags (
        .clk_i, .rst_ni, .waits_i(offered_q != 0), .served_i(walked_i));
    waits_at_most #(.Most(Late), .Proven(0)) i_memory (
        .clk_i, .rst_ni, .waits_i(changed_q != 0), .served_i(written_i != 0));

    // It begins, then something of it goes on, and that is little: each place is offered once, told of once, written
    // once and cleaned once.
    waits_at_most #(.Most(Late + 2)) i_begins (.clk_i, .rst_ni,
        .waits_i(flush_i && !flushed_o), .served_i(busy_o));
    waits_at_most #(.Most(Late + 3), .Seen(Late)) i_goes_on (.clk_i, .rst_ni,
        .waits_i(busy_o), .served_i(walk_o || clean_o || walked_i || written_i != 0));
    waits_at_most #(.Most(1)) i_lets_in (.clk_i, .rst_ni,
        .waits_i(!flush_i && !busy_o), .served_i(!stops_o));
endmodule
bind index_flush_formal index_flush_progress #(.Misses(Misses)) i_progress (.*);
