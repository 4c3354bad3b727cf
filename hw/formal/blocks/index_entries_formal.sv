// SPDX-License-Identifier: MIT OR Apache-2.0
// index_entries: in a place, which is any, each step finds what those before it have left, whichever steps follow each other, and all
// that is compared for its operation is right. It is answered with what the operation says, or copied, three clocks after it came. An
// entry that is brought is the line of its fetch; it is known from then on. What an operation leaves is anything (any_index_operation.sv).
`include "../rules/rule.svh"
module index_entries_formal
    import index_pkg::*;
#(
    parameter int unsigned LogPlaces  = 3,
    parameter int unsigned Objects    = 2,
    parameter int unsigned ValueWords = 1,
    parameter int unsigned MostPins   = 255,
    parameter int unsigned LogMisses  = 2,
    localparam int unsigned Lines     = (1 + Objects * (2 + ValueWords) + 7) / 8
) (
    input logic                     clk_i,
    input logic                     rst_ni,
    input logic [5:0]               limit_i,
    input logic [6:0]               more_i,
    input logic                     valid_i,
    input step_t                    step_i,
    input logic [LogPlaces-1:0]     place_i,
    input logic [LogMisses-1:0]     miss_i,
    input request_t                 request_i,
    input logic [64*ValueWords-1:0] value_i,
    input logic [512*Lines-1:0]     line_i
);
    logic [LogMisses-1:0]     line_miss_o, snapshot_miss_o;
    logic                     snapshot_o, answer_valid_o;
    logic [512*Lines-1:0]     snapshot_line_o;
    answer_t                  answer_o;
    logic [64*ValueWords-1:0] answer_value_o;
    localparam int unsigned HandBits = Objects == 1 ? 1 : $clog2(Objects);
    localparam int unsigned PinBits  = $clog2(MostPins + 1);
    typedef logic [64*ValueWords-1:0] value_t;
    typedef struct packed {
        logic               is_used;
        logic [63:0]        key;
        logic               has_content;
        logic [31:0]        version;
        value_t             value;
        logic               is_locked;
        logic [15:0]        owner;
        logic [PinBits-1:0] pins;
        logic               is_updated;
    } thing_t;
    typedef struct packed {
        thing_t [Objects-1:0] things;
        logic [37:0]          directory;
        logic [15:0]          epoch;
        logic [HandBits-1:0]  hand;
        logic [5:0]           displacement;
    } state_t;

    power_up i_power_up (.*);
    index_entries #(
        .LogPlaces(LogPlaces), .Objects(Objects), .ValueWords(ValueWords), .MostPins(MostPins), .LogMisses(LogMisses), .Lines(Lines)
    ) i_block (.*);

    // What counts of the outputs.
    logic [LogMisses*2+512*Lines+64*ValueWords+$bits(answer_t)+1:0] seen;
    assign seen = {line_miss_o, snapshot_o, snapshot_o ? {snapshot_miss_o, snapshot_line_o} : '0, answer_valid_o,
        answer_valid_o ? {answer_o, answer_value_o} : '0};

    // ---- Entries, as they lie in memory and in the block. Of an object in memory: a word with the key, then one with version, owner,
    // pins, and whether it is updated, has content, is locked and used; then the value.
    localparam int unsigned ObjectBits = 64 * ValueWords + 116 + PinBits;
    localparam int unsigned EntryBits  = 60 + HandBits + Objects * ObjectBits;
    function automatic state_t state_of_line(input logic [512*Lines-1:0] line);
        logic [63:0] word;
        state_of_line.displacement = line[5:0];
        state_of_line.hand         = HandBits'(line[8:6]);
        state_of_line.epoch        = line[25:10];
        state_of_line.directory    = line[63:26];
        for (int unsigned n = 0; n < Objects; n++) begin
            word = line[64*(2 + n*(2 + ValueWords)) +: 64];
            state_of_line.things[n].key         = line[64*(1 + n*(2 + ValueWords)) +: 64];
            state_of_line.things[n].version     = word[63:32];
            state_of_line.things[n].owner       = word[31:16];
            state_of_line.things[n].pins        = word[8 +: PinBits];
            state_of_line.things[n].is_updated  = word[3];
            state_of_line.things[n].has_content = word[2];
            state_of_line.things[n].is_locked   = word[1];
            state_of_line.things[n].is_used     = word[0];
            state_of_line.things[n].value       = line[64*(3 + n*(2 + ValueWords)) +: 64*ValueWords];
        end
    endfunction
    function automatic state_t state_of(input logic [EntryBits-1:0] entry);
        logic [ObjectBits-1:0] object;
        state_of.displacement = entry[5:0];
        state_of.hand         = entry[6 +: HandBits];
        state_of.epoch        = entry[6 + HandBits +: 16];
        state_of.directory    = entry[22 + HandBits +: 38];
        for (int unsigned n = 0; n < Objects; n++) begin
            object = entry[60 + HandBits + n*ObjectBits +: ObjectBits];
            {state_of.things[n].is_updated, state_of.things[n].has_content, state_of.things[n].is_locked,
                state_of.things[n].is_used} = object[3:0];
            state_of.things[n].pins    = object[4 +: PinBits];
            state_of.things[n].owner   = object[4 + PinBits +: 16];
            state_of.things[n].version = object[20 + PinBits +: 32];
            state_of.things[n].key     = object[52 + PinBits +: 64];
            state_of.things[n].value   = object[116 + PinBits +: 64*ValueWords];
        end
    endfunction
    // No key is in an entry twice, and no object has more pins than it may.
    function automatic logic is_sound(input state_t of);
        is_sound = 1'b1;
        for (int unsigned n = 0; n < Objects; n++) begin
            if (32'(of.things[n].pins) > MostPins) is_sound = 1'b0;
            for (int unsigned m = 0; m < n; m++) begin
                if (of.things[n].is_used && of.things[m].is_used && of.things[n].key == of.things[m].key) is_sound = 1'b0;
            end
        end
    endfunction

    // ---- Steps on their way: read, compared, carried out.
    typedef struct packed {
        logic                 valid;
        step_t                step;
        logic                 ours;      // at the place
        logic [LogMisses-1:0] miss;
        request_t             request;
        value_t               value;
    } offer_t;
    offer_t               read_q, compare_q, modify_q;
    logic [LogPlaces-1:0] place;
    logic [512*Lines-1:0] line_q, install_q;
    assign place = i_block.i_entries.address;
    always_ff @(posedge clk_i) begin
        read_q    <= '{valid: rst_ni && valid_i, step: step_i, ours: place_i == place, miss: miss_i, request: request_i, value: value_i};
        compare_q <= read_q;
        modify_q  <= compare_q;
        line_q    <= line_i;
        install_q <= line_q;
        if (!rst_ni) {compare_q.valid, modify_q.valid} <= '0;
    end
    // As the tags are proven to say it.
    `RULE(step_is_answered_or_copied, 0, !valid_i || step_i.is_answered != step_i.is_snapshot)
    `RULE(step_with_an_error_is_answered_only, 0, !valid_i || !(step_i.out_of_range || step_i.bus_error) || step_i.is_answered)
    `RULE(entry_that_is_brought_is_used, 0, !valid_i || !step_i.is_install
        || step_i.is_answered && !step_i.out_of_range && !step_i.bus_error)
    // Memory has what was written there, or zeros.
    `RULE(entry_from_memory_is_sound, 0, !(read_q.valid && read_q.ours && read_q.step.is_install)
        || is_sound(state_of_line(line_i)))

    // ---- The entry at the place, after all that has been carried out.
    state_t entry_q, prior, after;
    logic   known_q, is_error, carries_out, is_known;
    assign is_error    = modify_q.step.out_of_range || modify_q.step.bus_error;
    assign carries_out = modify_q.valid && modify_q.step.is_answered && !is_error;
    assign is_known    = modify_q.ours && (known_q || modify_q.step.is_install);
    assign prior       = modify_q.step.is_install ? state_of_line(install_q) : entry_q;
    assign after       = state_of(i_block.i_operation.entry_o);
    always_ff @(posedge clk_i) begin
        if (carries_out && modify_q.ours) begin
            entry_q <= after;
            known_q <= is_known;
        end
        if (!rst_ni) known_q <= 1'b0;
    end
    // The job of index_operation proves it of an entry in which all that is compared is right.
    `RULE(operation_leaves_a_sound_entry, 0, !(carries_out && is_known && is_sound(prior)) || is_sound(after))

    // What the operation gets: the entry, the request, and what is compared of both.
    state_t             given;
    logic [Objects-1:0] match, same_owner, same_version, pinned, most;
    assign given = state_of(i_block.i_operation.entry_i);
    always_comb for (int unsigned n = 0; n < Objects; n++) begin
        match[n]        = given.things[n].is_used && given.things[n].key == modify_q.request.key;
        same_owner[n]   = given.things[n].owner == modify_q.request.owner;
        same_version[n] = given.things[n].version == modify_q.request.version;
        pinned[n]       = given.things[n].pins != 0;
        most[n]         = 32'(given.things[n].pins) == MostPins;
    end
    `RULE(operation_is_carried_out_once, 1, i_block.i_operation.enable_i == carries_out)
    `RULE(operation_has_its_request, 1, !carries_out || {i_block.i_operation.request_i, i_block.i_operation.value_i,
        i_block.i_operation.operation_i, i_block.i_operation.limit_i, i_block.i_operation.more_i}
        == {modify_q.request, modify_q.value, decode(modify_q.request.operation), limit_i, more_i})
    `RULE(operation_has_what_those_before_it_left, 1, !(carries_out && is_known) || given == prior)
    `RULE(operation_has_the_comparisons, 1, {i_block.i_operation.match_i, i_block.i_operation.same_owner_i,
        i_block.i_operation.same_version_i, i_block.i_operation.pinned_i, i_block.i_operation.most_i,
        i_block.i_operation.fresh_i} == {i_block.modify_compared_q.same_key, i_block.modify_compared_q.same_owner,
        i_block.modify_compared_q.same_version, i_block.modify_compared_q.pinned, i_block.modify_compared_q.most,
        i_block.modify_compared_q.fresh})
    // The block has the same once more, for its own assertion. That it is so, is said of each way in which the entry comes.
    `RULE(comparisons_are_of_the_entry_and_the_request, 1, !modify_q.valid || {match, same_owner, same_version, pinned, most,
        given.epoch == modify_q.request.epoch} == {i_block.compared.same_key, i_block.compared.same_owner,
        i_block.compared.same_version, i_block.compared.pinned, i_block.compared.most, i_block.compared.fresh})
    `RULE(one_object_has_the_key, 1, !(carries_out && is_known) || is_sound(prior))

    // What is answered and copied.
    `RULE(step_is_answered_three_clocks_later, 1, answer_valid_o == (modify_q.valid && modify_q.step.is_answered))
    `RULE(entry_is_copied_three_clocks_later, 1, snapshot_o == (modify_q.valid && modify_q.step.is_snapshot)
        && (!snapshot_o || snapshot_miss_o == modify_q.miss))
    `RULE(copy_is_the_entry, 1, !(snapshot_o && is_known) || state_of_line(snapshot_line_o) == prior)
    answer_t wanted;
    always_comb begin
        wanted       = '0;
        wanted.token = modify_q.request.token;
        if (is_error) begin
            wanted.status = modify_q.step.out_of_range ? OutOfRange : BusError;
        end else begin
            wanted.status      = i_block.i_operation.status_o;
            wanted.is_found    = i_block.i_operation.is_found_o;
            wanted.has_content = i_block.i_operation.has_content_o;
            wanted.is_locked   = i_block.i_operation.is_locked_o;
            wanted.slots       = 8'(i_block.i_operation.slots_o);
            wanted.owner       = i_block.i_operation.owner_o;
            wanted.epoch       = prior.epoch;
            wanted.word        = wanted.has_content ? {i_block.i_operation.version_o, 32'd0} : {26'd0, prior.directory};
        end
    end
    `RULE(answer_is_that_of_the_operation, 1, !answer_valid_o || !(is_error || is_known) || answer_o == wanted)
    `RULE(value_is_that_of_the_operation, 1, !answer_valid_o
        || answer_value_o == (is_error ? '0 : i_block.i_operation.value_o))
    `RULE(line_is_read_of_the_step, 1, !read_q.valid || line_miss_o == read_q.miss)
    `RULE(entry_stays_sound, 1, !known_q || is_sound(entry_q))

    // ---- What induction needs: the block's registers are those of the steps, and the entry is in memory and on its way.
    `RULE(valid_steps_are_known, 1, {i_block.read_valid_q, i_block.compare_valid_q, i_block.modify_valid_q}
        == {read_q.valid, compare_q.valid, modify_q.valid})
    `RULE(steps_are_known, 1, (!read_q.valid || i_block.read_step_q == read_q.step)
        && (!compare_q.valid || i_block.compare_step_q == compare_q.step)
        && (!modify_q.valid || i_block.modify_step_q == modify_q.step))
    `RULE(places_are_known, 1, (!read_q.valid || (i_block.read_place_q == place) == read_q.ours)
        && (!compare_q.valid || (i_block.compare_place_q == place) == compare_q.ours)
        && (!modify_q.valid || (i_block.modify_place_q == place) == modify_q.ours))
    `RULE(misses_are_known, 1, (!read_q.valid || i_block.read_miss_q == read_q.miss)
        && (!compare_q.valid || i_block.compare_miss_q == compare_q.miss)
        && (!modify_q.valid || i_block.modify_miss_q == modify_q.miss))
    `RULE(requests_are_known, 1, (!read_q.valid || {i_block.read_request_q, i_block.read_value_q} == {read_q.request, read_q.value})
        && (!compare_q.valid || {i_block.compare_request_q, i_block.compare_value_q} == {compare_q.request, compare_q.value})
        && (!modify_q.valid || {i_block.modify_request_q, i_block.modify_value_q} == {modify_q.request, modify_q.value}
            && i_block.modify_operation_q == decode(modify_q.request.operation)))
    function automatic logic is_kept(input offer_t of);
        is_kept = !of.valid || of.step.is_answered != of.step.is_snapshot
            && (!(of.step.out_of_range || of.step.bus_error || of.step.is_install) || of.step.is_answered)
            && !(of.step.is_install && (of.step.out_of_range || of.step.bus_error));
    endfunction
    `RULE(steps_are_as_they_came, 1, is_kept(read_q) && is_kept(compare_q) && is_kept(modify_q))
    `RULE(line_is_kept, 1, state_of(i_block.line_q) == state_of_line(line_q))
    `RULE(line_that_was_read_is_sound, 1, (!(compare_q.valid && compare_q.ours && compare_q.step.is_install)
        || is_sound(state_of_line(line_q))) && (!(modify_q.valid && modify_q.ours && modify_q.step.is_install)
        || is_sound(state_of_line(install_q))))
    `RULE(entry_is_in_memory, 1, !known_q || state_of(i_block.i_entries.word_q) == entry_q)
    `RULE(entry_is_written_behind_the_step, 1, !(compare_q.valid && compare_q.ours) || !known_q
        || state_of(i_block.compare_after_next_q ? i_block.written_q : i_block.stored) == entry_q)
    `RULE(next_step_is_known, 1, !compare_q.valid || !compare_q.ours
        || i_block.compare_next_q == (modify_q.valid && modify_q.ours && !is_error))
    `RULE(pins_are_compared, 1, !modify_q.valid || is_error || {i_block.modify_compared_q.pinned, i_block.modify_compared_q.most}
        == {i_block.compared.pinned, i_block.compared.most})
    `RULE(epochs_are_compared, 1, !modify_q.valid || is_error || i_block.modify_compared_q.fresh == i_block.compared.fresh)
    // Where the entry is from: the step before, the line, what was written, or memory. Each by itself is easy for a solver.
    logic [1:0] from_q;
    always_ff @(posedge clk_i) from_q <= i_block.takes_modified ? 2'd0 : compare_q.step.is_install ? 2'd1
        : i_block.compare_after_next_q ? 2'd2 : 2'd3;
    for (genvar from = 0; from < 4; from++) begin : g_from
        `RULE(entry_comes_to_the_step, 1, !(modify_q.valid && modify_q.ours && !is_error) || !is_known || from_q != 2'(from)
            || state_of(i_block.modify_entry_q) == prior)
        for (genvar n = 0; n < Objects; n++) begin : g_object
            `RULE(object_is_compared, 1, !modify_q.valid || is_error || from_q != 2'(from)
                || {i_block.modify_compared_q.same_key[n], i_block.modify_compared_q.same_owner[n],
                    i_block.modify_compared_q.same_version[n]} == {i_block.compared.same_key[n],
                    i_block.compared.same_owner[n], i_block.compared.same_version[n]})
        end
    end

    logic our_step;
    assign our_step = carries_out && modify_q.ours && known_q && !modify_q.step.is_install;
    `REACHED(steps_of_the_place_follow_each_other, our_step && $past(our_step) && match != 0
        && entry_q != $past(entry_q) && !$past(match != 0))
    `REACHED(step_of_another_place_is_between, our_step && $past(modify_q.valid && !modify_q.ours && carries_out)
        && $past(our_step, 2) && entry_q != $past(entry_q, 2))
    `REACHED(changed_entry_is_copied, snapshot_o && is_known && prior.things[0].is_updated && $past(our_step))
    `REACHED(entry_is_brought_again, carries_out && modify_q.ours && modify_q.step.is_install && known_q)
    `REACHED(step_fails_between_two, our_step && $past(modify_q.valid && is_error && modify_q.ours) && $past(our_step, 2))
endmodule
