// SPDX-License-Identifier: MIT OR Apache-2.0
// vid_stream: its own assertions, those of its entry stream and its checker among them; and of what it streams, where it is from.
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

    // Changes are merged in their order, and none is lost between the lines of changes and the merge.
    logic [1:0] held;
    ordered_words #(.Width(97), .Most(2)) i_changes (
        .clk_i, .rst_ni(rst_ni && i_block.running_q),
        .push_i(i_block.entry_pop), .pushed_i(i_block.coming),
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

    // What comes later is slow to reach, for the checksums that lie on the way.
    `REACHED(first_chunk_is_found, i_block.state_q == Look && i_block.running_q)
endmodule
