// SPDX-License-Identifier: MIT OR Apache-2.0
//! The loops over an engine that fits on a screen, whole and broken.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Result, bail};
use clap::Parser;

use crate::report::measure;
use crate::{Arguments, Durability, Engine, Outcome, Reads, Report, Verdict, Writes};

/// What an engine may do wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mutant {
    /// Nothing.
    None,
    /// One commit leaves a cent too much in a row.
    WrongWrite,
    /// Conflicts happen all the same.
    ConflictThatHappens,
    /// After some transactions it fails.
    Failure,
}

/// All rows in memory behind one mutex. Every seventh transaction is told to be in conflict.
struct Memory<const FAULT: u8> {
    rows: Mutex<Vec<i64>>,
    transactions: AtomicU64,
}

const MUTANTS: [Mutant; 4] =
    [Mutant::None, Mutant::WrongWrite, Mutant::ConflictThatHappens, Mutant::Failure];

impl<const FAULT: u8> Engine for Memory<FAULT> {
    const NAME: &'static str = "memory";

    fn version() -> String {
        "1".into()
    }

    fn open(folder: &Path, _: Durability) -> Result<Self> {
        assert!(folder.read_dir()?.next().is_none(), "the folder is empty");
        Ok(Self { rows: Mutex::default(), transactions: AtomicU64::new(0) })
    }

    fn read(&self, work: &mut dyn FnMut(&dyn Reads) -> Result<()>) -> Result<()> {
        work(&Snapshot(self.rows.lock().expect("not poisoned").clone()))
    }

    fn write(&self, work: &mut dyn FnMut(&mut dyn Writes) -> Result<Verdict>) -> Result<Outcome> {
        let mutant = MUTANTS[FAULT as usize];
        let mut rows = self.rows.lock().expect("not poisoned");
        let number = self.transactions.fetch_add(1, Ordering::Relaxed);
        if mutant == Mutant::Failure && number > 100 {
            bail!("no space is left");
        }
        let mut writes = Transaction(rows.clone());
        if work(&mut writes)? == Verdict::RollBack {
            return Ok(Outcome::RolledBack);
        }
        // The first one loads the rows; this one is not told to be in conflict.
        if mutant == Mutant::WrongWrite && number == 22 {
            writes.0[0] += 1;
        }
        let conflict = number > 0 && number.is_multiple_of(7);
        if !conflict || mutant == Mutant::ConflictThatHappens {
            *rows = writes.0;
        }
        Ok(if conflict { Outcome::Conflict } else { Outcome::Committed })
    }
}

struct Snapshot(Vec<i64>);

impl Reads for Snapshot {
    fn get(&self, row: u64) -> Result<i64> {
        Ok(self.0[row as usize])
    }
}

struct Transaction(Vec<i64>);

impl Writes for Transaction {
    fn get(&mut self, row: u64) -> Result<i64> {
        Ok(self.0[row as usize])
    }

    fn put(&mut self, row: u64, balance: i64) -> Result<()> {
        if row == self.0.len() as u64 {
            self.0.push(0);
        }
        self.0[row as usize] = balance;
        Ok(())
    }
}

fn run<const FAULT: u8>(workload: &str) -> Result<Report> {
    let line = format!("memory --rows 50 --seconds 0.2 --threads 3 --workload {workload}");
    measure::<Memory<FAULT>>(&Arguments::try_parse_from(line.split(' '))?)
}

#[test]
fn a_whole_engine_adds_up() {
    for workload in ["transfer", "smallbank", "point-read"] {
        let report = run::<0>(workload).expect("memory does not fail");
        assert!(report.sum_ok, "{workload}");
        assert!(report.transactions > 0, "{workload}");
        assert_eq!(report.aborts > 0, workload != "point-read", "{workload}");
    }
}

#[test]
fn a_wrong_balance_is_found() {
    assert!(!run::<1>("transfer").expect("memory does not fail").sum_ok);
    assert!(!run::<1>("smallbank").expect("memory does not fail").sum_ok);
}

#[test]
fn a_conflict_that_happens_is_found() {
    assert!(!run::<2>("smallbank").expect("memory does not fail").sum_ok);
}

#[test]
fn a_failure_ends_the_run() {
    let error = run::<3>("transfer").expect_err("it fails").to_string();
    assert_eq!(error, "no space is left");
}

#[test]
fn the_report_is_one_line_of_the_promised_fields() {
    let report = run::<0>("transfer").expect("memory does not fail");
    let line = serde_json::to_string(&report).expect("plain data");
    let report: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&line).expect("an object");
    assert!(!line.contains('\n'));
    let mut fields: Vec<&str> = report.keys().map(String::as_str).collect();
    fields.sort_unstable();
    let promised = [
        "aborts",
        "engine",
        "per_second",
        "refused",
        "seconds",
        "sum_ok",
        "sync",
        "threads",
        "transactions",
        "version",
        "workload",
    ];
    assert_eq!(fields, promised);
    assert_eq!(report["workload"], "transfer");
    assert_eq!(report["sync"], "none");
}
