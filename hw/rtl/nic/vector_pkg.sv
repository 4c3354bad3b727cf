// SPDX-License-Identifier: MIT OR Apache-2.0
// Types of the interfaces between the modules of the DMA vectorizer (docs/nic-lookup.md).
package vector_pkg;

    localparam int unsigned Queues       = 8;
    localparam logic [3:0]  VectorLength = 4'd15;
    // The most bytes of a piece: what one packet of the host's link carries.
    localparam logic [8:0]  PieceBytes   = 9'd256;

    // An element as it is accepted.
    typedef struct packed {
        logic [63:0] nic_address;
        logic [63:0] host_address;
        logic [15:0] bytes;
        logic [15:0] token;
    } element_t;

    // An element that may be carried out: its bytes go from source to target.
    typedef struct packed {
        logic [63:0] target;
        logic [63:0] source;
        logic [12:0] bytes;
        logic [2:0]  from_queue;
        logic [15:0] token;
    } copy_t;

    // Why a vector is sent in this clock.
    typedef enum logic [1:0] {
        NotSent = 2'd0,
        Full    = 2'd1,
        Flushed = 2'd2,    // its oldest element has waited for the flush time
        Idle    = 2'd3     // its queue was without a new element for the idle time
    } sent_t;

    // The end of an element. Responses are AXI's: 0, 2 (SLVERR) or 3 (DECERR).
    typedef struct packed {
        logic [1:0]  response;
        logic [2:0]  from_queue;
        logic [15:0] token;
    } done_t;

    // A piece of an element, at most 256 bytes in one page of 4 kB on both sides.
    typedef struct packed {
        logic [8:0]  bytes;
        logic [5:0]  source_offset;   // in its line
        logic [63:0] target;
    } piece_t;

    // What is worse of two responses: 3, then 2, then 0.
    function automatic logic [1:0] worse(input logic [1:0] one, input logic [1:0] other);
        worse[1] = one[1] || other[1];
        worse[0] = one == 2'd3 || other == 2'd3;
    endfunction

endpackage
