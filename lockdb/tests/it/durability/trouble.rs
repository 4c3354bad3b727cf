// SPDX-License-Identifier: MIT OR Apache-2.0
//! Disks that fail once, and disks that are full.

use std::io::ErrorKind;

use lockdb::files::{Loss, Simulated};
use lockdb::log::LogError;
use lockdb::{Database, Error};

use super::model::{Verdict, check};
use super::points::survive;
use super::random::Random;
use super::workload::{Plan, Workload, open};

/// The error of the disk when it fails once.
const FAILED: ErrorKind = ErrorKind::Other;
const TRANSACTIONS: u64 = 25;

/// Why the system refused, when that is what an error says.
fn refusal(error: &Error) -> Option<ErrorKind> {
    match error {
        Error::System { source, .. } => Some(source.kind()),
        Error::NoRoom { source, .. } => Some(source.kind()),
        Error::Log(LogError::Io(failure) | LogError::MustReopen(failure)) => {
            Some(failure.source.kind())
        }
        _ => None,
    }
}

fn must_reopen(error: &Error) -> bool {
    matches!(error, Error::Log(LogError::MustReopen(_)))
}

/// Runs a workload on a folder that makes trouble, opening the store again when it asks for that.
/// Whatever happens, the store in memory holds all that was committed.
fn run_in_trouble(workload: &mut Workload, files: &Simulated, expected: ErrorKind) {
    let store = match open(files) {
        Ok(store) => store,
        Err(error) => return must_be(&error, expected),
    };
    workload.adopt(&store);
    if let Err(error) = workload.run_on(&store, TRANSACTIONS) {
        must_be(&error, expected);
        check(&store, workload.history(), 0).expect("nothing is lost in memory");
        if must_reopen(&error) {
            let again =
                store.checkpoint().expect_err("a store to be reopened writes no checkpoint");
            must_be(&again, expected);
        }
    }
}

pub fn must_be(error: &Error, expected: ErrorKind) {
    assert_eq!(refusal(error), Some(expected), "{error}");
}

/// Out of trouble, without a loss of power and after one: all that was acknowledged is there.
pub fn all_is_well(workload: &Workload, files: &Simulated, seed: u64) {
    let least = workload.history().acknowledged_by(files.steps());
    let image = files.crash(seed);
    survive(image, workload.history(), least, seed, None).expect("after a loss of power");
    let store = open(files).expect("the trouble is over");
    check(&store, workload.history(), least).expect("what was acknowledged is there");
    use_it(&store, workload, files, seed, u64::from(seed % 8 == 7)).expect("it goes on");
}

/// The store works, and power may go at any time from its opening on: at so many points more.
fn use_it(
    store: &Database,
    workload: &Workload,
    files: &Simulated,
    seed: u64,
    points: u64,
) -> Verdict {
    let opened = files.steps();
    let mut next = Workload::resume(seed, files.clone(), workload.history().clone(), store);
    let without_power = |next: &Workload, steps: u64, tear: u64| {
        let least = next.history().acknowledged_by(steps);
        survive(files.crash_at(steps, tear), next.history(), least, tear, None)
    };
    next.run_on(store, 5).expect("the store works");
    if points > 0 {
        without_power(&next, files.steps(), seed)?;
    }
    store.checkpoint().expect("a checkpoint can be written");
    check(store, next.history(), store.published())?;
    let mut random = Random::new(seed);
    for _ in 0..points {
        let steps = opened + random.below(files.steps() - opened + 1);
        without_power(&next, steps, random.below(u64::MAX))?;
    }
    Ok(())
}

/// One call of an opening after the other fails, until the store is open.
fn open_in_trouble(files: &Simulated, mut loss: impl FnMut() -> Loss) -> Database {
    for call in 0.. {
        files.fail_once_at(files.steps() + call, loss());
        match open(files) {
            Ok(store) => {
                files.fail_once_at(u64::MAX, Loss::Nothing);
                return store;
            }
            Err(error) => must_be(&error, FAILED),
        }
    }
    unreachable!("an opening comes to an end");
}

/// One call to the disk fails, each in turn.
#[test]
fn a_failure_of_any_call_loses_nothing() {
    for seed in 0..3 {
        let recorded = Plan { openings: 2, transactions: TRANSACTIONS, ..Plan::new(seed) }.record();
        for step in 0..recorded.files.steps() {
            let files = Simulated::new();
            files.fail_once_at(step, Loss::Nothing);
            let mut workload = Workload::new(seed, files.clone(), None);
            run_in_trouble(&mut workload, &files, FAILED);
            run_in_trouble(&mut workload, &files, FAILED);
            files.fail_once_at(u64::MAX, Loss::Nothing);
            all_is_well(&workload, &files, seed ^ step);
        }
    }
}

/// Each sync fails in turn (of log, pages, superblock, folder), and loses what it was for; so do those
/// of the opening that follows. What is acknowledged after that survives a loss of power as well.
/// A case is one workload, with all its syncs.
#[test]
fn what_a_failed_sync_lost_is_written_again() {
    seeds::each!(2, |seed| {
        let recorded = Plan { openings: 2, transactions: TRANSACTIONS, ..Plan::new(seed) }.record();
        recorded.files.syncs().into_iter().try_for_each(|step| {
            lose_a_sync(seed, step).map_err(|wrong| format!("sync at step {step}: {wrong}"))
        })
    });
}

fn lose_a_sync(seed: u64, step: u64) -> Verdict {
    let mut random = Random::new(seed << 32 | step);
    let mut loss = || match random.one_in(2) {
        true => Loss::All,
        false => Loss::Drawn(random.below(u64::MAX)),
    };
    let files = Simulated::new();
    files.fail_once_at(step, loss());
    let mut workload = Workload::new(seed, files.clone(), None);
    run_in_trouble(&mut workload, &files, FAILED);
    if files.steps() <= step {
        run_in_trouble(&mut workload, &files, FAILED);
    }
    let store = open_in_trouble(&files, &mut loss);
    let least = workload.history().acknowledged_by(files.steps());
    check(&store, workload.history(), least)?;
    use_it(&store, &workload, &files, seed ^ step, 2)
}

/// A checkpoint meets a failure at each of its steps, and power may go at any time after that.
#[test]
fn a_failed_checkpoint_changes_nothing_and_the_next_one_succeeds() {
    for step in 0.. {
        let files = Simulated::new();
        let mut workload = Workload::new(step, files.clone(), None);
        let store = open(&files).expect("a new store");
        workload.run_on(&store, 20).expect("nothing is in the way");
        files.fail_once_at(files.steps() + step, Loss::All);
        let (before, failed) = (files.steps(), store.checkpoint());
        if files.steps() - before <= step {
            assert!(failed.is_ok() && step > 8, "the checkpoint has only {step} steps");
            break;
        }
        let reopen = failed.as_ref().is_err_and(must_reopen);
        if let Err(error) = &failed {
            must_be(error, FAILED);
        }
        check(&store, workload.history(), 0).expect("nothing has changed");
        if reopen {
            drop(store);
            all_is_well(&workload, &files, step);
            continue;
        }
        workload.run_on(&store, 5).expect("transactions go on");
        store.checkpoint().expect("the next checkpoint");
        check(&store, workload.history(), 0).expect("rows after the next checkpoint");
        let mut random = Random::new(step);
        for _ in 0..20 {
            let steps = before + random.below(files.steps() - before + 1);
            let image = files.crash_at(steps, random.below(u64::MAX));
            let least = workload.history().acknowledged_by(steps);
            survive(image, workload.history(), least, step, None).expect("any time after it");
        }
    }
}

/// The disk fills up, at any size.
#[test]
fn a_full_disk_loses_nothing() {
    let mut random = Random::new(5);
    for seed in 0..60 {
        let files = Simulated::new();
        files.set_capacity(Some(random.below(600_000)));
        let mut workload = Workload::new(seed, files.clone(), None);
        run_in_trouble(&mut workload, &files, ErrorKind::StorageFull);
        run_in_trouble(&mut workload, &files, ErrorKind::StorageFull);
        files.set_capacity(None);
        all_is_well(&workload, &files, seed);
    }
}
