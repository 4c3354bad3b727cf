// SPDX-License-Identifier: MIT OR Apache-2.0
// entry_stream: where the bus takes a request and answers one, and the user takes entries, within `Late` clocks, entries
// are given in time until all are, and then lines that are held are dropped in time.
`include "../rules/rule.svh"
module entry_stream_progress #(
    parameter int unsigned Late     = 2,
    parameter int unsigned LogLines = 2
) (
    input logic              clk_i,
    input logic              rst_ni,
    input logic              stop_i,
    input logic              read_valid_o,
    input logic              read_ready_i,
    input logic              comes,
    input logic [LogLines:0] owed_q,
    input logic              valid_o,
    input logic              pop_i,
    input logic              ended_o,
    input logic              broken_o,
    input logic              quiet_o,
    input logic              used_up    // a line, in this clock
);
    waits_at_most #(.Most(Late), .Proven(0)) i_takes_reads (
        .clk_i, .rst_ni, .waits_i(read_valid_o), .served_i(read_ready_i));
    waits_at_most #(.Most(Late), .Proven(0)) i_answers_reads (
        .clk_i, .rst_ni, .waits_i(owed_q != 0), .served_i(comes));
    waits_at_most #(.Most(Late), .Proven(0)) i_user (.clk_i, .rst_ni, .waits_i(valid_o), .served_i(pop_i));

    waits_at_most #(.Most(3*Late + 2)) i_entry (.clk_i, .rst_ni,
        .waits_i(!ended_o && !broken_o), .served_i(pop_i || stop_i));
    // When it was called off, lines come that nobody wants. No more of them are asked for.
    waits_at_most #(.Most(Late + 1)) i_line (.clk_i, .rst_ni,
        .waits_i((ended_o || broken_o) && !quiet_o), .served_i(used_up));
    `RULE(no_line_is_asked_for_at_the_end, 1, !read_valid_o || !ended_o && !broken_o)
endmodule
bind entry_stream_formal entry_stream_progress #(.LogLines(LogLines)) i_progress (.*);
