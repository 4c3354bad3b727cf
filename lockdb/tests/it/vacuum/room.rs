// SPDX-License-Identifier: MIT OR Apache-2.0
//! A store in which all pages, or all tuples, are in use: which transactions are refused, which
//! wait, and how it recovers.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use lockdb::{Database, Error, Isolation, Options, Session, Table, Transaction};

use crate::vacuum::{QUICK, accounts, fill, one_row, plain, put, run};

/// Fills the store with versions of one row, until there is no room; gives the error.
fn fill_room(session: &mut Session, table: &Table) -> Error {
    let mut n = 0;
    loop {
        n += 1;
        let done = session.transaction(QUICK, |transaction| put(transaction, table, 0, n));
        match done {
            Ok(()) => assert!(n < 1_000_000, "so many versions do not fit"),
            Err(error) => return error,
        }
    }
}

/// Others continue until this is dropped, also by a panic.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Also while others read all the time, and with nobody but sessions to vacuum.
#[test]
fn a_full_store_names_the_snapshot_that_fills_it_and_goes_on_after_its_end() {
    for (maintenance, readers) in [(false, 0), (true, 0), (false, 2), (true, 2)] {
        let options = Options { pages: 200, maintenance, ..Options::small() };
        let store = Database::in_memory(options).unwrap();
        let table = plain(&store);
        let mut writer = one_row(&store, &table);
        let mut holder = store.session().unwrap();
        let (number, old) = (holder.number(), holder.begin(Isolation::Snapshot));
        let (snapshot, stop) = (old.snapshot(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let _stop = StopAtEnd(&stop);
            for _ in 0..readers {
                scope.spawn(|| {
                    let mut session = store.session().unwrap();
                    while !stop.load(Ordering::Relaxed) {
                        run(&mut session, |transaction| {
                            transaction.get(&table, &0).map(|row| assert!(row.is_some()))
                        });
                    }
                });
            }
            // The store's thread may be put off the processor just as it begins to look.
            let errors = (0..100).map(|_| fill_room(&mut writer, &table));
            let told = |error: &Error| matches!(error, Error::Full { kept_by: Some(_), .. });
            let error = errors.into_iter().find(told).expect("it is told in the end");
            let text = error.to_string();
            let Error::Full { what: "pages", limit: 200, kept_by: Some(kept_by) } = error else {
                panic!("{error:?}");
            };
            assert_eq!((kept_by.session, kept_by.snapshot), (number, snapshot));
            for part in [format!("session {number} "), format!("snapshot {snapshot},")] {
                assert!(text.contains(&part), "{text}");
            }
            drop(old);
            let mut refused = 0;
            while let Err(error) = writer.transaction(QUICK, |now| put(now, &table, 0, 0)) {
                assert!(matches!(error, Error::Full { .. }), "{error}");
                refused += 1;
                assert!(refused < 100_000, "room was not made");
            }
            // A reader that is put off the processor may keep as much, for so long.
            for value in 0..20_000 {
                while let Err(error) = writer.transaction(QUICK, |now| put(now, &table, 0, value)) {
                    assert!(matches!(error, Error::Full { .. }) && readers > 0, "{error}");
                    refused += 1;
                    assert!(refused < 100_000, "room was not made");
                }
            }
        });
    }
}

/// A snapshot that lasts for a moment is waited for: no transaction is refused because of it.
#[test]
fn a_full_store_waits_for_a_snapshot_that_may_end_soon() {
    for maintenance in [false, true] {
        let room_timeout = Duration::from_secs(60);
        let options = Options { pages: 200, maintenance, room_timeout, ..Options::small() };
        let store = Database::in_memory(options).unwrap();
        let table = plain(&store);
        let mut writer = one_row(&store, &table);
        let (written, enough) = (AtomicU64::new(0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut session = store.session().unwrap();
                let _snapshot = session.begin(Isolation::Snapshot);
                // Until the writer has come to a stop.
                let mut before = u64::MAX;
                while before != written.load(Ordering::Relaxed) && !enough.load(Ordering::Relaxed) {
                    before = written.load(Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
            let _stop = StopAtEnd(&enough);
            for value in 0..100_000 {
                run(&mut writer, |transaction| put(transaction, &table, 0, value));
                written.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
}

/// Each page has a row that has to be moved before the page can be used again, and all are in use.
#[test]
fn a_full_store_has_room_to_move_rows() {
    for maintenance in [false, true] {
        let options = Options { pages: 200, maintenance, ..Options::small() };
        let store = Database::in_memory(options).unwrap();
        let table = plain(&store);
        let mut writer = one_row(&store, &table);
        let mut holder = store.session().unwrap();
        let old = holder.begin(Isolation::Snapshot);
        let mut rows = 0;
        let mut write = |n: i64| {
            writer.transaction(QUICK, |transaction| match n % 50 {
                0 => transaction.insert(&table, &[n.into(), 0.into()]),
                _ => put(transaction, &table, 0, n),
            })
        };
        let error = loop {
            rows += 1;
            if let Err(error) = write(rows) {
                break error;
            }
        };
        assert!(matches!(error, Error::Full { kept_by: Some(_), .. }), "{error}");
        drop(old);
        let refused = (0..1000).take_while(|_| write(1).is_err()).count();
        assert!(refused < 1000, "room was not made");
    }
}

/// All others are at the newest snapshot, which nobody can make older: neither pages nor VIDs that
/// were unlinked at that commit could be used again.
#[test]
fn who_is_refused_is_not_refused_for_ever() {
    let store = Database::in_memory(Options { tuples: 10, ..Options::small() }).unwrap();
    let table = plain(&store);
    let mut session = store.session().unwrap();
    let insert = |session: &mut Session, ids: std::ops::Range<i64>| {
        session.transaction(QUICK, |transaction| {
            ids.clone().try_for_each(|id| transaction.insert(&table, &[id.into(), 0.into()]))
        })
    };
    // The VIDs that it has made are unlinked by its rollback.
    assert!(matches!(insert(&mut session, 0..11), Err(Error::Full { what: "tuples", .. })));
    let done = (0..3).find_map(|_| insert(&mut session, 0..10).ok());
    assert!(done.is_some(), "ten have room");
    run(&mut session, |transaction| transaction.delete(&table, &3).map(drop));
    drop(session);
    assert_eq!(store.vacuum().unwrap().tuples_removed, 1);
    let mut session = store.session().unwrap();
    let done = (0..3).find_map(|_| insert(&mut session, 20..21).ok());
    assert!(done.is_some(), "one was deleted");
}

/// Also when each of its transactions takes more pages than vacuum looks at in a step.
#[test]
fn large_transactions_need_bounded_space() {
    let store = Database::in_memory(Options::small()).unwrap();
    let table = plain(&store);
    let rows = 30_000;
    let mut session = store.session().unwrap();
    fill(&mut session, &table, 0..rows);
    let (mut most, live) = (0, rows as u64 * crate::vacuum::PLAIN_ROW);
    for round in 0..30 {
        run(&mut session, |transaction| {
            (0..rows).try_for_each(|id| put(transaction, &table, id, round))
        });
        most = most.max(store.pages_in_use());
    }
    // A transaction's pages come on top, as they are taken at once.
    let bound = crate::vacuum::bound(live, 4, 0) + live.div_ceil(crate::vacuum::PAGE_ROOM);
    assert!(most <= bound, "{most} pages, bound {bound}");
}

/// A read-only transaction does not vacuum for others, whether its session is new or was used
/// before.
#[test]
fn readers_in_any_session_leave_vacuum_to_others() {
    let store = Database::in_memory(Options::small()).unwrap();
    let table = plain(&store);
    let mut writer = one_row(&store, &table);
    let mut holder = store.session().unwrap();
    let old = holder.begin(Isolation::Snapshot);
    for value in 0..20_000 {
        run(&mut writer, |transaction| put(transaction, &table, 0, value));
    }
    let in_pool = |value: i64| {
        let done = store.transaction_with(QUICK, |transaction| put(transaction, &table, 0, value));
        done.unwrap();
    };
    (0..1000).for_each(in_pool);
    drop(old);
    let before = store.pages_in_use();
    for _ in 0..100 {
        drop(store.session().unwrap().begin(QUICK));
        let read = |transaction: &mut Transaction<'_>| {
            transaction.get(&table, &0).map(|row| assert!(row.is_some()))
        };
        store.transaction_with(QUICK, read).unwrap();
    }
    assert_eq!(store.pages_in_use(), before);
}

/// Chains of all lengths in one page: those before a long one are not walked again for each step that
/// walks along it.
#[test]
fn vacuum_visits_short_chains_beside_a_long_one_a_bounded_number_of_times() {
    let store = Database::in_memory(Options::small()).unwrap();
    let table = accounts(&store);
    let mut session = store.session().unwrap();
    let (rows, mut next) = (100, 0);
    run(&mut session, |transaction| {
        let row = |id: i64| [id.into(), 0.into(), 0.into()];
        (0..rows).try_for_each(|id| transaction.insert(&table, &row(id)))
    });
    let mut old = [store.session().unwrap(), store.session().unwrap()];
    let [first, second] = &mut old;
    let first = first.begin(Isolation::Snapshot);
    let mut write = |session: &mut Session, id: i64| {
        next += 1;
        run(session, |transaction| put(transaction, &table, id, next));
    };
    let mut all = |session: &mut Session| (0..rows).for_each(|id| write(session, id));
    (0..3).for_each(|_| all(&mut session));
    drop(session);
    let _second = second.begin(Isolation::Snapshot);
    let mut session = store.session().unwrap();
    (0..55).for_each(|_| all(&mut session));
    (0..100_000).for_each(|_| write(&mut session, rows - 1));
    drop((session, first));
    let done = store.vacuum().unwrap();
    let bound = 4 * next as u64 + 2_000;
    assert!(done.versions_visited <= bound && done.pages_freed > 0, "{done:?} of {next}");
}

/// Each attempt for a locked row may yield the processor to another thread: not several for each of
/// many.
#[test]
fn vacuum_tries_for_each_of_many_locked_rows_about_once() {
    let store = Database::in_memory(Options { lock_buckets: 1 << 16, ..Options::small() }).unwrap();
    let table = accounts(&store);
    let (rows, mut sessions) = (2000, [(); 2].map(|()| store.session().unwrap()));
    let all = |transaction: &mut Transaction<'_>, by: i64| {
        (0..rows).try_for_each(|id| put(transaction, &table, id, id + by))
    };
    let [writer, locker] = &mut sessions;
    run(writer, |transaction| {
        let row = |id: i64| [id.into(), 0.into(), 0.into()];
        (0..rows).try_for_each(|id| transaction.insert(&table, &row(id)))
    });
    (1..3).for_each(|by| run(writer, |transaction| all(transaction, by)));
    let mut locking = locker.begin(QUICK);
    all(&mut locking, 3).unwrap();
    let done = store.vacuum().unwrap();
    let tries = store.lock_table().statistics().busy;
    assert!(done.pages_busy > 0 && tries <= 2 * 2 * rows as u64, "{tries} tries, {done:?}");
}

/// Sessions that end after one transaction leave no vacuum to nobody.
#[test]
fn sessions_of_one_transaction_need_bounded_space() {
    let store = Database::in_memory(Options::small()).unwrap();
    let table = plain(&store);
    drop(one_row(&store, &table));
    let mut most = 0;
    for value in 0..10_000 {
        let mut session = store.session().unwrap();
        run(&mut session, |transaction| put(transaction, &table, 0, value));
        drop(session);
        most = most.max(store.pages_in_use());
    }
    let bound = crate::vacuum::bound(crate::vacuum::PLAIN_ROW, 4, 0);
    assert!(most <= bound, "{most} pages, bound {bound}");
}
