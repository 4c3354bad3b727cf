// SPDX-License-Identifier: MIT OR Apache-2.0
// lookup_reads: each read of a trip, first or further, is given once, with what it came with, to the queue and the region of its
// context; both kinds take turns. A trip is told of once, when all its reads have ended, with the set of those that failed.
// There is room for all that begins and ends.
`include "../rules/rule.svh"
module lookup_reads_formal
    import lookup_pkg::*;
    import vector_pkg::*;
#(
    parameter int unsigned LogContexts  = 1,
    parameter bit          Cleared      = 0,    // runs begin when all contexts are cleared, for covers
    localparam int unsigned SlotBytes    = 32,
    localparam int unsigned LandingLines = 32,
    localparam int unsigned Contexts     = 2**LogContexts + 2**LogSoftware
) (
    input logic              clk_i,
    input logic              rst_ni,
    input logic              begins_i,
    input context_t          begins_number_i,
    input logic [63:0]       begins_address_i,
    input logic [6:0]        begins_slots_i,
    input logic              parts_valid_i,
    input context_t          parts_number_i,
    input logic [2:0]        parts_i,
    input logic              walk_valid_i,
    input read_t             walk_read_i,
    input logic [Queues-1:0] cmd_ready_i,
    input logic              done_valid_i,
    input done_t             done_i,
    input logic              ended_ready_i
);
    logic              clearing_o, walk_ready_o, given_o, ended_valid_o;
    logic [Queues-1:0] cmd_valid_o;
    element_t          cmd_o;
    read_t             given_read_o;
    ended_t            ended_o;

    if (!Cleared) begin : g_reset
        power_up i_power_up (.*);
    end
    lookup_reads #(.SlotBytes(SlotBytes), .LogContexts(LogContexts), .LandingLines(LandingLines)) i_block (.*);
    axi4_stream_rules #(.Width($bits(read_t)), .Proven(0)) i_walk (
        .clk_i, .rst_ni, .tvalid(walk_valid_i), .tready(walk_ready_o), .payload(walk_read_i));
    // The queues together: a read stays in the one to which it is offered.
    logic gives;
    assign gives = (cmd_valid_o & cmd_ready_i) != 0;
    axi4_stream_rules #(.Width(Queues + $bits(element_t))) i_cmd (
        .clk_i, .rst_ni, .tvalid(cmd_valid_o != 0), .tready(gives), .payload({cmd_valid_o, cmd_o}));
    axi4_stream_rules #(.Width($bits(ended_t))) i_ended (
        .clk_i, .rst_ni, .tvalid(ended_valid_o), .tready(ended_ready_i), .payload(ended_o));

    // What counts of the outputs.
    logic [Queues+$bits(element_t)+$bits(read_t)+$bits(ended_t)+3:0] seen;
    assign seen = {clearing_o, walk_ready_o, cmd_valid_o, cmd_valid_o != 0 ? cmd_o : '0, given_o, given_o ? given_read_o : '0,
        ended_valid_o, ended_valid_o ? ended_o : '0};

    // ---- Sets of contexts, and sets of parts of each.
    typedef logic [Contexts-1:0]      contexts_t;
    typedef logic [Contexts-1:0][2:0] parts_of_t;
    typedef logic [7:0]               slot_t;    // a place in one of the queues
    // Their numbers may have any bits, not only the low ones of the first contexts.
    context_t names;
    arbitrary #(.Width(8)) i_names (.clk_i, .value_o(names));
    function automatic context_t name(input int unsigned c);
        name = names ^ (c < 2**LogContexts ? context_t'(c) : 8'd128 + context_t'(c - 2**LogContexts));
    endfunction
    function automatic contexts_t only(input logic valid, input context_t number);
        for (int unsigned c = 0; c < Contexts; c++) only[c] = valid && number == name(c);
    endfunction
    function automatic logic [2:0] parts_of(input parts_of_t parts, input context_t number);
        parts_of = '0;
        for (int unsigned c = 0; c < Contexts; c++) if (number == name(c)) parts_of |= parts[c];
    endfunction
    function automatic logic [2:0] bit_of(input logic [1:0] part);
        bit_of = 3'b001 << part;
    endfunction

    // One of them, which is any.
    context_t  number;
    contexts_t its;
    arbitrary #(.Width(8)) i_number (.clk_i, .value_o(number));
    assign its = only(1'b1, number);

    // ---- The trips: which parts they have, and which of them have come as reads, were given, and have ended. Of the context that
    // is followed, also which have failed.
    contexts_t   trip_q, first_q, begins, furthers, ends;
    parts_of_t   parts_q, came_q, given_q, ended_q;
    logic [2:0]  failed_q;
    read_token_t given, done;
    logic        walks;
    assign given    = cmd_o.token;
    assign done     = done_i.token;
    assign walks    = walk_valid_i && walk_ready_o;
    assign begins   = only(begins_i, begins_number_i);
    assign furthers = only(parts_valid_i, parts_number_i);
    assign ends     = only(ended_valid_o && ended_ready_i, ended_o.number);
    contexts_t over, waits;
    for (genvar c = 0; c < Contexts; c++) begin : g_trip
        always_ff @(posedge clk_i) begin
            if (!rst_ni || ends[c]) begin
                trip_q[c]   <= 1'b0;
                first_q[c]  <= 1'b0;
                parts_q[c]  <= '0;
                came_q[c]   <= '0;
                given_q[c]  <= '0;
                ended_q[c]  <= '0;
            end else begin
                if (begins[c] || furthers[c]) begin
                    trip_q[c]  <= 1'b1;
                    first_q[c] <= begins[c];
                    parts_q[c] <= begins[c] ? bit_of(Row) : parts_i;
                end
                if (begins[c]) came_q[c] <= bit_of(Row);
                if (walks && walk_read_i.number == name(c)) came_q[c] <= came_q[c] | bit_of(walk_read_i.part);
                if (gives && given.number == name(c)) given_q[c] <= given_q[c] | bit_of(given.part);
                if (done_valid_i && done.number == name(c)) ended_q[c] <= ended_q[c] | bit_of(done.part);
            end
        end
        assign over[c]  = ended_q[c] != 0 && ended_q[c] == parts_q[c];
        assign waits[c] = first_q[c] && given_q[c] == 0;
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni || (ends & its) != 0) failed_q <= '0;
        else if (done_valid_i && done.number == number && done_i.response != 0) failed_q <= failed_q | bit_of(done.part);
    end

    // What others keep to.
    `RULE(trip_begins_after_the_one_before, 0, (!begins_i || begins != 0 && (begins & (trip_q | furthers)) == 0)
        && (!parts_valid_i || furthers != 0 && (furthers & trip_q) == 0))
    `RULE(nothing_begins_while_clearing, 0, !clearing_o || !begins_i && !parts_valid_i)
    `RULE(first_slots_fit_a_region, 0, !begins_i
        || begins_slots_i != 0 && 32'(begins_slots_i) * SlotBytes <= 64 * LandingLines)
    logic [2:0] told, walked;     // of the read that is offered: the parts of its trip, and itself
    assign told   = parts_of(parts_q, walk_read_i.number) & {3{(only(1'b1, walk_read_i.number) & trip_q & ~first_q) != 0}}
        | (parts_valid_i && parts_number_i == walk_read_i.number ? parts_i : '0);
    assign walked = bit_of(walk_read_i.part);
    `RULE(read_is_of_a_part_that_was_told, 0, !walk_valid_i || (walked & told) != 0)
    `RULE(read_comes_once, 0, !walk_valid_i || (walked & parts_of(came_q, walk_read_i.number)) == 0)
    `RULE(read_fits_a_region, 0, !walk_valid_i || walk_read_i.part == Word
        || walk_read_i.bytes != 0 && 32'(walk_read_i.bytes) <= 64 * LandingLines)
    `RULE(read_ends_once_after_it_was_given, 0, !done_valid_i || done.first == ((only(1'b1, done.number) & first_q) != 0)
        && (bit_of(done.part) & parts_of(given_q, done.number) & ~parts_of(ended_q, done.number)) != 0)

    // ---- After a reset all contexts are cleared.
    logic [8:0] clocks_q;
    always_ff @(posedge clk_i) clocks_q <= !rst_ni ? '0 : clocks_q + 9'(!clocks_q[8]);
    `RULE(clearing_takes_256_clocks, 1, clearing_o == !clocks_q[8] && i_block.cleared_q == clocks_q)
    `RULE(nothing_is_there_while_clearing, 1, !clearing_o || trip_q == 0)

    // ---- Each read is given once. One bit of it, which is any, stands for all.
    logic [6:0] place;
    arbitrary #(.Width(7)) i_place (.clk_i, .value_o(place));
    bit_is_of_a_read: assume property (@(posedge clk_i) 32'(place) < $bits(read_t));
    function automatic read_t first_read(input context_t number, input logic [63:0] address, input logic [6:0] slots);
        first_read = '{address: address, bytes: 13'(32'(slots) * SlotBytes), slots: slots, part: Row, number: number};
    endfunction
    function automatic element_t element_of(input read_t read, input logic first);
        logic [63:0] region;       // two for each context
        region = (read.number[7] ? 64'd1 << LogContexts : '0) + 64'(read.number[6:0]);
        region = 2 * region + 64'(read.part == Bucket);
        element_of = '{
            nic_address:  read.part == Word ? 64'h100_0000_0000 + 64 * 64'(read.number) : region * 64 * LandingLines,
            host_address: read.address,
            bytes:        16'(read.bytes),
            token:        {5'd0, first, read.part, read.number}
        };
    endfunction
    read_t     begun;
    logic      begun_bit_q;        // of the first read of the context that is followed
    assign begun = first_read(begins_number_i, begins_address_i, begins_slots_i);
    always_ff @(posedge clk_i) if ((begins & its) != 0) begun_bit_q <= begun[place];
    logic      gave_q, gave_first_q, gave_its_q, gave_bit_q;
    element_t  gave_element_q;
    contexts_t given_contexts;
    assign given_contexts = only(gives, given.number);
    always_ff @(posedge clk_i) begin
        gave_q         <= rst_ni && gives;
        gave_first_q   <= given.first;
        gave_its_q     <= (given_contexts & its) != 0;
        gave_bit_q     <= begun_bit_q;
        gave_element_q <= cmd_o;
    end
    `RULE(read_goes_to_the_queue_of_its_context, 1, cmd_valid_o == 0 || cmd_valid_o == Queues'(1) << given.number[2:0])
    `RULE(read_is_given_once, 1, cmd_valid_o == 0 || given.first == ((only(1'b1, given.number) & first_q) != 0)
        && (bit_of(given.part) & parts_of(came_q, given.number) & ~parts_of(given_q, given.number)) != 0)
    `RULE(given_read_is_told_a_clock_later, 1, given_o == gave_q && (!given_o || element_of(given_read_o, gave_first_q)
        == gave_element_q))
    `RULE(first_read_is_given_as_it_began, 1, !(given_o && gave_first_q && gave_its_q)
        || given_read_o[place] == gave_bit_q)
    `RULE(first_read_has_whole_slots, 1, !(given_o && gave_first_q)
        || 32'(given_read_o.bytes) == 32'(given_read_o.slots) * SlotBytes)
    logic [1:0] walking;           // reads of the walk inside, and the one that was just given
    ordered_words #(.Width(1), .Most(3)) i_reads (
        .clk_i, .rst_ni, .push_i(walks), .pushed_i(walk_read_i[place]),
        .pop_i(given_o && !gave_first_q), .popped_i(given_read_o[place]), .inside_o(walking));

    // ---- First trips go in the order in which they began: how many are ahead of the one that is followed.
    slot_t     ahead_q, waiting;
    logic      gives_first;
    assign gives_first = gives && given.first;
    always_ff @(posedge clk_i) begin
        if ((begins & its) != 0) ahead_q <= waiting - 8'(gives_first);
        else if (gives_first) ahead_q <= ahead_q - 1'b1;
    end
    `RULE(first_trips_go_in_order, 1, !gives_first || (waits & its) == 0 || (given.number == number) == (ahead_q == 0))

    // ---- No clock is lost, and both kinds take turns.
    logic [1:0] walks_wait;        // reads of the walk inside
    logic       was_first_q, both_wait_q, next_q;
    assign walks_wait = walking - 2'(given_o && !gave_first_q);
    always_ff @(posedge clk_i) begin
        if (!rst_ni) was_first_q <= 1'b0;
        else if (cmd_valid_o != 0) was_first_q <= given.first;
        // One is chosen in this clock, and both kinds wait, besides the one that is given.
        next_q      <= rst_ni && (gives || cmd_valid_o == 0);
        both_wait_q <= waiting > 8'(cmd_valid_o != 0 && given.first)
            && walks_wait > 2'(cmd_valid_o != 0 && !given.first);
    end
    `RULE(what_waits_is_offered, 1, !$past(rst_ni
        && (waiting > 8'(gives_first) || walks_wait > 2'(gives && !given.first))) || cmd_valid_o != 0)
    `RULE(both_kinds_take_turns, 1, !(next_q && both_wait_q) || given.first == !was_first_q)
    `RULE(walk_waits_where_two_reads_wait, 1, walk_ready_o || walks_wait > 2'(cmd_valid_o != 0 && !given.first) + 2'd1)

    // ---- Ends. What a clock ago was said to have ended is known in this one.
    logic        done_q;
    read_token_t done_token_q;
    contexts_t   just, over_before, ends_now;
    assign just        = only(done_q, done_token_q.number);
    assign over_before = over & ~just;
    assign ends_now    = only(1'b1, ended_o.number);
    always_ff @(posedge clk_i) begin
        done_q       <= rst_ni && done_valid_i;
        done_token_q <= done;
    end
    `RULE(trip_that_is_over_is_told_of, 1, ended_valid_o == (over_before != 0))
    `RULE(trip_that_is_told_of_is_over, 1, !ended_valid_o || (ends_now & over_before) != 0)
    `RULE(trip_is_told_of_as_it_ended, 1, !ended_valid_o || ended_o.number != number
        || ended_o.first == ((its & first_q) != 0) && ended_o.parts == parts_of(parts_q, number) && ended_o.failed == failed_q)
    slot_t over_ahead_q, telling;  // trips that ended before that of the context which is followed, and all
    logic  tells;
    assign tells = ended_valid_o && ended_ready_i;
    always_ff @(posedge clk_i) begin
        if ((just & over & its) != 0) over_ahead_q <= telling - 8'(tells);
        else if (tells) over_ahead_q <= over_ahead_q - 1'b1;
    end
    `RULE(trips_are_told_of_in_order, 1, !tells || (over_before & its) == 0
        || (ended_o.number == number) == (over_ahead_q == 0))

    // ---- First trips that wait, and trips that are over: how many there are of the first n contexts.
    logic [Contexts:0][4:0] waiting_of_q, telling_of_q;
    for (genvar n = 0; n <= Contexts; n++) begin : g_count
        contexts_t among;
        assign among = contexts_t'((1 << n) - 1);
        always_ff @(posedge clk_i) begin
            if (!rst_ni) begin
                waiting_of_q[n] <= '0;
                telling_of_q[n] <= '0;
            end else begin
                waiting_of_q[n] <= waiting_of_q[n] + 5'((begins & among) != 0)
                    - 5'(given.first && (given_contexts & among) != 0);
                telling_of_q[n] <= telling_of_q[n] + 5'((just & over & among) != 0) - 5'((ends & among) != 0);
            end
        end
        if (n == 0) begin : g_none
            `RULE(none_is_counted, 1, waiting_of_q[n] == 0 && telling_of_q[n] == 0)
        end else begin : g_one
            `RULE(contexts_are_counted, 1, 32'(waiting_of_q[n]) <= n && 32'(telling_of_q[n]) <= n
                && waiting_of_q[n] == waiting_of_q[n-1] + 5'(waits[n-1])
                && telling_of_q[n] == telling_of_q[n-1] + 5'(over_before[n-1]))
        end
    end
    assign waiting = 8'(waiting_of_q[Contexts]);
    assign telling = 8'(telling_of_q[Contexts]);

    // ---- What is inside, which induction needs to be told. Of each memory one place is followed, which is any. What is proven
    // of that one is assumed of the one that is read, where it is another.
    slot_t  slot, end_slot;
    slot_t  its_slot_q, its_end_slot_q;
    assign slot     = i_block.i_first.i_words.g_one.address;
    assign end_slot = i_block.i_ended.i_words.g_one.address;
    always_ff @(posedge clk_i) begin
        if ((begins & its) != 0) its_slot_q <= i_block.i_first.pushed_q[7:0];
        if ((just & over & its) != 0) its_end_slot_q <= i_block.i_ended.pushed_q[7:0];
    end
    `RULE(memories_follow_one_context, 0, i_block.i_parts.g_one.address == number
        && i_block.i_progress.g_one.address == number)

    contexts_t out, queued;        // first trips in the register before the queues, and those before it
    assign out    = only(i_block.read_q && i_block.is_first_q, i_block.giving_q.number);
    assign queued = waits & ~out;
    logic [8:0] first_count, end_count;
    assign first_count = i_block.i_first.pushed_q - i_block.i_first.popped_q;
    assign end_count   = i_block.i_ended.pushed_q - i_block.i_ended.popped_q;
    `RULE(first_trips_are_in_their_queue, 1, first_count == 9'(waiting) - 9'(out != 0))
    `RULE(ends_are_in_their_queue, 1, end_count == 9'(telling))

    function automatic logic waits_here(input read_t read);
        waits_here = (only(1'b1, read.number) & queued) != 0 && read.slots != 0 && 32'(read.bytes) <= 64 * LandingLines;
    endfunction
    // Whether the context that is followed is where it was put, and nowhere else.
    function automatic logic is_right(input read_t read, input slot_t at);
        is_right = read.number == number ? its_slot_q == at && read[place] == begun_bit_q
            : (its & queued) == 0 || its_slot_q != at;
    endfunction
    function automatic logic is_right_end(input ended_t one, input slot_t at);
        is_right_end = one.number == number ? its_end_slot_q == at && one.first == ((its & first_q) != 0)
            && one.parts == parts_of(parts_q, number) && one.failed == failed_q
            : (its & over_before) == 0 || its_end_slot_q != at;
    endfunction
    read_t  head, kept;
    slot_t  head_slot, end_head_slot;
    ended_t kept_end;
    assign head          = first_read(i_block.first_number, i_block.first_address, i_block.first_slots);
    assign head_slot     = i_block.i_first.popped_q[7:0];
    assign end_head_slot = i_block.i_ended.popped_q[7:0];
    logic [78:0] kept_word;
    assign kept_word = i_block.i_first.i_words.g_one.word_q;
    assign kept      = first_read(kept_word[78:71], kept_word[70:7], kept_word[6:0]);
    assign kept_end  = i_block.i_ended.i_words.g_one.word_q;
    `RULE(first_trip_is_in_its_place, 1, 9'(slot_t'(slot - head_slot)) >= first_count
        || is_right(kept, slot) && (kept.number != number || waits_here(kept)))
    `RULE(other_first_trips_wait, 0, first_count == 0 || head_slot == slot && head.number == number || waits_here(head))
    `RULE(other_first_trips_are_in_their_places, 0, first_count == 0 || head_slot == slot || is_right(head, head_slot))
    `RULE(end_is_in_its_place, 1, 9'(slot_t'(end_slot - end_head_slot)) >= end_count
        || is_right_end(kept_end, end_slot) && (kept_end.number != number || (its & over_before) != 0))
    `RULE(other_ends_are_over, 0, end_count == 0 || end_head_slot == end_slot && ended_o.number == number
        || (ends_now & over_before) != 0)
    `RULE(other_ends_are_in_their_places, 0, end_count == 0 || end_head_slot == end_slot || is_right_end(ended_o, end_head_slot))
    `RULE(other_ends_stay_as_they_are, 0, end_head_slot == end_slot || !$past(rst_ni && ended_valid_o && !ended_ready_i)
        || $stable(ended_o))
    `RULE(place_is_that_of_those_ahead, 1, (queued & its) == 0
        || its_slot_q == slot_t'(head_slot + ahead_q - 8'(out != 0)))
    `RULE(end_has_the_place_of_those_ahead, 1, (over_before & its) == 0
        || its_end_slot_q == slot_t'(end_head_slot + over_ahead_q))
    `RULE(first_one_is_ahead, 1, (out & its) == 0 || ahead_q == 0)
    `RULE(those_ahead_are_inside, 1, ((queued & its) == 0 || ahead_q < waiting && (out == 0 || ahead_q != 0))
        && ((over_before & its) == 0 || over_ahead_q < telling))

    for (genvar c = 0; c < Contexts; c++) begin : g_known
        `RULE(parts_go_one_way, 1, (came_q[c] & ~parts_q[c]) == 0 && (given_q[c] & ~came_q[c]) == 0
            && (ended_q[c] & ~given_q[c]) == 0)
        `RULE(first_trip_has_one_read, 1, trip_q[c] ? !first_q[c] || parts_q[c] == bit_of(Row) && came_q[c] == bit_of(Row)
            : !first_q[c] && parts_q[c] == 0)
    end
    `RULE(end_that_came_is_known, 1, i_block.done_q == done_q && (!done_q || i_block.token == done_token_q
        && (bit_of(done_token_q.part) & parts_of(ended_q, done_token_q.number)) != 0
        && (done_token_q.number != number || ((bit_of(done_token_q.part) & failed_q) != 0) == i_block.failed_now)
        && done_token_q.first == ((just & first_q) != 0)))
    `RULE(what_failed_has_ended, 1, (failed_q & ~parts_of(ended_q, number)) == 0)
    // The parts in the memory of a context, but for what has just ended.
    function automatic logic [2:0] in_memory(input logic [2:0] parts, input context_t of);
        logic [2:0] late;
        late      = done_q && done_token_q.number == of ? bit_of(done_token_q.part) : '0;
        in_memory = (only(1'b1, of) & (first_q | over_before)) != 0 ? '0 : parts & ~late;
    endfunction
    `RULE(parts_are_in_their_memory, 1, (its & trip_q & ~first_q) == 0
        || i_block.i_parts.g_one.word_q == parts_of(parts_q, number))
    `RULE(progress_is_in_its_memory, 1, clocks_q <= 9'(number) || i_block.i_progress.g_one.word_q
        == {in_memory(failed_q, number), in_memory(parts_of(ended_q, number), number)})
    `RULE(other_parts_are_in_their_memory, 0, !done_q || done_token_q.first || done_token_q.number == number
        || i_block.parts == parts_of(parts_q, done_token_q.number))
    `RULE(other_progress_is_in_its_memory, 0, !done_q || done_token_q.number == number
        || i_block.ended == in_memory(parts_of(ended_q, done_token_q.number), done_token_q.number))

    // Reads of the walk: in the register before the queues, and the two before it.
    read_t read_0, read_1, read_2;
    logic  has_0, has_1, has_2;
    assign read_0 = i_block.giving_q;
    assign read_1 = i_block.walk_read;
    assign read_2 = i_block.i_further.second_q;
    assign has_0  = i_block.read_q && !i_block.is_first_q;
    assign has_1  = i_block.walk_waits;
    assign has_2  = !walk_ready_o;
    function automatic logic is_further(input read_t read);
        is_further = (only(1'b1, read.number) & trip_q & ~first_q) != 0 && (bit_of(read.part) & parts_of(came_q, read.number)
            & ~parts_of(given_q, read.number)) != 0 && (read.part == Word || read.bytes != 0
            && 32'(read.bytes) <= 64 * LandingLines);
    endfunction
    function automatic logic are_two(input read_t one, input read_t other);
        are_two = one.number != other.number || one.part != other.part;
    endfunction
    `RULE(reads_of_the_walk_are_of_their_trips, 1, (!has_0 || is_further(read_0)) && (!has_1 || is_further(read_1))
        && (!has_2 || is_further(read_2)))
    `RULE(reads_of_the_walk_are_different, 1, (!(has_0 && has_1) || are_two(read_0, read_1))
        && (!(has_1 && has_2) || are_two(read_1, read_2)) && (!(has_0 && has_2) || are_two(read_0, read_2)))
    `RULE(reads_of_the_walk_are_counted, 1, walks_wait == 2'(has_0) + 2'(has_1) + 2'(has_2)
        && walking == walks_wait + 2'(given_o && !gave_first_q))
    logic [1:0] behind_given, behind_read;
    assign behind_given = i_reads.ahead_q - 2'(given_o && !gave_first_q);
    assign behind_read  = behind_given - 2'(has_0);
    `RULE(followed_read_is_in_its_place, 1, !i_reads.followed_q
        || (i_reads.ahead_q == 0 && given_o && !gave_first_q ? given_read_o[place]
            : behind_given == 0 && has_0 ? read_0[place] : behind_read == 0 ? read_1[place] : read_2[place]) == i_reads.word_q)
    `RULE(first_read_is_in_its_register, 1, out == 0 ? !(i_block.read_q && i_block.is_first_q)
        : (out & waits) != 0 && ((out & its) == 0 || read_0[place] == begun_bit_q) && read_0.part == Row
            && read_0.slots != 0 && 32'(read_0.bytes) == 32'(read_0.slots) * SlotBytes
            && 32'(read_0.bytes) <= 64 * LandingLines)
    `RULE(turn_is_known, 1, (i_block.read_q ? i_block.walk_next_q == i_block.is_first_q
        : i_block.walk_next_q == was_first_q))

    logic goes_on_q;               // the first trip of the context that is followed has ended
    always_ff @(posedge clk_i) goes_on_q <= rst_ni && (goes_on_q || tells && ended_o.first && ended_o.number == number);

    // The block as it is 257 clocks after a reset in which nothing came.
    logic started_q = 1'b0;
    always_ff @(posedge clk_i) started_q <= 1'b1;
    if (Cleared) begin : g_cleared
        begins_when_cleared: assume property (@(posedge clk_i) started_q || rst_ni && clocks_q == 9'd256
            && i_block.cleared_q == 9'd256 && trip_q == 0 && first_q == 0 && {parts_q, came_q, given_q, ended_q, failed_q} == 0
            && {waiting_of_q, telling_of_q} == 0 && {gave_q, next_q, was_first_q, done_q, goes_on_q} == 0
            && {i_reads.inside_q, i_reads.followed_q} == 0
            && {i_block.i_first.pushed_q, i_block.i_first.popped_q, i_block.i_ended.pushed_q, i_block.i_ended.popped_q} == 0
            && {i_block.i_first.valid_o, i_block.i_ended.valid_o} == 0
            && {i_block.read_q, i_block.given_o, i_block.done_q, i_block.walk_next_q, i_block.walk_waits} == 0 && walk_ready_o
            && i_block.i_progress.g_one.word_q == 0 && !begins_i && !parts_valid_i);
        stays_cleared: assume property (@(posedge clk_i) rst_ni);
    end

    `REACHED(first_trip_ends, tells && ended_o.first && ended_o.failed == 0)
    `REACHED(trip_of_three_parts_ends_with_one_that_failed, tells && ended_o.parts == '1 && ended_o.failed == 3'b010)
    `REACHED(context_goes_on_with_a_second_trip, goes_on_q && gives && !given.first && given.number == number)
    `REACHED(both_kinds_wait, next_q && both_wait_q && $past(gives))
    `REACHED(two_trips_wait_to_be_told_of, $countones(over_before) == 2)
endmodule
