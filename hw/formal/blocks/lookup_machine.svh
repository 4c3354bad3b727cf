// SPDX-License-Identifier: MIT OR Apache-2.0
// What a look-up in host memory does when a trip has ended: docs/nic-lookup.md, "A look-up in host memory", and
// ndp-runtime/nic/src/lookup/machine.rs, once more. Its first reading has three stages, all further ones have the last.
    localparam logic [1:0] Hinted   = 2'd0;
    localparam logic [1:0] OfBucket = 2'd1;
    localparam logic [1:0] OfRest   = 2'd2;
    localparam logic [1:0] Further  = 2'd3;
    localparam int unsigned WordParts = 3;

    // Of a word of the directory, what names a bucket: the order and one, and the place.
    typedef logic [37:0] link_t;
    function automatic logic [31:0] slots_of(input link_t link);
        slots_of = 32'd1 << (link[37:32] - 6'd1);
    endfunction
    typedef struct packed {
        logic bucket;                    // it names one of the area
        logic outside;                   // it names none of the area, nor that there is none
    } kind_t;
    function automatic kind_t kind_of(input link_t link, input logic [31:0] area);
        kind_of.bucket  = link[37:32] >= 6'd1 && link[37:32] <= 6'd31
            && 64'(link[31:0]) + 64'(slots_of(link)) <= 64'(area);
        kind_of.outside = link[37:32] != 0 && !kind_of.bucket;
    endfunction
    // Of the slots that are wanted from an address on, those that one read brings.
    function automatic logic [31:0] fitting(input logic [63:0] address, input logic [31:0] wanted);
        logic [31:0] fits;
        fits = (64 * LandingLines - 32'(address[5:0])) / SlotBytes;
        if (fits > 64) fits = 64;
        fitting = wanted < fits ? wanted : fits;
    endfunction

    typedef struct packed {
        logic [1:0]  stage;
        logic [31:0] row_next;           // slots of the row and of the bucket that were asked for, and all of the reading
        logic [31:0] row_end;
        logic        has_bucket;
        link_t       bucket;
        logic [31:0] bucket_next;
        logic [31:0] bucket_end;
        logic        has_word;           // one was read, at any time
        logic        word_is_here;       // in this reading
        logic [63:0] word;
        kind_t       word_kind;
        logic [31:0] sum;
        logic        disturbed;
        logic        before_whole;       // the reading before
        logic [63:0] before_word;
        logic [31:0] before_sum;
        logic [7:0]  readings;           // that have ended
        logic [7:0]  trips;
    } machine_t;

    typedef struct packed {
        logic        ends;               // with an answer; else with a trip
        logic [3:0]  status;
        logic        short_hint;         // what is counted
        logic        disturbed;
        logic        repeats;
        logic [2:0]  parts;
        slots_t      slots;
        logic [63:0] row_address;
        logic [63:0] bucket_address;
        logic        tells_word;
        logic        tells_object;
        logic        fills;
        machine_t    machine;            // as it goes on
    } next_t;

    function automatic machine_t begun_machine(input logic [6:0] first_slots, input logic [6:0] slots);
        begun_machine          = '0;
        begun_machine.row_next = 32'(first_slots);
        begun_machine.row_end  = 32'(slots);
    endfunction

    // What a trip has brought.
    function automatic machine_t after_trip(input machine_t old, input seen_t seen, input logic brings_word,
                                            input logic [63:0] word, input kind_t word_kind);
        after_trip           = old;
        after_trip.sum       = old.sum + seen.sum;
        after_trip.disturbed = old.disturbed || seen.torn;
        if (old.trips != 8'd255) after_trip.trips = old.trips + 8'd1;
        if (brings_word && !seen.word_failed) begin
            after_trip.has_word     = 1'b1;
            after_trip.word_is_here = 1'b1;
            after_trip.word         = word;
            after_trip.word_kind    = word_kind;
            if (word_kind.outside) after_trip.disturbed = 1'b1;
        end
    endfunction

    // Whether the reading still has something to ask for.
    function automatic logic row_is_left(input machine_t machine);
        row_is_left = machine.row_next != machine.row_end;
    endfunction
    function automatic logic bucket_is_left(input machine_t machine);
        bucket_is_left = machine.has_bucket && machine.bucket_next != machine.bucket_end;
    endfunction
    function automatic machine_t with_bucket(input machine_t machine, input link_t link, input kind_t kind);
        with_bucket             = machine;
        with_bucket.has_bucket  = kind.bucket;
        with_bucket.bucket      = link;
        with_bucket.bucket_next = '0;
        with_bucket.bucket_end  = kind.bucket ? slots_of(link) : '0;
    endfunction

    // What is to be asked for in the next trip, and what is done if that is nothing.
    function automatic next_t go_on(input machine_t ended, input place_t place, input kind_t place_kind,
                                     input settings_t settings);
        machine_t    machine;
        logic        wants_word, whole;
        logic [31:0] row, bucket;
        go_on      = '0;
        machine    = ended;
        wants_word = 1'b0;
        if (machine.stage == Hinted && !row_is_left(machine)) begin
            go_on.short_hint = 1'b1;
            machine = with_bucket(machine, place.word, place_kind);
            machine.stage = OfBucket;
            if (place_kind.outside) machine.disturbed = 1'b1;
        end
        if (machine.stage == OfBucket && !bucket_is_left(machine)) begin
            machine.stage   = OfRest;
            machine.row_end = 32'(settings.limit) + 32'd1;
            wants_word      = 1'b1;
        end
        if ((machine.stage == OfRest || machine.stage == Further) && !wants_word && !row_is_left(machine)
            && !bucket_is_left(machine)) begin
            whole = !machine.disturbed && machine.has_bucket == machine.word_kind.bucket
                && (!machine.has_bucket || machine.bucket == machine.word[37:0]);
            go_on.disturbed = !whole;
            machine.readings = machine.readings + 8'd1;
            if (whole && machine.before_whole && machine.before_word == machine.word
                && machine.before_sum == machine.sum) begin
                go_on.ends   = 1'b1;
                go_on.status = Absent;
            end else if (machine.readings >= settings.most_readings) begin
                go_on.ends   = 1'b1;
                go_on.status = GaveUp;
            end else begin
                go_on.repeats        = 1'b1;
                machine.before_whole = whole;
                machine.before_word  = machine.word;
                machine.before_sum   = machine.sum;
                machine.stage        = Further;
                machine.sum          = '0;
                machine.disturbed    = 1'b0;
                machine.word_is_here = 1'b0;
                machine.row_next     = '0;
                machine.row_end      = 32'(settings.limit) + 32'd1;
                machine = with_bucket(machine, machine.word[37:0], machine.word_kind);
                wants_word           = 1'b1;
            end
        end
        go_on.parts          = {wants_word, bucket_is_left(machine), row_is_left(machine)};
        go_on.row_address    = place.address + 64'(machine.row_next) * 64'(SlotBytes);
        go_on.bucket_address = settings.overflow_base
            + (64'(machine.bucket[31:0]) + 64'(machine.bucket_next)) * 64'(SlotBytes);
        row    = fitting(go_on.row_address, machine.row_end - machine.row_next);
        bucket = bucket_is_left(machine) ? fitting(go_on.bucket_address, machine.bucket_end - machine.bucket_next) : '0;
        go_on.slots = '{row_slots: 7'(row), row_first: 7'(machine.row_next), bucket_slots: 7'(bucket),
            bucket_first: 16'(machine.bucket_next)};
        machine.row_next    = machine.row_next + row;
        machine.bucket_next = machine.bucket_next + bucket;
        go_on.machine = machine;
    endfunction

    function automatic next_t next_of(input machine_t ended, input seen_t seen, input place_t place,
                                      input kind_t place_kind, input settings_t settings);
        next_of = go_on(ended, place, place_kind, settings);
        if (seen.found || seen.failed) begin
            next_of         = '0;
            next_of.ends    = 1'b1;
            next_of.status  = seen.found ? index_pkg::Done : NotRead;
            next_of.machine = ended;
        end
        if (next_of.ends) next_of.parts = '0;
        // The word that was read last, if it names another bucket than the index did; and the object.
        next_of.tells_word = next_of.ends && ended.has_word && !ended.word_kind.outside
            && (ended.word[37:32] == 0 ? place.word[37:32] != 0 : ended.word[37:0] != place.word);
        next_of.fills        = seen.found && !seen.meta[30] && seen.meta[28:20] == 9'(settings.value_bytes);
        next_of.tells_object = next_of.ends && seen.found && (next_of.fills || !seen.in_bucket);
    endfunction
