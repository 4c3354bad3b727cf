// SPDX-License-Identifier: MIT OR Apache-2.0
//! The trait between a driver and the carrier of its accesses.

use crate::DeviceError;

/// 32-bit access to the register map of one block.
///
/// Implementations bound every wait and report [`DeviceError::Timeout`] when it ends
/// without an answer; they never hang and never panic on what a device does.
pub trait Registers {
    /// Reads the register at byte `offset`, a multiple of 4.
    ///
    /// # Errors
    /// [`DeviceError::Bus`], [`DeviceError::Protocol`] or [`DeviceError::Timeout`].
    fn read32(&mut self, offset: u32) -> Result<u32, DeviceError>;

    /// Writes the register at byte `offset`, a multiple of 4.
    ///
    /// # Errors
    /// [`DeviceError::Bus`], [`DeviceError::Protocol`] or [`DeviceError::Timeout`].
    fn write32(&mut self, offset: u32, value: u32) -> Result<(), DeviceError>;

    /// What it means that the register at `offset` and IDENTITY read as all-ones: that the device is
    /// gone, if there is nobody else to ask.
    fn explain_absence(&mut self, offset: u32) -> DeviceError {
        DeviceError::Gone { offset }
    }
}

impl<R: Registers + ?Sized> Registers for &mut R {
    fn read32(&mut self, offset: u32) -> Result<u32, DeviceError> {
        (**self).read32(offset)
    }

    fn write32(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        (**self).write32(offset, value)
    }

    fn explain_absence(&mut self, offset: u32) -> DeviceError {
        (**self).explain_absence(offset)
    }
}
