// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which block is there: what all blocks have in common.

use super::device::{IDENTITY, VERSION, Version};
use crate::{DeviceError, Registers};

/// What a device at the end of a dead link answers to every read.
const ALL_ONES: u32 = u32::MAX;

/// How a driver knows its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// What IDENTITY reads: four characters in ASCII, the first in the highest byte.
    pub identity: u32,
    /// The major version that the map describes.
    pub major: u16,
    /// The minor version that the map describes.
    pub minor: u16,
}

impl Signature {
    /// Checks that this block is there, in this major version or with any minor one.
    ///
    /// # Errors
    /// [`DeviceError::Mismatch`] when IDENTITY or VERSION are another block's, or what the
    /// registers report.
    pub fn check<R: Registers + ?Sized>(&self, registers: &mut R) -> Result<Version, DeviceError> {
        let identity = IDENTITY.read(registers)?;
        if identity != self.identity {
            let characters = self.identity.to_be_bytes().map(char::from);
            return Err(DeviceError::Mismatch {
                register: IDENTITY.name().into(),
                found: identity.into(),
                expected: format!(
                    "0x{:X} (\"{}\")",
                    self.identity,
                    characters.iter().collect::<String>()
                ),
            });
        }
        let version = VERSION.read(registers)?;
        if version.major() != self.major {
            return Err(DeviceError::Mismatch {
                register: VERSION.name().into(),
                found: version.bits().into(),
                expected: format!("0x{0:X}0000 to 0x{0:X}FFFF (major version {0})", self.major),
            });
        }
        Ok(version)
    }
}

/// The registers of a block, with every read checked for the loss of the device.
///
/// All-ones may be the value of a register, so IDENTITY decides whether the device is gone.
#[derive(Debug)]
pub struct Present<R>(pub R);

impl<R: Registers> Registers for Present<R> {
    fn read32(&mut self, offset: u32) -> Result<u32, DeviceError> {
        let value = self.0.read32(offset)?;
        if value == ALL_ONES && self.0.read32(IDENTITY.offset())? == ALL_ONES {
            return Err(self.0.explain_absence(offset));
        }
        Ok(value)
    }

    fn write32(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        self.0.write32(offset, value)
    }

    fn explain_absence(&mut self, offset: u32) -> DeviceError {
        self.0.explain_absence(offset)
    }
}
