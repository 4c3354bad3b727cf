// SPDX-License-Identifier: MIT OR Apache-2.0
// Holds two words of a stream, so that neither side waits for the other within a clock.
//
// Contract: `ready_o`, `valid_o` and `data_o` are registers. Words leave in the order in which they
// came, from the clock after on, one a clock. An offered word holds until it is taken.
module stream_buffer #(
    parameter int unsigned Width = 32
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             valid_i,
    output logic             ready_o,
    input  logic [Width-1:0] data_i,
    output logic             valid_o,
    input  logic             ready_i,
    output logic [Width-1:0] data_o
);

    // The second word waits while the first one is offered; there is room as long as it is free.
    logic [Width-1:0] second_q;
    logic             push, free;
    assign push = valid_i && ready_o;
    assign free = !valid_o || ready_i;

    always_ff @(posedge clk_i) begin
        if (ready_o) second_q <= data_i;
        if (free) data_o <= ready_o ? data_i : second_q;
        if (!rst_ni) begin
            valid_o <= 1'b0;
            ready_o <= 1'b1;
        end else if (free) begin
            valid_o <= push || !ready_o;
            ready_o <= 1'b1;
        end else if (push) begin
            ready_o <= 1'b0;
        end
    end

`ifndef SYNTHESIS
    word_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && valid_o && !ready_i) || valid_o && $stable(data_o));
    a_second_word_needs_a_first: assert property (@(posedge clk_i) disable iff (!rst_ni)
        ready_o || valid_o);
`endif

endmodule
