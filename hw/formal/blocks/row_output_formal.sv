// SPDX-License-Identifier: MIT OR Apache-2.0
// row_output: the stream of rows keeps the rules; rows leave in their order, each with a header that says what was taken, or
// that a line of it could not be read; reads stay until they are taken, and go to their port. Of a row, which is any, each line that has not
// come is asked for, and given, once and in order.
`include "../rules/rule.svh"
module row_output_formal
    import walk_pkg::*;
#(
    parameter int unsigned LogRows  = 1,
    parameter int unsigned LogLines = 6,
    parameter bit          Follows  = 0,   // a line, where queues keep their words
    localparam logic [7:0] Id       = 8'h80
) (
    input logic              clk_i,
    input logic              rst_ni,
    input logic              row_valid_i,
    input row_t              row_i,
    input logic [2:0]        row_word_i,
    input logic [63:6]       row_address_i,
    input logic              row_has_line_i,
    input logic [511:0]      row_line_i,
    input logic [1:0]        read_ready_i,
    input logic [1:0]        line_valid_i,
    input logic [1:0][7:0]   line_id_i,
    input logic [1:0]        line_error_i,
    input logic [1:0][511:0] line_i,
    input logic              m_axis_row_tready
);
    logic             quiet_o, row_ready_o, m_axis_row_tvalid, m_axis_row_tlast, visible_o, fault_o;
    logic [1:0]       read_valid_o;
    logic [1:0][63:6] read_address_o;
    logic [1:0][7:0]  read_id_o;
    logic [511:0]     m_axis_row_tdata;

    power_up i_power_up (.*);
    row_output #(.LogRows(LogRows), .LogLines(LogLines), .Id(Id)) i_block (.*);
    axi4_stream_rules #(.Width(513)) i_rows (
        .clk_i, .rst_ni, .tvalid(m_axis_row_tvalid), .tready(m_axis_row_tready),
        .payload({m_axis_row_tdata, m_axis_row_tlast}));
    for (genvar port = 0; port < 2; port++) begin : g_ports
        axi4_stream_rules #(.Width(66)) i_reads (
            .clk_i, .rst_ni, .tvalid(read_valid_o[port]), .tready(read_ready_i[port]),
            .payload({read_address_o[port], read_id_o[port]}));
    end

    // ---- Rows, in their order, from taking to the header. One bit, which is any, stands for all.
    localparam int unsigned Width = $bits(row_t);
    logic [LogRows:0] waiting;
    logic [7:0]       place;
    logic [Width-1:0] taken, giving;
    logic             takes, gives;
    arbitrary #(.Width(8)) i_place (.clk_i, .value_o(place));
    place_is_a_bit: assume property (@(posedge clk_i) 32'(place) < Width);
    assign taken  = row_i;
    assign giving = i_block.giving.row;
    assign takes  = row_valid_i && row_ready_o;
    assign gives  = i_block.give;
    ordered_words #(.Width(1), .Most(2**LogRows)) i_words (
        .clk_i, .rst_ni, .push_i(takes), .pushed_i(taken[place]), .pop_i(gives), .popped_i(giving[place]),
        .inside_o(waiting));
    `RULE(rows_are_counted, 1, waiting == i_block.taken_q - i_block.given_q)
    `RULE(row_is_taken_where_there_is_a_place, 1, row_ready_o == (32'(waiting) != 2**LogRows))
    `RULE(quiet_without_rows_and_beats, 1, quiet_o == (waiting == 0 && !m_axis_row_tvalid))
    logic [LogRows-1:0] its_place;
    row_t               kept;
    logic [Width-1:0]   kept_bits;
    assign its_place = i_block.given_q[LogRows-1:0] + i_words.ahead_q[LogRows-1:0];
    assign kept      = row_t'(i_block.i_giving.words[its_place][$bits(row_t)+524:525]);
    assign kept_bits = kept;
    `RULE(row_is_in_its_place, 1, !i_words.followed_q || kept_bits[place] == i_words.word_q)

    // ---- A header is given once for each row, and then as many beats as its bytes fill.
    logic payload_q;   // of the row that waits longest
    logic header, beat;
    assign header = i_block.give_header;
    assign beat   = i_block.payload_q && i_block.free;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) payload_q <= 1'b0;
        else if (i_block.free) payload_q <= !gives && (payload_q || header);
    end
    `RULE(header_comes_before_its_payload, 1, payload_q == i_block.payload_q && (!payload_q || waiting != 0))
    `RULE(row_that_is_given_is_there, 1, !gives || waiting != 0)
    logic header_q, fault_q, beat_q;
    logic [511:0] header_data_q;
    always_ff @(posedge clk_i) begin
        header_q      <= rst_ni && header;
        beat_q        <= rst_ni && beat && !i_block.broken;
        header_data_q <= {296'd0, i_block.broken ? 8'(Bus) : 8'(i_block.giving.row.code), 2'd0,
            i_block.broken ? 14'd0 : i_block.giving.row.bytes, i_block.giving.row.created, i_block.giving.row.record,
            i_block.giving.row.number, i_block.giving.row.vid};
    end
    `RULE(header_says_what_was_taken, 1, !header_q || m_axis_row_tvalid && m_axis_row_tdata == header_data_q)
    `RULE(beat_comes_from_a_header_or_payload, 1, !m_axis_row_tvalid || header_q || beat_q
        || $past(m_axis_row_tvalid && !m_axis_row_tready))
    `RULE(told_once_for_each_header, 1, visible_o + fault_o == 2'(header)
        && (!header || visible_o == (i_block.giving.row.code == Found && !i_block.broken)))
    `RULE(row_begins_when_it_is_whole, 1, !header || i_block.whole_q != i_block.given_q)

    // ---- The last beat is that in which the row ends.
    logic [7:0] left_q;    // beats behind the one that comes next
    always_ff @(posedge clk_i) begin
        if (header) left_q <= 8'((i_block.giving.row.bytes + 14'd63) >> 6) - 1'b1;
        else if (beat) left_q <= left_q - 1'b1;
    end
    logic last_q;
    always_ff @(posedge clk_i) last_q <= i_block.free && (header ? i_block.broken || i_block.giving.lines == 0 : left_q == 0);
    `RULE(beats_are_counted, 1, !i_block.payload_q || left_q == i_block.behind_q)
    `RULE(last_beat_is_marked, 1, !(header_q || beat_q) || m_axis_row_tlast == last_q)

    // ---- Reads: the lines of a row follow each other; even ones on port 0, odd ones on port 1.
    `RULE(reads_are_on_the_port_of_their_line, 1, (!read_valid_o[0] || !read_address_o[0][6])
        && (!read_valid_o[1] || read_address_o[1][6]) && read_id_o == {Id, Id})

    // ---- A row, which is any: what its payload touches, what is asked for it, and what is given of it. Lines are counted on each port.
    typedef logic [LogLines+1:0] lines_t;
    logic             mark, row_starts, is_begun, is_asked, is_front, asks_for_it, row_q, has_line_q, odd;
    logic [LogRows:0] its_row_q;
    logic [13:0]      bytes_q;
    logic [2:0]       word_q;
    logic [63:6]      address_q;
    logic [7:0]       touched, beats, beats_given, missing, asked_q;      // asked for of it
    lines_t [1:0]     popped_q, start_q, its_asks, its_given, its_lines;  // on each port: given of all; asked for before it
    anything #(.Width(1)) i_mark (.clk_i, .value_o(mark));
    // Lines with its number in front, of which the first is on this port or the other.
    function automatic lines_t on_port(input logic [7:0] lines, input logic here);
        on_port = lines_t'((9'(lines) + 9'(here)) >> 1);
    endfunction
    assign row_starts  = takes && mark && !row_q;
    assign touched     = bytes_q == 0 ? '0 : 8'((15'(bytes_q) - 15'd1 + {9'd0, word_q, 3'd0}) >> 6) + 8'd1;
    assign missing     = touched - 8'(has_line_q && bytes_q != 0);
    assign beats       = 8'((15'(bytes_q) + 15'd63) >> 6);
    assign odd         = address_q[6];
    assign is_begun    = i_block.begun_q - i_block.given_q > its_row_q - i_block.given_q;
    assign is_asked    = i_block.asked_q - i_block.given_q > its_row_q - i_block.given_q;
    assign is_front    = row_q && i_block.given_q == its_row_q;
    assign beats_given = beats - 8'd1 - i_block.behind_q;
    assign asks_for_it = row_q && is_begun && !is_asked && i_block.ask;
    always_comb for (int unsigned n = 0; n < 2; n++) begin
        its_asks[n]  = on_port(asked_q, odd == 1'(n));
        its_lines[n] = on_port(missing, odd == 1'(n));
        its_given[n] = on_port(beats_given == 0 ? 8'd0 : beats_given - 8'(has_line_q), odd == 1'(n));
    end
    always_ff @(posedge clk_i) begin
        row_q <= rst_ni && (row_starts || row_q && !(gives && is_front));
        if (row_starts) begin
            {its_row_q, bytes_q, word_q} <= {i_block.taken_q, row_i.bytes, row_word_i};
            {address_q, has_line_q} <= {row_address_i, row_has_line_i};
            asked_q <= '0;
        end else if (asks_for_it) asked_q <= asked_q + 1'b1;
        if (i_block.begin_row && i_block.begun_q == its_row_q) start_q <= i_block.ends;
        for (int unsigned n = 0; n < 2; n++) popped_q[n] <= rst_ni ? popped_q[n] + lines_t'(i_block.pop[n]) : '0;
    end
    `RULE(payload_is_of_one_page, 0, row_i.bytes <= 14'd8128)
    for (genvar n = 0; n < 2; n++) begin : g_its_lines
        `RULE(read_is_of_the_next_line_of_its_row, 1, !(asks_for_it && read_valid_o[n])
            || asked_q < missing && read_address_o[n] == address_q + 58'(asked_q))
        `RULE(all_its_lines_are_asked_for, 1, !(row_q && is_asked) || asked_q == missing)
        `RULE(its_lines_are_given, 1, !(is_front && gives) || popped_q[n] + lines_t'(i_block.pop[n]) == start_q[n] + its_lines[n])
        `RULE(line_that_is_given_was_asked_for, 1, !(is_front && i_block.pop[n]) || i_block.held_q[n] != 0)
        // This is what is proven here of any row, at the end of the one before it, and of all before it.
        `RULE(lines_before_it_were_given, 0, !(is_front && header) || popped_q[n] == start_q[n])
        `RULE(others_are_given_their_own_lines, 0, !i_block.pop[n] || is_front
            || i_block.held_q[n] > (row_q && is_begun ? i_block.asks_q[n] - start_q[n] : '0))

        `RULE(held_lines_are_those_not_given, 1, i_block.held_q[n] == i_block.asks_q[n] - popped_q[n])
        `RULE(its_asks_are_counted, 1, !(row_q && is_begun) || (is_asked || i_block.asks_q[n] == start_q[n] + its_asks[n])
            && i_block.asks_q[n] - start_q[n] >= its_asks[n])
        `RULE(its_lines_are_held, 1, !(row_q && is_begun) || i_block.asks_q[n] - start_q[n] <= lines_t'(2**LogLines + 64))
        `RULE(lines_behind_its_start_are_held, 1, !(row_q && is_begun) || is_front && i_block.payload_q
            || i_block.asks_q[n] - start_q[n] <= i_block.held_q[n])
        `RULE(given_lines_are_counted, 1, !(is_front && i_block.payload_q) || popped_q[n] == start_q[n] + its_given[n])
    end
    logic [LogRows-1:0] its_slot;
    assign its_slot = its_row_q[LogRows-1:0];
    localparam int unsigned Waiting = $bits(row_t) + 13, Carried = 512;
    logic [Waiting-1:0] waits;
    assign waits = i_block.i_giving.words[its_slot][Carried+:Waiting];
    `RULE(row_is_followed_until_it_is_given, 1, !row_q || bytes_q <= 14'd8128 && its_row_q - i_block.given_q < i_block.taken_q - i_block.given_q)
    `RULE(row_waits_to_be_asked_for, 1, !(row_q && !is_begun)
        || asked_q == 0 && i_block.i_asking.words[its_slot] == {has_line_q, touched, address_q})
    `RULE(row_waits_to_be_given, 1, !row_q || waits[9:0] == {touched, has_line_q, odd} && waits[12:10] == word_q
        && row_t'(waits[Waiting-1:13]).bytes == bytes_q)
    `RULE(what_is_left_is_of_its_row, 1, !(row_q && is_begun && !is_asked) || i_block.left_q == missing - asked_q
        && asked_q <= missing && i_block.address_q == address_q + 58'(asked_q))
    `RULE(beats_of_its_row_are_counted, 1, !(is_front && i_block.payload_q) || touched != 0 && i_block.behind_q < beats
        && i_block.first_q == (beats_given == 0) && i_block.odd_q == (odd ^ has_line_q ^ beats_given[0])
        && i_block.line_behind_q == (touched != beats) && touched - beats <= 8'd1)

    // ---- What induction needs.
    `RULE(counts_follow_each_other, 1, i_block.taken_q - i_block.given_q <= (LogRows+1)'(2**LogRows)
        && i_block.begun_q - i_block.given_q <= i_block.taken_q - i_block.given_q
        && i_block.asked_q - i_block.given_q <= i_block.begun_q - i_block.given_q
        && i_block.whole_q - i_block.given_q <= i_block.asked_q - i_block.given_q
        && i_block.begun_q - i_block.asked_q == (LogRows+1)'(i_block.asking_q))
    `RULE(payload_is_of_a_whole_row, 1, !i_block.payload_q || i_block.whole_q != i_block.given_q)
    `RULE(left_is_told, 1, i_block.any_left_q == (i_block.asking_q && i_block.left_q != 0))

    `REACHED(row_without_payload_is_given, header && i_block.give && visible_o)
    `REACHED(payload_is_given, beat && i_block.give && !i_block.broken)
    `REACHED(broken_row_is_given, header && i_block.broken)

    // ---- A line that is asked for, which is any: its row begins when it has come, and is a fault if it could not be read.
    if (Follows) begin : g_line
        logic             port, starts, comes, is_whole, follows_q, came_q, bad_q;
        logic [LogRows:0] line_row_q;
        lines_t           number_q, behind, left, earlier;
        arbitrary #(.Width(1)) i_port (.clk_i, .value_o(port));
        assign starts = read_valid_o[port] && read_ready_i[port] && mark && !follows_q;
        assign comes  = follows_q && !came_q && line_valid_i[port] && line_id_i[port] == Id && i_block.come_q[port] == number_q;
        always_ff @(posedge clk_i) begin
            follows_q <= rst_ni && (starts || follows_q && !(gives && i_block.given_q == line_row_q));
            came_q    <= !starts && (came_q || comes);
            if (comes) bad_q <= line_error_i[port];
            if (starts) {line_row_q, number_q} <= {i_block.asked_q, i_block.asks_q[port]};
        end
        assign is_whole = i_block.whole_q - i_block.given_q > line_row_q - i_block.given_q;
        assign behind   = i_block.asks_q[port] - number_q;              // asked for since, and it
        assign earlier = number_q - i_block.come_q[port];              // that come before it
        assign left     = i_block.asks_q[port] - i_block.come_q[port];  // that have not come
        `RULE(row_begins_when_its_lines_have_come, 1, !(follows_q && header && i_block.given_q == line_row_q) || came_q)
        `RULE(row_with_a_line_that_fails_is_a_fault, 1, !(follows_q && header && i_block.given_q == line_row_q && bad_q)
            || fault_o && i_block.broken)
        `RULE(line_is_given_with_its_row, 0, !(follows_q && !is_whole && i_block.pop[port]) || i_block.held_q[port] > behind)

        `RULE(row_is_inside, 1, !follows_q || line_row_q - i_block.given_q < i_block.begun_q - i_block.given_q)
        `RULE(line_is_held, 1, !follows_q || is_whole || behind != 0 && behind <= i_block.held_q[port])
        `RULE(line_comes_in_its_turn, 1, !follows_q || is_whole || came_q != (earlier < left))
        `RULE(lines_end_behind_it, 1, !follows_q || is_whole || line_row_q - i_block.given_q >= i_block.asked_q - i_block.given_q
            || lines_t'(i_block.i_ends.words[line_row_q[LogRows-1:0]][port*(LogLines+2)+:LogLines+2] - number_q) - 1'b1 < behind)
        `RULE(whole_row_has_come, 1, !(follows_q && is_whole) || came_q)
        `RULE(failure_is_kept, 1, !(follows_q && came_q && bad_q) || i_block.broken_q[line_row_q[LogRows-1:0]])
        logic [1:0][2**LogLines-1:0][LogRows-1:0] rows;
        assign rows = {i_block.g_ports[1].i_rows.g_all.words_q, i_block.g_ports[0].i_rows.g_all.words_q};
        `RULE(its_row_is_kept, 1, !follows_q || came_q || rows[port][earlier[LogLines-1:0]] == line_row_q[LogRows-1:0])
        for (genvar n = 0; n < 2; n++) begin : g_counts
            lines_t owed, come_q;
            assign owed = i_block.asks_q[n] - come_q;
            always_ff @(posedge clk_i) come_q <= rst_ni ? come_q + lines_t'(line_valid_i[n] && line_id_i[n] == Id) : '0;
            `RULE(line_was_asked_for, 0, !(line_valid_i[n] && line_id_i[n] == Id) || owed != 0)
            `RULE(lines_that_came_are_counted, 1, i_block.come_q[n] == come_q)
            `RULE(line_that_is_given_has_come, 0, !i_block.pop[n] || i_block.held_q[n] > owed)
            `RULE(few_are_owed, 1, owed <= i_block.held_q[n] && i_block.held_q[n] <= lines_t'(2**LogLines))
            `RULE(lines_are_those_that_came, 1, lines_t'((LogLines+1)'(i_block.g_ports[n].i_lines.pushed_q
                - i_block.g_ports[n].i_lines.popped_q)) == i_block.held_q[n] - owed)
            `RULE(counts_are_those_of_the_queue, 1, i_block.g_ports[n].i_rows.pushed_q == i_block.asks_q[n][LogLines:0]
                && i_block.g_ports[n].i_rows.popped_q == i_block.come_q[n][LogLines:0])
        end
        `REACHED(line_fails, follows_q && came_q && bad_q && header && i_block.given_q == line_row_q)
    end
endmodule
