// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many sessions there are, and what a transaction leaves in one that it never ended.

use std::mem::forget;
use std::thread::{scope, sleep};
use std::time::Duration;

use lockdb::{Error, Isolation, LockWait, Options, Result, Session, Transaction};
use locks::{LockTable, Timestamp, TupleKey, Waiting};

use super::{LEVELS, all, person, set_town, store_of};

/// Only a test that hangs gets to its end.
const FOR_EVER: Duration = Duration::from_secs(100);

fn sessions(sessions: usize, session_timeout: Duration) -> Options {
    Options { sessions, session_timeout, ..Options::small() }
}

#[test]
fn sessions_are_counted() {
    let timeout = Duration::from_millis(10);
    let (store, _) = store_of(sessions(3, timeout), &[]);
    // The one that waits within the store for `Database::transaction` makes room.
    let held: Vec<Session> = (0..3).map(|_| store.session().unwrap()).collect();
    let refused = |error: Error| match error {
        Error::NoSession { sessions: 3, waited } => assert!(waited >= timeout),
        other => panic!("{other}"),
    };
    refused(store.session().unwrap_err());
    refused(store.transaction(|_| Ok::<_, Error>(())).unwrap_err());
    drop(held);
    store.session().unwrap();
}

#[test]
fn whoever_finds_all_sessions_in_use_waits_for_one() {
    let (store, table) = store_of(sessions(2, FOR_EVER), &[(1, 0)]);
    let add = || {
        for _ in 0..50 {
            let added = store.transaction_with(Isolation::ReadCommitted, |t| {
                t.update(&table, &1, |row| {
                    let town = row.as_row().int(1);
                    row.set_int(1, town + 1);
                    Ok(())
                })
            });
            added.unwrap();
        }
    };
    scope(|threads| (0..20).for_each(|_| drop(threads.spawn(add))));
    assert_eq!(all(&store, &table), [(1, 1000)]);
    let held = [store.session().unwrap(), store.session().unwrap()];
    scope(|threads| {
        let waiting = threads.spawn(|| store.session().map(drop));
        let running = threads.spawn(|| store.transaction(|t| t.get(&table, &1).map(drop)));
        // Time to find none free; without, this test passes, for less reason.
        sleep(Duration::from_millis(20));
        drop(held);
        waiting.join().unwrap().unwrap();
        running.join().unwrap().unwrap();
    });
}

/// They would come free only after this call.
#[test]
fn sessions_of_the_callers_own_closures_are_not_waited_for() {
    let (store, table) = store_of(sessions(2, FOR_EVER), &[(1, 10)]);
    let read = |t: &mut Transaction<'_>| t.get(&table, &1).map(|row| row.is_some());
    let deep: Result<bool> = store.transaction(|_| {
        store.transaction(|_| {
            let refused = store.transaction(read);
            assert!(matches!(refused, Err(Error::NoSession { sessions: 2, .. })), "{refused:?}");
            refused
        })
    });
    assert!(matches!(deep, Err(Error::NoSession { .. })), "{deep:?}");
    assert!(store.transaction(|_| store.transaction(read)).unwrap());
}

#[test]
fn a_forgotten_transaction_is_rolled_back_with_the_next() {
    let (store, table) = store_of(Options::small(), &[(1, 10), (2, 20)]);
    let mut other = store.session().unwrap();
    for isolation in LEVELS {
        for ends in [false, true] {
            let mut session = store.session().unwrap();
            let mut forgotten = session.begin(isolation);
            forgotten.update(&table, &1, set_town(11)).unwrap();
            forgotten.insert(&table, &person(3, 30)).unwrap();
            forgotten.delete(&table, &2).unwrap();
            forget(forgotten);
            let mut locked = other.begin(Isolation::Snapshot);
            locked.get_for_update(&table, &1, LockWait::Fail).unwrap_err();
            if ends {
                drop(session);
            } else {
                let mut next = session.begin(isolation);
                assert!(next.get(&table, &3).unwrap().is_none());
                next.update(&table, &1, set_town(10)).unwrap();
                next.commit().unwrap();
            }
            assert_eq!(all(&store, &table), [(1, 10), (2, 20)]);
            assert_eq!(table.entries(None).unwrap(), 2, "{isolation:?}, {ends}");
            let free = store.lock_table().buckets().iter().all(|bucket| bucket.line() == [0; 8]);
            assert!(free, "{isolation:?}, {ends}");
        }
    }
}

/// So it is with the lock table alone.
#[test]
fn a_forgotten_transaction_gives_its_locks_back_with_the_next() {
    let table = LockTable::new(16).unwrap();
    let (t, key) = (|n| Timestamp::new(n).unwrap(), |n| TupleKey::new(n, 0));
    let mut worker = table.worker();
    for number in 1..4 {
        let mut transaction = worker.begin(t(number));
        transaction.lock(key(number), &Waiting::default()).unwrap();
        assert_eq!(transaction.held().count(), 1);
        forget(transaction);
    }
    drop(worker);
    assert!(table.buckets().iter().all(|bucket| bucket.line() == [0; 8]));
}
