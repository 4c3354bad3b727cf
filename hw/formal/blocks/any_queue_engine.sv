// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of queue_engine: it may do anything.
module queue_engine #(
    parameter bit EveryRequestCompletes = 1'b1
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   enable_i,
    input  queue_pkg::rings_t      rings_i,
    input  logic [15:0]            submission_tail_i,
    input  logic [15:0]            completion_head_i,
    input  logic [1:0]             interrupt_enable_i,
    output logic                   clear_o,
    output logic                   halt_o,
    output logic [15:0]            submission_head_o,
    output logic [15:0]            completion_tail_o,
    output logic [1:0]             error_o,
    output logic [31:0]            return_o,
    output logic                   completed_o,
    output logic                   running_o,
    output logic                   memory_quiet_o,
    output queue_pkg::events_t     events_o,
    output logic                   read_valid_o,
    output logic [63:6]            read_address_o,
    input  logic                   read_ready_i,
    input  logic                   line_valid_i,
    input  logic                   line_error_i,
    input  logic [511:0]           line_i,
    output logic                   store_valid_o,
    output logic [63:3]            store_address_o,
    output logic [63:0]            store_data_o,
    input  logic                   store_ready_i,
    input  logic                   stored_valid_i,
    input  logic                   stored_error_i,
    output logic                   submission_valid_o,
    output queue_pkg::submission_t submission_o,
    input  logic                   submission_ready_i,
    input  logic                   completion_valid_i,
    input  queue_pkg::completion_t completion_i,
    output logic                   completion_ready_o
);
    anything #(.Width(71)) i_state (.clk_i, .value_o({
        clear_o, halt_o, submission_head_o, completion_tail_o, error_o, return_o, completed_o, running_o, memory_quiet_o}));
    anything #(.Width($bits(events_o))) i_events (.clk_i, .value_o(events_o));
    anything #(.Width(125)) i_memory (.clk_i, .value_o({store_address_o, store_data_o}));
    anything #(.Width(61)) i_valid (.clk_i, .value_o({
        read_valid_o, read_address_o, store_valid_o, submission_valid_o}));
    anything #(.Width($bits(submission_o) + 1)) i_submission (.clk_i, .value_o({submission_o, completion_ready_o}));
endmodule
