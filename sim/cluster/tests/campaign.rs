// SPDX-License-Identifier: MIT OR Apache-2.0
//! Campaigns of faults against FaSST, and against FaSST with planted bugs.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cluster::engine::Stage;
use cluster::fasst::{Mutant, Planted};
use cluster_sim::campaign::{Case, Outcome};
use cluster_sim::faults::{FaultKind, Hits};

/// The stages that a campaign has: all but that of benchmarks.
const STAGES: [Stage; 8] = [
    Stage::Execute,
    Stage::Validate,
    Stage::Log,
    Stage::Backup,
    Stage::Primary,
    Stage::Abort,
    Stage::Membership,
    Stage::Copy,
];

/// Runs a case. A panic of a machine is a failure like others.
fn run(case: &Case, planted: Planted) -> Outcome {
    let panicked = |panic: Box<dyn std::any::Any + Send>| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or(panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        let failure = Some(format!("a panic: {}", text.unwrap_or_default()));
        Outcome { failure, ..Outcome::default() }
    };
    catch_unwind(AssertUnwindSafe(|| case.run(planted))).unwrap_or_else(panicked)
}

/// What is wrong with a case, its least faults that show it, and how it is run again.
fn report(case: &Case, failure: &str) -> String {
    let plan = case.plan.shrink(100, |plan| {
        run(&case.with_plan(plan), Planted::default()).failure.is_some()
    });
    let shrunk = case.with_plan(&plan);
    let still = run(&shrunk, Planted::default()).failure.unwrap_or_default();
    format!("{failure}\n\n{case}\nwith {} of these faults: {still}\n{shrunk}", plan.faults.len())
}

#[test]
fn what_commits_survives_and_all_go_on() {
    let seeds = seeds::of!(100);
    let (mut hits, mut all) = (Hits::default(), Outcome::default());
    for seed in &seeds {
        let case = Case::draw(seed);
        let outcome = run(&case, Planted::default());
        if let Some(failure) = &outcome.failure {
            panic!("{}", report(&case, failure));
        }
        if seed % 10 == 0 {
            assert_eq!(
                case.run(Planted::default()),
                outcome,
                "a second run of seed {seed} differs"
            );
        }
        hits.add(&outcome.hits);
        all.committed += outcome.committed;
        all.recovered += outcome.recovered;
        all.aborted += outcome.aborted;
        all.down += outcome.down;
        all.epoch += outcome.epoch;
    }
    println!(
        "{} seeds: {} transactions committed, {} more by recovery, {} attempts aborted, {} views, \
        {} processes gone\n{hits}",
        seeds.count(),
        all.committed,
        all.recovered,
        all.aborted,
        all.epoch,
        all.down
    );
    if seeds.is_whole() {
        for (kind, stage) in FaultKind::ALL.into_iter().flat_map(|kind| STAGES.map(|it| (kind, it)))
        {
            let met = hits.of(kind, stage);
            assert!(met > 0, "no {} met {}:\n{hits}", kind.name(), stage.name());
        }
    }
}

/// The planted bugs that a campaign finds, each within so many seeds.
const FOUND: [Mutant; 20] = Mutant::ALL;
const SEEDS: u64 = 60;

#[test]
fn planted_bugs_are_found() {
    let mut missed = Vec::new();
    for mutant in FOUND {
        let found = (0..SEEDS).find_map(|seed| {
            let failure = run(&Case::draw(seed), Planted::new(mutant)).failure?;
            Some((seed, failure))
        });
        match found {
            Some((seed, failure)) => {
                println!("{mutant:?}: seed {seed}: {:.150}", failure.lines().next().unwrap_or(""));
            }
            None => missed.push(mutant),
        }
    }
    assert!(missed.is_empty(), "not found: {missed:?}");
}
