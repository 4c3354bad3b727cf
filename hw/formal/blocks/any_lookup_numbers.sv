// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of lookup_numbers, which is proven to have a number while not all are out, and one that is not out: any of those,
// chosen anew in each clock.
`include "../rules/rule.svh"
module lookup_numbers #(
    parameter int unsigned LogCount = 7
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    output logic                valid_o,
    output logic [LogCount-1:0] number_o,
    input  logic                take_i,
    input  logic                give_i,
    input  logic [LogCount-1:0] give_number_i
);
    logic [2**LogCount-1:0] out_q;
    anything #(.Width(LogCount)) i_number (.clk_i, .value_o(number_o));
    assign valid_o = out_q != '1;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) out_q <= '0;
        else out_q <= out_q & ~((2**LogCount)'(give_i) << give_number_i) | (2**LogCount)'(take_i) << number_o;
    end
    `RULE(number_is_not_out, 0, !valid_o || !out_q[number_o])
    // What its user keeps to.
    `RULE(taken_where_one_is, 1, !take_i || valid_o)
    `RULE(given_back_while_out, 1, !give_i || out_q[give_number_i])
endmodule
