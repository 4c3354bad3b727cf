// SPDX-License-Identifier: MIT OR Apache-2.0
// The address of a home slot in the host's table.
//
// Contract: `address_o` is that of the `home_i` of four clocks before, if the configuration has stayed
// as it is since.
module home_address (
    input  logic        clk_i,
    input  logic [63:0] base_i,
    input  logic [4:0]  units_i,   // of 16 bytes, in a slot
    input  logic [31:0] home_i,
    output logic [63:0] address_o
);

    logic [31:0] home_q;
    logic [36:0] product_q;
    logic [32:0] low_q;
    logic [31:0] high_q;

    always_ff @(posedge clk_i) begin
        home_q    <= home_i;
        product_q <= 37'(home_q) * 37'(units_i);
        low_q     <= {1'b0, base_i[31:0]} + {1'b0, product_q[27:0], 4'd0};
        high_q    <= base_i[63:32] + 32'(product_q[36:28]);
        address_o <= {high_q + 32'(low_q[32]), low_q[31:0]};
    end

endmodule
