// SPDX-License-Identifier: MIT OR Apache-2.0
// lookup_walk: each trip that has ended is followed, five steps later and in order, by one trip of its context, whose reads are
// offered once each, or by one answer, after which the index is told what was seen, once each. Of a context, which is any, that
// is what the machine of look-ups does (lookup_machine.svh).
`include "../rules/rule.svh"
module lookup_walk_formal
    import lookup_pkg::*;
#(
    parameter int unsigned SlotBytes    = 32,
    parameter int unsigned LandingLines = 32,
    localparam int unsigned Value        = 64
) (
    input logic             clk_i,
    input logic             rst_ni,
    input settings_t        settings_i,
    input logic             begun_valid_i,
    input context_t         begun_i,
    input logic [63:0]      begun_key_i,
    input logic [15:0]      begun_token_i,
    input logic             begun_locks_i,
    input logic             homed_valid_i,
    input context_t         homed_i,
    input logic [31:0]      home_i,
    input logic             begins_i,
    input context_t         begins_number_i,
    input place_t           begins_place_i,
    input logic [6:0]       begins_slots_i,
    input logic             seen_valid_i,
    input seen_t            seen_i,
    input logic [Value-1:0] seen_value_i,
    input logic [63:0]      word_i,
    input logic             read_ready_i,
    input logic             tell_ready_i
);
    `include "lookup_machine.svh"

    logic             seen_ready_o, trip_o, read_valid_o, answer_valid_o, answer_frees_o, tell_valid_o;
    context_t         word_number_o, trip_number_o, answer_number_o;
    logic [2:0]       trip_parts_o;
    slots_t           trip_slots_o;
    read_t            read_o;
    logic [Value+127:0] answer_data_o;
    logic [Value+255:0] tell_data_o;
    walk_events_t     events_o;

    power_up i_power_up (.*);
    lookup_walk #(.SlotBytes(SlotBytes), .LandingLines(LandingLines)) i_block (.*);
    axi4_stream_rules #(.Width($bits(seen_t) + Value), .Proven(0)) i_seen (
        .clk_i, .rst_ni, .tvalid(seen_valid_i), .tready(seen_ready_o), .payload({seen_i, seen_value_i}));
    axi4_stream_rules #(.Width($bits(read_t))) i_read (
        .clk_i, .rst_ni, .tvalid(read_valid_o), .tready(read_ready_i), .payload(read_o));
    axi4_stream_rules #(.Width(Value + 256)) i_tell (
        .clk_i, .rst_ni, .tvalid(tell_valid_o), .tready(tell_ready_i), .payload(tell_data_o));

    // What counts of the outputs.
    logic [$bits(slots_t)+$bits(read_t)+2*Value+430:0] seen;
    assign seen = {seen_ready_o, word_number_o, trip_o, trip_o ? {trip_number_o, trip_parts_o, trip_slots_o} : '0,
        read_valid_o, read_valid_o ? read_o : '0, answer_valid_o, answer_valid_o ? {answer_frees_o, answer_number_o,
        answer_data_o} : '0, tell_valid_o, tell_valid_o ? tell_data_o : '0, events_o};

    // ---- All trips go through five steps, one behind the other; they wait only while reads or what is told wait behind them.
    index_pkg::request_t told;
    index_token_t        token;
    logic                takes, reads, tells, leaves, moved_q, telling_q, telling, still_telling;
    logic [5:1]          came_q;
    context_t [5:1]      number_q;
    logic [2:0]          reads_left_q, reads_now, reads_left;
    assign told   = tell_data_o[255:0];
    assign token  = told.token;
    assign takes  = seen_valid_i && seen_ready_o;
    assign reads  = read_valid_o && read_ready_i;
    assign tells  = tell_valid_o && tell_ready_i;
    assign leaves = came_q[5] && moved_q;      // for one clock
    assign reads_now     = leaves ? (trip_o ? trip_parts_o : '0) : reads_left_q;
    assign reads_left    = reads_now & ~(reads ? 3'd1 << read_o.part : '0);
    assign telling       = leaves ? answer_valid_o && !answer_frees_o : telling_q;
    assign still_telling = telling && !(tells && token.is_last);
    always_ff @(posedge clk_i) begin
        moved_q <= seen_ready_o;
        if (!rst_ni) begin
            came_q       <= '0;
            reads_left_q <= '0;
            telling_q    <= 1'b0;
        end else begin
            if (seen_ready_o) came_q <= {came_q[4:1], seen_valid_i};
            reads_left_q <= reads_left;
            telling_q    <= still_telling;
        end
        if (seen_ready_o) begin
            number_q[1] <= seen_i.number;
            for (int unsigned n = 2; n <= 5; n++) number_q[n] <= number_q[n-1];
        end
    end
    `RULE(trip_or_answer_follows_each_trip, 1, leaves ? trip_o != answer_valid_o : !trip_o && !answer_valid_o)
    `RULE(trips_leave_in_order, 1, (!trip_o || trip_number_o == number_q[5])
        && (!answer_valid_o || answer_number_o == number_q[5]))
    `RULE(reads_of_a_trip_are_offered, 1, read_valid_o == (reads_now != 0))
    `RULE(read_is_offered_once, 1, !read_valid_o || read_o.part != 2'd3 && reads_now[read_o.part]
        && read_o.number == number_q[5])
    `RULE(what_is_told_is_offered, 1, tell_valid_o == telling)
    `RULE(what_is_told_is_of_its_context, 1, !tell_valid_o || token.number == number_q[5])
    `RULE(trip_waits_for_those_ahead_alone, 1, seen_ready_o == (reads_left == 0 && !still_telling))
    `RULE(word_is_that_of_the_context, 1, word_number_o == seen_i.number)
    `RULE(steps_are_those_of_trips, 1, {i_block.emit_q, i_block.valid_q} == came_q && i_block.fresh_q == moved_q)
    `RULE(numbers_are_those_of_trips, 1, (!came_q[1] || i_block.known_q.seen.number == number_q[1])
        && (!came_q[2] || i_block.known_2_q.seen.number == number_q[2])
        && (!came_q[3] || i_block.known_3_q.seen.number == number_q[3])
        && (!came_q[4] || i_block.known_4_q.seen.number == number_q[4])
        && (!came_q[5] || i_block.emit_known_q.seen.number == number_q[5]))
    `RULE(what_is_left_is_of_the_last_step, 1, came_q[5] || reads_left_q == 0 && !telling_q)
    `RULE(reads_are_those_left, 1, i_block.reads_q == reads_now)
    `RULE(what_is_told_is_left, 1, (i_block.tells_q != 0) == telling && (reads_now == 0 || !telling))

    // ---- One context, which is any, and what is known of its request. The memories follow the same one.
    context_t    number;
    logic        begun_q, homed_q, locks_q;
    logic [15:0] token_q;
    logic [63:0] key_q;
    logic [31:0] home_q;
    place_t      place_q;
    logic [6:0]  first_slots_q;
    logic        begins, is_its;
    arbitrary #(.Width(8)) i_number (.clk_i, .value_o(number));
    assign begins = begins_i && begins_number_i == number;
    assign is_its = seen_i.number == number;
    always_ff @(posedge clk_i) begin
        if (begun_valid_i && begun_i == number) {begun_q, locks_q, token_q, key_q} <= {1'b1, begun_locks_i, begun_token_i,
            begun_key_i};
        if (homed_valid_i && homed_i == number) {homed_q, home_q} <= {1'b1, home_i};
        if (begins) {place_q, first_slots_q} <= {begins_place_i, begins_slots_i};
        if (!rst_ni) {begun_q, homed_q} <= '0;
    end
    `RULE(memories_follow_one_context, 0, i_block.i_requests.address == number && i_block.i_homes.address == number
        && i_block.i_places.address == number && i_block.i_states.address == number)
    `RULE(context_is_chosen, 1, i_number.chosen_q && i_block.i_requests.i_address.chosen_q
        && i_block.i_homes.i_address.chosen_q && i_block.i_places.i_address.chosen_q && i_block.i_states.i_address.chosen_q)

    // ---- Its look-up in host memory, from a miss of the index until the index has taken what it is told.
    logic             open_q, trip_q, first_q;
    logic [2:0]       parts_q, to_read_q;      // of its trip, and its reads that were not taken
    logic [1:0]       to_tell_q;               // the word, the object
    logic [5:1]       at_q;                    // its trip is in this step
    machine_t         machine_q;
    next_t            next;
    seen_t            seen_q;
    logic [Value-1:0] value_q;
    logic [63:0]      word_q;
    settings_t        settings_q;              // as they are while it is under way
    kind_t            place_kind_q, word_kind_q;
    machine_t         ended;                   // with what its trip has brought
    logic [1:0]       tell_now;
    logic             takes_its, leaves_its, reads_its, tells_its;
    assign takes_its  = takes && is_its;
    assign leaves_its = leaves && at_q[5];
    assign reads_its  = reads && read_o.number == number;
    assign tells_its  = tells && token.number == number;
    assign ended      = after_trip(machine_q, seen_q, parts_q[Word], word_q, word_kind_q);
    assign next       = next_of(ended, seen_q, place_q, place_kind_q, settings_q);
    assign tell_now   = leaves_its ? {next.tells_object, next.tells_word} : to_tell_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            open_q    <= 1'b0;
            trip_q    <= 1'b0;
            to_read_q <= '0;
            to_tell_q <= '0;
            at_q      <= '0;
        end else begin
            if (seen_ready_o) at_q <= {at_q[4:1], takes_its};
            if (begins) begin
                open_q    <= 1'b1;
                trip_q    <= 1'b1;
                first_q   <= 1'b1;
                parts_q   <= 3'd1 << Row;
                machine_q <= begun_machine(begins_slots_i, begins_place_i.slots);
                settings_q   <= settings_i;
                place_kind_q <= kind_of(begins_place_i.word, settings_i.overflow_slots);
            end else if (takes_its) begin
                trip_q    <= 1'b0;
                seen_q    <= seen_i;
                value_q   <= seen_value_i;
                word_q    <= word_i;
                word_kind_q <= kind_of(word_i[37:0], settings_q.overflow_slots);
            end else if (leaves_its) begin
                open_q    <= !next.ends;
                trip_q    <= !next.ends;
                first_q   <= 1'b0;
                parts_q   <= next.parts;
                machine_q <= next.machine;
            end
            to_read_q <= (leaves_its ? next.parts : to_read_q) & ~(reads_its ? 3'd1 << read_o.part : '0);
            to_tell_q <= tell_now & ~(tells_its ? (tell_now[0] ? 2'b01 : 2'b10) : '0);
        end
    end

    // What others keep to. lookup_entrance gives a context to one request at a time, and computes its home before the index
    // is asked; lookup_answers begins once, after that.
    logic idle;
    assign idle = !open_q && to_tell_q == 0;
    `RULE(context_is_known_before_it_begins, 0, (!begins || idle && begun_q && homed_q)
        && (!(begun_valid_i && begun_i == number) || idle && !begins)
        && (!(homed_valid_i && homed_i == number) || idle && !begins))
    // What the index names, and what lookup_answers makes of it.
    `RULE(index_names_slots_of_the_row, 0, !begins || begins_place_i.slots != 0
        && 32'(begins_place_i.slots) <= 32'(settings_i.limit) + 1 && 32'(begins_place_i.address[5:0]) % SlotBytes == 0)
    `RULE(first_trip_fits, 0, !begins
        || 32'(begins_slots_i) == fitting(begins_place_i.address, 32'(begins_place_i.slots)))
    // lookup_reads tells of a trip once, after all of its reads; lookup_scans in their order.
    `RULE(trip_ends_once_after_its_reads, 0, !(seen_valid_i && is_its)
        || trip_q && to_read_q == 0 && seen_i.first == first_q
        && (!seen_i.word_failed || seen_i.failed && parts_q[Word]))
    // landing_memory has the word that landed last; a read that fails does not land.
    `RULE(word_stays_until_another_lands, 0, !(seen_valid_i && is_its && machine_q.has_word
        && (!parts_q[Word] || seen_i.word_failed)) || word_i == machine_q.word)
    // lookup_block keeps settings, and checks them.
    `RULE(settings_hold_while_something_is_under_way, 0, !$past(rst_ni && (begins || !idle || came_q != 0))
        || $stable(settings_i))
    `RULE(settings_fit, 0, !begins && idle && came_q == 0 || settings_i.most_readings >= 8'd2 && settings_i.overflow_base[5:0] == 0)

    // ---- What leaves is what the machine does.
    function automatic logic [Value+127:0] answer_of(input logic [3:0] status, input logic [7:0] trips);
        answer_t answer;
        answer             = '0;
        answer.token       = token_q;
        answer.status      = status;
        answer.has_lock    = locks_q;
        answer.trips       = trips;
        answer.owner       = place_q.owner;
        answer.epoch       = place_q.epoch;
        answer.has_content = seen_q.found;
        if (seen_q.found) begin
            answer.is_pointer = seen_q.meta[30];
            answer.bytes      = seen_q.meta[28:20];
            answer.version    = seen_q.meta[63:32];
        end
        answer_of = {seen_q.found ? value_q : '0, answer};
    endfunction
    function automatic logic [Value+255:0] told_of(input logic is_word, input logic fills, input logic is_last);
        index_pkg::request_t request;
        request           = '0;
        request.key       = key_q;
        request.home      = home_q;
        request.segment   = home_q >> settings_q.segment_shift;
        request.operation = !is_word && fills ? index_pkg::Fill : index_pkg::SetHint;
        request.token     = {5'd0, !is_word && fills, is_last, 1'b1, number};
        if (is_word) begin
            request.has_directory = 1'b1;
            request.version       = 32'(word_q[37:32]);
            request.low_directory = word_q[31:0];
        end else begin
            request.displacement = seen_q.in_bucket ? '0 : seen_q.displacement[7:0];
            if (fills) request.version = seen_q.meta[63:32];
            if (fills) request.epoch   = place_q.epoch;
        end
        told_of = {!is_word && fills ? value_q : '0, request};
    endfunction
    logic [63:0] directory_at;
    assign directory_at = settings_q.directory_base + 8 * 64'(home_q >> settings_q.segment_shift);
    `RULE(look_up_ends_when_it_has_to, 1, !leaves_its || answer_valid_o == next.ends)
    `RULE(trip_reads_what_is_left, 1, !(leaves_its && trip_o) || trip_parts_o == next.parts && next.parts != 0)
    `RULE(slots_of_the_row_are_the_next, 1, !(leaves_its && trip_o && next.parts[Row])
        || trip_slots_o.row_slots == next.slots.row_slots && trip_slots_o.row_first == next.slots.row_first)
    `RULE(slots_of_the_bucket_are_the_next, 1, !(leaves_its && trip_o && next.parts[Bucket])
        || trip_slots_o.bucket_slots == next.slots.bucket_slots && trip_slots_o.bucket_first == next.slots.bucket_first)
    `RULE(slots_of_a_trip_fit_their_region, 1, !(leaves_its && trip_o)
        || (!next.parts[Row] || next.slots.row_slots != 0 && 32'(next.slots.row_slots) * SlotBytes <= 64 * LandingLines)
        && (!next.parts[Bucket] || next.slots.bucket_slots != 0
            && 32'(next.slots.bucket_slots) * SlotBytes <= 64 * LandingLines))
    `RULE(readings_are_counted, 1, !(leaves_its && trip_o) || next.machine.readings < settings_q.most_readings)
    `RULE(answer_is_what_was_found, 1, !(leaves_its && answer_valid_o)
        || answer_data_o == answer_of(next.status, next.machine.trips))
    `RULE(context_is_free_where_nothing_is_told, 1, !(leaves_its && answer_valid_o) || answer_frees_o == (tell_now == 0))
    `RULE(no_context_is_read_for_but_for_its_trip, 1, !(read_valid_o && read_o.number == number)
        || (leaves_its ? next.parts[read_o.part] : to_read_q[read_o.part]))
    // A trip is told of before, or with, its first read; so its reads are those of what was told last.
    slots_t      slots_now, slots_q;
    logic [63:0] row_now, row_q, bucket_now, bucket_q;
    assign {slots_now, row_now, bucket_now} = leaves_its ? {next.slots, next.row_address, next.bucket_address}
        : {slots_q, row_q, bucket_q};
    always_ff @(posedge clk_i) {slots_q, row_q, bucket_q} <= {slots_now, row_now, bucket_now};
    `RULE(row_is_read_where_it_lies, 1, !(read_valid_o && at_q[5] && read_o.part == Row) || read_o.address == row_now
        && read_o.slots == slots_now.row_slots && 32'(read_o.bytes) == 32'(slots_now.row_slots) * SlotBytes)
    `RULE(bucket_is_read_where_it_lies, 1, !(read_valid_o && at_q[5] && read_o.part == Bucket)
        || read_o.address == bucket_now && read_o.slots == slots_now.bucket_slots
        && 32'(read_o.bytes) == 32'(slots_now.bucket_slots) * SlotBytes)
    `RULE(word_is_read_where_it_lies, 1, !(read_valid_o && at_q[5] && read_o.part == Word)
        || read_o.address == directory_at && read_o.slots == 0 && read_o.bytes == 13'd8)
    // The word goes before the object.
    logic its_word, its_last;
    assign its_word = tell_now[0];
    assign its_last = tell_now != 2'b11;
    logic fills;
    assign fills = seen_q.found && !seen_q.meta[30] && seen_q.meta[28:20] == 9'(settings_q.value_bytes);
    `RULE(index_is_told_what_was_seen, 1, !(tell_valid_o && at_q[5]) || tell_now != 0
        && tell_data_o == told_of(its_word, fills, its_last))
    `RULE(index_is_told_of_a_context_after_its_answer, 1, !(tell_valid_o && token.number == number) || at_q[5] && tell_now != 0)

    // ---- Events are told of a clock later.
    logic         left_q, left_its_q;
    walk_events_t events_q;
    always_ff @(posedge clk_i) begin
        left_q     <= rst_ni && leaves;
        left_its_q <= rst_ni && leaves_its;
        events_q   <= '{
            disturbed_reading: next.disturbed,
            repeated_reading:  next.repeats,
            trip:              !next.ends,
            short_hint:        next.short_hint,
            not_read:          next.ends && next.status == NotRead,
            gave_up:           next.ends && next.status == GaveUp,
            absent:            next.ends && next.status == Absent,
            found_in_bucket:   next.ends && seen_q.found && seen_q.in_bucket,
            found:             next.ends && seen_q.found
        };
    end
    `RULE(events_are_of_what_left, 1, left_q || events_o == '0)
    `RULE(events_are_those_of_the_machine, 1, !left_its_q || events_o == events_q)

    `include "lookup_walk_inside.svh"

    // ---- What may happen.
    logic was_again_q;
    always_ff @(posedge clk_i) was_again_q <= rst_ni && (was_again_q || leaves_its && next.ends);
    `REACHED(object_is_found_in_the_row, leaves_its && next.ends && next.fills && !seen_q.in_bucket)
    `REACHED(two_are_told, tells_its && tell_now == 2'b11)
    `REACHED(trip_of_three_parts_leaves, leaves_its && next.parts == 3'b111)
    `REACHED(key_is_absent, leaves_its && next.ends && next.status == Absent)
    `REACHED(look_up_gives_up, leaves_its && next.ends && next.status == GaveUp)
    `REACHED(context_is_used_again, was_again_q && leaves_its && trip_o)
    `REACHED(trips_of_two_contexts_leave_at_once, leaves_its && came_q[4:1] == '1 && $past(leaves && !at_q[5]))
    `REACHED(trips_wait_for_reads, read_valid_o && !read_ready_i && at_q[4] && seen_valid_i)
endmodule
