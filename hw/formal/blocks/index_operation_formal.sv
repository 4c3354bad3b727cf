// SPDX-License-Identifier: MIT OR Apache-2.0
// index_operation: any operation on any entry leaves it and answers as an independent statement of the contract says
// (index_machine.svh), and what it tells for the next comparisons is true of the entry that it leaves.
`include "../rules/rule.svh"
module index_operation_formal
    import index_pkg::*;
#(
    parameter int unsigned Objects    = 2,
    parameter int unsigned MostPins   = 255,
    localparam int unsigned ValueWords = 1,
    localparam int unsigned ObjectBits = 64 * ValueWords + 116 + $clog2(MostPins + 1),
    localparam int unsigned EntryBits  = 60 + (Objects == 1 ? 1 : $clog2(Objects)) + Objects * ObjectBits
) (
    input logic                     clk_i,
    input logic                     rst_ni,
    input logic                     enable_i,
    input request_t                 request_i,
    input logic [64*ValueWords-1:0] value_i,
    input logic [EntryBits-1:0]     entry_i,
    input logic [5:0]               limit_i,
    input logic [6:0]               more_i
);
`include "index_machine.svh"

    // From the bits of the block, the lowest first: of an object used, locked, content, updated, pins, owner, version, key, value.
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

    // What is compared, as index_entries is proven to do it. At most one object has the key.
    state_t             prior;
    logic [Objects-1:0] match, same_owner, same_version, pinned, most, few;
    assign prior = state_of(entry_i);
    always_comb for (int unsigned n = 0; n < Objects; n++) begin
        match[n]        = prior.things[n].is_used && prior.things[n].key == request_i.key;
        same_owner[n]   = prior.things[n].owner == request_i.owner;
        same_version[n] = prior.things[n].version == request_i.version;
        pinned[n]       = prior.things[n].pins != 0;
        most[n]         = 32'(prior.things[n].pins) == MostPins;
        few[n]          = 32'(prior.things[n].pins) <= MostPins;
    end
    `RULE(one_object_has_the_key, 0, $onehot0(match))
    `RULE(pins_are_few_enough, 0, few == '1)
    `RULE(operation_is_known, 0, request_i.operation <= SetHint)

    logic [EntryBits-1:0]     entry_o;
    logic [Objects-1:0]       placed_o, owner_taken_o, version_taken_o, pinned_o, most_o;
    logic                     epoch_grows_o, is_found_o, has_content_o, is_locked_o;
    logic [3:0]               status_o;
    logic [15:0]              owner_o;
    logic [31:0]              version_o;
    logic [64*ValueWords-1:0] value_o;
    logic [6:0]               slots_o;

    power_up i_power_up (.*);
    index_operation #(.Objects(Objects), .ValueWords(ValueWords), .MostPins(MostPins)) i_block (
        .enable_i, .operation_i(decode(request_i.operation)), .request_i, .value_i, .entry_i, .match_i(match),
        .same_owner_i(same_owner), .same_version_i(same_version), .pinned_i(pinned), .most_i(most),
        .fresh_i(prior.epoch == request_i.epoch), .limit_i, .more_i, .entry_o, .placed_o, .owner_taken_o, .version_taken_o,
        .pinned_o, .most_o, .epoch_grows_o, .status_o, .is_found_o, .has_content_o, .is_locked_o, .owner_o, .version_o,
        .value_o, .slots_o);

    // What counts of the outputs.
    logic [EntryBits+5*Objects+64*ValueWords+62:0] seen;
    assign seen = {entry_o, placed_o, owner_taken_o, version_taken_o, pinned_o, most_o, epoch_grows_o, is_found_o,
        has_content_o, is_locked_o, status_o, owner_o, version_o, value_o, slots_o};

    state_t   after, plain_after, wanted;
    outcome_t outcome;
    assign after       = state_of(entry_o);
    assign outcome     = outcome_of(prior, request_i, value_i);
    assign plain_after = plain(after);
    assign wanted      = plain(outcome.after);
    `RULE(directory_and_displacement_are_as_the_operation_leaves_them, 1, !enable_i
        || {after.directory, after.displacement} == {wanted.directory, wanted.displacement})
    `RULE(epoch_and_hand_are_as_the_operation_leaves_them, 1, !enable_i
        || {after.epoch, after.hand} == {wanted.epoch, wanted.hand})
    for (genvar n = 0; n < Objects; n++) begin : g_objects
        `RULE(object_is_as_the_operation_leaves_it, 1, !enable_i || plain_after.things[n] == wanted.things[n])
    end
    `RULE(entry_stays_as_it_is, 1, enable_i || entry_o == entry_i)
    `RULE(status_is_that_of_the_operation, 1, status_o == outcome.status)
    `RULE(object_is_told_that_was_found, 1, is_found_o == outcome.is_found && has_content_o == outcome.thing.has_content
        && is_locked_o == outcome.thing.is_locked)
    `RULE(owner_is_told, 1, owner_o == (outcome.thing.is_locked ? outcome.thing.owner : '0))
    `RULE(version_is_told, 1, version_o == (outcome.thing.has_content ? outcome.thing.version : '0))
    `RULE(value_is_told, 1, value_o == (outcome.thing.has_content ? outcome.thing.value : '0))
    `RULE(slots_to_read_are_told, 1, more_i == 0 || more_i > 7'd64
        || 8'(slots_o) == slots_of(prior.displacement, limit_i, more_i))

    // For the next comparisons: all that is compared is as before, or of this request.
    for (genvar n = 0; n < Objects; n++) begin : g_next
        `RULE(key_is_as_it_was_or_of_the_request, 1,
            after.things[n].key == (placed_o[n] ? request_i.key : prior.things[n].key))
        `RULE(owner_is_as_it_was_or_of_the_request, 1,
            after.things[n].owner == (owner_taken_o[n] ? request_i.owner : prior.things[n].owner))
        `RULE(version_is_as_it_was_or_of_the_request, 1,
            after.things[n].version == (version_taken_o[n] ? request_i.version : prior.things[n].version))
        `RULE(pins_are_told, 1, pinned_o[n] == (after.things[n].pins != 0)
            && most_o[n] == (32'(after.things[n].pins) == MostPins) && 32'(after.things[n].pins) <= MostPins)
        for (genvar m = 0; m < n; m++) begin : g_other
            `RULE(no_key_is_there_twice, 1, prior.things[n].is_used && prior.things[m].is_used
                && prior.things[n].key == prior.things[m].key
                || !(after.things[n].is_used && after.things[m].is_used && after.things[n].key == after.things[m].key))
        end
    end
    `RULE(epoch_is_as_it_was_or_grows, 1, after.epoch == prior.epoch + 16'(epoch_grows_o))

    `REACHED(object_takes_the_place_of_another, enable_i && placed_o[Objects-1] && prior.things[Objects-1].is_used
        && epoch_grows_o && request_i.operation == Fill)
    `REACHED(nothing_is_replaceable, status_o == Full)
    `REACHED(object_has_as_many_pins_as_it_may, status_o == TooManyPins)
    `REACHED(last_pin_is_taken_away, enable_i && pinned == 1 && pinned_o == 0)
    `REACHED(object_leaves_with_its_lock, enable_i && status_o == Done && request_i.operation == Unlock && !has_content_o)
    `REACHED(fill_is_stale_but_tells_the_displacement, enable_i && status_o == Stale && after.displacement != prior.displacement)
    `REACHED(directory_changes, enable_i && after.directory != prior.directory)
endmodule
