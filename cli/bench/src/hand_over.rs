// SPDX-License-Identifier: MIT OR Apache-2.0
//! A contended lock on its way from thread to thread, beside a cache line on the same way.

use std::hint::{black_box, spin_loop};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use locks::machine::{Outcome, Place, Request, Rule};
use locks::{LockTable, Policy, Slot, Timestamp, TupleKey, Waiting};

use super::{Goal, Measurement, Size, pin, stopwatch};

/// Hand-overs of a chain, each in a bucket of its own.
const LINKS: usize = 512;
const CHAINS: u64 = 10;
const LOCKS: u64 = 5_000;
/// After which a spinning thread gives up: its partner is gone.
const BOUND: Duration = Duration::from_secs(30);

const THREADS: [Timestamp; 2] =
    [Timestamp::new(1).expect("not 0"), Timestamp::new(2).expect("not 0")];

/// The hand-over alone, and whole transactions of two threads that want the same row.
pub fn measure(size: Size) -> Result<Vec<Measurement>, String> {
    let table = LockTable::new(LINKS).map_err(|error| error.to_string())?;
    let chains = size.of(CHAINS);
    let (value, floor) =
        stopwatch::best_of_both(size, || chain(&table, chains, false), || ping_pong(chains));
    let bare = (0..size.rounds).map(|_| bare_chain(chains)).fold(f64::INFINITY, f64::min);
    let tidied = (0..size.rounds).map(|_| chain(&table, chains, true));
    let tidied = tidied.fold(f64::INFINITY, f64::min);
    let locks = size.of(LOCKS);
    let whole = (0..size.rounds).map(|_| transactions(&table, locks));
    let whole = whole.fold(f64::INFINITY, f64::min);
    Ok(vec![
        Measurement::new("hand-over, release to grant seen", "ns", value)
            .over(floor)
            .goal(Goal::RatioAtMost(2.0)),
        Measurement::new("hand-over, over a bare line of its own", "ns", value).over(bare),
        Measurement::new("hand-over, release to slot cleared", "ns", tidied).over(floor),
        Measurement::new("hand-over, two threads on one row", "ns/lock", whole).over(floor),
    ])
}

/// Spins until `is_there`, for [`BOUND`] at the most.
#[inline]
fn spin_until(what: &str, is_there: impl Fn() -> bool) {
    let mut looks = 0_u64;
    let mut since = None;
    while !is_there() {
        spin_loop();
        looks += 1;
        if looks.is_multiple_of(1 << 20) {
            let since = since.get_or_insert_with(Instant::now);
            assert!(since.elapsed() < BOUND, "waited {BOUND:?} for {what}");
        }
    }
}

/// Runs `work` of thread 0 and of thread 1 at the same time, each on its own processor and after
/// its `preparation`; the time from the start to the end of both.
fn together(preparation: impl Fn() + Sync, work: impl Fn(usize) + Sync) -> Duration {
    let arrived = AtomicU64::new(0);
    let times = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for number in 0..2 {
            let (arrived, times, preparation, work) = (&arrived, &times, &preparation, &work);
            scope.spawn(move || {
                pin::to_processor(number);
                preparation();
                // Not a barrier that sleeps: waking takes longer than a chain.
                arrived.fetch_add(1, Ordering::AcqRel);
                spin_until("the other thread", || arrived.load(Ordering::Acquire) == 2);
                let began = Instant::now();
                work(number);
                times
                    .lock()
                    .expect("no thread panics while it holds the lock")
                    .push((began, Instant::now()));
            });
        }
    });
    let times = times.into_inner().expect("no thread panics while it holds the lock");
    let began = times.iter().map(|time| time.0).min().expect("two threads");
    times.iter().map(|time| time.1).max().expect("two threads") - began
}

#[repr(align(128))]
struct Line(AtomicU64);

/// One line that two threads change in turns: ns for one way.
fn ping_pong(chains: u64) -> f64 {
    let line = Line(AtomicU64::new(0));
    let turns = chains * LINKS as u64;
    let took = together(
        || (),
        |number| {
            for turn in (number as u64..turns).step_by(2) {
                spin_until("the other's turn", || line.0.load(Ordering::Acquire) == turn);
                line.0.store(turn + 1, Ordering::Release);
            }
        },
    );
    took.as_secs_f64() * 1e9 / turns as f64
}

/// As many lines as a chain has links, each changed once by one thread and awaited by the other,
/// while both have copies: ns for one way. What the lines of a chain cost without locks in them.
fn bare_chain(chains: u64) -> f64 {
    let lines: Vec<Line> = (0..LINKS).map(|_| Line(AtomicU64::new(0))).collect();
    let mut took = Duration::ZERO;
    for chain in 0..chains {
        let fetch = || {
            for line in &lines {
                black_box(line.0.load(Ordering::Acquire));
            }
        };
        took += together(fetch, |number| {
            for (link, line) in lines.iter().enumerate() {
                if link % 2 == number {
                    let swapped = line.0.compare_exchange(
                        chain,
                        chain + 1,
                        Ordering::AcqRel,
                        Ordering::Acquire,
                    );
                    assert_eq!(swapped, Ok(chain));
                } else {
                    spin_until("the other's turn", || line.0.load(Ordering::Acquire) > chain);
                }
            }
        });
    }
    took.as_secs_f64() * 1e9 / (chains * LINKS as u64) as f64
}

/// Each thread holds every other lock and waits for the ones between. A thread that sees that it
/// has been granted a lock gives the next one back, for which the other waits: ns for one
/// hand-over. A waiter clears its slot of the queue before that if it is to be `tidy`, otherwise
/// while the lock is on its way.
fn chain(table: &LockTable, chains: u64, tidy: bool) -> f64 {
    let mut took = Duration::ZERO;
    for _ in 0..chains {
        let places = prepare(table);
        // As after an acquire: the holder and the waiters have a copy of the line.
        let fetch = || {
            for bucket in table.buckets() {
                black_box(bucket.head());
            }
        };
        took += together(fetch, |number| {
            let mine = THREADS[number];
            let clear = |link: usize| {
                let granted = table.run(mine, link, Request::Poll(places[link]));
                assert!(matches!(granted, Outcome::Granted { .. }), "{granted:?}");
            };
            for (link, bucket) in table.buckets().iter().enumerate() {
                if link % 2 == number {
                    let released = table.release_bucket(mine, link);
                    assert_eq!(released, Outcome::Released { next: Some(THREADS[1 - number]) });
                    if !tidy && link > 0 {
                        clear(link - 1);
                    }
                } else {
                    spin_until("a grant", || bucket.head().is_held_by(mine));
                    if tidy || link + 1 == LINKS {
                        clear(link);
                    }
                }
            }
        });
        for link in 0..LINKS {
            let last = table.release_bucket(THREADS[1 - link % 2], link);
            assert_eq!(last, Outcome::Released { next: None });
        }
    }
    took.as_secs_f64() * 1e9 / (chains * LINKS as u64) as f64
}

/// Thread 0 holds the even locks and waits for the odd ones, thread 1 the other way round.
fn prepare(table: &LockTable) -> Vec<Place> {
    let enter = |link: usize| {
        let (holder, waiter) = (THREADS[link % 2], THREADS[1 - link % 2]);
        let taken = table.run(holder, link, Request::Acquire(Rule::Queue));
        assert_eq!(taken, Outcome::Granted { again: false });
        match table.run(waiter, link, Request::Acquire(Rule::Queue)) {
            Outcome::Queued { place, .. } => place,
            other => panic!("{other:?} behind a holder"),
        }
    };
    let places: Vec<Place> = (0..LINKS).map(enter).collect();
    assert!(places.iter().all(|place| Slot::new(1) == Some(place.slot)));
    places
}

/// Two threads, each locking the same row repeatedly: ns for one lock.
fn transactions(table: &LockTable, locks: u64) -> f64 {
    let waiting = Waiting { policy: Policy::Queue, ..Waiting::default() };
    let row = TupleKey::new(7, 0);
    let took = together(
        || (),
        |number| {
            let mut worker = table.worker();
            for turn in 0..locks {
                let timestamp = Timestamp::new(1 + 2 * turn + number as u64).expect("not 0");
                let mut transaction = worker.begin(timestamp);
                transaction.lock(row, &waiting).expect("two threads, ten seconds");
                transaction.end().expect("it was ours");
            }
        },
    );
    took.as_secs_f64() * 1e9 / (2 * locks) as f64
}
