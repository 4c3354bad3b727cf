// SPDX-License-Identifier: MIT OR Apache-2.0
// lookup_numbers: a number, which is any, is with one at a time, and is not lost: while not all are out, there is one.
`include "../rules/rule.svh"
module lookup_numbers_formal #(
    parameter int unsigned LogCount = 2
) (
    input logic                clk_i,
    input logic                rst_ni,
    input logic                take_i,
    input logic                give_i,
    input logic [LogCount-1:0] give_number_i
);
    logic                valid_o;
    logic [LogCount-1:0] number_o;

    power_up i_power_up (.*);
    lookup_numbers #(.LogCount(LogCount)) i_block (.*);
    // What counts of the outputs.
    logic [LogCount:0] seen;
    assign seen = {valid_o, valid_o ? number_o : '0};

    logic [2**LogCount-1:0] out_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) out_q <= '0;
        else out_q <= out_q & ~((2**LogCount)'(give_i) << give_number_i) | (2**LogCount)'(take_i) << number_o;
    end
    // What its user keeps to: it takes what there is, and gives back what it has.
    `RULE(taken_where_one_is, 0, !take_i || valid_o)
    `RULE(given_back_while_out, 0, !give_i || out_q[give_number_i])

    `RULE(number_is_with_one_at_a_time, 1, !take_i || !out_q[number_o])
    `RULE(there_is_one_while_not_all_are_out, 1, valid_o == (out_q != '1))
    `REACHED(all_are_out, out_q == '1)
    `REACHED(number_is_taken_again, take_i && i_block.counted_q[LogCount])
endmodule
