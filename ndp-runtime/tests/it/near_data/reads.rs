// SPDX-License-Identifier: MIT OR Apache-2.0
//! Near-data reads, and the same jobs done by the host.

use std::ops::ControlFlow;

use lockdb::Isolation;
use lockdb::device_reader::WalkError;
use lockdb::layout::{PAGE_BYTES, Page, PageBuffer, PageKind};
use lockdb::schema::{Type, Value};
use ndp_runtime::engine::Engine;
use ndp_runtime::host::{
    AggregateOf, HostPath, JobOptions, LinkBytes, NearDataJobError, PreparedUpdate, TableGate,
};
use ndp_runtime::program::{Aggregate, Aggregation, compile_select};

use crate::near_data::scene::{
    BALANCE, Scene, device_pages, set, small_jobs, unsynced, update_near,
};

#[test]
fn a_select_gives_the_snapshot_in_chunks() {
    let scene = Scene::new(3000);
    let mut session = scene.session();
    for isolation in crate::near_data::scene::ISOLATIONS {
        let mut transaction = session.begin(unsynced(isolation));
        let mut near = scene.runtime.begin(&mut transaction);
        let mut found = Vec::new();
        let (predicate, outputs) = ("region = 3 and id < 2000", ["id", "balance + region"]);
        let visit = |row: ndp_runtime::host::SelectedRow<'_>| {
            found.push((row.value(0), row.value(1)));
            ControlFlow::Continue(())
        };
        let report =
            near.select(&scene.table, Some(predicate), &outputs, &small_jobs(), visit).unwrap();
        near.rollback().unwrap();
        let expected: Vec<_> =
            (0..200).map(|n| (Value::Int(n * 10 + 3), Value::Int(103))).collect();
        found.sort_by_key(|(id, _)| match id {
            Value::Int(id) => *id,
            other => panic!("{other:?} is no integer"),
        });
        assert_eq!(found, expected);
        assert_eq!((report.read.rows, report.read.device.visible), (200, 3000));
        assert!(report.read.chunks > 1, "{report:?}");
        assert!(report.faults.is_empty());
    }
}

#[test]
fn whole_rows_are_those_of_the_host() {
    let scene = Scene::new(300);
    let mut session = scene.session();
    let mut transaction = session.begin(unsynced(Isolation::Snapshot));
    let mut expected = Vec::new();
    let scanned = transaction.scan(&scene.table, |row| {
        expected.push(row.payload().to_vec());
        ControlFlow::Continue(())
    });
    scanned.unwrap();
    let mut near = scene.runtime.begin(&mut transaction);
    let mut found = Vec::new();
    let jobs = JobOptions { result_bytes: 1 << 14, ..JobOptions::default() };
    let selected = near.select(&scene.table, None, &[], &jobs, |row| {
        found.push(row.payload().to_vec());
        ControlFlow::Continue(())
    });
    selected.unwrap();
    near.release();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    transaction.rollback().unwrap();
}

#[test]
fn an_aggregation_is_that_of_the_host() {
    let scene = Scene::new(1000);
    let mut session = scene.session();
    let mut transaction = session.begin(unsynced(Isolation::Snapshot));
    for aggregate in [Aggregate::Count, Aggregate::Sum, Aggregate::Min, Aggregate::Max] {
        for group in [None, Some("region")] {
            let of = AggregateOf { aggregate, value: "balance + id", group, groups: 100 };
            let mut near = scene.runtime.begin(&mut transaction);
            let predicate = Some("id < 777");
            let (found, report) =
                near.aggregate(&scene.table, predicate, of, &JobOptions::default()).unwrap();
            near.release();
            let outputs: Vec<&str> = [of.value].into_iter().chain(group).collect();
            let schema = scene.table.schema();
            let program = compile_select(scene.table.id(), schema, predicate, &outputs).unwrap();
            let group_type = group.map(|_| Type::Int64);
            let empty = Aggregation::new(aggregate, Type::Int64, group_type, 100).unwrap();
            let pages = device_pages(&scene.files);
            let host = HostPath::new(&pages);
            let (expected, pulled) =
                host.aggregate(&mut transaction, &scene.table, &program.program, empty).unwrap();
            let integer =
                |value: Option<u64>| value.map_or(Value::Null, |bits| Value::Int(bits as i64));
            let expected: Vec<_> = expected
                .unwrap()
                .iter()
                .map(|group| (integer(group.key), integer(group.value)))
                .collect();
            let found: Vec<_> = found.into_iter().map(|row| (row.group, row.value)).collect();
            assert_eq!(found, expected, "{aggregate:?} by {group:?}");
            assert!(pulled.link.total() > 10 * report.link.total(), "{pulled:?}, {report:?}");
        }
    }
}

/// The same update by the device and by the host leaves the same rows; the bytes that pass the link
/// differ.
#[test]
fn host_and_device_make_the_same_rows() {
    for isolation in crate::near_data::scene::ISOLATIONS {
        let (near_scene, host_scene) = (Scene::new(2000), Scene::new(2000));
        let (predicate, assignments) =
            (Some("region = 4 or id < 50"), "balance = balance * 3 - id");
        let mut session = near_scene.session();
        let update = PreparedUpdate::new(&near_scene.table, predicate, assignments).unwrap();
        let near =
            near_scene.runtime.update(&mut session, unsynced(isolation), &update, &small_jobs(), 3);
        let near = near.unwrap();
        let mut session = host_scene.session();
        let mut transaction = session.begin(unsynced(isolation));
        let pages = device_pages(&host_scene.files);
        let host_update = PreparedUpdate::new(&host_scene.table, predicate, assignments).unwrap();
        let host = HostPath::new(&pages).update(&mut transaction, &host_update).unwrap();
        transaction.commit().unwrap();
        assert_eq!(near.rows, host.rows);
        assert_eq!(near_scene.rows(), host_scene.rows());
        let LinkBytes { pages_pulled, pages_written, .. } = host.link;
        assert!(pages_pulled > 0 && pages_written > 0, "{host:?}");
        assert!(host.link.total() > near.link.total(), "{host:?}, {near:?}");
        assert_eq!((host.link.to_host(), host.link.to_device()), (pages_pulled, pages_written));
        assert!(near.link.to_host() > near.link.results && near.link.to_device() > 0, "{near:?}");
        println!("{} bytes by the host, {} near the data", host.link.total(), near.link.total());
    }
}

/// More than the device has room for, too.
#[test]
fn several_jobs_are_in_flight() {
    let scene = Scene::new(1000);
    std::thread::scope(|threads| {
        for thread in 0..Engine::JOBS as i64 + 2 {
            let scene = &scene;
            threads.spawn(move || {
                let mut session = scene.session();
                for round in 0..5 {
                    let (predicate, jobs) = (format!("region = {thread}"), small_jobs());
                    if thread % 2 == 0 {
                        // Rows share buckets, so that updates may come to wait in a circle.
                        let set = "balance = balance + 1";
                        let update = PreparedUpdate::new(&scene.table, Some(&predicate), set);
                        let update = update.unwrap();
                        let options = unsynced(Isolation::ReadCommitted);
                        let updated =
                            scene.runtime.update(&mut session, options, &update, &jobs, 1000);
                        assert_eq!(updated.unwrap().rows, 100);
                        continue;
                    }
                    let mut transaction = session.begin(unsynced(Isolation::ReadCommitted));
                    let mut near = scene.runtime.begin(&mut transaction);
                    let (aggregate, value) = (Aggregate::Sum, "balance");
                    let of = AggregateOf { aggregate, value, group: None, groups: 1 };
                    let found = near.aggregate(&scene.table, Some(&predicate), of, &jobs);
                    near.rollback().unwrap();
                    assert_eq!(found.unwrap().0[0].value, Value::Int(100 * 100), "round {round}");
                }
            });
        }
    });
    scene.assert_no_locks();
    let sum: i64 = scene.rows().iter().map(|row| row[BALANCE]).sum();
    assert_eq!(sum, 100 * 1000 + 5 * 5 * 100);
}

/// Behind the gate a near-data update meets nobody, at any level; and the short updates wait.
#[test]
fn a_locked_table_has_one_writer() {
    let scene = Scene::new(500);
    let gate = TableGate::default();
    let bound = std::time::Duration::from_secs(20);
    std::thread::scope(|threads| {
        for thread in 0..2_i64 {
            let (scene, gate) = (&scene, &gate);
            threads.spawn(move || {
                let mut session = scene.session();
                for round in 0..50 {
                    let _passing = gate.pass(bound).unwrap();
                    let id = thread + 2 * round;
                    let changed = session
                        .transaction(unsynced(Isolation::Snapshot), |transaction| {
                            transaction.update(&scene.table, &id, |row| set(row, 1, 9))
                        });
                    changed.map_err(|error: lockdb::Error| error.to_string()).unwrap();
                }
            });
        }
        let mut session = scene.session();
        for _ in 0..5 {
            let _alone = gate.be_alone(bound).unwrap();
            assert!(gate.pass(std::time::Duration::ZERO).is_err());
            let set = "balance = balance + 1";
            let update = PreparedUpdate::new(&scene.table, None, set).unwrap();
            let options = unsynced(Isolation::Snapshot);
            let jobs = small_jobs();
            let report = scene.runtime.update(&mut session, options, &update, &jobs, 1).unwrap();
            assert_eq!((report.rows, report.device.lock_waits, report.aborts), (500, 0, 0));
        }
    });
    scene.assert_no_locks();
}

#[test]
fn a_select_can_be_broken_off() {
    let scene = Scene::new(3000);
    let mut session = scene.session();
    let mut transaction = session.begin(unsynced(Isolation::Snapshot));
    let mut near = scene.runtime.begin(&mut transaction);
    let mut rows = 0;
    let report = near.select(&scene.table, None, &["id"], &small_jobs(), |_| {
        rows += 1;
        if rows == 100 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((rows, report.unwrap().read.rows), (100, 100));
    let set = "balance = balance + 1";
    let report = update_near(&mut near, &scene.table, Some("id < 7"), set, &small_jobs()).unwrap();
    assert_eq!(report.rows, 7);
    near.commit().unwrap();
}

/// A damaged page on native storage: each of its rows is told by name, the others are given; an update
/// changes nothing.
#[test]
fn rows_of_damaged_pages_are_told() {
    let scene = Scene::new(1000);
    let file = scene.files.open("pages").unwrap();
    let mut page = PageBuffer::ZERO;
    let is_data = |physical: &u64| {
        file.read_at(physical * PAGE_BYTES as u64, &mut page.0).unwrap();
        Page::new(&page.0).header().kind == PageKind::Data as u32
    };
    let physical = (2..).find(is_data).unwrap();
    let at = physical * PAGE_BYTES as u64 + 100;
    file.write_at(at, &[!page.0[100]]).unwrap();

    let mut session = scene.session();
    let mut transaction = session.begin(unsynced(Isolation::Snapshot));
    let mut near = scene.runtime.begin(&mut transaction);
    let jobs = small_jobs();
    let mut rows = 0;
    let report = near.select(&scene.table, None, &["id"], &jobs, |_| {
        rows += 1;
        ControlFlow::Continue(())
    });
    let report = report.unwrap();
    println!("{rows} rows, {} faults", report.faults.len());
    assert_eq!(rows + report.faults.len(), 1000);
    assert!(report.faults.len() > 20);
    assert!(report.faults.iter().all(|fault| fault.1 == WalkError::Checksum.code()));
    let of = AggregateOf { aggregate: Aggregate::Count, value: "id", group: None, groups: 1 };
    let failure = near.aggregate(&scene.table, None, of, &jobs).unwrap_err();
    let faults = |failure| match failure {
        NearDataJobError::RowFaults { total, .. } => total as usize,
        other => panic!("{other}"),
    };
    assert_eq!(faults(failure), report.faults.len());
    let failure = update_near(&mut near, &scene.table, None, "balance = 0", &jobs).unwrap_err();
    assert!(faults(failure) > 0);
    drop(near);
    drop(transaction);
    scene.assert_no_locks();
    file.write_at(at, &[page.0[100]]).unwrap();
    assert!(scene.rows().iter().all(|row| row[BALANCE] == 100));
}
