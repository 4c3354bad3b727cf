// SPDX-License-Identifier: MIT OR Apache-2.0
// The cached entries, and the pipeline that carries out operations on them: read, compare, modify.
//
// Contract: takes a step each clock and answers it three clocks later, in order; each sees what
// those before it have done. `line_i` is the fetched entry of `line_miss_o` in the same clock; it
// has come before its step. A snapshot gives the entry as all steps before it left it. Layout of
// lines: docs/nic-lookup.md.
module index_entries #(
    parameter int unsigned LogPlaces  = 14,
    parameter int unsigned Objects    = 2,
    parameter int unsigned ValueWords = 1,
    parameter int unsigned MostPins   = 255,
    parameter int unsigned LogMisses  = 3,
    parameter int unsigned Lines      = 1
) (
    input  logic                          clk_i,
    input  logic                          rst_ni,
    input  logic [5:0]                    limit_i,
    input  logic [6:0]                    more_i,

    input  logic                          valid_i,
    input  index_pkg::step_t              step_i,
    input  logic [LogPlaces-1:0]          place_i,
    input  logic [LogMisses-1:0]          miss_i,
    input  index_pkg::request_t           request_i,
    input  logic [64*ValueWords-1:0]      value_i,

    output logic [LogMisses-1:0]          line_miss_o,
    input  logic [512*Lines-1:0]          line_i,

    output logic                          snapshot_o,
    output logic [LogMisses-1:0]          snapshot_miss_o,
    output logic [512*Lines-1:0]          snapshot_line_o,

    output logic                          answer_valid_o,
    output index_pkg::answer_t            answer_o,      // without the address
    output logic [64*ValueWords-1:0]      answer_value_o
);
    import index_pkg::*;

    localparam int unsigned HandBits   = Objects == 1 ? 1 : $clog2(Objects);
    localparam int unsigned PinBits    = $clog2(MostPins + 1);
    localparam int unsigned ObjectBits = 64 * ValueWords + 116 + PinBits;
    localparam int unsigned ObjectsAt  = 22 + DirectoryBits + HandBits;
    localparam int unsigned EntryBits  = ObjectsAt + Objects * ObjectBits;
    // The place of the key in an object: above version, owner, pins and four flags.
    localparam int unsigned KeyAt      = 52 + PinBits;
    localparam int unsigned EpochAt    = 6 + HandBits;
    typedef logic [EntryBits-1:0] entry_t;

    function automatic logic [ObjectBits-1:0] object_of(input entry_t entry, input int unsigned n);
        return entry[ObjectsAt + n*ObjectBits +: ObjectBits];
    endfunction

    function automatic logic [63:0] key_of(input entry_t entry, input int unsigned n);
        return entry[ObjectsAt + n*ObjectBits + KeyAt +: 64];
    endfunction

    function automatic logic [31:0] version_of(input entry_t entry, input int unsigned n);
        return entry[ObjectsAt + n*ObjectBits + PinBits + 20 +: 32];
    endfunction

    function automatic logic [15:0] owner_of(input entry_t entry, input int unsigned n);
        return entry[ObjectsAt + n*ObjectBits + PinBits + 4 +: 16];
    endfunction

    function automatic logic [PinBits-1:0] pins_of(input entry_t entry, input int unsigned n);
        return entry[ObjectsAt + n*ObjectBits + 4 +: PinBits];
    endfunction

    function automatic logic is_used(input entry_t entry, input int unsigned n);
        return entry[ObjectsAt + n*ObjectBits];
    endfunction

    // From the words of memory and back.
    function automatic entry_t unpack(input logic [512*Lines-1:0] line);
        entry_t entry;
        entry = '0;
        entry[ObjectsAt-1:0] = {line[63:10], line[6 +: HandBits], line[5:0]};
        for (int unsigned n = 0; n < Objects; n++) begin
            entry[ObjectsAt + n*ObjectBits +: ObjectBits] = {
                line[64*(3 + n*(2 + ValueWords)) +: 64*ValueWords],
                line[64*(1 + n*(2 + ValueWords)) +: 64],
                line[64*(2 + n*(2 + ValueWords)) + 32 +: 32],
                line[64*(2 + n*(2 + ValueWords)) + 16 +: 16],
                line[64*(2 + n*(2 + ValueWords)) + 8 +: PinBits],
                line[64*(2 + n*(2 + ValueWords)) +: 4]
            };
        end
        // The four flags lie in memory as they lie here: updated, content, locked, used.
        return entry;
    endfunction

    function automatic logic [512*Lines-1:0] pack(input entry_t entry);
        logic [512*Lines-1:0]  line;
        logic [ObjectBits-1:0] object;
        line = '0;
        {line[63:10], line[6 +: HandBits], line[5:0]} = entry[ObjectsAt-1:0];
        for (int unsigned n = 0; n < Objects; n++) begin
            object = object_of(entry, n);
            line[64*(3 + n*(2 + ValueWords)) +: 64*ValueWords] = object[KeyAt + 64 +: 64*ValueWords];
            line[64*(1 + n*(2 + ValueWords)) +: 64]            = object[KeyAt +: 64];
            line[64*(2 + n*(2 + ValueWords)) + 16 +: 48]       = object[PinBits + 4 +: 48];
            line[64*(2 + n*(2 + ValueWords)) + 8 +: PinBits]   = object[4 +: PinBits];
            line[64*(2 + n*(2 + ValueWords)) +: 4]             = object[3:0];
        end
        return line;
    endfunction

    // What an operation compares with an entry.
    typedef struct packed {
        logic [Objects-1:0] same_key;
        logic [Objects-1:0] same_owner;
        logic [Objects-1:0] same_version;
        logic [Objects-1:0] pinned;
        logic [Objects-1:0] most;
        logic               fresh;
    } compared_t;

    typedef struct packed {
        logic [63:0] key;
        logic [15:0] owner;
        logic [31:0] version;
        logic [15:0] epoch;
    } wanted_t;

    function automatic compared_t compare(input entry_t entry, input wanted_t wanted);
        compared_t result;
        for (int unsigned n = 0; n < Objects; n++) begin
            result.same_key[n]     = key_of(entry, n) == wanted.key;
            result.same_owner[n]   = owner_of(entry, n) == wanted.owner;
            result.same_version[n] = version_of(entry, n) == wanted.version;
            result.pinned[n]       = pins_of(entry, n) != 0;
            result.most[n]         = pins_of(entry, n) == PinBits'(MostPins);
        end
        result.fresh = entry[EpochAt +: 16] == wanted.epoch;
        return result;
    endfunction

    function automatic logic [Objects-1:0] all_used(input entry_t entry);
        for (int unsigned n = 0; n < Objects; n++) all_used[n] = is_used(entry, n);
    endfunction

    // Of what is used only.
    function automatic compared_t found_in(input entry_t entry, input wanted_t wanted);
        found_in          = compare(entry, wanted);
        found_in.same_key = found_in.same_key & all_used(entry);
    endfunction

    // Read: the place is at the memory.
    logic                     read_valid_q;
    step_t                    read_step_q;
    logic [LogPlaces-1:0]     read_place_q;
    logic [LogMisses-1:0]     read_miss_q;
    request_t                 read_request_q;
    logic [64*ValueWords-1:0] read_value_q;

    // Compare: the entry is there.
    logic                     compare_valid_q;
    step_t                    compare_step_q;
    logic [LogPlaces-1:0]     compare_place_q;
    logic [LogMisses-1:0]     compare_miss_q;
    request_t                 compare_request_q;
    logic [64*ValueWords-1:0] compare_value_q;
    logic                     compare_next_q, compare_after_next_q;

    // Modify.
    logic                     modify_valid_q;
    step_t                    modify_step_q;
    logic [LogPlaces-1:0]     modify_place_q;
    logic [LogMisses-1:0]     modify_miss_q;
    request_t                 modify_request_q;
    logic [64*ValueWords-1:0] modify_value_q;
    entry_t                   modify_entry_q;
    compared_t                modify_compared_q;
    operation_t               modify_operation_q;

    // What was written at the last clock, which the memory did not yet show.
    entry_t                   written_q;

    // Known a clock before, since all of an operation waits for it.
    logic   modifies_q;
    entry_t stored, modified;
    always_ff @(posedge clk_i) modifies_q <= rst_ni && compare_valid_q && compare_step_q.is_answered
        && !compare_step_q.out_of_range && !compare_step_q.bus_error;

    block_ram #(
        .AddressWidth(LogPlaces),
        .DataWidth   (EntryBits)
    ) i_entries (
        .clk_i,
        .write_enable_i (modifies_q),
        .write_address_i(modify_place_q),
        .write_data_i   (modified),
        .read_address_i (read_place_q),
        .read_data_o    (stored)
    );

    // The entry before the operation, compared; and what the operation before leaves, compared: with
    // what it finds or with what it brings.
    entry_t             line_q, base;
    compared_t          of_line, of_stored, of_written, of_base, of_found, of_left, left;
    wanted_t            wanted;
    logic [Objects-1:0] placed, owner_taken, version_taken, left_pinned, left_most;
    logic               epoch_grows, takes_modified;
    assign line_miss_o    = read_miss_q;
    assign takes_modified = compare_next_q && !compare_step_q.is_install;
    // Entries come late from their memory, so each is compared before one is chosen. A line was
    // there long before its step, so it is read a clock earlier.
    assign base           = compare_step_q.is_install ? line_q : compare_after_next_q ? written_q : stored;
    assign wanted         = '{
        compare_request_q.key, compare_request_q.owner, compare_request_q.version, compare_request_q.epoch
    };
    assign of_found       = compare(modify_entry_q, wanted);
    always_comb begin
        of_line    = found_in(line_q, wanted);
        of_stored  = found_in(stored, wanted);
        of_written = found_in(written_q, wanted);
        of_base    = compare_step_q.is_install ? of_line : compare_after_next_q ? of_written : of_stored;

        of_left              = '0;
        of_left.same_key     = {Objects{compare_request_q.key == modify_request_q.key}};
        of_left.same_owner   = {Objects{compare_request_q.owner == modify_request_q.owner}};
        of_left.same_version = {Objects{compare_request_q.version == modify_request_q.version}};
        of_left.fresh        = compare_request_q.epoch == modify_entry_q[EpochAt +: 16] + 16'd1;

        left.same_key     = all_used(modified)
            & (placed & of_left.same_key | ~placed & of_found.same_key);
        left.same_owner   = owner_taken & of_left.same_owner | ~owner_taken & of_found.same_owner;
        left.same_version = version_taken & of_left.same_version
            | ~version_taken & of_found.same_version;
        left.pinned       = left_pinned;
        left.most         = left_most;
        left.fresh        = epoch_grows ? of_left.fresh : of_found.fresh;
    end

    always_ff @(posedge clk_i) begin
        read_step_q          <= step_i;
        read_place_q         <= place_i;
        read_miss_q          <= miss_i;
        read_request_q       <= request_i;
        read_value_q         <= value_i;
        line_q               <= unpack(line_i);
        compare_step_q       <= read_step_q;
        compare_place_q      <= read_place_q;
        compare_miss_q       <= read_miss_q;
        compare_request_q    <= read_request_q;
        compare_value_q      <= read_value_q;
        // The step before is still to be written when this one is compared; the one before that was
        // written when the memory was read.
        compare_next_q       <= compare_valid_q && read_place_q == compare_place_q
            && !compare_step_q.out_of_range && !compare_step_q.bus_error;
        compare_after_next_q <= modifies_q && read_place_q == modify_place_q;
        modify_step_q        <= compare_step_q;
        modify_place_q       <= compare_place_q;
        modify_miss_q        <= compare_miss_q;
        modify_request_q     <= compare_request_q;
        modify_operation_q   <= decode(compare_request_q.operation);
        modify_value_q       <= compare_value_q;
        modify_entry_q       <= takes_modified ? modified : base;
        modify_compared_q    <= takes_modified ? left : of_base;
        written_q            <= modified;
        if (!rst_ni) begin
            read_valid_q    <= 1'b0;
            compare_valid_q <= 1'b0;
            modify_valid_q  <= 1'b0;
        end else begin
            read_valid_q    <= valid_i;
            compare_valid_q <= read_valid_q;
            modify_valid_q  <= compare_valid_q;
        end
    end

    answer_t                  answer;
    logic [6:0]               slots;
    logic [64*ValueWords-1:0] answer_value;
    logic [3:0]               status;
    logic                     is_found, has_content, is_locked;
    logic [15:0]              owner;
    logic [31:0]              version;
    index_operation #(
        .Objects   (Objects),
        .ValueWords(ValueWords),
        .MostPins  (MostPins)
    ) i_operation (
        .enable_i     (modifies_q),
        .operation_i  (modify_operation_q),
        .request_i    (modify_request_q),
        .value_i      (modify_value_q),
        .entry_i      (modify_entry_q),
        .match_i      (modify_compared_q.same_key),
        .same_owner_i (modify_compared_q.same_owner),
        .same_version_i(modify_compared_q.same_version),
        .pinned_i     (modify_compared_q.pinned),
        .most_i       (modify_compared_q.most),
        .fresh_i      (modify_compared_q.fresh),
        .limit_i,
        .more_i,
        .entry_o      (modified),
        .placed_o     (placed),
        .owner_taken_o(owner_taken),
        .version_taken_o(version_taken),
        .pinned_o     (left_pinned),
        .most_o       (left_most),
        .epoch_grows_o(epoch_grows),
        .status_o     (status),
        .is_found_o   (is_found),
        .has_content_o(has_content),
        .is_locked_o  (is_locked),
        .owner_o      (owner),
        .version_o    (version),
        .value_o      (answer_value),
        .slots_o      (slots)
    );

    // A request that reached no entry answers nothing of one.
    always_comb begin
        answer             = '0;
        answer.token       = modify_request_q.token;
        answer.status      = modify_step_q.out_of_range ? OutOfRange : BusError;
        answer_value_o     = '0;
        if (modifies_q) begin
            answer.status      = status;
            answer.owner       = owner;
            answer.epoch       = modify_entry_q[EpochAt +: 16];
            answer.slots       = {1'b0, slots};
            answer.is_locked   = is_locked;
            answer.has_content = has_content;
            answer.is_found    = is_found;
            answer.word        = has_content ? {version, 32'd0}
                : 64'(modify_entry_q[EpochAt + 16 +: DirectoryBits]);
            answer_value_o     = answer_value;
        end
    end
    assign answer_o        = answer;
    assign answer_valid_o  = modify_valid_q && modify_step_q.is_answered;
    assign snapshot_o      = modify_valid_q && modify_step_q.is_snapshot;
    assign snapshot_miss_o = modify_miss_q;
    assign snapshot_line_o = pack(modify_entry_q);

    // They were, when the entry was compared; and there is nothing that an operation brings beside.
    logic unused;
    assign unused = ^{modify_step_q.is_install, modify_step_q.bus_error, of_left.pinned, of_left.most, of_found.pinned,
        of_found.most};

`ifndef SYNTHESIS
    compared_t compared;
    assign compared = found_in(modify_entry_q, '{
        modify_request_q.key, modify_request_q.owner, modify_request_q.version, modify_request_q.epoch
    });
    at_most_one_object_has_the_key: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !modifies_q || $onehot0(modify_compared_q.same_key));
    what_is_compared_is_right: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !modifies_q || modify_compared_q == compared);
    a_snapshot_is_not_answered: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !modify_valid_q || modify_step_q.is_snapshot != modify_step_q.is_answered);
`endif

endmodule
