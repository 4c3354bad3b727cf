// SPDX-License-Identifier: MIT OR Apache-2.0
//! Full queues, a lock unit that fails, and updates that meet each other.

use lockdb::Isolation;
use locks::machine::{Outcome, Rule};
use locks::{Timestamp, TupleKey};
use ndp_runtime::engine::LockAnswer;
use ndp_runtime::job::{Descriptor, Status, Submission, Task};

use crate::engine::card::LOCK_TABLE;
use crate::engine::demands::{before, check_entries, check_idle};
use crate::engine::scene::{DEVICE, PLENTY, Scene};
use crate::engine::updates::{ASSIGNMENTS, PREDICATE};

fn other(number: u64) -> Timestamp {
    Timestamp::new(number + 1000).unwrap()
}

/// An update, and the lock of one of its rows.
fn scene(seed: u64, lock_wait: u64) -> (Scene, Descriptor, TupleKey) {
    let mut scene = Scene::new(seed, 60);
    let compiled = scene.compile(PREDICATE, ASSIGNMENTS);
    let mut update = scene.update(&compiled, Isolation::Snapshot, PLENTY);
    update.lock_wait = lock_wait;
    let descriptor = scene.descriptor(&compiled.program, Task::Update(update), PLENTY);
    let (old, _) = scene.expected(&compiled).swap_remove(0);
    let id = i64::from_le_bytes(old[8..16].try_into().unwrap());
    let vid = scene.store.vid_of(&scene.table, &id).unwrap().unwrap();
    let number = before(&scene, &descriptor)[&vid].0;
    let key = scene.table.lock_key(vid, number);
    (scene, descriptor, key)
}

/// Eight others take the lock and all places in its queue.
fn fill(scene: &Scene, key: TupleKey) {
    let locks = scene.store.lock_table();
    for number in 0..8 {
        let outcome = locks.acquire(other(number), key, Rule::Queue);
        assert_eq!(matches!(outcome, Outcome::Granted { .. }), number == 0, "{outcome:?}");
    }
    assert!(matches!(locks.acquire(DEVICE, key, Rule::Queue), Outcome::Refused(_)));
}

#[test]
fn a_full_queue_is_tried_again() {
    let (mut scene, descriptor, key) = scene(1, 1_000_000);
    fill(&scene, key);
    scene.begin(1, &descriptor);
    for _ in 0..300 {
        scene.step();
    }
    assert_eq!(scene.engine.live_jobs(), 1);
    assert!(scene.engine.completion().is_none());
    scene.store.lock_table().repair(&(0..8).map(other).collect::<Vec<_>>());
    let outcome = scene.drain(1, &descriptor, PLENTY);
    assert_eq!(outcome.status, Status::Done);
    assert!(outcome.statistics.lock_requests > outcome.statistics.written);
    check_idle(&scene).unwrap();
}

#[test]
fn a_queue_that_stays_full_is_a_time_out() {
    let (mut scene, descriptor, key) = scene(2, 50_000);
    fill(&scene, key);
    let outcome = scene.finish(1, &descriptor, PLENTY);
    assert_eq!(outcome.status, Status::LockTimeout);
    let locks = scene.store.lock_table();
    let number = before(&scene, &descriptor)[&(outcome.detail as u32)].0;
    let late = scene.table.lock_key(outcome.detail as u32, number);
    assert_eq!(locks.bucket_of(late), locks.bucket_of(key));
    check_idle(&scene).unwrap();
    assert_eq!(scene.engine.live_jobs(), 0);
}

#[test]
fn a_lock_unit_that_fails_ends_the_job_idle() {
    for answer in [LockAnswer::BusError, LockAnswer::Other(12)] {
        for number in 1.. {
            let (mut scene, descriptor, key) = scene(3, 20_000);
            scene.store.lock_table().acquire(other(1), key, Rule::Queue).expect_granted();
            scene.card.wrong_answer = Some((number, answer));
            let outcome = scene.finish(1, &descriptor, PLENTY);
            let told = format!("{answer:?} to request {number}: {:?}", outcome.status);
            match (answer, outcome.status) {
                // It was a poll or a cancel that failed: once more, until the time is up.
                (_, Status::LockTimeout) => {}
                (LockAnswer::BusError, Status::HostMemory) => {
                    let address = outcome.detail.wrapping_sub(LOCK_TABLE);
                    assert!(address.is_multiple_of(64) && address < 64 << 8, "{told}");
                }
                (LockAnswer::Other(12), Status::LockUnit) => assert_eq!(outcome.detail, 12),
                _ => panic!("{told}"),
            }
            check_idle(&scene).unwrap_or_else(|what| panic!("{told}: {what}"));
            assert_eq!(scene.engine.live_jobs(), 0, "{told}");
            if number > scene.card.requests {
                break;
            }
        }
    }
}

trait ExpectGranted {
    fn expect_granted(self);
}

impl ExpectGranted for Outcome {
    fn expect_granted(self) {
        assert!(matches!(self, Outcome::Granted { .. }), "{self:?}");
    }
}

#[test]
fn two_updates_of_the_same_rows_come_one_after_the_other() {
    let mut scene = Scene::new(4, 60);
    scene.card.delay = 3;
    let compiled = scene.compile(PREDICATE, ASSIGNMENTS);
    let first = scene.update(&compiled, Isolation::Snapshot, PLENTY);
    let mut second = scene.update(&compiled, Isolation::Snapshot, PLENTY);
    second.timestamp = other(7);
    let descriptors = [first, second]
        .map(|update| scene.descriptor(&compiled.program, Task::Update(update), PLENTY));
    let outcome = scene.finish(1, &descriptors[0], PLENTY);
    assert_eq!(outcome.status, Status::Done);
    let begun = scene.begin(2, &descriptors[1]);
    for _ in 0..400 {
        scene.step();
    }
    assert!(scene.engine.completion().is_none(), "the second waits for the first's locks");
    // The first rolls back.
    assert_eq!(scene.run(Submission::cancel(1)).status, Status::Done);
    scene.store.lock_table().repair(&[DEVICE]);
    let after = scene.drain(2, &descriptors[1], PLENTY);
    assert_eq!((after.status, scene.identifier), (Status::Done, begun + 1));
    assert_eq!(after.statistics.written, outcome.statistics.written);
    let waits = after.statistics.lock_waits;
    assert!(waits > 0 && after.statistics.lock_wait > waits * 1000, "{:?}", after.statistics);
    check_idle(&scene).unwrap();
}

#[test]
fn two_updates_at_once_share_tags_and_table() {
    let mut scene = Scene::new(5, 150);
    let parts = [("region < 2", DEVICE, 1_000_000), ("region >= 2", other(9), 50_000)];
    let mut descriptors = Vec::new();
    for (predicate, timestamp, lock_wait) in parts {
        let compiled = scene.compile(predicate, "note = 'changed'");
        let mut update = scene.update(&compiled, Isolation::ReadCommitted, PLENTY);
        (update.timestamp, update.lock_wait) = (timestamp, lock_wait);
        descriptors.push(scene.descriptor(&compiled.program, Task::Update(update), PLENTY));
    }
    let before = before(&scene, &descriptors[0]);
    for (job, descriptor) in (0..).zip(&descriptors) {
        scene.begin(job, descriptor);
    }
    // Their rows share buckets, so that each may wait for the other, until one is late: its
    // transaction is rolled back.
    let mut completions = vec![scene.completion()];
    if completions[0].status == Status::LockTimeout {
        assert_eq!(completions[0].identifier, 2);
        scene.store.lock_table().repair(&[other(9)]);
    }
    completions.push(scene.completion());
    assert_eq!(completions[1].status, Status::Done);
    check_idle(&scene).unwrap();
    assert_eq!(scene.card.placed.len(), 1, "the place of the table was told once");
    let first = completions.iter().find(|completion| completion.identifier == 1).unwrap();
    let span = ndp_runtime::job::Span { bytes: first.bytes.into(), ..descriptors[0].result };
    let chunk = ndp_runtime::job::ResultChunk::verified(scene.card.bytes(span)).unwrap();
    let entries: Vec<_> = chunk
        .entries()
        .map(|entry| match entry {
            ndp_runtime::job::Entry::Update(entry) => entry,
            other => panic!("{other:?}"),
        })
        .collect();
    check_entries(&scene, &before, &entries).unwrap();
}
