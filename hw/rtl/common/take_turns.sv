// SPDX-License-Identifier: MIT OR Apache-2.0
// Chooses one of those that ask, in turn.
//
// Contract: while any asks, `chosen_o` and `number_o` say one of them; when it is taken, those behind
// it go before it.
module take_turns #(
    parameter int unsigned Count     = 16,   // at least 2
    localparam int unsigned LogCount = $clog2(Count)
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic [Count-1:0]    asks_i,
    input  logic                taken_i,
    output logic [Count-1:0]    chosen_o,
    output logic [LogCount-1:0] number_o
);

    function automatic logic [Count-1:0] first(input logic [Count-1:0] of);
        for (int unsigned n = 0; n < Count; n++) first[n] = of[n] && (of & (Count'(1) << n) - 1'b1) == '0;
    endfunction

    // Those behind the first.
    function automatic logic [Count-1:0] behind(input logic [Count-1:0] of);
        for (int unsigned n = 0; n < Count; n++) behind[n] = (of & (Count'(1) << n) - 1'b1) != '0;
    endfunction

    function automatic logic [LogCount-1:0] number(input logic [Count-1:0] of);
        number = '0;
        for (int unsigned n = 0; n < Count; n++) if (of[n]) number |= LogCount'(n);
    endfunction

    // What follows from the choice is not made of it, but beside it: the path is shorter.
    logic [Count-1:0] behind_q, asks_behind;
    assign asks_behind = asks_i & behind_q;
    assign chosen_o    = asks_behind != '0 ? first(asks_behind) : first(asks_i);
    assign number_o    = asks_behind != '0 ? number(first(asks_behind)) : number(first(asks_i));

    always_ff @(posedge clk_i) begin
        if (!rst_ni) behind_q <= '0;
        else if (taken_i) behind_q <= asks_behind != '0 ? behind(asks_behind) : behind(asks_i);
    end

`ifndef SYNTHESIS
    one_that_asks_is_chosen: assert property (@(posedge clk_i) disable iff (!rst_ni)
        asks_i == '0 || $onehot(chosen_o) && (chosen_o & ~asks_i) == '0);
`endif

endmodule
