// SPDX-License-Identifier: MIT OR Apache-2.0
// vid_stream: its own assertions, those of its entry stream and its checker among them; of each chunk, where it stands and what is
// wrong with it; and of a VID, which is any, that it is visited in its turn and comes out with the head of its change, or of the line that
// came for its chunk, or with its fault.
`include "../rules/rule.svh"
module vid_stream_formal
    import walk_pkg::*;
#(
    parameter bit Played = 1'b0      // its covers are those that are slow to reach
) (
    input logic              clk_i,
    input logic              rst_ni,
    input logic              start_i,
    input logic              stop_i,
    input logic              go_i,
    input logic [31:0]       vid_first_i,
    input logic [31:0]       vid_end_i,
    input logic [31:0]       table_i,
    input logic [63:3]       chunks_i,
    input logic [63:4]       entries_i,
    input logic [31:0]       entry_count_i,
    input logic [63:6]       storage_base_i,
    input logic [63:0]       storage_pages_i,
    input logic [63:0]       store_i,
    input logic [63:0]       epoch_i,
    input logic              ready_i,
    input logic              place_read_ready_i,
    input logic              entry_read_ready_i,
    input logic [1:0]        check_read_ready_i,
    input logic [1:0]        come_valid_i,
    input logic [1:0][7:0]   come_id_i,
    input logic [1:0]        come_error_i,
    input logic [1:0][511:0] come_i
);
    logic             valid_o, visited_o, checked_o, quiet_o, place_read_valid_o, entry_read_valid_o;
    logic [31:0]      vid_o;
    logic [63:0]      head_o;
    code_t            code_o;
    logic [63:6]      place_read_address_o, entry_read_address_o;
    logic [7:0]       place_read_id_o, entry_read_id_o;
    logic [1:0]       check_read_valid_o;
    logic [1:0][63:6] check_read_address_o;
    logic [1:0][7:0]  check_read_id_o;

    // As in the block.
    typedef enum logic [2:0] {Idle, Divide, Look, Ask, Await, Choose, Decide} state_t;

    power_up i_power_up (.*);
    vid_stream i_block (.*);

    // The settings of a job stay from its start to its end.
    `RULE(settings_stay, 0, !$past(rst_ni && !quiet_o)
        || $stable({vid_first_i, vid_end_i, table_i, chunks_i, storage_base_i, storage_pages_i, store_i, epoch_i}))
    `RULE(settings_stay_after_a_start, 0, !$past(rst_ni && start_i)
        || $stable({vid_first_i, vid_end_i, table_i, chunks_i, storage_base_i, storage_pages_i, store_i, epoch_i}))

    axi4_stream_rules #(.Width(66), .Dense(0), .Waits(0)) i_places (
        .clk_i, .rst_ni, .tvalid(place_read_valid_o), .tready(place_read_ready_i),
        .payload({place_read_id_o, place_read_address_o}));

    // All VIDs of the part are visited, one after the other, until a stop.
    logic        visits_q, goes_on;
    logic [31:0] next_q;
    assign goes_on = !valid_o || ready_i;
    always_ff @(posedge clk_i) begin
        if (start_i) next_q <= vid_first_i;
        else if (visited_o) next_q <= next_q + 1'b1;
        if (!rst_ni) visits_q <= 1'b0;
        else if (start_i) visits_q <= vid_first_i < vid_end_i;
        else if (stop_i) visits_q <= 1'b0;
        else if (visited_o) visits_q <= 33'(next_q) + 33'd1 != 33'(vid_end_i);
    end
    `RULE(all_of_the_part_are_visited, 1, i_block.running_q == visits_q && (!visits_q || i_block.vid_q == next_q))
    `RULE(only_in_a_part_is_one_visited, 1, !visited_o || visits_q && go_i && goes_on)
    `RULE(entries_are_those_of_the_job, 1, {i_block.i_entries.start_i, i_block.i_entries.address_i, i_block.i_entries.count_i}
        == {start_i, entries_i, entry_count_i})

    // Changes are merged in their order, and none is lost between the lines of changes and the merge. Those of other tables, in
    // whichever bit, count for none.
    logic [1:0]  held;
    logic [96:0] coming;
    assign coming = {(i_block.entry[63:32] ^ table_i) == 0, i_block.entry[31:0], i_block.entry[127:64]};
    ordered_words #(.Width(97), .Most(2)) i_changes (
        .clk_i, .rst_ni(rst_ni && i_block.running_q),
        .push_i(i_block.entry_pop), .pushed_i(coming),
        .pop_i(i_block.change_pop), .popped_i(i_block.change_q), .inside_o(held));
    `RULE(held_changes_are_counted, 1, !i_block.running_q
        || held == 2'(i_block.change_valid_q) + 2'(i_block.second_valid_q))
    `RULE(followed_change_is_held, 1, !(i_block.running_q && i_changes.followed_q)
        || i_changes.word_q == (i_changes.ahead_q == 0 ? i_block.change_q : i_block.second_q))
    `RULE(vid_waits_for_its_change, 1, !visited_o || held == 0 && (i_block.entries_ended || i_block.entries_broken)
        || i_block.change_valid_q && i_block.change_q.ours && i_block.change_q.vid >= i_block.vid_q)
    `RULE(none_comes_is_told_late, 1, !(i_block.running_q && i_block.none_comes_q)
        || i_block.entries_ended || i_block.entries_broken)

    // Why a buffer is used only when it is whole.
    `RULE(what_is_whole_is_taken, 1, (i_block.ready_q & ~i_block.taken_q) == 0)
    `RULE(what_is_checked_is_taken, 1, (i_block.i_checker.running_q & ~i_block.taken_q) == 0
        && (i_block.i_checker.running_q & i_block.ready_q) == 0)
    `RULE(what_was_checked_is_taken, 1, !i_block.checked || i_block.taken_q[i_block.checked_slot]
        && !i_block.ready_q[i_block.checked_slot] && !i_block.i_checker.running_q[i_block.checked_slot])
    `RULE(nothing_is_read_while_dividing, 1, i_block.state_q != Divide
        || i_block.ready_q == 0 && i_block.taken_q == 0 && i_block.i_checker.running_q == 0
        && !i_block.checked)
    `RULE(buffer_is_free_while_its_place_is_read, 1, i_block.state_q == Idle
        || i_block.state_q == Divide || i_block.state_q == Look || !i_block.taken_q[i_block.filling_q])
    // A place in a chunk; the first is of a line of 127.
    `RULE(line_is_one_of_127, 1, i_block.state_q != Divide || i_block.i_divide.busy_q
        || i_block.i_divide.left_q < 37'd127)
    `RULE(position_is_in_its_chunk, 1, i_block.position_q < 10'd1016 || !i_block.running_q
        || i_block.state_q == Divide)

    // Places are read where there is a map, of one chunk after the other, whose first VIDs are 1016 apart.
    `RULE(no_place_is_read_without_a_map, 1, !place_read_valid_o || chunks_i != 0)
    `RULE(place_read_is_that_of_its_chunk, 1, place_read_address_o == 58'((chunks_i + 61'(i_block.chunk_q)) >> 3))
    // The first is that of the first VID: divide_by_127 is proven to divide.
    `RULE(division_is_right, 0, !(i_block.state_q == Divide && i_block.divided)
        || 44'(i_block.first_chunk) * 44'd127 + 44'(i_block.first_line) == 44'(vid_first_i[31:3]))
    `RULE(first_vid_is_that_of_the_chunk, 1, i_block.state_q <= Divide || i_block.chunk_vid_q == 33'(i_block.chunk_q) * 33'd1016)
    `RULE(chunk_is_of_the_part, 1, i_block.state_q <= Look || i_block.chunk_vid_q < 33'(vid_end_i))
    logic reads, goes_to_next;
    assign reads        = i_block.state_q > Divide;
    assign goes_to_next = i_block.state_q == Decide;
    `RULE(chunks_come_in_order, 1, !$past(rst_ni && reads)
        || i_block.chunk_q == 23'($past(i_block.chunk_q) + 23'($past(goes_to_next)))
        && i_block.chunk_vid_q == 33'($past(i_block.chunk_vid_q) + ($past(goes_to_next) ? 33'd1016 : 33'd0)))

    // ---- Of each chunk, where it stands: by the place in the line that was read for it in this job. It is checked there, or its
    // VIDs have the fault, or none has a head.
    logic [7:0][63:0] places_q;
    logic [63:6]      places_at_q;
    logic [63:3]      place_at;
    logic             comes, fresh_q, lost_q, decides, has_none, is_beyond;
    place_t           place;
    logic [1:0][3:0]  codes_q;
    logic [1:0]       zero_q, broken_q;    // no VID of it has a head, or its place could not be read
    assign comes     = come_valid_i[1] && come_id_i[1] == 8'h83;
    assign place_at  = chunks_i + 61'(i_block.chunk_q);
    assign place     = place_t'(places_q[place_at[5:3]]);
    assign decides   = i_block.state_q == Decide;
    assign has_none  = chunks_i == 0 || place.epoch == 0 && place.physical == 0;
    assign is_beyond = !(64'(place.physical) < storage_pages_i);
    always_ff @(posedge clk_i) begin
        if (place_read_valid_o && place_read_ready_i) places_at_q <= place_read_address_o;
        if (comes) places_q <= come_i[1];
        fresh_q <= rst_ni && !start_i && (comes ? !come_error_i[1] : fresh_q);
        lost_q  <= rst_ni && (comes ? come_error_i[1] : lost_q && i_block.state_q != Look);
        if (decides) begin
            codes_q[i_block.filling_q] <= lost_q ? Bus : has_none ? Found : BeyondStorage;
            {zero_q[i_block.filling_q], broken_q[i_block.filling_q]} <= {has_none, lost_q};
        end
        if (i_block.checked) codes_q[i_block.checked_slot] <= i_block.facts.code;
    end
    `RULE(place_was_read_for_its_chunk, 1, !(decides && chunks_i != 0) || lost_q || fresh_q && places_at_q == place_at[63:6])
    `RULE(known_places_are_those_of_the_chunk, 1, !(i_block.places_known_q && i_block.state_q > Divide && chunks_i != 0)
        || fresh_q && places_at_q == place_at[63:6])
    `RULE(no_places_are_known_before, 1, !(i_block.state_q inside {Divide, Ask, Await}) || !i_block.places_known_q)
    `RULE(lost_places_are_known, 1, i_block.state_q <= Look || i_block.places_broken_q == lost_q)
    `RULE(places_wait_to_be_looked_at, 1, i_block.state_q < Choose || chunks_i == 0 || lost_q || i_block.places_known_q)
    `RULE(place_that_is_read_is_kept, 1, i_block.state_q != Await || places_at_q == place_at[63:6])
    `RULE(places_are_kept, 1, !fresh_q || i_block.places_q == places_q && (!decides || i_block.place_q == place))
    `RULE(chunk_is_checked_where_it_stands, 1, i_block.check == (decides && !lost_q && !has_none && !is_beyond)
        && (!i_block.check || i_block.i_checker.start_slot_i == i_block.filling_q && i_block.i_checker.check_i == check_t'{
            is_image: 1'b0, is_map: 1'b1, epoch: place.epoch, page: 64'(table_i) << 32 | 64'(i_block.chunk_q),
            address: storage_base_i + (58'(place.physical) << 7)}))
    logic [1:0][3:0] kept;
    always_comb for (int unsigned n = 0; n < 2; n++) kept[n] = i_block.codes_q[n];
    for (genvar n = 0; n < 2; n++) begin : g_buffers
        `RULE(fault_of_a_chunk_is_kept, 1, !i_block.ready_q[n] || kept[n] == codes_q[n])
        `RULE(chunk_without_heads_is_known, 1, !i_block.taken_q[n] || (broken_q[n] ? i_block.ready_q[n] && codes_q[n] == Bus
            : i_block.zero_q[n] == zero_q[n]))
    end

    // ---- Buffers are filled and used in turn, each with a whole chunk. So a VID is at its place in the chunk that is used.
    logic             uses;
    logic [1:0]       taken;
    logic [1:0][22:0] chunk_of_q;
    assign uses  = i_block.running_q && i_block.state_q != Divide;
    assign taken = 2'(i_block.taken_q[0]) + 2'(i_block.taken_q[1]);
    always_ff @(posedge clk_i) if (decides) chunk_of_q[i_block.filling_q] <= i_block.chunk_q;
    `RULE(buffers_are_used_in_turn, 1, !uses || i_block.using_q == (i_block.filling_q ^ taken[0])
        && (!i_block.taken_q[i_block.filling_q] || taken == 2'd2))
    `RULE(first_buffer_is_filled_first, 1, i_block.state_q != Divide || !i_block.running_q || i_block.using_q == i_block.filling_q)
    `RULE(first_vid_waits_for_its_chunk, 1, i_block.state_q != Divide || !i_block.running_q || i_block.vid_q == vid_first_i)
    `RULE(vid_is_at_its_place, 1, !uses
        || 33'(i_block.vid_q) == 33'(i_block.chunk_vid_q - 33'd1016 * 33'(taken) + 33'(i_block.position_q)))
    `RULE(chunk_is_that_of_its_buffer, 1, !uses || (taken == 0 || chunk_of_q[i_block.using_q] == 23'(i_block.chunk_q - 23'(taken)))
        && (taken < 2'd2 || chunk_of_q[!i_block.using_q] == 23'(i_block.chunk_q - 23'd1)))

    // ---- The lines of a chunk, in the order in which they came; of all of them one bit. page_checker is proven to ask for each line once, and
    // to end when all have come.
    logic             port, slot, bit_q;
    logic [5:0]       line;
    logic [8:0]       place_in_line;
    logic [1:0]       checking_q;
    logic [1:0][1:0][6:0] lines_q;      // that have come of the chunk in a buffer, on each port
    logic [1:0][1:0]  comes_to;
    arbitrary #(.Width(17)) i_bit (.clk_i, .value_o({port, slot, line, place_in_line}));
    always_comb for (int unsigned p = 0; p < 2; p++) for (int unsigned n = 0; n < 2; n++)
        comes_to[p][n] = come_valid_i[p] && come_id_i[p] == 8'h84 + 8'(n);
    always_ff @(posedge clk_i) begin
        for (int unsigned n = 0; n < 2; n++) begin
            if (!rst_ni) checking_q[n] <= 1'b0;
            else if (i_block.check && 32'(i_block.filling_q) == n) checking_q[n] <= 1'b1;
            else if (i_block.checked && 32'(i_block.checked_slot) == n) checking_q[n] <= 1'b0;
            for (int unsigned p = 0; p < 2; p++) begin
                if (!rst_ni || i_block.check && 32'(i_block.filling_q) == n) lines_q[p][n] <= '0;
                else if (comes_to[p][n]) lines_q[p][n] <= lines_q[p][n] + 1'b1;
            end
        end
        if (comes_to[port][slot] && lines_q[port][slot] == 7'(line)) bit_q <= come_i[port][place_in_line];
    end
    for (genvar n = 0; n < 2; n++) begin : g_checks
        for (genvar p = 0; p < 2; p++) begin : g_ports
            `RULE(line_of_a_chunk_was_asked_for, 0, !comes_to[p][n] || checking_q[n] && lines_q[p][n] < 7'd64)
            `RULE(all_lines_have_come_at_the_end, 0, !(i_block.checked && i_block.checked_slot == 1'(n)) || lines_q[p][n] == 7'd64)
            `RULE(lines_are_counted, 1, lines_q[p][n] <= 7'd64 && i_block.g_ports[p].filled_q[n] == lines_q[p][n][5:0]
                && (checking_q[n] || lines_q[p][n][5:0] == 0))
            `RULE(chunk_with_heads_is_whole, 1, !i_block.ready_q[n] || zero_q[n] || codes_q[n] != Found || lines_q[p][n] == 7'd64)
        end
        `RULE(checks_are_those_of_the_checker, 1, checking_q[n]
            == (i_block.i_checker.running_q[n] || i_block.checked && i_block.checked_slot == 1'(n)))
    end
    `RULE(chunk_that_was_checked_is_told, 1, checked_o == i_block.i_checker.checked_valid_o)
    logic kept_0, kept_1;
    assign kept_0 = i_block.g_ports[0].i_lines.words[{slot, line}][place_in_line];
    assign kept_1 = i_block.g_ports[1].i_lines.words[{slot, line}][place_in_line];
    `RULE(bit_is_kept_where_it_came, 1, lines_q[port][slot] <= 7'(line) || (port ? kept_1 : kept_0) == bit_q)

    // ---- A VID, which is any, on its way. Its head is that of its change, or else the word of its position in its chunk; with a fault or
    // without a map there is none.
    typedef enum logic [1:0] {Nowhere, Merged, Out} stage_t;
    stage_t      stage_q;
    logic [31:0] vid;
    logic        is_lost, from_change, is_next;
    code_t       code, code_q;
    logic [63:0] of_map, head_q;
    logic [6:0]  its_line;
    arbitrary #(.Width(32)) i_vid (.clk_i, .value_o(vid));
    assign is_next     = visited_o && next_q == vid;
    assign is_lost     = i_block.entries_broken && !i_block.change_valid_q;
    assign from_change = !is_lost && i_block.changed;
    assign code        = is_lost ? Bus : from_change ? Found : code_t'(codes_q[i_block.using_q]);
    assign its_line    = 7'(i_block.position_q >> 3) + 7'd1;       // behind that of the header
    assign of_map      = 64'(i_block.lines[its_line[0]] >> {i_block.position_q[2:0], 6'd0});
    `RULE(head_is_of_the_chunk_that_was_checked, 1, !(visited_o && !is_lost && !from_change && code == Found
        && !zero_q[i_block.using_q] && i_block.using_q == slot && its_line == {line, port}
        && i_block.position_q[2:0] == place_in_line[8:6]) || of_map[place_in_line[5:0]] == bit_q)
    always_ff @(posedge clk_i) begin
        if (!rst_ni || stop_i && !start_i) stage_q <= Nowhere;
        else if (goes_on) begin
            if (is_next) stage_q <= Merged;
            else stage_q <= stage_q == Merged && (head_q != 0 || code_q != Found) ? Out : Nowhere;
        end
        if (goes_on && is_next) begin
            code_q <= code;
            head_q <= from_change ? i_block.change_q.head : code == Found && !zero_q[i_block.using_q] ? of_map : '0;
        end
    end
    `RULE(vid_that_was_visited_is_merged, 1, (stage_q == Merged) == (i_block.merged_q && i_block.merged_vid_q == vid)
        && (stage_q != Merged || i_block.head_q == head_q && i_block.code_q == code_q))
    `RULE(vid_with_a_head_or_a_fault_comes_out, 1, stage_q <= Out && (stage_q == Out) == (valid_o && vid_o == vid)
        && (stage_q != Out || head_o == head_q && code_o == code_q))

    // What comes later is slow to reach, for the checksums that lie on the way. So a play reaches it with others, easier ones.
    if (!Played) begin : g_covers
        `REACHED(first_chunk_is_found, i_block.state_q == Look && i_block.running_q)
    end else begin : g_plays
        `REACHED(vid_comes_out_with_its_change, stage_q == Out && code_q == Found && $past(i_block.running_q))
        `REACHED(vid_of_another_table_has_no_head, stage_q == Merged && head_q == 0 && code_q == Found && chunks_i == 0
            && held != 0)
        `REACHED(vid_behind_broken_changes_has_a_fault, stage_q == Out && code_q == Bus && i_block.entries_broken)
        `REACHED(chunk_stands_nowhere, decides && chunks_i != 0 && has_none && !lost_q)
        `REACHED(chunk_is_beyond_the_storage, decides && chunks_i != 0 && !has_none && is_beyond)
        `REACHED(chunk_begins_to_be_checked, i_block.check && i_block.i_checker.start_slot_i)
        `REACHED(stop_drops_a_vid, $past(rst_ni && stop_i && stage_q == Merged && head_q != 0) && quiet_o)
        `REACHED(stream_begins_again, start_i && $past(rst_ni && visited_o, 2))
    end
endmodule
