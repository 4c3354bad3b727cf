// SPDX-License-Identifier: MIT OR Apache-2.0
//! A model with the pins of the vectorizer, and one more, `mutant_i`: the number of the mutant, 0 for
//! none. The build plants them in a copy of the RTL, which itself knows of none.

mod list;

::mutants::model!();

pub use ::mutants::Mutant;
pub use list::MUTANTS;
