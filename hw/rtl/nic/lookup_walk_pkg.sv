// SPDX-License-Identifier: MIT OR Apache-2.0
// What the walk of a look-up keeps and computes (lookup_walk).
package lookup_walk_pkg;

    import lookup_pkg::*;

    // What is read: first the slots that the index has named, then the bucket that it has named, then
    // the rest of the row; and all again in each further reading.
    localparam logic [1:0] Named    = 2'd0;
    localparam logic [1:0] InBucket = 2'd1;
    localparam logic [1:0] Rest     = 2'd2;
    localparam logic [1:0] Again    = 2'd3;

    // Of a word of the directory: bits 37:32 are 0 without a bucket, or its order and one, at most 31.
    typedef struct packed {
        logic [5:0]  order;
        logic [31:0] place;
    } bucket_t;

    // Of a look-up between its trips.
    typedef struct packed {
        logic [1:0]  phase;
        logic [6:0]  row_next;                   // the slots that were asked for end here
        logic [30:0] bucket_next;
        logic [31:0] sum;                        // of the reading
        logic        torn;
        logic [63:0] before_word;                // of the reading before
        logic [31:0] before_sum;
        logic        before_whole;
        logic [7:0]  readings;                   // that have ended
        logic [7:0]  trips;
    } state_t;

    typedef struct packed {
        logic        locks;
        logic [15:0] token;
        logic [63:0] key;
        logic [31:0] home;
        logic [63:0] word;                       // of the directory
        place_t      place;
        state_t      state;
        seen_t       seen;
    } known_t;

    typedef struct packed {
        logic [31:0] sum;
        logic        torn;
        logic [7:0]  trips;
        logic [31:0] segment;
        bucket_t     bucket;                     // that the reading reads
        logic [32:0] bucket_end;
        logic [32:0] word_end;
        logic        same_word;                  // as in the reading before
        logic        same_bucket;                // it is the one of the word
        logic        knows_bucket;               // the index names the one of the word
        logic        word_known;                 // the word was read
        logic [6:0]  named_left;                 // slots that the index named, and those to D_m
        logic [6:0]  row_left;
        logic [5:0]  row_offset;                 // in its line
        logic        fits;                       // the object can be cached
    } step_2_t;

    typedef struct packed {
        step_2_t     two;
        logic        bucket_inside;
        logic        bucket_outside;
        logic        word_inside;
        logic        word_outside;
        logic        same_sum;
        logic [30:0] bucket_left;
        logic [31:0] bucket_slot;
        logic [30:0] word_size;
        logic [6:0]  row_room;                   // slots that fit a read
        logic [6:0]  home_room;
    } step_3_t;

    typedef struct packed {
        step_3_t     three;
        logic        whole;
        logic        tells_word;
        logic        names_slots;
        logic [6:0]  row_slots;                  // of the next read
        logic [6:0]  all_slots;                  // of the first read of another reading
        logic [6:0]  bucket_slots;
        logic [6:0]  word_slots;
        logic [63:0] row_at;                     // addresses: behind what was read
        logic [63:0] bucket_at;
        logic [63:0] word_at;                    // of the bucket that the word names
        logic        last_reading;
    } step_4_t;

    typedef struct packed {
        logic       ends;                        // the look-up
        logic [3:0] status;
        logic       new_reading;
        logic       wants_row;
        logic       wants_bucket;
        logic       wants_word;
        logic [1:0] phase;
        logic       short_hint;
        logic       disturbed;
    } todo_t;

    function automatic logic [30:0] size_of(input logic [5:0] order);
        return 31'd1 << 5'(order - 6'd1);
    endfunction

    // Behind its last slot, if it is one.
    function automatic logic [32:0] end_of(input bucket_t bucket);
        return 33'(bucket.place) + 33'(size_of(bucket.order));
    endfunction

    function automatic logic is_inside(input logic [5:0] order, input logic [32:0] ending,
                                       input logic [31:0] slots);
        return order != 0 && !order[5] && ending <= 33'(slots);
    endfunction

    // A word that names something, but no bucket of the area.
    function automatic logic is_outside(input logic [5:0] order, input logic [32:0] ending,
                                        input logic [31:0] slots);
        return order[5] || order != 0 && ending > 33'(slots);
    endfunction

    // Of the slots that are left behind an address, those that one read brings.
    function automatic logic [6:0] fitting(input logic [30:0] left, input logic [5:0] address,
                                           input int unsigned slot_bytes, input int unsigned lines);
        return smaller(left > 31'd64 ? 7'd64 : left[6:0], room(address, slot_bytes, lines));
    endfunction

endpackage
