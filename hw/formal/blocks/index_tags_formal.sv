// SPDX-License-Identifier: MIT OR Apache-2.0
// index_tags: each request that is offered is decided on two clocks later, by what all decisions before it have left: in each place
// an entry or none, whether it is changed, and whether the place is reserved. An entry is in one place at most, and not both
// there and under way; a changed one leaves only to be written back. What is assumed of the fetches is proven of index_misses.
`include "../rules/rule.svh"
module index_tags_formal
    import index_pkg::*;
#(
    parameter int unsigned LogSets     = 1,
    parameter int unsigned LogWays     = 1,
    parameter int unsigned SegmentBits = 3,
    parameter int unsigned LogMisses   = 2,
    localparam int unsigned ValueWords = 1,
    localparam int unsigned Misses     = 2**LogMisses,
    localparam int unsigned Sets       = 2**LogSets,
    localparam int unsigned Ways       = 2**LogWays,
    localparam int unsigned TagBits    = SegmentBits - LogSets
) (
    input logic                               clk_i,
    input logic                               rst_ni,
    input logic [31:0]                        segments_i,
    input logic [31:0]                        slots_i,
    input logic [5:0]                         limit_i,
    input logic                               new_i,
    input logic                               replay_i,
    input logic                               claim_i,
    input logic                               walk_i,
    input logic                               clean_i,
    input logic                               first_i,
    input logic                               bus_error_i,
    input logic                               write_error_i,
    input logic                               has_place_i,
    input logic [LogMisses-1:0]               miss_i,
    input logic [LogWays-1:0]                 way_i,
    input logic [SegmentBits-1:0]             segment_i,
    input request_t                           request_i,
    input logic [64*ValueWords-1:0]           value_i,
    input logic [Misses-1:0]                  active_i,
    input logic [Misses-1:0][SegmentBits-1:0] segments_of_i,
    input logic [LogMisses-1:0]               free_i,
    input logic                               last_i
);
    typedef logic [LogMisses-1:0]   miss_t;
    typedef logic [LogWays-1:0]     way_t;
    typedef logic [LogSets-1:0]     set_t;
    typedef logic [TagBits-1:0]     tag_t;
    typedef logic [SegmentBits-1:0] segment_t;
    typedef logic [Misses-1:0]      misses_t;
    typedef logic [Ways-1:0]        ways_t;

    logic                       clearing_o, park_o, start_o, claimed_o, dirty_o, unclaimed_o, issued_o, again_o;
    logic                       walked_o, changed_o, step_valid_o;
    miss_t                      replayed_miss_o, decided_miss_o, step_miss_o;
    logic [1:0]                 undecided_o;
    way_t                       way_o;
    segment_t                   victim_o;
    request_t                   parked_request_o, step_request_o;
    logic [64*ValueWords-1:0]   parked_value_o, step_value_o;
    step_t                      step_o;
    logic [LogSets+LogWays-1:0] place_o;

    power_up i_power_up (.*);
    index_tags #(
        .LogSets(LogSets), .LogWays(LogWays), .SegmentBits(SegmentBits), .ValueWords(ValueWords), .LogMisses(LogMisses)
    ) i_block (.*);

    function automatic misses_t only(input logic valid, input miss_t miss);
        only = misses_t'(valid) << miss;
    endfunction
    function automatic ways_t only_way(input logic valid, input way_t way);
        only_way = ways_t'(valid) << way;
    endfunction
    function automatic set_t set_of(input segment_t segment);
        set_of = segment[LogSets-1:0];
    endfunction
    function automatic tag_t tag_of(input segment_t segment);
        tag_of = segment[SegmentBits-1:LogSets];
    endfunction

    // ---- What is offered, until it is decided on.
    typedef enum logic [2:0] {Nothing, New, Replay, Claim, Walk, Clean} kind_t;
    typedef struct packed {
        kind_t                    kind;
        logic                     first;
        logic                     bus_error;
        logic                     write_error;
        logic                     has_place;
        miss_t                    miss;
        way_t                     way;
        segment_t                 segment;
        request_t                 request;
        logic [64*ValueWords-1:0] value;
    } offer_t;
    offer_t offer, reading_q, its_q;
    assign offer = '{
        kind: new_i ? New : replay_i ? Replay : claim_i ? Claim : walk_i ? Walk : clean_i ? Clean : Nothing,
        first: first_i, bus_error: bus_error_i, write_error: write_error_i, has_place: has_place_i, miss: miss_i, way: way_i,
        segment: segment_i, request: request_i, value: value_i};
    always_ff @(posedge clk_i) begin
        reading_q <= offer;
        its_q     <= reading_q;
        if (!rst_ni) begin
            reading_q.kind <= Nothing;
            its_q.kind     <= Nothing;
        end
    end
    `RULE(request_is_of_its_segment, 0, !new_i || segment_i == request_i.segment[SegmentBits-1:0])
    `RULE(nothing_comes_while_clearing, 0, !clearing_o || offer.kind == Nothing)
    `RULE(one_kind_comes_at_a_time, 0, $onehot0({new_i, replay_i, claim_i, walk_i, clean_i}))

    // ---- The fetches, as they follow from what the tags say.
    misses_t  active_q, placed_q, wrote_q, brought_q;   // has a place, whose entry is written back; its own entry is there
    misses_t  failing_q, unwritten_q;                   // its requests end with an error, and what stood there is not written
    segment_t segments_q[Misses];
    way_t     ways_q[Misses];
    misses_t  starts, ends, claims, replays;
    misses_t  offered_first, under_way, claiming;
    assign starts        = only(start_o, decided_miss_o);
    assign ends          = only(issued_o && last_i, replayed_miss_o);
    assign claims        = only(claimed_o, decided_miss_o);
    assign replays       = only(its_q.kind == Replay, its_q.miss);
    assign claiming      = only(reading_q.kind == Claim, reading_q.miss) | only(its_q.kind == Claim, its_q.miss);
    assign under_way     = only(reading_q.kind == Replay, reading_q.miss) | replays;
    // What the table is like stays while anything is under way.
    `RULE(table_stays, 0, !$past(rst_ni && (active_q != 0 || offer.kind != Nothing || reading_q.kind != Nothing || its_q.kind != Nothing))
        || $stable({segments_i, slots_i, limit_i}))
    assign offered_first = only(reading_q.kind == Replay && reading_q.first, reading_q.miss) | (its_q.first ? replays : '0);
    for (genvar n = 0; n < Misses; n++) begin : g_fetch
        always_ff @(posedge clk_i) begin
            active_q[n] <= rst_ni && (starts[n] || active_q[n] && !ends[n]);
            if (starts[n]) begin
                placed_q[n]    <= 1'b0;
                brought_q[n]   <= 1'b0;
                failing_q[n]   <= 1'b0;
                segments_q[n]  <= its_q.segment;
            end
            if (claims[n]) begin
                placed_q[n] <= 1'b1;
                wrote_q[n]  <= dirty_o;
                ways_q[n]   <= way_o;
            end
            if (replays[n] && issued_o && its_q.first) brought_q[n] <= 1'b1;
            if (replay_i && bus_error_i && miss_i == miss_t'(n)) begin
                failing_q[n]   <= 1'b1;
                unwritten_q[n] <= write_error_i;
            end
        end
        `RULE(fetches_are_those_that_began, 0, active_i[n] == active_q[n] && (!active_q[n] || segments_of_i[n] == segments_q[n]))
    end
    `RULE(one_is_free_for_a_request, 0, its_q.kind != New || !active_i[free_i])
    `RULE(replay_is_of_its_fetch, 0, !replay_i || active_q[miss_i] && !claiming[miss_i] && !ends[miss_i]
        && segment_i == segments_q[miss_i] && has_place_i == placed_q[miss_i] && (!has_place_i || way_i == ways_q[miss_i]))
    `RULE(first_comes_before_the_others, 0, !replay_i || !offered_first[miss_i]
        && (bus_error_i ? !first_i && !brought_q[miss_i] : has_place_i && !failing_q[miss_i] && first_i == !brought_q[miss_i]))
    `RULE(failure_is_of_all_that_follow, 0, !replay_i || (!write_error_i || bus_error_i && has_place_i && wrote_q[miss_i])
        && (!failing_q[miss_i] || write_error_i == unwritten_q[miss_i]))
    `RULE(last_is_the_last, 0, its_q.kind != Replay || !last_i || !(reading_q.kind == Replay && reading_q.miss == its_q.miss)
        && !(replay_i && miss_i == its_q.miss))
    `RULE(claim_is_of_a_fetch_without_a_place, 0, !claim_i || active_q[miss_i] && !placed_q[miss_i] && !claiming[miss_i]
        && !under_way[miss_i] && !failing_q[miss_i] && segment_i == segments_q[miss_i])

    // ---- What is in each place.
    ways_t valid_q[Sets], dirty_q[Sets], reserved_q[Sets];
    tag_t  tags_q[Sets][Ways];
    // A flush comes alone. A place that it met changed is written, and then offered once more.
    ways_t met_q[Sets];
    set_t  set, offered_set;
    assign set         = set_of(its_q.segment);
    assign offered_set = set_of(segment_i);
    logic reading_flush, deciding_flush, flush_at_place;
    assign reading_flush  = reading_q.kind == Walk || reading_q.kind == Clean;
    assign deciding_flush = its_q.kind == Walk || its_q.kind == Clean;
    assign flush_at_place = reading_flush && set_of(reading_q.segment) == offered_set && reading_q.way == way_i
        || deciding_flush && set == offered_set && its_q.way == way_i;
    `RULE(flush_comes_alone, 0, !(walk_i || clean_i) || active_q == 0 && reading_q.kind != New && its_q.kind != New && !new_i)
    // When a flush is called off, a request may come while its last clean is decided on.
    `RULE(nothing_comes_into_a_flush, 0, !(new_i || replay_i || claim_i) || !reading_flush && its_q.kind != Walk)
    `RULE(place_is_met_once, 0, !walk_i || !met_q[offered_set][way_i] && !flush_at_place)
    `RULE(place_is_clean_that_was_met, 0, !clean_i || met_q[offered_set][way_i] && !flush_at_place)

    // ---- The decision.
    ways_t   meets, empty;
    misses_t waits_for;
    way_t    hand_q, hit_way, victim;
    logic    is_new, outside, waits, is_hit, starts_one, wants, dirties, stands_changed, comes_again, goes_on, has_displacement;
    logic    victim_changed, finds;
    miss_t   waits_for_miss;
    always_comb begin
        has_displacement = its_q.request.operation == Fill || its_q.request.operation == SetHint;
        outside = its_q.request.operation > SetHint || its_q.request.segment >= segments_i || its_q.request.home >= slots_i
            || has_displacement && its_q.request.displacement > 8'(limit_i);
        is_new         = its_q.kind == New && !outside;
        dirties        = its_q.request.operation != LookUp && its_q.request.operation != Validate;
        hit_way        = '0;
        waits_for_miss = '0;
        for (int unsigned n = 0; n < Ways; n++) begin
            meets[n] = valid_q[set][n] && tags_q[set][n] == tag_of(its_q.segment);
            if (meets[n]) hit_way = way_t'(n);
        end
        for (int unsigned n = 0; n < Misses; n++) begin
            waits_for[n] = active_q[n] && segments_q[n] == its_q.segment;
            if (waits_for[n]) waits_for_miss = miss_t'(n);
        end
        waits      = waits_for != 0;
        is_hit     = is_new && !waits && meets != 0;
        starts_one = is_new && !waits && meets == 0;
        wants      = starts_one || its_q.kind == Claim;
        // A place that is empty, the first; or in turn one that is not reserved.
        empty  = ~valid_q[set] & ~reserved_q[set];
        victim = '0;
        for (int n = Ways - 1; n >= 0; n--) if (!reserved_q[set][way_t'(n) + hand_q]) victim = way_t'(n) + hand_q;
        for (int n = Ways - 1; n >= 0; n--) if (empty[n]) victim = way_t'(n);
        finds          = wants && reserved_q[set] != '1;
        victim_changed = valid_q[set][victim] && dirty_q[set][victim];
        stands_changed = valid_q[set][its_q.way] && dirty_q[set][its_q.way];
        comes_again    = its_q.kind == Replay && its_q.first && stands_changed;
        goes_on        = its_q.kind == Replay && !comes_again;
    end
    for (genvar s = 0; s < Sets; s++) begin : g_set
        for (genvar w = 0; w < Ways; w++) begin : g_way
            logic here, taken, mine;
            assign here  = set == set_t'(s);
            assign taken = here && finds && victim == way_t'(w);
            assign mine  = here && its_q.way == way_t'(w);
            always_ff @(posedge clk_i) begin
                if (taken) begin
                    valid_q[s][w]    <= victim_changed;     // until it is written back
                    dirty_q[s][w]    <= 1'b0;
                    reserved_q[s][w] <= 1'b1;
                end
                if (here && is_hit && hit_way == way_t'(w) && dirties) dirty_q[s][w] <= 1'b1;
                if (mine && its_q.kind == Clean) dirty_q[s][w] <= 1'b0;
                if (mine && comes_again) dirty_q[s][w] <= 1'b0;
                if (mine && goes_on) begin
                    if (its_q.first) begin
                        valid_q[s][w] <= 1'b1;
                        dirty_q[s][w] <= dirties;
                        tags_q[s][w]  <= tag_of(its_q.segment);
                    end else if (!its_q.bus_error) begin
                        if (dirties) dirty_q[s][w] <= 1'b1;
                    end else if (its_q.has_place && its_q.write_error) begin
                        dirty_q[s][w] <= 1'b1;
                    end
                    if (last_i && its_q.has_place) reserved_q[s][w] <= 1'b0;
                end
                if (new_i) met_q[s][w] <= 1'b0;
                if (changed_o && mine) met_q[s][w] <= 1'b1;
                if (clean_i && offered_set == set_t'(s) && way_i == way_t'(w)) met_q[s][w] <= 1'b0;
                if (!rst_ni) begin
                    valid_q[s][w]    <= 1'b0;
                    dirty_q[s][w]    <= 1'b0;
                    reserved_q[s][w] <= 1'b0;
                    met_q[s][w]      <= 1'b0;
                end
            end
        end
    end
    always_ff @(posedge clk_i) begin
        if (!rst_ni) hand_q <= '0;
        else if (finds) hand_q <= victim + 1'b1;
    end

    // ---- What the tags say of it.
    logic answers, snapshots, needs_miss;
    assign answers    = its_q.kind == New && outside || is_hit || goes_on;
    assign snapshots  = finds && victim_changed || comes_again || its_q.kind == Walk && stands_changed;
    assign needs_miss = step_o.is_snapshot || step_o.is_install;
    `RULE(undecided_requests_are_told, 1, undecided_o == {its_q.kind == New, reading_q.kind == New})
    `RULE(request_waits_or_is_answered, 1, its_q.kind != New || park_o != (step_valid_o && step_o.is_answered))
    `RULE(request_waits_where_its_entry_is_not, 1, park_o == (is_new && (waits || starts_one)) && start_o == starts_one)
    `RULE(request_waits_for_its_fetch, 1, !park_o || decided_miss_o == (starts_one ? free_i : waits_for_miss))
    `RULE(parked_request_is_as_it_came, 1, !park_o || parked_request_o == its_q.request && parked_value_o == its_q.value)
    `RULE(place_is_found_where_one_is_not_reserved, 1, claimed_o == finds && unclaimed_o == (its_q.kind == Claim && !finds))
    `RULE(place_is_the_next, 1, !claimed_o || way_o == victim && dirty_o == victim_changed)
    `RULE(waiting_request_goes_on_or_comes_again, 1, issued_o == goes_on && again_o == comes_again)
    `RULE(flush_is_told, 1, walked_o == (its_q.kind == Walk) && changed_o == (its_q.kind == Walk && stands_changed))
    `RULE(number_is_told, 1, its_q.kind == New || its_q.kind == Nothing || decided_miss_o == its_q.miss)
    `RULE(replayed_number_is_told, 1, its_q.kind != Replay || replayed_miss_o == its_q.miss)
    `RULE(what_is_written_back_is_told, 1, !snapshots
        || victim_o == {tags_q[set][finds ? victim : its_q.way], set})
    `RULE(step_is_for_what_is_answered_or_written, 1, step_valid_o == (answers || snapshots))
    `RULE(step_is_that_of_the_decision, 1, !step_valid_o || step_o == step_t'{is_answered: answers, is_snapshot: snapshots,
        is_install: goes_on && its_q.first, out_of_range: its_q.kind == New && outside,
        bus_error: its_q.kind == Replay && its_q.bus_error})
    `RULE(step_is_at_its_place, 1, !(step_valid_o && !step_o.out_of_range && !step_o.bus_error)
        || place_o == {set, is_hit ? hit_way : finds ? victim : its_q.way})
    `RULE(step_has_its_number, 1, !step_valid_o || !needs_miss || step_miss_o == (starts_one ? free_i : its_q.miss))
    `RULE(step_has_its_request, 1, !(step_valid_o && answers) || step_request_o == its_q.request && step_value_o == its_q.value)

    // What counts of the outputs.
    localparam int unsigned SeenBits = 2 * ($bits(request_t) + 64 * ValueWords) + 3 * LogMisses + SegmentBits + LogSets
        + 2 * LogWays + $bits(step_t) + 13;
    logic [SeenBits-1:0] seen;
    assign seen = {clearing_o, its_q.kind == Replay ? replayed_miss_o : '0, undecided_o,
        its_q.kind == New && !park_o || its_q.kind == Nothing ? '0 : decided_miss_o, park_o, start_o, claimed_o,
        claimed_o && dirty_o, unclaimed_o, issued_o, again_o, walked_o, changed_o, claimed_o ? way_o : '0,
        claimed_o && dirty_o || again_o || changed_o ? victim_o : '0, park_o ? {parked_request_o, parked_value_o} : '0,
        step_valid_o, step_valid_o ? step_o : '0, step_valid_o && !step_o.out_of_range && !step_o.bus_error ? place_o : '0,
        step_valid_o && needs_miss ? step_miss_o : '0,
        step_valid_o && step_o.is_answered ? {step_request_o, step_value_o} : '0};

    // ---- What holds of places and fetches.
    logic [LogSets:0] cleared_q;
    always_ff @(posedge clk_i) cleared_q <= !rst_ni ? '0 : cleared_q + (LogSets+1)'(32'(cleared_q) != Sets);
    `RULE(clearing_takes_a_clock_for_each_set, 1, clearing_o == (32'(cleared_q) != Sets))
    for (genvar s = 0; s < Sets; s++) begin : g_place
        `RULE(only_entries_are_changed, 1, (dirty_q[s] & ~valid_q[s]) == 0 && (met_q[s] & ~dirty_q[s]) == 0)
        for (genvar w = 0; w < Ways; w++) begin : g_of
            misses_t owners;
            for (genvar n = 0; n < Misses; n++) begin : g_owner
                assign owners[n] = active_q[n] && placed_q[n] && ways_q[n] == way_t'(w) && set_of(segments_q[n]) == set_t'(s);
                `RULE(entry_is_not_there_before_it_is_fetched, 1, !(active_q[n] && valid_q[s][w]
                    && {tags_q[s][w], set_t'(s)} == segments_q[n]) || brought_q[n] && owners[n])
                `RULE(entry_is_there_that_was_fetched, 1, !owners[n] || (brought_q[n]
                    ? valid_q[s][w] && tags_q[s][w] == tag_of(segments_q[n]) : valid_q[s][w] == wrote_q[n]))
            end
            `RULE(place_is_reserved_for_one_fetch, 1, $onehot0(owners) && reserved_q[s][w] == (owners != 0))
            for (genvar v = 0; v < w; v++) begin : g_other
                `RULE(entry_is_there_once, 1, !(valid_q[s][w] && valid_q[s][v]) || tags_q[s][w] != tags_q[s][v])
            end
        end
    end
    for (genvar n = 0; n < Misses; n++) begin : g_other
        for (genvar o = 0; o < n; o++) begin : g_than
            `RULE(entry_is_fetched_once, 1, !(active_q[n] && active_q[o]) || segments_q[n] != segments_q[o])
        end
        `RULE(entry_that_came_has_a_place, 1, !active_q[n] || !brought_q[n] || placed_q[n] && !failing_q[n])
        `RULE(what_is_under_way_is_of_a_fetch, 1, !(under_way[n] || claiming[n]) || active_q[n])
    end
    `RULE(flush_is_alone, 1, !reading_flush && !deciding_flush || active_q == 0
        && (reading_flush || reading_q.kind == Nothing) && (deciding_flush || its_q.kind == Nothing))

    // ---- What induction needs. Of what is under way: it is still as it was offered.
    function automatic logic is_kept(input offer_t of);
        unique case (of.kind)
            Replay: is_kept = active_q[of.miss] && of.segment == segments_q[of.miss] && of.has_place == placed_q[of.miss]
                && (!of.has_place || of.way == ways_q[of.miss])
                && (of.bus_error ? !of.first && !brought_q[of.miss] && failing_q[of.miss]
                    : of.has_place && !failing_q[of.miss] && of.first == !brought_q[of.miss])
                && (!of.write_error || of.bus_error && of.has_place && wrote_q[of.miss]);
            Claim:   is_kept = active_q[of.miss] && !placed_q[of.miss] && of.segment == segments_q[of.miss];
            Clean:   is_kept = dirty_q[set_of(of.segment)][of.way] && !met_q[set_of(of.segment)][of.way];
            default: is_kept = 1'b1;
        endcase
    endfunction
    logic same_miss, same_place;
    assign same_miss  = reading_q.miss == its_q.miss;
    assign same_place = reading_q.segment[LogSets-1:0] == set && reading_q.way == its_q.way;
    `RULE(offers_under_way_are_kept, 1, is_kept(reading_q) && is_kept(its_q) && reading_q.kind <= Clean && its_q.kind <= Clean)
    `RULE(one_first_of_a_fetch, 1, !(same_miss && reading_q.kind == Replay && its_q.kind == Replay && its_q.first))
    `RULE(claims_and_replays_are_of_different_fetches, 1, (claiming & under_way) == 0
        && !(same_miss && reading_q.kind == Claim && its_q.kind == Claim))
    `RULE(flush_is_at_different_places, 1, !(same_place && reading_flush && deciding_flush))
    `RULE(nothing_is_under_way_while_clearing, 1, !clearing_o
        || reading_q.kind == Nothing && its_q.kind == Nothing && active_q == 0)

    // Of the block: its registers are those of the offers, and memory has what is in the places.
    localparam int unsigned RecordBits = 3 * Ways + Ways * TagBits;
    function automatic logic is_record(input logic [RecordBits-1:0] word, input set_t of);
        is_record = word[RecordBits-1 -: 3*Ways] == {valid_q[of], dirty_q[of], reserved_q[of]};
        for (int unsigned n = 0; n < Ways; n++) begin
            if (valid_q[of][n] && word[TagBits*n +: TagBits] != tags_q[of][n]) is_record = 1'b0;
        end
    endfunction
    for (genvar s = 0; s < Sets; s++) begin : g_memory
        `RULE(set_is_in_memory, 1, (clearing_o && 32'(cleared_q) <= s) || is_record(i_block.i_tags.words[s], set_t'(s)))
        `RULE(nothing_else_while_a_place_is_written, 1, met_q[s] == '0 || active_q == 0
            && (reading_flush || reading_q.kind == Nothing) && (deciding_flush || its_q.kind == Nothing))
        `RULE(set_is_empty_while_clearing, 1, !clearing_o || {valid_q[s], dirty_q[s], reserved_q[s]} == '0)
    end
    `RULE(cleared_sets_are_counted, 1, i_block.clearing_q == (32'(cleared_q) != Sets)
        && 32'(cleared_q) <= Sets && i_block.clear_set_q == cleared_q[LogSets-1:0])
    `RULE(set_is_read, 1, reading_q.kind == Nothing || is_record(i_block.base, set_of(reading_q.segment)))
    `RULE(set_is_there, 1, its_q.kind == Nothing || is_record(i_block.record_q, set))
    `RULE(what_was_compared_is_known, 1, its_q.kind == Nothing || i_block.hits_q == meets && i_block.waits_for_q == waits_for
        && (i_block.is_waiting_q != 0) == waits && i_block.out_of_range_q == (its_q.kind == New && outside)
        && i_block.miss_ways_q == only_way(1'b1, its_q.way))
    `RULE(hand_is_known, 1, i_block.hand_q == hand_q)
    `RULE(kinds_are_known, 1, {i_block.read_new_q, i_block.read_replay_q, i_block.read_claim_q, i_block.read_walk_q,
        i_block.read_clean_q} == {reading_q.kind == New, reading_q.kind == Replay, reading_q.kind == Claim,
        reading_q.kind == Walk, reading_q.kind == Clean} && {i_block.new_q, i_block.replay_q, i_block.claim_q, i_block.walk_q,
        i_block.clean_q} == {its_q.kind == New, its_q.kind == Replay, its_q.kind == Claim, its_q.kind == Walk,
        its_q.kind == Clean})
    `RULE(words_that_are_read_are_known, 1, reading_q.kind == Nothing || {i_block.read_first_q, i_block.read_bus_error_q,
        i_block.read_write_error_q, i_block.read_has_place_q, i_block.read_miss_q, i_block.read_way_q, i_block.read_segment_q,
        i_block.read_request_q, i_block.read_value_q} == {reading_q.first, reading_q.bus_error, reading_q.write_error,
        reading_q.has_place, reading_q.miss, reading_q.way, reading_q.segment, reading_q.request, reading_q.value})
    `RULE(words_are_known, 1, its_q.kind == Nothing || {i_block.first_q, i_block.bus_error_q, i_block.write_error_q,
        i_block.has_place_q, i_block.miss_q, i_block.miss_way_q, i_block.segment_q, i_block.request_q, i_block.value_q}
        == {its_q.first, its_q.bus_error, its_q.write_error, its_q.has_place, its_q.miss, its_q.way, its_q.segment,
        its_q.request, its_q.value})

    `REACHED(entry_is_changed_again, again_o)
    `REACHED(claim_finds_a_place, its_q.kind == Claim && claimed_o)
    `REACHED(flush_cleans_a_place, its_q.kind == Clean)
    `REACHED(write_back_fails, goes_on && its_q.write_error && last_i)
    `REACHED(request_meets_its_entry, is_hit && dirties)
endmodule
