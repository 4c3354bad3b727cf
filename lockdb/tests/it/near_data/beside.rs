// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checkpoints, vacuum and shared states beside near-data updates, before, amid and after them.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use lockdb::device_reader::DeviceReader;
use lockdb::files::{Files, Loss};
use lockdb::layout::RecordId;
use lockdb::{Isolation, Options};

use crate::near_data::device::Job;
use crate::near_data::scene::{QUICK, Scene, add, after, at, finish, near};

/// What a device sees of the table now.
fn device_sum(scene: &Scene) -> i64 {
    let state = scene.store.shared_state().unwrap();
    let file = scene.files.open("pages").unwrap();
    let mut storage = vec![0; file.len().unwrap() as usize];
    file.read_at(0, &mut storage).unwrap();
    let reader = DeviceReader::open(&storage[..], state.bytes()).unwrap();
    let mut sum = 0;
    let visited = reader.element(scene.table.id(), state.snapshot()).unwrap().visit(|row| {
        sum += row.columns(scene.table.schema()).unwrap().int(1);
        std::ops::ControlFlow::Continue(())
    });
    visited.unwrap();
    sum
}

#[test]
fn a_checkpoint_names_what_devices_have_written() {
    let scene = Scene::new(100);
    scene.add(at(Isolation::Snapshot), 1, 5).unwrap();
    assert!(scene.store.checkpoint().unwrap().map_pages > 0);
    scene.add(at(Isolation::Snapshot), 2, 7).unwrap();
    let mut expected = after(100, 1, 5);
    expected.extend(after(100, 2, 7).into_iter().filter(|&(_, n)| n != 0));
    for scene in [scene.crash(1), scene] {
        assert_eq!(scene.rows(), expected);
        scene.store.close().unwrap();
        let scene = scene.reopen();
        assert_eq!(scene.store.recovery().changes, 0, "a closed store needs no redo");
        assert_eq!(scene.rows(), expected);
    }
}

/// Rows are read by the device that no checkpoint has, that the first has, and that a device wrote.
#[test]
fn a_shared_state_is_collected_after_a_flush() {
    let scene = Scene::new(99);
    for round in 1..=4_i64 {
        let before = scene.store.shared_state().unwrap().epoch();
        scene.add(at(Isolation::Snapshot), 1, 5).unwrap();
        assert_eq!(device_sum(&scene), 33 * 5 * round);
        let epoch = scene.store.shared_state().unwrap().epoch();
        assert_eq!(epoch, before + 1, "one flush for what the device has written");
        scene.put(|id| 5 * round + i64::from(id == 0), [0, 1].into_iter());
        scene.put(|_| 0, [0].into_iter());
        assert_eq!(scene.store.shared_state().unwrap().epoch(), epoch, "and no other");
        assert_eq!(device_sum(&scene), 33 * 5 * round);
    }
}

/// All of it while a device has the snapshot, and has pages reserved.
#[test]
fn checkpoints_and_vacuum_leave_a_running_update_alone() {
    for isolation in [Isolation::Snapshot, Isolation::ReadCommitted] {
        let scene = Scene::new(300);
        // Most pages of the table are sparse afterwards: vacuum would empty them.
        for n in [1, 0] {
            scene.put(|_| n, (0..300).filter(|id| id % 10 != 0));
        }
        let other = scene.store.table("other").unwrap();
        let mut session = scene.store.session().unwrap();
        let mut transaction = session.begin(at(isolation));
        let mut device = scene.device();
        let invocation = transaction.near_data(&scene.table).unwrap();
        device.take_over(transaction.reserve_pages(&scene.table, 10).unwrap());
        let (in_use, mut busy) = (scene.store.pages_in_use(), 0);
        let job = device.update_slowly(&invocation, &scene.table, add(1, 5), |_| {
            if busy == 0 {
                let vacuumed = scene.store.vacuum().unwrap();
                assert_eq!((vacuumed.pages_freed, vacuumed.versions_moved), (0, 0));
                busy += vacuumed.pages_spared;
                scene.store.checkpoint().unwrap();
                scene.store.checkpoint().unwrap();
                crate::near_data::scene::put_in(&scene, &other, 5, 5);
            }
        });
        assert!(busy > 0, "there were pages to empty");
        assert!(scene.store.pages_in_use() <= in_use + 1, "reserved pages are not in use");
        finish(&mut transaction, &mut device, &scene.table, job, 1, 5).unwrap();
        scene.store.vacuum().unwrap();
        scene.store.checkpoint().unwrap();
        transaction.commit_finalizing(&mut |finalize| device.finalize(finalize)).unwrap();
        drop((transaction, invocation));
        assert_eq!(scene.rows(), after(300, 1, 5), "{isolation:?}");
        // Afterwards vacuum does as always, and moves what the device has written, too.
        assert!(scene.store.vacuum().unwrap().pages_freed > 0);
        scene.put(|id| if id % 3 == 1 { 6 } else { 0 }, (0..300).filter(|id| id % 10 != 0));
        scene.put(|id| if id % 3 == 1 { 5 } else { 0 }, (0..300).filter(|id| id % 10 != 0));
        assert!(scene.store.vacuum().unwrap().versions_moved > 0);
        assert_eq!(scene.rows(), after(300, 1, 5), "{isolation:?}, vacuumed");
        scene.store.checkpoint().unwrap();
        assert_eq!(scene.reopen().rows(), after(300, 1, 5), "{isolation:?}, opened again");
    }
}

/// At each moment some transaction has a device at work: the store does not grow without end.
#[test]
fn vacuum_waits_no_longer_than_its_timeout() {
    let scene = Scene::new(300);
    let (mut one, mut other) = (scene.store.session().unwrap(), scene.store.session().unwrap());
    let (mut most, mut spared, mut freed) = (0, 0, 0);
    let mut earlier = one.begin(at(Isolation::Snapshot));
    earlier.near_data(&scene.table).unwrap();
    let mut vacuum = |round: i64| {
        scene.put(|_| round, 0..300);
        let vacuumed = scene.store.vacuum().unwrap();
        spared += vacuumed.pages_spared;
        freed += vacuumed.pages_freed;
        most = most.max(scene.store.pages_in_use());
    };
    for round in 0..40 {
        let mut later = other.begin(at(Isolation::Snapshot));
        later.near_data(&scene.table).unwrap();
        earlier.rollback().unwrap();
        vacuum(2 * round);
        drop(earlier);
        earlier = one.begin(at(Isolation::Snapshot));
        earlier.near_data(&scene.table).unwrap();
        later.rollback().unwrap();
        vacuum(2 * round + 1);
    }
    assert!(
        spared > 0 && freed > 100 && most < 200,
        "{spared} spared, {freed} freed, {most} pages"
    );
}

/// Checkpoints come between the reservations of one transaction: all its places are of one epoch.
#[test]
fn reservations_are_of_one_epoch_whatever_checkpoints_come_between() {
    let scene = Scene::new(100);
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(Isolation::Snapshot));
    let mut device = scene.device();
    let invocation = transaction.near_data(&scene.table).unwrap();
    for _ in 0..4 {
        device.take_over(transaction.reserve_pages(&scene.table, 1).unwrap());
        scene.put(|_| 0, [0].into_iter());
        scene.store.checkpoint().unwrap();
    }
    // It takes two of them for its rows, of different checkpoints by then.
    let job = device
        .update(&invocation, &scene.table, |row| add(1, 5)(row) || row.as_row().int(0) % 3 == 2);
    assert_eq!(job, Job::Done);
    transaction.adopt(&scene.table, &device.rows).unwrap();
    let mut finalized = 0;
    let finalizing = transaction.commit_finalizing(&mut |finalize| {
        finalized = finalize.pages.len();
        device.finalize(finalize)
    });
    finalizing.unwrap();
    assert!(finalized > 1, "{finalized} pages");
    drop(transaction);
    drop(session);
    let mut expected = after(100, 1, 5);
    expected.extend(after(100, 2, 5).into_iter().filter(|&(_, n)| n != 0));
    assert_eq!(scene.crash(1).rows(), expected);
    scene.store.checkpoint().unwrap();
    assert_eq!(scene.reopen().rows(), expected);
}

/// A device works on two tables for one transaction, after one that has only read.
#[test]
fn several_tables_are_of_one_commit() {
    let scene = Scene::new(30);
    let other = scene.store.table("other").unwrap();
    (0..30).for_each(|id| crate::near_data::scene::put_in(&scene, &other, id, 0));
    for isolation in [Isolation::ReadCommitted, Isolation::Snapshot, Isolation::Serializable] {
        let mut session = scene.store.session().unwrap();
        let mut transaction = session.begin(at(isolation));
        let mut device = scene.device();
        transaction.near_data(&other).unwrap();
        near(&mut transaction, &mut device, &scene.table, 1, 5).unwrap();
        device.rows.clear();
        near(&mut transaction, &mut device, &other, 2, 7).unwrap();
        transaction.commit_finalizing(&mut |finalize| device.finalize(finalize)).unwrap();
    }
    for scene in [scene.crash(1), scene] {
        let other = scene.store.table("other").unwrap();
        assert_eq!(scene.rows(), after(30, 1, 15));
        assert_eq!(crate::near_data::scene::rows(&scene.store, &other), after(30, 2, 21));
    }
}

/// Each call of a checkpoint fails in turn: the next one knows of the device's pages all the same.
#[test]
fn a_checkpoint_that_fails_forgets_no_finalized_page() {
    for call in 0.. {
        let scene = Scene::new(30);
        scene.store.checkpoint().unwrap();
        scene.add(at(Isolation::Snapshot), 1, 5).unwrap();
        scene.files.fail_once_at(scene.files.steps() + call, Loss::All);
        if scene.store.checkpoint().is_ok() {
            assert!(call > 5, "a checkpoint of {call} calls");
            break;
        }
        scene.store.close().unwrap();
        assert_eq!(scene.reopen().rows(), after(30, 1, 5), "call {call} failed");
    }
}

/// A device's pages are loaded into the host's memory on their first read, and not before.
#[test]
fn finalized_pages_are_brought_in_by_readers() {
    let scene = Scene::new(100);
    let commit = scene.add(at(Isolation::Snapshot), 1, 5).unwrap();
    let vid = scene.store.vid_of(&scene.table, &1_i64).unwrap().unwrap();
    let head = scene.table.vid_map().word(vid as usize).load(Ordering::Acquire);
    let page = RecordId::from_word(head).page();
    let in_memory =
        || scene.store.page_map().word(page as usize).load(Ordering::Acquire) >> 63 != 0;
    assert!(!in_memory());
    // Not even validation needs it.
    scene.add(at(Isolation::Serializable), 2, 5).unwrap();
    scene.store.checkpoint().unwrap();
    assert!(!in_memory());
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(QUICK);
    let (number, row) = transaction.newest_version(&scene.table, vid).unwrap().unwrap();
    assert_eq!((number, row.int(0), row.int(1)), (2, 1, 5));
    assert!(in_memory());
    assert!(scene.store.published() > commit);
}

/// Logical and physical pages are used again, in every order; none is lost, none used twice.
#[test]
fn pages_go_round() {
    let options = Options { pages: 160, ..crate::near_data::scene::options() };
    let scene = Scene::with(60, options);
    let mut most = 0;
    for round in 1..=60_i64 {
        scene.add(QUICK, 1, 1).unwrap();
        scene.put(|id| if id % 3 == 1 { round } else { 0 }, 0..60);
        scene.store.vacuum().unwrap();
        if round % 4 == 0 {
            scene.store.checkpoint().unwrap();
        }
        let mut session = scene.store.session().unwrap();
        let mut transaction = session.begin(QUICK);
        near(&mut transaction, &mut scene.device(), &scene.table, 2, 9).unwrap();
        match round % 3 {
            0 => transaction.rollback().unwrap(),
            1 => drop(transaction.abandon_fenced().unwrap()),
            _ => drop(transaction),
        }
        most = most.max(scene.files.open("pages").unwrap().len().unwrap() / 8192);
        assert_eq!(scene.locked(), 0);
    }
    assert_eq!(scene.rows(), after(60, 1, 60));
    assert!(most < 200, "{most} physical pages for {} in use", scene.store.pages_in_use());
    let scene = scene.reopen();
    assert_eq!(scene.rows(), after(60, 1, 60));
}

/// What stood on a page in an earlier generation is not taken for what a device has put there.
#[test]
fn a_page_that_was_the_hosts_before_is_the_devices_now() {
    // So few that emptied pages are used again at once.
    let options = Options { pages: 40, ..crate::near_data::scene::options() };
    let scene = Scene::with(200, options);
    let other = scene.store.table("other").unwrap();
    scene.store.checkpoint().unwrap();
    for round in 1..=30 {
        // Emptied pages are reserved next, while the checkpoint still has what was there.
        scene.put(|_| -round, (0..200).filter(|id| id % 3 != 1));
        scene.put(|_| 0, (0..200).filter(|id| id % 3 != 1));
        scene.store.vacuum().unwrap();
        // A transaction that begins now cannot have seen the emptied pages.
        crate::near_data::scene::put_in(&scene, &other, 1, round);
        let mut session = scene.store.session().unwrap();
        let mut transaction = session.begin(at(Isolation::Snapshot));
        let mut device = scene.device();
        let invocation = transaction.near_data(&scene.table).unwrap();
        // All that there are, so that those are among them; the device begins with the last.
        while let Ok(reservations) = transaction.reserve_pages(&scene.table, 1) {
            device.take_over(reservations);
        }
        let job = device.update(&invocation, &scene.table, add(1, 1));
        finish(&mut transaction, &mut device, &scene.table, job, 1, 1).unwrap();
        transaction.commit_finalizing(&mut |finalize| device.finalize(finalize)).unwrap();
        drop(transaction);
        drop(session);
        let expected = after(200, 1, round);
        assert_eq!(scene.crash(round as u64).rows(), expected, "round {round}, power lost");
        assert_eq!(scene.rows(), expected, "round {round}");
        if round % 4 != 0 {
            scene.store.checkpoint().unwrap();
            assert_eq!(scene.rows(), expected, "round {round}, after a checkpoint");
        }
    }
    let physical = scene.files.open("pages").unwrap().len().unwrap() / 8192;
    assert!(physical < 60, "{physical} physical pages: places are lost");
}

/// The store's own thread does checkpoints and vacuum, and others commit, while devices work.
#[test]
fn threads_commit_beside_devices() {
    const ROUNDS: i64 = 8;
    let options = Options {
        maintenance: true,
        checkpoint_log: 1 << 16,
        shared_state_limit: 1 << 16,
        lock_buckets: 1 << 16,
        ..Options::small()
    };
    let scene = Scene::with(300, options);
    let (done, commits) = (AtomicBool::new(false), AtomicI64::new(0));
    std::thread::scope(|scope| {
        // Rows 0 modulo 3 are the host's.
        for lane in 0..2 {
            let (scene, done, commits) = (&scene, &done, &commits);
            scope.spawn(move || {
                let mut session = scene.store.session().unwrap();
                let mut id = lane * 3;
                while !done.load(Ordering::Relaxed) {
                    let changed: Result<_, lockdb::Error> =
                        session.transaction(QUICK, |transaction| {
                            transaction.update(&scene.table, &id, |row| {
                                row.set_int(1, row.as_row().int(1) + 1);
                                Ok(())
                            })
                        });
                    changed.unwrap().unwrap();
                    commits.fetch_add(1, Ordering::Relaxed);
                    id = (id + 6) % 300;
                }
            });
        }
        let devices: Vec<_> = [1, 2]
            .into_iter()
            .map(|rest| {
                let scene = &scene;
                // Its locks may be of the same bucket as another's: then it tries again.
                scope.spawn(move || {
                    for _ in 0..ROUNDS {
                        let mut attempts = (0..10_000).map(|_| {
                            std::thread::yield_now();
                            scene.add(QUICK, rest, rest)
                        });
                        assert!(attempts.any(|done| done.is_ok()), "there is no end to it");
                    }
                })
            })
            .collect();
        devices.into_iter().for_each(|device| device.join().unwrap());
        done.store(true, Ordering::Relaxed);
    });
    let rows = scene.rows();
    let sum =
        |rest: i64| rows.iter().filter(|(id, _)| *id % 3 == rest).map(|(_, n)| n).sum::<i64>();
    assert_eq!((sum(1), sum(2)), (100 * ROUNDS, 200 * ROUNDS));
    assert_eq!(sum(0), commits.load(Ordering::Relaxed));
    assert_eq!((scene.locked(), device_sum(&scene)), (0, rows.values().sum()));
    scene.store.close().unwrap();
    assert_eq!(scene.reopen().rows(), rows);
}
