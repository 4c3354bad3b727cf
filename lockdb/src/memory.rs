//! The memory that a table stands in: lines that other threads, processes and devices share.

use std::fs::File;
use std::io;

use crate::Bucket;

/// What the table's memory is mapped from.
#[derive(Debug)]
pub enum Backing<'a> {
    /// Memory of this process: threads and devices in it can share the table.
    Private,
    /// A file, as long as the table or longer: whoever maps the file shares the table. Nobody may
    /// shorten it while it is mapped: the system ends a process that touches what is no longer there.
    Shared(&'a File),
}

/// A mapped array of buckets.
#[derive(Debug)]
pub struct TableMemory {
    storage: Storage,
    #[cfg(not(any(loom, miri)))]
    buckets: usize,
    huge_pages: bool,
}

#[cfg(not(any(loom, miri)))]
type Storage = memmap2::MmapRaw;
/// Neither `loom` nor Miri maps memory.
#[cfg(any(loom, miri))]
type Storage = Box<[Bucket]>;

impl TableMemory {
    /// Maps `buckets` empty lines, or the lines that stand in the file.
    ///
    /// Private memory comes in huge pages when the system has any reserved, else the system is
    /// asked to make some of its own accord.
    ///
    /// # Errors
    /// When the system refuses the mapping, or the file is too short.
    #[cfg(not(any(loom, miri)))]
    pub fn map(buckets: usize, backing: Backing<'_>) -> io::Result<Self> {
        let bytes = buckets * size_of::<Bucket>();
        let mut options = memmap2::MmapOptions::new();
        options.len(bytes);
        let (storage, huge_pages) = match backing {
            Backing::Shared(file) => (shared(file, bytes, &options)?, false),
            Backing::Private => match options.clone().huge(Some(21)).map_anon() {
                Ok(map) => (map.into(), true),
                Err(_) => {
                    let map = options.map_anon()?;
                    let asked = map.advise(memmap2::Advice::HugePage).is_ok();
                    (map.into(), asked)
                }
            },
        };
        Ok(Self { storage, buckets, huge_pages })
    }

    /// As above, in ordinary memory.
    #[cfg(any(loom, miri))]
    pub fn map(buckets: usize, _backing: Backing<'_>) -> io::Result<Self> {
        let storage = (0..buckets).map(|_| Bucket::default()).collect();
        Ok(Self { storage, huge_pages: false })
    }

    /// Whether the memory is in huge pages, or the system was asked for them and agreed.
    pub fn has_huge_pages(&self) -> bool {
        self.huge_pages
    }

    /// The lines.
    #[inline]
    pub fn buckets(&self) -> &[Bucket] {
        #[cfg(any(loom, miri))]
        return &self.storage;
        // SAFETY: the mapping is `buckets` × 64 bytes long (`map`), page-aligned, lives as long as
        // `self`, and is only ever touched through atomics (`Bucket` has nothing else), for which
        // every bit pattern is valid; so other threads, processes or devices may change it.
        #[cfg(not(any(loom, miri)))]
        unsafe {
            std::slice::from_raw_parts(self.storage.as_ptr().cast::<Bucket>(), self.buckets)
        }
    }
}

#[cfg(not(any(loom, miri)))]
fn shared(file: &File, bytes: usize, options: &memmap2::MmapOptions) -> io::Result<Storage> {
    let length = file.metadata()?.len();
    if length < bytes as u64 {
        let message = format!("the file has {length} bytes, the table needs {bytes}");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    options.map_raw(file)
}
