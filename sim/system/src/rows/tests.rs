// SPDX-License-Identifier: MIT OR Apache-2.0
use std::sync::Arc;

use workloads::scenario::{HotRowSettings, Mode, Scenario, Workload, YcsbSettings};

use super::client::Written;
use super::{BALANCE, Client, INITIAL_BALANCE, LOADED_AT_ONCE, Ledger, MOST_ROWS, OPTIONS, Rows};
use crate::RunError;
use crate::plan::Source;

fn scenario(name: &str) -> Scenario {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    Scenario::load(folder.join(name)).unwrap()
}

/// Rows 1 to 4, and two clients.
fn small(scenario: &Scenario) -> (Arc<Rows>, [Client; 2]) {
    let rows = Arc::new(Rows::new(scenario, &Source::all(scenario).unwrap(), None).unwrap());
    let client = || Client::new(rows.clone()).unwrap();
    (rows.clone(), [client(), client()])
}

fn hold(client: &mut Client, row: u64) {
    let version = client.newest(row).unwrap();
    client.hold(row, version.key, version);
}

fn write(client: &mut Client, ledger: &mut Ledger, amount: i64) {
    client.write(amount).unwrap();
    ledger.enter(client.written());
}

#[test]
fn versions_count_up_and_pairs_keep_the_sum() {
    let (rows, [mut client, _]) = small(&scenario("hot-row-storm.toml"));
    let mut ledger = Ledger::default();
    assert_eq!(client.newest(3).unwrap().key, locks::TupleKey::new(3, 0));
    [3, 1].into_iter().for_each(|row| hold(&mut client, row));
    write(&mut client, &mut ledger, 7);
    assert_eq!(client.newest(3).unwrap().key, locks::TupleKey::new(3, 1));
    assert_eq!(client.newest(3).unwrap().balance, INITIAL_BALANCE + 7);
    assert_eq!(client.newest(1).unwrap().balance, INITIAL_BALANCE - 7);
    let report = rows.check(&ledger).unwrap();
    assert_eq!((report.rows, report.versions_written), (4, 2));
    assert_eq!(report.sum, 4 * INITIAL_BALANCE);
    hold(&mut client, 2);
    write(&mut client, &mut ledger, 5);
    assert_eq!(rows.check(&ledger).unwrap().sum, 4 * INITIAL_BALANCE + 5);
}

#[test]
fn what_was_let_go_or_forgotten_is_not_written() {
    let (rows, [mut client, _]) = small(&scenario("hot-row-storm.toml"));
    let mut ledger = Ledger::default();
    [1, 2].into_iter().for_each(|row| hold(&mut client, row));
    client.let_go(locks::TupleKey::new(1, 0));
    write(&mut client, &mut ledger, 1);
    assert_eq!(client.written(), [Written { row: 2, added: 1, overtaken: false }]);
    hold(&mut client, 3);
    client.forget();
    assert!(!client.has_work());
    assert_eq!(rows.check(&ledger).unwrap().versions_written, 1);
}

/// Two agents that both believe to have the lock.
#[test]
fn a_broken_lock_is_noticed_by_the_second_to_write() {
    let (_, [mut one, mut other]) = small(&scenario("hot-row-storm.toml"));
    [&mut one, &mut other].into_iter().for_each(|client| hold(client, 4));
    one.write(1).unwrap();
    let error = other.write(1).unwrap_err();
    assert!(matches!(error, RunError::Update { row: 4, .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("row 4") && text.contains("version 1 is locked, but 2"), "{text}");
}

#[test]
fn what_slips_past_the_store_is_missing_from_the_sums() {
    let wrong = |ledger: &Ledger, rows: &Rows| rows.check(ledger).unwrap_err().to_string();
    let scenario = scenario("hot-row-storm.toml");

    // An update that was acknowledged and is not there.
    let (rows, _) = small(&scenario);
    let mut ledger = Ledger::default();
    ledger.enter(&[Written { row: 2, added: 1, overtaken: false }]);
    let expected = "row 2: its version number is 1, expected 2 after the committed updates";
    assert_eq!(wrong(&ledger, &rows), expected);

    // One by somebody who has not asked for the lock.
    let (rows, _) = small(&scenario);
    let sneaked = rows.database.transaction_with(OPTIONS, |transaction| {
        transaction.update(&rows.table, &3, |row| {
            let balance = row.as_row().int(BALANCE);
            row.set_int(BALANCE, balance + 1);
            Ok(())
        })
    });
    assert!(sneaked.is_ok_and(|found: Option<()>| found.is_some()));
    let expected = "row 3: its version number is 2, expected 1 after the committed updates";
    assert_eq!(wrong(&Ledger::default(), &rows), expected);

    // One that was written over with what had been read before it.
    let (rows, [mut client, _]) = small(&scenario);
    let mut ledger = Ledger::default();
    let before = client.newest(1).unwrap();
    hold(&mut client, 1);
    write(&mut client, &mut ledger, 9);
    let now = client.newest(1).unwrap();
    client.hold(1, now.key, super::Version { balance: before.balance, ..now });
    write(&mut client, &mut ledger, 1);
    let expected = "row 1: its balance is 10001, expected 10010 after the committed updates";
    assert_eq!(wrong(&ledger, &rows), expected);
}

#[test]
fn a_replay_writes_onto_the_newest_version_and_counts_it() {
    let (rows, [mut one, mut other]) = small(&scenario("pgbench-replay.toml"));
    let mut ledger = Ledger::default();
    [&mut one, &mut other].into_iter().for_each(|client| hold(client, 7));
    write(&mut one, &mut ledger, 3);
    write(&mut other, &mut ledger, 4);
    let report = rows.check(&ledger).unwrap();
    assert_eq!((report.versions_written, report.overtaken), (2, 1));
    assert_eq!(other.newest(7).unwrap().balance, INITIAL_BALANCE + 7);
}

#[test]
fn rows_of_a_large_table_come_when_they_are_used() {
    let mut scenario = scenario("ycsb-uniform.toml");
    let Workload::Ycsb(ycsb) = scenario.workload else { panic!("it is YCSB") };
    scenario.workload = Workload::Ycsb(YcsbSettings { rows: LOADED_AT_ONCE + 1, ..ycsb });
    let (rows, [mut client, _]) = small(&scenario);
    assert_eq!(rows.check(&Ledger::default()).unwrap().rows, 0);
    for row in [5, LOADED_AT_ONCE + 1, 5, u64::MAX] {
        assert_eq!(client.newest(row).unwrap().key, locks::TupleKey::new(row, 0));
    }
    assert_eq!(rows.check(&Ledger::default()).unwrap().rows, 3);
}

#[test]
fn by_the_wall_clock_too_many_rows_are_refused() {
    let mut scenario = scenario("wall-clock.toml");
    assert_eq!(scenario.mode, Mode::WallClock);
    scenario.workload = Workload::HotRow(HotRowSettings { rows: MOST_ROWS + 1 });
    let error = Rows::new(&scenario, &[], None).unwrap_err();
    assert!(matches!(error, RunError::Scenario(_)), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("`workload.hot-row.rows`") && text.contains("16777216"), "{text}");
}
