// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each operation does, alone.

use lockdb::Isolation;
use ndp_runtime::host::JobOptions;

use crate::near_data::scene::{ISOLATIONS, Scene, small_jobs, unsynced, update_near};

const UPDATE: (Option<&str>, &str) =
    (Some("region = 7 and balance < 200"), "balance = balance + 5");

fn expected(rows: i64, times: i64) -> Vec<[i64; 3]> {
    let balance = |id: i64| if id % 10 == 7 { 100 + 5 * times } else { 100 };
    (0..rows).map(|id| [id, id % 10, balance(id)]).collect()
}

#[test]
fn an_update_is_one_transaction() {
    for isolation in ISOLATIONS {
        let scene = Scene::new(2000);
        let mut session = scene.session();
        for times in 1..4 {
            let mut transaction = session.begin(unsynced(isolation));
            let mut near = scene.runtime.begin(&mut transaction);
            let jobs = if times == 1 { JobOptions::default() } else { small_jobs() };
            let report = update_near(&mut near, &scene.table, UPDATE.0, UPDATE.1, &jobs).unwrap();
            assert_eq!(report.rows, 200);
            assert_eq!(scene.rows(), expected(2000, times - 1), "nobody sees it before");
            near.commit().unwrap();
            scene.assert_no_locks();
            assert_eq!(scene.rows(), expected(2000, times));
        }
        scene.store.checkpoint().unwrap();
        scene.store.vacuum().unwrap();
        assert_eq!(scene.rows(), expected(2000, 3));
    }
}

#[test]
fn a_rollback_leaves_nothing() {
    let scene = Scene::new(500);
    let mut session = scene.session();
    let mut transaction = session.begin(unsynced(Isolation::Snapshot));
    let mut near = scene.runtime.begin(&mut transaction);
    update_near(&mut near, &scene.table, None, "balance = 0", &small_jobs()).unwrap();
    near.rollback().unwrap();
    scene.assert_no_locks();
    assert_eq!(scene.rows(), expected(500, 0));
    drop(transaction);
    let mut transaction = session.begin(unsynced(Isolation::Snapshot));
    let mut near = scene.runtime.begin(&mut transaction);
    update_near(&mut near, &scene.table, UPDATE.0, UPDATE.1, &small_jobs()).unwrap();
    near.commit().unwrap();
    assert_eq!(scene.rows(), expected(500, 1));
}
