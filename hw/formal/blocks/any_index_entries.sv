// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of index_entries, whose job proves it: a step is answered or copied three clocks after it came, with its token; an error
// with nothing else, and all others with anything.
`include "../rules/rule.svh"
module index_entries
    import index_pkg::*;
#(
    parameter int unsigned LogPlaces  = 14,
    parameter int unsigned Objects    = 2,
    parameter int unsigned ValueWords = 1,
    parameter int unsigned MostPins   = 255,
    parameter int unsigned LogMisses  = 3,
    parameter int unsigned Lines      = 1
) (
    input  logic                     clk_i,
    input  logic                     rst_ni,
    input  logic [5:0]               limit_i,
    input  logic [6:0]               more_i,
    input  logic                     valid_i,
    input  step_t                    step_i,
    input  logic [LogPlaces-1:0]     place_i,
    input  logic [LogMisses-1:0]     miss_i,
    input  request_t                 request_i,
    input  logic [64*ValueWords-1:0] value_i,
    output logic [LogMisses-1:0]     line_miss_o,
    input  logic [512*Lines-1:0]     line_i,
    output logic                     snapshot_o,
    output logic [LogMisses-1:0]     snapshot_miss_o,
    output logic [512*Lines-1:0]     snapshot_line_o,
    output logic                     answer_valid_o,
    output answer_t                  answer_o,
    output logic [64*ValueWords-1:0] answer_value_o
);
    // Of a step: read, compared, carried out.
    typedef struct packed {
        logic                 valid;
        step_t                step;
        logic [LogMisses-1:0] miss;
        logic [15:0]          token;
    } offer_t;
    offer_t [2:0]             steps_q;
    answer_t                  other;
    logic [64*ValueWords-1:0] value;
    logic                     is_error;
    anything #(.Width($bits(answer_t) + 64*ValueWords)) i_any (.clk_i, .value_o({other, value}));
    anything #(.Width(512*Lines)) i_line (.clk_i, .value_o(snapshot_line_o));
    always_ff @(posedge clk_i) begin
        steps_q <= {steps_q[1:0], {valid_i, step_i, miss_i, request_i.token}};
        if (!rst_ni) {steps_q[2].valid, steps_q[1].valid, steps_q[0].valid} <= '0;
    end
    assign line_miss_o     = steps_q[0].miss;
    assign answer_valid_o  = steps_q[2].valid && steps_q[2].step.is_answered;
    assign snapshot_o      = steps_q[2].valid && steps_q[2].step.is_snapshot;
    assign snapshot_miss_o = steps_q[2].miss;
    assign is_error        = steps_q[2].step.out_of_range || steps_q[2].step.bus_error;
    assign answer_value_o  = is_error ? '0 : value;
    always_comb begin
        answer_o = '0;
        if (!is_error) answer_o = other;
        answer_o.token    = steps_q[2].token;
        answer_o.address  = '0;
        answer_o.reserved = 1'b0;
        if (steps_q[2].step.out_of_range) answer_o.status = OutOfRange;
        else if (steps_q[2].step.bus_error) answer_o.status = BusError;
    end
    `RULE(status_is_one_of_an_operation, 0, other.status <= Stale)
    // What its job assumes of the steps.
    `RULE(step_is_answered_or_copied, 1, !valid_i || step_i.is_answered != step_i.is_snapshot)
    `RULE(step_with_an_error_is_answered_only, 1, !valid_i || !(step_i.out_of_range || step_i.bus_error) || step_i.is_answered)
    `RULE(entry_that_is_brought_is_used, 1, !valid_i || !step_i.is_install
        || step_i.is_answered && !step_i.out_of_range && !step_i.bus_error)
    logic unused;
    assign unused = ^{limit_i, more_i, place_i, request_i, value_i, line_i};
endmodule
