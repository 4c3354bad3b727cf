// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep nic`: what it prints, that it repeats, and what it refuses.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::interrupt::wait_for_handler;
use crate::{Done, command, lockstep_in};

/// Keys 1 to 200, and look-ups of each and of one that is not there.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut table, mut trace) = (String::from("key,value\n"), String::from("key\n"));
    for key in 1..=200 {
        writeln!(table, "{key},0x{key:x}0").expect("a string");
        writeln!(trace, "{key}\n0x1000").expect("a string");
    }
    fs::write(folder.path().join("table.csv"), table).expect("written");
    fs::write(folder.path().join("trace.csv"), trace).expect("written");
    folder
}

fn nic(folder: &Path, arguments: &[&str]) -> Done {
    lockstep_in(folder, ["nic"].iter().chain(arguments))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("a line of JSON")
}

#[test]
fn a_table_and_a_trace_are_looked_up_and_give_the_same_twice() {
    let folder = folder();
    let files = ["--table", "table.csv", "--trace", "trace.csv", "--warm-up", "0", "--json"];
    let run = |more: &[&str]| nic(folder.path(), &[&files[..], more].concat()).expect_success();
    let text = run(&["--host-threads", "0", "--out", "out.json"]);
    assert_eq!(fs::read_to_string(folder.path().join("out.json")).expect("written"), text);
    let report = json(&text);
    assert_eq!((&report["found"], &report["absent"]), (&200.into(), &200.into()));
    assert_eq!(report["rtl_counters"]["MISSES"], 400);
    assert_eq!(report["rtl_counters"], report["machine_counters"]);
    assert_eq!(report["sources"]["look_ups"], "trace.csv");
    assert!(report["speed"]["look_ups_per_second"].as_f64().is_some_and(|rate| rate > 1e6));
    assert_eq!(run(&["--host-threads", "2"]), run(&["--host-threads", "2"]));
    let machine = json(&run(&["--host-threads", "0", "--engine", "machine"]));
    assert!(machine["speed"].is_null() && machine["found"] == 200, "{machine}");
}

#[test]
fn a_report_for_people_has_all_that_is_asked_for() {
    let folder = folder();
    let files = ["--table", "table.csv", "--trace", "trace.csv", "--wall-clock"];
    let text = nic(folder.path(), &files).expect_success();
    for part in [
        "look-ups a second",
        "the link's limit",
        "hits of the index",
        "hint quality",
        "DMA elements a vector",
        "round trips of a look-up",
        "bytes to the card, a look-up",
        "p99",
        "RTL and machine count the same",
        "By the wall clock the simulation made",
    ] {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
    let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 100).collect();
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn bad_input_is_named() {
    let folder = folder();
    let write = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).expect("written");
    };
    write("bad.csv", "key,value\n1,2\n1,3\n");
    write("few.toml", "name = \"few\"\n");
    for (arguments, parts) in [
        (&["--table", "bad.csv"][..], &["bad.csv:3: field `key` = 1", "line 2"][..]),
        (&["--table", "none.csv"], &["none.csv", "cannot read"]),
        (&["--trace", "table.csv"], &["table.csv:1:", "the header key"]),
        (&["--profile", "zipf:x"], &["--profile", "hits:PERCENT"]),
        (&["--keys", "100", "--profile", "hits:0"], &["100 keys", "expected more keys"]),
        (&["--occupancy", "96"], &["occupancy is 0.96", "0.95"]),
        (&["--limit", "64"], &["limit is 64", "1 to 63"]),
        (&["--segment", "3"], &["segment is 3", "a power of two"]),
        (&["--in-flight", "0"], &["in flight is 0", "1 to 128"]),
        (&["--absent", "-1"], &["-1"]),
        (&["--platform", "few.toml"], &["few.toml", "link"]),
        (&["--platform", "n1sdp-u280-ccix"], &["n1sdp-u280-ccix", "[dma]"]),
        (&["--wall-clock", "--engine", "rtl"], &["cannot be used with"]),
    ] {
        let done = nic(folder.path(), arguments);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        for part in parts {
            assert!(done.stderr.contains(part), "{part:?} is missing in: {}", done.stderr);
        }
    }
}

#[test]
fn ctrl_c_ends_it_with_what_there_is() {
    let folder = folder();
    let run = ["nic", "--keys", "2000", "--look-ups", "2000000", "--profile", "uniform", "--json"];
    let run = command(folder.path(), run)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    wait_for_handler(run.id());
    let sent = Command::new("kill").args(["-INT", &run.id().to_string()]).status();
    assert!(sent.expect("kill starts").success());
    let output = run.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(json(&text)["interrupted"], true, "{text}");
}
