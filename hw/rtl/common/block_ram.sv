// SPDX-License-Identifier: MIT OR Apache-2.0
// A memory with one write port and one read port with a register, as a block RAM has it.
//
// Contract: `read_data_o` is the word that stood at `read_address_i` before the last clock edge;
// a word written at that edge is not yet seen. The contents are undefined until written.
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

    logic [DataWidth-1:0] words[2**AddressWidth];

    always_ff @(posedge clk_i) begin
        if (write_enable_i) words[write_address_i] <= write_data_i;
        read_data_o <= words[read_address_i];
    end

endmodule
