// SPDX-License-Identifier: MIT OR Apache-2.0
//! The log of a node: records of transactions that have decided to commit, until all of their replicas
//! are known to have them.
//!
//! A coordinator numbers its attempts, and each of its workers has one at a time. So it truncates by a
//! count: all records of a worker up to its last attempt whose replicas have answered.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::engine::TransactionId;

/// A record as it is kept, in the form of its protocol (`recovery::Records`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Record {
    count: u32,
    items: Vec<u8>,
}

/// The log of a node.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// The records of each worker of each node, in the order of its attempts.
    workers: HashMap<u32, Vec<Record>, FixedState>,
    records: usize,
    /// Buffers to be used again.
    spare: Vec<Vec<u8>>,
}

/// A worker of the cluster: the name of its transactions without the count.
fn worker_of(transaction: TransactionId) -> u32 {
    (transaction.0 >> 32) as u32
}

fn name(worker: u32, count: u32) -> TransactionId {
    TransactionId(u64::from(worker) << 32 | u64::from(count))
}

impl Log {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the record of `transaction`, whose items are `items`. One that is here already stays.
    /// Returns whether it is new.
    pub fn append(&mut self, transaction: TransactionId, items: &[u8]) -> bool {
        self.merge(transaction, items, |_, _| false)
    }

    /// Appends the record of `transaction`. If one is here already, `merge` adds to it what the other has, and says
    /// whether that was more. Returns whether there is more than before.
    pub fn merge(
        &mut self,
        transaction: TransactionId,
        items: &[u8],
        merge: impl FnOnce(&mut Vec<u8>, &[u8]) -> bool,
    ) -> bool {
        let records = self.workers.entry(worker_of(transaction)).or_default();
        let count = transaction.count();
        let at = records.partition_point(|record| record.count < count);
        if let Some(record) = records.get_mut(at).filter(|record| record.count == count) {
            return merge(&mut record.items, items);
        }
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.extend_from_slice(items);
        records.insert(at, Record { count, items: buffer });
        self.records += 1;
        true
    }

    /// Appends the record of `transaction` in place of the earlier ones of its worker, all of whose replicas
    /// have them. One that is here already stays. Returns whether it is new.
    pub fn replace(&mut self, transaction: TransactionId, items: &[u8]) -> bool {
        let records = self.workers.entry(worker_of(transaction)).or_default();
        let count = transaction.count();
        let earlier = records.partition_point(|record| record.count < count);
        let is_new = records.get(earlier).is_none_or(|record| record.count != count);
        let mut buffer = match (is_new, records[..earlier].last_mut()) {
            (true, Some(last)) => std::mem::take(&mut last.items),
            _ => self.spare.pop().unwrap_or_default(),
        };
        self.records -= earlier;
        for mut record in records.drain(..earlier).filter(|record| !record.items.is_empty()) {
            record.items.clear();
            self.spare.push(record.items);
        }
        buffer.clear();
        if is_new {
            buffer.extend_from_slice(items);
            records.insert(0, Record { count, items: buffer });
            self.records += 1;
        } else {
            self.spare.push(buffer);
        }
        is_new
    }

    /// Removes the records of the worker of `last` up to its attempt `last`, and returns how many there
    /// were.
    pub fn truncate(&mut self, last: TransactionId) -> usize {
        let Some(records) = self.workers.get_mut(&worker_of(last)) else { return 0 };
        let end = records.partition_point(|record| record.count <= last.count());
        for mut record in records.drain(..end) {
            record.items.clear();
            self.spare.push(record.items);
        }
        self.records -= end;
        end
    }

    /// Keeps the records of some transactions alone.
    pub fn retain(&mut self, mut keeps: impl FnMut(TransactionId) -> bool) {
        for (worker, records) in &mut self.workers {
            records.retain(|record| keeps(name(*worker, record.count)));
        }
        self.records = self.workers.values().map(Vec::len).sum();
    }

    /// Removes all records.
    pub fn clear(&mut self) {
        self.workers.clear();
        self.records = 0;
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.records
    }

    /// The items of a transaction's record, if it is here.
    pub fn record(&self, transaction: TransactionId) -> Option<&[u8]> {
        let records = self.workers.get(&worker_of(transaction))?;
        let at = records.binary_search_by_key(&transaction.count(), |record| record.count);
        Some(&records[at.ok()?].items)
    }

    /// Changes the record of a transaction, if it is here.
    pub fn change(&mut self, transaction: TransactionId, change: impl FnOnce(&mut [u8])) {
        let Some(records) = self.workers.get_mut(&worker_of(transaction)) else { return };
        if let Ok(at) = records.binary_search_by_key(&transaction.count(), |record| record.count) {
            change(&mut records[at].items);
        }
    }

    /// All records in the order of their transactions' names.
    pub fn records(&self) -> Vec<(TransactionId, &[u8])> {
        let mut all = Vec::with_capacity(self.records);
        for (worker, records) in &self.workers {
            let records = records.iter();
            all.extend(records.map(|record| (name(*worker, record.count), &record.items[..])));
        }
        all.sort_unstable_by_key(|(transaction, _)| *transaction);
        all
    }
}

impl PartialEq for Log {
    /// Workers without records do not count.
    fn eq(&self, other: &Self) -> bool {
        self.records == other.records
            && self.workers.iter().all(|(worker, records)| {
                records.is_empty() || other.workers.get(worker) == Some(records)
            })
    }
}

impl Eq for Log {}

impl Hash for Log {
    /// The entries of a map have no order, so their hashes are added up.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let with = FixedState::default();
        let workers = self.workers.iter().filter(|(_, records)| !records.is_empty());
        workers.map(|entry| with.hash_one(entry)).fold(0, u64::wrapping_add).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::NodeId;

    fn name(worker: u8, count: u32) -> TransactionId {
        TransactionId::new(NodeId(3), 1, worker, count)
    }

    #[test]
    fn a_worker_truncates_its_own_records_alone() {
        let mut log = Log::new();
        for (worker, count) in [(0, 1), (0, 3), (1, 2), (0, 2)] {
            assert!(log.append(name(worker, count), &[worker, count as u8]));
        }
        assert!(!log.append(name(1, 2), &[]));
        assert_eq!(log.truncate(name(0, 2)), 2);
        assert_eq!(log.records(), [(name(0, 3), &[0, 3][..]), (name(1, 2), &[1, 2])]);
        assert_eq!(log.record(name(1, 2)), Some(&[1, 2][..]));
        assert_eq!(log.record(name(0, 2)), None);
        assert_eq!((log.truncate(name(0, 9)), log.truncate(name(1, 9)), log.len()), (1, 1, 0));
    }

    #[test]
    fn a_record_replaces_the_earlier_ones_of_its_worker() {
        let mut log = Log::new();
        for count in [1, 2, 7] {
            assert!(log.append(name(0, count), &[count as u8; 3]));
        }
        assert!(log.replace(name(0, 5), &[5]));
        assert!(log.replace(name(1, 1), &[1]));
        assert!(!log.replace(name(0, 7), &[9]));
        assert_eq!(log.records(), [(name(0, 7), &[7; 3][..]), (name(1, 1), &[1])]);
        assert!(log.replace(name(0, 8), &[8]));
        assert_eq!(log.records(), [(name(0, 8), &[8][..]), (name(1, 1), &[1])]);
        assert_eq!(log.len(), 2);
    }

    #[test]
    fn equal_logs_hash_equally_whatever_was_before() {
        let with = FixedState::default();
        let (mut one, mut other) = (Log::new(), Log::new());
        for count in 0..40 {
            one.append(name(count as u8, count), &[7]);
        }
        for count in (0..40).rev() {
            assert_ne!(one, other);
            other.append(name(count as u8, count), &[7]);
        }
        other.append(name(50, 1), &[1]);
        other.truncate(name(50, 1));
        assert_eq!(one, other);
        assert_eq!(with.hash_one(&one), with.hash_one(&other));
    }
}
