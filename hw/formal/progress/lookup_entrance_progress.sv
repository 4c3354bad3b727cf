// SPDX-License-Identifier: MIT OR Apache-2.0
// lookup_entrance: where the index takes a request within `Late` clocks (`Late` is at least 2), a request is taken in time while there is
// room for it, and is handed on in time.
`include "../rules/rule.svh"
module lookup_entrance_progress #(
    parameter int unsigned Late   = 2,
    parameter int unsigned Places = 16
) (
    input logic       clk_i,
    input logic       rst_ni,
    input logic       enable_i,
    input logic       net_waits,    // a request that has room for its context and its answer
    input logic       takes_net,
    input logic       sw_waits,
    input logic       takes_sw,
    input logic       index_valid_o,
    input logic       index_ready_i,
    input logic [8:2] at_q,         // the stage of the request that is followed
    input logic       followed,     // it is inside
    input logic [4:0] ahead,        // others ahead of it
    input logic       leaves
);
    waits_at_most #(.Most(Late), .Proven(0)) i_index (
        .clk_i, .rst_ni, .waits_i(index_valid_o), .served_i(index_ready_i));

    // It waits for a place among those on their way, and then for one of the other port, and for a place again.
    waits_at_most #(.Most(2*Late + 1)) i_net (
        .clk_i, .rst_ni, .waits_i(enable_i && net_waits), .served_i(takes_net));
    waits_at_most #(.Most(2*Late + 1)) i_software (
        .clk_i, .rst_ni, .waits_i(enable_i && sw_waits), .served_i(takes_sw));

    // From two clocks after it was taken.
    waits_at_most #(.Most(Places*(Late + 1) - 3), .Seen(Late + 7)) i_handed_on (
        .clk_i, .rst_ni, .waits_i(followed), .served_i(leaves));
    // How long it has waited, and how much longer it does at most.
    for (genvar s = 2; s <= 8; s++) begin : g_stage
        `RULE(time_in_stages_is_known, 1, !at_q[s] || 32'(i_handed_on.waited_q) == s - 2)
    end
    `RULE(time_in_the_queue_is_known, 1, !followed || !index_valid_o
        || 32'(i_handed_on.waited_q) + (32'(ahead) + 1) * (Late + 1) <= Places*(Late + 1) - 2 + 32'(i_index.waited_q))
endmodule
bind lookup_entrance_formal lookup_entrance_progress i_progress (
    .followed(i_words.followed_q), .ahead(i_words.ahead_q), .leaves(offered && i_words.ahead_q == 0), .*);
