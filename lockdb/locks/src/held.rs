// SPDX-License-Identifier: MIT OR Apache-2.0
//! The locks that one transaction holds: taken one by one, waited for, given back once each.

use crate::machine::{Outcome, Place, Refusal, Request};
use crate::wait::{LockError, Waiter, Waiting};
use crate::{LockTable, Statistics, Timestamp, TupleKey};

/// The buckets that a transaction holds in a table, in the order in which it got them.
///
/// It has no reference to its table, so that it can be kept beside one; code that drops it without
/// [`HeldLocks::release_to`] leaves the locks standing.
#[derive(Debug)]
pub struct HeldLocks {
    timestamp: Timestamp,
    // Each bucket once: the table itself says when we hold one already.
    buckets: Vec<usize>,
}

impl HeldLocks {
    /// None yet, for a transaction with a timestamp that no other has.
    pub fn new(timestamp: Timestamp) -> Self {
        Self { timestamp, buckets: Vec::new() }
    }

    /// The transaction's timestamp.
    pub fn timestamp(&self) -> Timestamp {
        self.timestamp
    }

    /// Gives the transaction another timestamp.
    ///
    /// # Panics
    /// When it holds locks: they stand in the table under the old one.
    pub fn rename(&mut self, timestamp: Timestamp) {
        assert!(self.buckets.is_empty(), "{} holds locks under its name", self.timestamp);
        self.timestamp = timestamp;
    }

    /// The indices of the buckets.
    pub fn buckets(&self) -> &[usize] {
        &self.buckets
    }

    /// Takes the lock of a tuple version, waiting for it as `waiting` says. A bucket that the
    /// transaction holds already, for this tuple or for another one, is granted again at once.
    /// Says whether the bucket is new to it.
    ///
    /// # Errors
    /// When the wait ends without the lock; the transaction then keeps the locks it had, and is
    /// not in the queue.
    #[inline]
    pub fn lock(
        &mut self,
        table: &LockTable,
        key: TupleKey,
        waiting: &Waiting,
        statistics: &mut Statistics,
    ) -> Result<bool, LockError> {
        let bucket = table.bucket_of(key);
        let request = Request::Acquire(waiting.policy.rule());
        let new = match table.run(self.timestamp, bucket, request) {
            Outcome::Granted { again } => {
                statistics.granted_again += u64::from(again);
                statistics.granted += 1;
                !again
            }
            other => self.lock_contended(other, table, bucket, waiting, statistics)?,
        };
        if new {
            self.buckets.push(bucket);
        }
        Ok(new)
    }

    /// Goes on from the first answer that was no grant.
    #[cold]
    fn lock_contended(
        &mut self,
        mut outcome: Outcome,
        table: &LockTable,
        bucket: usize,
        waiting: &Waiting,
        statistics: &mut Statistics,
    ) -> Result<bool, LockError> {
        let mut waiter = Waiter::new(waiting, table, self.timestamp);
        loop {
            if let Outcome::Refused(_) = outcome
                && let Err(nested) = waiter.check_holder(table, bucket)
            {
                statistics.deadlocks += 1;
                return Err(nested);
            }
            match outcome {
                Outcome::Granted { again } => {
                    statistics.granted_again += u64::from(again);
                    statistics.granted += 1;
                    return Ok(!again);
                }
                Outcome::Queued { place, .. } => {
                    self.wait(table, bucket, place, &mut waiter, statistics)?;
                    return Ok(true);
                }
                Outcome::Refused(Refusal::Full | Refusal::Contended) => {
                    statistics.retried += 1;
                    waiter.wait_for_room(table, bucket, self.timestamp, statistics)?;
                }
                Outcome::Refused(Refusal::Busy) => {
                    statistics.busy += 1;
                    return Err(LockError::Busy { bucket });
                }
                Outcome::Refused(Refusal::Die) => {
                    statistics.died += 1;
                    return Err(LockError::Died { bucket });
                }
                other => unreachable!("an acquire does not end as {other:?}"),
            }
            let request = Request::Acquire(waiting.policy.rule());
            outcome = table.run(self.timestamp, bucket, request);
        }
    }

    fn wait(
        &mut self,
        table: &LockTable,
        bucket: usize,
        place: Place,
        waiter: &mut Waiter<'_>,
        statistics: &mut Statistics,
    ) -> Result<(), LockError> {
        statistics.queued += 1;
        waiter.wait_for_grant(table, bucket, place, self.timestamp, statistics)?;
        statistics.granted += 1;
        Ok(())
    }

    /// A bucket that was taken in the transaction's name, and that is not among these.
    pub fn take_over(&mut self, bucket: usize) {
        self.buckets.push(bucket);
    }

    /// Gives the lock of one tuple version back before the end of the transaction; with it go all
    /// others of the same bucket.
    ///
    /// # Errors
    /// When the transaction does not hold it. Nothing is changed.
    pub fn unlock(
        &mut self,
        table: &LockTable,
        key: TupleKey,
        statistics: &mut Statistics,
    ) -> Result<(), LockError> {
        let bucket = table.bucket_of(key);
        let Some(at) = self.buckets.iter().rposition(|&held| held == bucket) else {
            return Err(LockError::NotHeld { transaction: self.timestamp, bucket });
        };
        self.buckets.remove(at);
        self.release(table, bucket, statistics)
    }

    /// Gives back all locks but the first `count`.
    ///
    /// # Errors
    /// When one of them had been taken away meanwhile (by a repair); the others are given back.
    #[inline]
    pub fn release_to(
        &mut self,
        count: usize,
        table: &LockTable,
        statistics: &mut Statistics,
    ) -> Result<(), LockError> {
        let mut result = Ok(());
        while self.buckets.len() > count {
            let bucket = self.buckets.pop().expect("there are more than count");
            result = result.and(self.release(table, bucket, statistics));
        }
        result
    }

    #[inline]
    fn release(
        &self,
        table: &LockTable,
        bucket: usize,
        statistics: &mut Statistics,
    ) -> Result<(), LockError> {
        match table.release_bucket(self.timestamp, bucket) {
            Outcome::Released { next } => {
                statistics.released += 1;
                statistics.handed_over += u64::from(next.is_some());
                Ok(())
            }
            _ => Err(LockError::NotHeld { transaction: self.timestamp, bucket }),
        }
    }
}
