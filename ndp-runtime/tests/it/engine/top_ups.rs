// SPDX-License-Identifier: MIT OR Apache-2.0
//! Valid and invalid top-ups of a job.

use lockdb::Isolation;
use lockdb::near_data::PageReservation;
use ndp_runtime::job::{self, ResultChunk, Span, Status, Submission, Task, TopUp, TopUpBlock};

use crate::engine::demands::check_idle;
use crate::engine::scene::{DEVICE, PLENTY, RESERVED, Room, Scene, reservation};
use crate::engine::updates::{ASSIGNMENTS, PREDICATE};

#[test]
fn a_top_up_that_does_not_fit_changes_nothing() {
    let mut scene = Scene::new(9, 60);
    let little = Room { result: 300, reservations: 1 };
    let compiled = scene.compile(PREDICATE, ASSIGNMENTS);
    let update = scene.update(&compiled, Isolation::Snapshot, little);
    let descriptor = scene.descriptor(&compiled.program, Task::Update(update), little);
    scene.begin(1, &descriptor);
    assert_eq!(scene.completion().status, Status::More);

    let result = scene.card.allocate(1 << 12);
    let fine = TopUp { chunk: 1, result, reservations: 0, reservation_count: 0 };
    let (first, epoch) = (reservation(0, 0), scene.store.shared_state().unwrap().epoch());
    let fresh = reservation(100, epoch);
    let reserved = |scene: &mut Scene, reservations: &[PageReservation]| {
        let bytes = job::reservation::encode_all(reservations);
        let span = scene.card.put(&bytes);
        TopUp { reservations: span.address, reservation_count: reservations.len() as u32, ..fine }
    };
    let same_page = reserved(
        &mut scene,
        &[fresh, PageReservation { page: first.page, ..reservation(101, epoch) }],
    );
    let same_place = reserved(&mut scene, &[PageReservation { page: RESERVED.0 + 102, ..first }]);
    let twice = reserved(&mut scene, &[fresh, fresh]);
    let superblock = reserved(&mut scene, &[PageReservation { page: RESERVED.0 + 103, place: 1 }]);
    let no_page = reserved(&mut scene, &[PageReservation { page: 0, ..fresh }]);
    let small = TopUp { result: Span { bytes: 159, ..result }, ..fine };
    for (top_up, offset) in [
        (TopUp { chunk: 0, ..fine }, 12),
        (TopUp { chunk: 2, ..fine }, 12),
        (small, 24),
        (same_page, 16),
        (same_place, 8),
        (twice, 16),
        (superblock, 8),
        (no_page, 0),
    ] {
        let span = scene.card.put(&top_up.encode());
        let refused = scene.run(Submission::resume(1, span.address, span.bytes));
        let found = (refused.status, refused.detail);
        assert_eq!(found, (Status::BadDescriptor, offset), "{top_up:?}");
    }
    let span = scene.card.put(&fine.encode());
    let refused = scene.run(Submission::resume(1, span.address, TopUpBlock::BYTES as u64 - 1));
    assert_eq!(refused.status, Status::BadDescriptor);
    let nowhere = TopUp { reservations: 1 << 60, reservation_count: 1, ..fine };
    let nowhere = scene.card.put(&nowhere.encode());
    let refused = scene.run(Submission::resume(1, nowhere.address, nowhere.bytes));
    assert_eq!((refused.status, refused.detail), (Status::HostMemory, 1 << 60));

    let done = scene.run(Submission::resume(1, span.address, span.bytes));
    assert_eq!(done.status, Status::Done);
    let bytes = scene.card.bytes(Span { bytes: done.bytes.into(), ..result });
    let chunk = ResultChunk::verified(bytes).unwrap();
    assert_eq!(chunk.statistics().written, scene.expected(&compiled).len() as u64);
    check_idle(&scene).unwrap();
}

#[test]
fn a_job_that_was_cancelled_uses_the_lock_table_no_more() {
    let mut scene = Scene::new(9, 60);
    let little = Room { result: 300, reservations: 1 };
    let compiled = scene.compile(PREDICATE, ASSIGNMENTS);
    let update = scene.update(&compiled, Isolation::Snapshot, little);
    let mut elsewhere = update.clone();
    elsewhere.locks.address += 64;
    let descriptor = scene.descriptor(&compiled.program, Task::Update(update), little);
    scene.begin(1, &descriptor);
    assert_eq!(scene.completion().status, Status::More);
    assert_eq!(scene.run(Submission::cancel(1)).status, Status::Done);
    scene.store.lock_table().repair(&[DEVICE]);
    let reservations = scene.reserve(64);
    (elsewhere.reservations, elsewhere.reservation_count) = (reservations.address, 64);
    let descriptor = scene.descriptor(&compiled.program, Task::Update(elsewhere), PLENTY);
    assert_eq!(scene.finish(2, &descriptor, PLENTY).status, Status::Done);
    assert_eq!(scene.card.placed.len(), 2);
}
