// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of page_checker: a check that has started ends once, after any time, with any facts. Meanwhile it asks for lines. What
// page_checker asks of its user is proven here.
`include "../rules/rule.svh"
module page_checker
    import walk_pkg::*;
#(
    parameter int unsigned LogSlots = 3,
    parameter logic [7:0]  FirstId  = 8'h88
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic [63:0]         store_i,
    input  logic [63:0]         epoch_i,
    input  logic                start_i,
    input  logic [LogSlots-1:0] start_slot_i,
    input  check_t              check_i,
    output logic                checked_valid_o,
    output logic [LogSlots-1:0] checked_slot_o,
    output facts_t              checked_o,
    output logic                quiet_o,
    output logic [1:0]          read_valid_o,
    output logic [1:0][63:6]    read_address_o,
    output logic [1:0][7:0]     read_id_o,
    input  logic [1:0]          read_ready_i,
    input  logic [1:0]          line_valid_i,
    input  logic [1:0][7:0]     line_id_i,
    input  logic [1:0]          line_error_i,
    input  logic [1:0][511:0]   line_i
);
    localparam int unsigned Slots = 2**LogSlots;
    typedef logic [LogSlots-1:0] slot_t;

    logic [Slots-1:0] runs_q, runs, checked_now, asking;
    logic             ends;
    slot_t            ender;
    facts_t           facts;
    anything #(.Width(LogSlots + 1)) i_ends (.clk_i, .value_o({ends, ender}));
    anything #(.Width($bits(facts_t))) i_facts (.clk_i, .value_o(facts));
    assign checked_valid_o = ends && runs_q[ender] && !asking[ender];
    assign checked_slot_o  = ender;
    assign checked_o       = facts;
    assign quiet_o         = runs_q == '0;
    assign checked_now     = Slots'(checked_valid_o) << checked_slot_o;
    assign runs            = runs_q & ~checked_now;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) runs_q <= '0;
        else runs_q <= runs | Slots'(start_i) << start_slot_i;
    end

    // Each port asks for lines of checks that run.
    slot_t asker_q[2];
    assign asking = Slots'(read_valid_o[0]) << asker_q[0] | Slots'(read_valid_o[1]) << asker_q[1];
    for (genvar port = 0; port < 2; port++) begin : g_ports
        logic        asks;
        slot_t       asker;
        logic [57:0] address;
        anything #(.Width(LogSlots + 59)) i_asks (.clk_i, .value_o({asks, asker, address}));
        assign read_id_o[port] = FirstId | 8'(asker_q[port]);
        always_ff @(posedge clk_i) begin
            if (!read_valid_o[port]) begin
                asker_q[port]        <= asker;
                read_address_o[port] <= address;
            end
            read_valid_o[port] <= rst_ni && (read_valid_o[port] ? !read_ready_i[port] : asks && runs[asker]);
        end
        `RULE(asker_runs, 1, !read_valid_o[port] || runs_q[asker_q[port]])
    end

    `RULE(check_starts_in_a_free_slot, 1, !start_i || !runs[start_slot_i])
    `RULE(settings_stay, 1, !$past(rst_ni && runs_q != '0) || $stable({store_i, epoch_i}))
endmodule
