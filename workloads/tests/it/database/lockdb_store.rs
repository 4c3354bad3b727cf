// SPDX-License-Identifier: MIT OR Apache-2.0
//! The workloads on `lockdb`'s store, judged by the reference.

use lockdb::{Database, Durability, Isolation, Options, TransactionOptions};
use lockstep_workloads::database::ycsb::Mix;
use lockstep_workloads::database::{
    ConsistencyError, Load, Loaded, Outcome, StoreError, StoreLoader, StoreSession,
    TableDefinition, TableId, Value, Workload, check, execute, replay, same_tables, total,
};
use lockstep_workloads::scenario::SmallBankAccess;

use super::{bank, poor_bank, populated, tatp, tpcc, ycsb};

fn loaded(workload: &impl Workload) -> Database {
    let database = Database::in_memory(Options::small()).expect("a store");
    workload.populate(&mut StoreLoader::new(&database)).expect("the population fits its tables");
    database
}

fn session(database: &Database, workload: &impl Workload, isolation: Isolation) -> StoreSession {
    let options = TransactionOptions { isolation, durability: Durability::None };
    StoreSession::new(database, workload.tables(), options).expect("a session")
}

/// One thread: outputs, rows and indexes are those of the reference.
fn agrees<W: Workload>(workload: &W, transactions: usize) {
    let database = loaded(workload);
    for isolation in [Isolation::ReadCommitted, Isolation::Snapshot, Isolation::Serializable] {
        let database =
            if isolation == Isolation::ReadCommitted { &database } else { &loaded(workload) };
        let mut store = session(database, workload, isolation);
        let mut expected = total(&mut store, workload).expect("a total");
        let mut history = Vec::new();
        for input in workload.inputs(0).take(transactions) {
            if let Outcome::Committed(output) =
                execute(&mut store, workload, &input).expect("sound")
            {
                expected += workload.change(&input, &output);
                history.push((input, output));
            }
        }
        let mut reference = populated(workload);
        replay(&mut reference, workload, history).expect("the same outputs");
        same_tables(&mut store, &mut reference).expect("the same rows");
        check(&mut store, workload, expected).expect("a sound database");
    }
}

#[test]
fn a_single_session_does_what_the_reference_does() {
    agrees(&bank(SmallBankAccess::Hot10, 1), 1_000);
    agrees(&poor_bank(1), 1_000);
    agrees(&tatp(1), 1_500);
    agrees(&ycsb(Mix::F, 1), 1_000);
    agrees(&tpcc(1), 300);
}

/// A loader that breaks off behind so many rows, without what it has not committed.
struct BreaksOff<'d>(StoreLoader<'d>, u64);

impl Load for BreaksOff<'_> {
    type Error = StoreError;

    fn create(&mut self, tables: &'static [TableDefinition]) -> Result<(), StoreError> {
        self.0.create(tables)
    }

    fn row(&mut self, table: TableId, row: &[Value<'_>]) -> Result<(), StoreError> {
        match self.1.checked_sub(1) {
            Some(left) => self.1 = left,
            None => return Err(ConsistencyError::new("there is room", "none").into()),
        }
        self.0.row(table, row)
    }

    fn finish(&mut self) -> Result<(), StoreError> {
        self.0.finish()
    }
}

#[test]
fn a_load_that_was_broken_off_goes_on() {
    let workload = tpcc(1);
    let whole = loaded(&workload);
    let rows = |database: &Database| -> u64 {
        let count = |table: &std::sync::Arc<lockdb::Table>| table.entries(None).unwrap() as u64;
        database.tables().iter().map(count).sum()
    };
    let all = rows(&whole);
    let database = Database::in_memory(Options::small()).expect("a store");
    for after in [0, 700, all / 2, all - 1] {
        let mut loader = BreaksOff(StoreLoader::going_on(&database), after);
        workload.populate(&mut loader).expect_err("it breaks off");
        assert!(rows(&database) <= after);
    }
    let before = rows(&database);
    let mut loader = StoreLoader::going_on(&database);
    workload.populate(&mut loader).expect("the rest");
    assert_eq!(loader.loaded(), Loaded { inserted: all - before, kept: before });
    let mut store = session(&database, &workload, Isolation::Snapshot);
    same_tables(&mut store, &mut populated(&workload)).expect("the same rows");
    let other = StoreLoader::going_on(&database);
    let failed = bank(SmallBankAccess::Hot10, 1).populate(&mut { other });
    failed.expect("other tables");
    let error = tpcc(2).populate(&mut StoreLoader::going_on(&database)).expect_err("others");
    assert!(matches!(error, StoreError::OtherRow { .. }), "{error}");
}
