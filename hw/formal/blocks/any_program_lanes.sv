// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of program_lanes: it gives any packets, but none while it is idle; and it is idle until a row comes.
`include "../rules/rule.svh"
module program_lanes #(
    parameter int unsigned Lanes = 8
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         has_program_i,
    input  logic [3:0]   outputs_i,
    input  logic         wants_payloads_i,
    input  logic         code_write_i,
    input  logic         constant_write_i,
    input  logic [5:0]   store_address_i,
    input  logic [63:0]  store_data_i,
    input  logic         s_axis_row_tvalid,
    output logic         s_axis_row_tready,
    input  logic [511:0] s_axis_row_tdata,
    input  logic         s_axis_row_tlast,
    output logic         m_axis_row_tvalid,
    input  logic         m_axis_row_tready,
    output logic [511:0] m_axis_row_tdata,
    output logic         m_axis_row_tlast,
    output logic         emitted_o,
    output logic         fault_o,
    output logic         idle_o
);
    anything #(.Width(518)) i_any (.clk_i, .value_o({
        s_axis_row_tready, m_axis_row_tvalid, m_axis_row_tdata, m_axis_row_tlast, emitted_o, fault_o, idle_o
    }));
    `RULE(idle_until_a_row_comes, 0, idle_o
        || $past(rst_ni && (!idle_o || s_axis_row_tvalid && s_axis_row_tready)))
    `RULE(idle_without_packets, 0, !idle_o || !m_axis_row_tvalid && !emitted_o && !fault_o)
    `RULE(packet_stays_until_it_is_taken, 0, !$past(rst_ni && m_axis_row_tvalid && !m_axis_row_tready)
        || m_axis_row_tvalid && $stable({m_axis_row_tdata, m_axis_row_tlast}))

    // What it asks of its user: a program that stays from the first row on.
    `RULE(program_is_stored_while_nothing_runs, 1, !code_write_i && !constant_write_i
        || idle_o && !s_axis_row_tvalid)
    `RULE(program_stays_while_it_runs, 1, !$past(rst_ni && !(idle_o && !s_axis_row_tvalid))
        || $stable({has_program_i, outputs_i, wants_payloads_i}))
endmodule
