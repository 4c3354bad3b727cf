// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of lookup_scans: it may do anything.
module lookup_scans
    import lookup_pkg::*;
#(
    parameter int unsigned SlotBytes    = 32,
    parameter int unsigned ValueWords   = 1,
    parameter int unsigned LogContexts  = 7,
    parameter int unsigned LandingLines = 32,
    localparam int unsigned LogLines    = $clog2(LandingLines),
    localparam int unsigned AddressBits = 9 + LogLines
) (
    input  logic                       clk_i,
    input  logic                       rst_ni,
    input  logic [5:0]                 limit_i,
    input  logic                       begun_valid_i,
    input  context_t                   begun_i,
    input  logic [63:0]                begun_key_i,
    input  logic                       begins_i,
    input  context_t                   begins_number_i,
    input  logic [6:0]                 begins_slots_i,
    input  logic                       slots_valid_i,
    input  context_t                   slots_number_i,
    input  slots_t                     slots_i,
    input  logic                       ended_valid_i,
    output logic                       ended_ready_o,
    input  ended_t                     ended_i,
    output logic [AddressBits-1:0]     line_address_o,
    input  logic [511:0]               line_i,
    output logic                       seen_valid_o,
    input  logic                       seen_ready_i,
    output seen_t                      seen_o,
    output logic [64*ValueWords-1:0]   seen_value_o,
    output logic                       scanned_o,
    output logic [1:0]                 scanned_part_o,
    output logic [64*ValueWords+127:0] scanned_data_o
);
    anything #(.Width($bits(ended_ready_o))) i_ended_ready (.clk_i, .value_o(ended_ready_o));
    anything #(.Width($bits(line_address_o))) i_line_address (.clk_i, .value_o(line_address_o));
    anything #(.Width($bits(seen_valid_o))) i_seen_valid (.clk_i, .value_o(seen_valid_o));
    anything #(.Width($bits(seen_o))) i_seen (.clk_i, .value_o(seen_o));
    anything #(.Width($bits(seen_value_o))) i_seen_value (.clk_i, .value_o(seen_value_o));
    anything #(.Width($bits(scanned_o))) i_scanned (.clk_i, .value_o(scanned_o));
    anything #(.Width($bits(scanned_part_o))) i_scanned_part (.clk_i, .value_o(scanned_part_o));
    anything #(.Width($bits(scanned_data_o))) i_scanned_data (.clk_i, .value_o(scanned_data_o));
endmodule
