// SPDX-License-Identifier: MIT OR Apache-2.0
// Types of the interfaces between the modules of the visibility walk (docs/visibility-element.md).
package walk_pkg;

    // The job block as it stands in memory, byte 0 in bits 7:0.
    typedef struct packed {
        logic [63:0] reserved;
        logic [63:0] program_address;    // 0: none
        logic [29:0] unused_flags;
        logic        wants_payloads;
        logic        forgets_pages;      // which pages were verified
        logic [31:0] table_number;
        logic [63:0] epoch;
        logic [63:0] store;
        logic [63:0] delta_images;       // a multiple of 64
        logic [63:0] delta_pages;        // of 16
        logic [31:0] delta_page_count;
        logic [31:0] delta_vid_count;
        logic [63:0] delta_vids;         // of 16
        logic [63:0] logical_pages;
        logic [63:0] page_map_chunks;    // of 8
        logic [63:0] vid_chunks;         // of 8; 0: the map is all zero
        logic [63:0] storage_pages;
        logic [63:0] storage_base;       // of 64
        logic [63:0] snapshot;
        logic [31:0] vid_end;            // exclusive
        logic [31:0] vid_first;
    } job_t;

    // How a walk ended; lockdb/src/device_reader/walk.rs has the same numbers.
    typedef enum logic [3:0] {
        Found         = 4'd0,
        NoPlace       = 4'd1,
        BeyondStorage = 4'd2,
        Checksum      = 4'd3,
        Stranger      = 4'd4,
        OtherTable    = 4'd5,
        NoLine        = 4'd6,
        BadLine       = 4'd7,
        OtherTuple    = 4'd8,
        NotOlder      = 4'd9,
        Bus           = 4'd10
    } code_t;

    // A version that is seen, or a VID whose walk met a fault.
    typedef struct packed {
        code_t       code;
        logic [13:0] bytes;          // of the payload
        logic [63:0] created;
        logic [63:0] record;
        logic [31:0] number;
        logic [31:0] vid;
    } row_t;

    // A page to be checked, and what it has to be.
    typedef struct packed {
        logic        is_image;           // of the shared state, so that no checkpoint wrote it
        logic        is_map;             // a chunk of a VID map, else a data page
        logic [22:0] epoch;              // by its place
        logic [63:0] page;
        logic [63:6] address;
    } check_t;

    // What was found.
    typedef struct packed {
        code_t       code;
        logic [31:0] table_number;
        logic [15:0] lines;
    } facts_t;

    // A place of the L2P map: where a page stands, and the low bits of its checkpoint's epoch.
    typedef struct packed {
        logic        in_memory;          // means nothing here
        logic [22:0] epoch;
        logic [39:0] physical;
    } place_t;

    // Physical pages have 8,192 bytes: 128 lines.
    function automatic logic [63:6] page_address(
        input logic [63:6] base,
        input logic [39:0] page
    );
        return base + {11'd0, page, 7'd0};
    endfunction

endpackage
