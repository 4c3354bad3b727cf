// SPDX-License-Identifier: MIT OR Apache-2.0
// landing_reader, whatever the engine and the memory in it do: each pin of both has what the contract connects it with.
`include "../rules/rule.svh"
module landing_reader_formal
    import lookup_pkg::*;
    import vector_pkg::*;
#(
    parameter int unsigned LogContexts  = 7,
    parameter int unsigned LandingLines = 32,
    localparam int unsigned AddressBits = 9 + $clog2(LandingLines)
) (
    input logic                   clk_i,
    input logic                   rst_ni,
    input logic [15:0]            idle_time_i,
    input logic [15:0]            flush_time_i,
    input logic [Queues-1:0]      cmd_valid_i,
    input element_t               cmd_i,
    input logic [AddressBits-1:0] line_address_i,
    input context_t               word_number_i,
    input logic                   m_axi_arready,
    input logic                   m_axi_rvalid,
    input logic [7:0]             m_axi_rid,
    input logic [511:0]           m_axi_rdata,
    input logic [1:0]             m_axi_rresp,
    input logic                   m_axi_rlast
);
    logic [Queues-1:0]  cmd_ready_o;
    logic               done_valid_o, landed_o, m_axi_arvalid;
    done_t              done_o;
    logic [511:0]       line_o;
    logic [63:0]        word_o, landed_word_o, m_axi_araddr;
    context_t           landed_number_o;
    sent_t [Queues-1:0] sent_o;
    logic [7:0]         m_axi_arid, m_axi_arlen;

    power_up i_power_up (.*);
    landing_reader #(.LogContexts(LogContexts), .LandingLines(LandingLines)) i_block (.*);

    `define ENGINE i_block.i_engine
    `define MEMORY i_block.i_memory

    both_are_reset_together: assert property (@(posedge clk_i) {`ENGINE.rst_ni, `MEMORY.rst_ni} == {2{rst_ni}});

    // ---- Settings: elements are always accepted, each page of both sides is in a window.

    `RULE(elements_are_accepted_always, 1, `ENGINE.enable_i)
    `RULE(times_are_those_of_the_settings, 1, {`ENGINE.idle_time_i, `ENGINE.flush_time_i} == {idle_time_i, flush_time_i})
    `RULE(windows_have_all_pages_of_the_host, 1, `ENGINE.host_first_i == 0 && `ENGINE.host_last_i == 52'hf_ffff_ffff_ffff)
    `RULE(windows_have_all_pages_behind_the_reader, 1,
        `ENGINE.nic_first_i == 0 && `ENGINE.nic_last_i == 52'hf_ffff_ffff_ffff)

    // ---- Reads and their ends.

    for (genvar n = 0; n < Queues; n++) begin : g_queues
        `RULE(read_goes_to_its_queue, 1, {`ENGINE.s_axis_cmd_tvalid[n], `ENGINE.s_axis_cmd_tready[n]}
            == {cmd_valid_i[n], cmd_ready_o[n]})
        `RULE(read_comes_as_it_is, 1, `ENGINE.s_axis_cmd_tdata[n][159:0]
            == {cmd_i.nic_address, cmd_i.host_address, cmd_i.bytes, cmd_i.token})
        `RULE(nothing_is_written_to_the_host, 1, !`ENGINE.s_axis_cmd_tdata[n][160])
        `RULE(why_a_vector_was_sent_is_told, 1, sent_o[n] == `ENGINE.sent_o[0][n])
    end
    `RULE(ends_go_out_as_they_are, 1, {done_valid_o, done_o.response, done_o.from_queue, done_o.token} == {
        `ENGINE.m_axis_done_tvalid, `ENGINE.m_axis_done_tdata.response, `ENGINE.m_axis_done_tdata.from_queue,
        `ENGINE.m_axis_done_tdata.token})
    `RULE(ends_are_always_taken, 1, `ENGINE.m_axis_done_tready)

    // ---- The port of the host.

    `RULE(reads_go_out_as_they_are, 1, {m_axi_arvalid, m_axi_arid, m_axi_araddr, m_axi_arlen} == {
        `ENGINE.m_axi_arvalid, `ENGINE.m_axi_arid, `ENGINE.m_axi_araddr, `ENGINE.m_axi_arlen})
    `RULE(reads_are_taken_by_the_host, 1, `ENGINE.m_axi_arready == m_axi_arready)
    `RULE(read_data_come_as_they_are, 1, {
        `ENGINE.m_axi_rvalid, `ENGINE.m_axi_rid, `ENGINE.m_axi_rdata, `ENGINE.m_axi_rresp, `ENGINE.m_axi_rlast
    } == {m_axi_rvalid, m_axi_rid, m_axi_rdata, m_axi_rresp, m_axi_rlast})

    // ---- What was read goes to the memory, which answers without an error.

    `RULE(address_goes_to_the_memory, 1, {`MEMORY.s_axi_awvalid, `MEMORY.s_axi_awid, `MEMORY.s_axi_awaddr}
        == {`ENGINE.m_axi_awvalid, `ENGINE.m_axi_awid, `ENGINE.m_axi_awaddr})
    `RULE(data_go_to_the_memory, 1, {
        `MEMORY.s_axi_wvalid, `MEMORY.s_axi_wdata, `MEMORY.s_axi_wstrb, `MEMORY.s_axi_wlast
    } == {`ENGINE.m_axi_wvalid, `ENGINE.m_axi_wdata, `ENGINE.m_axi_wstrb, `ENGINE.m_axi_wlast})
    `RULE(memory_takes_them, 1, {`ENGINE.m_axi_awready, `ENGINE.m_axi_wready}
        == {`MEMORY.s_axi_awready, `MEMORY.s_axi_wready})
    `RULE(answer_comes_from_the_memory, 1, {`ENGINE.m_axi_bvalid, `ENGINE.m_axi_bid, `ENGINE.m_axi_bresp}
        == {`MEMORY.s_axi_bvalid, `MEMORY.s_axi_bid, 2'b00})
    `RULE(answer_is_taken_by_the_engine, 1, `MEMORY.s_axi_bready == `ENGINE.m_axi_bready)

    // ---- What has landed.

    `RULE(lines_and_words_are_asked_of_the_memory, 1, {`MEMORY.line_address_i, `MEMORY.word_number_i}
        == {line_address_i, word_number_i})
    `RULE(lines_and_words_are_those_of_the_memory, 1, {line_o, word_o} == {`MEMORY.line_o, `MEMORY.word_o})
    `RULE(what_has_landed_is_told, 1, {landed_o, landed_number_o, landed_word_o}
        == {`MEMORY.landed_o, `MEMORY.landed_number_o, `MEMORY.landed_word_o})

    `RULE(parameters_are_passed_on, 1, `ENGINE.Ways == 1 && `MEMORY.LogContexts == LogContexts
        && `MEMORY.LandingLines == LandingLines)

    // Of each pair of valid and ready, each of both comes without the other.
    `define EACH(NAME, VALID, READY) \
        `REACHED(NAME``_waits, VALID && !READY) \
        `REACHED(NAME``_does_not_come, !VALID && READY) \
        `REACHED(NAME``_is_taken, VALID && READY)
    `EACH(read_of_a_queue, cmd_valid_i[3], cmd_ready_o[3])
    `EACH(read_of_the_host, m_axi_arvalid, m_axi_arready)
    `EACH(address, `MEMORY.s_axi_awvalid, `ENGINE.m_axi_awready)
    `EACH(beat, `MEMORY.s_axi_wvalid, `ENGINE.m_axi_wready)
    `EACH(answer, `ENGINE.m_axi_bvalid, `MEMORY.s_axi_bready)
    `REACHED(read_ends_with_an_error, done_valid_o && done_o.response == 2'd3)
    `REACHED(word_lands_while_a_read_ends, landed_o && done_valid_o)
endmodule
