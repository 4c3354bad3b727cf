//! The device with built-in faults, as a Verilated model. It has the pins of the device and
//! one more, `fault_i`, the number of the fault that is switched on; 0 is none. It shows that
//! the test suite of the device would notice.
//!
//! The build patches a copy of the RTL, which itself knows of no faults.

mod faults;

verilated::model!();

pub use faults::{CLOCKS_NEVER_STOP, FAULTS, LACKS_A_RESET};
pub use sabotage::Fault;
