// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device's side of native storage: physical pages, read as bytes.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw};

use super::super::layout::{PAGE_BYTES, PageBuffer};

/// Physical pages.
pub trait PhysicalPages {
    /// Reads a physical page, as it stands; `false` when there is none of this number.
    fn read(&self, physical: u64, into: &mut PageBuffer) -> bool;
}

/// The bytes of a file of pages.
impl PhysicalPages for [u8] {
    fn read(&self, physical: u64, into: &mut PageBuffer) -> bool {
        let start = usize::try_from(physical).ok().and_then(|page| page.checked_mul(PAGE_BYTES));
        let bytes = start.and_then(|start| self.get(start..start.checked_add(PAGE_BYTES)?));
        bytes.inspect(|bytes| into.0.copy_from_slice(bytes)).is_some()
    }
}

/// A file of pages, mapped read-only. The host may write to it meanwhile; what is read in the middle
/// of a write has a wrong checksum.
#[derive(Debug)]
pub struct MappedPages {
    map: MmapRaw,
    pages: u64,
}

impl MappedPages {
    /// Maps a file, as long as it is now. The store never shortens it.
    ///
    /// # Errors
    /// When the system refuses, or the file has not even superblocks.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let pages = length / PAGE_BYTES as u64;
        if pages == 0 {
            let message = format!("{length} bytes, expected at least one page");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
        }
        let bytes = usize::try_from(pages * PAGE_BYTES as u64).map_err(io::Error::other)?;
        let map = MmapOptions::new().len(bytes).map_raw_read_only(&file)?;
        Ok(Self { map, pages })
    }

    /// How many physical pages are mapped.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    fn words(&self) -> &[AtomicU64] {
        let words = self.map.len() / size_of::<AtomicU64>();
        // SAFETY: the mapping is page-aligned, so many words long, readable, and lives as long as
        // `self`; it is only loaded from, as atomics, since the host may write to the file.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), words) }
    }
}

impl PhysicalPages for MappedPages {
    fn read(&self, physical: u64, into: &mut PageBuffer) -> bool {
        if physical >= self.pages {
            return false;
        }
        const WORDS: usize = PAGE_BYTES / size_of::<AtomicU64>();
        let words = &self.words()[physical as usize * WORDS..][..WORDS];
        for (word, bytes) in words.iter().zip(into.0.as_chunks_mut().0) {
            *bytes = word.load(Ordering::Relaxed).to_le_bytes();
        }
        true
    }
}
