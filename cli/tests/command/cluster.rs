// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep cluster`: what it prints, that it repeats, and what it refuses.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{Done, lockstep_in};

/// A small run, so that a test is short.
const SMALL: [&str; 10] =
    ["--nodes", "3", "--threads", "1", "--workers", "2", "--keys", "100", "--duration-us", "100"];

fn cluster(folder: &Path, arguments: &[&str]) -> Done {
    lockstep_in(folder, ["cluster"].iter().chain(arguments))
}

fn run(folder: &Path, more: &[&str]) -> Done {
    cluster(folder, &[&["run"][..], &SMALL, more].concat())
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("a line of JSON")
}

#[test]
fn a_run_repeats_byte_for_byte_and_writes_what_it_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = ["--json", "--out", "o.json", "--history", "h.jsonl", "--trace", "t.json"];
    let text = run(folder.path(), &files).expect_success();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("written");
    assert_eq!(read("o.json"), text);
    assert_eq!(run(folder.path(), &["--json"]).expect_success(), text);
    let other = run(folder.path(), &["--json", "--seed", "2"]).expect_success();
    let (report, other) = (json(&text), json(&other));
    assert_ne!(report["digest"], other["digest"]);
    assert!(report["committed"].as_u64().is_some_and(|count| count > 20), "{report}");
    assert_eq!(report["checks"]["at_rest"], true);
    let events = json(&read("t.json"));
    assert!(events["traceEvents"].as_array().is_some_and(|events| events.len() > 500));
    assert!(read("h.jsonl").lines().count() > 20);
}

#[test]
fn the_rtl_at_a_node_answers_as_the_machines() {
    let folder = tempfile::tempdir().expect("a folder");
    let bank = ["--protocol", "xenic", "--workload", "smallbank-xenic"];
    let of = |more: &[&str]| run(folder.path(), &[&bank, more].concat());
    let text = of(&["--rtl", "node0", "--waves", "w.fst", "--waves-to-us", "90"]).expect_success();
    for part in ["RTL of node0", "look-ups, cached", "with a stalled port", "were those of the"] {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
    assert!(fs::metadata(folder.path().join("w.fst")).is_ok_and(|file| file.len() > 1000));
    let done = of(&["--rtl", "node3"]);
    assert!(done.stderr.contains("--rtl node3: expected node0 to node2"), "{}", done.stderr);
}

#[test]
fn a_report_for_people_has_all_that_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = run(folder.path(), &["--workload", "smallbank"]).expect_success();
    for part in [
        "committed a second",
        "of a node",
        "aborted attempts",
        "p999",
        "send-payment",
        "Use of resources",
        "by hand",
        "execute",
        "Checked: each of",
        "Digest",
    ] {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
    let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 100).collect();
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn what_cannot_be_run_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |arguments: &[&str], expected: &str| {
        let done = run(folder.path(), arguments);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(done.stderr.contains(expected), "{expected:?}: {}", done.stderr);
    };
    refused(&["--replicas", "4"], "--replicas 4: expected 1 to 3 copies of each row");
    refused(&["--protocol", "paxos"], "--protocol paxos: expected a protocol: fasst");
    refused(&["--platform", "cx9"], "platform cx9: expected connect-ib, ");
    refused(&["--rtl", "node0"], "--rtl node0: expected protocol xenic, as fasst has no");
    refused(&["--waves", "w.fst"], "--waves w.fst: expected --rtl NODE beside it");
    refused(&["--waves-to-us", "5"], "--waves-to-us 5: expected --waves FILE beside it");
    refused(&["--workload", "tpcd"], "--workload tpcd: expected one of object-store");
    refused(&["--access", "hot90"], "--access hot90: expected no such flag");
    let faults = "[[fault]]\nkind = \"crash\"\nnode = 7\nat_ns = 5\n";
    fs::write(folder.path().join("f.toml"), faults).expect("written");
    refused(&["--faults", "f.toml"], "f.toml: fault 1: node: 7");
    refused(&["--faults", "none.toml"], "none.toml: cannot read");
    let faults = "[[fault]]\nkind = \"crash\"\nnode = 65536\nat_ns = 5\n";
    fs::write(folder.path().join("f.toml"), faults).expect("written");
    refused(&["--faults", "f.toml"], "f.toml: fault 1: node: invalid value: integer `65536`");
    let two = ["--out", "one.json", "--history", "./one.json"];
    refused(&two, "./one.json: --history: expected another file than that of --out");
    let scenario = "nodes = 3\nreplicas = 5\n";
    fs::write(folder.path().join("s.toml"), scenario).expect("written");
    let done = cluster(folder.path(), &["run", "s.toml"]);
    let expected = "s.toml:2: field `replicas` = 5: expected 1 to 3 copies of each row";
    assert!(done.stderr.contains(expected), "{}", done.stderr);
}

#[test]
fn a_sweep_gives_the_same_values_for_any_number_of_jobs() {
    let folder = tempfile::tempdir().expect("a folder");
    let sweep = |more: &[&str]| {
        let over = ["sweep", "--over", "workers=1,3"];
        cluster(folder.path(), &[&over[..], &SMALL, more].concat()).expect_success()
    };
    let text = sweep(&["--jobs", "1"]);
    assert_eq!(text.lines().count(), 3, "{text}");
    assert_eq!(sweep(&["--jobs", "2", "--out", "other"]), text);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("written");
    let csv = read("out/cluster-sweep.csv");
    assert_eq!(csv, read("other/cluster-sweep.csv"));
    assert!(csv.starts_with("workers,committed_per_second,") && csv.lines().count() == 3, "{csv}");
    assert!(read("out/cluster-sweep.svg").starts_with("<svg"));
}
