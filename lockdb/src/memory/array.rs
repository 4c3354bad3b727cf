// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plain arrays of words in memory that devices may share.

use std::fmt::Debug;
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Home;
use locks::SharedMemory;

/// Where arrays stand that devices touch while transactions run, such as memory that a device was
/// given: [`Options::array_memory`](crate::Options::array_memory).
pub trait ArrayMemory: Debug + Send + Sync {
    /// Memory for the array of a name, `bytes` long or longer, all zeroes, from a multiple of 8 bytes
    /// on. It is this array's as long as it is held.
    ///
    /// # Errors
    /// When there is none.
    fn allocate(&self, name: &str, bytes: usize) -> io::Result<Arc<dyn SharedMemory>>;
}

/// An array of 64-bit words, all zero at first. Memory is taken as the words are first touched, so
/// a large array costs what is used of it.
#[derive(Debug)]
pub struct SharedArray {
    /// The first of `len` words. Invariant: they lie in the memory of `_owner`, which keeps it in its
    /// place.
    words: NonNull<AtomicU64>,
    len: usize,
    _owner: Box<dyn Debug + Send + Sync>,
}

// SAFETY: the words are reached through `words` alone, as shared references to `AtomicU64`, which is
// `Sync`; their owner is `Send`.
unsafe impl Send for SharedArray {}
// SAFETY: as above; the owner is `Sync`, too.
unsafe impl Sync for SharedArray {}

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
    /// The same errors.
    pub fn reserve_in(home: &Home, name: &str, len: usize) -> io::Result<Self> {
        // It begins with a page, and is as long as asked for.
        let map = home.map(name, len * size_of::<u64>())?;
        let words = NonNull::new(map.as_mut_ptr().cast()).expect("a mapping is not at address 0");
        Ok(Self { words, len, _owner: Box::new(map) })
    }

    /// `len` words in external memory.
    ///
    /// # Errors
    /// When it has none, or gives what is too short, misaligned, or not zeroes.
    pub fn allocate_in(memory: &dyn ArrayMemory, name: &str, len: usize) -> io::Result<Self> {
        let bytes = len * size_of::<u64>();
        let given = memory.allocate(name, bytes)?;
        let words = given.start().cast::<AtomicU64>();
        let refused = |what: String| {
            let message = format!("memory for array {name:?} {what}");
            Err(io::Error::new(io::ErrorKind::InvalidInput, message))
        };
        if given.bytes() < bytes {
            return refused(format!("has {} bytes, expected {bytes}", given.bytes()));
        }
        if !words.is_aligned() {
            return refused(format!("begins at {words:p}, expected a multiple of 8"));
        }
        let array = Self { words, len, _owner: Box::new(given) };
        match array.words().iter().position(|word| word.load(Ordering::Relaxed) != 0) {
            Some(used) => refused(format!("is in use at word {used}, expected zeroes")),
            None => Ok(array),
        }
    }

    /// All words.
    #[inline]
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: by the invariant of `words` there are so many, which live as long as `self`. They
        // are aligned (a mapping begins with a page; given memory is checked in `allocate_in`),
        // initialised, and only ever touched through atomics (here nobody has anything else, and
        // `SharedMemory` says so of others), for which every bit pattern is valid.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr(), self.len) }
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
