// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory of this process that can be shared with devices.

pub(crate) mod ones;
mod shared;
#[cfg(test)]
mod tests;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{MemfdFlags, SealFlags};

/// A shared mapping of anonymous memory, or of a device's window, by a descriptor that can be passed
/// on.
///
/// Devices and other processes change the bytes at any time, so there is never a reference to them:
/// only copies in and out, and atomics.
#[derive(Debug)]
pub struct HostMemory {
    map: MmapRaw,
    page_bytes: usize,
    file: OwnedFd,
    /// Where in the file the mapping begins.
    file_offset: u64,
}

/// Bytes of an ordinary page.
pub const PAGE_BYTES: usize = 4096;

/// Bytes of a huge page.
pub const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Maps `bytes` bytes of a file from `offset` on, for reading and writing, shared with all who map it.
///
/// # Errors
/// What the system reports; [`io::ErrorKind::InvalidInput`] when there are no bytes, or when they begin
/// within a page: words of the mapping are aligned because its first byte is.
pub(crate) fn map_shared(file: impl AsFd, offset: u64, bytes: usize) -> io::Result<MmapRaw> {
    if bytes == 0 || !offset.is_multiple_of(PAGE_BYTES as u64) {
        let found = format!("{bytes} bytes from byte {offset} on, expected some, from a page on");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, found));
    }
    MmapOptions::new().offset(offset).len(bytes).map_raw(&file.as_fd())
}

impl HostMemory {
    /// Zeroed memory of at least `bytes` bytes in whole pages of `page_bytes`, which is
    /// [`PAGE_BYTES`] or [`HUGE_PAGE_BYTES`].
    ///
    /// # Errors
    /// What the system reports: too little memory, or no huge pages set aside.
    pub fn allocate(bytes: usize, page_bytes: usize) -> io::Result<Self> {
        let bytes = bytes
            .max(1)
            .checked_next_multiple_of(page_bytes)
            .ok_or(io::Error::from(io::ErrorKind::OutOfMemory))?;
        let mut flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        if page_bytes == HUGE_PAGE_BYTES {
            flags |= MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB;
        }
        let file = rustix::fs::memfd_create("lockstep", flags)?;
        rustix::fs::ftruncate(&file, bytes as u64)?;
        // Whoever maps the descriptor may rely on its size.
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW)?;
        Self::map(file, 0, bytes, page_bytes)
    }

    /// The `bytes` bytes from `file_offset`, a multiple of [`PAGE_BYTES`], on of a file that can be
    /// mapped.
    ///
    /// # Errors
    /// What the system reports; [`io::ErrorKind::InvalidInput`] when there are no bytes, or when they
    /// begin within a page.
    pub fn map(
        file: OwnedFd,
        file_offset: u64,
        bytes: usize,
        page_bytes: usize,
    ) -> io::Result<Self> {
        let map = map_shared(&file, file_offset, bytes)?;
        Ok(Self { map, page_bytes, file, file_offset })
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        self.map.len()
    }

    /// Bytes of the pages that it is made of.
    pub fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// The address of its first byte in this process.
    pub fn start(&self) -> NonNull<u8> {
        NonNull::new(self.map.as_mut_ptr()).expect("a mapping is never at address 0")
    }

    /// The file behind it, for those who map it too.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Where in the file it begins.
    pub fn file_offset(&self) -> u64 {
        self.file_offset
    }

    /// Brings all pages into memory and keeps them there until this is dropped.
    ///
    /// # Errors
    /// What the system reports, such as [`io::ErrorKind::OutOfMemory`] past the limit of the user
    /// (`ulimit -l`).
    pub fn lock(&self) -> io::Result<()> {
        self.map.lock()
    }

    /// Takes away what is behind it: from now on it reads as all-ones, what is written stays here, and
    /// [`HostMemory::file`] is another file. For a device's window, in ordinary pages, so that the
    /// device can be let go while somebody may still look through it.
    ///
    /// # Errors
    /// What the system reports; another try goes on.
    pub(crate) fn detach(&self) -> io::Result<()> {
        assert_eq!(self.page_bytes, PAGE_BYTES, "a window is in ordinary pages");
        // SAFETY: start and size are those of the mapping, which lives as long as self; others change
        // its bytes at any time, so whoever reads them expects any.
        let file = unsafe { ones::replace(self.start(), self.bytes())? };
        ones::replace_file(self.file.as_fd(), &file)
    }

    /// Copies bytes out, from byte `offset` on.
    ///
    /// # Panics
    /// When they do not lie in the memory.
    pub fn read(&self, offset: usize, into: &mut [u8]) {
        self.check(offset, into.len());
        // SAFETY: `check` has shown that the range lies in the mapping, which lives as long as self;
        // `into` is memory of the caller's alone.
        unsafe { shared::load(self.map.as_ptr().add(offset), into) }
    }

    /// Copies bytes in, from byte `offset` on.
    ///
    /// # Panics
    /// When they do not lie in the memory.
    pub fn write(&self, offset: usize, from: &[u8]) {
        self.check(offset, from.len());
        // SAFETY: as in `read`, the other way round.
        unsafe { shared::store(self.map.as_mut_ptr().add(offset), from) }
    }

    /// The 8 bytes at byte `offset`, to be shared with a device.
    ///
    /// # Panics
    /// When the offset is no multiple of 8 or past the end.
    pub fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8), "word at byte {offset}: expected a multiple of 8");
        self.check(offset, 8);
        // SAFETY: in the mapping (checked), aligned (checked; pages are), alive as long as self,
        // and other parties use atomic or whole-word accesses on it.
        unsafe { AtomicU64::from_ptr(self.map.as_mut_ptr().add(offset).cast()) }
    }

    fn check(&self, offset: usize, bytes: usize) {
        let end = offset.checked_add(bytes);
        assert!(
            end.is_some_and(|end| end <= self.bytes()),
            "bytes {offset}..+{bytes} of a memory of {}",
            self.bytes()
        );
    }
}
