// SPDX-License-Identifier: MIT OR Apache-2.0
//! A model with one input more, `mutant_i`: the number of the mutant, 0 for none. The build plants them in a
//! copy of the RTL, which itself knows of none.

mod list;

verilated::model!("mutants");

pub use ::mutants::Mutant;
pub use list::MUTANTS;
