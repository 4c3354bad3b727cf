// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device's address space: the memory that its host shares with it.
//!
//! No data of a client is trusted: sizes, permissions and the file of a map are checked when the
//! map is made, and each access is checked against the current maps. The access to a map depends on
//! what came with it (docs/function.md, "Memory of clients"):
//!
//! - memory of this process, and files that cannot shrink: mapped; everything works;
//! - files that can: by `pread` and `pwrite`, which cannot fault; bulk copies only, since nothing
//!   but mapped memory has words that change at once;
//! - no file: remembered so that it can be taken back, and never reached.
//!
//! A guest's memory is one file and comes in as many maps as its kernel likes, so what a map costs
//! the system is kept by file ([`files`]).

mod files;

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use driver::HostMemory;
use rustix::io::Errno;

use crate::memory::{LINE_BYTES, LostError, Mapping};
use files::{Files, Identity, Reached};

/// The grain of maps, in bytes: addresses, sizes and file offsets are multiples of it.
pub(crate) const PAGE_BYTES: u64 = driver::PAGE_BYTES as u64;

/// The most maps at a time. The kernel's VFIO has the same bound.
pub(crate) const MOST_MAPS: usize = 65_535;

/// Why a map was not made or not taken back; nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// A number is no multiple of the page size, or the size is 0.
    #[error("{field} of the map is 0x{value:X}, expected a multiple of 0x{PAGE_BYTES:X}, not 0")]
    Unaligned {
        /// Which one.
        field: &'static str,
        /// Its value.
        value: u64,
    },
    /// The last address is past 2^64 - 1.
    #[error("map of 0x{size:X} bytes at 0x{address:X}, expected an end within 64 bits")]
    Wraps {
        /// First address.
        address: u64,
        /// Bytes.
        size: u64,
    },
    /// It shares addresses with another map.
    #[error("map at 0x{address:X} overlaps the one at 0x{other:X}; take that back first")]
    Overlaps {
        /// First address.
        address: u64,
        /// First address of the other.
        other: u64,
    },
    /// There are as many maps as may be.
    #[error("there are {MOST_MAPS} maps already; take some back first")]
    TooMany,
    /// The maps lie in as many files as may be.
    #[error("the maps lie in {most} {kind} already; lend parts of one file, or take some back")]
    TooManyFiles {
        /// Which kind of files.
        kind: &'static str,
        /// How many there may be.
        most: usize,
    },
    /// No map begins at this address.
    #[error("no map begins at 0x{address:X}")]
    Missing {
        /// The address.
        address: u64,
    },
    /// The range to be taken back holds part of a map.
    #[error("0x{size:X} bytes from 0x{address:X} on hold part of the map at 0x{other:X}")]
    Splits {
        /// First address.
        address: u64,
        /// Bytes.
        size: u64,
        /// First address of the map.
        other: u64,
    },
    /// The file cannot be mapped so.
    #[error("cannot map 0x{size:X} bytes from byte 0x{offset:X} of the file on: {errno}")]
    File {
        /// Where in the file.
        offset: u64,
        /// Bytes.
        size: u64,
        /// The system's error.
        errno: Errno,
    },
}

/// The device's permissions for a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Permission {
    pub readable: bool,
    pub writable: bool,
}

/// An access that found nothing, or no permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessError {
    /// No map, or not the whole access in one.
    Unmapped,
    /// A map that does not allow it, or cannot do it.
    Forbidden,
}

impl From<LostError> for AccessError {
    fn from(_: LostError) -> Self {
        AccessError::Forbidden
    }
}

/// The maps by their first device address. They do not overlap, and each map with a file is one user
/// of it in `files`.
#[derive(Debug, Default)]
pub(crate) struct AddressSpace {
    maps: BTreeMap<u64, Map>,
    files: Files,
}

#[derive(Debug)]
struct Map {
    bytes: u64,
    permission: Permission,
    backing: Backing,
}

#[derive(Debug)]
enum Backing {
    /// Memory of this process.
    Memory(Mapping),
    /// A client's file, and where in it the map begins.
    File(Identity, Reached, u64),
    Unreachable,
}

/// Part of a map: where a bulk copy may read or write.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Span<'a> {
    /// In mapped memory, from this byte on.
    Mapped(&'a Mapping, usize),
    /// In a file that may shrink, from this byte on.
    Unsealed(&'a OwnedFd, u64),
}

impl AddressSpace {
    /// Lends memory of this process at `address`, for reading and writing.
    pub fn map_memory(&mut self, address: u64, memory: Arc<HostMemory>) -> Result<(), MapError> {
        let bytes = memory.bytes() as u64;
        self.check(address, bytes)?;
        let permission = Permission { readable: true, writable: true };
        let backing = Backing::Memory(Mapping::of_memory(memory));
        self.maps.insert(address, Map { bytes, permission, backing });
        Ok(())
    }

    /// Lends what a client has sent. True when it can be mapped, so that everything works on it.
    pub fn map_file(
        &mut self,
        address: u64,
        bytes: u64,
        file: Option<(OwnedFd, u64)>,
        permission: Permission,
    ) -> Result<bool, MapError> {
        self.check(address, bytes)?;
        let backing = match file {
            None => Backing::Unreachable,
            Some((file, offset)) => {
                let (identity, reached) =
                    self.files.lend(file, offset, bytes, permission.writable)?;
                Backing::File(identity, reached, offset)
            }
        };
        let mapped = matches!(backing, Backing::File(_, Reached::Mapped(_), _));
        self.maps.insert(address, Map { bytes, permission, backing });
        Ok(mapped)
    }

    /// Whether a map of this size may be made at this address.
    fn check(&self, address: u64, bytes: u64) -> Result<(), MapError> {
        for (field, value) in [("address", address), ("size", bytes)] {
            if !value.is_multiple_of(PAGE_BYTES) || field == "size" && value == 0 {
                return Err(MapError::Unaligned { field, value });
            }
        }
        let wraps = MapError::Wraps { address, size: bytes };
        let end = address.checked_add(bytes).ok_or(wraps)?;
        if let Some((&other, _)) = self.ends_within(address, end) {
            return Err(MapError::Overlaps { address, other });
        }
        if self.maps.len() >= MOST_MAPS {
            return Err(MapError::TooMany);
        }
        Ok(())
    }

    /// The last map that begins before `end`, if it ends after `start`.
    fn ends_within(&self, start: u64, end: u64) -> Option<(&u64, &Map)> {
        let last = self.maps.range(..end).next_back();
        last.filter(|(address, map)| *address + map.bytes > start)
    }

    /// Takes back the map that begins at `address`.
    pub fn unmap(&mut self, address: u64) -> Result<(), MapError> {
        let map = self.maps.remove(&address).ok_or(MapError::Missing { address })?;
        self.give_back(map);
        Ok(())
    }

    fn give_back(&mut self, map: Map) {
        if let Backing::File(identity, reached, _) = map.backing {
            drop(reached);
            self.files.give_back(identity);
        }
    }

    /// Takes back all maps in a range, and gives their number, which may be 0: a guest's kernel
    /// takes back more at once than it lent at once.
    pub fn unmap_range(&mut self, address: u64, bytes: u64) -> Result<usize, MapError> {
        let end = address.checked_add(bytes);
        let end = end.ok_or(MapError::Wraps { address, size: bytes })?;
        let splits = |other| MapError::Splits { address, size: bytes, other };
        if let Some((&other, _)) = self.ends_within(address, address) {
            return Err(splits(other));
        }
        if let Some((&other, map)) = self.ends_within(address, end)
            && other + map.bytes > end
        {
            return Err(splits(other));
        }
        let inside: Vec<u64> = self.maps.range(address..end).map(|(&first, _)| first).collect();
        for first in &inside {
            if let Some(map) = self.maps.remove(first) {
                self.give_back(map);
            }
        }
        Ok(inside.len())
    }

    /// How many files there were, since all maps were taken back, whose pages could not be obtained
    /// ([`Mapping::is_lost`]).
    pub fn lost_files(&self) -> usize {
        self.files.lost()
    }

    /// Takes all maps back.
    pub fn clear(&mut self) {
        self.maps.clear();
        self.files = Files::default();
    }

    /// Lends a mapping of a test's own.
    #[cfg(test)]
    pub fn map_mapping(&mut self, address: u64, bytes: u64, mapping: Mapping) {
        let permission = Permission { readable: true, writable: true };
        self.maps.insert(address, Map { bytes, permission, backing: Backing::Memory(mapping) });
    }

    /// Loads a line. `address` is a multiple of 64.
    pub fn line(&self, address: u64) -> Result<[u64; 8], AccessError> {
        let (mapping, offset) = self.mapped(address, LINE_BYTES as u64, Access::Read)?;
        Ok(mapping.line(offset)?)
    }

    /// Loads a word. `address` is a multiple of 8.
    pub fn load(&self, address: u64) -> Result<u64, AccessError> {
        let (mapping, offset) = self.mapped(address, 8, Access::Read)?;
        Ok(mapping.load(offset)?)
    }

    /// Stores a word. `address` is a multiple of 8.
    pub fn store(&self, address: u64, value: u64) -> Result<(), AccessError> {
        let (mapping, offset) = self.mapped(address, 8, Access::Write)?;
        Ok(mapping.store(offset, value)?)
    }

    /// Compares and swaps a word, and gives what stood there. `address` is a multiple of 8.
    pub fn compare_swap(&self, address: u64, expected: u64, new: u64) -> Result<u64, AccessError> {
        let (mapping, offset) = self.mapped(address, 8, Access::Update)?;
        Ok(mapping.compare_swap(offset, expected, new)?)
    }

    /// What a bulk copy finds at `address`, and how many bytes of it in one piece.
    pub fn span(&self, address: u64, access: Access) -> Result<(Span<'_>, u64), AccessError> {
        let (map, offset) = self.find(address, 1, access)?;
        let span = match &map.backing {
            Backing::Memory(mapping) => Span::Mapped(mapping, offset as usize),
            Backing::File(_, Reached::Mapped(mapping), start) => {
                Span::Mapped(mapping, (start + offset) as usize)
            }
            Backing::File(_, Reached::Open(file), start) => Span::Unsealed(file, start + offset),
            Backing::Unreachable => return Err(AccessError::Forbidden),
        };
        Ok((span, map.bytes - offset))
    }

    fn mapped(
        &self,
        address: u64,
        bytes: u64,
        access: Access,
    ) -> Result<(&Mapping, usize), AccessError> {
        let (map, offset) = self.find(address, bytes, access)?;
        match &map.backing {
            Backing::Memory(mapping) => Ok((mapping, offset as usize)),
            Backing::File(_, Reached::Mapped(mapping), start) => {
                Ok((mapping, (start + offset) as usize))
            }
            Backing::File(_, Reached::Open(_), _) | Backing::Unreachable => {
                Err(AccessError::Forbidden)
            }
        }
    }

    /// The map that holds these bytes, and where in it they begin.
    fn find(&self, address: u64, bytes: u64, access: Access) -> Result<(&Map, u64), AccessError> {
        let (start, map) = self.maps.range(..=address).next_back().ok_or(AccessError::Unmapped)?;
        let offset = address - start;
        if map.bytes.checked_sub(offset).is_none_or(|left| left < bytes) {
            return Err(AccessError::Unmapped);
        }
        let Permission { readable, writable } = map.permission;
        let allowed = match access {
            Access::Read => readable,
            Access::Write => writable,
            Access::Update => readable && writable,
        };
        if allowed { Ok((map, offset)) } else { Err(AccessError::Forbidden) }
    }
}

/// The effect of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    /// Both, at once.
    Update,
}

#[cfg(test)]
mod tests;
