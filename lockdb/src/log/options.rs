// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options and basic types of a log.

use std::time::Duration;

use super::LogError;

/// A place between two records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogPosition {
    /// Identity of the store; a segment of another store is refused.
    pub store: u64,
    /// Written into every segment begun from here; never less than in the segments before. The log
    /// reads no other meaning into it.
    pub epoch: u64,
    /// The last commit number given before this place; 0 is none.
    pub commit: u64,
    /// The LSN of the next record: bytes of all records before it since the store's creation, a
    /// multiple of 8.
    pub lsn: u64,
}

/// How a log works; nothing here changes what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogOptions {
    /// Bytes of records in memory that no file has yet: a power of two from 4096 to 2³².
    pub ring_bytes: usize,
    /// Size from which on a segment file is followed by a new one.
    pub segment_bytes: u64,
    /// Commits under way at one time: a power of two from 2 to 2²⁰.
    pub commits_under_way: usize,
    /// How long a [`Durability::Group`] leader waits for company before it writes. Zero still groups
    /// all commits that come while an earlier sync is in progress.
    pub gather: Duration,
    /// The longest wait for another thread to finish what it has begun.
    pub timeout: Duration,
}

impl Default for LogOptions {
    /// 32 MiB of ring, segments of 64 MiB, 8192 commits, no gathering, timeout of a minute.
    fn default() -> Self {
        Self {
            ring_bytes: 32 << 20,
            segment_bytes: 64 << 20,
            commits_under_way: 8192,
            gather: Duration::ZERO,
            timeout: Duration::from_secs(60),
        }
    }
}

impl LogOptions {
    pub(super) fn check(&self) -> Result<(), LogError> {
        power_of_two("ring_bytes", self.ring_bytes as u64, 4096, 1 << 32)?;
        power_of_two("commits_under_way", self.commits_under_way as u64, 2, 1 << 20)
    }
}

fn power_of_two(option: &'static str, found: u64, least: u64, most: u64) -> Result<(), LogError> {
    if found.is_power_of_two() && (least..=most).contains(&found) {
        return Ok(());
    }
    Err(LogError::Option { option, found, least, most })
}

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A transaction that committed: its writes.
    Commit = 1,
    /// A commit number that came to nothing. Its body is zeros, whatever was to be written.
    Void = 2,
    /// A change of the schema.
    Schema = 3,
    /// Nothing but the header, whose `durable` vouches for all before it.
    Mark = 4,
    /// A transaction that committed, a part of whose versions stands in pages that a device had
    /// written before: which pages, and its other writes.
    NearData = 5,
}

impl Kind {
    pub(super) fn of(byte: u8) -> Option<Kind> {
        [Kind::Commit, Kind::Void, Kind::Schema, Kind::Mark, Kind::NearData]
            .into_iter()
            .find(|kind| *kind as u8 == byte)
    }
}

/// How durable a commit is when its transaction hears of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Not at all: a loss of power takes the newest commits, though never one out of the middle.
    None,
    /// Synced, together with as many others as [`LogOptions::gather`] brings.
    Group,
    /// Synced, without a wait for others.
    Immediate,
}
