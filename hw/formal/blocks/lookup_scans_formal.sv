// SPDX-License-Identifier: MIT OR Apache-2.0
// lookup_scans: of each trip the row and then the bucket are scanned, but for what was not read, with the slots that were told;
// each scan gets its lines from the region of its context, in order. Trips are told of once, in order, each with what the
// scanner answered to its scans.
`include "../rules/rule.svh"
module lookup_scans_formal
    import lookup_pkg::*;
#(
    parameter int unsigned LogContexts  = 7,
    localparam int unsigned SlotBytes    = 32,
    localparam int unsigned LandingLines = 32,
    localparam int unsigned AddressBits  = 14,
    localparam int unsigned Value        = 64,
    localparam int unsigned Places       = 16    // of scans, and of lines
) (
    input logic         clk_i,
    input logic         rst_ni,
    input logic [5:0]   limit_i,
    input logic         begun_valid_i,
    input context_t     begun_i,
    input logic [63:0]  begun_key_i,
    input logic         begins_i,
    input context_t     begins_number_i,
    input logic [6:0]   begins_slots_i,
    input logic         slots_valid_i,
    input context_t     slots_number_i,
    input slots_t       slots_i,
    input logic         ended_valid_i,
    input ended_t       ended_i,
    input logic [511:0] line_i,
    input logic         seen_ready_i
);
    logic                   ended_ready_o, seen_valid_o, scanned_o;
    logic [AddressBits-1:0] line_address_o;
    seen_t                  seen_o;
    logic [Value-1:0]       seen_value_o;
    logic [1:0]             scanned_part_o;
    logic [Value+127:0]     scanned_data_o;

    power_up i_power_up (.*);
    lookup_scans #(.SlotBytes(SlotBytes), .LogContexts(LogContexts), .LandingLines(LandingLines)) i_block (.*);
    axi4_stream_rules #(.Width($bits(ended_t)), .Proven(0)) i_ended (
        .clk_i, .rst_ni, .tvalid(ended_valid_i), .tready(ended_ready_o), .payload(ended_i));
    axi4_stream_rules #(.Width($bits(seen_t) + Value)) i_seen (
        .clk_i, .rst_ni, .tvalid(seen_valid_o), .tready(seen_ready_i), .payload({seen_o, seen_value_o}));
    // What probe_scan asks of its inputs.
    logic asks, gives;
    assign asks  = i_block.key_valid && i_block.key_ready;
    assign gives = i_block.line_valid && i_block.line_ready;
    axi4_stream_rules #(.Width(152)) i_key (
        .clk_i, .rst_ni, .tvalid(i_block.key_valid), .tready(i_block.key_ready), .payload(i_block.key_data));
    axi4_stream_rules #(.Width(513)) i_line (
        .clk_i, .rst_ni, .tvalid(i_block.line_valid), .tready(i_block.line_ready),
        .payload({i_block.line_last, i_block.line}));

    // What counts of the outputs.
    logic [AddressBits+$bits(seen_t)+2*Value+132:0] seen;
    assign seen = {ended_ready_o, line_address_o, seen_valid_o, seen_valid_o ? {seen_o, seen_value_o} : '0, scanned_o,
        scanned_o ? {scanned_part_o, scanned_data_o} : '0};

    // ---- What is known of a context, which is any. The memories follow the same one.
    context_t    number;
    logic        key_known_q, first_known_q, slots_known_q;
    logic [63:0] key_of_q;
    logic [6:0]  first_of_q;
    slots_t      slots_of_q;
    arbitrary #(.Width(8)) i_number (.clk_i, .value_o(number));
    always_ff @(posedge clk_i) begin
        if (begun_valid_i && begun_i == number) {key_known_q, key_of_q} <= {1'b1, begun_key_i};
        if (begins_i && begins_number_i == number) {first_known_q, first_of_q} <= {1'b1, begins_slots_i};
        if (slots_valid_i && slots_number_i == number) {slots_known_q, slots_of_q} <= {1'b1, slots_i};
        if (!rst_ni) {key_known_q, first_known_q, slots_known_q} <= '0;
    end
    `RULE(memories_follow_one_context, 0, i_block.i_keys.g_one.address == number
        && i_block.i_first_slots.g_one.address == number && i_block.i_slots.g_one.address == number)
    `RULE(context_is_chosen, 1, i_number.chosen_q && i_block.i_keys.g_one.i_address.chosen_q
        && i_block.i_first_slots.g_one.i_address.chosen_q && i_block.i_slots.g_one.i_address.chosen_q)
    `RULE(memories_have_what_was_told, 1, (!key_known_q || i_block.i_keys.g_one.word_q == key_of_q)
        && (!first_known_q || i_block.i_first_slots.g_one.word_q == first_of_q)
        && (!slots_known_q || i_block.i_slots.g_one.word_q == slots_of_q))

    // ---- A trip that comes. Of another context than the one that is followed, the memories say what its slots are.
    logic        comes, is_its;
    logic [1:0]  came;
    logic [63:0] key;
    slots_t      slots;
    assign comes  = ended_valid_i && ended_ready_o;
    assign is_its = ended_i.number == number;
    assign came   = ended_i.parts[1:0] & ~ended_i.failed[1:0];
    assign key    = is_its ? key_of_q : i_block.key;
    assign slots  = ended_i.first ? '{row_slots: is_its ? first_of_q : i_block.first_slots, default: '0}
        : is_its ? slots_of_q : i_block.slots;
    // lookup_reads tells of a trip with its parts, and only of those; a first trip has the row alone.
    `RULE(first_trip_has_the_row_alone, 0, !ended_valid_i || !ended_i.first || ended_i.parts == 3'b001)
    `RULE(parts_that_failed_are_of_the_trip, 0, !ended_valid_i || (ended_i.failed & ~ended_i.parts) == 0)
    // lookup_answers and lookup_walk tell of slots before they are read, of at least one and of no more than fit a region.
    function automatic logic fits(input logic [6:0] count);
        fits = count != 0 && 32'(count) * SlotBytes <= 64 * LandingLines;
    endfunction
    `RULE(context_is_known_before_its_trip_ends, 0, !(ended_valid_i && is_its)
        || key_known_q && (ended_i.first ? first_known_q : slots_known_q))
    `RULE(slots_of_a_trip_fit, 0, !ended_valid_i || (!came[0] || fits(slots.row_slots))
        && (!came[1] || fits(slots.bucket_slots)))

    // ---- The trip that is scanned, as it should be: line by line, the row first.
    logic        in_q, step, reads, in_bucket, ends_scan, ends_trip, begins_scan, two_q;
    ended_t      trip_q;
    logic [63:0] key_q;
    slots_t      slots_q;
    logic [1:0]  todo_q;
    logic [6:0]  line_q, count, last_line;
    assign step        = i_block.step;
    assign reads       = todo_q != 0;
    assign in_bucket   = !todo_q[0];
    assign count       = in_bucket ? slots_q.bucket_slots : slots_q.row_slots;
    assign last_line   = 7'((32'(count) * SlotBytes + 63) / 64 - 1);
    assign begins_scan = step && line_q == 0;
    assign ends_scan   = step && (!reads || line_q == last_line);
    assign ends_trip   = ends_scan && todo_q != 2'b11;
    assign two_q       = (trip_q.parts[1:0] & ~trip_q.failed[1:0]) == 2'b11;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            in_q   <= 1'b0;
            line_q <= '0;
        end else begin
            if (comes) begin
                in_q    <= 1'b1;
                trip_q  <= ended_i;
                key_q   <= key;
                slots_q <= slots;
                todo_q  <= came;
            end else if (ends_trip) begin
                in_q    <= 1'b0;
            end else if (ends_scan) begin
                todo_q  <= 2'b10;
            end
            if (step) line_q <= ends_scan ? '0 : line_q + 1'b1;
        end
    end
    `RULE(trip_comes_when_the_one_before_is_over, 1, ended_ready_o == (!in_q || ends_trip))
    `RULE(only_a_trip_is_scanned, 1, !step || in_q)
    `RULE(trip_is_as_it_should_be, 1, i_block.trip_q == in_q && i_block.line_q == line_q && (!in_q
        || i_block.todo_q == todo_q && i_block.key_q == key_q && i_block.slots_q == slots_q
        && i_block.info_q.number == trip_q.number && i_block.info_q.first == trip_q.first
        && i_block.info_q.failed == (trip_q.failed != 0) && i_block.info_q.word_failed == trip_q.failed[Word]))
    `RULE(trip_has_slots, 1, !in_q || (!todo_q[0] || fits(slots_q.row_slots)) && (!todo_q[1] || fits(slots_q.bucket_slots)))
    `RULE(lines_are_those_of_its_slots, 1, !in_q
        || (!todo_q[0] || 32'(i_block.row_last_q) == (32'(slots_q.row_slots) * SlotBytes - 1) / 64)
        && (!todo_q[1] || 32'(i_block.bucket_last_q) == (32'(slots_q.bucket_slots) * SlotBytes - 1) / 64))
    `RULE(line_is_within_its_scan, 1, line_q == 0 || in_q && reads && line_q <= last_line)
    `RULE(what_was_read_is_scanned, 1, !in_q || todo_q == (trip_q.parts[1:0] & ~trip_q.failed[1:0]) || two_q && todo_q == 2'b10)
    // Two regions for each context.
    logic [31:0] region_of;
    assign region_of = 2 * ((trip_q.number[7] ? 32'd1 << LogContexts : '0) + 32'(trip_q.number[6:0])) + 32'(in_bucket);
    `RULE(line_is_of_its_region, 1, !(step && reads)
        || line_address_o == AddressBits'(region_of * LandingLines + 32'(line_q)) && 32'(line_q) < LandingLines)

    // ---- Scans and lines go to the scanner in the order in which they begin and are read.
    probe_scan_pkg::scan_t scan;
    logic [4:0]            scans_wait, lines_wait;
    always_comb begin
        scan = '0;
        scan.is_overflow  = in_bucket;
        scan.more_slots   = 6'(count - 7'd1);
        scan.token        = trip_q.number;
        scan.limit        = 16'(limit_i);
        scan.displacement = in_bucket ? slots_q.bucket_first : 16'(slots_q.row_first);
        scan.key          = key_q;
    end
    ordered_words #(.Width(152), .Most(Places)) i_scans (
        .clk_i, .rst_ni, .push_i(begins_scan && reads), .pushed_i(scan), .pop_i(asks), .popped_i(i_block.key_data),
        .inside_o(scans_wait));
    logic [2:1] read_q, last_q;     // lines come two clocks after their addresses
    always_ff @(posedge clk_i) begin
        read_q <= rst_ni ? {read_q[1], step && reads} : '0;
        last_q <= {last_q[1], ends_scan};
    end
    ordered_words #(.Width(513), .Most(Places)) i_lines (
        .clk_i, .rst_ni, .push_i(read_q[2]), .pushed_i({last_q[2], line_i}), .pop_i(gives),
        .popped_i({i_block.line_last, i_block.line}), .inside_o(lines_wait));
    `RULE(scanner_gets_what_is_offered, 1, {i_block.i_scanner.s_axis_key_tvalid, i_block.i_scanner.s_axis_key_tdata,
        i_block.i_scanner.s_axis_data_tvalid, i_block.i_scanner.s_axis_data_tdata, i_block.i_scanner.s_axis_data_tlast,
        i_block.i_scanner.s_axis_data_tuser}
        == {i_block.key_valid, i_block.key_data, i_block.line_valid, i_block.line, i_block.line_last, 1'b0})
    `RULE(scans_and_lines_that_wait_are_offered, 1, i_block.key_valid == (scans_wait != 0)
        && i_block.line_valid == (lines_wait != 0))
    `RULE(queues_follow_the_same_ones, 0, i_block.i_scans.mark == i_scans.begins
        && i_block.i_lines.mark == i_lines.begins)
    `RULE(queues_have_what_waits, 1, i_block.i_scans.count == scans_wait && i_block.i_lines.count == lines_wait
        && 32'(i_block.lines_q) == 32'(lines_wait) + 32'(read_q[1]) + 32'(read_q[2]) && 32'(i_block.lines_q) <= Places
        && i_block.coming_q == read_q && (!read_q[1] || i_block.coming_last_q[0] == last_q[1])
        && (!read_q[2] || i_block.coming_last_q[1] == last_q[2]))
    `RULE(followed_scan_is_in_its_queue, 1, i_block.i_scans.followed_q == i_scans.followed_q && (!i_scans.followed_q
        || i_scans.ahead_q == i_block.i_scans.at_q - i_block.i_scans.popped_q
        && i_block.i_scans.word_q == i_scans.word_q))
    `RULE(followed_line_is_in_its_queue, 1, i_block.i_lines.followed_q == i_lines.followed_q && (!i_lines.followed_q
        || i_lines.ahead_q == i_block.i_lines.at_q - i_block.i_lines.popped_q
        && i_block.i_lines.word_q == i_lines.word_q))

    // ---- Trips are told of in the order in which they ended. One is followed, of the context that is.
    typedef struct packed {
        context_t number;
        logic     first;
        logic     word_failed;
    } trip_t;
    logic [4:0] trips;
    ordered_words #(.Width($bits(trip_t)), .Most(Places + 2)) i_trips (
        .clk_i, .rst_ni, .push_i(comes), .pushed_i({ended_i.number, ended_i.first, ended_i.failed[Word]}),
        .pop_i(seen_valid_o && seen_ready_i), .popped_i({seen_o.number, seen_o.first, seen_o.word_failed}), .inside_o(trips));
    `RULE(trip_is_of_the_context, 0, !i_trips.begins || is_its)

    // Its scans, by their numbers, and the answers to them.
    typedef struct packed {
        logic [Value-1:0]        value;
        probe_scan_pkg::answer_t answer;
    } hit_t;
    ended_t     its_trip_q;
    logic       at_q;               // it is the one that is scanned
    logic [5:0] scans_q, answers_q; // all scans that began, and that were answered
    logic [1:0] sent_q, answered_q; // its row, its bucket
    logic [1:0][5:0] scan_q;
    hit_t [1:0] hit_q;
    logic       hit_taken;
    logic [1:0] its;                // its row, or its bucket, is the scan that is answered next
    assign hit_taken = i_block.hit_valid && i_block.hit_ready;
    for (genvar p = 0; p < 2; p++) begin : g_part
        assign its[p] = i_trips.followed_q && sent_q[p] && !answered_q[p] && answers_q == scan_q[p];
        always_ff @(posedge clk_i) begin
            if (!rst_ni || i_trips.begins) begin
                sent_q[p]     <= 1'b0;
                answered_q[p] <= 1'b0;
            end else begin
                if (at_q && begins_scan && reads && in_bucket == p) begin
                    sent_q[p] <= 1'b1;
                    scan_q[p] <= scans_q;
                end
                if (hit_taken && its[p]) begin
                    answered_q[p] <= 1'b1;
                    hit_q[p]      <= i_block.hit_data;
                end
            end
        end
    end
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            scans_q   <= '0;
            answers_q <= '0;
            at_q      <= 1'b0;
        end else begin
            scans_q   <= scans_q + 6'(begins_scan && reads);
            answers_q <= answers_q + 6'(hit_taken);
            at_q      <= i_trips.begins || at_q && !ends_trip;
        end
        if (i_trips.begins) its_trip_q <= ended_i;
    end
    logic [1:0] scanned, found, errors, torn;
    logic [31:0] sum;
    hit_t       best;
    assign scanned = its_trip_q.parts[1:0] & ~its_trip_q.failed[1:0];
    for (genvar p = 0; p < 2; p++) begin : g_of
        assign found[p]  = scanned[p] && hit_q[p].answer.status == probe_scan_pkg::Found;
        assign errors[p] = scanned[p] && hit_q[p].answer.status == probe_scan_pkg::Error;
        assign torn[p]   = scanned[p] && hit_q[p].answer.torn;
    end
    assign sum  = (scanned[0] ? hit_q[0].answer.sum : '0) + (scanned[1] ? hit_q[1].answer.sum : '0);
    assign best = found[0] ? hit_q[0] : hit_q[1];
    logic its_seen;
    assign its_seen = i_trips.followed_q && seen_valid_o && i_trips.ahead_q == 0;
    `RULE(trip_is_told_of_after_its_scans, 1, !its_seen || answered_q == scanned)
    `RULE(what_is_found_is_told, 1, !its_seen || seen_o.found == (found != 0) && (found == 0
        || seen_o.in_bucket == !found[0] && seen_o.displacement == best.answer.displacement
        && seen_o.meta == best.answer.meta && seen_value_o == best.value))
    `RULE(what_both_scans_say_is_told, 1, !its_seen || seen_o.torn == (torn != 0) && seen_o.sum == sum
        && seen_o.failed == (its_trip_q.failed != 0 || errors != 0))
    `RULE(row_is_scanned_before_the_bucket, 1, !(at_q && begins_scan && reads && in_bucket) || sent_q[0] == scanned[0])
    `RULE(answer_is_traced, 1, scanned_o == hit_taken && (!scanned_o || scanned_data_o == i_block.hit_data
        && (!its[0] || scanned_part_o == Row) && (!its[1] || scanned_part_o == Bucket)))
    `RULE(answer_meets_its_scan, 1, !(i_block.hit_valid && its != 0)
        || i_block.told_valid && (!i_block.told.scans || i_block.told.number == number))
    `RULE(answers_are_of_scans, 1, !i_block.hit_valid || i_block.told_valid)

    // ---- What waits to be told of, which induction needs to be told: an entry for each scan, or for a trip that has none.
    typedef struct packed {
        context_t number;
        logic     first;
        logic     failed;
        logic     word_failed;
        logic     scans;
        logic     is_bucket;
        logic     last;
    } entry_t;
    entry_t [Places-1:0] entries;
    logic [Places-1:0]   there, scan_there, last_there;
    logic [4:0]          told_count;
    logic                tells;
    logic [4:0]          place;        // of the next entry
    assign entries    = i_block.i_told.g_all.words_q;
    assign told_count = i_block.i_told.count;
    assign tells      = i_block.scan_told;
    assign place      = told_count - 5'(tells);
    for (genvar n = 0; n < Places; n++) begin : g_entry
        assign there[n]      = told_count > 5'(n);
        assign scan_there[n] = there[n] && entries[n].scans;
        assign last_there[n] = there[n] && entries[n].last;
    end
    function automatic logic [Places-1:0] ahead_of(input logic [4:0] at);
        for (int unsigned n = 0; n < Places; n++) ahead_of[n] = 5'(n) < at;
    endfunction
    // How many of the first n of them are scans.
    logic [Places:0][5:0] scans_of_q;
    for (genvar n = 0; n <= Places; n++) begin : g_scans_of
        always_ff @(posedge clk_i) begin
            if (!rst_ni) scans_of_q[n] <= '0;
            else scans_of_q[n] <= (tells ? scans_of_q[n < Places ? n + 1 : n] - 6'(scan_there[0]) : scans_of_q[n])
                + 6'(begins_scan && reads && place < 5'(n));
        end
        if (n == 0) begin : g_none
            `RULE(none_is_counted, 1, scans_of_q[n] == 0)
        end else begin : g_one
            `RULE(entries_are_counted, 1, scans_of_q[n] == scans_of_q[n-1] + 6'(scan_there[n-1]) && 32'(scans_of_q[n]) <= n)
        end
    end
    `RULE(scans_have_their_places, 1, i_block.scans_q == told_count && 32'(told_count) <= Places)
    `RULE(scans_are_counted, 1, scans_q - answers_q == scans_of_q[Places]
        && 6'(scans_wait) + 6'(i_block.i_scanner.scans_q) == scans_q - answers_q)
    `RULE(answers_are_counted, 1, i_block.i_scanner.whole_q <= i_block.i_scanner.scans_q
        && (!i_block.hit_valid || i_block.i_scanner.whole_q != 0))
    `RULE(trips_are_counted, 1, trips == 5'($countones(last_there)) + 5'(seen_valid_o)
        + 5'(in_q && !(line_q != 0 && todo_q != 2'b11)))
    // The newest entry is the last of its trip, unless the row of the trip that is scanned has begun and its bucket has not.
    `RULE(rows_wait_for_their_buckets, 1, (told_count == 0 ? !i_block.row_waits_q : entries[4'(told_count - 5'd1)].last)
        == !(in_q && two_q && (todo_q == 2'b11) == (line_q != 0)))

    // The entries of the trip that is followed: of its row, if its bucket is scanned, too, and the last one.
    logic       row_told_q, last_told_q, unsaid_q, row_said_q, said_q;
    logic [4:0] row_at_q, last_at_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            {row_told_q, last_told_q, unsaid_q, row_said_q, said_q} <= '0;
        end else if (i_trips.begins) begin
            {row_told_q, last_told_q, row_said_q, said_q} <= '0;
            unsaid_q <= 1'b1;
        end else begin
            if (at_q && begins_scan && todo_q == 2'b11) begin
                row_told_q <= 1'b1;
                row_at_q   <= place;
            end else if (tells && row_told_q) begin
                row_told_q <= row_at_q != 0;
                row_said_q <= row_at_q == 0;
                row_at_q   <= row_at_q - 1'b1;
            end
            if (at_q && begins_scan && todo_q != 2'b11) begin
                last_told_q <= 1'b1;
                unsaid_q    <= 1'b0;
                last_at_q   <= place;
            end else if (tells && last_told_q) begin
                last_told_q <= last_at_q != 0;
                said_q      <= last_at_q == 0;
                last_at_q   <= last_at_q - 1'b1;
            end else if (seen_ready_i && its_seen) begin
                said_q <= 1'b0;
            end
        end
    end
    logic two;
    assign two = scanned == 2'b11;
    `RULE(followed_trip_is_in_one_place, 1, 2'(unsaid_q) + 2'(last_told_q) + 2'(said_q) == 2'(i_trips.followed_q))
    `RULE(followed_trip_is_scanned, 1, (!unsaid_q || at_q) && (!at_q || in_q && trip_q == its_trip_q && two == two_q)
        && (!at_q || unsaid_q == !(line_q != 0 && todo_q != 2'b11)))
    `RULE(followed_trip_is_of_the_context, 1, !i_trips.followed_q || its_trip_q.number == number
        && i_trips.word_q == {number, its_trip_q.first, its_trip_q.failed[Word]})
    entry_t its_last, its_row;
    assign its_last = '{number: number, first: its_trip_q.first, failed: its_trip_q.failed != 0,
        word_failed: its_trip_q.failed[Word], scans: scanned != 0, is_bucket: !scanned[0] || two, last: 1'b1};
    always_comb begin
        its_row           = its_last;
        its_row.is_bucket = 1'b0;
        its_row.last      = 1'b0;
    end
    `RULE(last_entry_is_there, 1, !last_told_q || last_at_q < told_count && entries[4'(last_at_q)] == its_last)
    `RULE(entry_of_the_row_is_there, 1, !row_told_q || two && row_at_q < told_count && entries[4'(row_at_q)] == its_row)
    `RULE(row_goes_before_the_bucket, 1, !i_trips.followed_q || !two
        || (row_told_q ? (last_told_q ? last_at_q == row_at_q + 1'b1 : unsaid_q && told_count == row_at_q + 1'b1)
            : last_told_q ? row_said_q && last_at_q == 0 : !(row_said_q && unsaid_q) || told_count == 0))
    `RULE(row_is_told_of_once, 1, !i_trips.followed_q || (row_told_q || row_said_q) == (two && (!unsaid_q
        || todo_q != 2'b11 || line_q != 0)) && !(row_told_q && row_said_q))
    `RULE(entries_before_are_whole, 1, !(row_told_q || last_told_q && !two)
        || (row_told_q && row_at_q == 0 || !row_told_q && last_at_q == 0 ? !i_block.row_waits_q
            : entries[4'((row_told_q ? row_at_q : last_at_q) - 5'd1)].last))
    // Which of its scans have begun and been answered.
    logic [1:0] begun;
    assign begun = unsaid_q ? (two && (todo_q != 2'b11 || line_q != 0) ? 2'b01 : 2'b00) : scanned;
    `RULE(scans_begin_once, 1, !i_trips.followed_q || sent_q == begun)
    `RULE(scans_are_answered_as_they_leave, 1, !i_trips.followed_q || answered_q
        == {sent_q[1] && said_q, sent_q[0] && (two ? row_said_q : said_q)})
    `RULE(row_has_its_number, 1, !(i_trips.followed_q && row_told_q) || scan_q[0] - answers_q == scans_of_q[row_at_q])
    `RULE(last_scan_has_its_number, 1, !(i_trips.followed_q && last_told_q && scanned != 0)
        || (scanned[1] ? scan_q[1] : scan_q[0]) - answers_q == scans_of_q[last_at_q])
    `RULE(trips_ahead_are_counted, 1, !i_trips.followed_q || i_trips.ahead_q == (said_q ? 5'd0 : 5'(seen_valid_o)
        + 5'($countones(last_told_q ? last_there & ahead_of(last_at_q) : last_there))))
    // What its row has said waits for its bucket.
    seen_t row;
    assign row = i_block.row_q;
    `RULE(row_waits_as_it_was, 1, !(i_trips.followed_q && two && row_said_q && !said_q) || i_block.row_waits_q
        && row.found == found[0] && row.torn == torn[0] && row.sum == hit_q[0].answer.sum
        && row.failed == (its_trip_q.failed != 0 || errors[0]) && (!found[0]
            || row.displacement == hit_q[0].answer.displacement && row.meta == hit_q[0].answer.meta
            && i_block.row_value_q == hit_q[0].value))
    `RULE(followed_trip_is_told_of, 1, !said_q || seen_valid_o && seen_o.number == number
        && seen_o.first == its_trip_q.first && seen_o.word_failed == its_trip_q.failed[Word])

    `REACHED(trip_of_two_scans_is_told_of, its_seen && two && seen_o.found)
    `REACHED(found_in_the_bucket, its_seen && two && seen_o.found && seen_o.in_bucket)
    `REACHED(first_trip_is_told_of, its_seen && seen_o.first && scanned[0])
    `REACHED(trip_without_a_scan_is_told_of, its_seen && scanned == 0 && its_trip_q.parts == 3'b111)
    `REACHED(bucket_alone_is_scanned, its_seen && scanned == 2'b10 && its_trip_q.parts[0])
    `REACHED(scan_has_three_lines, step && in_q && at_q && line_q == 7'd2 && ends_scan)
endmodule
