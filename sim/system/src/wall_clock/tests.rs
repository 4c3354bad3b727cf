// SPDX-License-Identifier: MIT OR Apache-2.0
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lockdb::{Durability, Error, Isolation, LockWait, TransactionOptions};
use locks::Timestamp;
use locks::machine::{Access, Outcome, Request, Rule};
use workloads::Scenario;

use super::{IDLE, Unit, Watch, run_on};
use crate::workflow::Workflow;
use crate::{Interrupt, Options, Progress, RunError};

const ROWS: i64 = 16;

/// Transactions of the store itself lock rows beside the host's agents and the RTL unit: what one
/// of them has locked, no transaction changes.
#[test]
fn the_stores_own_transactions_lock_the_same_rows() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut scenario = Scenario::load(folder.join("wall-clock.toml")).unwrap();
    scenario.stop.duration_ns = Some(300_000_000);
    let (agents, rows) = Workflow::all(&scenario, None).unwrap();
    let over = AtomicBool::new(false);
    let (report, locked) = thread::scope(|scope| {
        let locker = scope.spawn(|| lock_rows(&rows, &over));
        // At the end of the run the lock table must be empty.
        let mut progress = |progress: Progress| {
            over.store(progress.done > 0.8, Ordering::Relaxed);
            while progress.done > 0.8 && !locker.is_finished() {
                thread::yield_now();
            }
        };
        let (options, interrupt) = (Options::default(), Interrupt::default());
        let unit = Unit::Clocked(&options);
        let watch = Watch { interrupt: &interrupt, progress: &mut progress, idle: IDLE };
        let report = run_on(&scenario, agents, rows.clone(), unit, watch);
        over.store(true, Ordering::Relaxed);
        (report, locker.join().unwrap())
    });
    let report = report.unwrap();
    println!("{locked:?} {report:#?}");
    assert!(locked.rows > 0 && locked.changed_before_the_lock > 0, "{locked:?}");
    assert!(report.host.committed > 0 && report.device.committed > 0);
}

/// A table that is damaged from outside ends the run with an error, not with a panic.
#[test]
fn a_damaged_table_is_told() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let scenario = Scenario::load(folder.join("wall-clock.toml")).unwrap();
    let (agents, rows) = Workflow::all(&scenario, None).unwrap();
    let damage = || {
        for bucket in rows.database().lock_table().buckets() {
            let expected = bucket.head().word();
            bucket.perform(Access::CompareSwap { word: 0, expected, new: 0 });
        }
    };
    let over = AtomicBool::new(false);
    let ended = thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                damage();
                thread::yield_now();
            }
        });
        let (options, interrupt) = (Options::default(), Interrupt::default());
        let unit = Unit::Clocked(&options);
        let rows = rows.clone();
        let watch = Watch { interrupt: &interrupt, progress: &mut |_| {}, idle: IDLE };
        let ended = run_on(&scenario, agents, rows, unit, watch);
        over.store(true, Ordering::Relaxed);
        ended
    });
    let error = ended.unwrap_err();
    println!("{error}");
    assert!(
        matches!(
            error,
            RunError::Damaged { .. } | RunError::TwoHolders { .. } | RunError::Answer { .. }
        ),
        "{error:?}"
    );
}

/// Locks that are never released block all agents: also a run that has no duration comes to an end,
/// and says who is stuck.
#[test]
fn a_run_in_which_nothing_ends_is_given_up() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut scenario = Scenario::load(folder.join("wall-clock.toml")).unwrap();
    (scenario.stop.duration_ns, scenario.stop.transactions_per_agent) = (None, Some(1000));
    let (agents, rows) = Workflow::all(&scenario, None).unwrap();
    let table = rows.database().lock_table();
    let stranger = Timestamp::new(rows.database().draw_age()).unwrap();
    for bucket in 0..table.buckets().len() {
        let outcome = table.run(stranger, bucket, Request::Acquire(Rule::Queue));
        assert_eq!(outcome, Outcome::Granted { again: false });
    }
    let (options, interrupt) = (Options::default(), Interrupt::default());
    let idle = Duration::from_millis(200);
    let watch = Watch { interrupt: &interrupt, progress: &mut |_| {}, idle };
    let ended = run_on(&scenario, agents, rows.clone(), Unit::Clocked(&options), watch);
    match ended.unwrap_err() {
        RunError::Stuck { waiting, .. } => {
            assert!(
                waiting.contains("200ms after a transaction last came to its end"),
                "{waiting}"
            );
            assert!(waiting.contains("bucket 0"), "{waiting}");
        }
        other => panic!("{other:?}"),
    }
}

#[derive(Debug, Default)]
struct Locked {
    rows: u64,
    /// Seen while there was no lock, so that it means something that there was none under it.
    changed_before_the_lock: u64,
}

fn lock_rows(rows: &crate::rows::Rows, over: &AtomicBool) -> Locked {
    let options =
        TransactionOptions { isolation: Isolation::ReadCommitted, durability: Durability::None };
    let table = rows.database().table("row").unwrap();
    let mut session = rows.database().session().unwrap();
    let mut locked = Locked::default();
    while !over.load(Ordering::Relaxed) {
        for id in 1..=ROWS {
            let vid = rows.database().vid_of(&table, &id).unwrap().unwrap();
            let changed = session.transaction(options, |transaction| {
                if over.load(Ordering::Relaxed) {
                    return Err(Error::RolledBack("the run is over".into()));
                }
                let before = transaction.newest_version(&table, vid)?.unwrap().0;
                transaction.get_for_update(&table, &id, LockWait::Wait)?;
                let at_once = transaction.newest_version(&table, vid)?.unwrap().0;
                let since = Instant::now();
                while since.elapsed() < Duration::from_micros(50) {
                    let now = transaction.newest_version(&table, vid)?.unwrap().0;
                    assert_eq!(now, at_once, "row {id} was changed under a lock of it");
                }
                Ok(at_once != before)
            });
            match changed {
                Ok(changed) => locked.changed_before_the_lock += u64::from(changed),
                // A failed agent may have left a lock: the run then reports it.
                Err(error) => assert!(over.load(Ordering::Relaxed), "row {id}: {error}"),
            }
            locked.rows += 1;
        }
    }
    locked
}
