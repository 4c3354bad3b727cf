// SPDX-License-Identifier: MIT OR Apache-2.0
//! A store that is broken on purpose: each mutant is found by a scenario that a whole store passes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use lockdb::mutant::Mutant;
use lockdb::{Isolation, Options};
use locks::{Policy, Waiting};

use crate::near_data::device::{Job, Moment};
use crate::near_data::scene::{QUICK, Scene, add, after, at, near};

/// The scenario holds of a whole store, and not of one with the mutant.
#[track_caller]
fn is_found(mutant: Mutant, scenario: impl Fn(Option<Mutant>) -> bool) {
    assert!(scenario(None), "a whole store passes");
    let broken = catch_unwind(AssertUnwindSafe(|| scenario(Some(mutant))));
    assert!(!matches!(broken, Ok(true)), "{mutant:?} was not noticed");
}

/// A scene of which a checkpoint has everything, in which the mutant is planted.
fn scene(rows: i64, mutant: Option<Mutant>) -> Scene {
    let scene = Scene::new(rows);
    scene.store.checkpoint().unwrap();
    scene.store.plant(mutant);
    scene
}

#[test]
fn the_log_before_the_pages() {
    is_found(Mutant::NearDataLogBeforeFinalize, |mutant| {
        let scene = scene(100, mutant);
        let first = scene.files.steps();
        scene.add(at(Isolation::Snapshot), 1, 5).unwrap();
        (first..=scene.files.steps()).all(|steps| {
            (0..4).all(|tear| match Scene::open(scene.files.crash_at(steps, tear)) {
                Ok(found) => [after(100, 1, 0), after(100, 1, 5)].contains(&found.rows()),
                Err(_) => false,
            })
        })
    });
}

#[test]
fn heads_that_are_not_published() {
    is_found(Mutant::NearDataHeadsNotPublished, |mutant| {
        let scene = scene(30, mutant);
        scene.add(QUICK, 1, 5).unwrap();
        scene.rows() == after(30, 1, 5)
    });
}

/// A transaction that waits for a row's lock gets it before the new version is there, and changes
/// the old one.
#[test]
fn locks_that_are_released_before_the_versions_are_there() {
    is_found(Mutant::NearDataLocksReleasedEarly, |mutant| {
        let waiting = Waiting { policy: Policy::Queue, ..Waiting::default() };
        let scene = Scene::with(3, Options { waiting, ..crate::near_data::scene::options() });
        scene.store.plant(mutant);
        let increment = || {
            let changed: Result<_, lockdb::Error> =
                scene.store.transaction_with(Isolation::ReadCommitted, |transaction| {
                    transaction.update(&scene.table, &1, |row| {
                        row.set_int(1, row.as_row().int(1) + 1);
                        Ok(())
                    })
                });
            changed.unwrap();
        };
        (1..=10).all(|round| {
            let mut session = scene.store.session().unwrap();
            let mut transaction = session.begin(at(Isolation::Snapshot));
            let mut device = scene.device();
            near(&mut transaction, &mut device, &scene.table, 1, 1).unwrap();
            std::thread::scope(|scope| {
                scope.spawn(increment);
                await_waiter(&scene);
                transaction.commit_finalizing(&mut |finalize| device.finalize(finalize)).unwrap();
            });
            scene.rows()[&1] == 2 * round
        })
    });
}

/// Returns when a transaction waits for a lock.
fn await_waiter(scene: &Scene) {
    let (since, buckets) = (Instant::now(), scene.store.lock_table().buckets());
    while buckets.iter().all(|bucket| !bucket.head().has_waiters()) {
        assert!(since.elapsed() < Duration::from_secs(60), "waited a minute for a waiter");
        std::thread::yield_now();
    }
}

#[test]
fn locks_of_the_device_that_nobody_gives_back() {
    is_found(Mutant::NearDataLocksLeft, |mutant| {
        let scene = scene(30, mutant);
        scene.add(QUICK, 1, 5).unwrap();
        scene.locked() == 0
    });
}

#[test]
fn reservations_that_are_not_given_back() {
    is_found(Mutant::NearDataReservationsKept, |mutant| {
        let scene = Scene::with(30, Options { pages: 64, ..crate::near_data::scene::options() });
        scene.store.plant(mutant);
        let mut session = scene.store.session().unwrap();
        (0..30).all(|_| {
            let mut transaction = session.begin(QUICK);
            transaction.near_data(&scene.table).unwrap();
            transaction.reserve_pages(&scene.table, 5).is_ok()
        })
    });
}

/// What a closed store says when it is opened again.
fn closed_and_opened(mutant: Mutant) {
    is_found(mutant, |mutant| {
        let scene = scene(30, mutant);
        scene.add(QUICK, 1, 5).unwrap();
        scene.store.close().unwrap();
        scene.reopen().rows() == after(30, 1, 5)
    });
}

#[test]
fn a_chunk_of_a_vid_map_that_no_checkpoint_writes() {
    closed_and_opened(Mutant::NearDataChunksNotMarked);
}

#[test]
fn a_chunk_of_the_page_map_that_no_checkpoint_writes() {
    closed_and_opened(Mutant::NearDataPageMapForgotten);
}

#[test]
fn a_shared_state_of_pages_that_no_checkpoint_knows() {
    is_found(Mutant::NearDataNotFlushed, |mutant| {
        let scene = scene(30, mutant);
        scene.add(QUICK, 1, 5).unwrap();
        scene.add(QUICK, 1, 5).unwrap();
        scene.rows() == after(30, 1, 10)
    });
}

/// The power goes in the first checkpoint after a recovery: what the log still needs was not
/// overwritten.
#[test]
fn finalized_pages_that_are_used_again_before_a_checkpoint_has_them() {
    is_found(Mutant::NearDataPlacesNotClaimed, |mutant| {
        let scene = scene(100, None);
        scene.add(at(Isolation::Snapshot), 1, 5).unwrap();
        let files = scene.files.crash(1);
        let scene = Scene::open_with_fault(files.clone(), mutant).unwrap();
        scene.put(|_| 7, (0..100).filter(|id| id % 3 == 2));
        let first = files.steps();
        scene.store.checkpoint().unwrap();
        (first..=files.steps()).all(|steps| match Scene::open(files.crash_at(steps, 3)) {
            Ok(found) => found.rows()[&1] == 5 && found.rows()[&2] == 7,
            Err(_) => false,
        })
    });
}

#[test]
fn versions_that_vacuum_moves_away_from_a_device() {
    is_found(Mutant::NearDataVacuumed, |mutant| {
        let scene = Scene::new(300);
        for n in [1, 0] {
            scene.put(|_| n, (0..300).filter(|id| id % 10 != 0));
        }
        scene.store.plant(mutant);
        let mut session = scene.store.session().unwrap();
        let mut transaction = session.begin(QUICK);
        let mut device = scene.device();
        let invocation = transaction.near_data(&scene.table).unwrap();
        device.take_over(transaction.reserve_pages(&scene.table, 10).unwrap());
        let job = device.update_slowly(&invocation, &scene.table, add(1, 5), |now| {
            if now == Moment::SnapshotTaken {
                scene.store.vacuum().unwrap();
            }
        });
        transaction.abandon_fenced().unwrap();
        job == Job::Done
    });
}
