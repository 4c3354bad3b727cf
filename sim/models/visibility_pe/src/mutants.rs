// SPDX-License-Identifier: MIT OR Apache-2.0
//! A model with the pins of the visibility element, and one more, `mutant_i`: the number of the mutant, 0 for
//! none. The build plants them in a copy of the RTL, which itself knows of none. They are in the course of
//! runs; walk and lanes have models and mutants of their own.

mod list;

::mutants::model!();

pub use ::mutants::Mutant;
pub use list::MUTANTS;
