// SPDX-License-Identifier: MIT OR Apache-2.0
//! Complete runs of every shipped scenario, twice, and the properties of each.

use std::path::PathBuf;

use lockstep_system::{Interrupt, Options, Progress, Report, RunError, run};
use workloads::Scenario;
use workloads::scenario::{Mode, Span, Versions, Workload};

fn load(name: &str) -> Scenario {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
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
    // Each row was compared with what was committed; a run that finds a difference fails.
    let written = report.rows.versions_written;
    assert!(written > 0 && report.rows.pages_after_vacuum <= report.rows.pages, "{written}");
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
    let mut other = scenario;
    other.seed += 1;
    let other = execute(&other);
    // Not only that it says so.
    assert_ne!(report, Report { seed: report.seed, ..other }, "another seed");
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
    assert!(report.rows.versions_written >= report.host.committed + report.device.committed);
}

/// The other policies and workloads, and locks that a trace tells.
#[test]
fn every_workload_by_the_wall_clock() {
    for name in ["smallbank.toml", "ycsb-zipf.toml", "pgbench-replay.toml"] {
        let mut scenario = load(name);
        scenario.mode = Mode::WallClock;
        scenario.host.workers = scenario.host.workers.min(4);
        if let Workload::SmallBank(bank) = &mut scenario.workload {
            (bank.accounts, bank.hot_accounts) = (1000, 10);
        }
        if let Workload::Trace(trace) = &mut scenario.workload {
            trace.transactions = Some(100);
        } else {
            scenario.stop.duration_ns = Some(200_000_000);
        }
        let report = execute(&scenario);
        println!("{report:#?}");
        assert!(report.host.committed > 0 && report.device.committed > 0, "{name}");
    }
}

/// Time that is only let pass ends with the run.
#[test]
fn long_pauses_do_not_hold_up_the_end() {
    let long = Span::exactly(3_600_000_000_000);
    let mut scenario = load("hot-row-storm.toml");
    scenario.device.agents.think_ns = long;
    scenario.host.agents.hold_ns = long;
    let report = execute(&scenario);
    assert_eq!(report.host.committed + report.device.committed, 0);
    scenario.mode = Mode::WallClock;
    scenario.host.workers = 2;
    scenario.stop.duration_ns = Some(50_000_000);
    let _ = execute(&scenario);
}

#[test]
fn tables_that_cannot_be_name_their_field() {
    let mut scenario = load("hot-row-storm.toml");
    scenario.table.buckets = 1 << 32;
    for mode in [Mode::Virtual, Mode::WallClock] {
        scenario.mode = mode;
        let error = run(&scenario, &Options::default(), &Interrupt::default(), &mut |_| {});
        let text = error.unwrap_err().to_string();
        assert!(text.contains("`table.buckets`"), "{text}");
    }
}

/// A replay of this trace at two agents of the host, by these lines of the scenario.
fn replay(trace: &str, more: &str) -> Result<Report, RunError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, format!("time_ns,agent,txn,vid,version,op\n{trace}")).unwrap();
    let text = format!(
        "name = \"t\"\nplatform = \"n1sdp-u280-ccix\"\nmode = \"virtual\"\nseed = 1\n\
         [table]\nbuckets = 1024\nhome = \"host\"\n\
         [host]\nworkers = 2\nwait = \"timeout\"\nwait_timeout_ns = 1000000\n\
         [workload.trace]\nfile = {:?}\n{more}",
        path.display().to_string()
    );
    let scenario = Scenario::parse("t.toml", &text).unwrap();
    run(&scenario, &Options::default(), &Interrupt::default(), &mut |_| {})
}

/// Agent 1 has waited for agent 0 there. Replayed without pauses both hold a version of row 1, unless
/// the versions are left out.
#[test]
fn rows_without_versions_meet_however_fast_they_are_replayed() {
    let trace = "0,0,1,1,0,lock\n10,1,2,2,0,lock\n20,0,1,3,0,lock\n30,0,1,4,0,lock\n\
                 31,0,1,5,0,lock\n32,0,1,6,0,lock\n33,0,1,7,0,lock\n34,0,1,,,commit\n\
                 40,1,2,1,1,lock\n50,1,2,3,1,lock\n60,1,2,1,1,unlock\n70,1,2,,,commit\n";
    let recorded = replay(trace, "time_scale = 0").unwrap();
    let latest = replay(trace, "time_scale = 0\nversions = \"latest\"").unwrap();
    assert_eq!((recorded.host.committed, latest.host.committed), (2, 2));
    assert!(recorded.rows.overtaken > 0, "{recorded:#?}");
    assert_eq!(latest.rows.overtaken, 0, "{latest:#?}");
    // Row 1 is given back before the end, so that it is not written.
    assert_eq!(latest.rows.versions_written, 8);
    let pgbench = load("pgbench-replay.toml");
    let mut free = pgbench.clone();
    let Workload::Trace(trace) = &mut free.workload else { panic!("a replay") };
    trace.versions = Versions::Latest;
    let (recorded, latest) = (execute(&pgbench), execute(&free));
    println!("overtaken: {} of {}", recorded.rows.overtaken, recorded.rows.versions_written);
    assert!(recorded.rows.overtaken > 0);
    assert_eq!(latest.rows.overtaken, 0);
    let waited = |report: &Report| report.host.queued + report.device.queued;
    assert!(waited(&latest) > waited(&recorded), "{} {}", waited(&latest), waited(&recorded));
}

#[test]
fn virtual_time_does_not_end_in_silence() {
    let mut scenario = load("hot-row-storm.toml");
    scenario.stop.duration_ns = None;
    scenario.stop.transactions_per_agent = Some(10_000);
    scenario.host.agents.think_ns = Span::exactly(3_600_000_000_000);
    scenario.device.agents.think_ns = Span::exactly(3_600_000_000_000);
    let result = run(&scenario, &Options::default(), &Interrupt::default(), &mut |_| {});
    assert!(matches!(result, Err(RunError::EndOfTime { left: 1.. })), "{result:?}");
    let far = u64::MAX / 2;
    let trace =
        format!("0,0,1,1,0,lock\n10,0,1,,,commit\n{far},0,2,1,1,lock\n{far},0,2,,,commit\n");
    let error = replay(&trace, "").unwrap_err().to_string();
    let expected = "virtual time ends at 2^62 ps (53 days) with 1 of the transactions not ended: ";
    assert!(error.starts_with(expected), "{error}");
    let under_way = format!("0,0,1,1,0,lock\n{far},0,1,,,commit\n");
    let error = replay(&under_way, "").unwrap_err().to_string();
    assert!(error.starts_with(expected), "{error}");
    let report = replay(&trace, "transactions = 1").unwrap();
    assert_eq!(report.host.committed, 1);
}
