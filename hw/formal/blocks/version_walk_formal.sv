// SPDX-License-Identifier: MIT OR Apache-2.0
// version_walk: its own assertions; what it asks for holds until it is taken. Of any one walk: it reads its line pointer's line and
// those of its header, each once, and what becomes of it is what they say, with the payload where it begins.
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

    // The two ports take turns: none goes twice while the other waits, with line pointers, and with versions where no fault
    // goes between, which takes the turn of the one that is next.
    logic [1:0]      turns, between;
    logic [1:0][1:0] pops, waits, passed_q;
    assign between = {i_block.pop_fault, 1'b0};
    assign turns = {i_block.version_turn_q, i_block.pointer_turn_q};
    assign pops  = {i_block.pop_version, i_block.pop_pointer};
    assign waits = {i_block.version_waits, i_block.pointer_waits};
    for (genvar n = 0; n < 2; n++) begin : g_turns
        for (genvar port = 0; port < 2; port++) begin : g_ports
            always_ff @(posedge clk_i) passed_q[n][port] <= rst_ni && waits[n][port] && !pops[n][port] && !between[n]
                && (passed_q[n][port] || pops[n][1-port]);
            `RULE(ports_take_turns, 1, !(passed_q[n][port] && pops[n][1-port]))
            `RULE(port_that_was_passed_has_the_turn, 1, !passed_q[n][port] || waits[n][port] && turns[n] == 1'(port))
        end
        `RULE(one_port_goes_at_a_time, 1, (pops[n] & ~waits[n]) == 0 && !(&pops[n]))
    end

    // The settings of a job stay while it has walks.
    `RULE(settings_stay, 0, !$past(rst_ni && i_block.walks_q != 0) || $stable({snapshot_i, payloads_i}))

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
    `REACHED(row_waits, row_valid_o && !row_ready_i)
    `REACHED(walk_goes_on, hop_valid_o)

    // ---- One walk, which is any, and what its neighbours do with it.

    typedef logic [LogChains-1:0] chain_t;
    localparam int unsigned Chains = 2**LogChains;
    chain_t     its;
    logic       begins, enters, lines, faults, hops, ends, under_way_q, entered_q, inside_q;
    logic [1:0] comes, asks_pointer, asks_header, owed_q;
    arbitrary #(.Width(LogChains)) i_its (.clk_i, .value_o(its));
    assign begins = begin_valid_i && begin_chain_i == its;
    assign enters = enter_valid_i && enter_chain_i == its;
    assign lines  = line_valid_i && line_chain_i == its;
    assign faults = fault_valid_i && fault_chain_i == its;
    assign hops   = hop_valid_o && hop_chain_o == its;
    assign ends   = end_valid_o && end_chain_o == its;
    for (genvar port = 0; port < 2; port++) begin : g_its_reads
        assign comes[port]        = come_valid_i[port] && come_id_i[port] == 8'(its);
        assign asks_pointer[port] = pointer_read_valid_o[port] && pointer_read_ready_i[port] && pointer_read_id_o[port] == 8'(its);
        assign asks_header[port]  = header_read_valid_o[port] && header_read_ready_i[port] && header_read_id_o[port] == 8'(its);
    end
    always_ff @(posedge clk_i) begin
        under_way_q <= rst_ni && (begins || under_way_q && !ends);
        entered_q   <= rst_ni && (enters || entered_q && !hops && !ends);
        inside_q    <= rst_ni && (lines || faults || inside_q && !hops && !ends);
        owed_q      <= rst_ni ? (asks_pointer | asks_header | owed_q & ~comes) : '0;
    end
    // It is outside until page_lookup has answered, once, as is proven there; and each port answers what was asked of it.
    `RULE(walk_begins_once, 0, !begins || !under_way_q)
    `RULE(walk_enters_once, 0, !enters || begins || under_way_q && !inside_q && !entered_q)
    `RULE(walk_is_answered_once, 0, !(lines || faults) || entered_q && !inside_q && !(lines && faults))
    `RULE(line_was_asked_for, 0, (comes & ~owed_q) == 0)

    // ---- What is known of it, and what follows.

    logic             first_q, by_fault_q, pointer_came_q, pointer_error_q;
    logic [1:0]       header_came_q;
    logic [31:0]      vid_q, word_q;
    logic [63:0]      record_q, newer_q;
    logic [63:6]      pointer_line_q, page_q;
    logic [15:0]      lines_q;
    code_t            fault_q;
    logic [1:0][512:0] lines_of_header_q;
    logic [63:6]      address;
    logic [13:0]      offset, bytes;
    logic             fits, two, has_two;
    assign offset  = word_q[13:0];
    assign bytes   = word_q[27:14];
    assign fits    = offset[2:0] == 0 && 19'(offset) >= 19'd64 + 19'(lines_q) * 19'd4
        && 16'(offset) + 16'd32 + ((16'(bytes) + 16'd7) & 16'hFFF8) <= 16'd8192;
    assign address = page_q + 58'(offset >> 6);
    assign two     = 8'(offset[5:0]) + 8'd32 > 8'd64;
    logic [1:0]   needed, missing;
    assign needed  = two ? 2'b11 : address[6] ? 2'b10 : 2'b01;
    assign missing = needed & ~header_came_q;
    always_ff @(posedge clk_i) begin
        if (begins) {vid_q, first_q} <= {begin_vid_i, 1'b1};
        if (enters) record_q <= enter_record_i;
        if (lines) {pointer_line_q, page_q, lines_q} <= {line_address_i, line_page_i, line_lines_i};
        if (faults) fault_q <= fault_code_i;
        if (lines || faults) by_fault_q <= faults;
        for (int unsigned port = 0; port < 2; port++) begin
            if (comes[port] && !pointer_came_q) begin
                word_q          <= come_i[port][32*record_q[3:0]+:32];
                pointer_error_q <= come_error_i[port];
            end
            if (comes[port] && pointer_came_q) lines_of_header_q[port] <= {come_error_i[port], come_i[port]};
        end
        pointer_came_q <= !lines && (pointer_came_q || comes != 0);
        header_came_q  <= lines || !pointer_came_q ? '0 : header_came_q | comes;
        if (hops) {newer_q, first_q} <= {i_block.created_q, 1'b0};
        if (!rst_ni) {pointer_came_q, header_came_q} <= '0;
    end

    // The version, from the lines that have come.
    logic [512:0]      first_line, second_line;
    logic [1023:0]     from_header;
    logic [63:0]       created, predecessor;
    logic [31:0]       vid, number;
    code_t             code;
    logic              fails, goes_on, is_row;
    row_t              row;
    assign first_line  = lines_of_header_q[address[6]];
    assign second_line = lines_of_header_q[!address[6]];
    assign from_header = {second_line[511:0], first_line[511:0]} >> {offset[5:3], 6'd0};
    assign created     = from_header[63:0];
    assign predecessor = from_header[191:128];
    assign {number, vid} = from_header[255:192];
    assign fails = pointer_error_q || !fits || first_line[512] || two && second_line[512];
    always_comb begin
        if (by_fault_q) code = fault_q;
        else if (fails) code = !pointer_error_q && !fits ? BadLine : Bus;
        else if (vid != vid_q) code = OtherTuple;
        else if (!first_q && created >= newer_q || first_q && created == '1) code = NotOlder;
        else code = Found;
    end
    assign goes_on = code == Found && created > snapshot_i && predecessor != 0;
    assign is_row  = code != Found || created <= snapshot_i && !word_q[28];
    assign row     = code != Found ? '{code: code, record: record_q, vid: vid_q, default: '0}
        : '{code: Found, bytes: payloads_i ? bytes : '0, created: created, record: record_q, number: number, vid: vid_q};
    // The payload begins behind the header, and some of it has come with that unless it begins a line.
    logic [63:3] payload;
    assign payload = {page_q, 3'd0} + 61'(offset >> 3) + 61'd4;

    `RULE(walk_that_ends_or_goes_on_is_inside, 1, !(hops || ends) || inside_q)
    `RULE(walk_goes_on_to_its_predecessor, 1, !hops || goes_on && hop_record_o == predecessor)
    `RULE(walk_ends_where_it_does_not_go_on, 1, !ends || !goes_on && row_valid_o == is_row)
    `RULE(row_is_what_the_version_says, 1, !(row_valid_o && end_chain_o == its) || inside_q && is_row && row_o == row)
    `RULE(payload_is_where_it_begins, 1, !(row_valid_o && end_chain_o == its && row_o.code == Found)
        || row_word_o == payload[5:3] && row_has_line_o == (payload[5:3] != 0)
            && row_address_o == payload[63:6] + 58'(row_has_line_o))
    `RULE(line_with_the_payload_is_given, 1, !(row_valid_o && end_chain_o == its && row_o.code == Found && row_has_line_o)
        || row_line_o == lines_of_header_q[payload[6]][511:0])
    `RULE(row_holds_until_it_is_taken, 1, !$past(rst_ni && row_valid_o && !row_ready_i && end_chain_o == its)
        || row_valid_o && end_chain_o == its && $stable({row_o, row_word_o, row_address_o, row_has_line_o, row_line_o}))
    for (genvar port = 0; port < 2; port++) begin : g_asked
        `RULE(pointer_line_is_read, 1, !(pointer_read_valid_o[port] && pointer_read_id_o[port] == 8'(its))
            || inside_q && !pointer_came_q && pointer_read_address_o[port] == pointer_line_q)
        `RULE(header_is_read, 1, !(header_read_valid_o[port] && header_read_id_o[port] == 8'(its))
            || inside_q && needed[port] && !header_came_q[port] && !owed_q[port]
                && header_read_address_o[port] == (address[6] == 1'(port) ? address : address + 58'd1))
    end
    `REACHED(version_goes_on, hops)
    `REACHED(header_of_two_lines_is_found, row_valid_o && end_chain_o == its && row_o.code == Found && two)

    // ---- Where it is. These are what induction needs to be told.

    function automatic logic [Chains-1:0] there(input logic [LogChains:0] pushed, input logic [LogChains:0] popped);
        for (int unsigned w = 0; w < Chains; w++) begin
            there[w] = {1'b0, chain_t'(w) - popped[LogChains-1:0]} < (LogChains + 1)'(pushed - popped);
        end
    endfunction
    logic [1:0][Chains-1:0] in_reads, in_headers, in_pointers, in_versions;
    logic [1:0]             comes_now;
    logic [Chains-1:0]      in_faults;
    logic                   at_version, is_pointed, is_judged, is_cut;
    for (genvar port = 0; port < 2; port++) begin : g_there
        logic [Chains-1:0] reads, headers, pointers, versions;
        assign reads    = there(i_block.g_ports[port].i_pointer_reads.pushed_q, i_block.g_ports[port].i_pointer_reads.popped_q);
        assign headers  = there(i_block.g_ports[port].i_header_reads.pushed_q, i_block.g_ports[port].i_header_reads.popped_q);
        assign pointers = there(i_block.g_ports[port].i_pointers.pushed_q, i_block.g_ports[port].i_pointers.popped_q);
        assign versions = there(i_block.g_ports[port].i_versions.pushed_q, i_block.g_ports[port].i_versions.popped_q);
        for (genvar w = 0; w < Chains; w++) begin : g_words
            assign in_reads[port][w]    = reads[w] && i_block.g_ports[port].i_pointer_reads.i_words.words[w][58+:LogChains] == its;
            assign in_headers[port][w]  = headers[w] && i_block.g_ports[port].i_header_reads.i_words.words[w][58+:LogChains] == its;
            assign in_pointers[port][w] = pointers[w] && i_block.g_ports[port].i_pointers.i_words.words[w] == its;
            assign in_versions[port][w] = versions[w] && i_block.g_ports[port].i_versions.i_words.words[w] == its;
            `RULE(its_pointer_read_is_kept, 1, !in_reads[port][w]
                || i_block.g_ports[port].i_pointer_reads.i_words.words[w][57:0] == pointer_line_q)
            `RULE(its_header_read_is_kept, 1, !in_headers[port][w] || i_block.g_ports[port].i_header_reads.i_words.words[w][57:0]
                == (address[6] == 1'(port) ? address : address + 58'd1))
        end
        assign comes_now[port] = i_block.came_q[port] && i_block.comer_q[port] == its;
        `RULE(header_is_asked_once, 1, $onehot0({in_headers[port], owed_q[port] && at_version, header_came_q[port]}))
        `RULE(header_is_asked_where_it_is_needed, 1, !(inside_q && !by_fault_q)
            || (at_version && needed[port]) == ({in_headers[port], owed_q[port] && at_version, header_came_q[port]} != 0))
        `RULE(missing_header_is_known, 1, i_block.awaits_q[port][its] == (at_version && inside_q && !by_fault_q && missing[port]))
        `RULE(header_is_kept, 1, !header_came_q[port]
            || i_block.g_ports[port].i_version_lines.words[its] == lines_of_header_q[port])
        `RULE(pointer_is_of_its_port, 1, in_pointers[port] == 0 || pointer_line_q[6] == 1'(port))
        `RULE(pointer_comes_from_its_port, 1, !(owed_q[port] && !at_version) || pointer_line_q[6] == 1'(port))
    end
    assign at_version = i_block.at_version_q[its];
    for (genvar w = 0; w < Chains; w++) begin : g_faults
        logic [Chains-1:0] is_there;
        assign is_there     = there(i_block.i_faults.pushed_q, i_block.i_faults.popped_q);
        assign in_faults[w] = is_there[w] && i_block.i_faults.i_words.words[w][4+:LogChains] == its;
        `RULE(its_fault_is_kept, 1, !in_faults[w] || i_block.i_faults.i_words.words[w][3:0] == code)
    end
    logic [4*Chains+8:0] places;
    logic                is_pointing;
    assign is_pointing = i_block.pointing_valid_q && i_block.pointing_q == its;
    assign is_pointed  = i_block.pointed_q && i_block.pointed_chain_q == its;
    assign is_cut      = i_block.cut_q.valid && i_block.cut_q.chain == its;
    assign is_judged   = i_block.judged_q.valid && i_block.judged_q.chain == its;
    assign places = {
        in_reads[0] | in_reads[1], owed_q != 0 && !at_version, comes_now != 0 && !at_version, in_pointers[0] | in_pointers[1],
        is_pointing, is_pointed, i_block.awaits_q[0][its] || i_block.awaits_q[1][its],
        comes_now != 0 && at_version && !i_block.awaits_q[0][its] && !i_block.awaits_q[1][its],
        in_versions[0] | in_versions[1], i_block.fault_came_q && i_block.fault_chain_q == its, in_faults, is_cut, is_judged
    };
    `RULE(walk_is_in_one_place, 1, $onehot0(places) && (in_reads[0] & in_reads[1]) == 0
        && (in_pointers[0] & in_pointers[1]) == 0 && (in_versions[0] & in_versions[1]) == 0)
    `RULE(walk_inside_is_in_some_place, 1, inside_q == (places != 0))
    `RULE(walk_is_known, 1, i_block.walks_q[its] == under_way_q && (!entered_q || under_way_q) && (!inside_q || entered_q))
    `RULE(what_it_began_with_is_kept, 1, !under_way_q
        || i_block.i_vids.words[its] == vid_q && i_block.first_q[its] == first_q && (first_q || i_block.i_newer.words[its] == newer_q))
    `RULE(its_record_is_kept, 1, !entered_q || i_block.i_records_of_pointers.words[its] == record_q
        && i_block.i_records_of_versions.words[its] == record_q)
    `RULE(its_page_is_kept, 1, !inside_q || by_fault_q || i_block.i_pages_of_pointers.words[its] == {lines_q, page_q})

    logic points, is_found;
    assign points   = inside_q && !by_fault_q && !at_version;
    assign is_found = !by_fault_q && !fails;
    `RULE(pointer_has_come_when_it_is_looked_at, 1, !(inside_q && !by_fault_q)
        || pointer_came_q != (in_reads != 0 || owed_q != 0 && !at_version))
    `RULE(header_is_of_a_good_pointer, 1, !(inside_q && !by_fault_q && at_version) || pointer_came_q && !pointer_error_q && fits)
    `RULE(walk_with_a_fault_is_in_few_places, 1, !(inside_q && by_fault_q)
        || i_block.fault_came_q && i_block.fault_chain_q == its || in_faults != 0 || is_cut || is_judged)
    `RULE(reads_are_of_a_walk_without_a_fault, 1, owed_q == 0 && in_headers == 0 || inside_q && !by_fault_q)
    `RULE(walk_before_its_version_is_in_few_places, 1, !points || in_headers == 0 && in_versions == 0
        && i_block.awaits_q[0][its] == 0 && i_block.awaits_q[1][its] == 0
        && !(i_block.fault_came_q && i_block.fault_chain_q == its))
    `RULE(walk_at_its_version_is_in_few_places, 1, !(inside_q && !by_fault_q && at_version) || in_reads == 0 && in_pointers == 0
        && !is_pointing && !is_pointed && in_faults == 0)
    `RULE(walk_at_a_fault_of_its_pointer, 1, !(points && (in_faults != 0 || is_cut || is_judged)) || pointer_error_q || !fits)
    `RULE(pointer_is_kept, 1, !(inside_q && !by_fault_q && at_version)
        || i_block.i_pointers_kept.words[its] == {first_q, address, word_q[28:0]})
    logic [1:0][512:0] lines_of_pointers;
    assign lines_of_pointers = {i_block.g_ports[1].i_pointer_lines.words[its], i_block.g_ports[0].i_pointer_lines.words[its]};
    `RULE(line_of_its_pointer_is_kept, 1, !(comes_now != 0 && !at_version || in_pointers != 0 || is_pointing)
        || lines_of_pointers[pointer_line_q[6]][512] == pointer_error_q
            && lines_of_pointers[pointer_line_q[6]][32*record_q[3:0]+:32] == word_q)
    `RULE(pointer_came_on_its_port, 1, !(comes_now != 0 && !at_version) || comes_now == (pointer_line_q[6] ? 2'b10 : 2'b01))
    `RULE(pointing_is_known, 1, !is_pointing || i_block.pointing_port_q == pointer_line_q[6])
    `RULE(pointed_is_known, 1, !is_pointed || i_block.pointed_word_q == word_q && i_block.pointed_error_q == pointer_error_q
        && i_block.pointed_page_q == page_q && i_block.too_many_lines_q == (lines_q >= 16'd2048)
        && (lines_q >= 16'd2048 || i_block.lines_end_q == 14'd64 + 14'(lines_q) * 14'd4))
    `RULE(fault_is_known, 1, !(i_block.fault_came_q && i_block.fault_chain_q == its) || i_block.fault_code_q == fault_q && by_fault_q)
    `RULE(fault_is_none_other, 1, !(inside_q && by_fault_q) || fault_q != Found)
    `RULE(headers_have_come, 1, !(in_versions != 0 || (is_cut || is_judged) && inside_q && !by_fault_q && at_version) || missing == 0)
    `RULE(cut_is_known, 1, !is_cut || i_block.cut_q.vid == vid_q && i_block.cut_q.record == record_q
        && i_block.cut_q.code == (by_fault_q || !at_version ? code : Found)
        && (by_fault_q || !at_version || i_block.cut_q.newer == (first_q ? '1 : newer_q) && i_block.cut_q.pointer == word_q[28:0]
            && i_block.cut_q.address == address
            && (!needed[0] || i_block.cut_lines_q[0] == lines_of_header_q[0])
            && (!needed[1] || i_block.cut_lines_q[1] == lines_of_header_q[1])))
    `RULE(judged_is_known, 1, !is_judged || i_block.judged_q.vid == vid_q && i_block.judged_q.record == record_q
        && i_block.judged_q.code == (is_found ? Found : code)
        && (!is_found || i_block.judged_q.newer == (first_q ? '1 : newer_q) && i_block.judged_q.pointer == word_q[28:0]
            && i_block.judged_q.address == address && i_block.created_q == created && i_block.predecessor_q == predecessor
            && i_block.vid_and_number_q == {number, vid}
            && (payload[5:3] == 0 || row_line_o == lines_of_header_q[payload[6]][511:0])))
endmodule
