// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of block_ram, which is proven to return what was written last: at one address, which is any, what was
// written is read, and at the others anything.
module block_ram #(
    parameter int unsigned AddressWidth = 7,
    parameter int unsigned DataWidth    = 512
) (
    input  logic                    clk_i,
    input  logic                    write_enable_i,
    input  logic [AddressWidth-1:0] write_address_i,
    input  logic [DataWidth-1:0]    write_data_i,
    input  logic [AddressWidth-1:0] read_address_i,
    output logic [DataWidth-1:0]    read_data_o
);
    logic [AddressWidth-1:0] address;
    logic [DataWidth-1:0]    word_q, read_q, other;
    logic                    its_q;
    arbitrary #(.Width(AddressWidth)) i_address (.clk_i, .value_o(address));
    anything #(.Width(DataWidth)) i_other (.clk_i, .value_o(other));
    always_ff @(posedge clk_i) begin
        its_q  <= read_address_i == address;
        read_q <= word_q;
        if (write_enable_i && write_address_i == address) word_q <= write_data_i;
    end
    assign read_data_o = its_q ? read_q : other;

    // What counts of the inputs.
    logic [2*AddressWidth+DataWidth:0] seen;
    assign seen = {write_enable_i, write_enable_i ? {write_address_i, write_data_i} : '0, read_address_i};
endmodule
