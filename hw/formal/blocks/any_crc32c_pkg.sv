// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of crc32c_pkg: another checksum that is linear, too, but easier for a solver. Each bit of a line counts, and each word
// counts in its own way. Tests compare the real one.
package crc32c_pkg;
    function automatic logic [31:0] of_line(input logic [511:0] line);
        of_line = '0;
        for (int unsigned n = 0; n < 16; n++) of_line = of_line ^ (line[32*n +: 32] << n | line[32*n +: 32] >> (32 - n));
    endfunction

    function automatic logic [31:0] after_zero_line(input logic [31:0] state);
        after_zero_line = {state[30:0], state[31]};
    endfunction

    function automatic logic [31:0] after_two_zero_lines(input logic [31:0] state);
        after_two_zero_lines = {state[29:0], state[31:30]};
    endfunction
endpackage
