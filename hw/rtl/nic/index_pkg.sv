// SPDX-License-Identifier: MIT OR Apache-2.0
// Requests to the index of a NIC, and how they end.
//
// Contract: numbers and layout are those of the crate `nic` (ndp-runtime/nic/src/index), which says
// what each operation does.
package index_pkg;

    localparam logic [3:0] LookUp       = 4'd0;
    localparam logic [3:0] LockAndRead  = 4'd1;
    localparam logic [3:0] Validate     = 4'd2;
    localparam logic [3:0] Fill         = 4'd3;
    localparam logic [3:0] UpdateAndPin = 4'd4;
    localparam logic [3:0] Unpin        = 4'd5;
    localparam logic [3:0] Unlock       = 4'd6;
    localparam logic [3:0] Evict        = 4'd7;
    localparam logic [3:0] SetHint      = 4'd8;

    localparam logic [3:0] Done        = 4'd0;
    localparam logic [3:0] Miss        = 4'd1;
    localparam logic [3:0] Locked      = 4'd2;
    localparam logic [3:0] NotLocked   = 4'd3;
    localparam logic [3:0] Changed     = 4'd4;
    localparam logic [3:0] Unknown     = 4'd5;
    localparam logic [3:0] Full        = 4'd6;
    localparam logic [3:0] Pinned      = 4'd7;
    localparam logic [3:0] TooManyPins = 4'd8;
    localparam logic [3:0] NotPinned   = 4'd9;
    localparam logic [3:0] Stale       = 4'd10;
    localparam logic [3:0] OutOfRange  = 4'd11;
    localparam logic [3:0] BusError    = 4'd12;

    // Of a word of the directory: the place and the order of a bucket.
    localparam int unsigned DirectoryBits = 38;

    // A request without its value: words 3 to 0 of a beat. In a set-hint, which has no version, the
    // word of the directory reaches into its place.
    typedef struct packed {
        logic [15:0] owner;
        logic [15:0] epoch;
        logic [15:0] token;
        logic [7:0]  displacement;
        logic [1:0]  reserved;
        logic        has_directory;
        logic        is_exact;
        logic [3:0]  operation;
        logic [31:0] version;
        logic [31:0] low_directory;
        logic [31:0] home;
        logic [31:0] segment;
        logic [63:0] key;
    } request_t;

    // Words 2 to 0 of an answer.
    typedef struct packed {
        logic [15:0] owner;
        logic [15:0] epoch;
        logic [15:0] token;
        logic [7:0]  slots;
        logic        reserved;
        logic        is_locked;
        logic        has_content;
        logic        is_found;
        logic [3:0]  status;
        logic [63:0] word;      // with content: version in 63:32; without: word of the directory
        logic [63:0] address;
    } answer_t;

    // The operation, decoded.
    typedef struct packed {
        logic look_up;
        logic lock;
        logic validate;
        logic fill;
        logic update;
        logic unpin;
        logic unlock;
        logic evict;
        logic set_hint;
    } operation_t;

    function automatic operation_t decode(input logic [3:0] operation);
        return '{
            look_up:  operation == LookUp,
            lock:     operation == LockAndRead,
            validate: operation == Validate,
            fill:     operation == Fill,
            update:   operation == UpdateAndPin,
            unpin:    operation == Unpin,
            unlock:   operation == Unlock,
            evict:    operation == Evict,
            set_hint: operation == SetHint
        };
    endfunction

    // Where a request goes when it leaves the tags.
    typedef struct packed {
        logic is_answered;  // else it only reads the entry, for a write-back
        logic is_snapshot;
        logic is_install;   // the entry comes from memory
        logic out_of_range;
        logic bus_error;
    } step_t;

endpackage
