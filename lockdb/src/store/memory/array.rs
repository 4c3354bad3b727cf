//! Plain arrays of words in memory that devices may share.

use std::io;
use std::sync::atomic::AtomicU64;

use memmap2::MmapRaw;

use super::Home;

/// An array of 64-bit words, all zero at first. Memory is taken as the words are first touched, so
/// a large array costs what is used of it.
#[derive(Debug)]
pub struct SharedArray {
    map: MmapRaw,
    len: usize,
}

impl SharedArray {
    /// Reserves `len` words of address space in memory of this process.
    ///
    /// # Errors
    /// When the system refuses them.
    pub fn reserve(len: usize) -> io::Result<Self> {
        Self::reserve_in(&Home::Private, "", len)
    }

    /// As [`SharedArray::reserve`], where others can map it under its name.
    ///
    /// # Errors
    /// As there.
    pub fn reserve_in(home: &Home, name: &str, len: usize) -> io::Result<Self> {
        Ok(Self { map: home.map(name, len * size_of::<u64>())?, len })
    }

    /// All words.
    #[inline]
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping is page-aligned, `len` words long, readable and writable, and lives as
        // long as `self`; nobody accesses it but through these atomics, for which zeroes are valid.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), self.len) }
    }

    /// One word.
    ///
    /// # Panics
    /// When the array is not that long.
    #[inline]
    pub fn word(&self, index: usize) -> &AtomicU64 {
        &self.words()[index]
    }

    /// How many words there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}
