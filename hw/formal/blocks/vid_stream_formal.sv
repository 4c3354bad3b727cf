// SPDX-License-Identifier: MIT OR Apache-2.0
// vid_stream: its own assertions, those of its entry stream and its checker among them; of what it streams, where it is from; and of
// each chunk, where it stands and what is wrong with it.
`include "../rules/rule.svh"
module vid_stream_formal
    import walk_pkg::*;
(
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

    // Each VID of the part is visited once, in order: any of them.
    logic [31:0] vid;
    arbitrary #(.Width(32)) i_vid (.clk_i, .value_o(vid));
    logic [1:0] visits_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || start_i) visits_q <= '0;
        else if (visited_o && i_block.vid_q == vid && visits_q != '1) visits_q <= visits_q + 1'b1;
    end
    `RULE(vid_is_visited_once, 1, visits_q < 2'd2 && (visits_q == 0 || !i_block.running_q || vid < i_block.vid_q))

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

    // A head is that of the change of its VID, or else the word of its position in the line that is read for it; without a
    // map, or with a fault, it is zero.
    logic        from_change, is_lost, from_map;
    logic [63:0] of_map;
    assign is_lost     = i_block.entries_broken && !i_block.change_valid_q;
    assign from_change = !is_lost && i_block.changed;
    assign from_map    = !from_change && i_block.code == Found && !i_block.zero_q[i_block.using_q];
    assign of_map      = 64'(i_block.lines[!i_block.position_q[3]] >> {i_block.position_q[2:0], 6'd0});
    `RULE(head_is_that_of_its_vid, 1, !$past(i_block.goes_on)
        || i_block.head_q == $past(from_change ? i_block.change_q.head : from_map ? of_map : '0))
    `RULE(lost_changes_are_a_fault, 1, !$past(i_block.goes_on && is_lost) || i_block.code_q == Bus)
    `RULE(change_is_no_fault, 1, !$past(i_block.goes_on && from_change) || i_block.code_q == Found)

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
    `RULE(fault_of_a_chunk_is_told, 1, !$past(rst_ni && i_block.goes_on && i_block.step && !is_lost && !from_change)
        || i_block.code_q == $past(codes_q[i_block.using_q]))

    // What comes later is slow to reach, for the checksums that lie on the way.
    `REACHED(first_chunk_is_found, i_block.state_q == Look && i_block.running_q)
endmodule
