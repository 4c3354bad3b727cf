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
}

impl<R: Registers + ?Sized> Registers for &mut R {
    fn read32(&mut self, offset: u32) -> Result<u32, DeviceError> {
        (**self).read32(offset)
    }

    fn write32(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        (**self).write32(offset, value)
    }
}
