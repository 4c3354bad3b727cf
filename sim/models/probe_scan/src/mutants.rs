// SPDX-License-Identifier: MIT OR Apache-2.0
//! Models with one more input, `mutant_i`: the number of the mutant, 0 for none. The build plants them in a
//! copy of the RTL, which itself knows of none.

mod list;

pub use ::mutants::Mutant;
pub use list::MUTANTS;

/// Slots of 32 bytes, and two words of a value.
pub mod slots_32 {
    verilated::model!("mutants_32");
}

/// Slots of two lines, and eight words of a value.
pub mod slots_128 {
    verilated::model!("mutants_128");
}
