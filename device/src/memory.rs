//! Memory that the device reaches, mapped into this process. All `unsafe` of this crate is here and
//! in [`copy`](mod@copy).
//!
//! Rules. Whoever shares the memory changes it at any time, so no reference to its bytes is ever
//! made: words are atomics, everything else is copied in or out, and whatever was copied may be any
//! bytes. Every range is checked against the mapping before it is touched. A mapping of a file that
//! another process gave us is only made when the file cannot shrink, see [`Mapping::of_file`].

mod copy;

use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use driver::{HostMemory, PAGE_BYTES};
use rustix::fs::SealFlags;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};

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
    /// Somebody else's, which lives at least as long.
    Memory { _memory: Arc<HostMemory> },
    /// Our own, which goes with this value: where the system made it.
    Pages { start: NonNull<u8>, bytes: usize },
}

// SAFETY: the memory stays mapped until this value is dropped, is not tied to a thread, and is only
// reached by atomics and by copies to and from memory of the caller's.
unsafe impl Send for Mapping {}

/// Whether a file keeps its size for ever, so that what is mapped of it stays there: a memfd with
/// the seal against shrinking.
pub(crate) fn keeps_its_size(file: impl AsFd) -> bool {
    rustix::fs::fcntl_get_seals(file).is_ok_and(|seals| seals.contains(SealFlags::SHRINK))
}

impl Mapping {
    /// Memory of this process, for reading and writing.
    pub fn of_memory(memory: Arc<HostMemory>) -> Self {
        let (start, bytes) = (memory.start(), memory.bytes());
        Self { start, bytes, writable: true, owner: Owner::Memory { _memory: memory } }
    }

    /// The `bytes` bytes from `offset` on of a file that [`keeps_its_size`].
    ///
    /// # Errors
    /// `EPERM` when the file may shrink, `EINVAL` when it is shorter than the range or the system
    /// takes the offset amiss, `EACCES` when it was not opened for what is asked.
    pub fn of_file(
        file: &OwnedFd,
        offset: u64,
        bytes: usize,
        writable: bool,
    ) -> Result<Self, Errno> {
        if !keeps_its_size(file) {
            return Err(Errno::PERM);
        }
        // Asked after the seal was seen, so the answer holds for ever.
        let status = rustix::fs::fstat(file)?;
        let size = u64::try_from(status.st_size).unwrap_or(0);
        let end = offset.checked_add(bytes as u64).ok_or(Errno::INVAL)?;
        if bytes == 0 || end > size {
            return Err(Errno::INVAL);
        }
        // Huge pages can only be mapped, and above all unmapped, as a whole. What is mapped beside
        // the range is never touched.
        let page = u64::try_from(status.st_blksize).unwrap_or(0).max(PAGE_BYTES as u64);
        if !page.is_power_of_two() {
            return Err(Errno::INVAL);
        }
        let before = (offset % page) as usize;
        let whole = (before + bytes).next_multiple_of(page as usize);
        let mut protection = ProtFlags::READ;
        protection.set(ProtFlags::WRITE, writable);
        // SAFETY: a new mapping at an address of the system's choice overlaps nothing.
        let pages = unsafe {
            let any = std::ptr::null_mut();
            let from = offset - before as u64;
            rustix::mm::mmap(any, whole, protection, MapFlags::SHARED, file, from)?
        };
        let pages = NonNull::new(pages.cast::<u8>()).ok_or(Errno::NOMEM)?;
        // SAFETY: `before` bytes on is inside the mapping.
        let start = unsafe { pages.add(before) };
        Ok(Self { start, bytes, writable, owner: Owner::Pages { start: pages, bytes: whole } })
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

    /// Loads the 8 bytes at byte `offset`, a multiple of 8.
    pub fn load(&self, offset: usize) -> u64 {
        self.word(offset).load(Ordering::Acquire)
    }

    /// The line at byte `offset`, a multiple of its size, word by word from the lowest.
    pub fn line(&self, offset: usize) -> [u64; 8] {
        assert!(offset.is_multiple_of(LINE_BYTES), "line at byte {offset}");
        std::array::from_fn(|word| self.load(offset + 8 * word))
    }

    /// Stores 8 bytes at byte `offset`, a multiple of 8. What this thread stored or copied before
    /// is seen by whoever sees this.
    ///
    /// # Panics
    /// When the mapping is not writable.
    pub fn store(&self, offset: usize, value: u64) {
        assert!(self.writable, "store into memory that is only read");
        self.word(offset).store(value, Ordering::Release);
    }

    /// Stores `new` at byte `offset`, a multiple of 8, if `expected` stands there; gives what stood
    /// there.
    ///
    /// # Panics
    /// When the mapping is not writable.
    pub fn compare_swap(&self, offset: usize, expected: u64, new: u64) -> u64 {
        assert!(self.writable, "compare-and-swap in memory that is only read");
        let word = self.word(offset);
        let swapped = word.compare_exchange(expected, new, Ordering::AcqRel, Ordering::Acquire);
        swapped.unwrap_or_else(|old| old)
    }

    /// Copies bytes out, from byte `offset` on.
    pub fn read(&self, offset: usize, into: &mut [u8]) {
        self.check(offset, into.len());
        // SAFETY: the source lies in the mapping (checked) and stays mapped as long as self; the
        // destination is the caller's alone.
        unsafe { copy::copy(self.start.as_ptr().add(offset), into.as_mut_ptr(), into.len()) };
    }

    /// Copies bytes in, from byte `offset` on.
    ///
    /// # Panics
    /// When the mapping is not writable.
    pub fn write(&self, offset: usize, from: &[u8]) {
        assert!(self.writable, "write to memory that is only read");
        self.check(offset, from.len());
        // SAFETY: as in `read`, the other way round; the mapping is writable (checked).
        unsafe { copy::copy(from.as_ptr(), self.start.as_ptr().add(offset), from.len()) };
    }

    /// Copies bytes from one mapping into another, or within one. Where the ranges overlap, the
    /// higher one ends up with bytes of no use.
    ///
    /// # Panics
    /// When this mapping is not writable.
    pub fn copy_from(&self, offset: usize, source: &Mapping, from: usize, bytes: usize) {
        assert!(self.writable, "copy into memory that is only read");
        self.check(offset, bytes);
        source.check(from, bytes);
        // SAFETY: both ranges lie in their mappings (checked), which stay as long as the borrows;
        // the destination is writable (checked).
        unsafe {
            let from = source.start.as_ptr().add(from);
            copy::copy(from, self.start.as_ptr().add(offset), bytes);
        }
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

impl Drop for Mapping {
    fn drop(&mut self) {
        if let Owner::Pages { start, bytes } = self.owner {
            // SAFETY: start and size are those of our own mapping, and nobody borrows from it any
            // more. A failure would leave it mapped, which harms nobody.
            let unmapped = unsafe { rustix::mm::munmap(start.as_ptr().cast(), bytes) };
            debug_assert_eq!(unmapped, Ok(()), "whole pages that we mapped");
        }
    }
}
