// SPDX-License-Identifier: MIT OR Apache-2.0
// Words leave a block in the order in which they came, none is lost, added or changed.
//
// Follows one word that the prover marks when it comes, and counts those ahead of it. What holds for any marked
// word holds for all.
`include "rule.svh"
module ordered_words #(
    parameter int unsigned Width   = 8,
    parameter int unsigned Most    = 2,    // words that may be inside at once
    parameter bit          Through = 0     // a word may leave in the clock in which it comes
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             push_i,
    input logic [Width-1:0] pushed_i,
    input logic             pop_i,
    input logic [Width-1:0] popped_i,
    output logic [$clog2(Most+1)-1:0] inside_o
);
    typedef logic [$clog2(Most+1)-1:0] count_t;

    logic             mark;
    anything i_mark (.clk_i, .value_o(mark));
    logic             followed_q, begins;
    count_t           inside_q, ahead_q;
    logic [Width-1:0] word_q;
    assign begins   = push_i && mark && !followed_q;
    assign inside_o = inside_q;

    // What is ahead of a word that comes, after this clock.
    count_t left;
    assign left = inside_q - count_t'(pop_i && inside_q != 0);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            inside_q   <= '0;
            followed_q <= 1'b0;
            ahead_q    <= '0;
            word_q     <= '0;
        end else begin
            inside_q <= inside_q + count_t'(push_i) - count_t'(pop_i);
            if (begins && !(Through && pop_i && inside_q == 0)) begin
                followed_q <= 1'b1;
                ahead_q    <= left;
                word_q     <= pushed_i;
            end else if (followed_q && pop_i) begin
                if (ahead_q == 0) followed_q <= 1'b0;
                else ahead_q <= ahead_q - 1'b1;
            end
        end
    end

    `RULE(no_word_is_added, 1, !pop_i || inside_q != 0 || Through && push_i)
    `RULE(no_more_words_than_fit, 1, !push_i || inside_q < count_t'(Most) || pop_i)
    `RULE(word_leaves_as_it_came, 1, !(followed_q && pop_i && ahead_q == 0) || popped_i == word_q)
    `RULE(word_passes_as_it_is, 1, !(pop_i && inside_q == 0) || popped_i == pushed_i)
    // What is counted agrees, which induction needs to be told.
    `RULE(followed_word_is_inside, 1, !followed_q || ahead_q < inside_q)
    `REACHED(followed_word_leaves, followed_q && pop_i && ahead_q == 0)
    `REACHED(all_places_are_taken, inside_q == count_t'(Most))
endmodule
