// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of lut_ram, which is proven to return what was written last: at one address, which is any, what was
// written is read, and at the others anything. Of lines, nothing is kept. A memory of access ids keeps the last one of
// a tag, which is any, wherever that was written.
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
    logic [DataWidth-1:0] other;
    anything #(.Width(DataWidth)) i_other (.clk_i, .value_o(other));
    if (DataWidth == 11) begin : g_entry
        logic [6:0]              tag;
        logic                    written_q = 1'b0;
        logic [AddressWidth-1:0] at_q;
        logic [DataWidth-1:0]    word_q;
        arbitrary #(.Width(7)) i_tag (.clk_i, .value_o(tag));
        always_ff @(posedge clk_i) begin
            if (write_enable_i && write_data_i[6:0] == tag) begin
                written_q <= 1'b1;
                at_q      <= write_address_i;
                word_q    <= write_data_i;
            end else if (write_enable_i && write_address_i == at_q) begin
                written_q <= 1'b0;
            end
        end
        assign read_data_o = written_q && read_address_i == at_q ? word_q : other;
    end else begin : g_one
        logic [AddressWidth-1:0] address;
        logic [DataWidth-1:0]    word_q;
        arbitrary #(.Width(AddressWidth)) i_address (.clk_i, .value_o(address));
        always_ff @(posedge clk_i) if (write_enable_i && write_address_i == address) word_q <= write_data_i;
        assign read_data_o = read_address_i == address && DataWidth < 130 ? word_q : other;
    end

    // What counts of the inputs.
    logic [2*AddressWidth+DataWidth:0] seen;
    assign seen = {write_enable_i, write_enable_i ? {write_address_i, write_data_i} : '0, read_address_i};
endmodule
