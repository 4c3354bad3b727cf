// SPDX-License-Identifier: MIT OR Apache-2.0
//! The anomalies of the ccSLT paper's Figure 1, and the two rules of waking up (section 3). Each
//! test also shows that it finds its anomaly when the step that prevents it is left out.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use lockdb::mutant::Mutant as StoreFault;
use lockdb::{ConflictError, Error, Isolation, Transaction};
use locks::Policy;
use ndp_runtime::engine::Mutant as EngineMutant;
use ndp_runtime::host::{JobOptions, NearDataJobError};

use crate::near_data::scene::{BALANCE, Scene, options, unsynced, update_near};

const ROWS: i64 = 40;
/// The row that both sides are at.
const ROW: i64 = 17;

fn scene(mutant: Option<EngineMutant>) -> Scene {
    let policy = Policy::WaitsFor { every: Duration::from_millis(1) };
    Scene::with(ROWS, options(policy), |device| device.plant(mutant))
}

fn add(
    transaction: &mut Transaction<'_>,
    scene: &Scene,
    id: i64,
    amount: i64,
) -> Result<(), Error> {
    let found = transaction.update(&scene.table, &id, |row| {
        let balance = row.as_row().int(BALANCE);
        row.set_int(BALANCE, balance + amount);
        Ok(())
    })?;
    assert_eq!(found, Some(()));
    Ok(())
}

fn balance(scene: &Scene, id: i64) -> i64 {
    scene.rows()[id as usize][BALANCE]
}

/// Whether a transaction waits in the store's lock table.
fn somebody_waits(scene: &Scene) -> bool {
    scene.store.lock_table().buckets().iter().any(|bucket| bucket.head().has_waiters())
}

/// Figure 1.A: a host transaction and a near-data one both succeed version 1 of a tuple. The host has
/// changed it, and commits while the device waits for the lock; the device must not branch off the
/// version that it has seen.
fn double_version_branch(
    isolation: Isolation,
    mutant: Option<EngineMutant>,
) -> Result<(), NearDataJobError> {
    let scene = scene(mutant);
    let (mut short, mut long) = (scene.session(), scene.session());
    let mut short = short.begin(unsynced(Isolation::Snapshot));
    add(&mut short, &scene, ROW, 1).unwrap();
    let short = RefCell::new(Some(short));
    let polls = RefCell::new(0);
    let commit_while_it_waits = |_: &ndp_runtime::host::Progress| {
        *polls.borrow_mut() += 1;
        let waits = somebody_waits(&scene) || mutant.is_some() && *polls.borrow() > 3;
        if waits && let Some(mut short) = short.borrow_mut().take() {
            short.commit().unwrap();
        }
    };
    let jobs = JobOptions { progress: Some(&commit_while_it_waits), ..JobOptions::default() };
    let mut transaction = long.begin(unsynced(isolation));
    let mut near = scene.runtime.begin(&mut transaction);
    let updated =
        update_near(&mut near, &scene.table, Some("id = 17"), "balance = balance + 5", &jobs);
    let updated = updated.and_then(|report| Ok((report, near.commit()?)));
    drop(transaction);
    if let Some(mut short) = short.into_inner() {
        short.commit().unwrap();
    }
    if updated.is_err() {
        scene.assert_no_locks();
        assert_eq!(balance(&scene, ROW), 101, "of the two the host has changed it");
    }
    let (report, _) = updated?;
    scene.assert_no_locks();
    assert_eq!((report.rows, report.by_host, report.device.left), (1, 1, 1));
    assert_eq!(balance(&scene, ROW), 106, "one version after the other");
    Ok(())
}

#[test]
fn figure_1a_double_version_branch() {
    double_version_branch(Isolation::ReadCommitted, None).unwrap();
    for isolation in [Isolation::Snapshot, Isolation::Serializable] {
        let failure = double_version_branch(isolation, None).unwrap_err();
        assert!(matches!(failure, NearDataJobError::Changed { .. }), "{failure}");
        assert!(failure.is_conflict());
    }
}

/// Without the lock, or without the look at the VID map under it, there are two successors of one
/// version; the host notices that when it takes them over.
#[test]
fn figure_1a_is_found_without_lock_or_check() {
    for mutant in [EngineMutant::LockSkipped, EngineMutant::CheckSkipped] {
        let failure = double_version_branch(Isolation::ReadCommitted, Some(mutant)).unwrap_err();
        println!("{mutant:?}: {failure}");
        assert!(!matches!(failure, NearDataJobError::Changed { .. }), "{mutant:?}: {failure}");
    }
}

/// Figure 1.B: the host has version 1 of a tuple in its memory, the device writes version 2 next to the
/// data; a transaction that begins after the commit must not read the stale one. Returns what it
/// reads.
fn stale_in_memory_read(isolation: Isolation, mutant: Option<StoreFault>) -> i64 {
    let scene = scene(None);
    let mut session = scene.session();
    let mut transaction = session.begin(unsynced(Isolation::Snapshot));
    assert_eq!(transaction.get(&scene.table, &ROW).unwrap().unwrap().int(BALANCE), 100);
    drop(transaction);
    scene.store.plant(mutant);
    let mut transaction = session.begin(unsynced(isolation));
    let mut near = scene.runtime.begin(&mut transaction);
    let jobs = JobOptions::default();
    update_near(&mut near, &scene.table, Some("id = 17"), "balance = balance + 5", &jobs).unwrap();
    near.commit().unwrap();
    drop(transaction);
    scene.store.plant(None);
    scene.assert_no_locks();
    let mut transaction = session.begin(unsynced(Isolation::Snapshot));
    transaction.get(&scene.table, &ROW).unwrap().unwrap().int(BALANCE)
}

#[test]
fn figure_1b_stale_in_memory_read() {
    for isolation in crate::near_data::scene::ISOLATIONS {
        assert_eq!(stale_in_memory_read(isolation, None), 105);
    }
}

#[test]
fn figure_1b_is_found_without_the_publication_of_heads() {
    let mutant = StoreFault::NearDataHeadsNotPublished;
    assert_eq!(stale_in_memory_read(Isolation::Snapshot, Some(mutant)), 100, "the stale version");
}

/// A host transaction waits for a row that a near-data update has locked; then that commits.
fn woken_by_the_commit(waiter: Isolation) -> Result<i64, Error> {
    let scene = scene(None);
    let mut session = scene.session();
    let mut transaction = session.begin(unsynced(Isolation::ReadCommitted));
    let mut near = scene.runtime.begin(&mut transaction);
    let jobs = JobOptions::default();
    update_near(&mut near, &scene.table, None, "balance = balance + 5", &jobs).unwrap();
    let result = std::thread::scope(|threads| {
        let waiting = threads.spawn(|| {
            let mut session = scene.session();
            let mut transaction = session.begin(unsynced(waiter));
            add(&mut transaction, &scene, ROW, 1)?;
            transaction.commit()
        });
        let began = Instant::now();
        while !somebody_waits(&scene) {
            assert!(began.elapsed() < Duration::from_secs(20), "nobody waits for the row's lock");
            std::thread::sleep(Duration::from_micros(100));
        }
        near.commit().unwrap();
        waiting.join().unwrap()
    });
    drop(transaction);
    scene.assert_no_locks();
    result.map(|_| balance(&scene, ROW))
}

#[test]
fn a_waiter_goes_on_with_the_new_version_at_read_committed() {
    assert_eq!(woken_by_the_commit(Isolation::ReadCommitted).unwrap(), 106);
}

#[test]
fn a_waiter_aborts_at_snapshot() {
    for isolation in [Isolation::Snapshot, Isolation::Serializable] {
        let error = woken_by_the_commit(isolation).unwrap_err();
        assert!(matches!(error, Error::Conflict(ConflictError::Write { .. })), "{error}");
    }
}

/// The device waits for a host transaction, which waits for what the device has locked: one of the two
/// gives way, and the other commits.
#[test]
fn a_deadlock_between_host_and_device_is_broken() {
    let scene = scene(None);
    let mut session = scene.session();
    let mut short_session = scene.session();
    let mut short = short_session.begin(unsynced(Isolation::ReadCommitted));
    add(&mut short, &scene, 30, 1).unwrap();
    let outcomes = std::thread::scope(|threads| {
        let scene = &scene;
        let host = threads.spawn(move || {
            let began = Instant::now();
            while !somebody_waits(scene) {
                assert!(began.elapsed() < Duration::from_secs(20), "the device does not wait");
                std::thread::sleep(Duration::from_micros(100));
            }
            add(&mut short, scene, 3, 1)?;
            short.commit()
        });
        let mut transaction = session.begin(unsynced(Isolation::ReadCommitted));
        let mut near = scene.runtime.begin(&mut transaction);
        let jobs = JobOptions { elements: 1, ..JobOptions::default() };
        let updated = update_near(&mut near, &scene.table, None, "balance = balance + 5", &jobs);
        let device = updated.and_then(|_| near.commit());
        (host.join().unwrap(), device)
    });
    scene.assert_no_locks();
    let (host, device) = outcomes;
    println!("host {host:?}, device {device:?}");
    assert!(host.is_ok() || device.is_ok(), "one goes on");
    let (with_host, with_device) = (i64::from(host.is_ok()), 5 * i64::from(device.is_ok()));
    assert_eq!(balance(&scene, 3), 100 + with_host + with_device);
    assert_eq!(balance(&scene, 30), 100 + with_host + with_device);
    assert_eq!(balance(&scene, 31), 100 + with_device);
    if let Err(failure) = device {
        assert!(matches!(failure, NearDataJobError::Deadlock { .. }), "{failure}");
    }
    if let Err(error) = host {
        assert!(error.is_conflict(), "{error}");
    }
}

/// Wait-die holds for the device, too: behind an older transaction it does not wait.
#[test]
fn a_device_dies_behind_the_old_and_waits_for_the_young() {
    let scene = Scene::with(ROWS, options(Policy::WaitDie), |_| {});
    let (mut long, mut short) = (scene.session(), scene.session());
    let set = "balance = balance + 5";
    let mut older = short.begin(unsynced(Isolation::ReadCommitted));
    add(&mut older, &scene, ROW, 1).unwrap();
    let mut transaction = long.begin(unsynced(Isolation::ReadCommitted));
    let mut near = scene.runtime.begin(&mut transaction);
    let failure =
        update_near(&mut near, &scene.table, None, set, &JobOptions::default()).unwrap_err();
    assert!(matches!(failure, NearDataJobError::Died { .. }), "{failure}");
    drop(near);
    drop(transaction);
    older.commit().unwrap();
    drop(older);
    scene.assert_no_locks();

    let younger = RefCell::new(None);
    let session = RefCell::new(Some(&mut short));
    let lock_then_commit = |_: &ndp_runtime::host::Progress| {
        if let Some(session) = session.borrow_mut().take() {
            let mut transaction = session.begin(unsynced(Isolation::ReadCommitted));
            add(&mut transaction, &scene, ROW, 1).unwrap();
            *younger.borrow_mut() = Some(transaction);
        } else if somebody_waits(&scene)
            && let Some(mut younger) = younger.borrow_mut().take()
        {
            younger.commit().unwrap();
        }
    };
    let jobs = JobOptions { progress: Some(&lock_then_commit), ..JobOptions::default() };
    let mut transaction = long.begin(unsynced(Isolation::ReadCommitted));
    let mut near = scene.runtime.begin(&mut transaction);
    let report = update_near(&mut near, &scene.table, None, set, &jobs).unwrap();
    near.commit().unwrap();
    assert_eq!((report.rows, report.by_host), (ROWS as u64, 1));
    assert_eq!((balance(&scene, ROW), balance(&scene, 3)), (107, 105));
    scene.assert_no_locks();
}
