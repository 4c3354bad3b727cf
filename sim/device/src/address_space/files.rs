// SPDX-License-Identifier: MIT OR Apache-2.0
//! The files that a client's maps lie in. Each is mapped, or held open, once for all of its maps, so
//! that a client costs the system no more than its files do, and these are bounded.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{OFlags, fcntl_getfl, fstat};
use rustix::io::Errno;

use super::{MapError, PAGE_BYTES};
use crate::memory::{self, Mapping};

/// The most files that are mapped at a time. A process may have 65,530 mappings
/// (`vm.max_map_count`), and ends when its allocator gets none any more.
pub(super) const MOST_MAPPED: usize = 8192;

/// The most files that are held open at a time, of the 1,024 descriptors that a process has by
/// custom (`ulimit -n`).
pub(super) const MOST_OPEN: usize = 256;

/// The most bytes that are mapped, in sum. Some of the 47 bits of addresses that a process has must
/// be left for everything else: a client can name more memory than there are addresses.
const MOST_BYTES: u64 = 1 << 44;

/// Which file a descriptor leads to, and how it is reached. The inode's number is its own for as long
/// as the file is mapped or open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
    way: Way,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    /// Mapped, with so many bytes: it may have grown since another map of it was made.
    Mapped { writable: bool, bytes: u64 },
    /// By system calls, opened like this.
    Open { mode: u32 },
}

/// A file as its maps share it.
#[derive(Debug, Clone)]
pub(super) enum Reached {
    /// It cannot shrink: all of it, mapped.
    Mapped(Arc<Mapping>),
    /// It can: only ever read and written.
    Open(Arc<OwnedFd>),
}

impl Reached {
    fn is_lost(&self) -> bool {
        matches!(self, Reached::Mapped(mapping) if mapping.is_lost())
    }
}

/// All files of a client.
///
/// Invariant: each entry has as many users as maps lie in it, at least one; `mapped`, `open` and
/// `bytes` are the sums over all entries.
#[derive(Debug, Default)]
pub(super) struct Files {
    entries: BTreeMap<Identity, Entry>,
    mapped: usize,
    open: usize,
    /// Bytes that are mapped.
    bytes: u64,
    /// Files that were lost and have no map any more.
    lost: usize,
}

#[derive(Debug)]
struct Entry {
    reached: Reached,
    users: usize,
}

impl Files {
    /// A map of `bytes` bytes from `offset` on of a file becomes a user of it. What was sent is
    /// closed, if the file is known already.
    pub fn lend(
        &mut self,
        file: OwnedFd,
        offset: u64,
        bytes: u64,
        writable: bool,
    ) -> Result<(Identity, Reached), MapError> {
        if !offset.is_multiple_of(PAGE_BYTES) {
            return Err(MapError::Unaligned { field: "file offset", value: offset });
        }
        let refused = |errno| MapError::File { offset, size: bytes, errno };
        let end = offset.checked_add(bytes).ok_or(refused(Errno::OVERFLOW))?;
        let way = way(&file, end, writable).map_err(refused)?;
        let status = fstat(&file).map_err(refused)?;
        let identity = Identity { device: status.st_dev, inode: status.st_ino, way };
        if let Some(entry) = self.entries.get_mut(&identity) {
            entry.users += 1;
            return Ok((identity, entry.reached.clone()));
        }
        let reached = match way {
            Way::Mapped { writable, bytes } => {
                check_number("mapped files", self.mapped, MOST_MAPPED)?;
                if bytes > MOST_BYTES - self.bytes {
                    return Err(refused(Errno::NOMEM));
                }
                let mapping = Mapping::of_file(&file, bytes, writable).map_err(refused)?;
                self.mapped += 1;
                self.bytes += bytes;
                Reached::Mapped(Arc::new(mapping))
            }
            Way::Open { .. } => {
                check_number("files that may shrink", self.open, MOST_OPEN)?;
                self.open += 1;
                Reached::Open(Arc::new(file))
            }
        };
        self.entries.insert(identity, Entry { reached: reached.clone(), users: 1 });
        Ok((identity, reached))
    }

    /// How many files there were whose pages could not be obtained.
    pub fn lost(&self) -> usize {
        let lost = self.entries.values().filter(|entry| entry.reached.is_lost());
        self.lost + lost.count()
    }

    /// A map that was a user of a file is gone.
    pub fn give_back(&mut self, identity: Identity) {
        let entry = self.entries.get_mut(&identity).expect("its maps keep a file");
        entry.users -= 1;
        if entry.users > 0 {
            return;
        }
        self.lost += usize::from(entry.reached.is_lost());
        self.entries.remove(&identity);
        match identity.way {
            Way::Mapped { bytes, .. } => {
                self.mapped -= 1;
                self.bytes -= bytes;
            }
            Way::Open { .. } => self.open -= 1,
        }
    }
}

/// How a file is to be reached of which the bytes before `end` are lent.
fn way(file: &OwnedFd, end: u64, writable: bool) -> Result<Way, Errno> {
    let mode = fcntl_getfl(file)? & OFlags::RWMODE;
    let Some(bytes) = memory::sealed_bytes(file)? else {
        return Ok(Way::Open { mode: mode.bits() });
    };
    if end > bytes {
        return Err(Errno::INVAL);
    }
    // As for a mapping of its own, which needs reading for anything.
    match mode {
        OFlags::RDWR => Ok(Way::Mapped { writable, bytes }),
        OFlags::RDONLY if !writable => Ok(Way::Mapped { writable, bytes }),
        _ => Err(Errno::ACCESS),
    }
}

fn check_number(kind: &'static str, number: usize, most: usize) -> Result<(), MapError> {
    if number < most { Ok(()) } else { Err(MapError::TooManyFiles { kind, most }) }
}
