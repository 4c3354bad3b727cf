// SPDX-License-Identifier: MIT OR Apache-2.0
//! Updates: the versions that the host itself would have made, under locks, in pages that it can
//! read.

use lockdb::schema::RowBuffer;
use lockdb::{Error, Isolation};
use ndp_runtime::engine::Mutant;
use ndp_runtime::job::{Status, Submission, Task, UpdateEntry, UpdateKind};
use rand::RngExt;

use crate::engine::demands::{Verdict, before, check_entries, check_idle, check_pages, demand};
use crate::engine::scene::{DEVICE, Found, Outcome, PLENTY, Room, Scene, random};

pub const PREDICATE: &str = "region < 3 and balance >= 0";
pub const ASSIGNMENTS: &str = "balance = balance + 5, note = 'changed'";

/// A change of a row that tells of the host.
fn touch(row: &mut RowBuffer) -> Result<(), Error> {
    row.set_int(1, 77);
    Ok(())
}

/// An undisturbed update.
pub fn undisturbed(mutant: Option<Mutant>, seed: u64, isolation: Isolation, room: Room) -> Verdict {
    let mut scene = Scene::new(seed, 150);
    scene.plant(mutant);
    scene.card.delay = seed % 7;
    scene.card.room = 2 + (seed % 90) as usize;
    let compiled = scene.compile(PREDICATE, ASSIGNMENTS);
    let expected = scene.expected(&compiled);
    assert!(expected.len() > 10, "{} rows qualify", expected.len());
    let mut update = scene.update(&compiled, isolation, room);
    update.rows = 1 + (seed * 7 % 64) as u16;
    let descriptor = scene.descriptor(&compiled.program, Task::Update(update), room);
    let before = before(&scene, &descriptor);
    let outcome = scene.finish(3, &descriptor, room);
    assert_eq!((outcome.status, outcome.detail), (Status::Done, 0), "{}", outcome.text);
    let entries: Vec<_> = outcome.updates().collect();
    demand(entries.len() == expected.len(), || format!("{} entries", entries.len()))?;
    let written = |entry: &UpdateEntry| entry.update_kind() == Some(UpdateKind::Written);
    demand(entries.iter().all(written), || "not all rows were written".into())?;
    check_entries(&scene, &before, &entries)?;
    check_idle(&scene)?;
    let statistics = outcome.statistics;
    assert_eq!(statistics.written, expected.len() as u64);
    assert_eq!(statistics.qualified, expected.len() as u64);
    assert!(statistics.lock_requests >= statistics.written || mutant.is_some());

    let state = scene.store.shared_state().unwrap();
    let finalize = (descriptor.snapshot + 1, state.epoch(), state.header().store);
    let finalized = scene.run(Submission::finalize(3, finalize.0, finalize.1, finalize.2));
    assert_eq!(finalized.status, Status::Done);
    demand(scene.card.unsynced.is_empty(), || "pages were not synced".into())?;
    let pairs = check_pages(&scene, &before, &outcome, finalize)?;
    demand(pairs == expected, || "other rows than the host would have made".into())?;
    assert_eq!(statistics.pages, scene.card.written.len() as u64);
    assert_eq!(scene.run(Submission::forget(3)).status, Status::Done);
    assert_eq!(scene.engine.live_jobs(), 0);
    // The host is done with the transaction: nothing of it is left.
    scene.store.lock_table().repair(&[DEVICE]);
    assert_eq!(scene.card.locks_of(DEVICE), 0);
    Ok(())
}

#[test]
fn an_update_makes_the_versions_that_the_host_would_make() {
    seeds::each!(8, |seed| {
        [Isolation::ReadCommitted, Isolation::Snapshot, Isolation::Serializable]
            .into_iter()
            .try_for_each(|isolation| undisturbed(None, seed, isolation, PLENTY))
    });
}

#[test]
fn an_update_loses_nothing_between_chunks_and_reservations_of_any_size() {
    seeds::each!(16, |seed| {
        let mut random = random(seed);
        let result = if seed == 0 { 0 } else { random.random_range(0..1200) };
        let room = Room { result, reservations: random.random_range(0..4) };
        undisturbed(None, seed, Isolation::Snapshot, room)
    });
}

/// What a transaction of the host does to a row that a device waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    RollsBack,
    Commits,
    Deletes,
    Stays,
}

/// A device waits for a row that a transaction of the host has locked.
pub fn contended(
    mutant: Option<Mutant>,
    seed: u64,
    isolation: Isolation,
    host: Host,
) -> Result<Outcome, String> {
    let mut scene = Scene::new(seed, 60);
    scene.plant(mutant);
    scene.card.delay = seed % 23;
    let compiled = scene.compile(PREDICATE, ASSIGNMENTS);
    let mut update = scene.update(&compiled, isolation, PLENTY);
    update.rows = 1 + (seed % 9) as u16;
    if host == Host::Stays {
        update.lock_wait = 60_000;
    }
    let descriptor = scene.descriptor(&compiled.program, Task::Update(update), PLENTY);
    let before = before(&scene, &descriptor);
    let expected = scene.expected(&compiled);
    let id = expected[expected.len() / 2].0[8..16].try_into().unwrap();
    let id = i64::from_le_bytes(id);
    let vid = scene.store.vid_of(&scene.table, &id).unwrap().unwrap();

    let (store, table) = (scene.store.clone(), scene.table.clone());
    let mut session = store.session().unwrap();
    let mut transaction = session.begin(crate::engine::scene::OPTIONS);
    match host {
        Host::Deletes => drop(transaction.delete(&table, &id).unwrap()),
        _ => drop(transaction.update(&table, &id, touch).unwrap()),
    }
    scene.begin(4, &descriptor);
    if host != Host::Stays {
        for _ in 0..300 {
            scene.step();
        }
        demand(scene.engine.live_jobs() == 1, || "the job did not wait".into())?;
        let waits = scene.card.open_requests() > 0;
        demand(waits, || "the job does not wait for the lock".into())?;
    }
    match host {
        Host::RollsBack => transaction.rollback().unwrap(),
        Host::Commits | Host::Deletes => drop(transaction.commit().unwrap()),
        Host::Stays => {}
    }
    let outcome = scene.drain(4, &descriptor, PLENTY);
    let entries: Vec<_> = outcome.updates().collect();
    check_entries(&scene, &before, &entries)?;
    check_idle(&scene)?;
    let of_row = entries.iter().find(|entry| entry.vid == vid).map(|entry| entry.update_kind());
    let kind = of_row.map(|kind| kind.unwrap());
    let other = outcome.entries.len() == expected.len();
    let changed = matches!(host, Host::Commits | Host::Deletes);
    let (status, detail, expected) = match (host, isolation) {
        (Host::Stays, _) => (Status::LockTimeout, vid.into(), None),
        (Host::RollsBack, _) => (Status::Done, 0, Some(UpdateKind::Written)),
        (_, Isolation::ReadCommitted) => (Status::Done, 0, Some(UpdateKind::Left)),
        _ => (Status::Conflict, vid.into(), Some(UpdateKind::Locked)),
    };
    // Of rows that share the bucket, any may be told.
    let bucket = |vid: u64| {
        let vid = vid as u32;
        let number = before.get(&vid).map(|row| row.0);
        number.map(|number| store.lock_table().bucket_of(table.lock_key(vid, number)))
    };
    let same = host == Host::Stays && bucket(outcome.detail) == bucket(detail);
    let found = (outcome.status, if same { detail } else { outcome.detail }, kind);
    demand(found == (status, detail, expected), || {
        format!("{found:?} for {:?}", (status, detail, expected))
    })?;
    demand(other || status != Status::Done, || format!("{} entries", outcome.entries.len()))?;
    let statistics = outcome.statistics;
    let left = u64::from(changed && status == Status::Done);
    demand(statistics.left == left, || format!("{} left", statistics.left))?;
    demand(statistics.lock_waits > 0, || "no wait was counted".into())?;
    demand(statistics.lock_polls > 0, || "the device does not poll".into())?;
    if host == Host::Stays {
        // It does not stand in the queue any more.
        transaction.rollback().unwrap();
        scene.store.lock_table().repair(&[DEVICE]);
        demand(scene.card.locks_of(DEVICE) == 0, || "it is left in a queue".into())?;
    }
    let live = scene.engine.live_jobs();
    demand(live == usize::from(status == Status::Done), || format!("{live} jobs are live"))?;
    Ok(outcome)
}

#[test]
fn a_row_that_the_host_holds_is_waited_for() {
    for seed in seeds::of!(5) {
        for isolation in [Isolation::ReadCommitted, Isolation::Snapshot] {
            for host in [Host::RollsBack, Host::Commits, Host::Deletes, Host::Stays] {
                let outcome = contended(None, seed, isolation, host);
                let outcome =
                    outcome.unwrap_or_else(|what| panic!("{isolation:?} {host:?}: {what}"));
                assert!(outcome.statistics.lock_wait > 0);
            }
        }
    }
}

/// A host that committed before the device asked, with nobody in the queue: the look at the VID map
/// tells.
pub fn overtaken(mutant: Option<Mutant>, seed: u64, isolation: Isolation) -> Verdict {
    let mut scene = Scene::new(seed, 60);
    scene.plant(mutant);
    let compiled = scene.compile(PREDICATE, ASSIGNMENTS);
    let update = scene.update(&compiled, isolation, PLENTY);
    let descriptor = scene.descriptor(&compiled.program, Task::Update(update), PLENTY);
    let before = before(&scene, &descriptor);
    let expected = scene.expected(&compiled);
    let id = i64::from_le_bytes(expected[0].0[8..16].try_into().unwrap());
    let vid = scene.store.vid_of(&scene.table, &id).unwrap().unwrap();
    let table = scene.table.clone();
    let change = |transaction: &mut lockdb::Transaction<'_>| transaction.update(&table, &id, touch);
    scene.store.transaction(change).unwrap();
    let outcome = scene.finish(4, &descriptor, PLENTY);
    let entries: Vec<_> = outcome.updates().collect();
    check_entries(&scene, &before, &entries)?;
    let kind = entries.iter().find(|entry| entry.vid == vid).and_then(UpdateEntry::update_kind);
    let expected = match isolation {
        Isolation::ReadCommitted => (Status::Done, 0, Some(UpdateKind::Left)),
        _ => (Status::Conflict, vid.into(), Some(UpdateKind::Locked)),
    };
    let found = (outcome.status, outcome.detail, kind);
    demand(found == expected, || format!("{found:?} for {expected:?}"))
}

#[test]
fn a_row_that_the_host_changed_before_is_not_written() {
    seeds::each!(5, |seed| {
        [Isolation::ReadCommitted, Isolation::Snapshot, Isolation::Serializable]
            .into_iter()
            .try_for_each(|isolation| overtaken(None, seed, isolation))
    });
}

/// A job that is cancelled after so many steps.
pub fn cancelled(mutant: Option<Mutant>, seed: u64, steps: usize, held: bool) -> Verdict {
    let mut scene = Scene::new(seed, 60);
    scene.plant(mutant);
    scene.card.delay = 6;
    let room = Room { result: 700, reservations: 2 };
    let compiled = scene.compile(PREDICATE, ASSIGNMENTS);
    let update = scene.update(&compiled, Isolation::ReadCommitted, room);
    let descriptor = scene.descriptor(&compiled.program, Task::Update(update), room);
    let (store, table) = (scene.store.clone(), scene.table.clone());
    let mut session = store.session().unwrap();
    let mut transaction = session.begin(crate::engine::scene::OPTIONS);
    if held {
        for (old, _) in scene.expected(&compiled).into_iter().step_by(3) {
            let id = i64::from_le_bytes(old[8..16].try_into().unwrap());
            transaction.update(&table, &id, touch).unwrap();
        }
    }
    let begun = scene.begin(5, &descriptor);
    for _ in 0..steps {
        scene.step();
    }
    let early = scene.engine.completion();
    let live = scene.engine.live_jobs() == 1;
    let cancel = scene.submit(Submission::cancel(5));
    let mut completions = Vec::from_iter(early);
    while completions.last().is_none_or(|completion| completion.identifier != cancel) {
        completions.push(scene.completion());
    }
    check_idle(&scene)?;
    let found: Vec<_> = completions.iter().map(|each| (each.identifier, each.status)).collect();
    let fine = match found[..] {
        [(first, status), (last, Status::Done)] => {
            let ended = matches!(status, Status::Cancelled | Status::More | Status::Done);
            first == begun && last == cancel && ended
        }
        _ => false,
    };
    demand(fine || !live, || format!("{found:?}"))?;
    demand(scene.engine.live_jobs() == 0, || "it is live still".into())?;
    // What it holds, and nothing that waits: the host takes it out.
    let waits = store.lock_table().buckets().iter().any(|bucket| {
        let slots = &bucket.line()[1..];
        slots.iter().any(|word| locks::Timestamp::of_word(*word) == Some(DEVICE))
    });
    demand(!waits, || "it waits in a queue still".into())?;
    store.lock_table().repair(&[DEVICE]);
    transaction.rollback().unwrap();
    let all_free = store.lock_table().buckets().iter().all(|bucket| bucket.line() == [0; 8]);
    demand(all_free, || "the lock table is not empty".into())?;
    // The number is free again, and so are all tags.
    let update = scene.update(&compiled, Isolation::Snapshot, PLENTY);
    let descriptor = scene.descriptor(&compiled.program, Task::Update(update), PLENTY);
    let outcome = scene.finish(5, &descriptor, PLENTY);
    demand(outcome.status == Status::Done, || format!("then {:?}", outcome.status))
}

#[test]
fn a_job_can_be_cancelled_at_every_step() {
    for seed in seeds::of!(40) {
        let steps = seed as usize % 40;
        for held in [false, true] {
            let verdict = cancelled(None, seed, steps, held);
            verdict.unwrap_or_else(|what| panic!("after {steps} steps, {held}: {what}"));
        }
    }
}

#[test]
fn rows_that_cannot_be_changed_end_an_update_and_are_told() {
    let mut scene = Scene::new(2, 80);
    let cases = [
        ("region >= 0", "balance = balance * 9223372036854775807", 20),
        ("region >= 0", "region = balance", 22),
    ];
    for (job, (predicate, assignments, code)) in (0..).zip(cases) {
        let compiled = scene.compile(predicate, assignments);
        let update = scene.update(&compiled, Isolation::Snapshot, PLENTY);
        let descriptor = scene.descriptor(&compiled.program, Task::Update(update), PLENTY);
        let outcome = scene.finish(job, &descriptor, PLENTY);
        assert_eq!(outcome.status, Status::RowFaults);
        let codes: Vec<_> = outcome
            .entries
            .iter()
            .filter_map(|entry| match entry {
                Found::Fault(mutant) => Some(mutant.code),
                _ => None,
            })
            .collect();
        assert!(!codes.is_empty() && codes.iter().all(|found| *found == code), "{codes:?}");
        assert!(outcome.statistics.faults >= codes.len() as u64);
        assert!(scene.card.is_idle());
        scene.store.lock_table().repair(&[DEVICE]);
    }
}

#[test]
fn a_job_survives_every_access_that_fails() {
    for fail_at in 1.. {
        let mut scene = Scene::new(6, 40);
        let room = Room { result: 700, reservations: 2 };
        let compiled = scene.compile(PREDICATE, ASSIGNMENTS);
        let update = scene.update(&compiled, Isolation::Snapshot, room);
        let descriptor = scene.descriptor(&compiled.program, Task::Update(update), room);
        let state = scene.store.shared_state().unwrap();
        scene.card.fail_at = Some(fail_at);
        let begun = scene.begin(1, &descriptor);
        let completion = scene.completion();
        assert_eq!(completion.identifier, begun);
        let mut status = completion.status;
        if status == Status::More {
            // A top-up that cannot be read leaves the job as it was; so does one that is not there.
            let resumed = scene.run(Submission::resume(1, 64, 64));
            assert_eq!(resumed.status, Status::HostMemory);
            status = scene.run(Submission::cancel(1)).status;
            assert_eq!(status, Status::Done);
        } else if status == Status::Done {
            let finalize = Submission::finalize(
                1,
                descriptor.snapshot + 1,
                state.epoch(),
                state.header().store,
            );
            status = scene.run(finalize).status;
            if status == Status::Storage {
                // The pages are still there: once more.
                assert_eq!(scene.run(finalize).status, Status::Done);
            }
            assert_eq!(scene.run(Submission::forget(1)).status, Status::Done);
        } else {
            assert_eq!(status, Status::HostMemory, "access {fail_at}");
        }
        assert!(scene.card.is_idle() && scene.engine.live_jobs() == 0, "access {fail_at}");
        if fail_at > scene.card.accesses {
            assert!(fail_at > 10, "{fail_at} accesses");
            break;
        }
    }
}

#[test]
fn submissions_that_do_not_fit_the_job_are_refused() {
    let mut scene = Scene::new(8, 60);
    for (submission, status) in [
        (Submission { opcode: 99, ..Submission::cancel(1) }, Status::BadOpcode),
        (Submission::cancel(1), Status::NoJob),
        (Submission::forget(1), Status::NoJob),
        (Submission::finalize(1, 1, 1, 1), Status::NoJob),
        (Submission::resume(1, 0, 64), Status::NoJob),
    ] {
        assert_eq!(scene.run(submission).status, status, "{submission:?}");
    }
    let compiled = scene.compile(PREDICATE, ASSIGNMENTS);
    let update = scene.update(&compiled, Isolation::Snapshot, PLENTY);
    let mut other = update.clone();
    other.locks.address += 64;
    let descriptor = scene.descriptor(&compiled.program, Task::Update(update), PLENTY);
    let state = scene.store.shared_state().unwrap();
    let (commit, epoch, store) = (descriptor.snapshot + 1, state.epoch(), state.header().store);

    // While it waits for a lock.
    let (database, table) = (scene.store.clone(), scene.table.clone());
    let mut session = database.session().unwrap();
    let mut transaction = session.begin(crate::engine::scene::OPTIONS);
    let (old, _) = scene.expected(&compiled).swap_remove(0);
    let id = i64::from_le_bytes(old[8..16].try_into().unwrap());
    transaction.update(&table, &id, touch).unwrap();
    scene.begin(1, &descriptor);
    for _ in 0..100 {
        scene.step();
    }
    assert_eq!(scene.run(Submission::begin(1, 0, 0)).status, Status::JobExists);
    for submission in [
        Submission::forget(1),
        Submission::finalize(1, commit, epoch, store),
        Submission::resume(1, 0, 64),
    ] {
        assert_eq!(scene.run(submission).status, Status::NoJob, "{submission:?}");
    }
    // Another job with a lock table that stands elsewhere.
    let elsewhere = scene.descriptor(&compiled.program, Task::Update(other), PLENTY);
    let outcome = scene.finish(2, &elsewhere, PLENTY);
    assert_eq!((outcome.status, outcome.detail), (Status::BadDescriptor, 80));
    transaction.rollback().unwrap();
    assert_eq!(scene.completion().status, Status::Done);

    // Done: a finalization has to fit.
    for (commit, epoch, store, offset) in
        [(0, epoch, store, 24), (commit, epoch + 1, store, 32), (commit, epoch, store + 1, 40)]
    {
        let refused = scene.run(Submission::finalize(1, commit, epoch, store));
        assert_eq!((refused.status, refused.detail), (Status::BadDescriptor, offset));
    }
    assert!(scene.card.written.is_empty());
    assert_eq!(scene.run(Submission::finalize(1, commit, epoch, store)).status, Status::Done);
    assert_eq!(scene.run(Submission::cancel(1)).status, Status::Done);
    assert_eq!(scene.run(Submission::forget(1)).status, Status::NoJob);

    // Nobody uses the lock table any more: it may stand elsewhere.
    let outcome = scene.finish(2, &elsewhere, PLENTY);
    assert_eq!(outcome.status, Status::Done);
    assert_eq!(scene.card.placed.len(), 2);
    // A VID map that is too short for the table.
    let mut short = elsewhere.clone();
    let Task::Update(update) = &mut short.task else { panic!("it is an update") };
    update.vid_map.bytes -= 8;
    let outcome = scene.finish(3, &short, PLENTY);
    assert_eq!((outcome.status, outcome.detail), (Status::BadDescriptor, 112));
}

#[test]
fn a_job_that_has_no_room_for_rows_left_to_the_host_can_be_cancelled() {
    let mut scene = Scene::new(9, 60);
    let little = Room { result: 0, reservations: 1 };
    let compiled = scene.compile(PREDICATE, ASSIGNMENTS);
    let update = scene.update(&compiled, Isolation::ReadCommitted, little);
    let descriptor = scene.descriptor(&compiled.program, Task::Update(update), little);
    let expected = scene.expected(&compiled);
    let table = scene.table.clone();
    for (old, _) in &expected {
        let id = i64::from_le_bytes(old[8..16].try_into().unwrap());
        let change =
            |transaction: &mut lockdb::Transaction<'_>| transaction.update(&table, &id, touch);
        scene.store.transaction(change).unwrap();
    }
    let outcome = scene.finish(1, &descriptor, little);
    assert_eq!((outcome.status, outcome.chunks), (Status::Done, expected.len() as u32));
    assert_eq!(outcome.statistics.left, expected.len() as u64);
    assert_eq!(scene.run(Submission::forget(1)).status, Status::Done);

    scene.begin(2, &descriptor);
    assert_eq!(scene.completion().status, Status::More);
    assert_eq!(scene.run(Submission::cancel(2)).status, Status::Done);
    check_idle(&scene).unwrap();
    assert_eq!(scene.engine.live_jobs(), 0);
}

/// Transactions of the host hold, change and free rows at random while the device updates.
pub fn mixed(mutant: Option<Mutant>, seed: u64, isolation: Isolation) -> Verdict {
    let mut random = random(seed);
    let mut scene = Scene::new(seed, 80);
    scene.plant(mutant);
    scene.card.delay = random.random_range(0..9);
    scene.card.room = random.random_range(2..130);
    let room =
        Room { result: random.random_range(0..2000), reservations: random.random_range(0..3) };
    let compiled = scene.compile(PREDICATE, ASSIGNMENTS);
    let mut update = scene.update(&compiled, isolation, room);
    update.lock_wait = random.random_range(1..200_000);
    update.rows = random.random_range(1..=64);
    let descriptor = scene.descriptor(&compiled.program, Task::Update(update), room);
    let before = before(&scene, &descriptor);
    let (store, table) = (scene.store.clone(), scene.table.clone());
    let mut sessions: Vec<_> = (0..3).map(|_| store.session().unwrap()).collect();
    let mut transactions: Vec<_> =
        sessions.iter_mut().map(|session| session.begin(crate::engine::scene::OPTIONS)).collect();
    // Each to rows of its own: here nobody of the host waits for another.
    for (number, transaction) in (0..).zip(&mut transactions) {
        for _ in 0..random.random_range(0..6) {
            let id = random.random_range(0..26_i64) * 3 + number;
            let free = scene.store.vid_of(&table, &id).unwrap().is_some_and(|vid| {
                let row = before.get(&vid).map(|row| row.0);
                row.is_some_and(|row| {
                    let bucket = store.lock_table().bucket_of(table.lock_key(vid, row));
                    store.lock_table().buckets()[bucket].line() == [0; 8]
                })
            });
            if free {
                transaction.update(&table, &id, touch).unwrap();
            }
        }
    }
    scene.begin(6, &descriptor);
    for mut transaction in transactions {
        for _ in 0..random.random_range(0..120) {
            scene.step();
        }
        match random.random_range(0..3) {
            0 => transaction.rollback().unwrap(),
            _ => drop(transaction.commit().unwrap()),
        }
    }
    let outcome = scene.drain(6, &descriptor, room);
    let known = [Status::Done, Status::Conflict, Status::LockTimeout];
    demand(known.contains(&outcome.status), || format!("{outcome:?}"))?;
    let entries: Vec<_> = outcome.updates().collect();
    check_idle(&scene)?;
    if outcome.status == Status::Done {
        check_entries(&scene, &before, &entries)?;
        demand(entries.len() as u64 == outcome.statistics.qualified, || "rows are missing".into())?;
    }
    Ok(())
}

#[test]
fn random_transactions_of_the_host_never_cost_a_row_or_make_a_second_branch() {
    for seed in seeds::of!(60) {
        for isolation in [Isolation::ReadCommitted, Isolation::Snapshot] {
            let verdict = mixed(None, seed, isolation);
            verdict.unwrap_or_else(|what| panic!("seed {seed}, {isolation:?}: {what}"));
        }
    }
}
