// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rows of a node, with a header for each bucket or each row, and its log.
//!
//! Initial rows are a function of the key ([`Transactions::initial`]), so a store holds only what
//! differs from them: the headers that were locked or changed, and the rows that were written.
//! A written row takes 25 bytes and its value, a header 33 bytes, both divided by how full the maps are
//! (between 7/16 and 7/8). With a million rows of 40 bytes written that was 114 bytes a row, headers
//! included.
//!
//! Beside its value a row has the version at which it was written. A replica that is still being filled
//! merges by it what is copied and what is written meanwhile, in any order. FaSST's table has only the
//! header's version; it says nothing about how replicas are filled.

pub mod item;
pub mod log;
mod partition;
mod replicas;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::engine::{Effects, Key, TransactionId, Work};
use crate::placement::{HeaderId, PartitionId, Partitioning, SLOTS};
use crate::transact::{Change, Transactions};

pub use item::{Item, Items};
use partition::Partition;
pub use partition::{CopiedRow, Header};

/// A row as it was found. Its value, if it is present, was appended to the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Found {
    /// The version of its header.
    pub version: u64,
    /// Who has locked its header.
    pub locked: Option<TransactionId>,
    /// Whether there is a row.
    pub present: bool,
    /// How many buckets were looked through; see [`Store::looks`].
    pub looks: u32,
}

/// Why something was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refused {
    /// Another transaction has locked the header.
    #[error("another transaction has locked the header")]
    Locked,
    /// The node has no replica of this partition, or there is no such table.
    #[error("the node has no replica of the key's partition, or there is no such table")]
    NotHere,
    /// A value does not have the length of its table's.
    #[error("a value does not have the length of its table's")]
    WrongLength,
}

/// The rows of a node.
#[derive(Clone, Debug)]
pub struct Store<T> {
    workload: T,
    layout: Arc<Partitioning>,
    /// One place for each partition; those without a replica here are empty.
    partitions: Vec<Option<Partition>>,
}

impl<T> PartialEq for Store<T> {
    /// The workload is one of a run and not compared.
    fn eq(&self, other: &Self) -> bool {
        self.layout == other.layout && self.partitions == other.partitions
    }
}

impl<T> Eq for Store<T> {}

impl<T> Hash for Store<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.partitions.hash(state);
    }
}

impl<T: Transactions> Store<T> {
    /// The initial rows of the partitions `held`.
    pub fn new(
        workload: T,
        layout: Arc<Partitioning>,
        held: impl IntoIterator<Item = PartitionId>,
    ) -> Self {
        let mut partitions = vec![None; usize::from(layout.partitions())];
        for partition in held {
            if let Some(place) = partitions.get_mut(partition.index()) {
                *place = Some(Partition::new(&layout));
            }
        }
        Self { workload, layout, partitions }
    }

    /// Where rows belong.
    pub fn layout(&self) -> &Arc<Partitioning> {
        &self.layout
    }

    /// The workload whose rows these are.
    pub fn workload(&self) -> &T {
        &self.workload
    }

    /// The header of a row.
    pub fn header_of(&self, key: Key) -> HeaderId {
        self.layout.header_of(key)
    }

    /// How many buckets a look-up of this key goes through: more than one if its chain has overflowed.
    /// A model, as the rows of a bucket at the start are not counted: it begins with as many as an
    /// average one, and rows that are made later are added.
    pub fn looks(&self, key: Key) -> u32 {
        self.header(self.header_of(key)).map_or(1, |header| self.looks_below(&header, key))
    }

    fn looks_below(&self, header: &Header, key: Key) -> u32 {
        let made = i64::from(header.rows_made);
        let rows = i64::from(self.layout.rows_of_bucket(key.table)) + made;
        1 + (rows - 1).max(0) as u32 / SLOTS
    }

    /// Reads a row, appends its value to `value`.
    ///
    /// # Errors
    /// When the row does not belong here.
    #[inline]
    pub fn read(&self, key: Key, value: &mut Vec<u8>) -> Result<Found, Refused> {
        let id = self.header_of(key);
        let partition = self.partition(id)?;
        let header = partition.header(id);
        // A row that was ever written has raised its header, so most rows need one look-up.
        let written = if header.version == 0 { None } else { partition.row(key) };
        let present = match written {
            Some(row) => {
                let bytes = partition.value_of(key, row);
                value.extend_from_slice(bytes.unwrap_or_default());
                bytes.is_some()
            }
            None => self.workload.initial(key, value),
        };
        let looks = self.looks_below(&header, key);
        Ok(Found { version: header.version, locked: header.holder(), present, looks })
    }

    /// Locks the header of a row for `by`, and returns its version. A header that `by` has locked already
    /// stays locked.
    ///
    /// # Errors
    /// When another has locked it, or when the row does not belong here.
    pub fn lock(&mut self, key: Key, by: TransactionId) -> Result<u64, Refused> {
        let id = self.header_of(key);
        let header = self.partition_mut(id)?.header_mut(id);
        match header.holder() {
            Some(holder) if holder != by => Err(Refused::Locked),
            _ => {
                header.set_holder(Some(by));
                Ok(header.version)
            }
        }
    }

    /// Unlocks the header of a row if `by` has locked it, and says whether it had.
    pub fn unlock(&mut self, key: Key, by: TransactionId) -> bool {
        let id = self.header_of(key);
        let Ok(partition) = self.partition_mut(id) else { return false };
        partition.unlock(id, by)
    }

    /// Unlocks all headers: the locks of a view are void when it ends.
    pub fn unlock_all(&mut self) {
        self.partitions.iter_mut().flatten().for_each(Partition::unlock_all);
    }

    /// Whether the header of a row still has this version, and is not locked by another than `by`: what
    /// validation asks.
    ///
    /// # Errors
    /// When the row does not belong here.
    pub fn is_unchanged(&self, key: Key, version: u64, by: TransactionId) -> Result<bool, Refused> {
        let id = self.header_of(key);
        let header = self.partition(id)?.header(id);
        Ok(header.version == version && header.holder().is_none_or(|holder| holder == by))
    }

    /// Applies a change at a replica, and says whether it was new: it is left out if the header is past
    /// it. The lock stays as it is; a primary unlocks the headers of a message when all of its changes
    /// are applied, as several may be under one header.
    ///
    /// # Errors
    /// When the row does not belong here, or its value has not the table's length.
    pub fn apply(&mut self, item: &Item<'_>) -> Result<bool, Refused> {
        let id = self.header_of(item.key);
        let expected = match item.change {
            Change::Delete => 0,
            Change::Update | Change::Insert => self.value_bytes(item.key)?,
        };
        if item.value.len() != expected {
            return Err(Refused::WrongLength);
        }
        Ok(self.partition_mut(id)?.apply(id, item))
    }

    /// Counts the work of a change beside its header: the row is looked up, and written, made or deleted.
    pub(crate) fn count_change(&self, item: &Item<'_>, out: &mut Effects) {
        out.work(Work::Look, self.looks(item.key));
        match item.change {
            Change::Update => out.work(Work::Write, 1),
            Change::Insert | Change::Delete => out.work(Work::Insert, 1),
        }
        out.work(Work::CopyLine, item.value.len().div_ceil(64) as u32);
    }

    /// Sets the version of a header back: a planted bug.
    #[cfg(feature = "mutants")]
    pub(crate) fn lower_version(&mut self, key: Key, version: u64) {
        let id = self.header_of(key);
        if let Ok(partition) = self.partition_mut(id) {
            partition.header_mut(id).version = version;
        }
    }

    fn value_bytes(&self, key: Key) -> Result<usize, Refused> {
        self.layout.value_bytes(key.table).map(usize::from).ok_or(Refused::NotHere)
    }

    /// Looks a header up, so that the processor has it near. Says something of it.
    #[inline]
    pub(crate) fn version_near(&self, key: Key) -> u32 {
        self.header(self.header_of(key)).map_or(0, |header| header.version as u32)
    }

    /// A header as it is; `None` if the row does not belong here.
    pub fn header(&self, id: HeaderId) -> Option<Header> {
        Some(self.partition(id).ok()?.header(id))
    }

    fn partition(&self, id: HeaderId) -> Result<&Partition, Refused> {
        if usize::from(id.table.0) >= self.layout.tables() {
            return Err(Refused::NotHere);
        }
        self.partitions.get(id.partition.index()).and_then(Option::as_ref).ok_or(Refused::NotHere)
    }

    fn partition_mut(&mut self, id: HeaderId) -> Result<&mut Partition, Refused> {
        if usize::from(id.table.0) >= self.layout.tables() {
            return Err(Refused::NotHere);
        }
        let place = self.partitions.get_mut(id.partition.index());
        place.and_then(Option::as_mut).ok_or(Refused::NotHere)
    }
}

#[cfg(test)]
mod tests;
