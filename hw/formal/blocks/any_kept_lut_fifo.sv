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
    logic [LogDepth:0] pushed_q, popped_q, count;
    assign count   = pushed_q - popped_q;
    assign valid_o = pushed_q != popped_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            pushed_q <= '0;
            popped_q <= '0;
        end else begin
            if (push_i) pushed_q <= pushed_q + 1'b1;
            if (pop_i) popped_q <= popped_q + 1'b1;
        end
    end
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
        logic              mark, followed_q, in_front;
        logic [LogDepth:0] at_q;
        logic [Width-1:0]  word_q, other, other_q;
        anything #(.Width(Width + 1)) i_any (.clk_i, .value_o({mark, other}));
        assign in_front = followed_q && popped_q == at_q;
        assign data_o   = in_front ? word_q : other_q;
        always_ff @(posedge clk_i) begin
            if (pop_i || !valid_o) other_q <= other;
            if (push_i && mark && !followed_q) begin
                at_q   <= pushed_q;
                word_q <= data_i;
            end
            followed_q <= rst_ni && (followed_q ? !(pop_i && in_front) : push_i && mark);
        end
    end
    `RULE(push_has_room, 1, !push_i || count != (LogDepth + 1)'(2**LogDepth))
    `RULE(pop_has_a_word, 1, !pop_i || valid_o)
endmodule
