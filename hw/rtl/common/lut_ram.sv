// SPDX-License-Identifier: MIT OR Apache-2.0
// A small memory with one write port and one asynchronous read port.
//
// Contract: a word written at a clock edge is read from the next cycle on; a read
// in the cycle of the write still returns the old word. The contents are undefined
// until written, and no reset touches them, so that the memory fits into look-up
// tables. A reader that needs several ports takes several memories with one writer.
module lut_ram #(
    parameter int unsigned AddressWidth = 7,
    parameter int unsigned DataWidth    = 32
) (
    input  logic                    clk_i,            // rising edge
    input  logic                    write_enable_i,   // write write_data_i
    input  logic [AddressWidth-1:0] write_address_i,
    input  logic [DataWidth-1:0]    write_data_i,
    input  logic [AddressWidth-1:0] read_address_i,
    output logic [DataWidth-1:0]    read_data_o       // the word at read_address_i
);

    logic [DataWidth-1:0] words[2**AddressWidth];

    always_ff @(posedge clk_i) begin
        if (write_enable_i) begin
            words[write_address_i] <= write_data_i;
        end
    end

    assign read_data_o = words[read_address_i];

endmodule
