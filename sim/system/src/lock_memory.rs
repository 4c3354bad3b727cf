// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory for a lock table that a device can be given.

use std::fmt::Debug;
use std::ptr::NonNull;
use std::sync::Arc;

use driver::{Device, DeviceError, DmaBuffer, HostMemory};
use locks::{Bucket, SharedMemory};

/// Zeroed memory for a lock table, shared with a device or not. No other code in this process can
/// reach it but through the table.
#[derive(Debug)]
pub struct LockMemory {
    memory: Arc<HostMemory>,
    /// What the device has of it; taken away from it when this is dropped.
    buffer: Option<DmaBuffer>,
}

// SAFETY: the mapping stays in its place, readable and writable, as long as `memory` lives; it was
// zeroed by the system. Neither `memory` nor `buffer` is handed out, so that in this process only the
// table touches the bytes, by atomics.
unsafe impl SharedMemory for LockMemory {
    fn start(&self) -> NonNull<u8> {
        self.memory.start()
    }

    fn bytes(&self) -> usize {
        self.memory.bytes()
    }
}

impl LockMemory {
    /// Memory for so many buckets that the device can reach, in huge pages where there are any.
    ///
    /// # Errors
    /// When there is no such memory, or the device does not take it.
    pub fn of_device(device: &Device, buckets: u64) -> Result<Self, DeviceError> {
        let buffer = device.allocate(bytes(buckets)?)?;
        Ok(Self { memory: buffer.memory().clone(), buffer: Some(buffer) })
    }

    /// The like in pages of `page_bytes`, for this process alone.
    ///
    /// # Errors
    /// When there is no such memory.
    pub fn private(buckets: u64, page_bytes: usize) -> Result<Self, DeviceError> {
        let bytes = bytes(buckets)?;
        let memory = HostMemory::allocate(bytes, page_bytes).map_err(|error| {
            DeviceError::system(format!("allocate {bytes} bytes for a lock table"), error)
        })?;
        Ok(Self { memory: Arc::new(memory), buffer: None })
    }

    /// The address that the device uses for the first bucket, if it has the memory.
    pub fn bus_address(&self) -> Option<u64> {
        self.buffer.as_ref().map(DmaBuffer::bus_address)
    }

    /// Bytes of the pages that it is made of.
    pub fn page_bytes(&self) -> usize {
        self.memory.page_bytes()
    }
}

fn bytes(buckets: u64) -> Result<usize, DeviceError> {
    let bytes = usize::try_from(buckets).ok().and_then(|n| n.checked_mul(size_of::<Bucket>()));
    bytes.ok_or_else(|| DeviceError::OutOfRange {
        field: "buckets",
        value: buckets,
        expected: "as many as go into the address space".into(),
    })
}
