// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of vectorizer_block: it answers anything, at any time, and its settings are anything, which its job proves to stay while
// the queues are on or something is under way. What its job assumes of whoever uses it is proven here.
`include "../rules/rule.svh"
module vectorizer_block
    import vector_pkg::*;
(
    input  logic                    clk_i,
    input  logic                    rst_ni,
    input  logic                    valid_i,
    input  logic                    write_i,
    input  logic [11:0]             address_i,
    input  logic [31:0]             data_i,
    input  logic [3:0]              strobe_i,
    output logic                    done_o,
    output logic                    error_o,
    output logic [31:0]             data_o,
    output logic                    enable_o,
    output logic [15:0]             idle_time_o,
    output logic [15:0]             flush_time_o,
    output logic [63:12]            host_first_o,
    output logic [63:12]            host_last_o,
    output logic [63:12]            nic_first_o,
    output logic [63:12]            nic_last_o,
    input  logic  [Queues-1:0]      accepted_i,
    input  sent_t [1:0][Queues-1:0] sent_i,
    input  logic  [1:0][8:0]        bytes_i,
    input  logic  [1:0]             refused_i,
    input  logic                    ended_i,
    input  logic                    failed_i
);
    localparam int unsigned Width = 240;
    logic [Width-1:0] settings, settings_q;
    logic             changes;
    logic [31:0]      under_way_q;
    anything #(.Width(36)) i_answer (.clk_i, .value_o({done_o, error_o, data_o, enable_o, changes}));
    anything #(.Width(Width)) i_settings (.clk_i, .value_o(settings));
    assign {idle_time_o, flush_time_o, host_first_o, host_last_o, nic_first_o, nic_last_o} = settings_q;
    always_ff @(posedge clk_i) begin
        if (changes && !enable_o && under_way_q == 0 && accepted_i == 0) settings_q <= settings;
        under_way_q <= rst_ni ? under_way_q + 32'($countones(accepted_i)) - 32'(ended_i) : '0;
    end
    `RULE(each_end_is_of_an_accepted_element, 1, !ended_i || under_way_q != 0)
    `RULE(elements_are_accepted_while_the_queues_are_on, 1, accepted_i == 0 || $past(rst_ni && enable_o))
    `RULE(no_access_comes_in_the_first_clock, 1, !valid_i || $past(rst_ni))
    `RULE(access_holds_until_done, 1, !$past(rst_ni && valid_i && !done_o)
        || valid_i && $stable({write_i, address_i}) && (!write_i || $stable({data_i, strobe_i})))
    logic unused;
    assign unused = ^{sent_i, bytes_i, refused_i, failed_i};
endmodule
