// SPDX-License-Identifier: MIT OR Apache-2.0
//! The order of commits under several threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::*;
use crate::files::random::Random;

/// Each commit sees, when it is published, all before it done: nothing is skipped.
fn publishes_without_gaps(log: &Log, threads: u64, each: u64, seed: u64) {
    let total = threads * each;
    let done: Vec<AtomicU64> = (0..=total).map(|_| AtomicU64::new(0)).collect();
    done[0].store(1, Ordering::Relaxed);
    let worker = |thread: u64| {
        let mut random = Random::new(seed * 100 + thread);
        for _ in 0..each {
            // Some are too large for a ring of 4096 bytes.
            let longest = if random.below(16) == 0 { 6000 } else { 400 };
            let bytes = random.below(longest) as usize;
            let ticket = log.begin(bytes).unwrap();
            let commit = ticket.commit();
            if random.below(8) == 0 {
                log.wait_for_predecessors(&ticket).unwrap();
                assert_eq!(log.published(), commit - 1);
            }
            if random.below(8) == 0 {
                std::thread::yield_now();
            }
            // Relaxed: it is publishing that must show it to others.
            done[commit as usize].store(1, Ordering::Relaxed);
            let end = ticket.end();
            match random.below(8) {
                0 => drop(ticket),
                1 => {
                    log.write(&ticket, Kind::Commit, &body(commit, bytes));
                    log.write(&ticket, Kind::Void, &[]);
                    log.finish(ticket).unwrap();
                }
                _ => {
                    log.write(&ticket, Kind::Commit, &body(commit, bytes));
                    log.finish(ticket).unwrap();
                }
            }
            let published = log.published();
            assert!(published >= commit);
            for before in published.saturating_sub(20)..=published {
                assert_eq!(done[before as usize].load(Ordering::Relaxed), 1, "commit {before}");
            }
            let position = log.position();
            assert!(position.commit >= published && position.lsn >= end);
            if random.below(50) == 0 {
                log.make_durable(end, Durability::Group).unwrap();
                assert!(log.durable() >= end || log.storage.is_none());
            }
        }
    };
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || worker(thread));
        }
    });
    assert_eq!((log.published(), log.position()), (total, log.tail()));
}

/// All records are of one length, so the LSN tells the commit; two slots change hands all the time.
#[test]
fn a_position_is_of_one_moment() {
    let options = LogOptions { commits_under_way: 2, ..small() };
    let log = Log::new(None, &options, start());
    let done = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..2_000_000 {
                    log.finish(log.begin(0).unwrap()).unwrap();
                }
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        while done.load(Ordering::Relaxed) < 2 {
            let position = log.position();
            assert_eq!(position.lsn, position.commit * record::total_bytes(0));
        }
    });
    assert_eq!(log.position().commit, 4_000_000);
}

#[test]
fn a_volatile_log_publishes_without_gaps() {
    publishes_without_gaps(&Log::volatile(), 4, 5000, 1);
}

/// With a ring of a few records, a few slots, and segments of a few rings.
#[test]
fn records_of_many_threads_are_whole_and_in_order() {
    seeds::each!(8, |seed| {
        let files = Arc::new(Memory::new());
        let options = LogOptions { segment_bytes: 20_000, ..small() };
        let log = Log::start(files.clone(), &options, start()).unwrap();
        publishes_without_gaps(&log, 4, 500, seed);
        log.make_durable(log.tail().lsn, Durability::Immediate).unwrap();
        let (mut reader, mut read) = (Reader::open(files, start()).unwrap(), 0);
        while let Some(record) = reader.read().unwrap() {
            read += 1;
            let expected = match record.kind {
                Kind::Void => vec![0; record.body.len()],
                _ => body(record.commit, record.body.len()),
            };
            assert_eq!((record.commit, record.body), (read, &expected[..]));
        }
        assert_eq!((read, reader.position()), (2000, log.position()));
    });
}

fn hasty() -> LogOptions {
    LogOptions { timeout: Duration::from_millis(20), ..small() }
}

#[test]
fn a_commit_that_never_ends_stalls_others_for_a_bounded_time() {
    let log = Log::start(Arc::new(Memory::new()), &hasty(), start()).unwrap();
    let forgotten = log.begin(10).unwrap();
    let mut others: Vec<_> = (0..6).map(|_| log.begin(10).unwrap()).collect();
    let error = log.begin(10).unwrap_err();
    let LogError::Stalled { event, waited } = &error else { panic!("{error}") };
    assert_eq!(*event, Awaited::Room { commit: 8, published: 0 });
    assert!(*waited >= Duration::from_millis(20));
    let end = forgotten.end();
    let error = log.make_durable(end, Durability::Group).unwrap_err();
    assert!(matches!(error, LogError::NotFinished { lsn, finished: 0 } if lsn == end), "{error}");
    let last = others.pop().unwrap();
    let error = log.wait_for_predecessors(&last).unwrap_err();
    assert!(error.to_string().contains("for commit 6 to be published, while 0 is"), "{error}");
    drop(last);
    let last = others.pop().unwrap();
    let error = log.finish(last).unwrap_err();
    assert!(error.to_string().contains("for commit 6 to be published, while 0 is"), "{error}");
    // It was marked done: as soon as the others are, all continues.
    log.sequencer.finish(sequencer::CommitPlace { commit: 1, lsn: 0, end });
    others.into_iter().for_each(|ticket| log.finish(ticket).unwrap());
    assert_eq!(log.published(), 7);
    std::mem::forget(forgotten);
    commit(&log, 10);
}

/// It goes into the file behind all before it, which are never there.
#[test]
fn a_large_record_that_cannot_be_written_in_its_turn_closes_the_log() {
    for finished in [true, false] {
        let log = Log::start(Arc::new(Memory::new()), &hasty(), start()).unwrap();
        let held_back = log.begin(10).unwrap();
        let large = log.begin(2000).unwrap();
        log.write(&large, Kind::Commit, &body(2, 2000));
        let stalled = match finished {
            true => log.finish(large),
            false => {
                let waited = log.wait_for_predecessors(&large);
                drop(large);
                waited
            }
        };
        let error = stalled.unwrap_err().to_string();
        assert!(error.contains("for commit 1 to be published, while 0 is"), "{error}");
        drop(held_back);
        assert_eq!(log.published(), 2);
        let error = log.begin(10).unwrap_err();
        assert!(matches!(error, LogError::MustReopen(_)), "{error}");
        assert!(error.to_string().contains("cannot write a large record"), "{error}");
    }
}

#[test]
fn the_ring_is_written_out_by_those_who_pass_by() {
    let files = Arc::new(Memory::new());
    let log = Log::start(files, &small(), start()).unwrap();
    let storage = log.storage.as_ref().unwrap();
    let end = commit(&log, 900);
    log.make_durable(end, Durability::None).unwrap();
    assert_eq!((storage.written(), log.durable()), (0, 0), "too little to write out");
    commit(&log, 900);
    let end = commit(&log, 900);
    log.make_durable(end, Durability::None).unwrap();
    assert_eq!((storage.written(), log.durable()), (end, 0));
    // Without any such call, a thread that finds no room writes out.
    for _ in 0..10 {
        commit(&log, 900);
    }
    assert!(storage.written() > end + 4096);
}

#[test]
fn impossible_options_and_bodies_are_refused() {
    let refused = |options: LogOptions| {
        Log::start(Arc::new(Memory::new()), &options, start()).unwrap_err().to_string()
    };
    let text = refused(LogOptions { ring_bytes: 5000, ..small() });
    assert_eq!(text, "ring_bytes = 5000: expected a power of two from 4096 to 4294967296");
    let text = refused(LogOptions { commits_under_way: 1, ..small() });
    assert_eq!(text, "commits_under_way = 1: expected a power of two from 2 to 1048576");
    let log = Log::volatile();
    let error = log.begin(BODY_LIMIT + 1).unwrap_err();
    assert!(matches!(error, LogError::TooLarge { .. }), "{error}");
    assert_eq!(log.tail().commit, 0, "nothing was given");
}

#[test]
#[should_panic(expected = "length of the body of commit 1")]
fn a_body_of_another_length_is_refused() {
    let log = Log::volatile();
    let ticket = log.begin(3).unwrap();
    log.write(&ticket, Kind::Commit, b"four");
}

/// A gathering leader proceeds at once when a commit comes that does not want to wait. (Else that
/// one loses timeout first.)
#[test]
fn the_hurried_do_not_wait_for_company() {
    let (gather, timeout) = (Duration::from_secs(30), Duration::from_secs(10));
    let options = LogOptions { gather, timeout, ..small() };
    let log = &Log::start(Arc::new(Memory::new()), &options, start()).unwrap();
    let first = commit(log, 10);
    std::thread::scope(|scope| {
        let leader = scope.spawn(move || log.make_durable(first, Durability::Group));
        // Time for it to gather; without, this test passes, for less reason.
        std::thread::sleep(Duration::from_millis(50));
        log.make_durable(commit(log, 10), Durability::Immediate).unwrap();
        leader.join().unwrap().unwrap();
    });
}
