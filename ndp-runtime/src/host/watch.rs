// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's supervision of a working device: that it finishes, and is not part of a deadlock.

use std::time::{Duration, Instant};

use lockdb::Database;
use locks::{Head, Policy, Ring, Suspicion, Timestamp, Waiting, WaitsFor};

use super::cancel::Cancel;
use super::error::NearDataJobError;

/// The watch over one job of one transaction.
///
/// Host transactions that wait for a lock look for cycles themselves; a device only polls. So the host
/// looks on behalf of the transaction that the device waits for, in the same table and by the same
/// policy.
pub(super) struct Watch<'a> {
    database: &'a Database,
    /// The transaction's name in the lock table, if the job takes locks.
    transaction: Option<Timestamp>,
    waiting: Waiting,
    cancel: &'a Cancel,
    began: Instant,
    bound: Duration,
    searched: Duration,
    /// Until the next search.
    interval: Duration,
    suspicion: Suspicion,
}

/// A search reads the whole table, and most find nothing: the next one comes later, up to so many times
/// the interval that the policy says.
const LONGEST: u32 = 16;

impl<'a> Watch<'a> {
    pub fn new(
        database: &'a Database,
        transaction: Option<Timestamp>,
        waiting: Waiting,
        cancel: &'a Cancel,
        bound: Duration,
    ) -> Self {
        Self {
            database,
            transaction,
            waiting,
            cancel,
            began: Instant::now(),
            bound,
            searched: Duration::ZERO,
            interval: Duration::ZERO,
            suspicion: Suspicion::default(),
        }
    }

    /// Why a job that the device has no place for is to be given up, if it is: the jobs that hold
    /// the places may wait for locks of this transaction, which no table shows.
    pub fn without_place(&self) -> Option<NearDataJobError> {
        let waited = self.began.elapsed();
        let may_wait = self.transaction.is_none() || waited < self.waiting.timeout;
        (!may_wait).then_some(NearDataJobError::NoPlace { waited })
    }

    /// Why the job has to stop, if it has to.
    pub fn look(&mut self) -> Option<NearDataJobError> {
        if self.cancel.is_cancelled() {
            return Some(NearDataJobError::Cancelled);
        }
        let elapsed = self.began.elapsed();
        if elapsed >= self.bound {
            let waited_for = "the end of a near-data job";
            return Some(NearDataJobError::TimedOut { waited_for, bound: self.bound });
        }
        let transaction = self.transaction?;
        let every = match self.waiting.policy {
            Policy::WaitsFor { every } => every,
            Policy::WaitDie => Duration::from_micros(100),
            // The device's own bound of a wait is all that there is.
            Policy::NoWait | Policy::Queue => return None,
        };
        if elapsed < self.searched + self.interval.max(every) {
            return None;
        }
        let found = match self.waiting.policy {
            Policy::WaitDie => self.older_ahead(transaction),
            _ => self.search(transaction),
        };
        // From its end: the searches themselves take a small part of the time.
        self.searched = self.began.elapsed();
        let suspicious = !self.suspicion.cycle().is_empty();
        self.interval = match suspicious {
            true => every,
            false => (self.interval.max(every) * 2).min(every * LONGEST),
        };
        found
    }

    fn search(&mut self, transaction: Timestamp) -> Option<NearDataJobError> {
        let read = || WaitsFor::read(self.database.lock_table().buckets());
        let cycle = read().cycle_through(transaction)?;
        // Buckets are read one after the other: a cycle is certain when it is still there.
        if !read().has_cycle(&cycle) || !self.suspicion.is_ours_to_break(cycle, transaction) {
            return None;
        }
        Some(NearDataJobError::Deadlock { cycle: self.suspicion.cycle().to_vec() })
    }

    /// Wait-die: a transaction waits behind younger ones alone.
    fn older_ahead(&self, transaction: Timestamp) -> Option<NearDataJobError> {
        for bucket in self.database.lock_table().buckets() {
            if !bucket.head().has_waiters() {
                continue;
            }
            let line = bucket.line();
            let head = Head::from_word(line[0]);
            let Some(older) = head.holder().filter(|holder| *holder < transaction) else {
                continue;
            };
            let waits =
                |slot: locks::Slot| Timestamp::of_word(line[slot.index()]) == Some(transaction);
            if head.queue(Ring::FULL).any(waits) {
                return Some(NearDataJobError::Died { transaction, older });
            }
        }
        None
    }
}
