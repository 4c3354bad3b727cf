//! One block of registers in BAR0.

use std::fmt;
use std::sync::Arc;

use crate::{Backend, DeviceError, Registers, Space, Width, layout};

/// What a device at the end of a dead link answers to every read of 32 bits.
const ALL_ONES: u32 = u32::MAX;

/// How often a 64-bit counter is read again when its high half moves meanwhile.
const COUNTER_READS: u32 = 8;

/// Offset of IDENTITY, which every block has and which is never all-ones.
const IDENTITY: u32 = 0x100;

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

    /// Reads 32 bits that may be all-ones only if the device is gone, or where IDENTITY is not
    /// all-ones as well.
    ///
    /// # Errors
    /// [`DeviceError::Gone`], or what the backend reports.
    pub fn read_present(&self, offset: u32) -> Result<u32, DeviceError> {
        let value = self.read(offset, Width::Four)? as u32;
        if value == ALL_ONES && self.read(IDENTITY, Width::Four)? as u32 == ALL_ONES {
            return Err(DeviceError::Gone { offset: self.base as u32 + offset });
        }
        Ok(value)
    }

    /// Reads a counter of 64 bits, again when a carry went from one half to the other meanwhile.
    ///
    /// # Errors
    /// [`DeviceError::Timeout`] when the high half never holds still, [`DeviceError::Gone`], or what
    /// the backend reports.
    pub fn read_counter(&self, offset: u32) -> Result<u64, DeviceError> {
        let mut high = self.read_present(offset + 4)?;
        for _ in 0..COUNTER_READS {
            let low = self.read_present(offset)?;
            let high_after = self.read_present(offset + 4)?;
            if high == high_after {
                return Ok(u64::from(high) << 32 | u64::from(low));
            }
            high = high_after;
        }
        Err(DeviceError::Timeout {
            waited_for: format!("the high half of the counter at 0x{offset:03X} to hold still"),
            bound: format!("{COUNTER_READS} reads"),
        })
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
        Ok(self.read(offset, Width::Four)? as u32)
    }

    fn write32(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        self.write(offset, Width::Four, value.into())
    }
}
