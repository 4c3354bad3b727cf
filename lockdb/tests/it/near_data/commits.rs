// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a near-data update leaves behind, beside the host's own work.

use lockdb::Isolation;

use crate::near_data::scene::{Scene, after, at, near, put};

const LEVELS: [Isolation; 3] =
    [Isolation::ReadCommitted, Isolation::Snapshot, Isolation::Serializable];

#[test]
fn a_near_data_update_is_a_commit_like_others() {
    for isolation in LEVELS {
        let scene = Scene::new(100);
        let commit = scene.add(at(isolation), 1, 5).unwrap();
        assert_eq!(commit, scene.store.published(), "{isolation:?}");
        assert_eq!(scene.rows(), after(100, 1, 5), "{isolation:?}");
        assert_eq!(scene.locked(), 0, "{isolation:?}");
        let scene = scene.reopen();
        assert_eq!(scene.rows(), after(100, 1, 5), "{isolation:?}, opened again");
    }
}

#[test]
fn near_data_updates_follow_each_other() {
    let scene = Scene::new(100);
    for more in 1..=5 {
        scene.add(at(Isolation::Snapshot), 1, more).unwrap();
        scene.put(|id| id * 100, [1, 4].into_iter());
        scene.put(|_| 0, [1, 4].into_iter());
    }
    let mut expected = after(100, 1, 15);
    expected.extend([(1, 0), (4, 0)]);
    assert_eq!(scene.rows(), expected);
    assert_eq!(scene.reopen().rows(), expected);
}

#[test]
fn the_hosts_own_changes_are_of_the_same_commit() {
    let scene = Scene::new(100);
    let other = scene.store.table("other").unwrap();
    let mut session = scene.store.session().unwrap();
    let mut transaction = session.begin(at(Isolation::Snapshot));
    put(&mut transaction, &other, 7, 70).unwrap();
    let mut device = scene.device();
    near(&mut transaction, &mut device, &scene.table, 2, 9).unwrap();
    put(&mut transaction, &other, 8, 80).unwrap();
    assert_eq!(scene.rows(), after(100, 2, 0), "nothing is seen before the commit");
    let commit = transaction.commit_finalizing(&mut |finalize| device.finalize(finalize)).unwrap();
    assert_eq!(commit, scene.store.published());
    for scene in [scene.crash(3), scene] {
        let other = scene.store.table("other").unwrap();
        assert_eq!(scene.rows(), after(100, 2, 9));
        assert_eq!(crate::near_data::scene::rows(&scene.store, &other), [(7, 70), (8, 80)].into());
    }
}
