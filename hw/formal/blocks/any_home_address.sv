// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of home_address, whose job proves it: a home, which is any, has an address, which is any. It comes four clocks after
// the home. Addresses of others are anything.
module home_address (
    input  logic        clk_i,
    input  logic [63:0] base_i,
    input  logic [4:0]  units_i,
    input  logic [31:0] home_i,
    output logic [63:0] address_o
);
    logic [31:0] home;
    logic [63:0] address, other;
    logic [4:1]  is_its_q;    // homes on their way
    arbitrary #(.Width(96)) i_home (.clk_i, .value_o({home, address}));
    anything #(.Width(64)) i_other (.clk_i, .value_o(other));
    always_ff @(posedge clk_i) is_its_q <= {is_its_q[3:1], home_i == home};
    assign address_o = is_its_q[4] ? address : other;
    logic unused;
    assign unused = ^{base_i, units_i};
endmodule
