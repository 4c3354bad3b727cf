// SPDX-License-Identifier: MIT OR Apache-2.0
//! The shared lock table.

use std::io;

use crate::machine::{Bounds, Machine, Outcome, Repair, RepairStep, Request, Rule};
use crate::memory::{Backing, TableMemory};
use crate::parking::Parking;
use crate::primitive::{Mutex, lock};
use crate::{Bucket, Statistics, Timestamp, TupleKey, Worker};

/// A power of two of buckets in memory that host threads and devices share.
///
/// Costs 64 bytes a bucket; waiting transactions cost nothing here beyond their own handles.
#[derive(Debug)]
pub struct LockTable {
    memory: TableMemory,
    mask: usize,
    parking: Parking,
    statistics: Mutex<Statistics>,
}

/// Why a table could not be made.
#[derive(Debug, thiserror::Error)]
pub enum LockTableError {
    /// The number of buckets is impossible.
    #[error("buckets = {found}: expected a power of two from 1 to 2^32")]
    Buckets {
        /// The requested operation.
        found: usize,
    },
    /// The system refused the memory.
    #[error("cannot map {bytes} bytes for the lock table: {source}")]
    Memory {
        /// The table's size.
        bytes: usize,
        /// The system's reason.
        source: io::Error,
    },
}

/// What [`LockTable::repair`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Buckets in which the dead had left something.
    pub buckets: usize,
    /// Locks of the dead that went to a waiter.
    pub handed_over: usize,
}

/// Few enough to cost nothing, enough that sleepers of different buckets seldom meet.
const PARKING_LOTS: usize = if cfg!(loom) { 1 } else { 64 };

impl LockTable {
    /// A table of `buckets` empty buckets in this process's memory, in huge pages when they can be
    /// had.
    ///
    /// # Errors
    /// When `buckets` is not a power of two up to 2³², or the memory cannot be allocated.
    pub fn new(buckets: usize) -> Result<Self, LockTableError> {
        Self::in_memory(buckets, Backing::Private)
    }

    /// A table in memory of the given kind. A shared file and external memory are taken as
    /// they are: a table that others are using already, or zeroes.
    ///
    /// # Errors
    /// As [`LockTable::new`].
    pub fn in_memory(buckets: usize, backing: Backing<'_>) -> Result<Self, LockTableError> {
        if !buckets.is_power_of_two() || buckets > 1 << 32 {
            return Err(LockTableError::Buckets { found: buckets });
        }
        let bytes = buckets * size_of::<Bucket>();
        let memory = TableMemory::map(buckets, backing)
            .map_err(|source| LockTableError::Memory { bytes, source })?;
        let (parking, statistics) = (Parking::new(PARKING_LOTS), Mutex::default());
        Ok(Self { memory, mask: buckets - 1, parking, statistics })
    }

    /// A handle for one thread, which counts what the thread does.
    pub fn worker(&self) -> Worker<'_> {
        Worker::new(self)
    }

    /// All buckets.
    #[inline]
    pub fn buckets(&self) -> &[Bucket] {
        self.memory.buckets()
    }

    /// The memory that the table stands in.
    pub fn memory(&self) -> &TableMemory {
        &self.memory
    }

    /// The index of a tuple version's bucket.
    #[inline]
    pub fn bucket_of(&self, key: TupleKey) -> usize {
        key.mix() as usize & self.mask
    }

    /// Asks once for a lock, without waiting.
    #[inline]
    pub fn acquire(&self, transaction: Timestamp, key: TupleKey, rule: Rule) -> Outcome {
        self.run(transaction, self.bucket_of(key), Request::Acquire(rule))
    }

    /// Releases a lock, or passes it to the next waiter, which is woken if it sleeps in this
    /// process.
    #[inline]
    pub fn release(&self, transaction: Timestamp, key: TupleKey) -> Outcome {
        self.release_bucket(transaction, self.bucket_of(key))
    }

    /// As [`LockTable::release`], by the bucket's index.
    ///
    /// # Panics
    /// When there is no such bucket.
    #[inline]
    pub fn release_bucket(&self, transaction: Timestamp, bucket: usize) -> Outcome {
        let outcome = self.run(transaction, bucket, Request::Release);
        if let Outcome::Released { next: Some(next) } = outcome {
            self.wake(bucket, next);
        }
        outcome
    }

    /// Runs one request on one bucket.
    ///
    /// # Panics
    /// When there is no such bucket.
    #[inline(always)]
    pub fn run(&self, transaction: Timestamp, bucket: usize, request: Request) -> Outcome {
        self.buckets()[bucket].run(Machine::new(transaction, request, Bounds::BUCKET))
    }

    /// Wakes a waiter that was handed a lock from outside this process, such as by a device
    /// whose response named it. Harmless when it does not sleep.
    #[inline]
    pub fn wake(&self, bucket: usize, transaction: Timestamp) {
        self.parking.wake(bucket, transaction);
    }

    /// Takes dead transactions out of the whole table: out of its queues, and their locks to the
    /// next in line.
    ///
    /// The caller guarantees that none of their accesses are still on their way.
    pub fn repair(&self, dead: &[Timestamp]) -> Repaired {
        let mut repaired = Repaired::default();
        for (index, bucket) in self.buckets().iter().enumerate() {
            let words = bucket.line();
            let concerned = |&&dead: &&Timestamp| {
                words.iter().any(|&word| Timestamp::of_word(word) == Some(dead))
            };
            let mut changed_here = false;
            for &dead in dead.iter().filter(concerned) {
                let end = bucket.repair(Repair::new(dead, Bounds::BUCKET));
                let RepairStep::Done { changed, next } = end else {
                    unreachable!("memory of this machine answers without errors");
                };
                changed_here |= changed;
                if let Some(next) = next {
                    repaired.handed_over += 1;
                    self.wake(index, next);
                }
            }
            repaired.buckets += usize::from(changed_here);
        }
        repaired
    }

    /// The counts of all workers that have ended.
    pub fn statistics(&self) -> Statistics {
        *lock(&self.statistics)
    }

    /// Adds what a worker, or another user of the table, has counted.
    pub fn report(&self, statistics: &Statistics) {
        lock(&self.statistics).add(statistics);
    }

    pub(crate) fn parking(&self) -> &Parking {
        &self.parking
    }
}
