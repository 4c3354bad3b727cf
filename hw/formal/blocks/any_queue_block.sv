// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of queue_block: it may do anything, but raises at most two interrupts in a clock, one of a completion and one of
// an error, as queue_engine is proven to.
`include "../rules/rule.svh"
module queue_block #(
    parameter logic [7:0]  Kind                  = 8'd1,
    parameter bit          EveryRequestCompletes = 1'b1,
    parameter bit          CountsBytes           = 1'b1
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   valid_i,
    input  logic                   write_i,
    input  logic [11:0]            address_i,
    input  logic [31:0]            data_i,
    input  logic [3:0]             strobe_i,
    output logic                   done_o,
    output logic                   error_o,
    output logic [31:0]            data_o,
    output logic [1:0]             interrupts_o,
    output logic                   running_o,
    output logic                   memory_quiet_o,
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
    anything #(.Width(730)) i_any (.clk_i, .value_o({
        done_o, error_o, data_o, interrupts_o, running_o, memory_quiet_o, read_valid_o, read_address_o,
        store_valid_o, store_address_o, store_data_o, submission_valid_o, submission_o, completion_ready_o
    }));
    `RULE(at_most_two_interrupts_in_a_clock, 0, interrupts_o != 2'd3)
endmodule
