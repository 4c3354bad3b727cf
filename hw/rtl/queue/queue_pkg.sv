// SPDX-License-Identifier: MIT OR Apache-2.0
// Types of the interfaces between queues and the blocks behind them (docs/device.md).
package queue_pkg;

    // A submission: word 0, of which bits 31:25 mean nothing, and words 1 to 7. Each block
    // behind a queue takes of them what it needs.
    typedef struct packed {
        logic [447:0] argument;
        logic [31:0]  length;           // bytes
        logic         wants_interrupt;  // with its completion
        logic [7:0]   opcode;
        logic [15:0]  identifier;
    } submission_t;

    // What the block hands back.
    typedef struct packed {
        logic [63:0] result;            // word 1
        logic [31:0] bytes;             // moved
        logic        wants_interrupt;
        logic [7:0]  status;
        logic [15:0] identifier;
    } completion_t;

    // Status of a completion that the device itself finds; others come from the data mover
    // and from whoever does the jobs.
    localparam logic [7:0] StatusDone      = 8'd0;
    localparam logic [7:0] StatusBadOpcode = 8'd1;
    localparam logic [7:0] StatusBadLength = 8'd2;

    // Where the rings are, and how large.
    typedef struct packed {
        logic [63:6] submission_base;
        logic [63:6] completion_base;
        logic [3:0]  log2_entries;
    } rings_t;

    // What happened in one clock, for the counters.
    typedef struct packed {
        logic        fetched;       // a submission
        logic        written;       // a completion, of which both stores are answered
        logic [1:0]  interrupts;    // raised
        logic [31:0] bytes;         // moved
        logic        failure;       // a completion with a status other than done
    } events_t;

    // The place in a ring of the entry with this count.
    function automatic logic [11:0] place(
        input logic [11:0] count,         // its low bits: no ring is larger
        input logic [3:0]  log2_entries   // at most 12
    );
        for (int unsigned n = 0; n < 12; n++) place[n] = count[n] && n < 32'(log2_entries);
    endfunction

    // Whether a count is less than 2**log2_entries, without a chain of carries.
    function automatic logic is_within(
        input logic [15:0] count,
        input logic [3:0]  log2_entries
    );
        is_within = 1'b1;
        for (int unsigned n = 0; n < 16; n++) if (count[n] && n >= 32'(log2_entries)) is_within = 1'b0;
    endfunction

endpackage
