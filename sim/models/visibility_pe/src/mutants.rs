// SPDX-License-Identifier: MIT OR Apache-2.0
//! A model with the pins of the visibility element, and one more, `mutant_i`: the number of the mutant, 0 for
//! none. The build plants them in a copy of the RTL, which itself knows of none. They are in the course of
//! runs; walk and lanes have models and mutants of their own.

mod list;

verilated::model!("mutants");

pub use ::mutants::Mutant;
pub use list::MUTANTS;

impl Core {
    /// Chooses a mutant by its number, which is its place in [`MUTANTS`] and 1 for the first, from
    /// the next clock cycle on; 0 for none.
    pub fn set_mutant(&mut self, number: u8) {
        ffi::set_mutant_i(self.0.pin_mut(), number);
    }
}
