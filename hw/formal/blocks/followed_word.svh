// SPDX-License-Identifier: MIT OR Apache-2.0
// Of a queue in the place of lut_fifo: how many words there are, and one of them, which is any. What the others are is chosen
// when they come to the front. `Followed` says how many of the lower bits of a word are kept so.
    logic [LogDepth:0] pushed_q, popped_q, at_q, count;
    assign count   = pushed_q - popped_q;
    assign valid_o = pushed_q != popped_q;
    logic                mark, followed_q, in_front;
    logic [Followed-1:0] word_q, other, other_q, front;
    anything #(.Width(Followed + 1)) i_any (.clk_i, .value_o({mark, other}));
    assign in_front = followed_q && popped_q == at_q;
    assign front    = in_front ? word_q : other_q;
    always_ff @(posedge clk_i) begin
        if (pop_i || !valid_o) other_q <= other;
        if (push_i && mark && !followed_q) begin
            at_q   <= pushed_q;
            word_q <= data_i[Followed-1:0];
        end
        if (!rst_ni) begin
            pushed_q   <= '0;
            popped_q   <= '0;
            followed_q <= 1'b0;
        end else begin
            if (push_i) pushed_q <= pushed_q + 1'b1;
            if (pop_i) popped_q <= popped_q + 1'b1;
            followed_q <= followed_q ? !(pop_i && in_front) : push_i && mark;
        end
    end
    `RULE(push_has_room, 1, !push_i || count != (LogDepth + 1)'(2**LogDepth))
    `RULE(pop_has_a_word, 1, !pop_i || valid_o)
