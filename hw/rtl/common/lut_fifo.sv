// SPDX-License-Identifier: MIT OR Apache-2.0
// A first-in first-out buffer in look-up tables.
//
// Contract: a word pushed at a clock edge is visible from the next cycle on. The user pushes only
// when there is room, and pops only when there is a word.
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

    // Whether there is a word is a register, since what the user does next mostly hangs on it.
    logic [LogDepth:0] pushed_q, popped_q;
    logic              last;      // the word in front is the only one
    assign last = pushed_q == popped_q + 1'b1;

    lut_ram #(
        .AddressWidth(LogDepth),
        .DataWidth   (Width)
    ) i_words (
        .clk_i,
        .write_enable_i (push_i),
        .write_address_i(pushed_q[LogDepth-1:0]),
        .write_data_i   (data_i),
        .read_address_i (popped_q[LogDepth-1:0]),
        .read_data_o    (data_o)
    );

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            pushed_q <= '0;
            popped_q <= '0;
            valid_o  <= 1'b0;
        end else begin
            if (push_i) pushed_q <= pushed_q + 1'b1;
            if (pop_i) popped_q <= popped_q + 1'b1;
            if (push_i) valid_o <= 1'b1;
            else if (pop_i && last) valid_o <= 1'b0;
        end
    end

`ifndef SYNTHESIS
    a_word_is_valid: assert property (@(posedge clk_i) disable iff (!rst_ni)
        valid_o == (pushed_q != popped_q));
    words_have_room: assert property (@(posedge clk_i) disable iff (!rst_ni)
        (LogDepth + 1)'(pushed_q - popped_q) <= (LogDepth + 1)'(2**LogDepth));
    push_has_room: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !push_i || pushed_q != {!popped_q[LogDepth], popped_q[LogDepth-1:0]});
    pop_has_a_word: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !pop_i || valid_o);
`endif

endmodule
