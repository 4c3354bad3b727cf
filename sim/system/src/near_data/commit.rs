// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of a long update on the host, whatever produced its versions: log record, publication,
//! release of the locks.

use std::collections::BTreeMap;

use lockdb::Error;
use locks::{Timestamp, TupleKey};
use timing::Time;

use super::machine::Machine;
use super::report::Phase;
use super::table::NewRow;
use super::timer::Timer;

/// What a long update adds to the balance of a row.
pub(crate) const ADDED: i64 = 5;

/// A long update's stopwatch.
pub(crate) struct Stopwatch {
    pub began: Time,
    last: Time,
    phases: Vec<(Phase, Time)>,
}

impl Stopwatch {
    pub fn new(now: Time) -> Self {
        Self { began: now, last: now, phases: Vec::new() }
    }

    /// What was done since the last mark was `phase`.
    pub fn mark(&mut self, now: Time, phase: Phase) {
        self.phases.push((phase, now - self.last));
        self.last = now;
    }

    pub fn finish(self) -> Vec<(Phase, Time)> {
        let total = self.phases.iter().fold(Time::ZERO, |sum, (_, time)| sum + *time);
        assert_eq!(total, self.last - self.began, "every moment belongs to one phase");
        self.phases
    }
}

/// The locks that a transaction holds, one for each bucket.
#[derive(Default)]
pub(crate) struct Held(BTreeMap<u64, TupleKey>);

impl Held {
    pub fn insert(&mut self, machine: &Machine, key: TupleKey) {
        self.0.entry(machine.bucket(key)).or_insert(key);
    }

    /// All, in the order of their buckets.
    pub fn into_keys(self) -> Vec<TupleKey> {
        self.0.into_values().collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Logging,
    Installing { row: usize },
    Releasing { lock: usize },
}

/// See the module. Driven by the agent that commits.
pub(crate) struct Commit {
    agent: usize,
    transaction: Timestamp,
    rows: Vec<NewRow>,
    locks: Vec<TupleKey>,
    step: Step,
    /// Stores to the VID map that are under way.
    publishing: usize,
    pub core_time: Time,
}

impl Commit {
    /// Begins with a log record of so many bytes beside the changes that the log has already; the
    /// timer `Long(timer)` tells that it is durable.
    pub fn begin(
        machine: &mut Machine,
        (agent, transaction): (usize, Timestamp),
        (rows, locks): (Vec<NewRow>, Held),
        log_bytes: u64,
        timer: u64,
    ) -> Self {
        machine.log.commit(machine.now(), log_bytes);
        let durable = machine.log.durable(machine.now());
        machine.system.at(durable, Timer::Long(timer).encode());
        let step = Step::Logging;
        let locks = locks.into_keys();
        Self { agent, transaction, rows, locks, step, publishing: 0, core_time: Time::ZERO }
    }

    /// The log record is durable: the transaction is committed.
    ///
    /// # Errors
    /// When the locks have not protected a row.
    pub fn durable(&mut self, machine: &mut Machine, watch: &mut Stopwatch) -> Result<bool, Error> {
        watch.mark(machine.now(), Phase::Log);
        machine.commit(&self.rows, ADDED)?;
        Ok(self.install(machine, watch, 0))
    }

    /// The core has published a row's counters. `true`: all is done.
    pub fn worked(&mut self, machine: &mut Machine, watch: &mut Stopwatch) -> bool {
        let Step::Installing { row } = self.step else {
            unreachable!("only rows are installed by the core");
        };
        self.publishing += 1;
        machine.publish(self.agent, self.rows[row].vid);
        self.install(machine, watch, row + 1)
    }

    /// A word of the VID map is stored.
    pub fn published(&mut self, machine: &mut Machine, watch: &mut Stopwatch) -> bool {
        self.publishing -= 1;
        match self.step {
            Step::Installing { row } if row == self.rows.len() => self.install(machine, watch, row),
            _ => false,
        }
    }

    /// A lock is given back.
    pub fn released(&mut self, machine: &mut Machine, watch: &mut Stopwatch) -> bool {
        let Step::Releasing { lock } = self.step else {
            unreachable!("locks are given back after all rows are published");
        };
        self.release(machine, watch, lock + 1)
    }

    /// Continues with a row. Stores to the VID map overlap with the work on the next rows, as a
    /// core's stores do.
    fn install(&mut self, machine: &mut Machine, watch: &mut Stopwatch, row: usize) -> bool {
        self.step = Step::Installing { row };
        if row < self.rows.len() {
            self.core_time += machine.store.install_row.get();
            machine.work(self.agent, machine.store.install_row.get());
            return false;
        }
        if self.publishing > 0 {
            return false;
        }
        self.rows.iter().for_each(|row| machine.published(row.vid));
        watch.mark(machine.now(), Phase::Install);
        self.release(machine, watch, 0)
    }

    fn release(&mut self, machine: &mut Machine, watch: &mut Stopwatch, lock: usize) -> bool {
        self.step = Step::Releasing { lock };
        match self.locks.get(lock) {
            Some(&key) => machine.release(self.agent, self.transaction, key),
            None => watch.mark(machine.now(), Phase::Release),
        }
        lock == self.locks.len()
    }
}
