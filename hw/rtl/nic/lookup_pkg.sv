// SPDX-License-Identifier: MIT OR Apache-2.0
// Types of the interfaces between the modules of the look-ups (docs/nic-lookup.md).
package lookup_pkg;

    localparam int unsigned LogSoftware = 4;     // requests of software under way

    // Status of an answer, beyond those of the index.
    localparam logic [3:0] Absent  = 4'd13;
    localparam logic [3:0] GaveUp  = 4'd14;
    localparam logic [3:0] NotRead = 4'd15;

    // A request under way has a context. Bit 7 says that it is one of software.
    typedef logic [7:0] context_t;

    // What a trip reads: the number of each is its bit in a set of parts.
    localparam logic [1:0] Row    = 2'd0;
    localparam logic [1:0] Bucket = 2'd1;
    localparam logic [1:0] Word   = 2'd2;        // of the directory

    // The requests on the ports, without the value: words 2 to 0.
    typedef struct packed {
        logic [25:0] reserved;
        logic [37:0] word;                       // bits 31:0 are the version of all but a set-hint
        logic [15:0] epoch;
        logic [15:0] owner;
        logic [7:0]  displacement;
        logic [1:0]  ignored;
        logic        has_word;
        logic        is_exact;
        logic [3:0]  operation;
        logic [15:0] token;
        logic [63:0] key;
    } request_t;

    // The answers on the ports, without the value: words 1 and 0.
    typedef struct packed {
        logic [15:0] zero;
        logic [15:0] epoch;
        logic [15:0] owner;
        logic [6:0]  zeros;
        logic [8:0]  bytes;
        logic [31:0] version;
        logic [7:0]  trips;
        logic        has_lock;
        logic        has_content;
        logic        is_pointer;
        logic        is_cached;
        logic [3:0]  status;
        logic [15:0] token;
    } answer_t;

    // Tokens of requests to the index. All but the context is of those that tell what was seen.
    typedef struct packed {
        logic [4:0]  zero;
        logic        is_fill;
        logic        is_last;                    // of its context
        logic        tells;
        context_t    number;
    } index_token_t;

    // Tokens of reads.
    typedef struct packed {
        logic [4:0]  zero;
        logic        first;                      // of the first trip of its context
        logic [1:0]  part;
        context_t    number;
    } read_token_t;

    // A read of host memory.
    typedef struct packed {
        logic [63:0] address;
        logic [12:0] bytes;
        logic [6:0]  slots;
        logic [1:0]  part;
        context_t    number;
    } read_t;

    // What a miss says: where to read first.
    typedef struct packed {
        logic [63:0] address;
        logic [37:0] word;                       // of the directory, as the index has it
        logic [15:0] epoch;
        logic [15:0] owner;
        logic [6:0]  slots;
    } place_t;

    // What a trip has to scan.
    typedef struct packed {
        logic [6:0]  row_slots;
        logic [6:0]  row_first;
        logic [6:0]  bucket_slots;
        logic [15:0] bucket_first;
    } slots_t;

    // A trip that has ended, with sets of parts.
    typedef struct packed {
        logic        first;
        logic [2:0]  parts;
        logic [2:0]  failed;
        context_t    number;
    } ended_t;

    // What the scans of a trip have found, without the value.
    typedef struct packed {
        logic        first;
        logic        found;
        logic        in_bucket;
        logic        failed;                     // a read or a scan
        logic        word_failed;
        logic        torn;
        logic [31:0] sum;
        logic [15:0] displacement;
        logic [63:0] meta;
        context_t    number;
    } seen_t;

    typedef struct packed {
        logic [63:0] table_base;
        logic [31:0] slots;
        logic [5:0]  limit;                      // D_m
        logic [6:0]  more;                       // k
        logic [4:0]  segment_shift;
        logic [63:0] directory_base;
        logic [63:0] overflow_base;
        logic [31:0] overflow_slots;
        logic [6:0]  value_bytes;
        logic [7:0]  most_readings;
        logic [63:0] index_base;
        logic [31:0] segments;
        logic [15:0] idle_time;
        logic [15:0] flush_time;
    } settings_t;

    // Events that are counted, each for one clock.
    typedef struct packed {
        logic index_error;
        logic hint_set;
        logic fill_full;
        logic fill_stale;
        logic fill;
        logic miss;
        logic hit;
        logic look_up;
        logic request;
    } index_events_t;
    typedef struct packed {
        logic disturbed_reading;
        logic repeated_reading;
        logic trip;                              // beyond the first
        logic short_hint;
        logic not_read;
        logic gave_up;
        logic absent;
        logic found_in_bucket;
        logic found;
    } walk_events_t;

    // The slots behind an address, of which bits 5:0 count, that one read brings: those that fit so
    // many lines, at most 64.
    function automatic logic [6:0] room(input logic [5:0] address, input int unsigned slot_bytes,
                                        input int unsigned lines);
        int unsigned slots;
        slots = 64 * lines / slot_bytes - (slot_bytes < 64 ? 32'(address) / slot_bytes : 0);
        return slots > 64 ? 7'd64 : 7'(slots);
    endfunction
    function automatic logic [6:0] smaller(input logic [6:0] one, input logic [6:0] other);
        return one < other ? one : other;
    endfunction

    // The number of a context's region in the landing memory, for slots of the row or of a bucket.
    // Regions of software are behind those of the network.
    function automatic logic [8:0] region(input context_t number, input logic is_bucket,
                                          input int unsigned log_contexts);
        logic [7:0] dense;
        dense = number[7] ? 8'(1 << log_contexts) + 8'(number[6:0]) : number;
        return {dense, is_bucket};
    endfunction

    // Where a word of the directory lands; bit 40 tells these places from the regions.
    function automatic logic [63:0] word_address(input context_t number);
        return 64'd1 << 40 | 64'(number) << 6;
    endfunction

endpackage
