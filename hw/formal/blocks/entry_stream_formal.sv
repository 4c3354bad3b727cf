// SPDX-License-Identifier: MIT OR Apache-2.0
// entry_stream: entries come in their order from their lines, all of them if no line is broken; lines are asked for
// once, in order.
`include "../rules/rule.svh"
module entry_stream_formal #(
    parameter int unsigned LogLines = 2
) (
    input logic         clk_i,
    input logic         rst_ni,
    input logic         start_i,
    input logic         stop_i,
    input logic [63:4]  address_i,
    input logic [31:0]  count_i,
    input logic         read_ready_i,
    input logic         line_valid_i,
    input logic [7:0]   line_id_i,
    input logic         line_error_i,
    input logic [511:0] line_i,
    input logic         pop_i
);
    localparam logic [7:0] Id = 8'h81;
    logic         read_valid_o, valid_o, ended_o, broken_o, quiet_o;
    logic [63:6]  read_address_o;
    logic [127:0] entry_o;

    power_up i_power_up (.*);
    entry_stream #(.Id(Id), .LogLines(LogLines)) i_block (.*);
    `RULE(starts_when_quiet, 0, !start_i || quiet_o && (ended_o || broken_o))

    // What counts of the outputs.
    logic [190:0] seen;
    assign seen = {read_valid_o, read_valid_o ? read_address_o : '0, valid_o, valid_o ? entry_o : '0, ended_o, broken_o,
        quiet_o};

    // Lines that were asked for and have not come.
    logic            asks, comes;
    logic [LogLines:0] owed_q;
    assign asks  = read_valid_o && read_ready_i;
    assign comes = line_valid_i && line_id_i == Id;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) owed_q <= '0;
        else owed_q <= owed_q + (LogLines + 1)'(asks) - (LogLines + 1)'(comes);
    end
    `RULE(line_was_asked_for, 0, !comes || owed_q != 0)
    logic [LogLines:0] waiting;
    assign waiting = i_block.i_lines.pushed_q - i_block.i_lines.popped_q;
    `RULE(lines_are_counted, 1, 32'(i_block.held_q) == 32'(owed_q) + 32'(waiting))
    `RULE(lines_fit, 1, 32'(i_block.held_q) <= 2**LogLines && 32'(owed_q) <= 2**LogLines
        && 32'(waiting) <= 2**LogLines)

    // One entry of the array, by its number; the line it is in comes as the prover likes, and is marked then.
    logic [31:0]       number;
    arbitrary #(.Width(32)) i_number (.clk_i, .value_o(number));
    logic [63:4]       base_q;
    logic [31:0]       count_q, given_q;
    logic [33:0]       lines_asked_q, lines_come_q;
    logic              come_q, error_q;
    logic [127:0]      entry_q;
    logic [33:0]       place;
    assign place = 34'(number) + 34'(base_q[5:4]);
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            count_q <= '0;
            given_q <= '0;
        end else if (start_i) begin
            base_q        <= address_i;
            count_q       <= count_i;
            given_q       <= '0;
            lines_asked_q <= '0;
            lines_come_q  <= '0;
            come_q        <= 1'b0;
        end else begin
            if (asks) lines_asked_q <= lines_asked_q + 1'b1;
            if (comes) lines_come_q <= lines_come_q + 1'b1;
            if (comes && lines_come_q == place >> 2) begin
                come_q  <= 1'b1;
                error_q <= line_error_i;
                entry_q <= line_i[128*32'(place[1:0]) +: 128];
            end
            if (pop_i) given_q <= given_q + 1'b1;
        end
    end
    logic started_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) started_q <= 1'b0;
        else if (start_i) started_q <= 1'b1;
    end
    logic stopped_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || start_i) stopped_q <= 1'b0;
        else if (stop_i) stopped_q <= 1'b1;
    end
    `RULE(lines_are_asked_for_in_order, 1, !read_valid_o || read_address_o == base_q[63:6] + 58'(lines_asked_q))
    `RULE(no_line_behind_the_entries_is_asked_for, 1, !read_valid_o
        || lines_asked_q < (34'(count_q) + 34'(base_q[5:4]) + 34'd3) >> 2)
    `RULE(entry_comes_as_it_was, 1, !(valid_o && given_q == number) || come_q && !error_q && entry_o == entry_q)
    `RULE(no_entry_comes_beyond_the_count, 1, !valid_o || given_q < count_q)
    `RULE(it_ends_with_all_or_when_stopped, 1, !(started_q && ended_o) || given_q == count_q || stopped_q || broken_o)

    // Why: what is in the block's registers.
    logic running;
    assign running = started_q && i_block.left_q != 0;
    `RULE(left_is_what_was_not_given, 1, !running || given_q + i_block.left_q == count_q && given_q < count_q)
    `RULE(address_is_of_the_next_line, 1, i_block.unasked_q == 0 || started_q
        && i_block.address_q == base_q[63:6] + 58'(lines_asked_q))
    `RULE(lines_are_owed, 1, !started_q || lines_asked_q == lines_come_q + 34'(owed_q) && lines_come_q <= lines_asked_q)
    `RULE(unasked_are_counted, 1, i_block.unasked_q == 0
        || i_block.unasked_q + (lines_asked_q << 2) == 34'(count_q) + 34'(base_q[5:4]) && count_q != 0
        && i_block.unasked_q <= 34'(count_q) + 34'(base_q[5:4]))
    `RULE(nothing_is_asked_for_before_a_start, 1, started_q || i_block.unasked_q == 0 && i_block.left_q == 0
        && !i_block.broken_q && i_block.held_q == 0)
    `RULE(nothing_is_asked_for_in_vain, 1, i_block.left_q != 0 || i_block.unasked_q == 0)
    `RULE(lines_are_few, 1, !started_q || lines_asked_q <= (34'(count_q) + 34'(base_q[5:4]) + 34'd3) >> 2)
    // The line of the entry that is given next is the first that waits.
    logic [33:0] next;
    assign next = 34'(given_q) + 34'(base_q[5:4]);
    `RULE(first_line_is_of_the_next_entry, 1, !running || i_block.broken_q
        || lines_come_q == (next >> 2) + 34'(waiting) && i_block.place_q == next[1:0])
    `RULE(lines_that_came_are_told, 1, !started_q || come_q == (lines_come_q > place >> 2))
    logic [LogLines-1:0] slot;
    assign slot = i_block.i_lines.popped_q[LogLines-1:0] + LogLines'((place >> 2) - (next >> 2));
    `RULE(line_of_the_entry_waits, 1, !(running && !i_block.broken_q && come_q && number >= given_q)
        || i_block.i_lines.i_words.words[slot][512] == error_q
        && i_block.i_lines.i_words.words[slot][128*32'(place[1:0]) +: 128] == entry_q)
    // Nothing waits without a reason.
    logic        first_fails, waits, used_up, broken_q;
    logic [31:0] left_q;
    assign waits       = waiting != 0;
    assign first_fails = i_block.i_lines.i_words.words[i_block.i_lines.popped_q[LogLines-1:0]][512];
    assign used_up     = waits && (first_fails || left_q == 0 || pop_i && (i_block.place_q == 2'd3 || left_q == 32'd1));
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            left_q   <= '0;
            broken_q <= 1'b0;
        end else if (start_i) begin
            left_q   <= count_i;
            broken_q <= 1'b0;
        end else begin
            if (broken_q || stop_i) left_q <= '0;
            else if (pop_i) left_q <= left_q - 1'b1;
            if (waits && first_fails && left_q != 0) broken_q <= 1'b1;
        end
    end
    `RULE(what_is_left_is_known, 1, left_q == i_block.left_q && broken_q == i_block.broken_q)
    `RULE(end_is_told, 1, ended_o == (left_q == 0))
    `RULE(broken_line_is_told, 1, broken_o == broken_q)
    `RULE(quiet_when_no_line_is_held, 1, quiet_o == (owed_q == 0 && !waits))
    `RULE(line_is_asked_for_where_it_has_a_place, 1, read_valid_o == (i_block.unasked_q != 0
        && 32'(owed_q) + 32'(waiting) < 2**LogLines && !broken_q && !stop_i))
    `RULE(all_lines_are_asked_for, 1, !running || i_block.unasked_q != 0
        || lines_asked_q << 2 >= 34'(count_q) + 34'(base_q[5:4]))
    `RULE(entry_that_waits_is_given, 1, valid_o == (waits && !first_fails && left_q != 0 && !broken_q))
    `RULE(line_makes_room_when_it_is_used_up, 1, i_block.used_up == used_up)
    `REACHED(fifth_entry_comes, valid_o && given_q == 32'd4 && number == 32'd4)
    `REACHED(all_are_given, started_q && ended_o && count_q == 32'd5 && given_q == 32'd5)
    `REACHED(line_is_broken, broken_o)
endmodule
