// SPDX-License-Identifier: MIT OR Apache-2.0
//! A store that is broken on purpose: the crash points must find it.

use lockdb::mutant::Mutant;

use super::points::{Point, crash};
use super::random::Random;
use super::workload::Plan;

/// Mutants of the running store.
const RUNNING: [Mutant; 5] = [
    Mutant::LogOmitsAChange,
    Mutant::AcknowledgedBeforeDurable,
    Mutant::CheckpointLosesPageMapEntry,
    Mutant::CheckpointBeforeLog,
    Mutant::PageReusedBeforeCheckpoint,
];

/// Mutants of its recovery.
const RECOVERING: [Mutant; 2] = [Mutant::VoidRecordReplayed, Mutant::ReplayIgnoresOrder];

/// Each mutant is found in so many crash points.
const POINTS: u64 = 400;
const POINTS_OF_A_WORKLOAD: u64 = 10;

/// After how many points a mutant is found, and how it shows.
fn find(running: Option<Mutant>, recovering: Option<Mutant>) -> Option<(u64, String)> {
    let mut random = Random::new(1);
    let mut tried = 0;
    for seed in 0..POINTS / POINTS_OF_A_WORKLOAD {
        // Opened once: the crashes are to find it, not the workload.
        let plan = Plan { openings: 1, transactions: 150, mutant: running, seed };
        let recorded = plan.record();
        for _ in 0..POINTS_OF_A_WORKLOAD {
            tried += 1;
            let steps = random.below(recorded.files.steps() + 1);
            let point = Point { steps, tear: random.below(u64::MAX) };
            if let Err(how) = crash(&recorded, point, recovering) {
                return Some((tried, how));
            }
        }
    }
    None
}

#[test]
fn each_planted_fault_is_found() {
    let running = RUNNING.map(|mutant| (mutant, Some(mutant), None));
    let recovering = RECOVERING.map(|mutant| (mutant, None, Some(mutant)));
    for (mutant, running, recovering) in running.into_iter().chain(recovering) {
        let Some((tried, how)) = find(running, recovering) else {
            panic!("{mutant:?} was not found in {POINTS} crash points");
        };
        println!("{mutant:?}: found at point {tried}: {how}");
    }
}
