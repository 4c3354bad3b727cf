// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reasons why a function's registers read as all-ones.

use crate::pci_capabilities::{find, read_listed_by};
use crate::pci_regs::{CAP_ID_PM, COMMAND, COMMAND_MEMORY, PM_CTRL, PM_CTRL_STATE_MASK};
use crate::{Backend, DeviceError, Space, Width};

/// The power state D3hot.
const D3HOT: u16 = 3;

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
    let power = find(&space, CAP_ID_PM).and_then(|at| space.get(at + PM_CTRL));
    if power.is_some_and(|power| u16::from(*power) & PM_CTRL_STATE_MASK == D3HOT) {
        return DeviceError::Asleep { offset };
    }
    match u16::from(space[COMMAND]) & COMMAND_MEMORY {
        0 => DeviceError::MemoryDisabled { offset },
        _ => DeviceError::Gone { offset },
    }
}
