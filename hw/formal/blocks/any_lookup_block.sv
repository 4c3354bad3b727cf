// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of lookup_block: it may do anything.
module lookup_block
    import lookup_pkg::*;
#(
    parameter int unsigned SlotBytes    = 32,
    parameter int unsigned ValueWords   = 1,
    parameter int unsigned LogSets      = 12,
    parameter int unsigned LogWays      = 2,
    parameter int unsigned SegmentBits  = 24,
    parameter int unsigned Objects      = 2,
    parameter int unsigned MostPins     = 255,
    parameter int unsigned LogContexts  = 7,
    parameter int unsigned LandingLines = 32
) (
    input  logic          clk_i,
    input  logic          rst_ni,
    input  logic          valid_i,
    input  logic          write_i,
    input  logic [11:0]   address_i,
    input  logic [31:0]   data_i,
    input  logic [3:0]    strobe_i,
    output logic          done_o,
    output logic          error_o,
    output logic [31:0]   data_o,
    output logic          enable_o,
    output logic          flush_o,
    input  logic          flushed_i,
    input  logic          flush_failed_i,
    output settings_t     settings_o,
    input  logic          idle_i,
    input  logic [8:0]    under_way_i,
    input  index_events_t index_events_i,
    input  walk_events_t  walk_events_i,
    input  logic          read_valid_i,
    input  logic [6:0]    read_slots_i,
    input  logic [12:0]   read_bytes_i
);
    anything #(.Width($bits(done_o))) i_done (.clk_i, .value_o(done_o));
    anything #(.Width($bits(error_o))) i_error (.clk_i, .value_o(error_o));
    anything #(.Width($bits(data_o))) i_data (.clk_i, .value_o(data_o));
    anything #(.Width($bits(enable_o))) i_enable (.clk_i, .value_o(enable_o));
    anything #(.Width($bits(flush_o))) i_flush (.clk_i, .value_o(flush_o));
    anything #(.Width($bits(settings_o))) i_settings (.clk_i, .value_o(settings_o));
endmodule
