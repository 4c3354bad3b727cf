// SPDX-License-Identifier: MIT OR Apache-2.0
//! A transaction on the lock table alone.

use crate::held::HeldLocks;
use crate::wait::{LockError, Waiting};
use crate::{LockTable, Statistics, Timestamp, TupleKey};

/// One thread's handle on a table. Reports its counts when it is dropped.
#[derive(Debug)]
pub struct Worker<'t> {
    table: &'t LockTable,
    statistics: Statistics,
    /// Those of its transaction; empty between two.
    held: HeldLocks,
}

impl<'t> Worker<'t> {
    pub(crate) fn new(table: &'t LockTable) -> Self {
        // Renamed before the first lock.
        Self { table, statistics: Statistics::default(), held: HeldLocks::new(Timestamp::MAX) }
    }

    /// Starts a transaction with a timestamp that no other transaction has. If the one before was
    /// neither ended nor dropped, but forgotten, its locks are released now.
    pub fn begin(&mut self, timestamp: Timestamp) -> Locker<'_, 't> {
        let _ = self.release_all();
        self.held.rename(timestamp);
        Locker { worker: self }
    }

    #[inline]
    fn release_all(&mut self) -> Result<(), LockError> {
        self.held.release_to(0, self.table, &mut self.statistics)
    }

    /// This worker's counters.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        let _ = self.release_all();
        self.table.report(&self.statistics);
    }
}

/// A transaction and the buckets that it holds. Dropping it gives them all back.
#[derive(Debug)]
pub struct Locker<'w, 't> {
    worker: &'w mut Worker<'t>,
}

impl Locker<'_, '_> {
    /// The transaction's timestamp.
    pub fn timestamp(&self) -> Timestamp {
        self.worker.held.timestamp()
    }

    /// The indices of the buckets it holds, in the order in which it got them.
    pub fn held(&self) -> impl Iterator<Item = usize> + '_ {
        self.worker.held.buckets().iter().copied()
    }

    /// Takes the lock of a tuple version: [`HeldLocks::lock`].
    ///
    /// # Errors
    /// When the wait ends without the lock; the transaction then keeps the locks it had, and is
    /// not in the queue.
    pub fn lock(&mut self, key: TupleKey, waiting: &Waiting) -> Result<(), LockError> {
        let Worker { table, statistics, held } = &mut *self.worker;
        held.lock(table, key, waiting, statistics).map(drop)
    }

    /// Gives the lock of one tuple version back before the end of the transaction; with it go all
    /// others of the same bucket.
    ///
    /// # Errors
    /// When the transaction does not hold it. Nothing is changed.
    pub fn unlock(&mut self, key: TupleKey) -> Result<(), LockError> {
        let Worker { table, statistics, held } = &mut *self.worker;
        held.unlock(table, key, statistics)
    }

    /// Gives all locks back.
    ///
    /// # Errors
    /// When one of them had been taken away meanwhile (by a repair); the others are given back.
    pub fn end(self) -> Result<(), LockError> {
        self.worker.release_all()
    }
}

impl Drop for Locker<'_, '_> {
    fn drop(&mut self) {
        // A lock that a repair took away no longer matters.
        let _ = self.worker.release_all();
    }
}
