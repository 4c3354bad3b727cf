// SPDX-License-Identifier: MIT OR Apache-2.0
// What is inside lookup_walk, which induction needs to be told: how the trip that is followed stands in each step.
    import lookup_walk_pkg::known_t;
    import lookup_walk_pkg::state_t;
    import lookup_walk_pkg::step_2_t;
    import lookup_walk_pkg::step_3_t;
    import lookup_walk_pkg::step_4_t;

    logic early;                         // before the last step
    assign early = at_q[4:1] != 0;

    // ---- Where its trip is, and what is told of it.
    `RULE(trip_is_in_one_place, 1, (at_q & (at_q - 1'b1)) == 0 && (at_q & ~came_q) == 0
        && !(trip_q && early) && !(trip_q && leaves_its))
    `RULE(trip_is_under_way_while_it_is_open, 1, open_q == (trip_q || early || leaves_its))
    `RULE(reads_wait_in_the_last_step, 1, (to_read_q == 0 || at_q[5] && !moved_q && trip_q)
        && (!at_q[5] || moved_q || to_read_q == reads_left_q))
    `RULE(what_is_told_waits_in_the_last_step, 1, (to_tell_q == 0 || at_q[5] && !moved_q && !open_q)
        && (!at_q[5] || moved_q || i_block.tells_q == to_tell_q))
    for (genvar n = 1; n <= 5; n++) begin : g_step
        `RULE(step_has_its_number, 1, at_q[n] == (came_q[n] && number_q[n] == number))
    end

    // ---- The machine.
    logic        named, of_bucket, of_rest, further;
    logic [31:0] area;
    link_t       link;                   // of the bucket that is read
    kind_t       kind;
    assign named     = machine_q.stage == Hinted;
    assign of_bucket = machine_q.stage == OfBucket;
    assign of_rest   = machine_q.stage == OfRest;
    assign further   = machine_q.stage == Further;
    assign area      = settings_q.overflow_slots;
    assign link      = further ? machine_q.before_word[37:0] : place_q.word;
    assign kind      = further ? '{bucket: machine_q.has_bucket, default: '0} : place_kind_q;
    `RULE(row_is_within_its_limit, 1, !open_q || machine_q.row_next <= machine_q.row_end
        && machine_q.row_end == (named || of_bucket ? 32'(place_q.slots) : 32'(settings_q.limit) + 1)
        && 32'(place_q.slots) <= 32'(settings_q.limit) + 1 && machine_q.row_next != 0
        && (named || further || machine_q.row_next >= 32'(place_q.slots))
        && (!of_bucket || machine_q.row_next == machine_q.row_end))
    `RULE(bucket_is_the_one_that_is_named, 1, !open_q
        || (named ? !machine_q.has_bucket && machine_q.bucket_next == 0 : machine_q.has_bucket == kind.bucket
            && machine_q.bucket == link && machine_q.bucket_end == (machine_q.has_bucket ? slots_of(link) : '0)
            && machine_q.bucket_next <= machine_q.bucket_end)
        && (!of_rest || machine_q.bucket_next == machine_q.bucket_end)
        && (!further || machine_q.has_bucket == kind_of(link, area).bucket))
    `RULE(word_is_read_in_the_first_trip_of_a_reading, 1, !open_q
        || (named || of_bucket ? !machine_q.has_word && !parts_q[Word] : machine_q.word_is_here == !parts_q[Word])
        && (!of_rest || machine_q.has_word == machine_q.word_is_here) && (!further || machine_q.has_word)
        && (!named && !of_bucket || !machine_q.word_is_here))
    `RULE(readings_are_fewer_than_the_most, 1, !open_q || machine_q.readings < settings_q.most_readings
        && (machine_q.readings != 0) == further && (further || !machine_q.before_whole))
    `RULE(place_is_that_of_a_slot, 1, !open_q || 32'(place_q.address[5:0]) % SlotBytes == 0)
    `RULE(first_trip_is_hinted, 1, !open_q || !first_q || machine_q == begun_machine(first_slots_q, place_q.slots)
        && parts_q == 3'b001)
    `RULE(request_is_known, 1, !open_q || begun_q && homed_q)
    `RULE(settings_are_those_of_its_begin, 1, !(open_q || to_tell_q != 0) || settings_q == settings_i)
    `RULE(kinds_are_those_of_the_words, 1, !open_q || place_kind_q == kind_of(place_q.word, area)
        && (!machine_q.has_word || machine_q.word_kind == kind_of(machine_q.word[37:0], area)))
    `RULE(kind_of_the_word_that_came, 1, !(open_q && at_q != 0) || word_kind_q == kind_of(word_q[37:0], area))
    `RULE(word_is_the_one_before, 1, !(open_q && at_q != 0) || !machine_q.has_word
        || parts_q[Word] && !seen_q.word_failed || word_q == machine_q.word && word_kind_q == machine_q.word_kind)

    // ---- What memories and steps have of it.
    `RULE(memories_have_what_was_told, 1, (!begun_q || i_block.i_requests.word_q == {locks_q, token_q, key_q})
        && (!homed_q || i_block.i_homes.word_q == home_q)
        && (!open_q || i_block.i_places.word_q == {first_slots_q, place_q}))
    // Of its look-up: in the memory, in a step, or on its way from the last step into the memory, as it is then.
    state_t   kept;
    machine_t machine;
    known_t   known;
    always_comb begin
        known = i_block.known_q;
        if (at_q[2]) known = i_block.known_2_q;
        if (at_q[3]) known = i_block.known_3_q;
        if (at_q[4]) known = i_block.known_4_q;
        if (at_q[5]) known = i_block.emit_known_q;
    end
    logic goes_on, is_kept;
    assign goes_on = leaves_its && !next.ends;
    assign is_kept = open_q && (trip_q && !first_q || early || goes_on);
    assign kept    = goes_on ? i_block.next_state : early ? known.state : i_block.i_states.word_q;
    assign machine = goes_on ? next.machine : machine_q;
    `RULE(place_in_the_row_is_kept, 1, !is_kept || kept.phase == machine.stage && 32'(kept.row_next) == machine.row_next)
    `RULE(place_in_the_bucket_is_kept, 1, !is_kept || 32'(kept.bucket_next) == machine.bucket_next)
    `RULE(sum_is_kept, 1, !is_kept || kept.sum == machine.sum)
    `RULE(counts_are_kept, 1, !is_kept || kept.readings == machine.readings && kept.trips == machine.trips)
    `RULE(reading_before_is_kept, 1, !is_kept || kept.before_whole == machine.before_whole
        && (machine.stage != Further || kept.before_word == machine.before_word && kept.before_sum == machine.before_sum))
    `RULE(disturbance_is_kept, 1, !is_kept || machine.disturbed == (kept.torn
        || (machine.stage == OfBucket || machine.stage == OfRest) && place_kind_q.outside
        || machine.word_is_here && machine.word_kind.outside))
    `RULE(step_has_its_trip, 1, at_q == 0 || known.seen == seen_q && known.word == word_q)
    `RULE(step_has_its_request, 1, at_q == 0 || known.locks == locks_q && known.token == token_q && known.key == key_q
        && known.home == home_q && known.place == place_q)
    logic [Value-1:0] value;
    assign value = at_q[1] ? i_block.value_q : at_q[2] ? i_block.value_2_q : at_q[3] ? i_block.value_3_q
        : at_q[4] ? i_block.value_4_q : i_block.emit_value_q;
    `RULE(step_has_its_value, 1, at_q == 0 || value == value_q)
    `RULE(trip_was_as_it_should_be, 1, at_q == 0 || !early && !leaves_its || seen_q.number == number
        && (!seen_q.word_failed || seen_q.failed && parts_q[Word]))

    // ---- What the steps have computed.
    step_2_t two;
    step_3_t three;
    logic    has_two, has_three, has_four;
    assign has_two   = open_q && (at_q[2] || at_q[3] || at_q[4]);
    assign has_three = open_q && (at_q[3] || at_q[4]);
    assign has_four  = open_q && at_q[4];
    assign three     = at_q[3] ? i_block.three_q : i_block.four_q.three;
    assign two       = at_q[2] ? i_block.two_q : three.two;
    link_t word_link;
    assign word_link = word_q[37:0];
    `RULE(sum_of_the_reading, 1, !has_two || two.sum == ended.sum && two.torn == (known.state.torn || seen_q.torn)
        && two.trips == ended.trips)
    `RULE(segment_of_the_home, 1, !has_two || two.segment == home_q >> settings_q.segment_shift)
    `RULE(bucket_and_word, 1, !has_two || two.bucket == link && two.same_bucket == (link == word_link)
        && two.knows_bucket == (place_q.word == word_link)
        && two.same_word == (word_q == known.state.before_word))
    `RULE(ends_of_buckets, 1, !has_two
        || (link[37:32] == 0 || link[37:32] > 31 || 64'(two.bucket_end) == 64'(link[31:0]) + 64'(slots_of(link)))
        && (word_link[37:32] == 0 || word_link[37:32] > 31
            || 64'(two.word_end) == 64'(word_link[31:0]) + 64'(slots_of(word_link))))
    `RULE(word_is_known, 1, !has_two || two.word_known == (further || of_rest && !seen_q.word_failed))
    `RULE(what_is_left_of_the_row, 1, !has_two || 32'(two.row_left) == 32'(settings_q.limit) + 1 - machine_q.row_next
        && two.named_left == place_q.slots - 7'(machine_q.row_next)
        && two.row_offset == 6'(place_q.address + 64'(machine_q.row_next) * SlotBytes))
    `RULE(object_fits, 1, !has_two || two.fits == (!seen_q.meta[30] && seen_q.meta[28:20] == 9'(settings_q.value_bytes)))
    `RULE(buckets_are_inside, 1, !has_three || three.bucket_inside == kind.bucket
        && (further || three.bucket_outside == kind.outside) && three.word_inside == word_kind_q.bucket
        && three.word_outside == word_kind_q.outside)
    `RULE(sums_are_compared, 1, !has_three || three.same_sum == (ended.sum == known.state.before_sum))
    `RULE(what_is_left_of_the_bucket, 1, !has_three || !kind.bucket
        || 32'(three.bucket_left) == slots_of(link) - machine_q.bucket_next
        && three.bucket_slot == link[31:0] + machine_q.bucket_next)
    `RULE(size_of_the_bucket_of_the_word, 1, !has_three || !word_kind_q.bucket
        || 32'(three.word_size) == slots_of(word_link))
    logic [63:0] row_at, bucket_at, word_at;
    logic [31:0] row_left;
    assign row_at    = place_q.address + 64'(machine_q.row_next) * SlotBytes;
    assign bucket_at = settings_q.overflow_base + 64'(link[31:0] + machine_q.bucket_next) * SlotBytes;
    assign word_at   = settings_q.overflow_base + 64'(word_link[31:0]) * SlotBytes;
    assign row_left  = (named && i_block.four_q.names_slots ? 32'(place_q.slots) : 32'(settings_q.limit) + 1)
        - machine_q.row_next;
    `RULE(room_in_the_row, 1, !has_three || 32'(three.row_room) == fitting(row_at, 32'd64)
        && 32'(three.home_room) == fitting(place_q.address, 32'd64))
    `RULE(reading_is_whole, 1, !has_four || i_block.four_q.whole == (!two.torn && !word_kind_q.outside
        && !(kind.outside && !further) && kind.bucket == word_kind_q.bucket
        && (!word_kind_q.bucket || link == word_link)))
    `RULE(word_is_told, 1, !has_four || i_block.four_q.tells_word == (two.word_known && !word_kind_q.outside
        && (word_kind_q.bucket ? place_q.word != word_link : place_q.word[37:32] != 0)))
    `RULE(index_named_more, 1, !has_four
        || i_block.four_q.names_slots == (named && 32'(place_q.slots) != machine_q.row_next))
    `RULE(slots_of_the_row, 1, !has_four || 32'(i_block.four_q.row_slots) == fitting(row_at, row_left)
        && 32'(i_block.four_q.all_slots) == fitting(place_q.address, 32'(settings_q.limit) + 1))
    `RULE(slots_of_the_bucket, 1, !has_four || 32'(i_block.four_q.bucket_slots)
        == (kind.bucket ? fitting(bucket_at, slots_of(link) - machine_q.bucket_next) : '0))
    `RULE(slots_of_the_bucket_of_the_word, 1, !has_four || 32'(i_block.four_q.word_slots)
        == (word_kind_q.bucket ? fitting(word_at, slots_of(word_link)) : '0))
    `RULE(addresses_of_the_next, 1, !has_four || i_block.four_q.row_at == row_at
        && (!kind.bucket || i_block.four_q.bucket_at == bucket_at) && i_block.four_q.word_at == word_at)
    `RULE(readings_come_to_an_end, 1, !has_four
        || i_block.four_q.last_reading == (machine_q.readings + 8'd1 == settings_q.most_readings))

    // ---- What is offered one by one stays as it was in the first clock of the last step.
    logic stays;
    assign stays = at_q[5] && !moved_q;
    `RULE(read_stays_as_it_was, 1, !(stays && to_read_q != 0)
        || (!to_read_q[Row] || i_block.row_address_q == row_q && i_block.emit_slots_q.row_slots == slots_q.row_slots)
        && (!to_read_q[Bucket] || i_block.bucket_address_q == bucket_q
            && i_block.emit_slots_q.bucket_slots == slots_q.bucket_slots)
        && (!to_read_q[Word] || i_block.word_address_q == directory_at))
    `RULE(told_stays_as_it_was, 1, !(stays && to_tell_q != 0)
        || i_block.segment_q == home_q >> settings_q.segment_shift && (!seen_q.found || i_block.fits_q == fills)
        && (!to_tell_q[1] || seen_q.found))
    // What is to be done with the trip in the last step.
    `RULE(last_step_has_its_parts, 1, !leaves_its || i_block.reads_q == next.parts && i_block.emit_todo_q.ends == next.ends
        && i_block.tells_q == {next.tells_object, next.tells_word}
        && {i_block.emit_todo_q.wants_word, i_block.emit_todo_q.wants_bucket, i_block.emit_todo_q.wants_row} == next.parts)
    `RULE(last_step_has_its_status, 1, !leaves_its || (!next.ends || i_block.emit_todo_q.status == next.status)
        && i_block.emit_todo_q.short_hint == next.short_hint && i_block.emit_todo_q.disturbed == next.disturbed
        && i_block.emit_todo_q.new_reading == next.repeats && i_block.trips_q == next.machine.trips)
    `RULE(last_step_has_its_slots, 1, !leaves_its
        || (!next.parts[Row] || i_block.emit_slots_q.row_slots == next.slots.row_slots
            && i_block.emit_slots_q.row_first == next.slots.row_first && i_block.row_address_q == next.row_address)
        && (!next.parts[Bucket] || i_block.emit_slots_q.bucket_slots == next.slots.bucket_slots
            && i_block.emit_slots_q.bucket_first == next.slots.bucket_first
            && i_block.bucket_address_q == next.bucket_address))
    `RULE(last_step_has_its_segment, 1, !leaves_its || i_block.segment_q == home_q >> settings_q.segment_shift
        && i_block.word_address_q == directory_at && (!seen_q.found || i_block.fits_q == fills))
