// SPDX-License-Identifier: MIT OR Apache-2.0
use std::fs;

use serde_json::Value;

use crate::{SMALL, lockstep, lockstep_in, project};

/// The report of a scenario, as its line of JSON.
fn report_line(scenario: &str, seed: &str) -> String {
    let done = lockstep(["run", scenario, "--seed", seed, "--json"]);
    let rest = done.stderr.clone();
    let report = done.expect_success();
    assert_eq!(report.lines().count(), 1, "{report}");
    let wall: Value = serde_json::from_str(rest.trim_end()).expect("a line of JSON");
    assert!(wall["wall"]["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{rest}");
    assert!(wall["wall"]["simulated_seconds_per_second"].is_f64(), "{rest}");
    report
}

/// The shipped scenarios in virtual time, as paths from the project's folder.
fn virtual_scenarios() -> Vec<String> {
    let entries = fs::read_dir(project().join("scenarios")).expect("the folder of scenarios");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut paths: Vec<String> = names
        .map(|name| format!("scenarios/{}", name.to_str().expect("UTF-8")))
        .filter(|path| path.ends_with(".toml"))
        .filter(|path| crate::shipped(path).contains("mode = \"virtual\""))
        .collect();
    paths.sort();
    assert!(paths.len() >= 5, "{paths:?}");
    paths
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_does_not() {
    for path in virtual_scenarios() {
        let once = report_line(&path, "7");
        assert_eq!(once, report_line(&path, "7"), "{path}");
        let mut report: Value = serde_json::from_str(&once).expect("JSON");
        assert_eq!(report["seed"], 7);
        let mut other: Value = serde_json::from_str(&report_line(&path, "8")).expect("JSON");
        other["seed"] = Value::from(7);
        assert_ne!(report, other, "{path}");
        for side in ["host", "device"] {
            let committed = report[side]["committed"].take().as_u64();
            assert!(committed.is_some_and(|committed| committed > 0), "{path}: {side}");
        }
    }
}

#[test]
fn host_and_device_contend() {
    let report: Value =
        serde_json::from_str(&report_line("scenarios/hot-row-storm.toml", "1")).expect("JSON");
    for side in ["host", "device"] {
        for field in ["conflicts", "queued"] {
            assert!(report[side][field].as_u64().is_some_and(|count| count > 0), "{side} {field}");
        }
    }
    // Each committed transaction updates one of the four rows, or two; each row was looked at.
    let rows = &report["rows"];
    let written = rows["versions_written"].as_u64().expect("a count");
    let committed = ["host", "device"].map(|side| report[side]["committed"].as_u64().expect("one"));
    assert!(written >= committed.iter().sum(), "{report}");
    assert_eq!(rows["rows"], 4);
    assert!(report["coherence"]["link_messages"].as_u64().is_some_and(|count| count > 0));
    assert!(report["unit"]["handed_over"].as_u64().is_some_and(|count| count > 0));
}

#[test]
fn the_table_shows_both_sides_within_100_columns() {
    let table = lockstep(["run", "scenarios/smallbank.toml"]).expect_success();
    for part in [
        "smallbank\n",
        "virtual time, 65,536 buckets at the host, seed 1",
        "committed",
        "aborted tries",
        "wait-die",
        "host acquire",
        "device release",
        "entered at position",
        "200,000 rows",
        "the balances add up",
        "over the link",
        "compare-and-swaps",
        "per second of wall-clock time",
    ] {
        assert!(table.contains(part), "{part:?} is missing in\n{table}");
    }
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
}

#[test]
fn the_report_goes_into_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("small.toml"), SMALL).expect("written");
    let out = folder.path().join("report.json");
    fs::write(&out, "old").expect("written");
    let arguments = ["run", "small.toml", "--quiet", "--out", "report.json"];
    assert_eq!(lockstep_in(folder.path(), arguments).expect_success(), "");
    let report = fs::read_to_string(&out).expect("read");
    let printed = lockstep_in(folder.path(), ["run", "small.toml", "--json"]).expect_success();
    assert_eq!(Some(report.as_str()), printed.split_inclusive('\n').next());
    assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 2);
}

/// Another link in a file of one's own, without a new build.
#[test]
fn a_platform_file_takes_the_place_of_the_scenarios() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::write(folder.join("small.toml"), SMALL).expect("written");
    let board = crate::shipped("sim/platforms/n1sdp-u280-ccix.toml");
    fs::write(folder.join("board.toml"), &board).expect("written");
    let run = |more: &[&str]| {
        let arguments = ["run", "small.toml", "--json"];
        let line = lockstep_in(folder, arguments.iter().chain(more)).expect_success();
        serde_json::from_str::<Value>(line.trim_end()).expect("JSON")
    };
    let own = run(&[]);
    let mut same = run(&["--platform", "board.toml"]);
    assert_eq!(same["platform"], "n1sdp-u280-ccix (board.toml)");
    same["platform"] = own["platform"].clone();
    assert_eq!(same, own, "a copy has the same numbers");
    let listed = lockstep_in(folder, ["platforms", "./board.toml"]).expect_success();
    let name = ["platforms", "n1sdp-u280-ccix"];
    let shipped = lockstep_in(folder, name).expect_success();
    assert_eq!(
        listed.lines().skip(1).collect::<Vec<_>>(),
        shipped.lines().skip(1).collect::<Vec<_>>()
    );
    fs::write(folder.join("broken.toml"), board.replace("[link", "[lnk")).expect("written");
    for (file, expected) in [("broken.toml", "broken.toml: "), ("none.toml", "none.toml: ")] {
        for arguments in [&["run", "small.toml", "--platform", file][..], &["platforms", file]] {
            let done = lockstep_in(folder, arguments);
            assert_eq!(done.code, Some(2), "{}", done.stderr);
            assert!(done.stderr.contains(expected), "{}", done.stderr);
        }
    }
}
