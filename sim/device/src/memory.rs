// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that the device reaches, mapped into this process. All `unsafe` of this crate is here and
//! below, except for the system calls of [`crate::signaller`].
//!
//! The other side may change shared memory at any time, so no reference to its bytes is ever made:
//! words are atomics, all other data is copied in or out, and copied data may be arbitrary bytes.
//! Every range is checked against the mapping before it is touched. A mapping of a file that
//! another process gave us is only made when the file cannot shrink, see [`Mapping::of_file`], and
//! each access to one says whether it found the page there, see [`guard`].

mod copy;
mod guard;
#[cfg(test)]
mod tests;

use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use driver::{HostMemory, PAGE_BYTES};
use memmap2::MmapOptions;
use rustix::fs::SealFlags;
use rustix::io::Errno;

use guard::Window;

pub(crate) use guard::LostError;

/// Bytes of a line, the unit of the device's reads.
pub(crate) const LINE_BYTES: usize = 64;

/// A mapping that stays until it is dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
    writable: bool,
    owner: Owner,
}

/// What keeps a mapping.
#[derive(Debug)]
enum Owner {
    /// Owned elsewhere, and lives at least as long.
    Memory { _memory: Arc<HostMemory> },
    /// Our own, which goes with this value.
    Pages(Window),
}

// SAFETY: the memory stays mapped until this value is dropped, is not tied to a thread, and is only
// reached by atomics and by copies to and from memory of the caller's.
unsafe impl Send for Mapping {}
// SAFETY: as above; shared bytes are only ever reached by atomic accesses.
unsafe impl Sync for Mapping {}

/// Bytes of a file that keeps its size, or grows, forever, so that what is mapped of it stays
/// there: a memfd with the seal against shrinking. `None` of any other file.
///
/// # Errors
/// What the system reports.
pub(crate) fn sealed_bytes(file: &OwnedFd) -> Result<Option<u64>, Errno> {
    let sealed = rustix::fs::fcntl_get_seals(file).is_ok_and(|s| s.contains(SealFlags::SHRINK));
    if !sealed {
        return Ok(None);
    }
    // Asked after the seal was seen, so the answer holds forever.
    let size = rustix::fs::fstat(file)?.st_size;
    Ok(Some(u64::try_from(size).unwrap_or(0)))
}

impl Mapping {
    /// Memory of this process, for reading and writing.
    pub fn of_memory(memory: Arc<HostMemory>) -> Self {
        let (start, bytes) = (memory.start(), memory.bytes());
        Self { start, bytes, writable: true, owner: Owner::Memory { _memory: memory } }
    }

    /// The first `bytes` bytes of a file, as many as it has forever ([`sealed_bytes`]).
    ///
    /// # Errors
    /// `EPERM` when the file may shrink, `EACCES` when it was not opened for what is asked, `EINVAL`
    /// when it is empty or shorter, `ENOMEM` when there are too few addresses.
    pub fn of_file(file: &OwnedFd, bytes: u64, writable: bool) -> Result<Self, Errno> {
        match sealed_bytes(file)? {
            Some(sealed) if bytes <= sealed => Self::of_any_file(file, bytes, writable),
            Some(_) => Err(Errno::INVAL),
            None => Err(Errno::PERM),
        }
    }

    /// The first `bytes` bytes of a file, which may shrink for all that the guard cares.
    pub(crate) fn of_any_file(file: &OwnedFd, bytes: u64, writable: bool) -> Result<Self, Errno> {
        // Huge pages can only be mapped, and above all unmapped, as a whole. What is mapped behind
        // the end is never touched.
        let page = u64::try_from(rustix::fs::fstat(file)?.st_blksize).unwrap_or(0);
        let page = page.max(PAGE_BYTES as u64);
        if bytes == 0 || !page.is_power_of_two() {
            return Err(Errno::INVAL);
        }
        let whole = bytes.checked_next_multiple_of(page).ok_or(Errno::NOMEM)?;
        let (bytes, whole) = (bytes as usize, usize::try_from(whole).map_err(|_| Errno::NOMEM)?);
        let mut options = MmapOptions::new();
        // Whoever lent huge pages has set them aside, or has not: that is not for us to do.
        options.len(whole).no_reserve_swap();
        let map = if writable { options.map_raw(file) } else { options.map_raw_read_only(file) };
        let map = map.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::NOMEM))?;
        let window = Window::new(map, page as usize);
        Ok(Self { start: window.start(), bytes, writable, owner: Owner::Pages(window) })
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether an access has found that a page is missing. Then none reaches the memory any more.
    pub fn is_lost(&self) -> bool {
        self.window().is_some_and(Window::is_lost)
    }

    fn window(&self) -> Option<&Window> {
        match &self.owner {
            Owner::Memory { .. } => None,
            Owner::Pages(window) => Some(window),
        }
    }

    /// Does something with the bytes, which may be missing.
    fn reach<T>(&self, work: impl FnOnce() -> T) -> Result<T, LostError> {
        match self.window() {
            None => Ok(work()),
            window => guard::reach([window, None], work),
        }
    }

    /// The 8 bytes at byte `offset`, a multiple of 8.
    fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8), "word at byte {offset}, expected a multiple of 8");
        self.check(offset, 8);
        // SAFETY: in the mapping (checked), which is page-aligned, so the word is aligned; it stays
        // mapped as long as self. Others that share the memory are other processes, or threads that
        // use atomics too; nobody has a reference to it.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(offset).cast()) }
    }

    /// Loads the 8 bytes at byte `offset`, a multiple of 8; what is loaded afterwards is no older.
    pub fn load(&self, offset: usize) -> Result<u64, LostError> {
        let word = self.word(offset);
        self.reach(|| load(word))
    }

    /// The line at byte `offset`, a multiple of its size, word by word from the lowest.
    pub fn line(&self, offset: usize) -> Result<[u64; 8], LostError> {
        assert!(offset.is_multiple_of(LINE_BYTES), "line at byte {offset}");
        let words: [&AtomicU64; 8] = std::array::from_fn(|word| self.word(offset + 8 * word));
        self.reach(|| words.map(load))
    }

    /// Stores 8 bytes at byte `offset`, a multiple of 8. What this thread stored or copied before
    /// is seen by whoever sees this.
    ///
    /// # Panics
    /// When the mapping is not writable.
    pub fn store(&self, offset: usize, value: u64) -> Result<(), LostError> {
        assert!(self.writable, "store into memory that is only read");
        let word = self.word(offset);
        self.reach(|| word.store(value, Ordering::Release))
    }

    /// Stores `new` at byte `offset`, a multiple of 8, if `expected` stands there; gives what stood
    /// there.
    ///
    /// # Panics
    /// When the mapping is not writable.
    pub fn compare_swap(&self, offset: usize, expected: u64, new: u64) -> Result<u64, LostError> {
        assert!(self.writable, "compare-and-swap in memory that is only read");
        let word = self.word(offset);
        self.reach(|| {
            let swapped = word.compare_exchange(expected, new, Ordering::AcqRel, Ordering::Acquire);
            swapped.unwrap_or_else(|old| old)
        })
    }

    /// Copies bytes out, from byte `offset` on.
    pub fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), LostError> {
        self.check(offset, into.len());
        // SAFETY: the source lies in the mapping (checked) and stays mapped as long as self; the
        // destination is the caller's alone.
        self.reach(|| unsafe {
            copy::copy(self.start.as_ptr().add(offset), into.as_mut_ptr(), into.len());
        })
    }

    /// Copies bytes in, from byte `offset` on.
    ///
    /// # Panics
    /// When the mapping is not writable.
    pub fn write(&self, offset: usize, from: &[u8]) -> Result<(), LostError> {
        assert!(self.writable, "write to memory that is only read");
        self.check(offset, from.len());
        // SAFETY: as in `read`, the other way round; the mapping is writable (checked).
        self.reach(|| unsafe {
            copy::copy(from.as_ptr(), self.start.as_ptr().add(offset), from.len());
        })
    }

    /// Copies bytes from one mapping into another, or within one. Where the ranges overlap, the
    /// higher one ends up with bytes of no use.
    ///
    /// # Panics
    /// When this mapping is not writable.
    pub fn copy_from(
        &self,
        offset: usize,
        source: &Mapping,
        from: usize,
        bytes: usize,
    ) -> Result<(), LostError> {
        assert!(self.writable, "copy into memory that is only read");
        self.check(offset, bytes);
        source.check(from, bytes);
        // SAFETY: both ranges lie in their mappings (checked), which stay as long as the borrows;
        // the destination is writable (checked).
        guard::reach([self.window(), source.window()], || unsafe {
            let from = source.start.as_ptr().add(from);
            copy::copy(from, self.start.as_ptr().add(offset), bytes);
        })
    }

    fn check(&self, offset: usize, bytes: usize) {
        let end = offset.checked_add(bytes);
        assert!(
            end.is_some_and(|end| end <= self.bytes),
            "bytes {offset}..+{bytes} of a mapping of {}",
            self.bytes
        );
    }
}

/// Loads a word; what is loaded afterwards is no older.
///
/// A relaxed load and a fence: on pages that may only be read, Rust allows no other atomic operation
/// than a relaxed load, which is sure to be one instruction that only reads.
fn load(word: &AtomicU64) -> u64 {
    let value = word.load(Ordering::Relaxed);
    fence(Ordering::Acquire);
    value
}
