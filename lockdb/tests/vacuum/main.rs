// SPDX-License-Identifier: MIT OR Apache-2.0
//! Vacuum beside transactions: no reader misses a row, and the space of a steady load is bounded.

mod ages;
mod room;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use lockdb::mutant::Mutant;
use lockdb::schema::{RowRef, Schema, Type};
use lockdb::{
    Database, Durability, Error, Isolation, Options, Order, Session, Table, Transaction,
    TransactionOptions, Vacuumed,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

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

#[test]
fn an_idle_store_gives_all_dead_pages_back() {
    let store = Database::in_memory(Options::small()).unwrap();
    let table = plain(&store);
    let mut session = store.session().unwrap();
    fill(&mut session, &table, 0..3000);
    run(&mut session, |transaction| (0..3000).try_for_each(|id| put(transaction, &table, id, 1)));
    drop(session);
    let before = store.pages_in_use();
    let done = store.vacuum().unwrap();
    assert!(done.pages_freed >= 3000 * PLAIN_ROW / PAGE_ROOM, "{done:?} of {before} pages");
    assert!(store.pages_in_use() <= 3000 * PLAIN_ROW / PAGE_ROOM + 4, "{done:?}");
    let mut session = store.session().unwrap();
    run(&mut session, |transaction| {
        (0..3000).try_for_each(|id| transaction.delete(&table, &id).map(|there| assert!(there)))
    });
    drop(session);
    let done = store.vacuum().unwrap();
    assert_eq!((done.tuples_removed, done.pages_pinned, done.pages_busy), (3000, 0, 0));
    // But for the page that vacuum itself has open.
    assert!(store.pages_in_use() <= 1, "{done:?}");
    assert_eq!(table.entries(None).unwrap(), 0);
}

/// Random updates of a fixed set of rows: the most pages that were ever in use, and the most commits
/// that a snapshot has outlived.
fn most_pages(options: Options, threads: u64, rows: i64, updates: u64, seed: u64) -> (u64, u64) {
    let store = Database::in_memory(options).unwrap();
    let table = plain(&store);
    fill(&mut store.session().unwrap(), &table, 0..rows);
    let (most, oldest) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (store, table, most, oldest) = (&store, &table, &most, &oldest);
            scope.spawn(move || {
                let mut random = ChaCha8Rng::seed_from_u64(seed << 8 | thread);
                let mut session = store.session().unwrap();
                for count in 0..updates / threads {
                    let id = random.random_range(0..rows);
                    let snapshot = run(&mut session, |transaction| {
                        put(transaction, table, id, count as i64)?;
                        Ok(transaction.snapshot())
                    });
                    oldest.fetch_max(store.published() - snapshot, Ordering::Relaxed);
                    if count % 64 == 0 {
                        most.fetch_max(store.pages_in_use(), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    (most.into_inner(), oldest.into_inner())
}

#[test]
fn steady_updates_need_bounded_space() {
    seeds::each!(1, update_steadily);
}

fn update_steadily(seed: u64) {
    for (threads, maintenance) in [(1, false), (2, false), (2, true)] {
        let rows = 10_000;
        let options = Options { maintenance, ..Options::small() };
        let (most, oldest) = most_pages(options, threads, rows, 400_000, seed);
        // Each session and vacuum have a page open, and may have one in stock.
        // Each commit keeps one page at most for a snapshot before it.
        let bound = bound(rows as u64 * PLAIN_ROW, 2 * (threads + 1), oldest);
        println!(
            "{threads} threads, maintenance {maintenance}: at most {most} pages, bound {bound}, \
             a snapshot outlived {oldest} commits"
        );
        assert!(most <= bound, "{most} pages with {threads} threads; bound {bound}");
    }
}

/// Its writer has the row locked most of the time, and each version has an entry of its own.
#[test]
fn a_hot_row_with_changing_keys_needs_bounded_space() {
    for maintenance in [false, true] {
        let options = Options { maintenance, ..Options::small() };
        let store = Database::in_memory(options).unwrap();
        let table = accounts(&store);
        let mut writer = one_row(&store, &table);
        let (mut most_pages, mut most_entries) = (0, 0);
        let updates = 200_000;
        for owner in 0..updates {
            run(&mut writer, |transaction| put(transaction, &table, 0, owner));
            if owner % 64 == 0 {
                most_pages = most_pages.max(store.pages_in_use());
                most_entries = most_entries.max(table.entries(Some("owner")).unwrap());
            }
        }
        println!("maintenance {maintenance}: at most {most_pages} pages, {most_entries} entries");
        // Each version takes 68 bytes. Beside the store's thread, pages stay while the row is locked:
        // that is not bounded, but neither is it the usual.
        let pages = if maintenance { 800 } else { bound(68, 4, 0) };
        assert!(most_pages <= pages, "{most_pages} pages of {}", updates as u64 * 68 / PAGE_ROOM);
        assert!(most_entries as u64 <= pages * (PAGE_ROOM / 68), "{most_entries} entries");
    }
}

#[test]
fn a_queue_needs_bounded_space() {
    let store = Database::in_memory(Options::small()).unwrap();
    let table = accounts(&store);
    let mut session = store.session().unwrap();
    let (length, rounds) = (500, 60_000);
    let (mut most_pages, mut most_entries) = (0, 0);
    for id in 0..rounds {
        run(&mut session, |transaction| {
            transaction.insert(&table, &[id.into(), (id % 7).into(), 0.into()])
        });
        if id >= length {
            let gone = run(&mut session, |transaction| transaction.delete(&table, &(id - length)));
            assert!(gone, "row {}", id - length);
        }
        if id % 64 == 0 {
            most_pages = most_pages.max(store.pages_in_use());
            let entries = table.entries(None).unwrap().max(table.entries(Some("owner")).unwrap());
            most_entries = most_entries.max(entries as u64);
        }
    }
    // Each version takes 68 bytes; all that stand in pages may have tuples and entries yet.
    let pages = bound(length as u64 * 68, 4, 0);
    let tuples = pages * (PAGE_ROOM / 68);
    println!(
        "at most {most_pages} pages of {pages}, {most_entries} entries, {} VIDs",
        table.vids()
    );
    assert!(most_pages <= pages, "{most_pages} pages, bound {pages}");
    assert!(u64::from(table.vids()) <= tuples, "{} VIDs, bound {tuples}", table.vids());
    assert!(most_entries <= tuples, "{most_entries} entries, bound {tuples}");
    drop(session);
    store.vacuum().unwrap();
    store.vacuum().unwrap();
    // Deleted tuples may stay in pages of which more than half is rows.
    assert!(table.entries(None).unwrap() <= 2 * length as usize);
    assert!(table.entries(Some("owner")).unwrap() <= 2 * length as usize);
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

/// Changes row 0 repeatedly: its second column.
fn change_again(session: &mut Session, table: &Table, values: impl Iterator<Item = i64>) {
    for value in values {
        run(session, |transaction| put(transaction, table, 0, value));
    }
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

/// However long the chain is, and whether its versions have keys of their own or share a few.
#[test]
fn vacuum_visits_each_version_of_a_long_chain_a_bounded_number_of_times() {
    for (versions, keys) in [(2_000, 1), (40_000, 1), (2_000, 0), (20_000, 0), (20_000, 7)] {
        let store = Database::in_memory(Options::small()).unwrap();
        let table = if keys == 1 { plain(&store) } else { accounts(&store) };
        let mut writer = one_row(&store, &table);
        let key = |n: i64| if keys == 7 { n % 7 } else { n };
        // Half of the versions are dead, half are kept by a snapshot.
        change_again(&mut writer, &table, (0..versions / 2).map(key));
        let mut reader = store.session().unwrap();
        let _old = reader.begin(Isolation::Snapshot);
        change_again(&mut writer, &table, (versions / 2..versions).map(key));
        drop(writer);
        let done = store.vacuum().unwrap();
        let visited = done.versions_visited;
        // Twice in its page, once along the chain; and a page may be begun again by the next step.
        let bound = 4 * versions as u64 + 2_000;
        assert!(visited <= bound, "{visited} visits of {versions} versions, {keys}: {done:?}");
        assert!(done.pages_pinned > 0, "{done:?}");
    }
}

/// The owner of row 0 by the index, as a transaction sees it: each one near `near` that it is listed
/// under.
fn owners_of_row_0(transaction: &mut Transaction<'_>, table: &Table, near: i64) -> Vec<i64> {
    let mut owners = Vec::new();
    let visit = |row: RowRef<'_>| {
        owners.push(row.int(1));
        ControlFlow::Continue(())
    };
    // Each entry costs a walk along the chain.
    transaction.range_by(table, "owner", near - 20..near + 20, Order::Ascending, visit).unwrap();
    owners
}

/// Entries of a long chain's keys go with the last version that has them, also of keys that come
/// again, and no sooner.
#[test]
fn entries_stay_as_long_as_a_version_of_a_long_chain_has_their_key() {
    seeds::each!(1, change_keys_of_a_long_chain);
}

fn change_keys_of_a_long_chain(seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let store = Database::in_memory(Options::small()).unwrap();
    let table = accounts(&store);
    let mut writer = one_row(&store, &table);
    let mut sessions: Vec<_> = (0..8).map(|_| store.session().unwrap()).collect();
    let mut snapshots: Vec<(Transaction<'_>, i64)> = Vec::new();
    let (mut owner, mut next) = (0, 1);
    let mut sessions = sessions.iter_mut();
    for session in sessions.by_ref() {
        // More versions than one step of vacuum walks along, now and then.
        for _ in 0..random.random_range(50..8_000) {
            owner = match random.random_range(0..3) {
                0 => random.random_range(0..next),
                _ => next,
            };
            next += 1;
            run(&mut writer, |transaction| put(transaction, &table, 0, owner));
        }
        snapshots.push((session.begin(Isolation::Snapshot), owner));
        store.vacuum().unwrap();
        // The oldest ends, or one in the middle.
        if snapshots.len() > 3 {
            snapshots.remove(random.random_range(0..2));
            store.vacuum().unwrap();
        }
        for (snapshot, owner) in &mut snapshots {
            assert_eq!(owners_of_row_0(snapshot, &table, *owner), [*owner]);
        }
        assert_eq!(run(&mut writer, |now| Ok(owners_of_row_0(now, &table, owner))), [owner]);
    }
    drop((snapshots, writer));
    // The first leaves what was in its own open page.
    store.vacuum().unwrap();
    let done = store.vacuum().unwrap();
    assert_eq!(table.entries(Some("owner")).unwrap(), 1, "{done:?}");
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

const ROWS: i64 = 300;
const OWNERS: i64 = 10;
const TOTAL: i64 = ROWS * 100;

/// One random change that keeps the sum of all balances.
fn change(
    transaction: &mut Transaction<'_>,
    table: &Table,
    (from, to): (i64, i64),
    (kind, owner): (u32, i64),
) -> Result<(), Error> {
    let take = |transaction: &mut Transaction<'_>, id: i64| {
        let row = transaction.get(table, &id)?;
        Ok::<_, Error>(row.map(|row| row.int(2)))
    };
    let (Some(balance), target) = (take(transaction, from)?, take(transaction, to)?) else {
        return Ok(());
    };
    match (kind, target) {
        // A transfer.
        (0..4, Some(_)) => {
            transaction.update(table, &from, |row| {
                row.set_int(2, balance - 1);
                Ok(())
            })?;
            transaction.update(table, &to, |row| {
                let before = row.as_row().int(2);
                row.set_int(2, before + 1);
                Ok(())
            })?;
        }
        // Another owner.
        (4..7, _) => {
            transaction.update(table, &from, |row| {
                row.set_int(1, owner);
                Ok(())
            })?;
        }
        // The account goes, its money goes to another one.
        (7.., Some(_)) => {
            assert!(transaction.delete(table, &from)?);
            transaction.update(table, &to, |row| {
                let before = row.as_row().int(2);
                row.set_int(2, before + balance);
                Ok(())
            })?;
        }
        // An account comes (again) with half of another's money.
        (_, None) => {
            let half = balance / 2;
            transaction.update(table, &from, |row| {
                row.set_int(2, balance - half);
                Ok(())
            })?;
            transaction.insert(table, &[to.into(), owner.into(), half.into()])?;
        }
    }
    Ok(())
}

/// One snapshot: the balances' sum, and the rows by each index.
fn check(session: &mut Session, table: &Table) {
    let mut transaction = session.begin(QUICK);
    let mut rows = BTreeMap::new();
    let go_on = ControlFlow::Continue(());
    let scanned = transaction.scan(table, |row| {
        assert!(
            rows.insert(row.int(0), (row.int(1), row.int(2))).is_none(),
            "row {} twice",
            row.int(0)
        );
        go_on
    });
    scanned.unwrap();
    let snapshot = transaction.snapshot();
    let sum: i64 = rows.values().map(|&(_, balance)| balance).sum();
    assert_eq!(sum, TOTAL, "sum at snapshot {snapshot}");
    let mut by_key = Vec::new();
    let visit = |row: RowRef<'_>| {
        by_key.push((row.int(0), (row.int(1), row.int(2))));
        go_on
    };
    transaction.range(table, 0..ROWS, Order::Ascending, visit).unwrap();
    assert!(rows.iter().map(|(&id, &row)| (id, row)).eq(by_key), "range at snapshot {snapshot}");
    for owner in 0..OWNERS {
        let owned_in = |order: Order, transaction: &mut Transaction<'_>| {
            let mut found = Vec::new();
            let visit = |row: RowRef<'_>| {
                found.push(row.int(0));
                go_on
            };
            transaction.range_by(table, "owner", owner..=owner, order, visit).unwrap();
            found.sort_unstable();
            found
        };
        let owned: Vec<_> =
            rows.iter().filter(|(_, (of, _))| *of == owner).map(|(&id, _)| id).collect();
        for order in [Order::Ascending, Order::Descending] {
            let found = owned_in(order, &mut transaction);
            assert_eq!(owned, found, "rows of owner {owner} at snapshot {snapshot}, {order:?}");
        }
    }
}

#[test]
fn snapshots_stay_whole_beside_vacuum() {
    seeds::each!(1, write_beside_vacuum);
}

fn write_beside_vacuum(seed: u64) {
    let store = Database::in_memory(Options::small()).unwrap();
    let table = accounts(&store);
    store
        .transaction(|transaction| {
            (0..ROWS).try_for_each(|id| {
                transaction.insert(&table, &[id.into(), (id % OWNERS).into(), 100.into()])
            })
        })
        .unwrap();
    let (writers, stop) = (2, AtomicBool::new(false));
    let done = std::thread::scope(|scope| {
        let (store, table, stop) = (&store, &table, &stop);
        let write = |writer: u64| {
            let mut random = ChaCha8Rng::seed_from_u64(seed << 8 | writer);
            let mut session = store.session().unwrap();
            for _ in 0..20_000 {
                let pair = (random.random_range(0..ROWS), random.random_range(0..ROWS));
                let how = (random.random_range(0..10), random.random_range(0..OWNERS));
                if pair.0 != pair.1 {
                    run(&mut session, |transaction| change(transaction, table, pair, how));
                }
            }
        };
        let writing: Vec<_> =
            (0..writers).map(|writer| scope.spawn(move || write(writer))).collect();
        scope.spawn(|| {
            let mut session = store.session().unwrap();
            while !stop.load(Ordering::Relaxed) {
                check(&mut session, table);
            }
        });
        let vacuum = scope.spawn(|| {
            let (mut moved, mut removed, mut entries) = (0, 0, 0);
            while !stop.load(Ordering::Relaxed) {
                let done = store.vacuum().unwrap();
                moved += done.versions_moved;
                removed += done.tuples_removed;
                entries += done.entries_removed;
            }
            (moved, removed, entries)
        });
        let written: Vec<_> = writing.into_iter().map(|writer| writer.join()).collect();
        stop.store(true, Ordering::Relaxed);
        written.into_iter().for_each(|writer| writer.unwrap());
        vacuum.join().unwrap()
    });
    println!("moved, tuples removed, entries removed beside transactions: {done:?}");
    let mut session = store.session().unwrap();
    check(&mut session, &table);
    run(&mut session, |transaction| {
        (0..ROWS).try_for_each(|id| transaction.delete(&table, &id).map(drop))
    });
    drop(session);
    // The first leaves what was in its own open page.
    store.vacuum().unwrap();
    let entries = [table.entries(None).unwrap(), table.entries(Some("owner")).unwrap()];
    assert!(entries.iter().all(|&entries| entries < 200), "{entries:?} entries for no row");
    assert!(table.vids() < 4 * ROWS as u32, "{} VIDs", table.vids());
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
