// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of lut_fifo: what that is proven to keep of all words where they are short, else of one, which is any. What the
// other long ones are is chosen when they come to the front.
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
    localparam int unsigned Followed = Width;
    `include "followed_word.svh"

    if (Width <= 32) begin : g_all
        logic [2**LogDepth-1:0][Width-1:0] words_q;    // that in front is the lowest
        for (genvar n = 0; n < 2**LogDepth; n++) begin : g_word
            logic [Width-1:0] kept;
            if (n + 1 < 2**LogDepth) begin : g_next
                assign kept = pop_i ? words_q[n+1] : words_q[n];
            end else begin : g_last
                assign kept = words_q[n];
            end
            always_ff @(posedge clk_i) words_q[n] <= push_i && count == (LogDepth + 1)'(n) + (LogDepth + 1)'(pop_i)
                ? data_i : kept;
        end
        assign data_o = words_q[0];
    end else begin : g_one
        assign data_o = front;
    end

    // What counts of the inputs.
    logic [Width+2:0] seen;
    assign seen = {rst_ni, push_i, push_i ? data_i : '0, pop_i};
endmodule
