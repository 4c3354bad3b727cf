// SPDX-License-Identifier: MIT OR Apache-2.0
// arithmetic_unit: each operation goes to the block that is made for it, with its operands, and has one result, that of this block,
// after the clocks which that takes. What the blocks compute their own jobs prove.
`include "../rules/rule.svh"
module arithmetic_unit_formal (
    input logic        clk_i,
    input logic        rst_ni,
    input logic        valid_i,
    input logic [1:0]  operation_i,
    input logic [63:0] a_i,
    input logic [63:0] b_i
);
    logic        done_o, overflow_o;
    logic [63:0] result_o;

    power_up i_power_up (.*);
    arithmetic_unit i_block (.*);

    // What counts of the outputs.
    logic [65:0] seen;
    assign seen = {done_o, overflow_o, done_o ? result_o : '0};

    // ---- The operation that is under way, and for how many clocks; there is one at a time.
    logic       busy_q;
    logic [1:0] operation_q;
    logic [2:0] clocks_q, clocks;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            busy_q <= 1'b0;
        end else if (valid_i) begin
            busy_q      <= 1'b1;
            operation_q <= operation_i;
            clocks_q    <= 3'd1;
        end else begin
            busy_q   <= busy_q && !done_o;
            clocks_q <= clocks_q + 3'd1;
        end
    end
    `RULE(one_operation_at_a_time, 0, !valid_i || !busy_q || done_o)
    always_comb begin
        case (operation_q)
            2'd0:    clocks = 3'd4;
            2'd3:    clocks = 3'd7;
            default: clocks = 3'd6;
        endcase
    end
    `RULE(result_comes_in_its_clock, 1, done_o == (busy_q && clocks_q == clocks))
    `RULE(clocks_are_counted, 1, !busy_q || clocks_q != 0 && clocks_q <= clocks)

    // ---- Who has it.
    logic [3:0] its;        // the operation that begins
    assign its = valid_i ? 4'd1 << operation_i : '0;
    `RULE(operation_goes_to_one_block, 1, i_block.i_integer_multiply.valid_i == its[0] && i_block.i_float_multiply.valid_i == its[3]
        && i_block.i_float_add.valid_i == (its[1] || its[2]))
    `RULE(operands_go_with_it, 1, (!its[0] || {i_block.i_integer_multiply.a_i, i_block.i_integer_multiply.b_i} == {a_i, b_i})
        && (!its[3] || {i_block.i_float_multiply.a_i, i_block.i_float_multiply.b_i} == {a_i, b_i})
        && (!its[1] && !its[2] || i_block.i_float_add.a_i == a_i))
    // A difference is a sum with the other sign.
    `RULE(difference_has_the_other_sign, 1, (!its[1] || i_block.i_float_add.b_i == b_i)
        && (!its[2] || i_block.i_float_add.b_i == {!b_i[63], b_i[62:0]}))
    `RULE(result_is_that_of_its_block, 1, !done_o || result_o == (operation_q == 2'd0 ? i_block.i_integer_multiply.result_o
        : operation_q == 2'd3 ? i_block.i_float_multiply.result_o : i_block.i_float_add.result_o))
    `RULE(overflow_is_that_of_integers, 1, overflow_o == (done_o && operation_q == 2'd0
        && i_block.i_integer_multiply.overflow_o))

    // What is under way inside, which induction needs to be told.
    logic [6:0] at;
    assign at = busy_q ? 7'd1 << (clocks_q - 3'd1) : '0;
    `RULE(operation_is_in_its_place, 1, i_block.i_integer_multiply.valid_q == (operation_q == 2'd0 ? at[3:0] : '0)
        && i_block.i_float_add.valid_q == (operation_q == 2'd1 || operation_q == 2'd2 ? at[5:0] : '0)
        && i_block.i_float_multiply.valid_q == (operation_q == 2'd3 ? at : '0))

    for (genvar n = 0; n < 4; n++) begin : g_operations
        `REACHED(operation_ends, done_o && operation_q == 2'(n))
    end
    `REACHED(operations_follow, done_o && valid_i && operation_q == 2'd0)
    `REACHED(product_overflows, overflow_o)
endmodule
