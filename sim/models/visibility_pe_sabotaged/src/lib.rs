//! The visibility element with built-in faults in the course of its runs, as a Verilated model. It has
//! the pins of the element and one more, `fault_i`, the number of the fault that is switched on; 0
//! is none. It shows that the test suite of runs would notice; those of the walk and of the lanes
//! have models of their own.
//!
//! The build patches a copy of the RTL, which itself knows of no faults.

mod faults;

verilated::model!();

pub use faults::FAULTS;
pub use sabotage::Fault;

/// Switches a fault on, from the next clock cycle on; 0 for none.
pub fn set_fault(model: &mut Model, fault: u8) {
    ffi::set_fault_i(model.core_mut().0.pin_mut(), fault);
}
