// SPDX-License-Identifier: MIT OR Apache-2.0
// Carries out one operation on one entry of the index.
//
// Contract: without a clock. `match_i` says which object has the request's key, at most one.
// What else is compared comes from the clock before, too: whether each object's owner and version
// and the entry's epoch are the request's, whether it has any pins, and as many as it may have.
// `entry_o` is the entry afterwards, and the answer is what the operation found before. Which
// objects took the request's key, owner or version, and whether the epoch grew, is for the same
// comparisons for the next operation. Source: Xenic, sections 4.1.3, 4.2.
module index_operation #(
    parameter int unsigned Objects    = 2,
    parameter int unsigned ValueWords = 1,
    parameter int unsigned MostPins   = 255,
    localparam int unsigned HandBits   = Objects == 1 ? 1 : $clog2(Objects),
    localparam int unsigned PinBits    = $clog2(MostPins + 1),
    localparam int unsigned ObjectBits = 64 * ValueWords + 116 + PinBits,
    localparam int unsigned EntryBits  = 22 + index_pkg::DirectoryBits + HandBits + Objects * ObjectBits
) (
    input  logic                       enable_i,       // else nothing changes
    input  index_pkg::operation_t      operation_i,    // of the request
    input  index_pkg::request_t        request_i,
    input  logic [64*ValueWords-1:0]   value_i,
    input  logic [EntryBits-1:0]       entry_i,
    input  logic [Objects-1:0]         match_i,
    input  logic [Objects-1:0]         same_owner_i,
    input  logic [Objects-1:0]         same_version_i,
    input  logic [Objects-1:0]         pinned_i,
    input  logic [Objects-1:0]         most_i,
    input  logic                       fresh_i,
    input  logic [5:0]                 limit_i,        // D_m
    input  logic [6:0]                 more_i,         // k

    output logic [EntryBits-1:0]       entry_o,
    output logic [Objects-1:0]         placed_o,
    output logic [Objects-1:0]         owner_taken_o,
    output logic [Objects-1:0]         version_taken_o,
    output logic [Objects-1:0]         pinned_o,
    output logic [Objects-1:0]         most_o,
    output logic                       epoch_grows_o,
    output logic [3:0]                 status_o,
    output logic                       is_found_o,
    output logic                       has_content_o,
    output logic                       is_locked_o,
    output logic [15:0]                owner_o,
    output logic [31:0]                version_o,
    output logic [64*ValueWords-1:0]   value_o,
    output logic [6:0]                 slots_o
);
    import index_pkg::*;

    typedef struct packed {
        logic [64*ValueWords-1:0] value;
        logic [63:0]              key;
        logic [31:0]              version;
        logic [15:0]              owner;
        logic [PinBits-1:0]       pins;
        logic                     updated;
        logic                     content;
        logic                     locked;
        logic                     used;
    } object_t;

    typedef struct packed {
        object_t [Objects-1:0]    objects;
        logic [DirectoryBits-1:0] directory;
        logic [15:0]              epoch;
        logic [HandBits-1:0]      hand;
        logic [5:0]               displacement;
    } entry_t;

    entry_t  entry, after;
    assign entry   = entry_i;
    assign entry_o = after;

    logic look_up, lock, validate, fill, update, unpin, unlock, evict, set_hint;
    assign look_up  = operation_i.look_up;
    assign lock     = operation_i.lock;
    assign validate = operation_i.validate;
    assign fill     = operation_i.fill;
    assign update   = operation_i.update;
    assign unpin    = operation_i.unpin;
    assign unlock   = operation_i.unlock;
    assign evict    = operation_i.evict;
    assign set_hint = operation_i.set_hint;

    // What each object is, and what the one with the key is.
    logic [Objects-1:0] used, locked, content, updated;
    always_comb begin
        for (int unsigned n = 0; n < Objects; n++) begin
            used[n]    = entry.objects[n].used;
            locked[n]  = entry.objects[n].locked;
            content[n] = entry.objects[n].content;
            updated[n] = entry.objects[n].updated;
        end
    end
    logic found, is_locked, is_others, is_pinned, has_most, has_content;
    assign found       = |match_i;
    assign is_locked   = |(match_i & locked);
    assign is_others   = |(match_i & locked & ~same_owner_i);
    assign is_pinned   = |(match_i & pinned_i);
    assign has_most    = |(match_i & most_i);
    assign has_content = |(match_i & content);

    // A free place; else the first from the hand on whose object is neither locked nor pinned.
    logic [Objects-1:0]  replaceable, place;
    logic                any_free, any_place, leaves_updated;
    logic [HandBits-1:0] hand_behind;
    assign replaceable    = used & ~locked & ~pinned_i;
    assign any_free       = !(&used);
    assign any_place      = any_free || |replaceable;
    assign leaves_updated = !any_free && |(place & updated);
    always_comb begin
        logic [Objects-1:0] candidates;
        candidates  = any_free ? ~used : replaceable;
        place       = '0;
        hand_behind = entry.hand;
        for (int n = 2 * int'(Objects) - 1; n >= 0; n--) begin
            if (candidates[n % int'(Objects)] && (n >= int'(Objects) || n >= int'(entry.hand) || any_free)) begin
                place                    = '0;
                place[n % int'(Objects)] = 1'b1;
                if (!any_free) hand_behind = HandBits'((n + 1) % int'(Objects));
            end
        end
    end

    // What changes.
    logic                may_lock, may_fill, may_update, may_unlock, may_evict, placing;
    logic [Objects-1:0]  placed, target;
    assign may_lock   = lock && (found ? !is_others : any_place);
    assign may_fill   = fill && fresh_i && (found ? !has_content : any_place);
    assign may_update = update && is_locked && !is_others && !has_most;
    assign may_unlock = unlock && is_locked && !is_others;
    assign may_evict  = evict && !is_locked && !is_pinned;
    assign placing    = enable_i && !found && any_place && (lock || fill && fresh_i);
    assign placed     = placing ? place : '0;
    assign placed_o   = placed;
    assign target     = match_i | placed;

    logic [Objects-1:0] owner_taken, version_taken;
    assign owner_taken     = enable_i && may_lock ? target : '0;
    assign version_taken   = enable_i && (may_fill || may_update) ? target : '0;
    assign owner_taken_o   = owner_taken;
    assign version_taken_o = version_taken;
    assign epoch_grows_o   = enable_i && (placing && leaves_updated || may_evict);
    always_comb begin
        pinned_o = pinned_i & ~placed;
        most_o   = most_i & ~placed;
        for (int unsigned n = 0; n < Objects; n++) begin
            if (enable_i && match_i[n] && may_update) begin
                pinned_o[n] = 1'b1;
                most_o[n]   = entry.objects[n].pins == PinBits'(MostPins - 1);
            end
            if (enable_i && match_i[n] && unpin && pinned_i[n]) begin
                pinned_o[n] = entry.objects[n].pins != PinBits'(1);
                most_o[n]   = 1'b0;
            end
        end
    end

    always_comb begin
        after = entry;
        for (int unsigned n = 0; n < Objects; n++) begin
            if (placed[n]) begin
                after.objects[n].key     = request_i.key;
                after.objects[n].used    = 1'b1;
                after.objects[n].pins    = '0;
                after.objects[n].updated = 1'b0;
                after.objects[n].locked  = 1'b0;
                after.objects[n].content = 1'b0;
            end
            if (owner_taken[n]) begin
                after.objects[n].locked = 1'b1;
                after.objects[n].owner  = request_i.owner;
            end
            if (version_taken[n]) begin
                after.objects[n].content = 1'b1;
                after.objects[n].version = request_i.version;
                after.objects[n].value   = value_i;
            end
            if (enable_i && match_i[n] && may_update) begin
                after.objects[n].updated = 1'b1;
                after.objects[n].pins    = entry.objects[n].pins + 1'b1;
            end
            if (enable_i && match_i[n] && unpin && pinned_i[n]) begin
                after.objects[n].pins = entry.objects[n].pins - 1'b1;
            end
            if (enable_i && match_i[n] && may_unlock) begin
                after.objects[n].locked = 1'b0;
                after.objects[n].used   = content[n];
            end
            if (enable_i && match_i[n] && may_evict) after.objects[n].used = 1'b0;
        end
        if (placing) after.hand = hand_behind;
        if (epoch_grows_o) after.epoch = entry.epoch + 1'b1;
        if (enable_i && (set_hint && request_i.is_exact
                || (set_hint || fill) && request_i.displacement[5:0] > entry.displacement)) begin
            after.displacement = request_i.displacement[5:0];
        end
        if (enable_i && set_hint && request_i.has_directory) begin
            after.directory = {request_i.version[DirectoryBits-33:0], request_i.low_directory};
        end
    end

    // What is answered.
    always_comb begin
        status_o = Done;
        if (look_up || lock || validate) begin
            if (is_others) status_o = Locked;
            else if (lock && !found && !any_place) status_o = Full;
            else if (!has_content) status_o = Miss;
            else if (validate && (match_i & same_version_i) == '0) status_o = Changed;
        end else if (fill) begin
            if (has_content) status_o = Done;
            else if (!fresh_i) status_o = Stale;
            else if (!found && !any_place) status_o = Full;
        end else if (!found && !set_hint) begin
            status_o = Unknown;
        end else if (update || unlock) begin
            if (!is_locked) status_o = NotLocked;
            else if (is_others) status_o = Locked;
            else if (update && has_most) status_o = TooManyPins;
        end else if (unpin) begin
            if (!is_pinned) status_o = NotPinned;
        end else if (evict) begin
            if (is_locked) status_o = Locked;
            else if (is_pinned) status_o = Pinned;
        end
    end

    assign is_found_o    = found;
    assign is_locked_o   = is_locked;
    assign has_content_o = has_content;
    always_comb begin
        owner_o   = '0;
        version_o = '0;
        value_o   = '0;
        for (int unsigned n = 0; n < Objects; n++) begin
            if (match_i[n] && locked[n]) owner_o |= entry.objects[n].owner;
            if (match_i[n] && content[n]) begin
                version_o |= entry.objects[n].version;
                value_o   |= entry.objects[n].value;
            end
        end
    end

    logic [7:0] slots;
    assign slots   = {2'b0, entry.displacement} + {1'b0, more_i};
    assign slots_o = slots > {2'b0, limit_i} ? {1'b0, limit_i} + 7'd1 : slots[6:0];

    logic unused;
    assign unused = ^{request_i.home, request_i.segment, request_i.token, request_i.epoch,
        request_i.reserved, request_i.operation,
        request_i.displacement[7:6]};

endmodule
