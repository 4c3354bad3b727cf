// SPDX-License-Identifier: MIT OR Apache-2.0
// version_walk: its own assertions; what it has decided of a version waits for the row to be taken; what it asks for
// holds until it is.
`include "../rules/rule.svh"
module version_walk_formal
    import walk_pkg::*;
#(
    parameter int unsigned LogChains = 2
) (
    input logic                 clk_i,
    input logic                 rst_ni,
    input logic [63:0]          snapshot_i,
    input logic                 payloads_i,
    input logic                 begin_valid_i,
    input logic [LogChains-1:0] begin_chain_i,
    input logic [31:0]          begin_vid_i,
    input logic                 enter_valid_i,
    input logic [LogChains-1:0] enter_chain_i,
    input logic [63:0]          enter_record_i,
    input logic                 line_valid_i,
    input logic [LogChains-1:0] line_chain_i,
    input logic [63:6]          line_address_i,
    input logic [63:6]          line_page_i,
    input logic [15:0]          line_lines_i,
    input logic                 fault_valid_i,
    input logic [LogChains-1:0] fault_chain_i,
    input code_t                fault_code_i,
    input logic                 row_ready_i,
    input logic [1:0]           pointer_read_ready_i,
    input logic [1:0]           header_read_ready_i,
    input logic [1:0]           come_valid_i,
    input logic [1:0][7:0]      come_id_i,
    input logic [1:0]           come_error_i,
    input logic [1:0][511:0]    come_i
);
    logic                 hop_valid_o, end_valid_o, row_valid_o, row_has_line_o, looked_o;
    logic [LogChains-1:0] hop_chain_o, end_chain_o;
    logic [63:0]          hop_record_o;
    row_t                 row_o;
    logic [2:0]           row_word_o;
    logic [63:6]          row_address_o;
    logic [511:0]         row_line_o;
    logic [1:0]           pointer_read_valid_o, header_read_valid_o;
    logic [1:0][63:6]     pointer_read_address_o, header_read_address_o;
    logic [1:0][7:0]      pointer_read_id_o, header_read_id_o;

    power_up i_power_up (.*);
    version_walk #(.LogChains(LogChains)) i_block (.*);

    // A walk waits a clock behind its line pointer, and, once, behind the last line of its version.
    for (genvar n = 0; n < 2**LogChains; n++) begin : g_walks
        logic [1:0] comes, comes_q, misses_q, came, pointers, versions;
        logic       at_version_q;
        for (genvar port = 0; port < 2; port++) begin : g_ports
            assign comes[port]    = come_valid_i[port] && come_id_i[port] == 8'(n);
            assign came[port]     = i_block.came_q[port] && i_block.comer_q[port] == LogChains'(n);
            assign pointers[port] = i_block.g_ports[port].i_pointers.push_i
                && i_block.g_ports[port].i_pointers.data_i == LogChains'(n);
            assign versions[port] = i_block.g_ports[port].i_versions.push_i
                && i_block.g_ports[port].i_versions.data_i == LogChains'(n);
        end
        always_ff @(posedge clk_i) begin
            comes_q      <= rst_ni ? comes : '0;
            misses_q     <= {i_block.awaits_q[1][n], i_block.awaits_q[0][n]} & ~comes;
            at_version_q <= i_block.at_version_q[n];
        end
        `RULE(what_has_come_is_known, 1, came == comes_q)
        `RULE(it_stays_where_it_was, 1, comes_q == 0 || i_block.at_version_q[n] == at_version_q
            && {i_block.awaits_q[1][n], i_block.awaits_q[0][n]} == misses_q)
        `RULE(pointer_waits_when_it_has_come, 1, pointers == (at_version_q ? 2'd0 : comes_q))
        `RULE(version_waits_when_all_has_come, 1,
            versions == (!at_version_q || misses_q != 0 ? 2'd0 : comes_q[0] ? 2'd1 : comes_q))
    end

    // The settings of a job stay.
    `RULE(settings_stay, 0, !$past(rst_ni) || $stable({snapshot_i, payloads_i}))

    for (genvar port = 0; port < 2; port++) begin : g_ports
        axi4_stream_rules #(.Width(66), .Dense(0)) i_pointers (
            .clk_i, .rst_ni, .tvalid(pointer_read_valid_o[port]), .tready(pointer_read_ready_i[port]),
            .payload({pointer_read_id_o[port], pointer_read_address_o[port]}));
        axi4_stream_rules #(.Width(66), .Dense(0)) i_headers (
            .clk_i, .rst_ni, .tvalid(header_read_valid_o[port]), .tready(header_read_ready_i[port]),
            .payload({header_read_id_o[port], header_read_address_o[port]}));
        // Each read that waits is of this port, which is bit 6 of its address.
        for (genvar n = 0; n < 2**LogChains; n++) begin : g_words
            logic [LogChains:0] pointers, headers;
            assign pointers = i_block.g_ports[port].i_pointer_reads.pushed_q
                - i_block.g_ports[port].i_pointer_reads.popped_q;
            assign headers  = i_block.g_ports[port].i_header_reads.pushed_q
                - i_block.g_ports[port].i_header_reads.popped_q;
            logic [LogChains-1:0] pointer_place, header_place;
            assign pointer_place = LogChains'(n) - i_block.g_ports[port].i_pointer_reads.popped_q[LogChains-1:0];
            assign header_place  = LogChains'(n) - i_block.g_ports[port].i_header_reads.popped_q[LogChains-1:0];
            `RULE(no_more_reads_wait_than_fit, 1, 32'(pointers) <= 2**LogChains && 32'(headers) <= 2**LogChains)
            `RULE(pointer_read_is_of_its_port, 1, (LogChains + 1)'(pointer_place) >= pointers
                || i_block.g_ports[port].i_pointer_reads.i_words.words[n][0] == 1'(port))
            `RULE(header_read_is_of_its_port, 1, (LogChains + 1)'(header_place) >= headers
                || i_block.g_ports[port].i_header_reads.i_words.words[n][0] == 1'(port))
        end
    end
    // No row is newer than the snapshot, and none goes on that is not.
    `RULE(row_is_seen_by_the_snapshot, 1, !row_valid_o || row_o.code != Found || row_o.created <= snapshot_i)
    `RULE(only_a_newer_version_goes_on, 1, !hop_valid_o || i_block.created_q > snapshot_i)
    `RULE(fault_has_no_payload, 1, !row_valid_o || row_o.code == Found || row_o.bytes == 0)
    `REACHED(row_waits, row_valid_o && !row_ready_i)
    `REACHED(walk_goes_on, hop_valid_o)
endmodule
