// SPDX-License-Identifier: MIT OR Apache-2.0
// CRC-32C of 64-byte lines, from state 0 and without the final inversion. So it is linear, and the
// results of different lines are combined by exclusive or.
//
// Source: RFC 3720, appendix B.4 (the reflected polynomial).
package crc32c_pkg;

    localparam logic [31:0] Polynomial = 32'h82F6_3B78;

    // Entry n: what a set bit leaves when n bits of zero follow it.
    function automatic logic [1023:0][31:0] bits_left();
        logic [31:0] state;
        state = Polynomial;
        for (int n = 0; n < 1024; n++) begin
            bits_left[n] = state;
            state = {1'b0, state[31:1]} ^ (state[0] ? Polynomial : 32'd0);
        end
    endfunction
    localparam logic [1023:0][31:0] Left = bits_left();

    // Bit i of entry j: whether bit i of a line is in bit j of its remainder.
    function automatic logic [31:0][511:0] line_masks();
        for (int j = 0; j < 32; j++) begin
            for (int i = 0; i < 512; i++) line_masks[j][i] = Left[511-i][j];
        end
    endfunction
    localparam logic [31:0][511:0] LineMasks = line_masks();

    // Bit k of entry j: whether bit k of a state is in bit j of it one line, or two, of zeros later.
    function automatic logic [31:0][31:0] zero_masks(input int lines);
        for (int j = 0; j < 32; j++) begin
            for (int k = 0; k < 32; k++) zero_masks[j][k] = Left[512*lines-1-k][j];
        end
    endfunction
    localparam logic [31:0][31:0] ZeroLineMasks = zero_masks(1);
    localparam logic [31:0][31:0] TwoZeroLinesMasks = zero_masks(2);

    // A line from state 0.
    function automatic logic [31:0] of_line(input logic [511:0] line);
        for (int j = 0; j < 32; j++) of_line[j] = ^(line & LineMasks[j]);
    endfunction

    function automatic logic [31:0] after_zero_line(input logic [31:0] state);
        for (int j = 0; j < 32; j++) after_zero_line[j] = ^(state & ZeroLineMasks[j]);
    endfunction

    function automatic logic [31:0] after_two_zero_lines(input logic [31:0] state);
        for (int j = 0; j < 32; j++) after_two_zero_lines[j] = ^(state & TwoZeroLinesMasks[j]);
    endfunction

endpackage
