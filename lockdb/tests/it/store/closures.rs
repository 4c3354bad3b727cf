// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transactions by a closure, and locks that do not come.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, yield_now};
use std::time::Duration;

use lockdb::{ConflictError, Database, Error, Isolation, LockWait, Options, Result, Transaction};
use locks::machine::{Outcome, Rule};
use locks::{LockError, Policy, Timestamp, Waiting};

use super::{LEVELS, all, person, set_town, store_of};

/// Only a test that hangs gets to its end.
const FOR_EVER: Duration = Duration::from_secs(100);

const POLICIES: [Policy; 4] = [
    Policy::WaitsFor { every: Duration::from_millis(1) },
    Policy::WaitDie,
    Policy::Queue,
    Policy::NoWait,
];

fn waiting(policy: Policy, timeout: Duration) -> Options {
    let waiting = Waiting { policy, timeout, spins: 100 };
    Options { waiting, ..Options::small() }
}

fn has_waiters(store: &Database) -> bool {
    store.lock_table().buckets().iter().any(|bucket| bucket.head().has_waiters())
}

fn is_nested<T>(result: &Result<T>) -> bool {
    matches!(result, Err(Error::Nested { vid: 0, .. }))
}

/// A lock that is held long is waited for once, and not as often as a closure may be run again.
#[test]
fn a_lock_that_does_not_come_in_time_ends_the_call() {
    for policy in [Policy::WaitsFor { every: Duration::from_millis(1) }, Policy::Queue] {
        let (store, table) =
            store_of(waiting(policy, Duration::from_millis(10)), &[(1, 10), (2, 20)]);
        let (mut holder, mut session) = (store.session().unwrap(), store.session().unwrap());
        for isolation in LEVELS {
            let mut holding = holder.begin(Isolation::Snapshot);
            holding.get_for_update(&table, &1, LockWait::Wait).unwrap();
            let mut tried = 0;
            let error = session
                .transaction(isolation, |t| {
                    tried += 1;
                    t.update(&table, &2, set_town(21))?;
                    t.update(&table, &1, set_town(11))
                })
                .unwrap_err();
            let Error::Conflict(ConflictError::Lock { vid: 0, source, .. }) = &error else {
                panic!("{error}");
            };
            assert!(matches!(source, LockError::TimedOut { .. }), "{source}");
            assert!(error.is_time_out() && error.is_conflict());
            assert_eq!(tried, 1, "{policy:?}, {isolation:?}");
            holding.rollback().unwrap();
            assert_eq!(all(&store, &table), [(1, 10), (2, 20)]);
        }
    }
}

/// A queue without room is no different.
#[test]
fn a_queue_that_never_has_room_ends_the_call() {
    let every = Duration::from_millis(1);
    let options = waiting(Policy::WaitsFor { every }, Duration::from_millis(10));
    let (store, table) = store_of(options, &[(1, 10)]);
    let (locks, key) = (store.lock_table(), table.lock_key(0, 1));
    let ask = || {
        let name = Timestamp::of_attempt(store.draw_age(), 0).unwrap();
        locks.acquire(name, key, Rule::Queue)
    };
    while !matches!(ask(), Outcome::Refused(_)) {}
    let mut tried = 0;
    let updated = store.transaction(|t| {
        tried += 1;
        t.update(&table, &1, set_town(11))
    });
    let error = updated.unwrap_err();
    assert!(error.is_time_out(), "{error}");
    assert!(error.to_string().contains("for room in a bucket's queue"), "{error}");
    assert_eq!(tried, 1);
}

/// What can only wait for itself is refused at once, by whatever way it comes to the lock.
#[test]
fn a_call_within_a_closure_does_not_wait_for_that_closure() {
    type Work = fn(&mut Transaction<'_>, &lockdb::Table) -> Result<()>;
    let ways: [Work; 4] = [
        |t, table| t.update(table, &1, set_town(12)).map(drop),
        |t, table| t.delete(table, &1).map(drop),
        |t, table| t.insert(table, &person(1, 12)),
        |t, table| t.get_for_update(table, &1, LockWait::Fail).map(drop),
    ];
    for policy in POLICIES {
        let (store, table) = store_of(waiting(policy, FOR_EVER), &[(1, 10), (2, 20)]);
        for isolation in LEVELS {
            let mut tried = 0;
            let outer = store.transaction_with(isolation, |outer| {
                outer.update(&table, &1, set_town(11))?;
                for way in ways {
                    let nested: Result<()> = store.transaction_with(isolation, |t| {
                        tried += 1;
                        way(t, &table)
                    });
                    assert!(is_nested(&nested), "{policy:?}, {isolation:?}: {nested:?}");
                    // So does one that is begun by hand.
                    let mut session = store.session()?;
                    let begun = way(&mut session.begin(isolation), &table);
                    assert!(is_nested(&begun), "{policy:?}, {isolation:?}: {begun:?}");
                }
                // Two levels down, too.
                let nested: Result<()> = store.transaction(|t| {
                    t.update(&table, &2, set_town(21))?;
                    store.transaction(|t| t.update(&table, &1, set_town(12)).map(drop))
                });
                assert!(is_nested(&nested), "{nested:?}");
                // Other rows are not blocked, nor are transactions that skip locked rows.
                store.transaction(|t| {
                    assert!(t.get_for_update(&table, &1, LockWait::Skip)?.is_none());
                    t.update(&table, &2, set_town(22)).map(drop)
                })
            });
            outer.unwrap();
            assert_eq!(tried, 4, "{policy:?}, {isolation:?}: once each");
            assert_eq!(all(&store, &table), [(1, 11), (2, 22)]);
        }
    }
}

/// Another thread waits for the outer transaction, and holds what the inner one wants.
#[test]
fn a_cycle_through_another_thread_is_found_in_the_inner_call() {
    let every = Duration::from_millis(1);
    let options = waiting(Policy::WaitsFor { every }, FOR_EVER);
    let (store, table) = store_of(options, &[(1, 10), (2, 20)]);
    let locked = AtomicBool::new(false);
    scope(|threads| {
        store
            .transaction_with(Isolation::ReadCommitted, |outer| {
                outer.update(&table, &2, set_town(21))?;
                threads.spawn(|| {
                    let both = store.transaction_with(Isolation::ReadCommitted, |t| {
                        t.update(&table, &1, set_town(11))?;
                        locked.store(true, Ordering::Release);
                        t.update(&table, &2, set_town(22))
                    });
                    both.unwrap();
                });
                while !(locked.load(Ordering::Acquire) && has_waiters(&store)) {
                    yield_now();
                }
                let nested: Result<()> =
                    store.transaction(|t| t.update(&table, &1, set_town(12)).map(drop));
                assert!(is_nested(&nested), "{nested:?}");
                Ok::<_, Error>(())
            })
            .unwrap();
    });
    assert_eq!(all(&store, &table), [(1, 11), (2, 22)]);
}

/// A transaction by hand may be another thread's to end, so it may be waited for.
#[test]
fn a_transaction_by_hand_is_waited_for() {
    let options = waiting(Policy::WaitsFor { every: Duration::from_millis(1) }, FOR_EVER);
    let (store, table) = store_of(options, &[(1, 10)]);
    let mut session = store.session().unwrap();
    let mut by_hand = session.begin(Isolation::ReadCommitted);
    by_hand.update(&table, &1, set_town(11)).unwrap();
    scope(|threads| {
        threads.spawn(|| {
            while !has_waiters(&store) {
                yield_now();
            }
            by_hand.commit().unwrap();
        });
        let after = |t: &mut Transaction<'_>| t.update(&table, &1, set_town(12));
        store.transaction_with(Isolation::ReadCommitted, after).unwrap();
    });
    assert_eq!(all(&store, &table), [(1, 12)]);
}
