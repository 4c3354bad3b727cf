//! Power lost at any write and any sync of random workloads.
//!
//! `LOCKSTEP_CASES` says at how many points (300 by default, 10,000 in the nightly form); a failure
//! names the one at which it happened, and `LOCKSTEP_SEED` with `LOCKSTEP_CRASH` repeats it.

use super::points::{Point, crash};
use super::random::{Random, setting};
use super::workload::{Plan, Recorded};

/// Points drawn from each workload.
const POINTS: u64 = 25;

#[test]
fn every_acknowledged_commit_survives_a_loss_of_power() {
    if let Some(seed) = setting("LOCKSTEP_SEED") {
        let recorded = Plan::new(seed).record();
        match std::env::var("LOCKSTEP_CRASH") {
            Ok(text) => must_survive(seed, &recorded, parse(&text)),
            Err(_) => crash_at_points(seed, &recorded, POINTS),
        }
        return;
    }
    let mut left = setting("LOCKSTEP_CASES").unwrap_or(300);
    for seed in 0.. {
        let points = left.min(POINTS);
        crash_at_points(seed, &Plan::new(seed).record(), points);
        left -= points;
        if left == 0 {
            break;
        }
    }
}

fn crash_at_points(seed: u64, recorded: &Recorded, points: u64) {
    let mut random = Random::new(seed);
    for _ in 0..points {
        let steps = random.below(recorded.files.steps() + 1);
        must_survive(seed, recorded, Point { steps, tear: random.below(u64::MAX) });
    }
}

fn must_survive(seed: u64, recorded: &Recorded, point: Point) {
    let Point { steps, tear } = point;
    if let Err(wrong) = crash(recorded, point, None) {
        panic!(
            "workload {seed}, power lost after step {steps} of {}, tear {tear}: {wrong}\nrepeat: \
             LOCKSTEP_SEED={seed} LOCKSTEP_CRASH={steps}:{tear} cargo test -p lockdb --test \
             durability crashes",
            recorded.files.steps(),
        );
    }
}

fn parse(text: &str) -> Point {
    let parsed = text.split_once(':').and_then(|(steps, tear)| {
        Some(Point { steps: steps.parse().ok()?, tear: tear.parse().ok()? })
    });
    parsed.unwrap_or_else(|| panic!("LOCKSTEP_CRASH is {text:?}, expected STEP:TEAR"))
}

/// One short workload, at every step of it.
#[test]
fn a_short_workload_survives_at_every_step() {
    let recorded = Plan { openings: 2, transactions: 12, ..Plan::new(77) }.record();
    for steps in 0..=recorded.files.steps() {
        must_survive_short(&recorded, Point { steps, tear: steps });
    }
}

fn must_survive_short(recorded: &Recorded, point: Point) {
    if let Err(wrong) = crash(recorded, point, None) {
        panic!("short workload, {point:?} of {} steps: {wrong}", recorded.files.steps());
    }
}
