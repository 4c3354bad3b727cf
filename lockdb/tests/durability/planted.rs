//! A store that is broken on purpose: the crash points must find it.

use lockdb::fault::Fault;

use super::points::{Point, crash};
use super::random::Random;
use super::workload::Plan;

/// Faults of the running store.
const RUNNING: [Fault; 5] = [
    Fault::LogOmitsAChange,
    Fault::AcknowledgedBeforeDurable,
    Fault::CheckpointLosesPageMapEntry,
    Fault::CheckpointBeforeLog,
    Fault::PageReusedBeforeCheckpoint,
];

/// Faults of its recovery.
const RECOVERING: [Fault; 2] = [Fault::VoidRecordReplayed, Fault::ReplayIgnoresOrder];

/// Each fault is found in so many crash points.
const POINTS: u64 = 400;
const POINTS_OF_A_WORKLOAD: u64 = 10;

/// After how many points a fault is found, and how it shows.
fn find(running: Option<Fault>, recovering: Option<Fault>) -> Option<(u64, String)> {
    let mut random = Random::new(1);
    let mut tried = 0;
    for seed in 0..POINTS / POINTS_OF_A_WORKLOAD {
        // Opened once: the crashes are to find it, not the workload.
        let plan = Plan { openings: 1, transactions: 150, fault: running, seed };
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
    let running = RUNNING.map(|fault| (fault, Some(fault), None));
    let recovering = RECOVERING.map(|fault| (fault, None, Some(fault)));
    for (fault, running, recovering) in running.into_iter().chain(recovering) {
        let Some((tried, how)) = find(running, recovering) else {
            panic!("{fault:?} was not found in {POINTS} crash points");
        };
        println!("{fault:?}: found at point {tried}: {how}");
    }
}
