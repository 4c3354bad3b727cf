// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of lookup_answers: it may do anything.
module lookup_answers
    import lookup_pkg::*;
#(
    parameter int unsigned SlotBytes    = 32,
    parameter int unsigned ValueWords   = 1,
    parameter int unsigned LogContexts  = 7,
    parameter int unsigned LandingLines = 32
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,
    input  logic [6:0]                   value_bytes_i,
    input  logic                         begun_valid_i,
    input  context_t                     begun_i,
    input  request_t                     begun_request_i,
    input  logic                         index_valid_i,
    output logic                         index_ready_o,
    input  logic [64*(3+ValueWords)-1:0] index_data_i,
    input  logic                         walk_valid_i,
    input  logic                         walk_frees_i,
    input  context_t                     walk_number_i,
    input  logic [64*(2+ValueWords)-1:0] walk_data_i,
    output logic                         begins_o,
    output context_t                     begins_number_o,
    output place_t                       begins_place_o,
    output logic [6:0]                   begins_slots_o,
    output logic                         free_o,
    output context_t                     free_number_o,
    output index_events_t                events_o,
    output logic                         m_axis_rsp_tvalid,
    input  logic                         m_axis_rsp_tready,
    output logic [64*(2+ValueWords)-1:0] m_axis_rsp_tdata,
    output logic                         m_axis_swrsp_tvalid,
    input  logic                         m_axis_swrsp_tready,
    output logic [64*(2+ValueWords)-1:0] m_axis_swrsp_tdata
);
    anything #(.Width($bits(index_ready_o))) i_index_ready (.clk_i, .value_o(index_ready_o));
    anything #(.Width($bits(begins_o))) i_begins (.clk_i, .value_o(begins_o));
    anything #(.Width($bits(begins_number_o))) i_begins_number (.clk_i, .value_o(begins_number_o));
    anything #(.Width($bits(begins_place_o))) i_begins_place (.clk_i, .value_o(begins_place_o));
    anything #(.Width($bits(begins_slots_o))) i_begins_slots (.clk_i, .value_o(begins_slots_o));
    anything #(.Width($bits(free_o))) i_free (.clk_i, .value_o(free_o));
    anything #(.Width($bits(free_number_o))) i_free_number (.clk_i, .value_o(free_number_o));
    anything #(.Width($bits(events_o))) i_events (.clk_i, .value_o(events_o));
    anything #(.Width($bits(m_axis_rsp_tvalid))) i_m_axis_rsp_tvalid (.clk_i, .value_o(m_axis_rsp_tvalid));
    anything #(.Width($bits(m_axis_rsp_tdata))) i_m_axis_rsp_tdata (.clk_i, .value_o(m_axis_rsp_tdata));
    anything #(.Width($bits(m_axis_swrsp_tvalid))) i_m_axis_swrsp_tvalid (.clk_i, .value_o(m_axis_swrsp_tvalid));
    anything #(.Width($bits(m_axis_swrsp_tdata))) i_m_axis_swrsp_tdata (.clk_i, .value_o(m_axis_swrsp_tdata));
endmodule
