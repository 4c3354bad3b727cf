// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checks of maps and descriptors before a device sees them.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use rustix::fs::{OFlags, fcntl_get_seals, fcntl_getfl, fstat, readlink};
use rustix::io::Errno;

use crate::message::{DmaRange, MAX_MAPS, PAGE};

/// The client's maps. No two overlap, each is as the device was told.
#[derive(Debug, Default)]
pub(super) struct Maps {
    /// Last device address, by the first.
    ranges: BTreeMap<u64, u64>,
}

impl Maps {
    /// Whether a map may be made.
    ///
    /// # Errors
    /// `EINVAL`: not on pages; `EEXIST`: overlaps another; `ENOSPC`: too many.
    pub(super) fn check(&self, range: DmaRange) -> Result<u64, Errno> {
        let last = range.last().map_err(|_| Errno::INVAL)?;
        if !range.address.is_multiple_of(PAGE) || !range.size.is_multiple_of(PAGE) {
            return Err(Errno::INVAL);
        }
        let before = self.ranges.range(..=last).next_back();
        if before.is_some_and(|(_, &before)| before >= range.address) {
            return Err(Errno::EXIST);
        }
        if self.ranges.len() >= MAX_MAPS {
            return Err(Errno::NOSPC);
        }
        Ok(last)
    }

    /// Notes a map that [`Self::check`] allowed and the device has made.
    pub(super) fn insert(&mut self, range: DmaRange, last: u64) {
        debug_assert_eq!(self.check(range), Ok(last), "checked before the device was asked");
        self.ranges.insert(range.address, last);
    }

    /// Takes out the maps inside the range, if none sticks out. There may be none: so it is with the
    /// kernel's VFIO, and QEMU unmaps whole address spaces in which little is mapped.
    ///
    /// # Errors
    /// `EINVAL`: a map sticks out. Nothing has changed then.
    pub(super) fn remove(&mut self, range: DmaRange) -> Result<Vec<DmaRange>, Errno> {
        let last = range.last().map_err(|_| Errno::INVAL)?;
        let touched = |(&first, &end): (&u64, &u64)| {
            let size = end - first + 1;
            (DmaRange { address: first, size }, first < range.address || end > last)
        };
        let overlapping = self
            .ranges
            .range(..=last)
            .rev()
            .take_while(|(_, end)| **end >= range.address)
            .map(touched)
            .collect::<Vec<_>>();
        if overlapping.iter().any(|(_, sticks_out)| *sticks_out) {
            return Err(Errno::INVAL);
        }
        for (map, _) in &overlapping {
            self.ranges.remove(&map.address);
        }
        Ok(overlapping.into_iter().map(|(map, _)| map).collect())
    }

    /// Takes out all maps; returns their sizes' sum.
    pub(super) fn clear(&mut self) -> u64 {
        let ranges = std::mem::take(&mut self.ranges);
        ranges.into_iter().map(|(first, last)| last - first + 1).fold(0, u64::saturating_add)
    }
}

/// Whether a file can be what a map says: memory (a memfd, or a file of tmpfs or hugetlbfs), opened
/// for what the map allows, and long enough. It may be shortened later; the device has to live with
/// that. Files of other file systems are not taken: each access to one, even the question how long it
/// is, may wait for a disk, a network, or a process that the client has made its file system.
///
/// # Errors
/// `EINVAL`: no file in memory, too short, or not on pages; `EACCES`: not opened for it.
pub(super) fn check_map_file(
    file: &OwnedFd,
    offset: u64,
    size: u64,
    writable: bool,
) -> Result<(), Errno> {
    // Only files in memory have seals, if only none. Asks no file system.
    fcntl_get_seals(file).map_err(|_| Errno::INVAL)?;
    let length = u64::try_from(fstat(file)?.st_size).map_err(|_| Errno::INVAL)?;
    let end = offset.checked_add(size).ok_or(Errno::INVAL)?;
    if length < end || !offset.is_multiple_of(PAGE) {
        return Err(Errno::INVAL);
    }
    match fcntl_getfl(file)? & OFlags::RWMODE {
        OFlags::RDWR => Ok(()),
        OFlags::RDONLY if !writable => Ok(()),
        _ => Err(Errno::ACCESS),
    }
}

/// Whether a descriptor is an event. Nothing is changed of it: that it does not block is not for us to
/// say, for its flags are the client's as much as ours.
///
/// # Errors
/// `EINVAL`: it is something else.
pub(super) fn check_event(file: &OwnedFd) -> Result<(), Errno> {
    use std::os::fd::AsRawFd;
    let name = format!("/proc/self/fd/{}", file.as_raw_fd());
    let target = readlink(name, Vec::new())?;
    if target.as_bytes() == b"anon_inode:[eventfd]" { Ok(()) } else { Err(Errno::INVAL) }
}
