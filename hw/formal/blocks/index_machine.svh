// SPDX-License-Identifier: MIT OR Apache-2.0
// What an operation of the index does to an entry, and what it answers, as docs/nic-lookup.md says it, one operation after the
// other. It has nothing of the RTL but the numbers of operations and answers. The wrapper has declared Objects, ValueWords and
// MostPins; requests are as on the stream, by their bits.

    localparam int unsigned HandBits = Objects == 1 ? 1 : $clog2(Objects);
    localparam int unsigned PinBits  = $clog2(MostPins + 1);
    typedef logic [64*ValueWords-1:0] value_t;
    typedef logic [HandBits-1:0]      number_t;    // of an object
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
        number_t              hand;
        logic [5:0]           displacement;
    } state_t;
    typedef struct packed {
        state_t      after;
        logic [3:0]  status;
        logic        is_found;    // and what was found of the object
        thing_t      thing;
    } outcome_t;

    // Where a new object goes: into the first free place, else to the first from the hand on that is neither locked nor pinned.
    typedef struct packed {
        logic    is_any;
        logic    is_free;
        number_t at;
    } room_t;
    function automatic room_t room_in(input state_t of);
        number_t at;
        room_in = '0;
        for (int step = int'(Objects) - 1; step >= 0; step--) begin
            at = number_t'((32'(of.hand) + step) % Objects);
            if (!of.things[at].is_locked && of.things[at].pins == 0) room_in = '{is_any: 1'b1, is_free: 1'b0, at: at};
        end
        for (int n = int'(Objects) - 1; n >= 0; n--) begin
            if (!of.things[n].is_used) room_in = '{is_any: 1'b1, is_free: 1'b1, at: number_t'(n)};
        end
    endfunction
    function automatic state_t with_new(input state_t of, input room_t room, input thing_t thing);
        with_new                 = of;
        with_new.things[room.at] = thing;
        if (!room.is_free) begin
            with_new.hand  = number_t'((32'(room.at) + 1) % Objects);
            with_new.epoch = of.epoch + 16'(of.things[room.at].is_updated);
        end
    endfunction

    function automatic outcome_t outcome_of(input state_t prior, input logic [255:0] request, input value_t value);
        outcome_t    result;
        thing_t      thing, made;
        room_t       room;
        number_t     at;
        logic        is_found, is_others;
        logic [15:0] owner, epoch;
        logic [31:0] version;
        logic [5:0]  displacement;
        owner        = request[255:240];
        epoch        = request[239:224];
        version      = request[191:160];
        displacement = request[205:200];
        is_found = 1'b0;
        at       = '0;
        for (int unsigned n = 0; n < Objects; n++) begin
            if (prior.things[n].is_used && prior.things[n].key == request[63:0]) begin
                is_found = 1'b1;
                at       = number_t'(n);
            end
        end
        thing     = is_found ? prior.things[at] : '0;
        is_others = thing.is_locked && thing.owner != owner;
        room      = room_in(prior);
        made         = '0;
        made.is_used = 1'b1;
        made.key     = request[63:0];
        result.after    = prior;
        result.status   = index_pkg::Done;
        result.is_found = is_found;
        result.thing    = thing;
        case (request[195:192])
            index_pkg::LookUp: result.status = is_others ? index_pkg::Locked : thing.has_content ? index_pkg::Done : index_pkg::Miss;
            index_pkg::LockAndRead: begin
                result.status = is_others ? index_pkg::Locked : thing.has_content ? index_pkg::Done : index_pkg::Miss;
                if (is_found && !is_others) begin
                    result.after.things[at].is_locked = 1'b1;
                    result.after.things[at].owner     = owner;
                end else if (!is_found && room.is_any) begin
                    made.is_locked = 1'b1;
                    made.owner     = owner;
                    result.after   = with_new(prior, room, made);
                end else if (!is_found) begin
                    result.status = index_pkg::Full;
                end
            end
            index_pkg::Validate: begin
                result.status = is_others ? index_pkg::Locked : !thing.has_content ? index_pkg::Miss
                    : thing.version != version ? index_pkg::Changed : index_pkg::Done;
            end
            index_pkg::Fill: begin
                if (thing.has_content) begin
                    result.status = index_pkg::Done;
                end else if (epoch != prior.epoch) begin
                    result.status = index_pkg::Stale;
                end else if (is_found) begin
                    result.after.things[at].has_content = 1'b1;
                    result.after.things[at].version     = version;
                    result.after.things[at].value       = value;
                end else if (room.is_any) begin
                    made.has_content = 1'b1;
                    made.version     = version;
                    made.value       = value;
                    result.after     = with_new(prior, room, made);
                end else begin
                    result.status = index_pkg::Full;
                end
                if (displacement > prior.displacement) result.after.displacement = displacement;
            end
            index_pkg::UpdateAndPin: begin
                if (!is_found) result.status = index_pkg::Unknown;
                else if (!thing.is_locked) result.status = index_pkg::NotLocked;
                else if (is_others) result.status = index_pkg::Locked;
                else if (32'(thing.pins) >= MostPins) result.status = index_pkg::TooManyPins;
                else begin
                    result.after.things[at].has_content = 1'b1;
                    result.after.things[at].version     = version;
                    result.after.things[at].value       = value;
                    result.after.things[at].pins        = thing.pins + 1'b1;
                    result.after.things[at].is_updated  = 1'b1;
                end
            end
            index_pkg::Unpin: begin
                if (!is_found) result.status = index_pkg::Unknown;
                else if (thing.pins == 0) result.status = index_pkg::NotPinned;
                else result.after.things[at].pins = thing.pins - 1'b1;
            end
            index_pkg::Unlock: begin
                if (!is_found) result.status = index_pkg::Unknown;
                else if (!thing.is_locked) result.status = index_pkg::NotLocked;
                else if (is_others) result.status = index_pkg::Locked;
                else begin
                    result.after.things[at].is_locked = 1'b0;
                    result.after.things[at].is_used   = thing.has_content;
                end
            end
            index_pkg::Evict: begin
                if (thing.is_locked) begin
                    result.status = index_pkg::Locked;
                end else if (thing.pins != 0) begin
                    result.status = index_pkg::Pinned;
                end else begin
                    if (!is_found) result.status = index_pkg::Unknown;
                    if (is_found) result.after.things[at].is_used = 1'b0;
                    result.after.epoch = prior.epoch + 1'b1;
                end
            end
            index_pkg::SetHint: begin
                if (request[196] || displacement > prior.displacement) result.after.displacement = displacement;
                if (request[197]) result.after.directory = request[165:128];
            end
            default: ;
        endcase
        return result;
    endfunction

    // What counts of an entry: of an object without a use, a lock or content nothing does.
    function automatic state_t plain(input state_t of);
        plain = of;
        for (int unsigned n = 0; n < Objects; n++) begin
            if (!of.things[n].is_locked) plain.things[n].owner = '0;
            if (!of.things[n].has_content) {plain.things[n].version, plain.things[n].value} = '0;
            if (!of.things[n].is_used) plain.things[n] = '0;
        end
    endfunction
    // Slots to read: from the home to the displacement and some more, at most to the limit.
    function automatic logic [7:0] slots_of(input logic [5:0] displacement, input logic [5:0] limit, input logic [6:0] more);
        slots_of = 8'(displacement) + 8'(more) < 8'(limit) + 8'd1 ? 8'(displacement) + 8'(more) : 8'(limit) + 8'd1;
    endfunction
