// SPDX-License-Identifier: MIT OR Apache-2.0
// The scans and answers of probe_scan, and the parts of a slot that it looks at.
//
// ndp-runtime/nic/src/scan/wire.rs says the same of scans and answers, lockdb/tables/src/slot.rs of
// meta words.
package probe_scan_pkg;

    // s_axis_key_tdata.
    typedef struct packed {
        logic [4:0]  zero;
        logic [2:0]  first_word;
        logic        torn;            // before this scan
        logic        is_overflow;     // the slots are the rest of the overflow bucket
        logic [5:0]  more_slots;      // slots, less one
        logic [7:0]  token;
        logic [15:0] limit;           // D_m
        logic [15:0] displacement;    // of the first slot
        logic [31:0] sum;             // before this scan
        logic [63:0] key;
    } scan_t;

    // m_axis_hit_tdata begins with this; the value follows.
    typedef struct packed {
        logic [63:0] meta;
        logic [3:0]  zero;
        logic        torn;
        logic [2:0]  status;
        logic [7:0]  token;
        logic [15:0] displacement;
        logic [31:0] sum;
    } answer_t;

    localparam int unsigned AnswerTokenAt  = 48;
    localparam int unsigned AnswerStatusAt = 56;

    localparam logic [2:0] Found    = 3'd0;
    localparam logic [2:0] More     = 3'd1;
    localparam logic [2:0] Overflow = 3'd2;
    localparam logic [2:0] Absent   = 3'd3;
    localparam logic [2:0] Torn     = 3'd4;
    localparam logic [2:0] Error    = 3'd5;

    // In a meta word.
    localparam int unsigned StampBits = 20;
    localparam int unsigned UsedBit   = 29;

    // What goes with a line; most of it is used with the last line of the scan.
    typedef struct packed {
        logic        first;
        logic        last;
        logic        broken;          // an error, or the line makes too few or too many of them
        logic [2:0]  part;            // of the slot, when a slot has several lines
        logic [6:0]  group;           // lines before, or slots when each has several lines
        logic        nearer;          // the last slot is nearer than D_m
        logic [16:0] last_slot;       // its displacement
        logic [1:0]  first_lane;      // the place of the first slot in the first line
        scan_t       scan;
    } control_t;

endpackage
