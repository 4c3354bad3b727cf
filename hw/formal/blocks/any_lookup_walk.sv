// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of lookup_walk: it may do anything.
module lookup_walk
    import lookup_pkg::*;
#(
    parameter int unsigned SlotBytes    = 32,
    parameter int unsigned ValueWords   = 1,
    parameter int unsigned LandingLines = 32
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,
    input  settings_t                    settings_i,
    input  logic                         begun_valid_i,
    input  context_t                     begun_i,
    input  logic [63:0]                  begun_key_i,
    input  logic [15:0]                  begun_token_i,
    input  logic                         begun_locks_i,
    input  logic                         homed_valid_i,
    input  context_t                     homed_i,
    input  logic [31:0]                  home_i,
    input  logic                         begins_i,
    input  context_t                     begins_number_i,
    input  place_t                       begins_place_i,
    input  logic [6:0]                   begins_slots_i,
    input  logic                         seen_valid_i,
    output logic                         seen_ready_o,
    input  seen_t                        seen_i,
    input  logic [64*ValueWords-1:0]     seen_value_i,
    output context_t                     word_number_o,
    input  logic [63:0]                  word_i,
    output logic                         trip_o,
    output context_t                     trip_number_o,
    output logic [2:0]                   trip_parts_o,
    output slots_t                       trip_slots_o,
    output logic                         read_valid_o,
    input  logic                         read_ready_i,
    output read_t                        read_o,
    output logic                         answer_valid_o,
    output logic                         answer_frees_o,
    output context_t                     answer_number_o,
    output logic [64*(2+ValueWords)-1:0] answer_data_o,
    output logic                         tell_valid_o,
    input  logic                         tell_ready_i,
    output logic [64*(4+ValueWords)-1:0] tell_data_o,
    output walk_events_t                 events_o
);
    anything #(.Width($bits(seen_ready_o))) i_seen_ready (.clk_i, .value_o(seen_ready_o));
    anything #(.Width($bits(word_number_o))) i_word_number (.clk_i, .value_o(word_number_o));
    anything #(.Width($bits(trip_o))) i_trip (.clk_i, .value_o(trip_o));
    anything #(.Width($bits(trip_number_o))) i_trip_number (.clk_i, .value_o(trip_number_o));
    anything #(.Width($bits(trip_parts_o))) i_trip_parts (.clk_i, .value_o(trip_parts_o));
    anything #(.Width($bits(trip_slots_o))) i_trip_slots (.clk_i, .value_o(trip_slots_o));
    anything #(.Width($bits(read_valid_o))) i_read_valid (.clk_i, .value_o(read_valid_o));
    anything #(.Width($bits(read_o))) i_read (.clk_i, .value_o(read_o));
    anything #(.Width($bits(answer_valid_o))) i_answer_valid (.clk_i, .value_o(answer_valid_o));
    anything #(.Width($bits(answer_frees_o))) i_answer_frees (.clk_i, .value_o(answer_frees_o));
    anything #(.Width($bits(answer_number_o))) i_answer_number (.clk_i, .value_o(answer_number_o));
    anything #(.Width($bits(answer_data_o))) i_answer_data (.clk_i, .value_o(answer_data_o));
    anything #(.Width($bits(tell_valid_o))) i_tell_valid (.clk_i, .value_o(tell_valid_o));
    anything #(.Width($bits(tell_data_o))) i_tell_data (.clk_i, .value_o(tell_data_o));
    anything #(.Width($bits(events_o))) i_events (.clk_i, .value_o(events_o));
endmodule
