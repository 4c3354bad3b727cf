// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rows that the locks of a run protect. They are in a real store. Each agent writes the rows
//! that it has locked, and at the end the rows must agree with the agents' records.
//!
//! A transaction reads a row once the lock is granted, remembers it, and at its commit writes the
//! changed remembered row. So an update in between, which the lock should have prevented, would be
//! lost. The store refuses to write onto a version other than the locked one, and an error that it
//! misses shows in the sums ([`Rows::check`]).

mod client;
mod ledger;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use lockdb::schema::{Schema, Type};
use lockdb::{Database, Durability, Error, Isolation, Options, Session, Table, TransactionOptions};
use locks::{SharedMemory, TupleKey};
use parking_lot::Mutex;
use workloads::scenario::{Mode, Scenario, Versions, Workload};

use crate::RunError;
use crate::plan::Source;

pub(crate) use client::Client;
pub(crate) use ledger::Ledger;

/// The initial balance of a row, in cents.
const INITIAL_BALANCE: i64 = 10_000;

/// Columns of the table.
const BALANCE: usize = 1;
const WRITES: usize = 2;

/// Up to so many rows are there from the beginning; of larger tables, in virtual time, those that
/// are used.
const LOADED_AT_ONCE: u64 = 1 << 20;

/// In wall-clock time, rows cannot be added while others hold locks, so all must exist.
const MOST_ROWS: u64 = 1 << 24;

/// Sessions beside those of the agents: for whoever looks at the rows.
const SPARE_SESSIONS: usize = 4;

/// Rows inserted in one transaction.
const BATCH: usize = 1000;

/// What is locked is read as it stands, and nothing is to outlive the run.
const OPTIONS: TransactionOptions =
    TransactionOptions { isolation: Isolation::ReadCommitted, durability: Durability::None };

/// The rows of a run.
#[derive(Debug)]
pub(crate) struct Rows {
    database: Database,
    table: Arc<Table>,
    protection: Protection,
    /// Taken for every use of the store when the locks do not suffice.
    alone: Mutex<()>,
}

/// What keeps two agents from writing one row at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protection {
    /// Locks in simulated memory, of the row's number and version as the scenario counts them.
    Simulated,
    /// Locks in the store's own lock table, of the store's own keys.
    Store,
    /// Those that a trace tells. Where a replay goes another way than the server did, they can be
    /// of two versions of one row.
    Trace,
}

/// The newest version of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    /// The locks to take.
    pub key: TupleKey,
    /// The row in the store.
    vid: u32,
    /// Counts its versions from 1.
    number: u32,
    balance: i64,
}

impl Rows {
    /// The rows of a scenario, where `sources` are the plans of its agents, and `lock_memory` is
    /// the memory of their lock table in wall-clock mode, unless it is private memory of this
    /// process.
    ///
    /// # Errors
    /// When the system refuses memory for them.
    pub fn new(
        scenario: &Scenario,
        sources: &[Source],
        lock_memory: Option<Arc<dyn SharedMemory>>,
    ) -> Result<Self, RunError> {
        let wall_clock = scenario.mode == Mode::WallClock;
        let buckets = scenario.table.buckets as usize;
        let options = Options {
            // In virtual time the locks stand in the memory of the model.
            lock_buckets: if wall_clock { buckets } else { Options::small().lock_buckets },
            lock_memory,
            sessions: sources.len() + SPARE_SESSIONS,
            // A thread of its own would make virtual time depend on this machine's.
            maintenance: false,
            ..Options::default()
        };
        let database = Database::in_memory(options).map_err(|error| match wall_clock {
            true => {
                let expected = format!("a table that can be had ({error})");
                RunError::from(scenario.reject("table.buckets", expected))
            }
            false => error.into(),
        })?;
        let schema = Schema::builder("row")
            .column("id", Type::Int64)
            .column("balance", Type::Int64)
            .column("writes", Type::Int64)
            .primary_key(&["id"])
            .build();
        let table = database.create_table(schema.map_err(Error::from)?)?;
        let protection = match (&scenario.workload, wall_clock) {
            (Workload::Trace(trace), _) if trace.versions == Versions::Recorded => {
                Protection::Trace
            }
            (_, true) => Protection::Store,
            (_, false) => Protection::Simulated,
        };
        let rows = Self { database, table, protection, alone: Mutex::new(()) };
        rows.load(scenario, sources)?;
        Ok(rows)
    }

    /// The store.
    pub fn database(&self) -> &Database {
        &self.database
    }

    fn load(&self, scenario: &Scenario, sources: &[Source]) -> Result<(), RunError> {
        let (field, rows) = match &scenario.workload {
            Workload::Ycsb(ycsb) => ("workload.ycsb.rows", ycsb.rows),
            Workload::HotRow(hot) => ("workload.hot-row.rows", hot.rows),
            Workload::SmallBank(bank) => ("workload.smallbank.accounts", 2 * bank.accounts),
            Workload::Trace(_) => {
                let used: BTreeSet<u64> = sources.iter().flat_map(Source::rows).collect();
                return Ok(self.insert(used)?);
            }
        };
        match scenario.mode {
            Mode::Virtual if rows > LOADED_AT_ONCE => Ok(()),
            Mode::WallClock if rows > MOST_ROWS => {
                let expected = format!("at most {MOST_ROWS} rows by the wall clock, not {rows}");
                Err(scenario.reject(field, expected).into())
            }
            Mode::Virtual | Mode::WallClock => Ok(self.insert(1..=rows)?),
        }
    }

    fn insert(&self, rows: impl IntoIterator<Item = u64>) -> Result<(), Error> {
        let mut session = self.database.session()?;
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() {
            let mut transaction = session.begin(OPTIONS);
            for row in rows.by_ref().take(BATCH) {
                let values = [(row as i64).into(), INITIAL_BALANCE.into(), 0.into()];
                transaction.insert(&self.table, &values)?;
            }
            transaction.commit()?;
        }
        Ok(())
    }

    /// The newest version of a row, which is made if it is not there yet.
    fn newest(&self, session: &mut Session, row: u64) -> Result<Version, Error> {
        let id = row as i64;
        let vid = match self.database.vid_of(&self.table, &id)? {
            Some(vid) => vid,
            None => {
                self.insert_one(session, row)?;
                self.database.vid_of(&self.table, &id)?.expect("a row that was inserted")
            }
        };
        let mut transaction = session.begin(OPTIONS);
        let newest = transaction.newest_version(&self.table, vid)?;
        let (number, found) = newest.expect("rows are never deleted");
        let key = match self.protection {
            Protection::Store => self.table.lock_key(vid, number),
            // Scenarios and traces count the updates.
            Protection::Simulated | Protection::Trace => TupleKey::new(row, number - 1),
        };
        Ok(Version { key, vid, number, balance: found.int(BALANCE) })
    }

    fn insert_one(&self, session: &mut Session, row: u64) -> Result<(), Error> {
        debug_assert_ne!(self.protection, Protection::Store, "rows are there before their locks");
        let mut transaction = session.begin(OPTIONS);
        let values = [(row as i64).into(), INITIAL_BALANCE.into(), 0.into()];
        transaction.insert(&self.table, &values)?;
        transaction.commit().map(drop)
    }
}
