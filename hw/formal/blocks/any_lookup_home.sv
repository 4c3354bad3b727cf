// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of lookup_home: a key, which is any, has a home, which is any, for a number of slots, which is any. It comes seven
// clocks after the key, if the number of slots stays. Homes of others are anything.
module lookup_home (
    input  logic        clk_i,
    input  logic [63:0] key_i,
    input  logic [31:0] slots_i,
    output logic [31:0] home_o
);
    logic [63:0] key;
    logic [31:0] slots, home, other;
    logic [7:1]  is_its_q;    // keys on their way
    arbitrary #(.Width(64)) i_key (.clk_i, .value_o(key));
    arbitrary #(.Width(32)) i_slots (.clk_i, .value_o(slots));
    arbitrary #(.Width(32)) i_home (.clk_i, .value_o(home));
    anything #(.Width(32)) i_other (.clk_i, .value_o(other));
    always_ff @(posedge clk_i) is_its_q <= {is_its_q[6:1] & {6{slots_i == slots}}, key_i == key};
    assign home_o = is_its_q[7] ? home : other;
endmodule
