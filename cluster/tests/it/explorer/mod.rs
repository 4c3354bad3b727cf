// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every order in which the messages of a few transactions can arrive, and every place where a node
//! can crash, a message can be lost or come twice.
//!
//! A state is the nodes, which are compared and hashed as they are, and the messages under way, in no
//! order. In each state that has nothing left to do, what clients have seen must have a serial order
//! that keeps to real time and to the points that were told; the replicas hold the rows that it
//! leaves; no row is locked, and the logs are empty. A state in which nothing can happen while somebody
//! waits is wrong, too.
//!
//! A process that has ended may begin anew at any time after. What was under way to the old one reaches the
//! new one, and messages that were sent to it meanwhile are lost.
//!
//! Time goes on only as nothing else can happen, or while a process is gone. The leases of those that
//! live are renewed in time: nothing of membership is under way while time passes. Clocks that differ
//! are a matter of the campaign.

mod course;
mod fasst;
mod model;
mod scenes;
mod script;
mod search;
mod state;
mod subject;
mod toy;
mod xenic;

use cluster::fasst::{Mutant, Planted};
use cluster::recovery;
use scenes::Scene;
use script::{Deed, Script, Transaction};
use search::{Seen, Wrong, explore};
use subject::{Limits, Subject};
use toy::{Flaw, Toy};

/// The most states of a walk. The largest spaces are walked through only in part, unless
/// `LOCKSTEP_FULL=1` asks for all, which takes an hour and some GB.
fn most() -> u64 {
    let is_full = std::env::var_os("LOCKSTEP_FULL").is_some_and(|value| value == "1");
    let chosen = std::env::var("LOCKSTEP_STATES").ok().and_then(|most| most.parse().ok());
    chosen.unwrap_or(if is_full { u64::MAX } else { 40_000 })
}

/// Walks through all states and prints how many there were.
fn walk<P: Subject>(name: &str, protocol: &P, limits: Limits) -> Result<Seen, Wrong> {
    let result = explore(protocol, limits, most());
    match &result {
        Ok(seen) => println!("{name}: {seen:?}"),
        Err(wrong) => println!("{name}: wrong after {} states", wrong.states),
    }
    result
}

fn two_writers(flaw: Flaw) -> Toy {
    let first = Transaction::new(1, &[(0, Deed::Update), (1, Deed::Update)]);
    let second = Transaction::new(2, &[(1, Deed::Update), (0, Deed::Update)]);
    Toy { script: Script::new(4, vec![vec![first], vec![second]]), nodes: 2, flaw }
}

#[test]
fn a_toy_is_right() {
    let seen = walk("toy", &two_writers(Flaw::None), Limits::default());
    let seen = seen.unwrap_or_else(|wrong| panic!("{wrong}"));
    assert!(seen.ends > 0 && seen.states > 100);
}

#[test]
fn a_toy_without_locks_is_not_serializable() {
    let wrong = walk("toy", &two_writers(Flaw::LocksBindNobody), Limits::default()).unwrap_err();
    assert!(wrong.what.contains("not serializable"), "{wrong}");
}

#[test]
fn a_toy_that_forgets_locks_leaves_one() {
    let wrong = walk("toy", &two_writers(Flaw::LocksAreForgotten), Limits::default()).unwrap_err();
    assert!(wrong.what.contains("no progress"), "{wrong}");
}

fn assert_right<P: Subject>(name: &str, protocol: &P, limits: Limits) {
    let seen = walk(name, protocol, limits).unwrap_or_else(|wrong| panic!("{name}:\n{wrong}"));
    assert!(seen.ends > 0, "{name}: {seen:?}");
}

fn assert_all_right(scenes: &[Scene]) {
    for scene in scenes {
        assert_right(scene.name, &scene.cluster(Planted::default()), scene.limits.clone());
    }
}

#[test]
fn every_order_of_delivery() {
    assert_all_right(&scenes::calm());
}

#[test]
fn a_message_comes_twice() {
    assert_all_right(&scenes::doubled());
}

#[test]
fn a_process_ends_anywhere() {
    assert_all_right(&scenes::deadly());
}

#[test]
fn a_process_begins_anew_anywhere() {
    assert_all_right(&scenes::returning());
}

/// What finds a planted bug, if any of these scenes does.
fn found(mutant: Mutant, scenes: &[Scene]) -> Option<String> {
    scenes.iter().find_map(|scene| {
        let cluster = scene.cluster(Planted::new(mutant));
        let wrong = explore(&cluster, scene.limits.clone(), most().max(400_000)).err()?;
        let what = wrong.what.lines().next().unwrap_or_default();
        let (steps, states) = (wrong.way.len(), wrong.states);
        Some(format!("{}, {steps} steps, {states} states: {what:.120}", scene.name))
    })
}

/// The planted bugs that are found here: all but one that needs clocks which differ, which the campaign
/// of `cluster_sim` finds.
const FOUND: [Mutant; 20] = [
    Mutant::NoValidation,
    Mutant::ValidateBeforeLocks,
    Mutant::ValidationIgnoresLocks,
    Mutant::UnlockBeforeBackups,
    Mutant::PrimariesBeforeBackups,
    Mutant::LogAfterBackups,
    Mutant::OwnLockConflicts,
    Mutant::ForgottenUnlock,
    Mutant::NoDuplicateSuppression,
    Mutant::VersionNotRaised,
    Mutant::Recovery(recovery::Mutant::DeadCoordinatorsForgotten),
    Mutant::Recovery(recovery::Mutant::NothingCommitted),
    Mutant::Recovery(recovery::Mutant::LocksKept),
    Mutant::StaleEpochServed,
    Mutant::ReadOfLockedRow,
    Mutant::EndedBeforeLog,
    Mutant::LossNotDetected,
    Mutant::ReadOnlySkipsValidation,
    Mutant::RoundsNotCompared,
    Mutant::OwnRecordDroppedEarly,
];

/// Those that a process which begins anew shows, and in which scene. The first one needs a restart.
const FOUND_BY_RESTARTS: [(Mutant, &str); 2] = [
    (Mutant::Recovery(recovery::Mutant::LogOutlivesProcess), "a writer comes back to a reader"),
    (Mutant::Recovery(recovery::Mutant::FillingMissesUpdates), "a primary comes back"),
];

/// A few of the bugs by default, each of them once in a long run.
#[test]
fn planted_bugs_are_found() {
    seeds::each!(4, |seed| {
        if seed >= FOUND.len() as u64 {
            return Ok(());
        }
        // The step has no divisor in common with the length, so that each comes once.
        let mutant = FOUND[(seed * 7) as usize % FOUND.len()];
        let scenes = [scenes::calm(), scenes::doubled(), scenes::deadly()].concat();
        let what = found(mutant, &scenes).ok_or_else(|| format!("{mutant:?} is not found"))?;
        println!("{mutant:?}: {what}");
        Ok::<(), String>(())
    });
}

#[test]
fn planted_bugs_of_restarts_are_found() {
    for (mutant, name) in FOUND_BY_RESTARTS {
        let mut scenes = scenes::returning();
        scenes.retain(|scene| scene.name == name);
        let what = found(mutant, &scenes);
        println!("{mutant:?}: {}", what.unwrap_or_else(|| panic!("{mutant:?} is not found")));
    }
}
