//! Whole runs: every shipped scenario, twice, and what must be true of each.

use std::path::PathBuf;

use lockstep_system::{Interrupt, Options, Progress, Report, run};
use workloads::Scenario;
use workloads::scenario::Mode;

fn load(name: &str) -> Scenario {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    Scenario::load(folder.join(name)).unwrap()
}

/// Short enough for a debug build.
fn shortened(name: &str) -> Scenario {
    let mut scenario = load(name);
    scenario.stop.duration_ns = scenario.stop.duration_ns.map(|ns| ns.min(60_000));
    scenario
}

fn execute(scenario: &Scenario) -> Report {
    let mut last = 0.0;
    let mut progress = |progress: Progress| {
        assert!((last..=1.0).contains(&progress.done), "{progress:?} after {last}");
        last = progress.done;
    };
    run(scenario, &Options::default(), &Interrupt::default(), &mut progress).unwrap()
}

fn assert_sound(report: &Report) {
    println!("{report:#?}");
    for side in [&report.host, &report.device] {
        assert!(side.committed > 0, "nobody committed");
        assert!(side.started >= side.committed);
        assert_eq!(side.acquire.count + side.wait.count, side.locks);
        assert_eq!(side.aborts.bus_error, 0);
    }
    assert_eq!(
        report.queue.entered_at.iter().sum::<u64>(),
        report.host.queued + report.device.queued
    );
}

fn twice(name: &str) {
    let scenario = shortened(name);
    let report = execute(&scenario);
    assert_sound(&report);
    assert_eq!(report, execute(&scenario), "one seed, two runs");
    let mut other = scenario.clone();
    other.seed += 1;
    if !name.contains("replay") {
        assert_ne!(report, execute(&other), "another seed");
    }
}

#[test]
fn ycsb_zipf() {
    twice("ycsb-zipf.toml");
}

#[test]
fn ycsb_uniform() {
    twice("ycsb-uniform.toml");
    // Whole, so that progress is told along the way.
    assert_sound(&execute(&load("ycsb-uniform.toml")));
}

#[test]
fn smallbank() {
    twice("smallbank.toml");
}

#[test]
fn hot_row_storm() {
    twice("hot-row-storm.toml");
}

#[test]
fn pgbench_replay() {
    let report = execute(&load("pgbench-replay.toml"));
    assert_sound(&report);
}

#[test]
fn by_the_wall_clock() {
    let mut scenario = load("hot-row-storm.toml");
    scenario.mode = Mode::WallClock;
    scenario.host.workers = 2;
    scenario.stop.duration_ns = Some(300_000_000);
    let report = execute(&scenario);
    println!("{report:#?}");
    assert!(report.host.committed > 0 && report.device.committed > 0);
}
