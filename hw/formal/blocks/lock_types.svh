// SPDX-License-Identifier: MIT OR Apache-2.0
// What the registers of the lock unit hold, in the order of bits in which hw/bsv packs it, and its codes.
`include "lock_line.svh"
package lock_types;
    import lock_line::*;
    localparam logic [1:0] Acquire = 0, Release = 1, Cancel = 2, Poll = 3;
    localparam logic [1:0] NoWait = 1, WaitDie = 2;
    localparam logic [3:0] Take = 0, Look = 1, Place = 2, Register = 3, Withdraw = 4, Free = 5, Survey = 6, HandOver = 7,
        Inspect = 8, Leave = 9, Clear = 10, Watch = 11, Review = 12;
    localparam logic [3:0] Granted = 0, Queued = 1, RefusedFull = 2, RefusedBusy = 3, RefusedDie = 4,
        RefusedContended = 5, Released = 6, Cancelled = 7, NotHeld = 8, BusError = 9;
    typedef struct packed {
        logic [1:0]  op, rule;
        timestamp_t  transaction;
        logic [57:0] line;
        slot_t       slot;
        logic        shared;
        logic [6:0]  target;
    } request_t;
    typedef struct packed {
        slot_t      slot;
        logic       shared;
        head_t      head;
        timestamp_t heir;
        logic [7:0] rounds;
        logic       ends;
        logic [3:0] ending;
    } progress_t;

    // Of each phase the access: a compare-and-swap, a store, or else a read.
    function automatic logic is_store(logic [3:0] phase);
        return phase == Withdraw || phase == Clear;
    endfunction
    function automatic logic is_read(logic [3:0] phase);
        return phase == Look || phase == Survey || phase == Inspect || phase == Watch || phase == Review;
    endfunction
    function automatic logic is_atomic(logic [3:0] phase);
        return phase <= Review && !is_store(phase) && !is_read(phase);
    endfunction
endpackage
