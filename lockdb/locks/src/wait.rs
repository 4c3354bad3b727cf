// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waiting for a lock: spin briefly, then sleep until woken; leave when timeout ends or when the
//! wait closes a cycle.

use std::time::{Duration, Instant};

use crate::deadlock::{Suspicion, WaitsFor};
use crate::machine::{Outcome, Place, Request, Rule};
use crate::primitive::{spin_loop, yield_now};
use crate::{Bucket, Head, LockTable, Statistics, Timestamp, nesting};

/// How deadlock between buckets is broken. Every policy is bounded by [`Waiting::timeout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Do not wait at all.
    NoWait,
    /// Wait in the queue. A deadlock then looks like a lock that is held long, so that nobody but the
    /// caller can tell whether another try is of use.
    Queue,
    /// Wait only behind younger transactions: no cycle can close.
    WaitDie,
    /// Wait in the queue, and search the table for a cycle after each `every`.
    WaitsFor {
        /// Time between two searches.
        every: Duration,
    },
}

impl Policy {
    /// The answer to the lock machine.
    pub fn rule(self) -> Rule {
        match self {
            Policy::NoWait => Rule::NoWait,
            Policy::WaitDie => Rule::WaitDie,
            Policy::Queue | Policy::WaitsFor { .. } => Rule::Queue,
        }
    }
}

/// How a transaction waits for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// How deadlock is broken.
    pub policy: Policy,
    /// The longest wait for one lock.
    pub timeout: Duration,
    /// Looks at the head before the waiter goes to sleep.
    pub spins: u32,
}

impl Default for Waiting {
    /// Wait-die, ten seconds at the most.
    fn default() -> Self {
        Self { policy: Policy::WaitDie, timeout: Duration::from_secs(10), spins: SPINS }
    }
}

/// About the time that a sleep and a wake take.
const SPINS: u32 = if cfg!(loom) { 0 } else { 4000 };

/// The longest sleep between two looks at the head: a device cannot wake a host thread by itself.
const NAP: Duration = Duration::from_micros(200);

/// Why a lock was not taken or not given back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// Another transaction holds it, and the policy is not to wait.
    #[error("bucket {bucket} is held, and the policy is not to wait")]
    Busy {
        /// Index of the bucket.
        bucket: usize,
    },
    /// Wait-die: an older transaction holds it or waits for it. Retry the transaction with its old
    /// age: [`Timestamp::of_attempt`].
    #[error("bucket {bucket} is wanted by an older transaction (wait-die)")]
    Died {
        /// Index of the bucket.
        bucket: usize,
    },
    /// The timeout ended.
    #[error("waited {waited:?} for bucket {bucket}, held by {holder:?}")]
    TimedOut {
        /// Index of the bucket.
        bucket: usize,
        /// The holder at the end.
        holder: Option<Timestamp>,
        /// How long.
        waited: Duration,
    },
    /// The queue never had room.
    #[error("waited {waited:?} for room in a bucket's queue, held by {holder:?}")]
    NoRoom {
        /// The holder at the end.
        holder: Option<Timestamp>,
        /// How long.
        waited: Duration,
    },
    /// The wait closed a cycle, and this transaction was chosen to break it.
    #[error("deadlock: {cycle:?} wait for each other")]
    Deadlock {
        /// Each waits for the next, the last for the first.
        cycle: Vec<Timestamp>,
    },
    /// The holder, or one whom the holder waits for, cannot end before this very wait: its closure
    /// has, on this thread, called what waits here.
    #[error("bucket {bucket} waits for transaction {outer}, whose closure this call is part of")]
    Nested {
        /// Index of the bucket.
        bucket: usize,
        /// The transaction that cannot end.
        outer: Timestamp,
    },
    /// A repair has taken the transaction for dead and out of the queue.
    #[error("transaction {transaction} was taken out of the queue of bucket {bucket} by a repair")]
    Evicted {
        /// The waiting transaction.
        transaction: Timestamp,
        /// Index of the bucket.
        bucket: usize,
    },
    /// Release of a lock that the transaction does not hold. Nothing was changed.
    #[error("transaction {transaction} does not hold bucket {bucket}")]
    NotHeld {
        /// The requesting transaction.
        transaction: Timestamp,
        /// Index of the bucket.
        bucket: usize,
    },
}

/// One wait, from the first refusal to its end.
pub(crate) struct Waiter<'p> {
    waiting: &'p Waiting,
    /// Set by the first wait, so that an uncontended lock never asks for the time.
    since: Option<Instant>,
    /// When it last searched for a cycle, waiting for room.
    searched: Duration,
    suspicion: Suspicion,
    /// The transactions that wait for this one, since this thread is in their closures.
    around: Vec<Timestamp>,
}

impl<'p> Waiter<'p> {
    pub(crate) fn new(waiting: &'p Waiting, table: &LockTable, transaction: Timestamp) -> Self {
        let (searched, suspicion) = (Duration::ZERO, Suspicion::default());
        let around = nesting::around(table, transaction);
        Self { waiting, since: None, searched, suspicion, around }
    }

    /// Why there is no use to wait for a bucket at all.
    pub(crate) fn check_holder(&self, table: &LockTable, bucket: usize) -> Result<(), LockError> {
        if self.around.is_empty() {
            return Ok(());
        }
        match table.buckets()[bucket].head().holder() {
            Some(outer) if self.around.contains(&outer) => Err(LockError::Nested { bucket, outer }),
            _ => Ok(()),
        }
    }

    fn waited(&mut self) -> Duration {
        self.since.get_or_insert_with(Instant::now).elapsed()
    }

    /// Waits a moment before the next try to enter a full queue. No slot tells others of this wait,
    /// so if it closes a cycle, it is this transaction that leaves.
    pub(crate) fn wait_for_room(
        &mut self,
        table: &LockTable,
        bucket: usize,
        transaction: Timestamp,
        statistics: &mut Statistics,
    ) -> Result<(), LockError> {
        let waited = self.waited();
        let holder = || table.buckets()[bucket].head().holder();
        if waited >= self.waiting.timeout {
            return Err(LockError::NoRoom { holder: holder(), waited });
        }
        if let Some(every) = self.search_interval()
            && waited >= self.searched + every
        {
            self.searched = waited;
            let read = || self.read(table, transaction).with_edge(transaction, holder());
            if let Some(cycle) = read().cycle_through(transaction)
                && read().has_cycle(&cycle)
            {
                statistics.deadlocks += 1;
                let nested = self.nested(&cycle, bucket);
                return Err(nested.unwrap_or(LockError::Deadlock { cycle }));
            }
        }
        yield_now();
        Ok(())
    }

    /// Waits in the queue until the lock is ours.
    pub(crate) fn wait_for_grant(
        &mut self,
        table: &LockTable,
        bucket: usize,
        place: Place,
        transaction: Timestamp,
        statistics: &mut Statistics,
    ) -> Result<(), LockError> {
        let line = &table.buckets()[bucket];
        let still_waiting =
            |head: Head| !head.is_held_by(transaction) && head.is_waiting(place.slot);
        for _ in 0..self.waiting.spins {
            if !still_waiting(line.head()) {
                break;
            }
            spin_loop();
        }
        let mut next_search = self.search_interval();
        loop {
            if !still_waiting(line.head()) {
                return match table.run(transaction, bucket, Request::Poll(place)) {
                    Outcome::Granted { .. } => Ok(()),
                    // Only a repair removes another transaction from a queue.
                    _ => Err(LockError::Evicted { transaction, bucket }),
                };
            }
            let waited = self.waited();
            let end = if let Err(nested) = self.check_holder(table, bucket) {
                Some(nested)
            } else if waited >= self.waiting.timeout {
                Some(self.timed_out(bucket, line))
            } else if next_search.is_some_and(|at| waited >= at) {
                next_search = self.search_interval().map(|every| waited + every);
                self.deadlock(table, bucket, transaction)
            } else {
                None
            };
            if let Some(error) = end {
                return match table.run(transaction, bucket, Request::Cancel(place)) {
                    Outcome::Granted { .. } => Ok(()), // it came at the last moment
                    _ => {
                        match error {
                            LockError::Deadlock { .. } | LockError::Nested { .. } => {
                                statistics.deadlocks += 1;
                            }
                            _ => statistics.timed_out += 1,
                        }
                        Err(error)
                    }
                };
            }
            statistics.parked += 1;
            table.parking().sleep(bucket, transaction, NAP, || still_waiting(line.head()));
        }
    }

    fn search_interval(&self) -> Option<Duration> {
        match self.waiting.policy {
            Policy::WaitsFor { every } => Some(every),
            _ => None,
        }
    }

    fn timed_out(&mut self, bucket: usize, line: &Bucket) -> LockError {
        LockError::TimedOut { bucket, holder: line.head().holder(), waited: self.waited() }
    }

    /// The cycle that this wait closes, if this transaction is to break it.
    fn deadlock(
        &mut self,
        table: &LockTable,
        bucket: usize,
        transaction: Timestamp,
    ) -> Option<LockError> {
        let cycle = self.read(table, transaction).cycle_through(transaction)?;
        // The first reading was no snapshot; what stands on the second stood in between.
        if !self.read(table, transaction).has_cycle(&cycle) {
            return None;
        }
        // Its other members do not see the waits on this thread.
        if let Some(nested) = self.nested(&cycle, bucket) {
            return Some(nested);
        }
        let ours = self.suspicion.is_ours_to_break(cycle, transaction);
        ours.then(|| LockError::Deadlock { cycle: self.suspicion.cycle().to_vec() })
    }

    /// The waits-for relation in the table and on this thread.
    fn read(&self, table: &LockTable, transaction: Timestamp) -> WaitsFor {
        let graph = WaitsFor::read(table.buckets());
        self.around.iter().fold(graph, |graph, &outer| graph.with_edge(outer, Some(transaction)))
    }

    /// Whether a cycle leads through this thread.
    fn nested(&self, cycle: &[Timestamp], bucket: usize) -> Option<LockError> {
        let outer = cycle.iter().copied().find(|member| self.around.contains(member))?;
        Some(LockError::Nested { bucket, outer })
    }
}
