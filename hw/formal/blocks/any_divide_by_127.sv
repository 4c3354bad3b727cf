// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of divide_by_127, which is proven to divide rightly and in eight clocks at most: the quotient and the remainder,
// after any number of clocks up to that. Before, they are anything.
`include "../rules/rule.svh"
module divide_by_127 (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        start_i,
    input  logic [36:0] number_i,
    output logic        done_o,
    output logic [36:0] quotient_o,
    output logic [6:0]  remainder_o
);
    logic [36:0] quotient, number_q;
    logic [6:0]  remainder;
    logic        ends, busy_q;
    logic [2:0]  clocks_q;      // since the start
    anything #(.Width(45)) i_any (.clk_i, .value_o({ends, quotient, remainder}));
    assign done_o = !busy_q;
    always_ff @(posedge clk_i) begin
        if (start_i) begin
            number_q <= number_i;
            busy_q   <= 1'b1;
            clocks_q <= '0;
        end else if (busy_q) begin
            clocks_q    <= clocks_q + 1'b1;
            busy_q      <= !ends && clocks_q != 3'd6;
            quotient_o  <= quotient;
            remainder_o <= remainder;
        end
        if (!rst_ni) busy_q <= 1'b0;
    end
    `RULE(number_is_divided, 0, !busy_q || remainder < 7'd127
        && {quotient, 7'd0} + 44'(remainder) == 44'(number_q) + 44'(quotient))
endmodule
