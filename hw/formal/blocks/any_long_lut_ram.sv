// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of lut_ram, which is proven to return what was written last, also with words that are long: at one address,
// which is any, what was written is read, and at the others anything.
module lut_ram #(
    parameter int unsigned AddressWidth = 7,
    parameter int unsigned DataWidth    = 32
) (
    input  logic                    clk_i,
    input  logic                    write_enable_i,
    input  logic [AddressWidth-1:0] write_address_i,
    input  logic [DataWidth-1:0]    write_data_i,
    input  logic [AddressWidth-1:0] read_address_i,
    output logic [DataWidth-1:0]    read_data_o
);
    logic [AddressWidth-1:0] address;
    logic [DataWidth-1:0]    word_q, other;
    arbitrary #(.Width(AddressWidth)) i_address (.clk_i, .value_o(address));
    anything #(.Width(DataWidth)) i_other (.clk_i, .value_o(other));
    always_ff @(posedge clk_i) if (write_enable_i && write_address_i == address) word_q <= write_data_i;
    assign read_data_o = read_address_i == address ? word_q : other;

    // What counts of the inputs.
    logic [2*AddressWidth+DataWidth:0] seen;
    assign seen = {write_enable_i, write_enable_i ? {write_address_i, write_data_i} : '0, read_address_i};
endmodule
