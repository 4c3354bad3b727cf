// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of lookup_reads: it may do anything.
module lookup_reads
    import lookup_pkg::*;
    import vector_pkg::*;
#(
    parameter int unsigned SlotBytes    = 32,
    parameter int unsigned LogContexts  = 7,
    parameter int unsigned LandingLines = 32
) (
    input  logic                       clk_i,
    input  logic                       rst_ni,
    output logic                       clearing_o,
    input  logic                       begins_i,
    input  context_t                   begins_number_i,
    input  logic [63:0]                begins_address_i,
    input  logic [6:0]                 begins_slots_i,
    input  logic                       parts_valid_i,
    input  context_t                   parts_number_i,
    input  logic [2:0]                 parts_i,
    input  logic                       walk_valid_i,
    output logic                       walk_ready_o,
    input  read_t                      walk_read_i,
    output logic [Queues-1:0]          cmd_valid_o,
    input  logic [Queues-1:0]          cmd_ready_i,
    output element_t                   cmd_o,
    output logic                       given_o,
    output read_t                      given_read_o,
    input  logic                       done_valid_i,
    input  done_t                      done_i,
    output logic                       ended_valid_o,
    input  logic                       ended_ready_i,
    output ended_t                     ended_o
);
    anything #(.Width($bits(clearing_o))) i_clearing (.clk_i, .value_o(clearing_o));
    anything #(.Width($bits(walk_ready_o))) i_walk_ready (.clk_i, .value_o(walk_ready_o));
    anything #(.Width($bits(cmd_valid_o))) i_cmd_valid (.clk_i, .value_o(cmd_valid_o));
    anything #(.Width($bits(cmd_o))) i_cmd (.clk_i, .value_o(cmd_o));
    anything #(.Width($bits(given_o))) i_given (.clk_i, .value_o(given_o));
    anything #(.Width($bits(given_read_o))) i_given_read (.clk_i, .value_o(given_read_o));
    anything #(.Width($bits(ended_valid_o))) i_ended_valid (.clk_i, .value_o(ended_valid_o));
    anything #(.Width($bits(ended_o))) i_ended (.clk_i, .value_o(ended_o));
endmodule
