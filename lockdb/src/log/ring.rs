// SPDX-License-Identifier: MIT OR Apache-2.0
//! The newest bytes of the log, in memory: LSN `n` stands at `n` modulo the ring's size.

use std::io;
use std::ops::Range;

use memmap2::{Advice, MmapOptions, MmapRaw};

/// Bytes that one thread writes while another reads others; access control is the caller's
/// promise.
#[derive(Debug)]
pub(super) struct Ring {
    memory: MmapRaw,
    mask: u64,
}

impl Ring {
    /// A ring of `bytes` zeros, a power of two.
    pub fn new(bytes: usize) -> io::Result<Self> {
        assert!(bytes.is_power_of_two(), "a ring of {bytes} bytes");
        let memory = MmapRaw::from(MmapOptions::new().len(bytes).map_anon()?);
        // Fewer faults on the first lap; just as well without.
        let _ = memory.advise(Advice::HugePage);
        Ok(Self { memory, mask: bytes as u64 - 1 })
    }

    pub fn capacity(&self) -> u64 {
        self.mask + 1
    }

    /// Copies `bytes` to `lsn` and after.
    ///
    /// # Safety
    /// Until this returns, no other call touches the `bytes.len()` bytes at `lsn`, modulo the
    /// ring's size; and its return happens before the next that does.
    #[inline]
    pub unsafe fn write(&self, lsn: u64, bytes: &[u8]) {
        let at = (lsn & self.mask) as usize;
        assert!(bytes.len() as u64 <= self.capacity(), "{} bytes lap the ring", bytes.len());
        let before_wrap = bytes.len().min(self.capacity() as usize - at);
        let (first, second) = bytes.split_at(before_wrap);
        let base = self.memory.as_mut_ptr();
        // SAFETY: `at + first.len()` and `second.len()` are at most the size of the mapping (the
        // `min` and the assertion above); `bytes` is a reference, so it is not in the mapping,
        // which nobody has a reference to while it is written (the caller's promise).
        unsafe {
            std::ptr::copy_nonoverlapping(first.as_ptr(), base.add(at), first.len());
            std::ptr::copy_nonoverlapping(second.as_ptr(), base, second.len());
        }
    }

    /// The bytes from `range.start` to `range.end`, in one or two chunks.
    ///
    /// # Safety
    /// While the slices live, nobody writes these bytes; and all writes to them happened before.
    pub unsafe fn read(&self, range: Range<u64>) -> [&[u8]; 2] {
        let at = (range.start & self.mask) as usize;
        let bytes = range.end - range.start;
        assert!(bytes <= self.capacity(), "{bytes} bytes lap the ring");
        let before_wrap = (bytes as usize).min(self.capacity() as usize - at);
        let base = self.memory.as_ptr();
        // SAFETY: both chunks lie in the mapping (the `min` and the assertion above), which lives
        // as long as `self`; they were initialised as zeros at the latest, and no transaction
        // changes them meanwhile (the caller's promise).
        unsafe {
            [
                std::slice::from_raw_parts(base.add(at), before_wrap),
                std::slice::from_raw_parts(base, bytes as usize - before_wrap),
            ]
        }
    }
}
