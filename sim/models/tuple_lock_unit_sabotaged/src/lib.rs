//! The tuple-locking unit with built-in faults, as a Verilated model. It has the pins
//! of the unit itself and one more, `fault_i`, which says what is broken; 0 is nothing.
//! It shows that the test suite would notice.

verilated::model!();

/// Breaks the unit on purpose.
pub trait Sabotage {
    /// Selects the fault, from the next clock cycle on; 0 for none.
    fn set_fault(&mut self, fault: u8);
}

impl Sabotage for Model {
    fn set_fault(&mut self, fault: u8) {
        ffi::set_fault_i(self.core_mut().0.pin_mut(), fault);
    }
}
