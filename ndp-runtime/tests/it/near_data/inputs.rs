// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bad input: a typed error that names the place, and nothing is changed.

use lockdb::near_data::NearDataError;
use lockdb::{Error, Isolation};
use ndp_runtime::host::{JobOptions, NearDataJobError};
use ndp_runtime::job::Status;
use ndp_runtime::program::CompileErrorKind;

use crate::near_data::scene::{BALANCE, Scene, small_jobs, unsynced, update_near};

/// Has an update fail, and looks at what is left.
fn refused(scene: &Scene, predicate: &str, set: &str, jobs: &JobOptions<'_>) -> NearDataJobError {
    let before = scene.rows();
    let mut session = scene.session();
    let mut transaction = session.begin(unsynced(Isolation::Snapshot));
    let mut near = scene.runtime.begin(&mut transaction);
    let failure = update_near(&mut near, &scene.table, Some(predicate), set, jobs).unwrap_err();
    println!("{failure}");
    drop(near);
    drop(transaction);
    scene.assert_no_locks();
    assert_eq!(scene.rows(), before);
    assert!(!failure.is_conflict());
    failure
}

#[test]
fn expressions_that_make_no_sense_begin_nothing() {
    let scene = Scene::new(100);
    let jobs = JobOptions::default();
    for (predicate, set, expected) in [
        ("regoin = 7", "balance = 1", CompileErrorKind::UnknownColumn),
        ("region = 7", "blance = 1", CompileErrorKind::UnknownColumn),
        ("owner + 1 = 2", "balance = 1", CompileErrorKind::Type),
        ("region = 7", "balance = 'much'", CompileErrorKind::Type),
        ("region = ", "balance = 1", CompileErrorKind::Syntax),
        ("region = 7", "id = id + 1", CompileErrorKind::Refused),
        ("region = 7", "balance = null", CompileErrorKind::Refused),
    ] {
        match refused(&scene, predicate, set, &jobs) {
            NearDataJobError::Compile(error) => assert_eq!(error.kind, expected, "{error}"),
            other => panic!("{predicate}; {set}: {other}"),
        }
    }
}

#[test]
fn a_statement_that_cannot_be_compiled_leaves_the_transaction_as_it_was() {
    let scene = Scene::new(100);
    let mut session = scene.session();
    let mut transaction = session.begin(unsynced(Isolation::Snapshot));
    let mut near = scene.runtime.begin(&mut transaction);
    let jobs = JobOptions::default();
    update_near(&mut near, &scene.table, Some("nothing = 1"), "balance = 0", &jobs).unwrap_err();
    let report =
        update_near(&mut near, &scene.table, Some("id = 1"), "balance = 0", &jobs).unwrap();
    assert_eq!(report.rows, 1);
    near.commit().unwrap();
    assert_eq!(scene.rows()[1][BALANCE], 0);
}

#[test]
fn tables_that_the_store_does_not_have_are_refused() {
    let (scene, other) = (Scene::new(100), Scene::new(100));
    let unknown = scene.store.table("acount").unwrap_err();
    assert!(matches!(unknown, Error::NoSuchTable { .. }), "{unknown}");
    let mut session = scene.session();
    let mut transaction = session.begin(unsynced(Isolation::Snapshot));
    let mut near = scene.runtime.begin(&mut transaction);
    let failure =
        update_near(&mut near, &other.table, None, "balance = 0", &small_jobs()).unwrap_err();
    let foreign = matches!(failure, NearDataJobError::Store(Error::ForeignTable { .. }));
    assert!(foreign, "{failure}");
}

#[test]
fn rows_that_cannot_be_changed_end_the_transaction() {
    let scene = Scene::new(100);
    let set = "balance = balance + 9223372036854775807";
    match refused(&scene, "id >= 40 and id < 45", set, &JobOptions::default()) {
        NearDataJobError::RowFaults { total, first, .. } => {
            assert_eq!(total, 5);
            let vids: Vec<u32> = first.iter().map(|fault| fault.0).collect();
            assert_eq!((vids, first[0].1), (vec![40, 41, 42, 43, 44], 20));
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_result_buffer_without_room_for_an_entry_is_refused() {
    let scene = Scene::new(100);
    let jobs = JobOptions { result_bytes: 64, ..JobOptions::default() };
    match refused(&scene, "id = 1", "balance = 0", &jobs) {
        NearDataJobError::Refused { status: Status::BadDescriptor, .. } => {}
        other => panic!("{other}"),
    }
    let jobs = JobOptions { elements: 0, ..JobOptions::default() };
    match refused(&scene, "id = 1", "balance = 0", &jobs) {
        NearDataJobError::Refused { status: Status::BadDescriptor, .. } => {}
        other => panic!("{other}"),
    }
}

#[test]
fn a_table_is_written_by_one_side_alone() {
    let scene = Scene::new(100);
    let mut session = scene.session();
    let mut transaction = session.begin(unsynced(Isolation::Snapshot));
    transaction
        .update(&scene.table, &1_i64, |row| crate::near_data::scene::set(row, BALANCE, 7))
        .unwrap();
    let mut near = scene.runtime.begin(&mut transaction);
    let jobs = small_jobs();
    let failure = update_near(&mut near, &scene.table, None, "balance = 0", &jobs).unwrap_err();
    let NearDataJobError::Store(Error::NearData(NearDataError::AlreadyWritten { .. })) = failure
    else {
        panic!("{failure}");
    };
    near.rollback().unwrap();
    drop(transaction);

    let mut transaction = session.begin(unsynced(Isolation::Snapshot));
    let mut near = scene.runtime.begin(&mut transaction);
    update_near(&mut near, &scene.table, None, "balance = 0", &jobs).unwrap();
    let error = near.transaction().get(&scene.table, &1_i64).map(drop).unwrap_err();
    assert!(matches!(error, Error::NearData(NearDataError::InUse { .. })), "{error}");
    near.commit().unwrap();
}
