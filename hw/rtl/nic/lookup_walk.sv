// SPDX-License-Identifier: MIT OR Apache-2.0
// Goes on with look-ups when a trip has ended: with the next trip, or with an answer and what the
// index is told.
//
// Contract: a trip ends at `seen_*`, of each context one at a time. What follows from it leaves five
// clocks later: the set of parts and the slots of a trip in one clock, from which on its reads are
// offered one by one; or an answer, which has to be taken at once, and then up to two requests to the
// index. `word_i` is the word of the directory that was last read for the context asked for.
//
// docs/nic-lookup.md says which trips there are, ndp-runtime/nic/src/lookup/machine.rs the same as a
// program.
module lookup_walk
    import lookup_pkg::*;
#(
    parameter int unsigned SlotBytes    = 32,
    parameter int unsigned ValueWords   = 1,
    parameter int unsigned LandingLines = 32
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,
    input  settings_t                    settings_i,

    input  logic                         begun_valid_i,
    input  context_t                     begun_i,
    input  logic [63:0]                  begun_key_i,
    input  logic [15:0]                  begun_token_i,
    input  logic                         begun_locks_i,
    input  logic                         homed_valid_i,
    input  context_t                     homed_i,
    input  logic [31:0]                  home_i,
    input  logic                         begins_i,
    input  context_t                     begins_number_i,
    input  place_t                       begins_place_i,
    input  logic [6:0]                   begins_slots_i,

    input  logic                         seen_valid_i,
    output logic                         seen_ready_o,
    input  seen_t                        seen_i,
    input  logic [64*ValueWords-1:0]     seen_value_i,
    output context_t                     word_number_o,
    input  logic [63:0]                  word_i,

    output logic                         trip_o,
    output context_t                     trip_number_o,
    output logic [2:0]                   trip_parts_o,
    output slots_t                       trip_slots_o,
    output logic                         read_valid_o,
    input  logic                         read_ready_i,
    output read_t                        read_o,

    output logic                         answer_valid_o,
    output logic                         answer_frees_o,
    output context_t                     answer_number_o,
    output logic [64*(2+ValueWords)-1:0] answer_data_o,
    output logic                         tell_valid_o,
    input  logic                         tell_ready_i,
    output logic [64*(4+ValueWords)-1:0] tell_data_o,

    output walk_events_t                 events_o
);
    import lookup_walk_pkg::*;

    typedef logic [64*ValueWords-1:0] value_t;

    // ---- Read what is known of the context. All steps move at once.

    logic        move;
    logic [4:1]  valid_q;
    known_t      known, known_q, known_2_q, known_3_q, known_4_q;
    value_t      value_q, value_2_q, value_3_q, value_4_q;
    place_t      place;
    state_t      state, stored;
    logic [6:0]  first_slots;
    logic [31:0] home;
    assign seen_ready_o  = move;
    assign word_number_o = seen_i.number;

    lut_ram #(.AddressWidth(8), .DataWidth(81)) i_requests (
        .clk_i,
        .write_enable_i (begun_valid_i),
        .write_address_i(begun_i),
        .write_data_i   ({begun_locks_i, begun_token_i, begun_key_i}),
        .read_address_i (seen_i.number),
        .read_data_o    ({known.locks, known.token, known.key})
    );
    lut_ram #(.AddressWidth(8), .DataWidth(32)) i_homes (
        .clk_i,
        .write_enable_i (homed_valid_i),
        .write_address_i(homed_i),
        .write_data_i   (home_i),
        .read_address_i (seen_i.number),
        .read_data_o    (home)
    );
    lut_ram #(.AddressWidth(8), .DataWidth($bits(place_t) + 7)) i_places (
        .clk_i,
        .write_enable_i (begins_i),
        .write_address_i(begins_number_i),
        .write_data_i   ({begins_slots_i, begins_place_i}),
        .read_address_i (seen_i.number),
        .read_data_o    ({first_slots, place})
    );
    state_t next_state;
    logic   begins_emit;
    lut_ram #(.AddressWidth(8), .DataWidth($bits(state_t))) i_states (
        .clk_i,
        .write_enable_i (trip_o),
        .write_address_i(trip_number_o),
        .write_data_i   (next_state),
        .read_address_i (seen_i.number),
        .read_data_o    (stored)
    );
    always_comb begin
        state = stored;
        if (seen_i.first) begin
            state          = '0;
            state.phase    = Named;
            state.row_next = first_slots;
        end
        known.seen  = seen_i;
        known.place = place;
        known.home  = home;
        known.word  = word_i;
        known.state = state;
    end
    always_ff @(posedge clk_i) begin
        if (move) begin
            known_q   <= known;
            known_2_q <= known_q;
            known_3_q <= known_2_q;
            known_4_q <= known_3_q;
            value_q   <= seen_value_i;
            value_2_q <= value_q;
            value_3_q <= value_2_q;
            value_4_q <= value_3_q;
        end
        if (!rst_ni) valid_q <= '0;
        else if (move) valid_q <= {valid_q[3:1], seen_valid_i};
    end

    // ---- Second step: sums, ends of buckets. The bucket that this reading reads is the one that the
    // index has named, or the reading before.

    bucket_t bucket, word_bucket;
    step_2_t two_q;
    assign bucket      = known_q.state.phase == Again ? known_q.state.before_word[37:0]
        : known_q.place.word;
    assign word_bucket = known_q.word[37:0];
    always_ff @(posedge clk_i) begin
        if (move) begin
            two_q <= '{
                sum:          known_q.state.sum + known_q.seen.sum,
                torn:         known_q.state.torn || known_q.seen.torn,
                trips:        known_q.state.trips + 8'(known_q.state.trips != '1),
                segment:      known_q.home >> settings_i.segment_shift,
                bucket:       bucket,
                bucket_end:   end_of(bucket),
                word_end:     end_of(word_bucket),
                same_word:    known_q.word == known_q.state.before_word,
                same_bucket:  bucket == word_bucket,
                knows_bucket: known_q.place.word == word_bucket,
                word_known:   known_q.state.phase == Again
                    || known_q.state.phase == Rest && !known_q.seen.word_failed,
                named_left:   known_q.place.slots - known_q.state.row_next,
                row_left:     7'(settings_i.limit) + 7'd1 - known_q.state.row_next,
                row_offset:   6'(known_q.place.address)
                    + 6'(13'(known_q.state.row_next) * 13'(SlotBytes)),
                fits:         !known_q.seen.meta[30]
                    && known_q.seen.meta[28:20] == 9'(settings_i.value_bytes)
            };
        end
    end

    // ---- Third step: whether buckets are inside the area, and what is left of them.

    step_3_t three_q;
    always_ff @(posedge clk_i) begin
        if (move) begin
            three_q <= '{
                two:            two_q,
                bucket_inside:  is_inside(two_q.bucket.order, two_q.bucket_end, settings_i.overflow_slots),
                bucket_outside: is_outside(two_q.bucket.order, two_q.bucket_end,
                    settings_i.overflow_slots),
                word_inside:    is_inside(known_2_q.word[37:32], two_q.word_end,
                    settings_i.overflow_slots),
                word_outside:   is_outside(known_2_q.word[37:32], two_q.word_end,
                    settings_i.overflow_slots),
                same_sum:       two_q.sum == known_2_q.state.before_sum,
                bucket_left:    size_of(two_q.bucket.order) - known_2_q.state.bucket_next,
                bucket_slot:    two_q.bucket.place + 32'(known_2_q.state.bucket_next),
                word_size:      size_of(known_2_q.word[37:32]),
                row_room:       room(two_q.row_offset, SlotBytes, LandingLines),
                home_room:      room(6'(known_2_q.place.address), SlotBytes, LandingLines)
            };
        end
    end

    // ---- Fourth step: how the reading stands, and how many slots a next trip has.

    step_4_t four_q;
    logic    names_slots;
    assign names_slots = known_3_q.state.phase == Named && three_q.two.named_left != 0;
    always_ff @(posedge clk_i) begin
        if (move) begin
            four_q <= '{
                three:        three_q,
                whole:        !three_q.two.torn && !three_q.word_outside
                    && !(three_q.bucket_outside && known_3_q.state.phase != Again)
                    && (three_q.bucket_inside == three_q.word_inside)
                    && (!three_q.word_inside || three_q.two.same_bucket),
                tells_word:   three_q.two.word_known && !three_q.word_outside
                    && (three_q.word_inside ? !three_q.two.knows_bucket
                        : known_3_q.place.word[37:32] != 0),
                names_slots:  names_slots,
                row_slots:    smaller(three_q.row_room,
                    names_slots ? three_q.two.named_left : three_q.two.row_left),
                all_slots:    smaller(three_q.home_room, 7'(settings_i.limit) + 7'd1),
                bucket_slots: three_q.bucket_inside ? fitting(three_q.bucket_left,
                    6'(three_q.bucket_slot * 32'(SlotBytes)), SlotBytes, LandingLines) : '0,
                word_slots:   three_q.word_inside ? fitting(three_q.word_size,
                    6'(known_3_q.word[31:0] * 32'(SlotBytes)), SlotBytes, LandingLines) : '0,
                row_at:       known_3_q.place.address
                    + 64'(13'(known_3_q.state.row_next) * 13'(SlotBytes)),
                bucket_at:    settings_i.overflow_base
                    + 64'(three_q.bucket_slot) * 64'(SlotBytes),
                word_at:      settings_i.overflow_base
                    + 64'(known_3_q.word[31:0]) * 64'(SlotBytes),
                last_reading: known_3_q.state.readings + 8'd1 == settings_i.most_readings
            };
        end
    end

    // ---- Fifth step: what is to be done.

    todo_t todo;
    logic  row_goes_on, bucket_goes_on, confirmed, reading_ends;
    seen_t seen;
    assign seen           = known_4_q.seen;
    assign row_goes_on    = four_q.three.two.row_left != 0;
    assign bucket_goes_on = four_q.bucket_slots != 0;
    assign confirmed      = four_q.whole && known_4_q.state.before_whole
        && four_q.three.two.same_word && four_q.three.same_sum;
    always_comb begin
        todo         = '0;
        todo.phase   = known_4_q.state.phase;
        reading_ends = 1'b0;
        if (seen.found || seen.failed) begin
            todo.ends   = 1'b1;
            todo.status = seen.found ? index_pkg::Done : NotRead;
        end else if (known_4_q.state.phase == Again) begin
            todo.wants_row    = row_goes_on;
            todo.wants_bucket = bucket_goes_on;
            reading_ends      = !row_goes_on && !bucket_goes_on;
        end else if (known_4_q.state.phase == Rest) begin
            todo.wants_row = row_goes_on;
            reading_ends   = !row_goes_on;
        end else if (four_q.names_slots) begin
            todo.wants_row = 1'b1;
        end else begin
            todo.short_hint = known_4_q.state.phase == Named;
            if (bucket_goes_on) begin
                todo.phase        = InBucket;
                todo.wants_bucket = 1'b1;
            end else begin
                todo.phase      = Rest;
                todo.wants_word = 1'b1;
                todo.wants_row  = row_goes_on;
            end
        end
        if (reading_ends) begin
            todo.disturbed = !four_q.whole;
            if (confirmed || four_q.last_reading) begin
                todo.ends   = 1'b1;
                todo.status = confirmed ? Absent : GaveUp;
            end else begin
                todo.new_reading  = 1'b1;
                todo.phase        = Again;
                todo.wants_word   = 1'b1;
                todo.wants_row    = 1'b1;
                todo.wants_bucket = four_q.three.word_inside;
            end
        end
    end

    logic        emit_q, fresh_q, emitted;
    known_t      emit_known_q;
    value_t      emit_value_q;
    todo_t       emit_todo_q;
    slots_t      emit_slots_q, next_slots;
    logic [63:0] row_address_q, bucket_address_q, word_address_q;
    logic [31:0] segment_q;
    logic [7:0]  trips_q;
    logic [2:0]  reads_q;                       // still to be asked for
    logic [1:0]  tells_q;                       // still to be told: the word, the object
    logic        fits_q;
    state_t      after;
    always_comb begin
        next_slots = '{
            row_slots:    todo.new_reading ? four_q.all_slots : four_q.row_slots,
            row_first:    todo.new_reading ? '0 : known_4_q.state.row_next,
            bucket_slots: todo.new_reading ? four_q.word_slots : four_q.bucket_slots,
            bucket_first: todo.new_reading ? '0 : known_4_q.state.bucket_next[15:0]
        };
        after       = known_4_q.state;
        after.phase = todo.phase;
        after.sum   = four_q.three.two.sum;
        after.torn  = four_q.three.two.torn;
        after.trips = four_q.three.two.trips;
        if (todo.new_reading) begin
            after.sum          = '0;
            after.torn         = 1'b0;
            after.readings     = known_4_q.state.readings + 1'b1;
            after.before_whole = four_q.whole;
            after.before_sum   = four_q.three.two.sum;
            after.before_word  = known_4_q.word;
        end
        // The sums do not wait for what is to be done.
        if (todo.new_reading) begin
            after.row_next    = todo.wants_row ? four_q.all_slots : '0;
            after.bucket_next = todo.wants_bucket ? 31'(four_q.word_slots) : '0;
        end else begin
            if (todo.wants_row) after.row_next = known_4_q.state.row_next + four_q.row_slots;
            if (todo.wants_bucket) begin
                after.bucket_next = known_4_q.state.bucket_next + 31'(four_q.bucket_slots);
            end
        end
    end
    always_ff @(posedge clk_i) begin
        if (move) begin
            emit_known_q     <= known_4_q;
            emit_value_q     <= value_4_q;
            emit_todo_q      <= todo;
            emit_slots_q     <= next_slots;
            next_state       <= after;
            segment_q        <= four_q.three.two.segment;
            trips_q          <= four_q.three.two.trips;
            fits_q           <= four_q.three.two.fits;
            row_address_q    <= todo.new_reading ? known_4_q.place.address : four_q.row_at;
            bucket_address_q <= todo.new_reading ? four_q.word_at : four_q.bucket_at;
            word_address_q   <= settings_i.directory_base + {29'd0, four_q.three.two.segment, 3'd0};
        end
    end

    // ---- Emission. In the first clock all that is known at once, then reads or requests one by one.

    logic [2:0] read_now, reads_left;
    logic [1:0] tell_now, tells_left;
    assign read_now    = {reads_q == 3'b100, reads_q[1:0] == 2'b10, reads_q[0]};
    assign tell_now    = {tells_q == 2'b10, tells_q[0]};
    assign reads_left  = reads_q & ~(read_ready_i ? read_now : '0);
    assign tells_left  = tells_q & ~(tell_ready_i ? tell_now : '0);
    assign emitted     = reads_left == 0 && tells_left == 0;
    assign move        = !emit_q || emitted;
    assign begins_emit = emit_q && fresh_q;
    always_ff @(posedge clk_i) begin
        fresh_q <= move;
        if (!rst_ni) begin
            emit_q  <= 1'b0;
            reads_q <= '0;
            tells_q <= '0;
        end else if (move) begin
            emit_q  <= valid_q[4];
            reads_q <= valid_q[4] ? {todo.wants_word, todo.wants_bucket, todo.wants_row} : '0;
            tells_q <= '0;
            if (valid_q[4] && todo.ends) begin
                tells_q[0] <= four_q.tells_word;
                tells_q[1] <= seen.found && (four_q.three.two.fits || !seen.in_bucket);
            end
        end else begin
            reads_q <= reads_left;
            tells_q <= tells_left;
        end
    end

    assign trip_o        = begins_emit && !emit_todo_q.ends;
    assign trip_number_o = emit_known_q.seen.number;
    assign trip_parts_o  = {emit_todo_q.wants_word, emit_todo_q.wants_bucket, emit_todo_q.wants_row};
    assign trip_slots_o  = emit_slots_q;
    assign read_valid_o  = reads_q != 0;
    always_comb begin
        read_o = '{
            address: row_address_q,
            bytes:   13'(emit_slots_q.row_slots) * 13'(SlotBytes),
            slots:   emit_slots_q.row_slots,
            part:    Row,
            number:  emit_known_q.seen.number
        };
        if (read_now[Bucket]) begin
            read_o.address = bucket_address_q;
            read_o.bytes   = 13'(emit_slots_q.bucket_slots) * 13'(SlotBytes);
            read_o.slots   = emit_slots_q.bucket_slots;
            read_o.part    = Bucket;
        end
        if (read_now[Word]) begin
            read_o.address = word_address_q;
            read_o.bytes   = 13'd8;
            read_o.slots   = '0;
            read_o.part    = Word;
        end
    end

    answer_t             answer;
    index_pkg::request_t told;
    seen_t               emit_seen;
    logic                fills;
    assign emit_seen       = emit_known_q.seen;
    assign answer_valid_o  = begins_emit && emit_todo_q.ends;
    assign answer_frees_o  = tells_q == 0;
    assign answer_number_o = emit_seen.number;
    assign answer_data_o   = {emit_seen.found ? emit_value_q : '0, answer};
    assign tell_valid_o    = tells_q != 0;
    assign fills           = !tell_now[0] && fits_q;
    assign tell_data_o     = {fills ? emit_value_q : '0, told};
    always_comb begin
        answer             = '0;
        answer.epoch       = emit_known_q.place.epoch;
        answer.owner       = emit_known_q.place.owner;
        answer.bytes       = emit_seen.found ? emit_seen.meta[28:20] : '0;
        answer.version     = emit_seen.found ? emit_seen.meta[63:32] : '0;
        answer.trips       = trips_q;
        answer.has_lock    = emit_known_q.locks;
        answer.has_content = emit_seen.found;
        answer.is_pointer  = emit_seen.found && emit_seen.meta[30];
        answer.status      = emit_todo_q.status;
        answer.token       = emit_known_q.token;

        told           = '0;
        told.key       = emit_known_q.key;
        told.segment   = segment_q;
        told.home      = emit_known_q.home;
        told.operation = fills ? index_pkg::Fill : index_pkg::SetHint;
        told.token     = index_token_t'{
            zero: '0, is_fill: fills, is_last: tells_q == tell_now, tells: 1'b1,
            number: emit_seen.number};
        if (tell_now[0]) begin
            told.has_directory = 1'b1;
            {told.version, told.low_directory} = 64'(emit_known_q.word[37:0]);
        end else begin
            told.displacement = emit_seen.in_bucket ? '0 : emit_seen.displacement[7:0];
            if (fills) begin
                told.epoch   = emit_known_q.place.epoch;
                told.version = emit_seen.meta[63:32];
            end
        end
    end

    always_ff @(posedge clk_i) begin
        events_o <= '{
            disturbed_reading: begins_emit && emit_todo_q.disturbed,
            repeated_reading:  begins_emit && emit_todo_q.new_reading,
            trip:              trip_o,
            short_hint:        begins_emit && emit_todo_q.short_hint,
            not_read:          answer_valid_o && emit_todo_q.status == NotRead,
            gave_up:           answer_valid_o && emit_todo_q.status == GaveUp,
            absent:            answer_valid_o && emit_todo_q.status == Absent,
            found_in_bucket:   answer_valid_o && emit_seen.found && emit_seen.in_bucket,
            found:             answer_valid_o && emit_seen.found
        };
        if (!rst_ni) events_o <= '0;
    end

    // Of what is carried from step to step, not all is used to the end.
    logic unused;
    assign unused = ^{known_2_q, known_3_q, known_4_q, four_q, seen, emit_known_q, emit_todo_q, emit_seen,
        settings_i};

`ifndef SYNTHESIS
    a_trip_reads_something: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !trip_o || trip_parts_o != 0);
    slots_of_a_trip_are_some: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !trip_o || (!trip_parts_o[Row] || trip_slots_o.row_slots != 0)
            && (!trip_parts_o[Bucket] || trip_slots_o.bucket_slots != 0));
    a_read_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && read_valid_o && !read_ready_i) || read_valid_o && $stable(read_o));
    what_is_told_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && tell_valid_o && !tell_ready_i) || tell_valid_o && $stable(tell_data_o));
    readings_are_counted: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !trip_o || next_state.readings < settings_i.most_readings);
`endif

endmodule
