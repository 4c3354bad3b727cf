// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums that stop at the largest number.
package saturate_pkg;
    function automatic logic [31:0] sum(
        input logic [31:0] a, input logic [31:0] b, input logic [31:0] most
    );
        return a > most - b ? most : a + b;
    endfunction
endpackage
