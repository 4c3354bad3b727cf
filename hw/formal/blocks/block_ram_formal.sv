// SPDX-License-Identifier: MIT OR Apache-2.0
// block_ram: at one address, which is any, a read gives the word that was written last before it.
`include "../rules/rule.svh"
module block_ram_formal #(
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
    block_ram #(.AddressWidth(AddressWidth), .DataWidth(DataWidth)) i_block (.*);

    logic [AddressWidth-1:0] address;
    logic                    written_q, reads_q;
    logic [DataWidth-1:0]    word_q, expected_q;
    arbitrary #(.Width(AddressWidth)) i_address (.clk_i, .value_o(address));
    always_ff @(posedge clk_i) begin
        reads_q    <= rst_ni && written_q && read_address_i == address;
        expected_q <= word_q;
        if (!rst_ni) written_q <= 1'b0;
        else if (write_enable_i && write_address_i == address) begin
            written_q <= 1'b1;
            word_q    <= write_data_i;
        end
    end

    `RULE(last_word_is_read, 1, !reads_q || read_data_o == expected_q)
    `REACHED(word_is_read_while_another_comes, reads_q && word_q != expected_q)
endmodule
