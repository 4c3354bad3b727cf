//! Memory of this process that can be shared with devices.

pub(crate) mod ones;
mod shared;
#[cfg(test)]
mod tests;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};

/// A shared mapping of anonymous memory, or of a device's window, by a descriptor that can be passed
/// on.
///
/// Devices and other processes change the bytes at any time, so there is never a reference to them:
/// only copies in and out, and atomics.
#[derive(Debug)]
pub struct HostMemory {
    start: NonNull<u8>,
    bytes: usize,
    page_bytes: usize,
    file: OwnedFd,
    /// Where in the file the mapping begins.
    file_offset: u64,
}

// SAFETY: the mapping belongs to this value until it is dropped, is not tied to a thread, and is
// only reached by the atomic accesses below.
unsafe impl Send for HostMemory {}
// SAFETY: as above; all accesses are atomic.
unsafe impl Sync for HostMemory {}

/// Bytes of an ordinary page.
pub const PAGE_BYTES: usize = 4096;

/// Bytes of a huge page.
pub const HUGE_PAGE_BYTES: usize = 2 << 20;

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

    /// The `bytes` bytes from `file_offset` on of a file that can be mapped.
    ///
    /// # Errors
    /// What the system reports.
    pub fn map(
        file: OwnedFd,
        file_offset: u64,
        bytes: usize,
        page_bytes: usize,
    ) -> io::Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the system's choice overlaps nothing.
        let start = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                bytes,
                protection,
                MapFlags::SHARED,
                &file,
                file_offset,
            )?
        };
        let start = NonNull::new(start.cast()).expect("a mapping is never at address 0");
        Ok(Self { start, bytes, page_bytes, file, file_offset })
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes of the pages that it is made of.
    pub fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// The address of its first byte in this process.
    pub fn start(&self) -> NonNull<u8> {
        self.start
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
        // SAFETY: start and size are those of the mapping, which lives as long as self.
        unsafe { rustix::mm::mlock(self.start.as_ptr().cast(), self.bytes)? };
        Ok(())
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
        let file = unsafe { ones::replace(self.start, self.bytes)? };
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
        unsafe { shared::load(self.start.as_ptr().add(offset), into) }
    }

    /// Copies bytes in, from byte `offset` on.
    ///
    /// # Panics
    /// When they do not lie in the memory.
    pub fn write(&self, offset: usize, from: &[u8]) {
        self.check(offset, from.len());
        // SAFETY: as in `read`, the other way round.
        unsafe { shared::store(self.start.as_ptr().add(offset), from) }
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
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(offset).cast()) }
    }

    fn check(&self, offset: usize, bytes: usize) {
        let end = offset.checked_add(bytes);
        assert!(
            end.is_some_and(|end| end <= self.bytes),
            "bytes {offset}..+{bytes} of a memory of {}",
            self.bytes
        );
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        // SAFETY: start and size are those of the mapping, and nobody borrows from it any more.
        // A failure would leave it mapped, which harms nobody.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
