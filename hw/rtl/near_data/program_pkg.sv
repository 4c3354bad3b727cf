// SPDX-License-Identifier: MIT OR Apache-2.0
// Types of programs for rows, and of the resulting packets (docs/visibility-element.md).
package program_pkg;

    // Instructions, and constants, of the largest program.
    localparam int unsigned LogWords = 6;
    localparam int unsigned Words    = 2**LogWords;

    typedef enum logic [7:0] {
        End           = 8'h00,
        Load          = 8'h01,
        Constant      = 8'h02,
        Null          = 8'h03,
        Filter        = 8'h05,
        Output        = 8'h06,
        AddInt        = 8'h10,
        SubtractInt   = 8'h11,
        MultiplyInt   = 8'h12,
        MinInt        = 8'h13,
        MaxInt        = 8'h14,
        AddFloat      = 8'h20,
        SubtractFloat = 8'h21,
        MultiplyFloat = 8'h22,
        MinFloat      = 8'h23,
        MaxFloat      = 8'h24,
        EqualInt      = 8'h30,
        NotEqualInt   = 8'h31,
        LessInt       = 8'h32,
        LessEqualInt  = 8'h33,
        EqualFloat    = 8'h38,
        NotEqualFloat = 8'h39,
        LessFloat     = 8'h3a,
        LessEqFloat   = 8'h3b,
        And           = 8'h40,
        Or            = 8'h41,
        Not           = 8'h42,
        IsNull        = 8'h43,
        CompareFixed  = 8'h50
    } opcode_t;

    typedef struct packed {
        logic [15:0] y;
        logic [15:0] x;
        logic [11:0] z;
        logic [3:0]  b;
        logic [3:0]  a;
        logic [3:0]  dst;
        logic [7:0]  op;
    } instruction_t;

    // Field y of a column that admits no nulls.
    localparam logic [15:0] NeverNull = 16'hffff;

    // A register: a null has the value 0.
    typedef struct packed {
        logic        is_truth;  // the value is known to be 0 or 1
        logic        is_null;
        logic [63:0] value;
    } word_t;

    // Codes of packets that are no rows, beside those of the walk.
    localparam logic [7:0] Overflow       = 8'd20;
    localparam logic [7:0] RowTooShort    = 8'd21;
    localparam logic [7:0] BadInstruction = 8'd31;   // of a program that no validator has seen
    localparam logic [7:0] Refused        = 8'd254;  // a run that did not begin
    localparam logic [7:0] Finished       = 8'd255;  // a run that is over

    // The first beat of a row and of a packet.
    typedef struct packed {
        logic [279:0] zero;
        logic [7:0]   nulls;    // bit n: value n is null
        logic [7:0]   values;
        logic [7:0]   code;     // 0: a row
        logic [15:0]  bytes;    // of the payload that follows
        logic [63:0]  created;
        logic [63:0]  record;
        logic [31:0]  number;
        logic [31:0]  vid;
    } header_t;

    // Where its code is.
    localparam int unsigned CodeBit = 208;

endpackage
