// SPDX-License-Identifier: MIT OR Apache-2.0
//! Campaigns of faults against FaSST and Xenic, and against both with planted bugs.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cluster::engine::Stage;
use cluster::fasst::Mutant;
use cluster::mutant::Planted;
use cluster::{recovery, xenic};
use cluster_sim::campaign::{Case, Outcome};
use cluster_sim::faults::{FaultKind, Hits};
use cluster_sim::protocols::Campaigns;

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

/// In so many seeds, each kind of fault meets each stage that [`is_expected`].
const ALL_MEET: u64 = 1_000;

/// Whether a kind of fault has to meet a stage. Replicas are filled within few messages, at times that
/// no plan can know: what is aimed at frames, or lasts long, meets them, and the others do by chance.
fn is_expected(kind: FaultKind, stage: Stage) -> bool {
    let is_by_chance = matches!(kind, FaultKind::Cut | FaultKind::Pause | FaultKind::Restart);
    !(is_by_chance && stage == Stage::Copy)
}

/// Runs a case. A panic of a machine is a failure like others.
fn run<M: Campaigns>(case: &Case, planted: Planted<M>) -> Outcome {
    let panicked = |panic: Box<dyn std::any::Any + Send>| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or(panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        let failure = Some(format!("a panic: {}", text.unwrap_or_default()));
        Outcome { failure, ..Outcome::default() }
    };
    catch_unwind(AssertUnwindSafe(|| case.run(planted))).unwrap_or_else(panicked)
}

/// What is wrong with a case, its least faults that show it, and how it is run again.
fn report<M: Campaigns>(case: &Case, failure: &str) -> String {
    let none = Planted::<M>::default;
    let plan = case.plan.shrink(100, |plan| run(&case.with_plan(plan), none()).failure.is_some());
    let shrunk = case.with_plan(&plan);
    let still = run(&shrunk, none()).failure.unwrap_or_default();
    format!("{failure}\n\n{case}\nwith {} of these faults: {still}\n{shrunk}", plan.faults.len())
}

/// At most one in so many cases is beyond f: more processes end than rows have backups, and not all is promised.
/// Plans draw fewer, but cannot know who ends itself because of a lost frame.
const BEYOND: u64 = 100;

/// Runs the cases that `draw` makes of all seeds, and one in ten of them twice. Prints what they came to, and returns
/// how often each kind of fault met each stage.
fn survive<M: Campaigns>(seeds: &seeds::Seeds, draw: impl Fn(u64) -> Case) -> Hits {
    let (mut hits, mut all) = (Hits::default(), Outcome::default());
    let mut beyond = Vec::new();
    for seed in seeds {
        let case = draw(seed);
        let outcome = run(&case, Planted::<M>::default());
        if let Some(failure) = &outcome.failure {
            panic!("{}", report::<M>(&case, failure));
        }
        beyond.extend(outcome.is_beyond.then_some(seed));
        if seed % 10 == 0 {
            let again = case.run(Planted::<M>::default());
            assert_eq!(again, outcome, "a second run of seed {seed} differs");
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
        {} processes gone, {} cases beyond f {beyond:?}\n{hits}",
        seeds.count(),
        all.committed,
        all.recovered,
        all.aborted,
        all.epoch,
        all.down,
        beyond.len()
    );
    let most = 1 + seeds.count() / BEYOND;
    assert!(beyond.len() as u64 <= most, "more than {most} cases are beyond f: {beyond:?}");
    hits
}

#[test]
fn what_xenic_commits_survives_and_all_go_on() {
    survive::<xenic::Mutant>(&seeds::of!(40), Case::draw);
}

/// All of TPC-C, whose conditions hold at the end, and Retwis.
#[test]
fn what_xenic_commits_of_tpcc_and_retwis_survives() {
    survive::<xenic::Mutant>(&seeds::of!(12), |seed| Case::draw(seed).of_xenic());
}

#[test]
fn what_commits_survives_and_all_go_on() {
    let seeds = seeds::of!(100);
    let hits = survive::<Mutant>(&seeds, Case::draw);
    let met = |kind, stage| hits.of(kind, stage) > 0;
    if seeds.is_whole() {
        for kind in FaultKind::ALL {
            assert!(
                STAGES.iter().any(|stage| met(kind, *stage)),
                "no {} met anything",
                kind.name()
            );
        }
        for stage in STAGES {
            let is_met = FaultKind::ALL.iter().any(|kind| met(*kind, stage));
            assert!(is_met, "no fault met {}", stage.name());
        }
    }
    if seeds.count() >= ALL_MEET {
        for (kind, stage) in FaultKind::ALL.into_iter().flat_map(|kind| STAGES.map(|it| (kind, it)))
        {
            let is_right = met(kind, stage) || !is_expected(kind, stage);
            assert!(is_right, "no {} met {}", kind.name(), stage.name());
        }
    }
}

/// The planted bugs that a campaign finds, and within how many seeds: a short form has as many. The
/// explorer of `cluster` finds the others.
const FOUND: [Mutant; 15] = [
    Mutant::NoValidation,
    Mutant::ValidateBeforeLocks,
    Mutant::ValidationIgnoresLocks,
    Mutant::LogAfterBackups,
    Mutant::OwnLockConflicts,
    Mutant::ForgottenUnlock,
    Mutant::VersionNotRaised,
    Mutant::Recovery(recovery::Mutant::DeadCoordinatorsForgotten),
    Mutant::Recovery(recovery::Mutant::NothingCommitted),
    Mutant::Recovery(recovery::Mutant::LocksKept),
    Mutant::LeaseNotChecked,
    Mutant::ReadOfLockedRow,
    Mutant::LossNotDetected,
    Mutant::ReadOnlySkipsValidation,
    Mutant::OwnRecordDroppedEarly,
];
const SEEDS: u64 = 100;

/// The first seed that finds a bug, and what it shows.
fn found<M: Campaigns>(mutant: M, mut seeds: impl Iterator<Item = u64>) -> Option<(u64, String)> {
    seeds.find_map(|seed| {
        let failure = run(&Case::draw(seed), Planted::new(mutant)).failure?;
        Some((seed, failure.lines().next().unwrap_or_default().to_owned()))
    })
}

#[test]
fn planted_bugs_are_found() {
    let mut missed = Vec::new();
    for mutant in FOUND {
        match found(mutant, 0..SEEDS) {
            Some((seed, what)) => println!("{mutant:?}: seed {seed}: {what:.150}"),
            None => missed.push(mutant),
        }
    }
    assert!(missed.is_empty(), "not found within {SEEDS} seeds: {missed:?}");
}

/// The planted bugs of Xenic that a campaign finds, and the first seed that does.
const FOUND_OF_XENIC: [(xenic::Mutant, u64); 18] = [
    (xenic::Mutant::NoValidation, 1),
    (xenic::Mutant::LocalReadsOnHost, 1),
    (xenic::Mutant::LocalWritesUnvalidated, 1),
    (xenic::Mutant::ShippedReadsUnlocked, 28),
    (xenic::Mutant::RemoteAbortKeepsLocks, 0),
    (xenic::Mutant::CellReusedEarly, 5),
    (xenic::Mutant::LossNotDetected, 27),
    (xenic::Mutant::UnlockedBeforePinned, 0),
    (xenic::Mutant::ReadOnlySkipsValidation, 5),
    (xenic::Mutant::OwnLockConflicts, 2),
    (xenic::Mutant::EndedBeforeLog, 0),
    (xenic::Mutant::LeaseNotChecked, 36),
    (xenic::Mutant::CountsNotCompared, 31),
    (xenic::Mutant::Recovery(recovery::Mutant::DeadCoordinatorsForgotten), 2),
    (xenic::Mutant::Recovery(recovery::Mutant::NothingCommitted), 2),
    (xenic::Mutant::Recovery(recovery::Mutant::RecoveredTooEarly), 48),
    (xenic::Mutant::Recovery(recovery::Mutant::FillingMissesUpdates), 1),
    (xenic::Mutant::Recovery(recovery::Mutant::RecordsNotMerged), 26),
];

/// By default the seeds are those that are known to find a bug. A long run searches for all bugs from seed 0 on,
/// and prints what finds each.
#[test]
fn planted_bugs_of_xenic_are_found() {
    let seeds = seeds::of!(1);
    if seeds.count() == 1 {
        for (mutant, seed) in FOUND_OF_XENIC {
            let what = found(mutant, seed..=seed);
            println!("{mutant:?}: {:.200?}", what.unwrap_or_else(|| panic!("{mutant:?}: {seed}")));
        }
        return;
    }
    let of_recovery = recovery::Mutant::ALL.map(xenic::Mutant::Recovery);
    for mutant in xenic::Mutant::ALL.into_iter().chain(of_recovery) {
        let what = found(mutant, 0..seeds.count());
        println!("{mutant:?}: {what:.200?}");
        let known = FOUND_OF_XENIC.iter().find(|(other, _)| *other == mutant).map(|it| it.1);
        let is_right = known.is_none_or(|seed| seed >= seeds.count() || what.is_some());
        assert!(is_right, "{mutant:?} is not found; seed {known:?} is said to find it");
    }
}
