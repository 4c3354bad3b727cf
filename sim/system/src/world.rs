// SPDX-License-Identifier: MIT OR Apache-2.0
//! The shared state of all agents of a run: timestamps and counters.

use std::collections::{BTreeMap, HashMap};

use lockdb::Database;
use locks::{Timestamp, TupleKey};

use crate::RunError;
use crate::report::{Aborts, LatencyRecorder, QueueReport, SideReport};
use crate::rows::Ledger;

/// Shared state of a run.
#[derive(Debug)]
pub(crate) struct World {
    mask: u64,
    ages: Ages,
    /// The written data.
    pub ledger: Ledger,
    /// The agent that was told that it holds each bucket: the run's own check of mutual exclusion.
    holders: HashMap<u64, Timestamp>,
    /// Buckets that an agent waits in, with how many do.
    pub waited_in: BTreeMap<u64, u32>,
    pub host: Side,
    pub device: Side,
    pub queue: QueueReport,
    /// No transaction begins any more, and nothing is counted.
    pub closing: bool,
}

/// Where the ages of transactions come from.
#[derive(Debug)]
pub(crate) enum Ages {
    /// From this count: nobody else takes locks.
    Counted(u64),
    /// From the store whose lock table it is, since its own transactions take locks there too.
    Store(Database),
}

/// Counts of one side.
#[derive(Debug, Default)]
pub(crate) struct Side {
    pub report: SideReport,
    pub acquire: LatencyRecorder,
    pub wait: LatencyRecorder,
    pub release: LatencyRecorder,
}

impl World {
    pub fn new(buckets: u64, ages: Ages) -> Self {
        Self {
            mask: buckets - 1,
            ages,
            ledger: Ledger::default(),
            holders: HashMap::new(),
            waited_in: BTreeMap::new(),
            host: Side::default(),
            device: Side::default(),
            queue: QueueReport::default(),
            closing: false,
        }
    }

    /// The age of a transaction that begins now: greater than that of all before.
    pub fn next_age(&mut self) -> u64 {
        match &mut self.ages {
            Ages::Counted(ages) => {
                *ages += 1;
                *ages
            }
            Ages::Store(database) => database.draw_age(),
        }
    }

    pub fn bucket_of(&self, key: TupleKey) -> u64 {
        key.mix() & self.mask
    }

    pub fn side(&mut self, device: bool) -> &mut Side {
        if device { &mut self.device } else { &mut self.host }
    }

    /// Transactions that have come to their end: committed, rolled back by wish, or given up.
    pub fn ended(&self) -> u64 {
        let of_side = |side: &Side| {
            let SideReport { committed, aborts, .. } = &side.report;
            committed + aborts.own + aborts.given_up
        };
        of_side(&self.host) + of_side(&self.device)
    }

    /// An agent has been granted a bucket.
    ///
    /// # Errors
    /// When another one holds it.
    pub fn holds(&mut self, bucket: u64, transaction: Timestamp) -> Result<(), RunError> {
        let holder = *self.holders.entry(bucket).or_insert(transaction);
        if holder != transaction {
            return Err(RunError::TwoHolders { bucket, holder, second: transaction });
        }
        Ok(())
    }

    /// An agent is about to give a bucket back.
    pub fn lets_go(&mut self, bucket: u64) {
        self.holders.remove(&bucket).expect("only a holder releases");
    }

    /// An agent begins to wait in a bucket.
    pub fn waits(&mut self, bucket: u64) {
        *self.waited_in.entry(bucket).or_default() += 1;
    }

    /// An agent no longer waits there.
    pub fn waits_no_more(&mut self, bucket: u64) {
        let count = self.waited_in.get_mut(&bucket).expect("it waited");
        *count -= 1;
        if *count == 0 {
            self.waited_in.remove(&bucket);
        }
    }
}

impl Side {
    /// The report after `duration_ns`.
    pub fn finish(mut self, agents: u32, duration_ns: u64) -> SideReport {
        let per_second = |count: u64| match duration_ns {
            0 => 0.0,
            _ => (count as f64 * 1e9 / duration_ns as f64).round(),
        };
        self.report.agents = agents;
        self.report.commits_per_second = per_second(self.report.committed);
        self.report.locks_per_second = per_second(self.report.locks);
        self.report.acquire = self.acquire.latency();
        self.report.wait = self.wait.latency();
        self.report.release = self.release.latency();
        self.report
    }

    pub fn aborts(&mut self) -> &mut Aborts {
        &mut self.report.aborts
    }
}
