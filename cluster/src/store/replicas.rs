// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replicas of a store as wholes: made, filled, dropped and compared.

use super::partition::Partition;
use super::{CopiedRow, Refused, Store};
use crate::engine::{Key, TableNumber, TransactionId};
use crate::placement::{HeaderId, PartitionId};
use crate::transact::Transactions;

impl<T: Transactions> Store<T> {
    /// Whether this node has a replica of `partition`, filled or not.
    pub fn has(&self, partition: PartitionId) -> bool {
        self.replica(partition).is_some()
    }

    /// Whether this node has a replica of `partition` that is still to be filled.
    pub fn is_filling(&self, partition: PartitionId) -> bool {
        self.replica(partition).is_some_and(|replica| replica.is_filling)
    }

    /// Makes an empty replica that is to be filled, if there is none.
    pub fn begin_filling(&mut self, partition: PartitionId) {
        let Some(place) = self.partitions.get_mut(partition.index()) else { return };
        if place.is_none() {
            let mut replica = Partition::new(&self.layout);
            replica.is_filling = true;
            *place = Some(replica);
        }
    }

    /// All rows have been copied to this replica.
    pub fn end_filling(&mut self, partition: PartitionId) {
        if let Some(Some(replica)) = self.partitions.get_mut(partition.index()) {
            replica.is_filling = false;
        }
    }

    /// Drops a replica.
    pub fn drop_replica(&mut self, partition: PartitionId) {
        if let Some(place) = self.partitions.get_mut(partition.index()) {
            *place = None;
        }
    }

    /// Drops all replicas: of a process that has lost its memory.
    pub fn drop_all(&mut self) {
        self.partitions.fill(None);
    }

    /// The keys of all rows of a replica that were ever written, in order.
    pub fn written(&self, partition: PartitionId) -> Vec<Key> {
        self.replica(partition).map_or_else(Vec::new, Partition::written)
    }

    /// A row that was written, as it is copied to another replica.
    pub fn copied(&self, key: Key) -> Option<CopiedRow<'_>> {
        let id = self.header_of(key);
        let replica = self.partition(id).ok()?;
        let row = replica.row(key)?;
        let header_version = replica.header(id).version;
        Some(CopiedRow {
            key,
            header_version,
            version: row.version,
            value: replica.value_of(key, row),
        })
    }

    /// Takes a row that was copied from another replica.
    ///
    /// # Errors
    /// When the row does not belong here, or its value has not the table's length.
    pub fn merge(&mut self, row: &CopiedRow<'_>) -> Result<(), Refused> {
        let expected = self.value_bytes(row.key)?;
        if row.value.is_some_and(|value| value.len() != expected) {
            return Err(Refused::WrongLength);
        }
        let id = self.header_of(row.key);
        self.partition_mut(id)?.merge(id, row);
        Ok(())
    }

    /// Forgets that a row was written: a planted bug.
    #[cfg(feature = "mutants")]
    pub(crate) fn forget(&mut self, key: Key) {
        let id = self.header_of(key);
        if let Ok(partition) = self.partition_mut(id) {
            partition.forget(key);
        }
    }

    /// A locked header, if there is one: the smallest, with its holder.
    pub fn locked(&self) -> Option<(HeaderId, TransactionId)> {
        let held = self.layout.all().filter_map(|id| Some((id, self.replica(id)?)));
        let locked = held.flat_map(|(partition, replica)| {
            let locked = replica.locked();
            locked.map(move |(table, bucket, by)| (HeaderId { partition, table, bucket }, by))
        });
        locked.min()
    }

    /// The first difference between this node's replica of a partition and another's, in words: versions
    /// of headers, then rows, whether written or as at the start. `None` if there is none, or if one of
    /// the two has no replica.
    pub fn difference(&self, other: &Self, partition: PartitionId) -> Option<String> {
        let (ours, theirs) = (self.replica(partition)?, other.replica(partition)?);
        for table in (0..self.layout.tables()).map(|table| TableNumber(table as u8)) {
            let (a, b) = (ours.versions(table), theirs.versions(table));
            if let Some(at) = (0..a.len().max(b.len())).find(|at| a.get(*at) != b.get(*at)) {
                let (a, b) = (a.get(at), b.get(at));
                return Some(format!(
                    "table {}, header (bucket or row, version): {a:?} and {b:?}",
                    table.0
                ));
            }
        }
        let mut keys = ours.written();
        keys.extend(theirs.written());
        keys.sort_unstable();
        keys.dedup();
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for key in keys {
            a.clear();
            b.clear();
            let found =
                (self.read(key, &mut a).ok()?.present, other.read(key, &mut b).ok()?.present);
            if found.0 != found.1 || a != b {
                let (a, b) = (found.0.then_some(&a), found.1.then_some(&b));
                return Some(format!("table {}, row {}: {a:?} and {b:?}", key.table.0, key.row));
            }
        }
        None
    }

    /// The bytes that this node's replicas take beside the initial rows.
    pub fn bytes(&self) -> usize {
        self.partitions.iter().flatten().map(Partition::bytes).sum()
    }

    fn replica(&self, partition: PartitionId) -> Option<&Partition> {
        self.partitions.get(partition.index())?.as_ref()
    }
}
