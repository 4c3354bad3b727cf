// SPDX-License-Identifier: MIT OR Apache-2.0
//! The space of an idle store and of steady loads is bounded.

use std::sync::atomic::{AtomicU64, Ordering};

use lockdb::{Database, Options};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::vacuum::{PAGE_ROOM, PLAIN_ROW, accounts, bound, fill, one_row, plain, put, run};

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
