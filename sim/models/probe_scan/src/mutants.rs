// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bugs that the input `mutant_i` of some models chooses by their number, 0 for none. The build plants them in a
//! copy of the RTL, which itself knows of none.

mod list;

pub use ::mutants::Mutant;
pub use list::MUTANTS;
