//! The reasons why a function's registers read as all-ones.

use crate::pci_capabilities::{POWER_MANAGEMENT, find, read_listed_by};
use crate::{Backend, DeviceError, Space, Width};

const COMMAND: usize = 0x04;
const COMMAND_MEMORY: u8 = 1 << 1;
/// Offset of control and status in the capability for power management.
const POWER_CONTROL: usize = 4;
/// Its two lowest bits, in D3hot.
const D3HOT: u8 = 3;

/// What to say of a register at `offset` that reads as all-ones, as IDENTITY does: that the function is
/// gone, unless its configuration space, which answers all the same, says what is the matter.
pub fn explain(backend: &dyn Backend, offset: u32) -> DeviceError {
    explain_by(|at| backend.read(Space::Configuration, at, Width::Four), offset)
}

/// As [`explain`], by reads of words of configuration space.
pub fn explain_by(read: impl Fn(u64) -> Result<u64, DeviceError>, offset: u32) -> DeviceError {
    let Ok(space) = read_listed_by(read) else { return DeviceError::Gone { offset } };
    if space[..4] == [0xFF; 4] {
        return DeviceError::Gone { offset };
    }
    let power = find(&space, POWER_MANAGEMENT).and_then(|at| space.get(at + POWER_CONTROL));
    if power.is_some_and(|state| state & 3 == D3HOT) {
        return DeviceError::Asleep { offset };
    }
    match space[COMMAND] & COMMAND_MEMORY {
        0 => DeviceError::MemoryDisabled { offset },
        _ => DeviceError::Gone { offset },
    }
}
