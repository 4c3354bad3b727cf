// SPDX-License-Identifier: MIT OR Apache-2.0
//! One block of registers in BAR0.

use std::fmt;
use std::sync::Arc;

use crate::absence;
use crate::{Backend, DeviceError, Registers, Space, Width, layout};

/// The registers of one block, 4 KiB in BAR0.
#[derive(Clone)]
pub struct BlockRegisters {
    backend: Arc<dyn Backend>,
    base: u64,
}

impl fmt::Debug for BlockRegisters {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.backend.information().name;
        write!(formatter, "BlockRegisters({name}, BAR0 + 0x{:X})", self.base)
    }
}

impl BlockRegisters {
    /// The block at byte `base` of BAR0.
    ///
    /// # Panics
    /// When `base` is no multiple of a block's size.
    pub fn new(backend: Arc<dyn Backend>, base: u64) -> Self {
        assert!(base.is_multiple_of(layout::BLOCK_BYTES), "block at 0x{base:X} of BAR0");
        BlockRegisters { backend, base }
    }

    /// Reads one register with any width.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] past the end of the block; or what the backend reports.
    pub fn read(&self, offset: u32, width: Width) -> Result<u64, DeviceError> {
        let offset = self.locate(offset, width)?;
        self.backend.read(Space::Bar(0), offset, width)
    }

    /// Writes one register with any width.
    ///
    /// # Errors
    /// As [`BlockRegisters::read`].
    pub fn write(&self, offset: u32, width: Width, value: u64) -> Result<(), DeviceError> {
        let offset = self.locate(offset, width)?;
        self.backend.write(Space::Bar(0), offset, width, value)
    }

    /// Where the register is in BAR0.
    fn locate(&self, offset: u32, width: Width) -> Result<u64, DeviceError> {
        let offset = u64::from(offset);
        if offset + width.bytes() as u64 > layout::BLOCK_BYTES {
            return Err(DeviceError::OutOfRange {
                field: "register offset",
                value: offset,
                expected: format!("inside a block of 0x{:X} bytes", layout::BLOCK_BYTES),
            });
        }
        Ok(self.base + offset)
    }
}

impl Registers for BlockRegisters {
    fn read32(&mut self, offset: u32) -> Result<u32, DeviceError> {
        (&*self).read32(offset)
    }

    fn write32(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        (&*self).write32(offset, value)
    }

    fn explain_absence(&mut self, offset: u32) -> DeviceError {
        (&*self).explain_absence(offset)
    }
}

/// A backend takes accesses from several threads, so a shared reference is enough.
impl Registers for &BlockRegisters {
    fn read32(&mut self, offset: u32) -> Result<u32, DeviceError> {
        Ok(self.read(offset, Width::Four)? as u32)
    }

    fn write32(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        self.write(offset, Width::Four, value.into())
    }

    fn explain_absence(&mut self, offset: u32) -> DeviceError {
        absence::explain(&*self.backend, offset)
    }
}
