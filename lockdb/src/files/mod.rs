// SPDX-License-Identifier: MIT OR Apache-2.0
//! The store's access to files, so that a test can simulate a loss of power.
//!
//! - [`Disk`]: a folder of the file system, held by one process at a time.
//! - [`Memory`]: nothing survives the process.
//! - [`Simulated`]: a folder with a power switch, for tests.

use std::fmt::Debug;
use std::io;
use std::sync::Arc;

mod blocks;
mod disk;
mod memory;
pub(crate) mod random;
pub mod simulated;
mod stored_pages;

pub use disk::Disk;
pub use memory::Memory;
pub use simulated::{Loss, Simulated};
pub use stored_pages::StoredPages;

/// One folder of files. All calls may come from several threads at once.
///
/// What is not synced may be lost with the power, wholly or in part and in any order: bytes until
/// [`File::sync`], creations and removals until [`Files::sync_directory`].
pub trait Files: Send + Sync + Debug {
    /// Opens a file that exists, to read and write.
    ///
    /// # Errors
    /// `NotFound` when there is none; `InvalidInput` when `name` is not a plain file name; else
    /// the system's reason.
    fn open(&self, name: &str) -> io::Result<Arc<dyn File>>;

    /// Creates an empty file, or empties the one that exists.
    ///
    /// # Errors
    /// `InvalidInput` when `name` is not a plain file name; else the system's reason.
    fn create(&self, name: &str) -> io::Result<Arc<dyn File>>;

    /// Removes a file. Open handles to it stay valid.
    ///
    /// # Errors
    /// As [`Files::open`].
    fn remove(&self, name: &str) -> io::Result<()>;

    /// The names of all files, sorted.
    ///
    /// # Errors
    /// The system's reason.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Makes all creations and removals so far durable.
    ///
    /// # Errors
    /// The system's reason; it is then unknown which of them are durable.
    fn sync_directory(&self) -> io::Result<()>;
}

/// One open file. All calls may come from several threads at once.
#[allow(clippy::len_without_is_empty)] // nobody asks
pub trait File: Send + Sync + Debug {
    /// Fills `buffer` from the bytes at `offset`.
    ///
    /// # Errors
    /// `UnexpectedEof` when the file ends before; else the system's reason.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Writes all of `bytes` at `offset`; a gap below reads as zeros.
    ///
    /// # Errors
    /// The system's reason; it is then unknown how much was written.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Ensures that writes find room for `bytes` bytes at `offset`, the end of the file. Neither
    /// the length nor any byte changes, and [`File::set_len`] gives back what was not used. Where
    /// the system cannot do so, this does nothing.
    ///
    /// # Errors
    /// `StorageFull`, `QuotaExceeded` or `FileTooLarge` when there is not so much room; else the system's
    /// reason.
    fn reserve(&self, offset: u64, bytes: u64) -> io::Result<()> {
        let _ = (offset, bytes);
        Ok(())
    }

    /// Makes the bytes and the length, as they stand, durable.
    ///
    /// # Errors
    /// The system's reason; it is then unknown which bytes are durable, and a later success says
    /// nothing of these.
    fn sync(&self) -> io::Result<()>;

    /// The length in bytes.
    ///
    /// # Errors
    /// The system's reason.
    fn len(&self) -> io::Result<u64>;

    /// Cuts the file off, or lengthens it with zeros.
    ///
    /// # Errors
    /// The system's reason.
    fn set_len(&self, len: u64) -> io::Result<()>;
}

/// Whether there was no room, so that the same call may succeed when there is.
pub(crate) fn is_no_room(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// Refuses names that would leave the folder.
fn check_name(name: &str) -> io::Result<()> {
    let plain = !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', '\0']);
    if plain {
        return Ok(());
    }
    let message = format!("{name:?} is not a plain file name");
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

fn no_such_file(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("there is no file {name:?}"))
}

fn read_past_end(offset: u64, bytes: usize, len: u64) -> io::Error {
    let message = format!("read of {bytes} bytes at {offset}: the file has {len} bytes");
    io::Error::new(io::ErrorKind::UnexpectedEof, message)
}

/// Where a write or read of `bytes` at `offset` ends.
fn end_of(offset: u64, bytes: usize) -> io::Result<u64> {
    offset.checked_add(bytes as u64).ok_or_else(|| {
        let message = format!("{bytes} bytes at offset {offset} end beyond any file");
        io::Error::new(io::ErrorKind::InvalidInput, message)
    })
}

#[cfg(test)]
mod tests;
