// SPDX-License-Identifier: MIT OR Apache-2.0
// lut_ram: at one address, which is any, the word that was written last is read.
`include "../rules/rule.svh"
module lut_ram_formal #(
    parameter int unsigned AddressWidth = 3,
    parameter int unsigned DataWidth    = 4
) (
    input logic                    clk_i,
    input logic                    rst_ni,
    input logic                    write_enable_i,
    input logic [AddressWidth-1:0] write_address_i,
    input logic [DataWidth-1:0]    write_data_i,
    input logic [AddressWidth-1:0] read_address_i
);
    logic [DataWidth-1:0] read_data_o;

    power_up i_power_up (.*);
    lut_ram #(.AddressWidth(AddressWidth), .DataWidth(DataWidth)) i_block (.*);

    logic [AddressWidth-1:0] address;
    logic                    written_q;
    logic [DataWidth-1:0]    word_q;
    arbitrary #(.Width(AddressWidth)) i_address (.clk_i, .value_o(address));
    always_ff @(posedge clk_i) begin
        if (!rst_ni) written_q <= 1'b0;
        else if (write_enable_i && write_address_i == address) begin
            written_q <= 1'b1;
            word_q    <= write_data_i;
        end
    end

    `RULE(last_word_is_read, 1, !written_q || read_address_i != address || read_data_o == word_q)
    `REACHED(word_is_read_while_another_comes, written_q && read_address_i == address
        && write_enable_i && write_address_i == address && write_data_i != word_q)
endmodule
