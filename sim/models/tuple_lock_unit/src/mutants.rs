// SPDX-License-Identifier: MIT OR Apache-2.0
//! A model with the pins of the unit, and one more, `fault_i`: the number of the mutant, as
//! docs/lock-unit.md lists them, 0 for none. They are written in Bluespec, beside the unit.

verilated::model!("mutants");

impl Core {
    /// Chooses a mutant by its number, from the next clock cycle on; 0 for none.
    pub fn set_mutant(&mut self, number: u8) {
        ffi::set_fault_i(self.0.pin_mut(), number);
    }
}
