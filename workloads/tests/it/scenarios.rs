// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scenarios: what is shipped loads, what is impossible is refused with its place.

use std::fs;
use std::path::{Path, PathBuf};

use locks::Policy;
use lockstep_workloads::scenario::{Side, Span, Versions, Workload};
use lockstep_workloads::trace::load_transactions;
use lockstep_workloads::{Generator, Scenario, TransactionPlan};

const GOOD: &str = r#"name = "test"
platform = "n1sdp-u280-ccix"
mode = "virtual"
seed = 3

[table]
buckets = 1024
home = "host"

[stop]
duration_ns = 1000

[host]
workers = 2
hold_ns = [10, 20]
rows_per_transaction = 4
wait = "timeout"
wait_timeout_ns = 500

[device]
processing_elements = 2
transactions_in_flight = 3
think_ns = 7
wait = "wait-die"

[workload.ycsb]
rows = 1000
distribution = "zipf"
"#;

fn shipped() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let entries = fs::read_dir(folder).expect("the folder of scenarios");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).collect();
    paths.sort();
    paths
}

fn first_transactions(scenario: &Scenario, agent: u32, count: usize) -> Vec<TransactionPlan> {
    Generator::new(scenario, agent).expect("no replay").take(count).collect()
}

#[test]
fn every_shipped_scenario_loads_and_gives_transactions() {
    let paths = shipped();
    assert!(paths.len() >= 5, "{paths:?}");
    for path in paths {
        let scenario = Scenario::load(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(path.file_stem().and_then(|stem| stem.to_str()), Some(scenario.name.as_str()));
        let agents = scenario.agents().count();
        if let Workload::Trace(trace) = &scenario.workload {
            let streams = load_transactions(&trace.file).unwrap_or_else(|error| panic!("{error}"));
            assert!(streams.len() <= agents, "{} agents in the trace", streams.len());
            continue;
        }
        for agent in 0..agents as u32 {
            let transactions = first_transactions(&scenario, agent, 100);
            assert!(transactions.iter().any(|transaction| !transaction.locks.is_empty()));
        }
    }
}

#[test]
fn values_and_defaults_arrive() {
    let scenario = Scenario::parse("s.toml", GOOD).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scenario.host.agents.wait, Policy::Queue);
    assert_eq!(scenario.host.agents.timeout_ns, Some(500));
    assert_eq!(scenario.host.agents.hold_ns, Span { least: 10, most: 20 });
    assert_eq!(scenario.device.agents.think_ns, Span::exactly(7));
    assert_eq!(scenario.device.agents.rows_per_transaction, Span::exactly(1));
    let agents: Vec<_> = scenario.agents().collect();
    assert_eq!(agents.len(), 2 + 2 * 3);
    assert_eq!(agents[1], Side::Host { worker: 1 });
    assert_eq!(agents[6], Side::Device { element: 1, context: 1 });
}

#[test]
fn a_stream_is_a_function_of_scenario_seed_and_agent() {
    for path in shipped() {
        let scenario = Scenario::load(&path).unwrap_or_else(|error| panic!("{error}"));
        if matches!(scenario.workload, Workload::Trace(_)) {
            continue;
        }
        let stream = first_transactions(&scenario, 1, 500);
        assert_eq!(stream, first_transactions(&scenario, 1, 500));
        assert_ne!(stream, first_transactions(&scenario, 2, 500));
        let mut other = scenario.clone();
        other.seed += 1;
        assert_ne!(stream, first_transactions(&other, 1, 500));
    }
}

/// The same on every machine and in every process; a change of it changes the runs of all
/// scenarios.
#[test]
fn a_stream_stays_what_it_is() {
    let scenario = Scenario::parse("s.toml", GOOD).unwrap_or_else(|error| panic!("{error}"));
    let drawn: Vec<(Vec<u64>, u64)> = first_transactions(&scenario, 0, 3)
        .into_iter()
        .map(|drawn| (drawn.locks.iter().map(|key| key.vid).collect(), drawn.hold_ns))
        .collect();
    let expected = [
        (vec![117, 843, 200, 894], 18),
        (vec![117, 740, 217, 797], 10),
        (vec![251, 88, 848, 543], 13),
    ];
    assert_eq!(drawn, expected);
}

#[test]
fn drawn_transactions_keep_to_their_scenario() {
    let scenario = Scenario::parse("s.toml", GOOD).unwrap_or_else(|error| panic!("{error}"));
    for (agent, rows) in [(0, 4), (2, 1)] {
        for transaction in first_transactions(&scenario, agent, 1000) {
            assert_eq!(transaction.locks.len(), rows);
            let mut vids: Vec<u64> = transaction.locks.iter().map(|key| key.vid).collect();
            vids.sort_unstable();
            vids.dedup();
            assert_eq!(vids.len(), rows, "rows of a transaction differ");
            assert!(vids[0] >= 1 && vids[rows - 1] <= 1000);
            assert!(!transaction.aborts);
            let hold = if agent == 0 { 10..=20 } else { 0..=0 };
            assert!(hold.contains(&transaction.hold_ns));
        }
    }
}

#[test]
fn all_agents_agree_on_the_hot_rows() {
    let scenario = Scenario::parse("s.toml", GOOD).unwrap_or_else(|error| panic!("{error}"));
    let hottest = |agent: u32| {
        let mut counts = vec![0; 1001];
        for transaction in first_transactions(&scenario, agent, 5000) {
            transaction.locks.iter().for_each(|key| counts[key.vid as usize] += 1);
        }
        (1..=1000).max_by_key(|vid| counts[*vid])
    };
    assert_eq!(hottest(0), hottest(1));
    assert_eq!(hottest(0), hottest(5));
}

#[test]
fn impossible_values_name_line_field_value_and_expectation() {
    for (from, to, expected) in [
        ("= 1024", "= 1000", "s.toml:7: field `table.buckets` = 1000: expected a power of two"),
        ("= 1024", "= 0", "s.toml:7: field `table.buckets` = 0: expected a power of two"),
        (
            "= 1024",
            "= -4",
            "s.toml:7: field `table.buckets` = -4: expected an integer of at least 0",
        ),
        ("= 1024", "= \"x\"", "s.toml:7: field `table.buckets` = \"x\": expected an integer of at"),
        ("buckets = 1024\n", "", "s.toml:6: field `table.buckets` is missing: expected a value"),
        ("buckets =", "bucket =", "s.toml:7: field `table.bucket` is unknown: expected `buckets`"),
        ("\"virtual\"", "\"real\"", "s.toml:3: field `mode` = \"real\": expected `virtual`"),
        ("seed = 3\n", "", "s.toml:1: field `seed` is missing"),
        ("\"test\"", "\"A b\"", "s.toml:1: field `name` = \"A b\": expected 1 to 64 of a-z"),
        ("duration_ns = 1000", "", "s.toml:10: field `stop.duration_ns` is missing: expected dur"),
        ("[10, 20]", "[20, 10]", "s.toml:15: field `host.hold_ns` = [20, 10]: expected [least"),
        ("[10, 20]", "[20]", "s.toml:15: field `host.hold_ns` = [20]: expected an integer of at"),
        ("[10, 20]", "[1, -2]", "s.toml:15: field `host.hold_ns` = -2: expected an integer of"),
        (
            "transaction = 4",
            "transaction = 0",
            "s.toml:16: field `host.rows_per_transaction` = 0: ",
        ),
        (
            "rows = 1000",
            "rows = 3",
            "s.toml:16: field `host.rows_per_transaction` = 4: expected an \
          integer from 1 to 3",
        ),
        ("\"timeout\"", "\"queue\"", "s.toml:18: field `host.wait_timeout_ns` = 500: expected no"),
        (
            "\"timeout\"\nwait_timeout_ns = 500",
            "\"queue\"",
            "s.toml:17: field `host.wait` = \"queue\"",
        ),
        (
            "wait_timeout_ns = 500",
            "",
            "s.toml:13: field `host.wait_timeout_ns` is missing: expected",
        ),
        ("wait = \"wait-die\"", "wait = 3", "s.toml:24: field `device.wait` = 3: expected "),
        (
            "in_flight = 3",
            "in_flight = 33",
            "s.toml:22: field `device.transactions_in_flight` = 33: \
          expected at most 32 with 2 processing elements",
        ),
        ("think_ns = 7", "think_ns = 7.5", "s.toml:23: field `device.think_ns` = 7.5: expected an"),
        (
            "\"zipf\"",
            "\"zipf\"\nexponent = -1.0",
            "s.toml:29: field `workload.ycsb.exponent` = -1.0",
        ),
        ("\"zipf\"", "\"zipf\"\nexponent = nan", "s.toml:29: field `workload.ycsb.exponent` = nan"),
        (
            "\"zipf\"",
            "\"uniform\"\nscrambled = true",
            "s.toml:29: field `workload.ycsb.scrambled` = \
          true: expected no such key",
        ),
        (
            "[workload.ycsb]",
            "[workload.tpcc]",
            "s.toml:26: field `workload.tpcc` is unknown: expec",
        ),
        ("[workload.ycsb]", "[workload]\n[other.ycsb]", "s.toml:27: field `other` is unknown"),
        ("seed = 3", "seed = ", "s.toml:4: `seed = `: expected"),
        ("seed = 3", "seed = 3\nseed = 4", "s.toml:5: "),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let text = GOOD.replacen(from, to, 1);
        let error = Scenario::parse("s.toml", &text).expect_err(&text).to_string();
        assert!(
            error.starts_with(expected),
            "{from} -> {to} gave\n{error}\ninstead of\n{expected}"
        );
    }
}

#[test]
fn a_run_needs_somebody() {
    let host_only = &GOOD[..GOOD.find("[device]").expect("there")];
    let workload = &GOOD[GOOD.find("[workload").expect("there")..];
    let text = format!("{host_only}{workload}").replace("workers = 2", "workers = 0");
    let error = Scenario::parse("s.toml", &text).expect_err("nobody runs").to_string();
    let expected = "s.toml:14: field `host.workers` = 0: expected at least one host worker";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn a_replay_takes_the_place_of_the_workload_or_leaves_it() {
    let mut scenario = Scenario::parse("s.toml", GOOD).unwrap_or_else(|error| panic!("{error}"));
    scenario.replay("t.csv".into()).unwrap_or_else(|error| panic!("{error}"));
    assert!(Generator::new(&scenario, 0).is_none());

    let text = GOOD.replace("\"timeout\"\nwait_timeout_ns = 500", "\"queue\"");
    let text = format!("lock_order = \"bucket\"\n{text}");
    let mut scenario = Scenario::parse("s.toml", &text).unwrap_or_else(|error| panic!("{error}"));
    let error = scenario.replay("t.csv".into()).expect_err("may deadlock").to_string();
    assert!(error.starts_with("s.toml:1: field `lock_order` = \"bucket\": expected"), "{error}");
    assert!(Generator::new(&scenario, 0).is_some());
}

/// What a scenario says of its replay holds for another trace, too.
#[test]
fn a_replay_of_another_trace_is_as_the_scenario_says() {
    let workload = GOOD.find("[workload").expect("there");
    let more = "[workload.trace]\nfile = \"own.csv\"\ntime_scale = 0.5\ntransactions = 7\n\
                versions = \"latest\"\nclock_step_ns = 10\n";
    let text = format!("{}{more}", &GOOD[..workload]);
    // The trace says these.
    let said = ["think_ns", "hold_ns", "rows_per_transaction"];
    let lines = text.lines().filter(|line| !said.iter().any(|key| line.starts_with(key)));
    let text = lines.collect::<Vec<_>>().join("\n");
    let mut scenario = Scenario::parse("s.toml", &text).unwrap_or_else(|error| panic!("{error}"));
    scenario.replay("other.csv".into()).unwrap_or_else(|error| panic!("{error}"));
    let Workload::Trace(trace) = &scenario.workload else { panic!("a replay") };
    assert_eq!(trace.file, std::path::Path::new("other.csv"));
    assert_eq!((trace.time_scale, trace.transactions, trace.clock_step_ns), (0.5, Some(7), 10));
    assert_eq!(trace.versions, Versions::Latest);
    let expected = "the first 7 transactions of other.csv, at 0.5 ns a nanosecond";
    assert_eq!(scenario.description, expected);
}

#[test]
fn a_reader_can_reject_a_field_too() {
    let scenario = Scenario::parse("s.toml", GOOD).unwrap_or_else(|error| panic!("{error}"));
    let error = scenario.reject("platform", "a platform of this build").to_string();
    let expected = "s.toml:2: field `platform` = \"n1sdp-u280-ccix\": expected a platform of this";
    assert!(error.starts_with(expected), "{error}");
}
