// SPDX-License-Identifier: MIT OR Apache-2.0
use std::fs;

use crate::lockstep_in;

const CLEAN: &str = r#"{"format":1,"seed":7,"scenario":"two withdrawals"}
{"txn":0,"session":0,"commit":0,"status":"committed","level":"serializable","reads":[],"writes":[{"key":1,"version":0},{"key":2,"version":0}]}
{"txn":1,"session":1,"begin":0,"commit":1,"status":"committed","level":"snapshot","reads":[{"key":1,"version":0},{"key":2,"version":0}],"writes":[{"key":1,"version":1}]}
{"txn":2,"session":2,"begin":0,"commit":2,"status":"committed","level":"snapshot","reads":[{"key":1,"version":0},{"key":2,"version":0}],"writes":[{"key":2,"version":2}]}
"#;

/// Each of the two transactions misses what the other wrote: snapshots may, a serial order cannot.
#[test]
fn a_history_is_held_to_a_level() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("h.jsonl"), CLEAN).expect("written");
    let check = |more: &[&str]| {
        lockstep_in(folder.path(), [&["history", "check", "h.jsonl"], more].concat())
    };
    let text = check(&[]).expect_success();
    assert!(text.starts_with("two withdrawals, seed 7: 3 transactions\n"), "{text}");
    assert!(text.contains("0 violations in 2 committed transactions"), "{text}");
    let broken = check(&["--level", "serializable", "--json"]);
    assert_eq!((broken.code, broken.stderr.as_str()), (Some(1), ""));
    let line: serde_json::Value = serde_json::from_str(&broken.stdout).expect("JSON");
    assert_eq!((line["clean"].as_bool(), line["committed"].as_u64()), (Some(false), Some(2)));
    let anomalies = line["anomalies"].to_string();
    assert!(anomalies.contains("write skew"), "{anomalies}");
}

#[test]
fn what_is_no_history_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |text: &str, expected: &str| {
        fs::write(folder.path().join("h.jsonl"), text).expect("written");
        let done = lockstep_in(folder.path(), ["history", "check", "h.jsonl"]);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""));
        assert!(done.stderr.contains(expected), "{}", done.stderr);
    };
    refused("", "h.jsonl: line 1: field `.` is missing: expected a header");
    refused(&CLEAN.replace("\"snapshot\"", "\"chaos\""), "h.jsonl: line 3: field `level`");
    let done = lockstep_in(folder.path(), ["history", "check", "none.jsonl"]);
    assert!(done.stderr.contains("none.jsonl: cannot read"), "{}", done.stderr);
}
