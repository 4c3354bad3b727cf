// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of lane_execute: an instruction takes any time and says anything, but one thing at most of whether the row passes,
// fails or ends with a fault. It reads on only before it is complete, and values change only while it is executed; that is proven of
// lane_execute.
module lane_execute (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    input  logic                      valid_i,
    input  program_pkg::instruction_t instruction_i,
    output logic                      complete_o,
    output logic                      reads_on_o,
    output logic                      passes_o,
    output logic                      fails_o,
    output logic                      faulty_o,
    output logic [7:0]                fault_o,
    input  logic [15:0]               bytes_i,
    input  logic [63:0]               row_word_i,
    input  logic [63:0]               bitmap_i[16],
    output logic [5:0]                constant_address_o,
    input  logic [63:0]               constant_i,
    output logic [63:0]               values_o[8],
    output logic [7:0]                nulls_o
);
    logic             ends, reads;
    logic [1:0]       says;
    logic [7:0][63:0] values;
    logic [7:0]       nulls;
    anything #(.Width(538)) i_any (
        .clk_i, .value_o({ends, reads, says, fault_o, constant_address_o, values, nulls}));
    assign complete_o = valid_i && ends;
    assign reads_on_o = valid_i && reads && !ends;
    assign passes_o   = says == 2'd1;
    assign fails_o    = says == 2'd2;
    assign faulty_o   = says == 2'd3;
    always_ff @(posedge clk_i) begin
        if (valid_i) begin
            for (int unsigned n = 0; n < 8; n++) values_o[n] <= values[n];
            nulls_o <= nulls;
        end
    end
    logic unused;
    assign unused = ^{rst_ni, instruction_i, bytes_i, row_word_i, bitmap_i[0], constant_i};
endmodule
