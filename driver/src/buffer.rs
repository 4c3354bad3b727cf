// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that the device can reach, with its device address.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::{Backend, DeviceError, HostMemory};

/// Host memory mapped for a device; taken away from it when dropped.
///
/// Take care that the device has no work left on it: what it still does then fails in the device
/// where addresses are translated. Where they are not (`?mode=sysfs`), the backend keeps the memory
/// until the device is idle.
pub struct DmaBuffer {
    backend: Arc<dyn Backend>,
    memory: Arc<HostMemory>,
    bus_address: u64,
    mapped: bool,
}

impl fmt::Debug for DmaBuffer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("DmaBuffer")
            .field("memory", &self.memory)
            .field("bus_address", &format_args!("0x{:X}", self.bus_address))
            .finish()
    }
}

impl DmaBuffer {
    /// Maps `memory` for the device.
    ///
    /// # Errors
    /// What the backend reports.
    pub fn map(backend: Arc<dyn Backend>, memory: Arc<HostMemory>) -> Result<Self, DeviceError> {
        let bus_address = backend.map(&memory)?;
        Ok(DmaBuffer { backend, memory, bus_address, mapped: true })
    }

    /// The memory.
    pub fn memory(&self) -> &Arc<HostMemory> {
        &self.memory
    }

    /// The address that the device uses for its first byte.
    pub fn bus_address(&self) -> u64 {
        self.bus_address
    }

    /// Its size in bytes, at least what was asked for.
    pub fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// Copies bytes out, from byte `offset` on.
    ///
    /// # Panics
    /// When they do not lie in the memory.
    pub fn read(&self, offset: usize, into: &mut [u8]) {
        self.memory.read(offset, into);
    }

    /// Copies bytes in, from byte `offset` on.
    ///
    /// # Panics
    /// When they do not lie in the memory.
    pub fn write(&self, offset: usize, from: &[u8]) {
        self.memory.write(offset, from);
    }

    /// The 8 bytes at byte `offset`, shared with the device.
    ///
    /// # Panics
    /// When the offset is no multiple of 8 or past the end.
    pub fn word(&self, offset: usize) -> &AtomicU64 {
        self.memory.word(offset)
    }

    /// Takes the memory away from the device, and tells how that went, which a drop does not.
    ///
    /// # Errors
    /// What the backend reports.
    pub fn unmap(mut self) -> Result<(), DeviceError> {
        self.mapped = false;
        self.backend.unmap(self.bus_address)
    }
}

impl Drop for DmaBuffer {
    fn drop(&mut self) {
        if self.mapped {
            // A device that is gone, or a server that ended, has no mapping left to take away.
            let _ = self.backend.unmap(self.bus_address);
        }
    }
}
