// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of visibility_walk: it is busy after a reset for a while, and then from each start until it is done. Meanwhile it
// gives any rows; before, it loads lines, of which one comes for each that was asked for. All else is anything.
`include "../rules/rule.svh"
module visibility_walk #(
    parameter int unsigned LogChains = 7,
    parameter int unsigned LogPages  = 16
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            start_i,
    input  logic            stop_i,
    input  logic [1023:0]   job_i,
    output logic            busy_o,
    output logic            done_o,
    input  logic            load_valid_i,
    output logic            load_ready_o,
    input  logic [63:6]     load_address_i,
    output logic            loaded_valid_o,
    output logic            loaded_error_o,
    output logic [511:0]    loaded_data_o,
    output logic            m_axis_row_tvalid,
    input  logic            m_axis_row_tready,
    output logic [511:0]    m_axis_row_tdata,
    output logic            m_axis_row_tlast,
    output logic            m_axi_0_arvalid,
    input  logic            m_axi_0_arready,
    output logic [7:0]      m_axi_0_arid,
    output logic [63:0]     m_axi_0_araddr,
    output logic [7:0]      m_axi_0_arlen,
    output logic [2:0]      m_axi_0_arsize,
    output logic [1:0]      m_axi_0_arburst,
    output logic [3:0]      m_axi_0_arcache,
    output logic [2:0]      m_axi_0_arprot,
    input  logic            m_axi_0_rvalid,
    output logic            m_axi_0_rready,
    input  logic [7:0]      m_axi_0_rid,
    input  logic [511:0]    m_axi_0_rdata,
    input  logic [1:0]      m_axi_0_rresp,
    input  logic            m_axi_0_rlast,
    output logic            m_axi_1_arvalid,
    input  logic            m_axi_1_arready,
    output logic [7:0]      m_axi_1_arid,
    output logic [63:0]     m_axi_1_araddr,
    output logic [7:0]      m_axi_1_arlen,
    output logic [2:0]      m_axi_1_arsize,
    output logic [1:0]      m_axi_1_arburst,
    output logic [3:0]      m_axi_1_arcache,
    output logic [2:0]      m_axi_1_arprot,
    input  logic            m_axi_1_rvalid,
    output logic            m_axi_1_rready,
    input  logic [7:0]      m_axi_1_rid,
    input  logic [511:0]    m_axi_1_rdata,
    input  logic [1:0]      m_axi_1_rresp,
    input  logic            m_axi_1_rlast,
    output logic [63:0]     vids_o,
    output logic [63:0]     hops_o,
    output logic [63:0]     visible_o,
    output logic [63:0]     faults_o,
    output logic [63:0]     line_reads_o,
    output logic [63:0]     page_checks_o,
    output logic [63:0]     page_map_misses_o
);
    logic idle, ends;
    anything #(.Width(2)) i_run (.clk_i, .value_o({idle, ends}));
    anything #(.Width(1)) i_loads (.clk_i, .value_o(load_ready_o));
    anything #(.Width(514)) i_loaded (.clk_i, .value_o({loaded_valid_o, loaded_error_o, loaded_data_o}));
    anything #(.Width(514)) i_rows (.clk_i, .value_o({m_axis_row_tvalid, m_axis_row_tdata, m_axis_row_tlast}));
    anything #(.Width(188)) i_reads (.clk_i, .value_o({
        m_axi_0_arvalid, m_axi_0_arid, m_axi_0_araddr, m_axi_0_arlen, m_axi_0_arsize, m_axi_0_arburst,
        m_axi_0_arcache, m_axi_0_arprot, m_axi_0_rready, m_axi_1_arvalid, m_axi_1_arid, m_axi_1_araddr,
        m_axi_1_arlen, m_axi_1_arsize, m_axi_1_arburst, m_axi_1_arcache, m_axi_1_arprot, m_axi_1_rready
    }));
    anything #(.Width(448)) i_counts (.clk_i, .value_o({
        vids_o, hops_o, visible_o, faults_o, line_reads_o, page_checks_o, page_map_misses_o
    }));

    logic forgets_q, runs_q, owed_q;    // after a reset, in a run, a line
    assign busy_o = forgets_q || runs_q;
    assign done_o = runs_q && ends && !m_axis_row_tvalid;
    always_ff @(posedge clk_i) begin
        forgets_q <= !rst_ni || forgets_q && !idle;
        runs_q    <= rst_ni && (start_i || runs_q && !done_o);
        owed_q    <= rst_ni && (load_valid_i && load_ready_o || owed_q && !loaded_valid_o);
    end
    `RULE(line_comes_that_was_asked_for, 0, !loaded_valid_o || owed_q)
    `RULE(rows_are_of_a_run, 0, !m_axis_row_tvalid || runs_q)
    // Loads count as reads.
    `RULE(other_counts_stay_between_runs, 0, runs_q || !$past(rst_ni)
        || $stable({vids_o, hops_o, visible_o, faults_o, page_checks_o, page_map_misses_o}))
    `RULE(row_stays_until_it_is_taken, 0, !$past(rst_ni && m_axis_row_tvalid && !m_axis_row_tready)
        || m_axis_row_tvalid && $stable({m_axis_row_tdata, m_axis_row_tlast}))

    // What it asks of its user.
    `RULE(walk_starts_while_it_is_not_busy, 1, !start_i || !busy_o)
    `RULE(job_stays_until_the_end, 1, !runs_q || $stable(job_i))
    `RULE(lines_are_loaded_while_it_is_not_busy, 1, !load_valid_i || !busy_o && !owed_q)
endmodule
