// SPDX-License-Identifier: MIT OR Apache-2.0
// entry_chooser: where what is offered is taken within `Late` clocks, each entry that is wanted is taken in time, and
// offered in time.
`include "../rules/rule.svh"
module entry_chooser_progress #(
    parameter int unsigned Late   = 2,
    parameter int unsigned Misses = 4
) (
    input logic              clk_i,
    input logic              rst_ni,
    input logic [Misses-1:0] wanted_i,
    input logic [Misses-1:0] taken_o,
    input logic [Misses-1:0] one,       // of those that are wanted, any
    input logic              valid_o,
    input logic              ready_i,
    input logic              followed,  // an entry that was taken, any
    input logic              leaves
);
    waits_at_most #(.Most(Late), .Proven(0)) i_memory (.clk_i, .rst_ni, .waits_i(valid_o), .served_i(ready_i));
    waits_at_most #(.Most((Misses - 2)*(Late + 1) - 1)) i_is_taken (.clk_i, .rst_ni,
        .waits_i((wanted_i & one) != 0), .served_i((taken_o & one) != 0));
    waits_at_most #(.Most(3*Late + 2)) i_leaves (.clk_i, .rst_ni, .waits_i(followed), .served_i(leaves));
endmodule
bind entry_chooser_formal entry_chooser_progress #(.Misses(Misses)) i_progress (
    .one(i_turns.one), .followed(i_words.followed_q), .leaves(valid_o && ready_i && i_words.ahead_q == 0), .*);
