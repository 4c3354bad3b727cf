//! A transaction's locks: taken one by one, waited for, given back once each.

use std::collections::BTreeSet;

use crate::machine::{Outcome, Place, Refusal, Request};
use crate::wait::{LockError, Patience, Waiting};
use crate::{Statistics, Table, Timestamp, TupleKey};

/// One thread's handle on a table. Reports its counts when it is dropped.
#[derive(Debug)]
pub struct Worker<'t> {
    pub(crate) table: &'t Table,
    pub(crate) statistics: Statistics,
}

impl<'t> Worker<'t> {
    pub(crate) fn new(table: &'t Table) -> Self {
        Self { table, statistics: Statistics::default() }
    }

    /// Starts a transaction with a timestamp that no other transaction has.
    pub fn begin(&mut self, timestamp: Timestamp) -> Transaction<'_, 't> {
        Transaction { worker: self, timestamp, held: BTreeSet::new() }
    }

    /// What this worker has counted so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        self.table.report(&self.statistics);
    }
}

/// A transaction and the buckets that it holds. Dropping it gives them all back.
#[derive(Debug)]
pub struct Transaction<'w, 't> {
    worker: &'w mut Worker<'t>,
    timestamp: Timestamp,
    held: BTreeSet<usize>,
}

impl Transaction<'_, '_> {
    /// The transaction's timestamp.
    pub fn timestamp(&self) -> Timestamp {
        self.timestamp
    }

    /// The indices of the buckets it holds.
    pub fn held(&self) -> impl Iterator<Item = usize> + '_ {
        self.held.iter().copied()
    }

    /// Takes the lock of a tuple version, waiting for it as `waiting` says. A bucket that the
    /// transaction holds already, for this tuple or for another one, is granted again at once.
    ///
    /// # Errors
    /// When the wait ends without the lock; the transaction then keeps the locks it had, and is
    /// not in the queue.
    pub fn lock(&mut self, key: TupleKey, waiting: &Waiting) -> Result<(), LockError> {
        let bucket = self.worker.table.bucket_of(key);
        let mut patience = Patience::new(waiting);
        loop {
            let request = Request::Acquire(waiting.policy.rule());
            match self.worker.table.run(self.timestamp, bucket, request) {
                Outcome::Granted { again } => {
                    self.worker.statistics.granted_again += u64::from(again);
                    self.worker.statistics.granted += 1;
                    self.held.insert(bucket);
                    return Ok(());
                }
                Outcome::Queued { place, .. } => {
                    return self.wait(bucket, place, &mut patience);
                }
                Outcome::Refused(Refusal::Full | Refusal::Contended) => {
                    self.worker.statistics.retried += 1;
                    patience.wait_for_room(&self.worker.table.buckets()[bucket])?;
                }
                Outcome::Refused(Refusal::Busy) => {
                    self.worker.statistics.busy += 1;
                    return Err(LockError::Busy { bucket });
                }
                Outcome::Refused(Refusal::Die) => {
                    self.worker.statistics.died += 1;
                    return Err(LockError::Died { bucket });
                }
                other => unreachable!("an acquire does not end as {other:?}"),
            }
        }
    }

    fn wait(
        &mut self,
        bucket: usize,
        place: Place,
        patience: &mut Patience<'_>,
    ) -> Result<(), LockError> {
        let Worker { table, statistics } = &mut *self.worker;
        statistics.queued += 1;
        patience.wait_for_grant(table, bucket, place, self.timestamp, statistics)?;
        statistics.granted += 1;
        self.held.insert(bucket);
        Ok(())
    }

    /// Gives the lock of one tuple version back before the end of the transaction; with it go all
    /// others of the same bucket.
    ///
    /// # Errors
    /// When the transaction does not hold it. Nothing is changed.
    pub fn unlock(&mut self, key: TupleKey) -> Result<(), LockError> {
        let bucket = self.worker.table.bucket_of(key);
        if !self.held.remove(&bucket) {
            return Err(LockError::NotHeld { transaction: self.timestamp, bucket });
        }
        self.release(bucket)
    }

    /// Gives all locks back.
    ///
    /// # Errors
    /// When one of them had been taken away meanwhile (by a repair); the others are given back.
    pub fn end(mut self) -> Result<(), LockError> {
        self.release_all()
    }

    fn release_all(&mut self) -> Result<(), LockError> {
        let mut result = Ok(());
        while let Some(bucket) = self.held.pop_first() {
            result = result.and(self.release(bucket));
        }
        result
    }

    fn release(&mut self, bucket: usize) -> Result<(), LockError> {
        let Worker { table, statistics } = &mut *self.worker;
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

impl Drop for Transaction<'_, '_> {
    fn drop(&mut self) {
        // A lock that a repair took away is nobody's concern any more.
        let _ = self.release_all();
    }
}
