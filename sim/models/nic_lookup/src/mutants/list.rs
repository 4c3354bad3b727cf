// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is wrong in each mutant of the RTL, and where. The build script includes this file as well.

use ::mutants::{Mutant, mutant};

/// `mutant_i` is 1 for the first.
#[rustfmt::skip]
pub const MUTANTS: [Mutant; 1] = [
    mutant("one whole reading is enough for an absence", "lookup_walk.sv",
        "four_q.whole && {}\n", "known_4_q.state.before_whole", "1'b1"),
];
