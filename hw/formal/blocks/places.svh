// SPDX-License-Identifier: MIT OR Apache-2.0
// What the words of a map have: `kept` are bits that stay as they were written, or from the reset on as in `first`; all others are
// 0. A word that keeps none is told.

typedef struct packed {
    logic        reads;
    logic        writes;
    logic [31:0] kept;
    logic [31:0] first;
} place_t;
function automatic place_t setting(input logic [31:0] bits, input logic [31:0] first);
    return '{1'b1, 1'b1, bits, first};
endfunction
function automatic place_t constant(input logic [31:0] value);
    return '{1'b1, 1'b0, '1, value};
endfunction
localparam place_t Told = '{1'b1, 1'b0, '0, '0};
localparam place_t Nothing = '0;
