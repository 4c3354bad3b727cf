// SPDX-License-Identifier: MIT OR Apache-2.0
//! A server's description of a region, checked.

use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, StatxFlags, statx};

use crate::device::Area;
use crate::message::fields::same;
use crate::message::{FieldError, MAX_AREAS, RegionDescription};

/// A region as the server describes it.
#[derive(Debug)]
pub struct RegionInfo {
    /// Bytes; 0: there is no such region.
    pub size: u64,
    /// May be read.
    pub readable: bool,
    /// May be written.
    pub writable: bool,
    /// May be mapped through `file`, which then is there.
    pub mappable: bool,
    /// Which parts may be mapped, each inside the region; empty and `mappable`: all of it.
    pub sparse: Vec<Area>,
    /// What to map. A regular file was at least `offset + size` long when it came; its owner may
    /// shorten it.
    pub file: Option<OwnedFd>,
    /// Where in the file the region starts.
    pub offset: u64,
}

impl RegionInfo {
    /// The parts that may be mapped.
    pub fn areas(&self) -> Vec<Area> {
        match (self.mappable, self.sparse.is_empty()) {
            (false, _) => Vec::new(),
            (true, true) => vec![Area { offset: 0, size: self.size }],
            (true, false) => self.sparse.clone(),
        }
    }
}

/// A region whose description agrees with itself and with the file that came along.
pub(super) fn checked_region(
    index: u32,
    region: RegionDescription,
    files: &mut Vec<OwnedFd>,
) -> Result<RegionInfo, FieldError> {
    let RegionDescription { size, offset, readable, writable, .. } = region;
    same("index", region.index, index)?;
    if region.sparse.len() > MAX_AREAS {
        return Err(FieldError::new(
            "nr_areas",
            region.sparse.len(),
            format!("at most {MAX_AREAS}"),
        ));
    }
    let file = files.pop().filter(|_| region.mappable);
    if let Some(file) = &file {
        file_covers(file, offset, size)?;
    }
    // Without a file there is nothing to map, whatever the flags say.
    let mappable = file.is_some();
    let sparse = if mappable { region.sparse } else { Vec::new() };
    Ok(RegionInfo { size, readable, writable, mappable, sparse, file, offset })
}

/// A regular file must be as long as what is to be mapped of it, or accesses would end in `SIGBUS`.
fn file_covers(file: &OwnedFd, offset: u64, size: u64) -> Result<(), FieldError> {
    let end = offset
        .checked_add(size)
        .ok_or_else(|| FieldError::new("offset", offset, "the region to end below 2^64"))?;
    // Without asking its file system, which may be a process of the server's that never answers.
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    let status = statx(file, c"", flags, StatxFlags::TYPE | StatxFlags::SIZE)
        .map_err(|errno| FieldError::new("descriptor", errno, "one whose status can be read"))?;
    let length = status.stx_size;
    let kind = FileType::from_raw_mode(status.stx_mode.into());
    if kind == FileType::RegularFile && length < end {
        return Err(FieldError::new(
            "descriptor",
            format!("{length} bytes long"),
            format!("at least {end}"),
        ));
    }
    Ok(())
}
