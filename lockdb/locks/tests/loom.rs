// SPDX-License-Identifier: MIT OR Apache-2.0
//! The atomics and the parking under every schedule that the memory model admits, by `loom`:
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p lockstep-locks --test loom --target-dir target/loom`
#![cfg(loom)]

use std::time::Duration;

use locks::machine::{Outcome, Request, Rule};
use locks::{LockTable, Policy, Timestamp, TupleKey, Waiting};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

fn t(number: u64) -> Timestamp {
    Timestamp::new(number).unwrap()
}

const KEY: TupleKey = TupleKey::new(0, 0);

fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// What a holder wrote is seen by the next one, whether it came at once, queued or slept.
#[test]
fn a_sleeping_waiter_is_woken_and_sees_what_the_holder_wrote() {
    explore(3, || {
        let shared = Arc::new((LockTable::new(1).unwrap(), UnsafeCell::new(0)));
        let waiting =
            Waiting { policy: Policy::Queue, timeout: Duration::from_secs(3600), spins: 0 };
        let add = move |shared: Arc<(LockTable, UnsafeCell<u64>)>, number| {
            let mut worker = shared.0.worker();
            let mut transaction = worker.begin(t(number));
            transaction.lock(KEY, &waiting).unwrap();
            // SAFETY: we hold the lock; `loom` reports the race if that is not enough.
            shared.1.with_mut(|count| unsafe { *count += 1 });
            transaction.end().unwrap();
        };
        let other = {
            let shared = shared.clone();
            thread::spawn(move || add(shared, 2))
        };
        add(shared.clone(), 1);
        other.join().unwrap();
        // SAFETY: both threads have ended.
        assert_eq!(shared.1.with(|count| unsafe { *count }), 2);
        assert_eq!(shared.0.buckets()[0].line(), [0; 8]);
    });
}

/// A waiter leaves while the lock is handed over: it has left or it holds, never neither.
#[test]
fn leaving_races_the_hand_over() {
    explore(3, || {
        let table = Arc::new(LockTable::new(1).unwrap());
        let _ = table.acquire(t(1), KEY, Rule::Queue);
        let Outcome::Queued { place, .. } = table.acquire(t(2), KEY, Rule::Queue) else {
            panic!("held by another")
        };
        let other = {
            let table = table.clone();
            thread::spawn(move || table.release(t(1), KEY))
        };
        let left = table.run(t(2), 0, Request::Cancel(place));
        let released = other.join().unwrap();
        match left {
            Outcome::Cancelled => assert_eq!(released, Outcome::Released { next: None }),
            Outcome::Granted { .. } => {
                assert_eq!(released, Outcome::Released { next: Some(t(2)) });
                assert_eq!(table.release(t(2), KEY), Outcome::Released { next: None });
            }
            outcome => panic!("{outcome:?}"),
        }
        assert_eq!(table.buckets()[0].line(), [0; 8]);
    });
}

/// Two requests enter the queue while the holder leaves: all requests end, in some order.
#[test]
fn entering_races_the_release() {
    explore(2, || {
        let table = Arc::new(LockTable::new(1).unwrap());
        let _ = table.acquire(t(1), KEY, Rule::Queue);
        let enter = |number| {
            let table = table.clone();
            thread::spawn(move || table.acquire(t(number), KEY, Rule::Queue))
        };
        let entrants = [enter(2), enter(3)];
        let _ = table.release(t(1), KEY);
        let outcomes = entrants.map(|entrant| entrant.join().unwrap());
        let queued = |number: usize| matches!(outcomes[number - 2], Outcome::Queued { .. });
        let holder = table.buckets()[0].head().holder().expect("one of the two holds");
        let other = t(5 - holder.get());
        let next = queued(other.get() as usize).then_some(other);
        assert_eq!(table.release(holder, KEY), Outcome::Released { next });
    });
}
