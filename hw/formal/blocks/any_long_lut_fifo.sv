// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of lut_fifo, with words that are long: what that is proven to keep of how many there are, of the upper bit of
// each, and of all of one, which is any. What the others are is chosen when they come to the front.
`include "../rules/rule.svh"
module lut_fifo #(
    parameter int unsigned LogDepth = 4,
    parameter int unsigned Width    = 32
) (
    input  logic              clk_i,
    input  logic              rst_ni,
    input  logic              push_i,
    input  logic [Width-1:0]  data_i,
    input  logic              pop_i,
    output logic              valid_o,
    output logic [Width-1:0]  data_o
);
    localparam int unsigned Followed = Width - 1;
    `include "followed_word.svh"

    logic [2**LogDepth-1:0] lasts_q, kept;      // of the words that are there; that in front is the lowest
    logic [LogDepth:0]      left;
    logic                   other_last;
    anything #(.Width(1)) i_any_last (.clk_i, .value_o(other_last));
    assign kept   = pop_i ? lasts_q >> 1 : lasts_q;
    assign left   = count - (LogDepth + 1)'(pop_i);
    assign data_o = {valid_o ? lasts_q[0] : other_last, front};
    always_ff @(posedge clk_i) begin
        for (int unsigned n = 0; n < 2**LogDepth; n++) begin
            lasts_q[n] <= rst_ni && (push_i && left == (LogDepth + 1)'(n) ? data_i[Width-1] : kept[n]);
        end
    end

    // What counts of the inputs.
    logic [Width+2:0] seen;
    assign seen = {rst_ni, push_i, push_i ? data_i : '0, pop_i};
endmodule
