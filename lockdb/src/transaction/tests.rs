// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transactions beside a commit that is held back between its begin and its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{Scope, ScopedJoinHandle, scope, sleep, yield_now};
use std::time::Duration;

use super::super::layout::LAST_VERSION;
use super::super::log::{Awaited, Durability, LogError};
use super::super::options::{Isolation, Options, TransactionOptions};
use super::super::schema::{RowBuffer, Schema, Type};
use super::super::{Database, Error, LockWait, Result, Table, Transaction};

const UNSYNCED: TransactionOptions =
    TransactionOptions { isolation: Isolation::Snapshot, durability: Durability::None };

/// A table of rows 0 to 9, whose `n` is 0.
fn store(options: Options) -> (Database, Arc<Table>) {
    let store = Database::in_memory(options).unwrap();
    let schema = Schema::builder("t").column("id", Type::Int64).column("n", Type::Int64);
    let table = store.create_table(schema.primary_key(&["id"]).build().unwrap()).unwrap();
    let insert = |t: &mut Transaction<'_>| {
        (0..10_i64).try_for_each(|id| t.insert(&table, &[id.into(), 0_i64.into()]))
    };
    store.transaction(insert).unwrap();
    (store, table)
}

fn add(transaction: &mut Transaction<'_>, table: &Table, id: i64) -> Result<()> {
    let add = |row: &mut RowBuffer| {
        row.set_int(1, row.as_row().int(1) + 1);
        Ok(())
    };
    transaction.update(table, &id, add).map(drop)
}

fn n(store: &Database, table: &Table, id: i64) -> i64 {
    store.transaction(|t| t.get(table, &id).map(|row| row.expect("it is there").int(1))).unwrap()
}

/// Adds to a row in another thread, and returns when its version stands, published or not.
fn installed<'s>(
    threads: &'s Scope<'s, '_>,
    store: &'s Database,
    table: &'s Table,
    id: i64,
) -> ScopedJoinHandle<'s, Result<()>> {
    let vid = store.vid_of(table, &id).unwrap().unwrap();
    let before = table.head(vid);
    let thread = threads.spawn(move || store.transaction_with(UNSYNCED, |t| add(t, table, id)));
    while table.head(vid) == before {
        yield_now();
    }
    thread
}

/// The winner's version stands, but a commit before it was stopped on its way: no new snapshot shows
/// the version. The loser waits for that, and does not try again meanwhile.
#[test]
fn a_loser_waits_until_the_winner_is_published() {
    let (store, table) = store(Options::small());
    let held_back = store.shared.log.begin(0).unwrap();
    let attempts = AtomicU32::new(0);
    scope(|threads| {
        let winner = installed(threads, &store, &table, 1);
        let loser = threads.spawn(|| {
            store.transaction_with(UNSYNCED, |t| {
                attempts.fetch_add(1, Ordering::Relaxed);
                add(t, &table, 1)
            })
        });
        // Time for many attempts; without, this test passes, for less reason.
        sleep(Duration::from_millis(50));
        drop(held_back);
        winner.join().unwrap().unwrap();
        loser.join().unwrap().unwrap();
    });
    assert!(attempts.into_inner() <= 2);
    assert_eq!(n(&store, &table, 1), 2);
}

/// No thread waits forever or panics, and all continue as soon as that commit does.
#[test]
fn a_commit_that_is_held_back_for_too_long_is_an_error_of_all_who_wait() {
    let timeout = Duration::from_millis(20);
    let (store, table) = store(Options { commit_timeout: timeout, ..Options::small() });
    let held_back = store.shared.log.begin(0).unwrap();
    let stalled = |result: Result<()>, commit: u64| match result {
        Err(Error::Log(LogError::Stalled { event, waited })) => {
            let published = held_back.commit() - 1;
            assert_eq!(event, Awaited::Commit { commit, published });
            assert!(waited > timeout);
        }
        other => panic!("{other:?}"),
    };
    let commit = held_back.commit();
    let change = |isolation, id| {
        let options = TransactionOptions { isolation, durability: Durability::None };
        store.transaction_with(options, |t| add(t, &table, id))
    };
    // Its changes stand, though nobody sees them yet.
    stalled(change(Isolation::Snapshot, 1), commit + 1);
    assert_eq!(n(&store, &table, 1), 0);
    for isolation in [Isolation::Snapshot, Isolation::Serializable, Isolation::ReadCommitted] {
        stalled(change(isolation, 1), commit + 1);
    }
    // At SERIALIZABLE it is too early to know, so it is rolled back.
    stalled(change(Isolation::Serializable, 2), commit + 1);
    let mut session = store.session().unwrap();
    let mut beside = session.begin(UNSYNCED);
    beside.get_for_update(&table, &2, LockWait::Fail).unwrap().expect("the row is not locked");
    beside.rollback().unwrap();
    drop(held_back);
    assert_eq!((n(&store, &table, 1), n(&store, &table, 2)), (1, 0));
    for isolation in [Isolation::Snapshot, Isolation::Serializable, Isolation::ReadCommitted] {
        change(isolation, 1).unwrap();
        change(isolation, 2).unwrap();
    }
    assert_eq!((n(&store, &table, 1), n(&store, &table, 2)), (4, 3));
}

/// Makes a row's newest version one of this number.
fn renumber(store: &Database, table: &Table, id: i64, number: u32) {
    let renumber = |t: &mut Transaction<'_>| {
        let vid = table.find(&table.schema().primary().key(&id)?).expect("it is there");
        let payload = t.get_for_update(table, &id, LockWait::Fail)?.expect("it is there");
        let payload = payload.payload().to_vec();
        t.session.writes.push((table.id, vid, number), table.head(vid), &payload, false);
        Ok::<_, Error>(())
    };
    store.transaction(renumber).unwrap();
}

/// Numbers name what is locked, and 0 is a row without versions: none comes again.
#[test]
fn the_last_version_of_a_row_is_followed_by_its_tombstone_alone() {
    for isolation in [Isolation::ReadCommitted, Isolation::Snapshot, Isolation::Serializable] {
        let (store, table) = store(Options::small());
        renumber(&store, &table, 3, LAST_VERSION - 1);
        let options = TransactionOptions { isolation, durability: Durability::None };
        let change = |id| store.transaction_with(options, |t| add(t, &table, id));
        let used_up = |result: Result<()>| {
            assert!(matches!(result, Err(Error::VersionsUsedUp { vid: 3, .. })), "{result:?}");
        };
        change(3).unwrap();
        used_up(change(3));
        // The transaction continues without it.
        let both = store.transaction_with(options, |t| {
            used_up(add(t, &table, 3));
            add(t, &table, 4)
        });
        both.unwrap();
        assert_eq!((n(&store, &table, 3), n(&store, &table, 4)), (1, 1));
        let insert = || store.transaction(|t| t.insert(&table, &[3.into(), 7.into()]));
        let delete = |t: &mut Transaction<'_>| {
            assert!(t.delete(&table, &3)?);
            // Not even by the transaction that has deleted it.
            used_up(t.insert(&table, &[3.into(), 7.into()]));
            Ok::<_, Error>(())
        };
        store.transaction_with(options, delete).unwrap();
        used_up(insert());
        // Another transaction commits after the deletion, so no snapshot sees the row any more.
        change(5).unwrap();
        // Vacuum empties pages that are full, and mostly of dead versions.
        (0..2000).for_each(|_| change(6).unwrap());
        store.vacuum().unwrap();
        assert_eq!(table.find(&table.schema().primary().key(&3).unwrap()), None);
        insert().unwrap();
        change(3).unwrap();
        assert_eq!(n(&store, &table, 3), 8);
    }
}
