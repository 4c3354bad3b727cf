// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory of a table: lines that other threads, processes and devices share.

use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::Bucket;

/// What the table's memory is mapped from.
#[derive(Debug)]
pub enum Backing<'a> {
    /// Memory of this process: threads and devices in it can share the table.
    Private,
    /// A file, at least as long as the table: every process that maps it shares the table. No
    /// process may shorten it while it is mapped: the system ends a process that touches what is no
    /// longer there.
    Shared(&'a File),
    /// External memory, at least as long as the table, used from its first byte on; such
    /// as that which a device was given.
    Given(Arc<dyn SharedMemory>),
}

/// Memory of this process with another owner, which devices and other processes may
/// change at any time.
///
/// # Safety
/// From its making until it is dropped,
/// 1. [`SharedMemory::start`] and [`SharedMemory::bytes`] always give the same;
/// 2. so many bytes from there on stay mapped, readable and writable, and are initialised;
/// 3. this process touches them by atomics alone, and nobody holds a reference to them as anything
///    else.
pub unsafe trait SharedMemory: Debug + Send + Sync {
    /// The address of its first byte in this process.
    fn start(&self) -> NonNull<u8>;

    /// Its size in bytes.
    fn bytes(&self) -> usize;
}

/// An array of buckets in memory.
#[derive(Debug)]
pub struct TableMemory {
    /// The first of `buckets` lines. Invariant: they lie in the memory of `_owner`, which keeps it
    /// in its place.
    lines: NonNull<Bucket>,
    buckets: usize,
    huge_pages: bool,
    _owner: Owner,
}

/// Whatever keeps the memory alive until it is dropped.
type Owner = Box<dyn Debug + Send + Sync>;

// SAFETY: the lines are reached through `buckets` alone, as shared references to `Bucket`, which is
// `Sync`; their owner is `Send`.
unsafe impl Send for TableMemory {}
// SAFETY: as above; the owner is `Sync`, too.
unsafe impl Sync for TableMemory {}

impl TableMemory {
    /// Maps `buckets` empty lines, or the lines that stand in the file or in the given memory.
    ///
    /// Private memory comes in huge pages when the system has any reserved, else the system is
    /// asked to make some of its own accord.
    ///
    /// # Errors
    /// When the system refuses the mapping; when the file or the memory is too short; when the
    /// memory does not begin at a multiple of 64 bytes.
    pub fn map(buckets: usize, backing: Backing<'_>) -> io::Result<Self> {
        match backing {
            #[cfg(not(loom))]
            Backing::Given(memory) => Self::given(buckets, memory),
            #[cfg(not(any(loom, miri)))]
            Backing::Private | Backing::Shared(_) => Self::mapped(buckets, backing),
            // Neither `loom` nor Miri maps memory; and under `loom` a bucket is no line.
            #[cfg(any(loom, miri))]
            _ => Ok(Self::made(buckets)),
        }
    }

    #[cfg(not(any(loom, miri)))]
    fn mapped(buckets: usize, backing: Backing<'_>) -> io::Result<Self> {
        let bytes = buckets * size_of::<Bucket>();
        let mut options = memmap2::MmapOptions::new();
        options.len(bytes);
        let (map, huge_pages): (memmap2::MmapRaw, bool) = match backing {
            Backing::Shared(file) => {
                check_length("file", file.metadata()?.len(), bytes)?;
                (options.map_raw(file)?, false)
            }
            _ => match options.clone().huge(Some(21)).map_anon() {
                Ok(map) => (map.into(), true),
                Err(_) => {
                    let map = options.map_anon()?;
                    let asked = map.advise(memmap2::Advice::HugePage).is_ok();
                    (map.into(), asked)
                }
            },
        };
        // The mapping is `bytes` long and begins with a page.
        let lines = NonNull::new(map.as_mut_ptr().cast()).expect("a mapping is not at address 0");
        Ok(Self { lines, buckets, huge_pages, _owner: Box::new(map) })
    }

    #[cfg(not(loom))]
    fn given(buckets: usize, memory: Arc<dyn SharedMemory>) -> io::Result<Self> {
        check_length("memory", memory.bytes() as u64, buckets * size_of::<Bucket>())?;
        let lines = memory.start().cast::<Bucket>();
        if !lines.is_aligned() {
            let message = format!("the memory begins at {lines:p}, expected a multiple of 64");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        Ok(Self { lines, buckets, huge_pages: false, _owner: Box::new(memory) })
    }

    #[cfg(any(loom, miri))]
    fn made(buckets: usize) -> Self {
        let storage: Arc<[Bucket]> = (0..buckets).map(|_| Bucket::default()).collect();
        let lines = NonNull::new(Arc::as_ptr(&storage).cast::<Bucket>().cast_mut());
        let lines = lines.expect("an Arc is not at address 0");
        Self { lines, buckets, huge_pages: false, _owner: Box::new(storage) }
    }

    /// Whether the memory is in huge pages, or the system was asked for them and agreed. Of given
    /// memory its owner knows.
    pub fn has_huge_pages(&self) -> bool {
        self.huge_pages
    }

    /// The lines.
    #[inline]
    pub fn buckets(&self) -> &[Bucket] {
        // SAFETY: by the invariant of `lines` there are so many, which live as long as `self`. They
        // are aligned (pages, an array of buckets, or checked in `given`) and only ever touched
        // through atomics (`Bucket` has nothing else, and `SharedMemory` says so of others), for
        // which every bit pattern is valid; so other threads, processes or devices may change them.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr(), self.buckets) }
    }
}

#[cfg(not(loom))]
fn check_length(what: &str, length: u64, needed: usize) -> io::Result<()> {
    if length >= needed as u64 {
        return Ok(());
    }
    let message = format!("the {what} has {length} bytes, the table needs {needed}");
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}
