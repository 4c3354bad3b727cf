// SPDX-License-Identifier: MIT OR Apache-2.0
// What the blocks of nic_lookup tell each other: each pin has the one of its neighbour that it is named after.

    all_are_reset_together: assert property (@(posedge clk_i) {
        `BLOCK.rst_ni, `ENTRANCE.rst_ni, `INDEX.rst_ni, `ANSWERS.rst_ni, `READS.rst_ni, `LANDING.rst_ni, `SCANS.rst_ni,
        `WALK.rst_ni
    } == {8{rst_ni}});

    // ---- Settings, flushes, and what is counted.

    settings_t settings;
    assign settings = `BLOCK.settings_o;
    `WIRED(entrance_has_its_settings, {`ENTRANCE.slots_i, `ENTRANCE.segment_shift_i}, {settings.slots, settings.segment_shift})
    `WIRED(index_has_its_settings, {
        `INDEX.index_base_i, `INDEX.segments_i, `INDEX.table_base_i, `INDEX.slots_i, `INDEX.limit_i, `INDEX.more_i
    }, {
        settings.index_base, settings.segments, settings.table_base, settings.slots, settings.limit, settings.more
    })
    `RULE(slots_are_told_in_units_of_16_bytes, 1, 32'(`INDEX.slot_units_i) * 16 == SlotBytes)
    `WIRED(other_blocks_have_their_settings, {
        `ANSWERS.value_bytes_i, `LANDING.idle_time_i, `LANDING.flush_time_i, `SCANS.limit_i
    }, {settings.value_bytes, settings.idle_time, settings.flush_time, settings.limit})
    `WIRED(walk_has_all_settings, `WALK.settings_i, settings)
    `WIRED(flush_is_one_of_the_index, {`INDEX.flush_i, `BLOCK.flushed_i, `BLOCK.flush_failed_i},
        {`BLOCK.flush_o, `INDEX.flushed_o, `INDEX.flush_failed_o})
    `WIRED(events_are_counted, {`BLOCK.index_events_i, `BLOCK.walk_events_i}, {`ANSWERS.events_o, `WALK.events_o})
    `WIRED(reads_are_counted, {`BLOCK.read_valid_i, `BLOCK.read_slots_i, `BLOCK.read_bytes_i},
        {`READS.given_o, `READS.given_read_o.slots, `READS.given_read_o.bytes})

    // ---- Requests that begin.

    request_t begun;
    assign begun = `ENTRANCE.begun_request_o;
    `WIRED(answers_know_the_request, {`ANSWERS.begun_valid_i, `ANSWERS.begun_i, `ANSWERS.begun_request_i},
        {`ENTRANCE.begun_valid_o, `ENTRANCE.begun_o, begun})
    `WIRED(scans_know_the_key, {`SCANS.begun_valid_i, `SCANS.begun_i, `SCANS.begun_key_i},
        {`ENTRANCE.begun_valid_o, `ENTRANCE.begun_o, begun.key})
    `WIRED(walk_knows_the_request, {`WALK.begun_valid_i, `WALK.begun_i, `WALK.begun_key_i, `WALK.begun_token_i},
        {`ENTRANCE.begun_valid_o, `ENTRANCE.begun_o, begun.key, begun.token})
    `WIRED(walk_knows_whether_it_locks, `WALK.begun_locks_i, begun.operation == index_pkg::LockAndRead)
    `WIRED(walk_knows_the_home, {`WALK.homed_valid_i, `WALK.homed_i, `WALK.home_i},
        {`ENTRANCE.homed_valid_o, `ENTRANCE.homed_o, `ENTRANCE.home_o})
    `WIRED(context_is_free_again, {`ENTRANCE.free_i, `ENTRANCE.free_number_i}, {`ANSWERS.free_o, `ANSWERS.free_number_o})

    // ---- Answers of the index and of the walk.

    `WIRED(index_answers, {`ANSWERS.index_valid_i, `ANSWERS.index_data_i, `INDEX.m_axis_rsp_tready},
        {`INDEX.m_axis_rsp_tvalid, `INDEX.m_axis_rsp_tdata, `ANSWERS.index_ready_o})
    `WIRED(walk_answers, {`ANSWERS.walk_valid_i, `ANSWERS.walk_frees_i, `ANSWERS.walk_number_i, `ANSWERS.walk_data_i},
        {`WALK.answer_valid_o, `WALK.answer_frees_o, `WALK.answer_number_o, `WALK.answer_data_o})
    place_t place;
    assign place = `ANSWERS.begins_place_o;
    `WIRED(reads_begin_with_a_miss,
        {`READS.begins_i, `READS.begins_number_i, `READS.begins_address_i, `READS.begins_slots_i},
        {`ANSWERS.begins_o, `ANSWERS.begins_number_o, place.address, `ANSWERS.begins_slots_o})
    `WIRED(scans_know_the_slots_of_a_miss, {`SCANS.begins_i, `SCANS.begins_number_i, `SCANS.begins_slots_i},
        {`ANSWERS.begins_o, `ANSWERS.begins_number_o, `ANSWERS.begins_slots_o})
    `WIRED(walk_begins_with_a_miss, {`WALK.begins_i, `WALK.begins_number_i, `WALK.begins_place_i, `WALK.begins_slots_i},
        {`ANSWERS.begins_o, `ANSWERS.begins_number_o, place, `ANSWERS.begins_slots_o})

    // ---- Trips: what the walk reads, where it lands, and what is seen there.

    `WIRED(reads_know_the_parts_of_a_trip, {`READS.parts_valid_i, `READS.parts_number_i, `READS.parts_i},
        {`WALK.trip_o, `WALK.trip_number_o, `WALK.trip_parts_o})
    `WIRED(scans_know_the_slots_of_a_trip, {`SCANS.slots_valid_i, `SCANS.slots_number_i, `SCANS.slots_i},
        {`WALK.trip_o, `WALK.trip_number_o, `WALK.trip_slots_o})
    `WIRED(walk_reads, {`READS.walk_valid_i, `READS.walk_read_i, `WALK.read_ready_i},
        {`WALK.read_valid_o, `WALK.read_o, `READS.walk_ready_o})
    `WIRED(reads_are_given_to_the_reader, {`LANDING.cmd_valid_i, `LANDING.cmd_i, `READS.cmd_ready_i},
        {`READS.cmd_valid_o, `READS.cmd_o, `LANDING.cmd_ready_o})
    `WIRED(reads_end, {`READS.done_valid_i, `READS.done_i}, {`LANDING.done_valid_o, `LANDING.done_o})
    `WIRED(trip_that_has_ended_is_scanned, {`SCANS.ended_valid_i, `SCANS.ended_i, `READS.ended_ready_i},
        {`READS.ended_valid_o, `READS.ended_o, `SCANS.ended_ready_o})
    `WIRED(lines_are_those_that_landed, {`LANDING.line_address_i, `SCANS.line_i}, {`SCANS.line_address_o, `LANDING.line_o})
    `WIRED(walk_has_the_word_that_landed, {`LANDING.word_number_i, `WALK.word_i}, {`WALK.word_number_o, `LANDING.word_o})
    `WIRED(walk_goes_on_with_what_was_seen, {`WALK.seen_valid_i, `WALK.seen_i, `WALK.seen_value_i, `SCANS.seen_ready_i},
        {`SCANS.seen_valid_o, `SCANS.seen_o, `SCANS.seen_value_o, `WALK.seen_ready_o})

    // ---- Parameters.

    `RULE(all_have_slots_of_one_size, 1, `BLOCK.SlotBytes == SlotBytes && `ANSWERS.SlotBytes == SlotBytes
        && `READS.SlotBytes == SlotBytes && `SCANS.SlotBytes == SlotBytes && `WALK.SlotBytes == SlotBytes)
    `RULE(all_have_values_of_one_size, 1, `BLOCK.ValueWords == ValueWords && `ENTRANCE.ValueWords == ValueWords
        && `INDEX.ValueWords == ValueWords && `ANSWERS.ValueWords == ValueWords && `SCANS.ValueWords == ValueWords
        && `WALK.ValueWords == ValueWords)
    `RULE(all_have_as_many_contexts, 1, `BLOCK.LogContexts == LogContexts && `ENTRANCE.LogContexts == LogContexts
        && `ANSWERS.LogContexts == LogContexts && `READS.LogContexts == LogContexts
        && `LANDING.LogContexts == LogContexts && `SCANS.LogContexts == LogContexts)
    `RULE(all_have_regions_of_one_size, 1, `BLOCK.LandingLines == LandingLines && `ANSWERS.LandingLines == LandingLines
        && `READS.LandingLines == LandingLines && `LANDING.LandingLines == LandingLines
        && `SCANS.LandingLines == LandingLines && `WALK.LandingLines == LandingLines)
    `RULE(registers_tell_of_the_index_as_it_is, 1, `BLOCK.LogSets == LogSets && `INDEX.LogSets == LogSets
        && `BLOCK.LogWays == LogWays && `INDEX.LogWays == LogWays && `BLOCK.SegmentBits == SegmentBits
        && `INDEX.SegmentBits == SegmentBits && `BLOCK.Objects == Objects && `INDEX.Objects == Objects
        && `BLOCK.MostPins == MostPins && `INDEX.MostPins == MostPins)
    `RULE(index_has_its_parameters, 1, `INDEX.LogMisses == LogMisses && `INDEX.LogParked == LogParked)
