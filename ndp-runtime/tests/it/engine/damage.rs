// SPDX-License-Identifier: MIT OR Apache-2.0
//! Damaged storage: the error is reported, and nothing else changes.

use lockdb::Isolation;
use lockdb::files::Files;
use lockdb::layout::{PAGE_BYTES, Page, PageBuffer, PageKind};
use ndp_runtime::job::{Status, Submission, Task};
use ndp_runtime::program::compile_select;

use crate::engine::scene::{Found, PLENTY, Scene};

/// Flips a bit in the physical page that is picked, if there is one; says whether there was.
fn flip(scene: &Scene, pick: impl Fn(&lockdb::layout::PageHeader) -> bool) -> bool {
    let file = scene.files.open("pages").unwrap();
    let pages = file.len().unwrap() / PAGE_BYTES as u64;
    let mut bytes = Box::new(PageBuffer::ZERO);
    let mut found = false;
    for physical in 2..pages {
        file.read_at(physical * PAGE_BYTES as u64, &mut bytes.0).unwrap();
        if pick(&Page::new(&bytes.0).header()) {
            bytes.0[5000] ^= 4;
            file.write_at(physical * PAGE_BYTES as u64, &bytes.0).unwrap();
            found = true;
        }
    }
    found
}

#[test]
fn rows_of_a_damaged_page_are_told_by_their_vids() {
    let mut scene = Scene::new(1, 400);
    scene.store.checkpoint().unwrap();
    let (table, schema) = (scene.table.id(), scene.table.schema().clone());
    let compiled = compile_select(table, &schema, None, &["id"]).unwrap();
    let rows = scene.rows().len();
    let page = scene.table.vid_map().word(7).load(std::sync::atomic::Ordering::Relaxed) >> 8;
    let data = PageKind::Data as u32;
    assert!(flip(&scene, |header| header.kind == data && header.page == page));
    let descriptor = scene.descriptor(&compiled.program, Task::Select { payloads: false }, PLENTY);
    let outcome = scene.finish(1, &descriptor, PLENTY);
    assert_eq!(outcome.status, Status::Done);
    let faults: Vec<_> = outcome
        .entries
        .iter()
        .filter_map(|entry| match entry {
            Found::Fault(fault) => Some((fault.vid, fault.code)),
            _ => None,
        })
        .collect();
    assert!(faults.contains(&(7, 3)), "{faults:?}");
    assert!(faults.iter().all(|(_, code)| *code == 3), "{faults:?}");
    // A VID whose head stands there may be a deleted row, which nobody can tell any more.
    assert!(outcome.entries.len() >= rows && faults.len() < rows);
    assert_eq!(outcome.statistics.faults, faults.len() as u64);

    let update = scene.compile("region >= 0", "balance = 1");
    let task = scene.update(&update, Isolation::Snapshot, PLENTY);
    let descriptor = scene.descriptor(&update.program, Task::Update(task), PLENTY);
    let outcome = scene.finish(2, &descriptor, PLENTY);
    assert_eq!(outcome.status, Status::RowFaults);
    assert!(outcome.entries.iter().any(|entry| matches!(entry, Found::Fault(_))));
    assert_eq!(scene.run(Submission::cancel(2)).status, Status::NoJob);
}

#[test]
fn a_damaged_map_or_directory_is_told_in_words() {
    for (kind, word) in [(PageKind::PageMap, "checksum"), (PageKind::Directory, "checksum")] {
        let mut scene = Scene::new(2, 60);
        scene.store.checkpoint().unwrap();
        let (table, schema) = (scene.table.id(), scene.table.schema().clone());
        let compiled = compile_select(table, &schema, None, &["id"]).unwrap();
        let task = Task::Select { payloads: false };
        let descriptor = scene.descriptor(&compiled.program, task, PLENTY);
        assert!(flip(&scene, |header| header.kind == kind as u32));
        let outcome = scene.finish(1, &descriptor, PLENTY);
        assert_eq!(outcome.status, Status::Storage);
        assert!(outcome.text.contains(word), "{}", outcome.text);
        assert_eq!(scene.engine.live_jobs(), 0);
    }
}

#[test]
fn programs_for_other_tables_are_refused_in_words() {
    let mut scene = Scene::new(3, 20);
    let schema = scene.table.schema().clone();
    let compiled = compile_select(5, &schema, None, &["id"]).unwrap();
    let descriptor = scene.descriptor(&compiled.program, Task::Select { payloads: false }, PLENTY);
    let outcome = scene.finish(1, &descriptor, PLENTY);
    assert_eq!(outcome.status, Status::BadProgram);
    assert!(outcome.text.contains("table"), "{}", outcome.text);
    for (table, snapshot, offset) in
        [(9, descriptor.snapshot, 16), (0, descriptor.snapshot + 1, 24)]
    {
        let descriptor = ndp_runtime::job::Descriptor { table, snapshot, ..descriptor.clone() };
        let outcome = scene.finish(1, &descriptor, PLENTY);
        assert_eq!((outcome.status, outcome.detail), (Status::BadDescriptor, offset));
    }
}
