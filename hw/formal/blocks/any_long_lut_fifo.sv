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
    logic [LogDepth:0]      pushed_q, popped_q, at_q;
    logic [2**LogDepth-1:0] lasts_q, kept;      // of the words that are there; that in front is the lowest
    logic [LogDepth:0]      left;
    assign kept = pop_i ? lasts_q >> 1 : lasts_q;
    assign left = pushed_q - popped_q - (LogDepth + 1)'(pop_i);
    logic                   mark, followed_q, in_front, other_last;
    logic [Width-2:0]       word_q, other, other_q;
    anything #(.Width(Width + 1)) i_any (.clk_i, .value_o({mark, other_last, other}));
    assign valid_o  = pushed_q != popped_q;
    assign in_front = followed_q && popped_q == at_q;
    assign data_o   = {valid_o ? lasts_q[0] : other_last, in_front ? word_q : other_q};
    always_ff @(posedge clk_i) begin
        if (pop_i || !valid_o) other_q <= other;
        if (push_i && mark && !followed_q) begin
            at_q   <= pushed_q;
            word_q <= data_i[Width-2:0];
        end
        if (!rst_ni) begin
            pushed_q   <= '0;
            popped_q   <= '0;
            lasts_q    <= '0;
            followed_q <= 1'b0;
        end else begin
            for (int unsigned n = 0; n < 2**LogDepth; n++) begin
                lasts_q[n] <= push_i && left == (LogDepth + 1)'(n) ? data_i[Width-1] : kept[n];
            end
            if (push_i) pushed_q <= pushed_q + 1'b1;
            if (pop_i) popped_q <= popped_q + 1'b1;
            followed_q <= followed_q ? !(pop_i && in_front) : push_i && mark;
        end
    end
    `RULE(push_has_room, 1, !push_i || pushed_q != {!popped_q[LogDepth], popped_q[LogDepth-1:0]})
    `RULE(pop_has_a_word, 1, !pop_i || valid_o)
endmodule
