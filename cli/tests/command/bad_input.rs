// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each bad input gives an error that names place, value and what was expected, and exit code 2,
//! and changes nothing in the folder.

use std::fs;
use std::path::Path;

use crate::{SMALL, lockstep_in};

const HEADER: &str = "time_ns,agent,txn,vid,version,op\n";

/// A folder with `small.toml`, and a result that must not be touched.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("small.toml"), SMALL).expect("written");
    fs::write(folder.path().join("out.json"), "old").expect("written");
    folder
}

/// Runs the command there; it must refuse with all `parts` in its message.
fn refused(folder: &Path, arguments: &[&str], parts: &[&str]) {
    let listing = || -> Vec<_> {
        let entries = fs::read_dir(folder).expect("listed");
        let mut names: Vec<_> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
        names.sort();
        names
    };
    let before = listing();
    let done = lockstep_in(folder, arguments);
    assert_eq!(done.code, Some(2), "{arguments:?}: {}", done.stderr);
    assert_eq!(done.stdout, "", "{arguments:?}");
    for part in parts {
        assert!(done.stderr.contains(part), "{part:?} is missing in: {}", done.stderr);
    }
    assert_eq!(listing(), before, "{arguments:?} left something behind");
    let out = fs::read_to_string(folder.join("out.json")).expect("read");
    assert_eq!(out, "old", "{arguments:?} touched its target");
}

/// A scenario with one text replaced must be refused.
fn scenario_refused(original: &str, replacement: &str, parts: &[&str]) {
    assert_eq!(SMALL.matches(original).count(), 1, "{original:?} must occur once");
    let folder = folder();
    fs::write(folder.path().join("bad.toml"), SMALL.replace(original, replacement))
        .expect("written");
    let arguments = ["run", "bad.toml", "--json", "--out", "out.json"];
    refused(folder.path(), &arguments, &["bad.toml:", "expected "]);
    refused(folder.path(), &arguments, parts);
}

/// A replay of a trace of these lines must be refused.
fn trace_refused(lines: &str, parts: &[&str]) {
    let folder = folder();
    fs::write(folder.path().join("bad.csv"), format!("{HEADER}{lines}")).expect("written");
    let run = ["run", "small.toml", "--trace", "bad.csv", "--json", "--out", "out.json"];
    refused(folder.path(), &run, parts);
}

#[test]
fn unknown_keys() {
    scenario_refused("home = ", "hoem = ", &["bad.toml:8: field `table.hoem` is unknown"]);
    let parts = &["bad.toml:6: field `tabel` is unknown", "`table`"];
    scenario_refused("[table]", "[tabel]", parts);
}

#[test]
fn impossible_values() {
    let parts = &["bad.toml:14: field `host.workers` = 1000: expected"];
    scenario_refused("workers = 2", "workers = 1000", parts);
    let parts = &["field `mode` = \"real\"", "`virtual`", "`wall-clock`"];
    scenario_refused("\"virtual\"", "\"real\"", parts);
    scenario_refused("duration_ns = 20000", "duration_ns = -1", &["bad.toml:11:", "= -1"]);
    scenario_refused("seed = 3", "seed = ", &["bad.toml:4: `seed = `"]);
}

#[test]
fn table_sizes_that_are_no_power_of_two() {
    let parts = &["bad.toml:7: field `table.buckets` = 1000: expected a power of two"];
    scenario_refused("buckets = 1024", "buckets = 1000", parts);
}

#[test]
fn platforms_that_do_not_do() {
    let parts = &["bad.toml:2: field `platform` = \"x86\"", "n1sdp-u280-ccix"];
    scenario_refused("\"n1sdp-u280-ccix\"", "\"x86\"", parts);
    let parts = &["bad.toml:2: field `platform` = \"pcie-gen3\"", "cache-coherent"];
    scenario_refused("\"n1sdp-u280-ccix\"", "\"pcie-gen3\"", parts);
}

#[test]
fn traces_with_an_operation_on_an_unknown_transaction() {
    let parts = &["bad.csv:4: field `txn` = 9", "expected"];
    trace_refused("0,0,1,5,0,lock\n10,0,1,,,commit\n20,0,9,,,commit\n", parts);
    trace_refused("0,0,9,5,0,unlock\n", &["bad.csv:2: field `txn` = 9", "expected"]);
}

#[test]
fn other_broken_traces() {
    trace_refused("0,0,1,5,0,seize\n", &["bad.csv:2: field `op` = seize: expected lock, unlock"]);
    trace_refused("0,0,1,5,0,lock\n", &["bad.csv:2: field `txn` = 1: expected a commit or abort"]);
    let five_agents: String =
        (0..5).map(|agent| format!("{agent},{agent},{agent},5,0,lock\n")).collect();
    let ends: String = (0..5).map(|agent| format!("9,{agent},{agent},,,commit\n")).collect();
    trace_refused(&format!("{five_agents}{ends}"), &["small.toml", "at most 4 agents"]);
}

#[test]
fn checking_a_broken_trace() {
    let folder = folder();
    fs::write(folder.path().join("bad.csv"), format!("{HEADER}0,0,9,,,abort\n")).expect("written");
    let parts = ["bad.csv:2: field `txn` = 9", "expected"];
    refused(folder.path(), &["trace", "check", "bad.csv"], &parts);
}

#[test]
fn dumps_that_are_none() {
    let folder = folder();
    fs::write(folder.path().join("dump.txt"), "what is this\n").expect("written");
    let arguments = ["trace", "from-waldump", "dump.txt", "-o", "out.json"];
    refused(folder.path(), &arguments, &["dump.txt:1:", "what is this", "expected"]);
}

#[test]
fn missing_files() {
    let folder = folder();
    let run = ["run", "none.toml", "--out", "out.json"];
    refused(folder.path(), &run, &["none.toml: cannot read: No such file"]);
    let run = ["run", "small.toml", "--trace", "none.csv", "--out", "out.json"];
    refused(folder.path(), &run, &["none.csv: cannot read: No such file"]);
    let check = ["trace", "check", "none.csv"];
    refused(folder.path(), &check, &["none.csv: cannot read: No such file"]);
    let run = ["run", "small.toml", "--out", "nowhere/out.json"];
    refused(folder.path(), &run, &["nowhere/out.json: expected", "\"nowhere\""]);
    let run = ["run", "small.toml", "--out", "."];
    refused(folder.path(), &run, &[".: is a folder, expected a file"]);
}

#[test]
fn impossible_arguments() {
    let folder = folder();
    let run = ["run", "small.toml", "--seed", "twelve", "--out", "out.json"];
    refused(folder.path(), &run, &["'twelve'", "--seed", "expected a whole number"]);
}
