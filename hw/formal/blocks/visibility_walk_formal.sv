// SPDX-License-Identifier: MIT OR Apache-2.0
// visibility_walk, whatever the blocks in it do: the run begins, ends and stops as told, each walk has a chain of its
// own, what happens is counted, and a line that was loaded comes as it is.
`include "../rules/rule.svh"
module visibility_walk_formal
    import walk_pkg::*;
#(
    parameter int unsigned LogChains = 5,
    localparam int unsigned Chains   = 2**LogChains
) (
    input logic          clk_i,
    input logic          rst_ni,
    input logic          start_i,
    input logic          stop_i,
    input logic [1023:0] job_i,
    input logic          load_valid_i,
    input logic [63:6]   load_address_i,
    input logic          m_axis_row_tready,
    input logic          m_axi_0_arready,
    input logic          m_axi_0_rvalid,
    input logic [7:0]    m_axi_0_rid,
    input logic [511:0]  m_axi_0_rdata,
    input logic [1:0]    m_axi_0_rresp,
    input logic          m_axi_0_rlast,
    input logic          m_axi_1_arready,
    input logic          m_axi_1_rvalid,
    input logic [7:0]    m_axi_1_rid,
    input logic [511:0]  m_axi_1_rdata,
    input logic [1:0]    m_axi_1_rresp,
    input logic          m_axi_1_rlast
);
    logic         busy_o, done_o, load_ready_o, loaded_valid_o, loaded_error_o, m_axis_row_tvalid, m_axis_row_tlast;
    logic [511:0] loaded_data_o, m_axis_row_tdata;
    logic         m_axi_0_arvalid, m_axi_0_rready, m_axi_1_arvalid, m_axi_1_rready;
    logic [7:0]   m_axi_0_arid, m_axi_0_arlen, m_axi_1_arid, m_axi_1_arlen;
    logic [63:0]  m_axi_0_araddr, m_axi_1_araddr;
    logic [2:0]   m_axi_0_arsize, m_axi_0_arprot, m_axi_1_arsize, m_axi_1_arprot;
    logic [1:0]   m_axi_0_arburst, m_axi_1_arburst;
    logic [3:0]   m_axi_0_arcache, m_axi_1_arcache;
    logic [63:0]  vids_o, hops_o, visible_o, faults_o, line_reads_o, page_checks_o, page_map_misses_o;

    power_up i_power_up (.*);
    visibility_walk #(.LogChains(LogChains)) i_block (.*);

    typedef enum logic [1:0] {Idle, Preparing, Running} state_t;     // as in the block

    // ---- The run. It is over when all is quiet, all walks have ended, and all is counted.

    `RULE(starts_while_nothing_runs, 0, !start_i || !busy_o)
    logic               starts, quiet, all_quiet, runs_q, stops_q, counts;
    logic [LogChains:0] walks, walks_q;
    state_t             state;
    assign walks     = i_block.walks_q;
    assign state     = state_t'(i_block.state_q);
    assign starts    = start_i && !busy_o;
    assign quiet     = i_block.vids_quiet && i_block.checks_quiet && i_block.rows_quiet && i_block.entries_quiet
        && i_block.ports_quiet == 2'b11;
    assign all_quiet = quiet && walks == 0 && !counts;
    always_ff @(posedge clk_i) begin
        if (starts) runs_q <= 1'b1;
        else if (done_o) runs_q <= 1'b0;
        stops_q <= !starts && (stops_q || stop_i);
        if (!rst_ni) {runs_q, stops_q} <= '0;
    end
    `RULE(run_lasts_from_its_start_to_its_end, 1, busy_o == (runs_q || i_block.forgetting))
    `RULE(end_is_when_all_is_quiet, 1, !done_o || runs_q && all_quiet)
    `RULE(state_is_one_of_three, 1, runs_q == (state != Idle)
        && (state == Idle || state == Preparing || state == Running))
    `RULE(run_is_prepared_first, 1, !$past(rst_ni && starts) || state == Preparing)
    `RULE(run_goes_on_when_all_is_forgotten_and_loaded, 1,
        !$past(rst_ni && state == Preparing)
        || (state == Running) == $past(!i_block.forgetting && (i_block.entries_ended || i_block.entries_broken)))
    `RULE(quiet_run_ends, 1, state != Running || done_o == all_quiet)
    `RULE(stop_holds_until_the_next_start, 1, i_block.stopping_q == stops_q)

    // ---- Counts, a clock after what is counted is known, which is a clock after it happened.

    logic [1:0] asked_q, checked_q;
    logic       visited_q, looked_q, visible_q, fault_q, missed_q;
    assign counts = asked_q != 0 || checked_q != 0 || visited_q || looked_q || visible_q || fault_q || missed_q;
    logic [63:0] vids_q, hops_q, rows_q, faults_q, reads_q, checks_q, misses_q;
    always_ff @(posedge clk_i) begin
        {asked_q, checked_q}            <= {i_block.asked, i_block.checked, i_block.chunk_checked};
        {visited_q, looked_q, visible_q} <= {i_block.visited, i_block.looked, i_block.visible};
        {fault_q, missed_q}             <= {i_block.fault, i_block.missed};
        vids_q   <= vids_q + 64'(visited_q);
        hops_q   <= hops_q + 64'(looked_q);
        rows_q   <= rows_q + 64'(visible_q);
        faults_q <= faults_q + 64'(fault_q);
        reads_q  <= reads_q + 64'(2'(asked_q[0]) + 2'(asked_q[1]));
        checks_q <= checks_q + 64'(2'(checked_q[0]) + 2'(checked_q[1]));
        misses_q <= misses_q + 64'(missed_q);
        if (!rst_ni || starts) begin
            {asked_q, checked_q, visited_q, looked_q, visible_q, fault_q, missed_q} <= '0;
            {vids_q, hops_q, rows_q, faults_q, reads_q, checks_q, misses_q}         <= '0;
        end
    end
    `RULE(events_are_counted_a_clock_later, 1, i_block.events_q
        == {asked_q, checked_q, visited_q, looked_q, visible_q, fault_q, missed_q})
    `RULE(vids_are_counted, 1, vids_o == vids_q)
    `RULE(hops_are_counted, 1, hops_o == hops_q)
    `RULE(visible_rows_are_counted, 1, visible_o == rows_q)
    `RULE(faults_are_counted, 1, faults_o == faults_q)
    `RULE(reads_of_lines_are_counted, 1, line_reads_o == reads_q)
    `RULE(checks_of_pages_are_counted, 1, page_checks_o == checks_q)
    `RULE(misses_of_the_page_map_are_counted, 1, page_map_misses_o == misses_q)

    // ---- Chains: each of those that were ever in use has a walk, or is free.

    // What the look-up of pages takes is offered, and the queue of free chains has a word where one was pushed.
    logic [LogChains:0] free_q;
    `RULE(only_a_walk_that_can_begin_does, 0, !i_block.looks_at_vid || i_block.vid_valid && i_block.chain_free)
    `RULE(only_a_walk_that_began_ends, 0, !i_block.ends || walks != 0)
    `RULE(only_free_chains_are_in_the_queue, 0, i_block.reuse == (free_q != 0))
    always_ff @(posedge clk_i) begin
        walks_q <= walks_q + (LogChains + 1)'(i_block.begins) - (LogChains + 1)'(i_block.ends);
        free_q  <= free_q + (LogChains + 1)'(i_block.ends)
            - (LogChains + 1)'(i_block.begins && i_block.used_q[LogChains]);
        if (!rst_ni) {walks_q, free_q} <= '0;
    end
    `RULE(walks_are_counted, 1, walks == walks_q)
    // One chain, which is any: a walk has it, or it is in the queue.
    logic [LogChains-1:0] chain;
    logic                 has_q, given_back_q, gets, loses;
    arbitrary #(.Width(LogChains)) i_chain (.clk_i, .value_o(chain));
    assign gets  = i_block.begins && i_block.new_chain == chain;
    assign loses = i_block.ends && i_block.ended_chain == chain;
    `RULE(walk_that_ends_has_its_chain, 0, !loses || has_q)
    `RULE(queue_gives_what_was_given_back, 0, !i_block.reuse || i_block.free_chain != chain || given_back_q)
    always_ff @(posedge clk_i) begin
        if (loses) {has_q, given_back_q} <= 2'b01;
        if (gets) {has_q, given_back_q} <= 2'b10;
        if (!rst_ni) {has_q, given_back_q} <= '0;
    end
    `RULE(chain_is_where_it_was_put, 1, !(has_q && given_back_q)
        && (!(has_q || given_back_q) || i_block.used_q > (LogChains + 1)'(chain)))
    `RULE(walk_gets_a_chain_that_no_other_has, 1, !gets || !has_q)
    `RULE(used_chain_has_a_walk_or_is_free, 1, 32'(i_block.used_q) == 32'(walks_q) + 32'(free_q)
        && i_block.used_q <= (LogChains + 1)'(Chains))
    `RULE(first_chains_are_given_in_their_order, 1, i_block.new_chain
        == (i_block.used_q[LogChains] ? i_block.free_chain : i_block.used_q[LogChains-1:0]))

    // ---- Loads, and the page entries of the run.

    `RULE(load_is_read_by_the_first_port, 1, load_ready_o == i_block.read_ready[0][7]
        && i_block.read_valid[0][7] == load_valid_i && i_block.read_address[0][7] == load_address_i)
    `RULE(loaded_line_comes_as_it_is, 1,
        loaded_valid_o == (i_block.come_valid[0] && i_block.come_id[0] == i_block.read_id[0][7])
        && loaded_data_o == i_block.come[0] && loaded_error_o == i_block.come_error[0])
    logic [10:0] entries_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || starts) entries_q <= '0;
        else if (i_block.page_entry_come) entries_q <= entries_q + 1'b1;
    end
    `RULE(page_entries_are_counted, 1, i_block.page_entries_q == entries_q)

    // ---- What the ports say of all their reads.

    `RULE(reads_are_of_single_lines, 1, m_axi_0_arlen == 0 && m_axi_0_arsize == 3'd6 && m_axi_0_arburst == 2'd1
        && m_axi_1_arlen == 0 && m_axi_1_arsize == 3'd6 && m_axi_1_arburst == 2'd1
        && m_axi_0_arprot == 0 && m_axi_1_arprot == 0 && m_axi_0_arcache == 4'b0011 && m_axi_1_arcache == 4'b0011)
    `RULE(lines_are_always_taken, 1, m_axi_0_rready && m_axi_1_rready)

`include "visibility_walk_wires.svh"

    `REACHED(run_ends, done_o)
    `REACHED(run_ends_after_it_was_stopped, done_o && stops_q)
    `REACHED(all_chains_are_in_use, i_block.used_q[LogChains])
    `REACHED(chain_is_used_again, gets && given_back_q)
    `REACHED(loaded_line_comes, loaded_valid_o)
endmodule
