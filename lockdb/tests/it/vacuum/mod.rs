// SPDX-License-Identifier: MIT OR Apache-2.0
//! Vacuum beside transactions: no reader misses a row, and the space of a steady load is bounded.

mod ages;
mod chains;
mod room;
mod snapshots;
mod space;

use std::sync::Arc;

use lockdb::mutant::Mutant;
use lockdb::schema::{Schema, Type};
use lockdb::{
    Database, Durability, Error, Isolation, Options, Session, Table, Transaction,
    TransactionOptions, Vacuumed,
};

const QUICK: TransactionOptions =
    TransactionOptions { isolation: Isolation::Snapshot, durability: Durability::None };

fn accounts(store: &Database) -> Arc<Table> {
    let schema = Schema::builder("account")
        .column("id", Type::Int64)
        .column("owner", Type::Int64)
        .column("balance", Type::Int64)
        .primary_key(&["id"])
        .index("owner", &["owner"]);
    store.create_table(schema.build().unwrap()).unwrap()
}

/// A table of two columns, without secondary indexes.
fn plain(store: &Database) -> Arc<Table> {
    let schema = Schema::builder("plain").column("id", Type::Int64).column("value", Type::Int64);
    store.create_table(schema.primary_key(&["id"]).build().unwrap()).unwrap()
}

fn run<T>(session: &mut Session, work: impl FnMut(&mut Transaction<'_>) -> Result<T, Error>) -> T {
    session.transaction(QUICK, work).unwrap()
}

fn put(transaction: &mut Transaction<'_>, table: &Table, id: i64, value: i64) -> Result<(), Error> {
    transaction
        .update(table, &id, |row| {
            row.set_int(1, value);
            Ok(())
        })
        .map(|found| assert!(found.is_some()))
}

fn fill(session: &mut Session, table: &Table, ids: std::ops::Range<i64>) {
    for first in ids.clone().step_by(500) {
        run(session, |transaction| {
            (first..ids.end.min(first + 500))
                .try_for_each(|id| transaction.insert(table, &[id.into(), 0.into()]))
        });
    }
}

/// Bytes of pages that rows of `plain` take: line pointer, version header, null bitmap, two columns.
const PLAIN_ROW: u64 = 4 + 32 + 8 + 16;
const PAGE_ROOM: u64 = 8192 - 64;

/// The bound of docs/store-vacuum.md.
fn bound(live_bytes: u64, open: u64, pinned: u64) -> u64 {
    let left = 2 * live_bytes.div_ceil(PAGE_ROOM) + open;
    let due = (2 * left).max((left + pinned) * 9 / 8).max(64);
    due * 3 / 2 + open
}

/// Updates all rows of a table repeatedly beside an old snapshot, with vacuum after each time;
/// gives what the snapshot reads at last.
fn read_after_vacuum(store: &Database, table: &Table, rows: i64) -> Vec<Option<i64>> {
    let mut reader = store.session().unwrap();
    let mut old = reader.begin(Isolation::Snapshot);
    for round in 1..9 {
        let mut writer = store.session().unwrap();
        run(&mut writer, |transaction| {
            // Not all, so that vacuum finds pages with something to move.
            let updated = (0..rows).filter(|id| (id + round) % 3 > 0);
            updated.into_iter().try_for_each(|id| put(transaction, table, id, round))
        });
        drop(writer);
        store.vacuum().unwrap();
    }
    (0..rows).map(|id| old.get(table, &id).unwrap().map(|row| row.int(1))).collect()
}

#[test]
fn an_old_snapshot_keeps_what_it_needs_and_no_longer() {
    let store = Database::in_memory(Options::small()).unwrap();
    let table = plain(&store);
    fill(&mut store.session().unwrap(), &table, 0..2000);
    let read = read_after_vacuum(&store, &table, 2000);
    assert!(read.iter().all(|&value| value == Some(0)));
    let with_snapshot = store.pages_in_use();
    let done = store.vacuum().unwrap();
    let without = store.pages_in_use();
    assert!(without * 3 <= with_snapshot, "{with_snapshot} pages, then {without}: {done:?}");
    assert_eq!(done.pages_pinned, 0);
}

/// A page with little in it, left behind by its session: ten rows, each with this value.
fn put_ten(store: &Database, table: &Table, value: i64) {
    let mut session = store.session().unwrap();
    run(&mut session, |transaction| (0..10).try_for_each(|id| put(transaction, table, id, value)));
}

#[test]
fn a_moved_version_leads_to_those_before_it() {
    let store = Database::in_memory(Options::small()).unwrap();
    let table = plain(&store);
    fill(&mut store.session().unwrap(), &table, 0..130);
    let mut reader = store.session().unwrap();
    let mut old = reader.begin(Isolation::Snapshot);
    put_ten(&store, &table, 1);
    assert_eq!(store.vacuum().unwrap().versions_moved, 10);
    for id in 0..10 {
        assert_eq!(old.get(&table, &id).unwrap().map(|row| row.int(1)), Some(0), "row {id}");
    }
}

#[test]
fn a_page_is_not_used_again_while_somebody_reads_it() {
    let store = Database::in_memory(Options::small()).unwrap();
    let table = plain(&store);
    fill(&mut store.session().unwrap(), &table, 0..130);
    put_ten(&store, &table, 1);
    let mut reader = store.session().unwrap();
    let mut reading = reader.begin(Isolation::ReadCommitted);
    let row = reading.get(&table, &7).unwrap().expect("it was inserted");
    assert_eq!(store.vacuum().unwrap().versions_moved, 10);
    fill(&mut store.session().unwrap(), &table, 1000..5000);
    assert_eq!((row.int(0), row.int(1)), (7, 1));
}

/// A table's row 0 alone.
fn one_row(store: &Database, table: &Table) -> Session {
    let mut session = store.session().unwrap();
    run(&mut session, |transaction| match table.name() {
        "plain" => transaction.insert(table, &[0.into(), 0.into()]),
        _ => transaction.insert(table, &[0.into(), 0.into(), 0.into()]),
    });
    session
}

#[test]
fn vacuum_that_ignores_snapshots_is_noticed() {
    let store = Database::in_memory(Options::small()).unwrap();
    let table = plain(&store);
    fill(&mut store.session().unwrap(), &table, 0..2000);
    store.plant(Some(Mutant::VacuumIgnoresSnapshots));
    let read = read_after_vacuum(&store, &table, 2000);
    assert!(read.iter().any(|&value| value != Some(0)));
}

/// A row is deleted, and inserted again by a transaction that commits after a vacuum. What is read
/// then, and what the vacuum did.
fn insert_again_beside_vacuum(store: &Database) -> (Option<i64>, Vacuumed) {
    let table = plain(store);
    let mut session = store.session().unwrap();
    fill(&mut session, &table, 0..100);
    run(&mut session, |transaction| {
        (0..100).try_for_each(|id| transaction.delete(&table, &id).map(drop))
    });
    drop(session);
    let mut session = store.session().unwrap();
    let mut again = session.begin(Isolation::Snapshot);
    again.insert(&table, &[7.into(), 70.into()]).unwrap();
    let done = store.vacuum().unwrap();
    again.commit().unwrap();
    drop(again);
    let get =
        |transaction: &mut Transaction<'_>| Ok(transaction.get(&table, &7)?.map(|row| row.int(1)));
    (run(&mut session, get), done)
}

#[test]
fn vacuum_passes_over_rows_that_are_locked() {
    let store = Database::in_memory(Options::small()).unwrap();
    let (found, done) = insert_again_beside_vacuum(&store);
    assert_eq!((found, done.tuples_removed, done.pages_busy), (Some(70), 99, 1), "{done:?}");
    assert_eq!(store.vacuum().unwrap().pages_busy, 0);
}

#[test]
fn vacuum_without_lock_is_noticed() {
    let store = Database::in_memory(Options::small()).unwrap();
    store.plant(Some(Mutant::VacuumWithoutLock));
    assert_eq!(insert_again_beside_vacuum(&store).0, None);
}

/// The store's thread vacuums, and is gone when the last handle is.
#[test]
fn the_stores_thread_ends_with_the_last_handle() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..5 {
        let options = Options { maintenance: true, ..Options::small() };
        // Refused if the store of the round before were still open.
        let store = Database::open(folder.path(), options).unwrap();
        let table = if round == 0 { plain(&store) } else { store.table("plain").unwrap() };
        let mut session = store.session().unwrap();
        drop(store);
        fill(&mut session, &table, round * 1000..(round + 1) * 1000);
        for value in 0..10 {
            run(&mut session, |transaction| {
                (0..1000).try_for_each(|id| put(transaction, &table, id, value))
            });
        }
    }
}
