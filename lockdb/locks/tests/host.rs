// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host embodiment under real threads.
#![cfg(not(loom))]

use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use locks::machine::{Access, Answer, Outcome, Place, Request, Rule};
use locks::{
    Backing, Bucket, Head, LockError, LockTable, LockTableError, Policy, SharedMemory, Slot,
    Timestamp, TupleKey, Waiting, WaitsFor,
};

const ROUNDS: u64 = if cfg!(miri) { 20 } else { 20_000 };

fn t(number: u64) -> Timestamp {
    Timestamp::new(number).unwrap()
}

fn key(vid: u64) -> TupleKey {
    TupleKey::new(vid, 0)
}

/// A plain counter that only the lock protects.
struct Guarded(UnsafeCell<u64>);

// SAFETY: the tests touch the counter only while they hold the lock that is under test.
unsafe impl Sync for Guarded {}

fn count_under_one_lock(policy: Policy, threads: u64) {
    let table = LockTable::new(4).unwrap();
    let counter = Guarded(UnsafeCell::new(0));
    let clock = AtomicU64::new(1);
    let waiting = Waiting { policy, spins: 100, ..Waiting::default() };
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut worker = table.worker();
                let counter = &counter;
                for _ in 0..ROUNDS / threads {
                    let age = clock.fetch_add(1, Ordering::Relaxed);
                    // Wait-die: a transaction that died comes back as old as it was.
                    for attempt in (0..=u8::MAX).cycle() {
                        let timestamp = Timestamp::of_attempt(age, attempt).unwrap();
                        let mut transaction = worker.begin(timestamp);
                        match transaction.lock(key(1), &waiting) {
                            Ok(()) => {
                                // SAFETY: we hold the lock.
                                unsafe { *counter.0.get() += 1 };
                                transaction.end().unwrap();
                                break;
                            }
                            Err(LockError::Died { .. } | LockError::Busy { .. }) => {
                                thread::yield_now()
                            }
                            Err(other) => panic!("{other}"),
                        }
                    }
                }
            });
        }
    });
    assert_eq!(counter.0.into_inner(), ROUNDS / threads * threads);
    assert!(table.buckets().iter().all(|bucket| bucket.line() == [0; 8]));
    let statistics = table.statistics();
    assert_eq!(statistics.granted, statistics.released);
}

#[test]
fn one_lock_admits_one_thread() {
    count_under_one_lock(Policy::Queue, 2);
    count_under_one_lock(Policy::Queue, 4);
    count_under_one_lock(Policy::WaitDie, 3);
    count_under_one_lock(Policy::NoWait, 3);
    count_under_one_lock(Policy::WaitsFor { every: Duration::from_millis(1) }, 3);
}

/// More threads than the bucket has slots: those that find it full come again.
#[test]
fn a_full_queue_makes_requests_wait_for_room() {
    count_under_one_lock(Policy::Queue, 12);
}

/// Threads that lock two rows in opposite order, as often as it takes to meet.
fn cross(policy: Policy) -> u64 {
    let table = LockTable::new(64).unwrap();
    let clock = AtomicU64::new(1);
    let broken = AtomicU64::new(0);
    let timeout = match policy {
        Policy::Queue => Duration::from_millis(20),
        _ => Duration::from_secs(30),
    };
    let waiting = Waiting { policy, timeout, spins: 100 };
    thread::scope(|scope| {
        for order in [[1, 2], [2, 1]] {
            let (table, clock, broken) = (&table, &clock, &broken);
            scope.spawn(move || {
                let mut worker = table.worker();
                for _ in 0..if cfg!(miri) { 2 } else { 50 } {
                    let mut age = clock.fetch_add(1, Ordering::Relaxed);
                    'retry: for attempt in (0..=u8::MAX).cycle() {
                        let timestamp = Timestamp::of_attempt(age, attempt).unwrap();
                        let mut transaction = worker.begin(timestamp);
                        for vid in order {
                            if let Err(error) = transaction.lock(key(vid), &waiting) {
                                assert!(!matches!(error, LockError::NotHeld { .. }), "{error}");
                                broken.fetch_add(1, Ordering::Relaxed);
                                drop(transaction);
                                if !matches!(error, LockError::Died { .. }) {
                                    age = clock.fetch_add(1, Ordering::Relaxed);
                                }
                                continue 'retry;
                            }
                            thread::yield_now();
                        }
                        transaction.end().unwrap();
                        break;
                    }
                }
            });
        }
    });
    assert!(table.buckets().iter().all(|bucket| bucket.line() == [0; 8]));
    broken.into_inner()
}

#[test]
fn every_policy_breaks_deadlocks() {
    for policy in
        [Policy::WaitDie, Policy::Queue, Policy::WaitsFor { every: Duration::from_micros(500) }]
    {
        println!("{policy:?}: {} waits broken", cross(policy));
    }
}

#[test]
fn a_certain_deadlock_is_found_and_named() {
    let table = LockTable::new(64).unwrap();
    let timeout = Duration::from_secs(30);
    let searching = |every| Waiting { policy: Policy::WaitsFor { every }, timeout, spins: 0 };
    let waiting = searching(Duration::from_micros(200));
    // The older one never searches: on a busy machine it would often see the cycle before the
    // younger one has run at all, and break it in its place.
    let patient = searching(timeout);
    assert_eq!(table.acquire(t(1), key(1), Rule::Queue), Outcome::Granted { again: false });
    let first_waits = || !table.buckets()[table.bucket_of(key(2))].head().has_waiters();
    thread::scope(|scope| {
        let mut worker = table.worker();
        let mut second = worker.begin(t(2));
        second.lock(key(2), &waiting).unwrap();
        let first = scope.spawn(|| {
            let mut worker = table.worker();
            worker.begin(t(1)).lock(key(2), &patient)
        });
        while first_waits() {
            thread::yield_now();
        }
        let error = second.lock(key(1), &waiting).unwrap_err();
        assert_eq!(error, LockError::Deadlock { cycle: vec![t(2), t(1)] });
        second.end().unwrap();
        assert_eq!(first.join().unwrap(), Ok(()));
    });
    assert_eq!(table.release(t(1), key(1)), Outcome::Released { next: None });
}

#[test]
fn a_time_out_names_the_holder_and_leaves_no_trace() {
    let table = LockTable::new(8).unwrap();
    let _ = table.acquire(t(7), key(3), Rule::Queue);
    let timeout = Duration::from_millis(2);
    let waiting = Waiting { policy: Policy::Queue, timeout, spins: 10 };
    let mut worker = table.worker();
    match worker.begin(t(8)).lock(key(3), &waiting) {
        Err(LockError::TimedOut { holder, waited, .. }) => {
            assert_eq!(holder, Some(t(7)));
            assert!(waited >= timeout);
        }
        other => panic!("{other:?}"),
    }
    let bucket = &table.buckets()[table.bucket_of(key(3))];
    assert_eq!(bucket.head().cancels(), 1);
    assert_eq!(bucket.line()[1..], [0; 7]);
}

#[test]
fn colliding_tuples_are_locked_again_and_released_once() {
    let table = LockTable::new(1).unwrap();
    let mut worker = table.worker();
    let mut transaction = worker.begin(t(5));
    transaction.lock(key(1), &Waiting::default()).unwrap();
    transaction.lock(key(2), &Waiting::default()).unwrap();
    transaction.unlock(key(1)).unwrap();
    assert_eq!(table.buckets()[0].head(), Head::FREE);
    let error = transaction.unlock(key(2)).unwrap_err();
    assert_eq!(error, LockError::NotHeld { transaction: t(5), bucket: 0 });
}

#[test]
fn releasing_what_is_not_held_changes_nothing() {
    let table = LockTable::new(1).unwrap();
    assert_eq!(table.release(t(1), key(0)), Outcome::NotHeld);
    let _ = table.acquire(t(2), key(0), Rule::Queue);
    let before = table.buckets()[0].line();
    assert_eq!(table.release(t(1), key(0)), Outcome::NotHeld);
    assert_eq!(table.buckets()[0].line(), before);
}

#[test]
fn repair_passes_the_locks_of_the_dead_on() {
    let table = LockTable::new(2).unwrap();
    // In one bucket the dead hold and wait, in the other they wait behind the living.
    for (vid, order) in [(0, [10, 1, 11, 2]), (1, [3, 10, 11, 4])] {
        for number in order {
            let _ = table.run(t(number), vid, Request::Acquire(Rule::Queue));
        }
    }
    let repaired = table.repair(&[t(10), t(11)]);
    assert_eq!((repaired.buckets, repaired.handed_over), (2, 1));
    let heads: Vec<Head> = table.buckets().iter().map(|bucket| bucket.head()).collect();
    assert_eq!(heads[0].holder(), Some(t(1)));
    assert_eq!(heads[1].holder(), Some(t(3)));
    assert_eq!(table.repair(&[t(10), t(11)]).buckets, 0);
    assert_eq!(table.run(t(3), 1, Request::Release), Outcome::Released { next: Some(t(4)) });
}

#[test]
fn a_waiter_that_is_taken_for_dead_is_told_so() {
    let table = LockTable::new(1).unwrap();
    let _ = table.acquire(t(1), key(0), Rule::Queue);
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let waiting = Waiting { policy: Policy::Queue, spins: 0, ..Waiting::default() };
            table.worker().begin(t(2)).lock(key(0), &waiting)
        });
        while !table.buckets()[0].head().has_waiters() {
            thread::yield_now();
        }
        // The waiter clears its slot itself when it finds out, so it must not have to be wiped.
        let place = Place { slot: Slot::new(1).unwrap(), shared: true };
        let head = table.buckets()[0].head();
        assert!(head.is_waiting(place.slot));
        let evicted = head.leave(place.slot);
        let evict = Access::CompareSwap { word: 0, expected: head.word(), new: evicted.word() };
        assert_eq!(table.buckets()[0].perform(evict), Answer::Word(head.word()));
        let error = waiter.join().unwrap().unwrap_err();
        assert_eq!(error, LockError::Evicted { transaction: t(2), bucket: 0 });
    });
    assert_eq!(table.buckets()[0].line()[1..], [0; 7]);
}

#[test]
fn the_graph_follows_the_queue() {
    let table = LockTable::new(2).unwrap();
    for (bucket, transaction) in [(0, 1), (0, 3), (0, 2), (1, 3), (1, 1)] {
        let _ = table.run(t(transaction), bucket, Request::Acquire(Rule::Queue));
    }
    let graph = WaitsFor::read(table.buckets());
    assert_eq!(graph.cycle_through(t(1)), Some(vec![t(1), t(3)]));
    assert!(graph.has_cycle(&[t(3), t(1)]));
    assert!(!graph.has_cycle(&[t(2), t(3)]));
    assert_eq!(graph.cycle_through(t(2)), None);
}

#[test]
fn impossible_tables_are_refused() {
    for buckets in [0, 3, 1000, (1 << 32) + 1] {
        match LockTable::new(buckets) {
            Err(LockTableError::Buckets { found }) => assert_eq!(found, buckets),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
#[cfg(not(miri))]
fn two_mappings_of_one_file_are_one_table() {
    let file = tempfile::tempfile().unwrap();
    assert!(LockTable::in_memory(16, Backing::Shared(&file)).is_err(), "the file is too short");
    file.set_len(16 * 64).unwrap();
    let here = LockTable::in_memory(16, Backing::Shared(&file)).unwrap();
    let there = LockTable::in_memory(16, Backing::Shared(&file)).unwrap();
    assert_eq!(here.acquire(t(1), key(9), Rule::Queue), Outcome::Granted { again: false });
    assert!(matches!(there.acquire(t(2), key(9), Rule::Queue), Outcome::Queued { .. }));
    assert_eq!(here.release(t(1), key(9)), Outcome::Released { next: Some(t(2)) });
    assert_eq!(there.release(t(2), key(9)), Outcome::Released { next: None });
}

/// External memory, such as a device's buffer: lines, of which the first `skipped` bytes
/// are not for the table.
#[derive(Debug)]
struct Given {
    lines: Arc<[Bucket]>,
    skipped: usize,
}

// SAFETY: the lines stay where they are as long as an `Arc` of them lives, and are atomics.
unsafe impl SharedMemory for Given {
    fn start(&self) -> NonNull<u8> {
        // SAFETY: a few bytes into an array that is longer than that.
        unsafe { NonNull::from(&*self.lines).cast::<u8>().add(self.skipped) }
    }

    fn bytes(&self) -> usize {
        self.lines.len() * 64 - self.skipped
    }
}

#[test]
fn a_table_stands_in_memory_that_somebody_else_owns() {
    let lines: Arc<[Bucket]> = (0..16).map(|_| Bucket::default()).collect();
    let given = |skipped| Backing::Given(Arc::new(Given { lines: lines.clone(), skipped }));
    for (buckets, skipped, part) in [
        (32, 0, "the memory has 1024 bytes, the table needs 2048"),
        (16, 64, "the memory has 960 bytes, the table needs 1024"),
        (8, 8, "expected a multiple of 64"),
    ] {
        let refused = LockTable::in_memory(buckets, given(skipped)).unwrap_err().to_string();
        assert!(refused.contains(part), "{refused}");
    }
    let table = LockTable::in_memory(8, given(64)).unwrap();
    let bucket = table.bucket_of(key(9));
    assert_eq!(table.acquire(t(1), key(9), Rule::Queue), Outcome::Granted { again: false });
    assert_eq!(lines[bucket + 1].head(), Head::held_by(t(1)));
    assert!((0..16).all(|line| line == bucket + 1 || lines[line].line() == [0; 8]));
    let there = LockTable::in_memory(8, given(64)).unwrap();
    assert!(matches!(there.acquire(t(2), key(9), Rule::Queue), Outcome::Queued { .. }));
    assert_eq!(Arc::strong_count(&lines), 3, "a table keeps its memory alive");
    drop(table);
    assert_eq!(there.release(t(1), key(9)), Outcome::Released { next: Some(t(2)) });
    drop(there);
    assert_eq!(Arc::strong_count(&lines), 1);
}

#[test]
fn a_transaction_that_waits_twice_in_a_bucket_waits_for_nobody_behind_its_first_place() {
    let slots = [1, 2, 3].map(|number| Slot::new(number).unwrap());
    let head = slots.into_iter().fold(Head::held_by(t(1)), Head::register);
    let words = [head.word(), t(2).word(), t(3).word(), t(2).word(), 0, 0, 0, 0];
    let mut graph = WaitsFor::default();
    graph.add(&words);
    assert_eq!(graph.cycle_through(t(2)), None);
    assert!(!graph.has_cycle(&[t(2), t(3)]));
}
