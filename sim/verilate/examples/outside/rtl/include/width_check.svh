// SPDX-License-Identifier: MIT OR Apache-2.0
// Refuses a width that is out of bounds.
`define WIDTH_CHECK(WIDTH, LEAST, MOST) \
    if (WIDTH < LEAST || WIDTH > MOST) begin : gen_bad_width \
        $error("the width is %0d", WIDTH); \
    end
