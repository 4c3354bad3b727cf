// SPDX-License-Identifier: MIT OR Apache-2.0
//! Power lost at any write and any sync of random workloads.

use super::points::{Point, crash};
use super::random::Random;
use super::workload::{Plan, Recorded};

/// Cases that share a workload, which takes longer than they do.
const POINTS: u64 = 25;

/// A case is one point in a workload: each seed draws its own, and so many in a row share a workload.
#[test]
fn every_acknowledged_commit_survives_a_loss_of_power() {
    let mut newest: Option<(u64, Recorded)> = None;
    seeds::each!(300, |seed| {
        let workload = seed / POINTS;
        let recorded = match newest.take() {
            Some((of, recorded)) if of == workload => recorded,
            _ => Plan::new(workload).record(),
        };
        let mut random = Random::new(seed);
        let steps = random.below(recorded.files.steps() + 1);
        let survived = must_survive(&recorded, Point { steps, tear: random.below(u64::MAX) });
        newest = Some((workload, recorded));
        survived.map_err(|wrong| format!("workload {workload}, {wrong}"))
    });
}

fn must_survive(recorded: &Recorded, point: Point) -> Result<(), String> {
    let Point { steps, tear } = point;
    let end = recorded.files.steps();
    crash(recorded, point, None)
        .map_err(|wrong| format!("power lost after step {steps} of {end}, tear {tear}: {wrong}"))
}

/// One short workload, at every step of it.
#[test]
fn a_short_workload_survives_at_every_step() {
    let recorded = Plan { openings: 2, transactions: 12, ..Plan::new(77) }.record();
    for steps in 0..=recorded.files.steps() {
        let survived = must_survive(&recorded, Point { steps, tear: steps });
        survived.unwrap_or_else(|wrong| panic!("short workload, {wrong}"));
    }
}
