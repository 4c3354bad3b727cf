// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages that read as all-ones, like a removed device.
//!
//! They are put over a mapping at its own address (`MAP_FIXED`), which `memmap2` does not do.

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

use rustix::fs::MemfdFlags;
use rustix::io::DupFlags;
use rustix::mm::{MapFlags, ProtFlags};

use super::{HUGE_PAGE_BYTES, PAGE_BYTES};

/// Puts pages that read as all-ones into the place of a mapping, which is then as good as removed,
/// though accesses to it still work. What is written stays in those pages. Gives a file to put into
/// the place of the mapping's own.
///
/// # Errors
/// What the system reports. Then pages up to some point have been replaced; another try goes on.
///
/// # Safety
/// `bytes` bytes from `start` on must be whole mappings of ordinary pages that belong to the caller
/// for the whole call, and whoever reads them must expect any bytes.
pub unsafe fn replace(start: NonNull<u8>, bytes: usize) -> io::Result<OwnedFd> {
    let whole = bytes.next_multiple_of(PAGE_BYTES);
    let chunk = whole.min(HUGE_PAGE_BYTES);
    let file = rustix::fs::memfd_create("lockstep-gone", MemfdFlags::CLOEXEC)?;
    let ones = vec![0xFF; chunk];
    let mut written = 0;
    while written < chunk {
        written += rustix::io::write(&file, &ones[written..])?;
    }
    for offset in (0..whole).step_by(chunk) {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::PRIVATE | MapFlags::FIXED;
        // SAFETY: the caller's promise: the range is a mapping of its own, which stays one: the kernel
        // puts the new pages into the place of the old ones at once.
        unsafe {
            let at = start.as_ptr().add(offset).cast();
            rustix::mm::mmap(at, chunk.min(whole - offset), protection, flags, &file, 0)?;
        }
    }
    Ok(file)
}

/// Puts another open file behind a descriptor, which stays open throughout.
///
/// # Errors
/// What the system reports; the descriptor is as it was.
pub fn replace_file(descriptor: BorrowedFd<'_>, by: impl AsFd) -> io::Result<()> {
    // SAFETY: the descriptor is open, as it is borrowed; this second owner never closes it.
    let mut target = ManuallyDrop::new(unsafe { OwnedFd::from_raw_fd(descriptor.as_raw_fd()) });
    Ok(rustix::io::dup3(by, &mut target, DupFlags::CLOEXEC)?)
}
