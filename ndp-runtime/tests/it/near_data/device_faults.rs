// SPDX-License-Identifier: MIT OR Apache-2.0
//! Devices that die, hang, are reset or lose their link in the middle of a job: the transaction ends
//! without a change, nothing of it stays in the lock table, and the store continues.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use lockdb::{Isolation, Options};
use locks::Policy;
use ndp_runtime::host::{Cancel, JobOptions, NearDataJobError, PreparedUpdate, RuntimeOptions};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use software_device::DeviceFault;

use crate::near_data::scene::{
    BALANCE, ISOLATIONS, Scene, options, set, small_jobs, unsynced, update_near, waiting,
};

const ROWS: i64 = 300;

fn scene(rows: i64) -> Scene {
    scene_of(rows, 1 << 10)
}

fn scene_of(rows: i64, pages: u64) -> Scene {
    let policy = Policy::WaitsFor { every: Duration::from_millis(1) };
    // Commits of the device take as long as their threads are put off the processor.
    let room_timeout = Duration::from_secs(60);
    let options = Options { pages, room_timeout, ..options(policy) };
    let mut scene = Scene::with(rows, options, |_| {});
    // A device that is silent for so long counts as lost.
    let timeout = Duration::from_millis(30);
    let device = crate::near_data::scene::device(&scene.files, &scene.store);
    scene.control = device.control();
    let waiting = waiting(policy);
    let options = RuntimeOptions { waiting, timeout, ..RuntimeOptions::default() };
    scene.runtime = ndp_runtime::host::Runtime::open(&scene.store, device, options);
    scene
}

fn update(scene: &Scene, isolation: Isolation) -> Result<(), NearDataJobError> {
    update_within(scene, isolation, Duration::from_secs(60))
}

fn update_within(
    scene: &Scene,
    isolation: Isolation,
    time_out: Duration,
) -> Result<(), NearDataJobError> {
    let mut session = scene.session();
    let mut transaction = session.begin(unsynced(isolation));
    let mut near = scene.runtime.begin(&mut transaction);
    let jobs = JobOptions { time_out, ..small_jobs() };
    update_near(&mut near, &scene.table, Some("region < 5"), "balance = balance + 1", &jobs)?;
    near.commit().map(drop)
}

fn sum(scene: &Scene) -> i64 {
    scene.rows().iter().map(|row| row[2]).sum()
}

#[test]
fn a_lost_device_leaves_nothing_behind() {
    let whole = {
        let scene = scene(ROWS);
        update(&scene, Isolation::Snapshot).unwrap();
        scene.control.steps()
    };
    let (seeds, mut lost, mut committed) = (seeds::of!(60), 0, 0);
    for seed in &seeds {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let scene = scene(ROWS);
        let fault = match random.random_range(0..10) {
            0..3 => DeviceFault::Dies,
            3..6 => DeviceFault::Resets,
            6 => DeviceFault::Hangs,
            _ => DeviceFault::LinkBreaks { steps: random.random_range(0..whole) },
        };
        let at_step = random.random_range(0..whole + 4);
        let isolation = ISOLATIONS[random.random_range(0..3)];
        scene.control.plan(at_step, fault);
        // Only a device that hangs says nothing of its end.
        let bound = match fault {
            DeviceFault::Hangs => Duration::from_millis(50),
            _ => Duration::from_secs(60),
        };
        let ended = update_within(&scene, isolation, bound);
        scene.assert_no_locks();
        let told = format!("seed {seed}, {fault:?} at step {at_step} of {whole}: {ended:?}");
        let rows = if ended.is_ok() { ROWS / 2 } else { 0 };
        assert_eq!(sum(&scene), 100 * ROWS + rows, "{told}");
        match ended {
            Ok(()) => committed += 1,
            Err(NearDataJobError::DeviceLost(_)) => lost += 1,
            // Stopped in time, before it came to hang.
            Err(NearDataJobError::TimedOut { .. }) if fault == DeviceFault::Hangs => lost += 1,
            Err(other) => panic!("{told}: {other}"),
        }
        // The host continues by itself; and so does a device that was only reset.
        let changed = scene.store.transaction(|transaction| {
            transaction.update(&scene.table, &3_i64, |row| set(row, 1, 9))
        });
        changed.map_err(|error: lockdb::Error| error.to_string()).unwrap();
        let again = update_within(&scene, isolation, bound);
        match (again, fault) {
            (Ok(()), _) => assert!(sum(&scene) > 100 * ROWS + rows, "{told}"),
            (Err(NearDataJobError::DeviceLost(_)), _) => {}
            (Err(NearDataJobError::TimedOut { .. }), DeviceFault::Hangs) => {}
            (Err(other), _) => panic!("{told}, then: {other}"),
        }
        scene.assert_no_locks();
        scene.store.checkpoint().unwrap();
        scene.store.vacuum().unwrap();
    }
    println!("{lost} lost, {committed} committed");
    let met = lost > 20 && committed > 0;
    assert!(met || !seeds.is_whole(), "{lost} lost, {committed} committed");
}

#[test]
fn a_cancelled_job_leaves_nothing_behind() {
    let rows = 3000;
    let scene = scene(rows);
    for after in [0, 1, 2, 5, 20] {
        let cancel = Cancel::default();
        let polls = std::cell::Cell::new(0);
        let progress = |_: &ndp_runtime::host::Progress| {
            polls.set(polls.get() + 1);
            if polls.get() > after {
                cancel.cancel();
            }
        };
        let jobs = JobOptions { cancel: cancel.clone(), progress: Some(&progress), ..small_jobs() };
        let mut session = scene.session();
        let mut transaction = session.begin(unsynced(Isolation::ReadCommitted));
        let mut near = scene.runtime.begin(&mut transaction);
        let failure =
            update_near(&mut near, &scene.table, None, "balance = balance + 1", &jobs).unwrap_err();
        assert!(matches!(failure, NearDataJobError::Cancelled), "{failure}");
        scene.assert_no_locks();
        assert_eq!(sum(&scene), 100 * rows);
    }
    assert_eq!(scene.runtime.fences(), 0, "the device was stopped, not cut off");
    update(&scene, Isolation::Snapshot).unwrap();
}

/// The host holds a row's lock for longer than the device may wait.
#[test]
fn a_lock_that_does_not_come_ends_the_job() {
    let policy = Policy::Queue;
    let mut scene = Scene::with(ROWS, options(policy), |_| {});
    let device = crate::near_data::scene::device(&scene.files, &scene.store);
    let waiting = locks::Waiting { timeout: Duration::from_micros(50), ..waiting(policy) };
    let options = RuntimeOptions { waiting, ..RuntimeOptions::default() };
    scene.runtime = ndp_runtime::host::Runtime::open(&scene.store, device, options);
    let mut session = scene.session();
    let mut short = session.begin(unsynced(Isolation::Snapshot));
    short.update(&scene.table, &4_i64, |row| set(row, 1, 9)).unwrap();
    let failure = update(&scene, Isolation::ReadCommitted).unwrap_err();
    assert!(matches!(failure, NearDataJobError::LockTimeout { vid: 4, .. }), "{failure}");
    assert!(failure.is_conflict() && failure.is_time_out());
    // However often it may try, once it has waited for nothing it leaves the rest to the caller.
    let given_up = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let (scene, given_up) = (&scene, &given_up);
        threads.spawn(move || {
            let mut session = scene.session();
            let set = "balance = balance + 1";
            let update = PreparedUpdate::new(&scene.table, Some("region < 5"), set).unwrap();
            let transaction = unsynced(Isolation::ReadCommitted);
            let jobs = small_jobs();
            let done = scene.runtime.update(&mut session, transaction, &update, &jobs, u32::MAX);
            given_up.store(true, Ordering::Relaxed);
            assert!(done.unwrap_err().is_time_out());
        });
        for _ in 0..2_000 {
            if given_up.load(Ordering::Relaxed) {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        short.commit().unwrap();
    });
    scene.assert_no_locks();
    update(&scene, Isolation::ReadCommitted).unwrap();
}

/// Ends the threads also when something fails beside them.
struct StopWhenDropped<'a>(&'a AtomicBool);

impl Drop for StopWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Short updates of the host continue, by threads, while the device is lost repeatedly.
#[test]
fn the_host_goes_on_while_devices_are_lost() {
    let (seeds, mut all_committed, mut all_lost) = (seeds::of!(4), 0, 0);
    for seed in &seeds {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // Room for what the writers commit beside the updates.
        let scene = scene_of(ROWS, 1 << 13);
        let (stop, added) = (AtomicBool::new(false), AtomicI64::new(0));
        let (mut committed, mut lost) = (0, 0);
        std::thread::scope(|threads| {
            let stopped = StopWhenDropped(&stop);
            for thread in 0..2 {
                let (scene, stop, added) = (&scene, &stop, &added);
                threads.spawn(move || {
                    let mut session = scene.session();
                    for id in (thread..).step_by(7).take_while(|_| !stop.load(Ordering::Relaxed)) {
                        let options = unsynced(Isolation::ReadCommitted);
                        let done = session.transaction(options, |transaction| {
                            transaction.update(&scene.table, &(id % ROWS), |row| {
                                let balance = row.as_row().int(BALANCE);
                                set(row, BALANCE, balance + 1)
                            })
                        });
                        done.map_err(|error: lockdb::Error| error.to_string()).unwrap();
                        added.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            for _ in 0..12 {
                let fault = match random.random_range(0..2) {
                    0 => DeviceFault::Resets,
                    _ => DeviceFault::LinkBreaks { steps: random.random_range(0..200) },
                };
                let steps = scene.control.steps() + random.random_range(0..800);
                scene.control.plan(steps, fault);
                match update(&scene, Isolation::ReadCommitted) {
                    Ok(()) => committed += 1,
                    Err(NearDataJobError::DeviceLost(_)) => lost += 1,
                    // Nothing paces the writers: what they commit while this thread is put off the
                    // processor may fill the room.
                    Err(NearDataJobError::Store(lockdb::Error::Full {
                        what: "pages" | "bytes of shared state",
                        ..
                    })) => {}
                    Err(failure) => assert!(failure.is_conflict(), "{failure}"),
                }
            }
            drop(stopped);
        });
        scene.assert_no_locks();
        let added = added.into_inner();
        println!("{committed} committed, {lost} lost, beside {added} short updates");
        assert!(committed > 0, "each of 12 updates failed");
        assert_eq!(sum(&scene), 100 * ROWS + committed * ROWS / 2 + added);
        all_committed += committed;
        all_lost += lost;
    }
    let met = all_committed > 0 && all_lost > 0;
    assert!(met || !seeds.is_whole(), "{all_committed} committed, {all_lost} lost");
}

/// How many pages could be reserved.
fn reservable(scene: &Scene) -> usize {
    let mut session = scene.session();
    let mut transaction = session.begin(unsynced(Isolation::Snapshot));
    transaction.near_data(&scene.table).unwrap();
    (0..).take_while(|_| transaction.reserve_pages(&scene.table, 1).is_ok()).count()
}

/// A device that can neither be reached nor reset may still write its pages: nobody else gets them.
#[test]
fn pages_of_a_device_that_cannot_be_fenced_stay_out_of_use() {
    let scene = scene(ROWS);
    update(&scene, Isolation::Snapshot).unwrap();
    let before = reservable(&scene);
    scene.control.resist_resets(true);
    scene.control.plan(scene.control.steps() + 40, DeviceFault::LinkBreaks { steps: 1000 });
    let failure = update(&scene, Isolation::Snapshot).unwrap_err();
    assert!(matches!(failure, NearDataJobError::NotFenced { .. }), "{failure}");
    let after = reservable(&scene);
    assert!(after < before, "{after} pages can be reserved, {before} could before");
    assert_eq!(sum(&scene), 100 * ROWS + ROWS / 2);
    // As soon as it can be reset, it is as good as new.
    scene.control.resist_resets(false);
    assert!(matches!(update(&scene, Isolation::Snapshot), Err(NearDataJobError::DeviceLost(_))));
    let name = |bucket: &locks::Bucket| bucket.head().holder();
    let left: Vec<_> = scene.store.lock_table().buckets().iter().filter_map(name).collect();
    scene.store.lock_table().repair(&left);
    update(&scene, Isolation::Snapshot).unwrap();
    scene.assert_no_locks();
    assert_eq!(sum(&scene), 100 * ROWS + ROWS);
}
