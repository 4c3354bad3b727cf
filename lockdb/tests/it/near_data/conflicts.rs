// SPDX-License-Identifier: MIT OR Apache-2.0
//! Near-data updates beside transactions that change the same rows.

use lockdb::near_data::{AdoptError, NearDataError};
use lockdb::{Error, Isolation, Order, Transaction};

use crate::near_data::device::{Job, Moment};
use crate::near_data::scene::{Scene, add, after, at, finish, near, put, put_in};

/// A near-data update of the rows 1 modulo 3, in whose course `meanwhile` happens once, at `moment`.
/// Gives what the job came to and what the commit said, if there was one.
fn update_while(
    scene: &Scene,
    isolation: Isolation,
    moment: Moment,
    meanwhile: impl FnOnce(),
) -> (Job, Result<u64, Error>) {
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(isolation));
    let mut device = scene.device();
    let invocation = transaction.near_data(&scene.table).unwrap();
    device.take_over(transaction.reserve_pages(&scene.table, 5).unwrap());
    let mut meanwhile = Some(meanwhile);
    let job = device.update_slowly(&invocation, &scene.table, add(1, 5), |now| {
        if now == moment
            && let Some(meanwhile) = meanwhile.take()
        {
            meanwhile();
        }
    });
    assert!(meanwhile.is_none(), "the moment has come");
    let done = finish(&mut transaction, &mut device, &scene.table, job, 1, 5);
    let done = match done {
        Ok(()) => transaction.commit_finalizing(&mut |finalize| device.finalize(finalize)),
        Err(error) => {
            transaction.abandon_fenced().unwrap();
            Err(error)
        }
    };
    drop(transaction);
    assert_eq!(scene.locked(), 0);
    (job, done)
}

fn vid_of(scene: &Scene, id: i64) -> u32 {
    scene.store.vid_of(&scene.table, &id).unwrap().unwrap()
}

#[test]
fn a_row_that_was_changed_since_the_snapshot_ends_the_job() {
    for isolation in [Isolation::Snapshot, Isolation::Serializable] {
        let scene = Scene::new(100);
        let change = || put_in(&scene, &scene.table, 49, 1000);
        let (job, done) = update_while(&scene, isolation, Moment::SnapshotTaken, change);
        assert_eq!(job, Job::Conflict { vid: vid_of(&scene, 49) }, "{isolation:?}");
        assert!(done.is_err());
        let mut expected = after(100, 1, 0);
        expected.insert(49, 1000);
        assert_eq!(scene.rows(), expected, "{isolation:?}");
    }
}

#[test]
fn at_read_committed_a_changed_row_is_left_to_the_host() {
    let scene = Scene::new(100);
    let change = || {
        put_in(&scene, &scene.table, 49, 1000);
        put_in(&scene, &scene.table, 50, 1000);
    };
    let (job, done) = update_while(&scene, Isolation::ReadCommitted, Moment::SnapshotTaken, change);
    assert_eq!(job, Job::Done);
    done.unwrap();
    let mut expected = after(100, 1, 5);
    expected.extend([(49, 1005), (50, 1000)]);
    assert_eq!(scene.rows(), expected);
    assert_eq!(scene.crash(1).rows(), expected);
}

#[test]
fn a_row_that_is_gone_or_does_not_qualify_any_more_is_left_alone() {
    let scene = Scene::new(100);
    let delete = || {
        let deleted: Result<bool, Error> =
            scene.store.transaction(|transaction| transaction.delete(&scene.table, &49));
        assert!(deleted.unwrap());
    };
    let (_, done) = update_while(&scene, Isolation::ReadCommitted, Moment::SnapshotTaken, delete);
    done.unwrap();
    let mut expected = after(100, 1, 5);
    expected.remove(&49);
    assert_eq!(scene.rows(), expected);
    // Of the rows left to it the host may change none.
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(Isolation::ReadCommitted));
    transaction.near_data(&scene.table).unwrap();
    transaction.reserve_pages(&scene.table, 1).unwrap();
    let vid = vid_of(&scene, 7);
    let none = transaction.update_left(&scene.table, vid, |row| {
        row.set_int(1, -1);
        Ok(None::<()>)
    });
    assert_eq!(none.unwrap(), None);
    transaction.commit().unwrap();
    assert_eq!((scene.rows(), scene.locked()), (expected, 0));
}

/// From the device's lock on nobody else changes the row, nor does its version move.
#[test]
fn what_the_device_has_locked_is_kept_from_the_host() {
    let scene = Scene::new(100);
    let vid = vid_of(&scene, 49);
    let mut refused = 0;
    let attempt = || {
        let mut session = scene.store.session().unwrap();
        let mut transaction = session.begin(at(Isolation::ReadCommitted));
        let changed = put(&mut transaction, &scene.table, 49, 1000);
        assert!(matches!(&changed, Err(error) if error.is_conflict()), "{changed:?}");
        scene.store.vacuum().unwrap();
        refused += 1;
    };
    let (job, done) = update_while(&scene, Isolation::Snapshot, Moment::Locked { vid }, attempt);
    assert_eq!((job, done.is_ok(), refused), (Job::Done, true, 1));
    assert_eq!(scene.rows(), after(100, 1, 5));
}

/// A host transaction has the lock, and gives it up by rolling back.
#[test]
fn a_row_that_the_host_has_locked_is_busy() {
    let scene = Scene::new(100);
    let (mut ours, mut theirs) = (scene.store.session().unwrap(), scene.store.session().unwrap());
    let mut holder = theirs.begin(at(Isolation::Snapshot));
    put(&mut holder, &scene.table, 49, 1000).unwrap();
    for _ in 0..2 {
        let mut transaction = ours.begin(at(Isolation::Snapshot));
        let refused = near(&mut transaction, &mut scene.device(), &scene.table, 1, 5);
        assert!(refused.is_err(), "the row is locked");
    }
    assert_eq!(scene.locked(), 1, "the holder's");
    holder.rollback().unwrap();
    scene.add(at(Isolation::Snapshot), 1, 5).unwrap();
    assert_eq!((scene.rows(), scene.locked()), (after(100, 1, 5), 0));
}

/// The host meets a conflict elsewhere while the device has locks that nobody knows of.
#[test]
fn a_transaction_that_a_conflict_has_ended_is_abandoned_all_the_same() {
    let scene = Scene::new(100);
    let other = scene.store.table("other").unwrap();
    let (mut ours, mut theirs) = (scene.store.session().unwrap(), scene.store.session().unwrap());
    let mut holder = theirs.begin(at(Isolation::Snapshot));
    put(&mut holder, &other, 5, 1).unwrap();
    let mut transaction = ours.begin(at(Isolation::Snapshot));
    let mut device = scene.device();
    let invocation = transaction.near_data(&scene.table).unwrap();
    device.take_over(transaction.reserve_pages(&scene.table, 5).unwrap());
    assert_eq!(device.update(&invocation, &scene.table, add(1, 5)), Job::Done);
    let conflict = put(&mut transaction, &other, 5, 2);
    assert!(matches!(&conflict, Err(error) if error.is_conflict()), "{conflict:?}");
    let late = transaction.adopt(&scene.table, &device.rows);
    assert!(matches!(late, Err(Error::Ended { .. })), "{late:?}");
    let left = scene.locked();
    let repaired = transaction.abandon_fenced().unwrap();
    assert_eq!((repaired.buckets, scene.locked()), (left - 1, 1), "the holder's stays");
    drop(transaction);
    holder.commit().unwrap();
    scene.add(at(Isolation::Snapshot), 1, 5).unwrap();
    assert_eq!((scene.rows(), scene.locked()), (after(100, 1, 5), 0));
    // A transaction that was committed has nothing to abandon.
    let mut transaction = ours.begin(at(Isolation::Snapshot));
    transaction.commit().unwrap();
    assert!(matches!(transaction.abandon_fenced(), Err(Error::Ended { .. })));
}

/// The whole table counts as read: any change of a row in between is a conflict.
#[test]
fn serializable_near_data_updates_have_read_their_table() {
    for id in [50, 200] {
        let scene = Scene::new(100);
        let mut session = scene.store.session().unwrap();
        let mut transaction = session.begin(at(Isolation::Serializable));
        let mut device = scene.device();
        near(&mut transaction, &mut device, &scene.table, 1, 5).unwrap();
        scene.put(|_| 1000, [id].into_iter());
        let done = transaction.commit_finalizing(&mut |finalize| device.finalize(finalize));
        let turned_away = matches!(&done, Err(error) if error.is_conflict());
        assert!(turned_away, "row {id}: {done:?}");
        drop(transaction);
        assert_eq!(scene.locked(), 0);
        let mut expected = after(100, 1, 0);
        expected.insert(id, 1000);
        assert_eq!(scene.rows(), expected);
    }
}

/// Also when what has changed is in a page that the host has not in memory.
#[test]
fn serializable_near_data_updates_see_what_other_devices_have_written() {
    let scene = Scene::new(100);
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(Isolation::Serializable));
    let mut device = scene.device();
    near(&mut transaction, &mut device, &scene.table, 1, 5).unwrap();
    scene.add(at(Isolation::Snapshot), 2, 7).unwrap();
    let done = transaction.commit_finalizing(&mut |finalize| device.finalize(finalize));
    assert!(matches!(&done, Err(error) if error.is_conflict()), "{done:?}");
    drop(transaction);
    assert_eq!((scene.rows(), scene.locked()), (after(100, 2, 7), 0));
}

#[test]
fn at_read_committed_the_snapshot_is_that_of_the_invocation() {
    let scene = Scene::new(100);
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(Isolation::ReadCommitted));
    let last = scene.put(|_| 1000, [49].into_iter());
    let mut device = scene.device();
    let invocation = transaction.near_data(&scene.table).unwrap();
    assert_eq!((invocation.snapshot, transaction.snapshot()), (last, last));
    device.take_over(transaction.reserve_pages(&scene.table, 5).unwrap());
    let job = device.update(&invocation, &scene.table, add(1, 5));
    assert_eq!((job, device.left.len()), (Job::Done, 0));
    finish(&mut transaction, &mut device, &scene.table, job, 1, 5).unwrap();
    transaction.commit_finalizing(&mut |finalize| device.finalize(finalize)).unwrap();
    let mut expected = after(100, 1, 5);
    expected.insert(49, 1005);
    assert_eq!(scene.rows(), expected);
}

/// Another transaction removes the transaction's locks, and changes one of its rows.
#[test]
fn a_row_that_has_changed_by_the_commit_is_an_error() {
    let scene = Scene::new(30);
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(Isolation::Snapshot));
    let mut device = scene.device();
    near(&mut transaction, &mut device, &scene.table, 1, 5).unwrap();
    let bucket = {
        let vid = vid_of(&scene, 4);
        scene.store.lock_table().bucket_of(scene.table.lock_key(vid, 1))
    };
    let name = scene.store.lock_table().buckets()[bucket].head().holder().unwrap();
    scene.store.lock_table().repair(&[name]);
    scene.put(|_| 1000, [4].into_iter());
    let done = transaction.commit_finalizing(&mut |_| panic!("nothing is to be finalized"));
    let vid = vid_of(&scene, 4);
    assert!(
        matches!(
            &done,
            Err(Error::NearData(NearDataError::Adopt {
                vid: found,
                fault: AdoptError::Head { .. },
                ..
            })) if *found == vid
        ),
        "{done:?}"
    );
    transaction.abandon_fenced().unwrap();
    drop(transaction);
    assert_eq!(scene.rows()[&4], 1000);
    assert_eq!(scene.locked(), 0);
}

/// And the other way: a near-data update changes what a SERIALIZABLE transaction has read.
#[test]
fn a_near_data_update_is_seen_by_those_who_validate() {
    let scene = Scene::new(100);
    let read = |transaction: &mut Transaction<'_>| {
        transaction.get(&scene.table, &49).unwrap().map(|row| row.int(1))
    };
    let other = scene.store.table("other").unwrap();
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(Isolation::Serializable));
    assert_eq!(read(&mut transaction), Some(0));
    put(&mut transaction, &other, 1, 1).unwrap();
    scene.add(at(Isolation::Snapshot), 1, 5).unwrap();
    assert_eq!(read(&mut transaction), Some(0), "its snapshot is older");
    let done = transaction.commit();
    assert!(matches!(&done, Err(error) if error.is_conflict()), "{done:?}");
}

#[test]
fn snapshots_from_before_see_the_versions_before() {
    let scene = Scene::new(100);
    scene.store.checkpoint().unwrap();
    let mut session = scene.store.session().unwrap();
    let mut old = session.begin(at(Isolation::Snapshot));
    assert_eq!(old.get(&scene.table, &1).unwrap().unwrap().int(1), 0);
    scene.add(at(Isolation::Snapshot), 1, 5).unwrap();
    scene.add(at(Isolation::Snapshot), 1, 5).unwrap();
    let mut sum = 0;
    let visit = |row: lockdb::schema::RowRef<'_>| {
        sum += row.int(1);
        std::ops::ControlFlow::Continue(())
    };
    old.range::<i64>(&scene.table, .., Order::Ascending, visit).unwrap();
    assert_eq!(sum, 0);
    let changed = old.update(&scene.table, &1, |_| Ok(()));
    assert!(matches!(&changed, Err(error) if error.is_conflict()), "first updater wins");
    drop(old);
    assert_eq!(scene.rows(), after(100, 1, 10));
}

/// A lock that the transaction had before is not given back for the device's sake, nor twice.
#[test]
fn buckets_that_host_and_device_share_are_given_back_once() {
    let options = lockdb::Options { lock_buckets: 32, ..crate::near_data::scene::options() };
    let scene = Scene::with(30, options);
    let other = scene.store.table("other").unwrap();
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(Isolation::Snapshot));
    for id in 0..6 {
        put(&mut transaction, &other, id, 1).unwrap();
    }
    let saved = transaction.savepoint().unwrap();
    let mut device = scene.device();
    near(&mut transaction, &mut device, &scene.table, 1, 5).unwrap();
    let late = transaction.savepoint().unwrap();
    // Of new buckets, and of such as the device has.
    for id in 10..20 {
        put(&mut transaction, &other, id, 1).unwrap();
    }
    let refused = transaction.rollback_to(saved);
    assert!(matches!(refused, Err(Error::NearData(NearDataError::Savepoint { savepoint: 0 }))));
    let held = scene.locked();
    transaction.rollback_to(late).unwrap();
    assert_eq!(scene.locked(), held, "no lock is given back beside a device");
    transaction.commit_finalizing(&mut |finalize| device.finalize(finalize)).unwrap();
    drop(transaction);
    assert_eq!((scene.rows(), scene.locked()), (after(30, 1, 5), 0));
    assert_eq!(crate::near_data::scene::rows(&scene.store, &other).len(), 6);
}

/// What devices have done is not undone in part, neither their versions nor what the host has changed
/// of the rows that they have left to it.
#[test]
fn a_savepoint_between_two_works_of_devices_is_not_gone_back_to() {
    let scene = Scene::new(30);
    let other = scene.store.table("other").unwrap();
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(Isolation::ReadCommitted));
    // A device that only reads.
    transaction.near_data(&scene.table).unwrap();
    let saved = transaction.savepoint().unwrap();
    put(&mut transaction, &other, 1, 1).unwrap();
    transaction.rollback_to(saved).unwrap();
    let mut device = scene.device();
    near(&mut transaction, &mut device, &scene.table, 1, 5).unwrap();
    let refused = transaction.rollback_to(saved);
    assert!(matches!(refused, Err(Error::NearData(NearDataError::Savepoint { savepoint: 0 }))));
    let late = transaction.savepoint().unwrap();
    put(&mut transaction, &other, 2, 1).unwrap();
    transaction.rollback_to(late).unwrap();
    // A row is left to the host after all.
    transaction
        .update_left(&scene.table, 3, |row| {
            Ok(crate::near_data::scene::add(0, 5)(row).then_some(()))
        })
        .unwrap();
    let refused = transaction.rollback_to(late);
    assert!(matches!(refused, Err(Error::NearData(NearDataError::Savepoint { savepoint: 1 }))));
    transaction.commit_finalizing(&mut |finalize| device.finalize(finalize)).unwrap();
    drop(transaction);
    let mut expected = after(30, 1, 5);
    expected.insert(3, 5);
    assert_eq!((scene.rows(), scene.locked()), (expected, 0));
    assert_eq!(crate::near_data::scene::rows(&scene.store, &other).len(), 0);
}
