// SPDX-License-Identifier: MIT OR Apache-2.0
//! The context of every check: the device, memory that it can reach, and bounded waits.

use std::fmt::{Debug, LowerHex};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use driver::{
    Backend, Device, DeviceError, DmaBuffer, HUGE_PAGE_BYTES, HostMemory, MemoryNeeds, PAGE_BYTES,
    Space, Width,
};
use rand_chacha::ChaCha8Rng;

use crate::Opener;
use crate::map;
use crate::options::Options;

/// Why a check ends before its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckError {
    /// The device does not do what it must.
    #[error("{0}")]
    Wrong(String),
    /// It cannot be tried here.
    #[error("{0}")]
    Skip(String),
    /// An access failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl CheckError {
    pub fn wrong(what: impl Into<String>) -> Self {
        CheckError::Wrong(what.into())
    }
}

/// Checks that a value is what it must be.
pub(crate) fn expect<T: PartialEq + LowerHex>(
    what: impl FnOnce() -> String,
    found: T,
    expected: T,
) -> Result<(), CheckError> {
    match found == expected {
        true => Ok(()),
        false => {
            Err(CheckError::Wrong(format!("{}: found {found:#x}, expected {expected:#x}", what())))
        }
    }
}

/// As [`expect`], for values that are read better in words.
pub(crate) fn expect_eq<T: PartialEq + Debug>(
    what: impl FnOnce() -> String,
    found: T,
    expected: T,
) -> Result<(), CheckError> {
    match found == expected {
        true => Ok(()),
        false => {
            Err(CheckError::Wrong(format!("{}: found {found:?}, expected {expected:?}", what())))
        }
    }
}

/// The device under test and what a check may need beside it.
pub(crate) struct Context<'a> {
    pub device: Device,
    pub backend: Arc<dyn Backend>,
    pub open: &'a mut Opener<'a>,
    pub options: &'a Options,
    pub random: ChaCha8Rng,
}

impl Context<'_> {
    /// A register of 32 bits in BAR0.
    pub fn read(&self, offset: u64) -> Result<u32, DeviceError> {
        read32(&*self.backend, offset)
    }

    /// Writes a register of 32 bits in BAR0.
    pub fn write(&self, offset: u64, value: u32) -> Result<(), DeviceError> {
        write32(&*self.backend, offset, value)
    }

    /// Memory that the device can reach: at least `bytes` bytes, or fewer where it must be
    /// contiguous and that much cannot be allocated in one piece.
    pub fn memory(&self, bytes: usize) -> Result<Mapped, CheckError> {
        let contiguous = self.backend.information().memory == MemoryNeeds::Contiguous;
        let bytes = if contiguous { bytes.min(HUGE_PAGE_BYTES) } else { bytes };
        match self.device.allocate(bytes) {
            Ok(buffer) => Ok(Mapped::new(buffer)),
            // No huge pages were set aside.
            Err(_) if contiguous => Ok(Mapped::new(self.device.allocate(PAGE_BYTES)?)),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until `done` gives a value.
    pub fn wait_for<T>(
        &self,
        what: impl FnOnce() -> String,
        mut done: impl FnMut() -> Result<Option<T>, CheckError>,
    ) -> Result<T, CheckError> {
        let begun = Instant::now();
        loop {
            if let Some(value) = done()? {
                return Ok(value);
            }
            if begun.elapsed() > self.options.timeout {
                let bound = self.options.timeout;
                return Err(CheckError::Wrong(format!(
                    "waited for {}: nothing in {bound:?}",
                    what()
                )));
            }
            pause(begun);
        }
    }

    /// Lets time pass in which nothing may happen.
    pub fn be_silent(&self) {
        thread::sleep(self.options.silence);
    }

    /// Card memory in bytes.
    pub fn card_bytes(&self) -> Result<u64, DeviceError> {
        Ok(1 << (self.read(map::SHELL + map::CAPABILITIES)? >> 16 & 0x3F))
    }
}

/// A register of 32 bits in BAR0.
pub(crate) fn read32(backend: &dyn Backend, offset: u64) -> Result<u32, DeviceError> {
    Ok(backend.read(Space::Bar(0), offset, Width::Four)? as u32)
}

/// Writes a register of 32 bits in BAR0.
pub(crate) fn write32(backend: &dyn Backend, offset: u64, value: u32) -> Result<(), DeviceError> {
    backend.write(Space::Bar(0), offset, Width::Four, value.into())
}

/// One step of a wait: looks again at once in the beginning, then leaves the processor to others.
pub(crate) fn pause(begun: Instant) {
    match begun.elapsed() {
        waited if waited < Duration::from_micros(50) => std::hint::spin_loop(),
        waited if waited < Duration::from_millis(5) => thread::yield_now(),
        _ => thread::sleep(Duration::from_micros(100)),
    }
}

/// Memory that the device can reach until it is dropped.
pub(crate) struct Mapped {
    buffer: Option<DmaBuffer>,
    pub memory: Arc<HostMemory>,
    /// What the device calls its first byte.
    pub address: u64,
}

impl Mapped {
    fn new(buffer: DmaBuffer) -> Self {
        let (memory, address) = (Arc::clone(buffer.memory()), buffer.bus_address());
        Self { buffer: Some(buffer), memory, address }
    }

    pub fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    pub fn fill(&self, byte: u8) {
        self.memory.write(0, &vec![byte; self.bytes()]);
    }

    pub fn copy_out(&self, offset: usize, bytes: usize) -> Vec<u8> {
        let mut out = vec![0; bytes];
        self.memory.read(offset, &mut out);
        out
    }

    /// Takes it away from the device; the memory itself stays.
    pub fn unmap(&mut self) -> Result<(), DeviceError> {
        self.buffer.take().map_or(Ok(()), DmaBuffer::unmap)
    }
}
