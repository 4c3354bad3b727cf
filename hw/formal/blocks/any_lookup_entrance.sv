// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of lookup_entrance: it may do anything.
module lookup_entrance
    import lookup_pkg::*;
#(
    parameter int unsigned ValueWords  = 1,
    parameter int unsigned LogContexts = 7
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,
    input  logic                         enable_i,
    input  logic [31:0]                  slots_i,
    input  logic [4:0]                   segment_shift_i,
    input  logic                         s_axis_req_tvalid,
    output logic                         s_axis_req_tready,
    input  logic [64*(3+ValueWords)-1:0] s_axis_req_tdata,
    input  logic                         s_axis_sw_tvalid,
    output logic                         s_axis_sw_tready,
    input  logic [64*(3+ValueWords)-1:0] s_axis_sw_tdata,
    output logic                         begun_valid_o,
    output context_t                     begun_o,
    output request_t                     begun_request_o,
    output logic                         homed_valid_o,
    output context_t                     homed_o,
    output logic [31:0]                  home_o,
    output logic                         index_valid_o,
    input  logic                         index_ready_i,
    output logic [64*(4+ValueWords)-1:0] index_data_o,
    input  logic                         free_i,
    input  context_t                     free_number_i,
    input  logic                         answered_i,
    input  logic                         sw_answered_i,
    output logic                         idle_o,
    output logic [8:0]                   under_way_o
);
    anything #(.Width($bits(s_axis_req_tready))) i_s_axis_req_tready (.clk_i, .value_o(s_axis_req_tready));
    anything #(.Width($bits(s_axis_sw_tready))) i_s_axis_sw_tready (.clk_i, .value_o(s_axis_sw_tready));
    anything #(.Width($bits(begun_valid_o))) i_begun_valid (.clk_i, .value_o(begun_valid_o));
    anything #(.Width($bits(begun_o))) i_begun (.clk_i, .value_o(begun_o));
    anything #(.Width($bits(begun_request_o))) i_begun_request (.clk_i, .value_o(begun_request_o));
    anything #(.Width($bits(homed_valid_o))) i_homed_valid (.clk_i, .value_o(homed_valid_o));
    anything #(.Width($bits(homed_o))) i_homed (.clk_i, .value_o(homed_o));
    anything #(.Width($bits(home_o))) i_home (.clk_i, .value_o(home_o));
    anything #(.Width($bits(index_valid_o))) i_index_valid (.clk_i, .value_o(index_valid_o));
    anything #(.Width($bits(index_data_o))) i_index_data (.clk_i, .value_o(index_data_o));
    anything #(.Width($bits(idle_o))) i_idle (.clk_i, .value_o(idle_o));
    anything #(.Width($bits(under_way_o))) i_under_way (.clk_i, .value_o(under_way_o));
endmodule
