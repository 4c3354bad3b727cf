use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::{command, lockstep, project};

const DUMP: &str = "workloads/tests/postgresql-15.waldump.txt";

#[test]
fn a_dump_becomes_a_trace_that_checks_and_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.csv");
    let path = path.to_str().expect("UTF-8");
    let report = lockstep(["trace", "from-waldump", DUMP, "-o", path]).expect_success();
    assert!(report.contains("24 transactions of 3 agents"), "{report}");
    let summary = lockstep(["trace", "check", path]).expect_success();
    assert!(summary.contains("transactions            24"), "{summary}");
    let scenario = "scenarios/pgbench-replay.toml";
    let run = lockstep(["run", scenario, "--trace", path, "--json"]).expect_success();
    let line = run.lines().next().expect("a line");
    let report: serde_json::Value = serde_json::from_str(line).expect("JSON");
    let committed = |side: &str| report[side]["committed"].as_u64().expect("a number");
    assert_eq!(committed("host") + committed("device"), 21, "{line}");
}

#[test]
fn standard_input_and_output_carry_a_trace() {
    let direct = lockstep(["trace", "from-waldump", DUMP, "-o", "-"]).expect_success();
    assert!(direct.starts_with("time_ns,agent,txn,vid,version,op\n"));
    let mut check = command(&project(), ["trace", "check", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut input = check.stdin.take().expect("a pipe");
    input.write_all(direct.as_bytes()).expect("read");
    drop(input);
    let output = check.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("agents                   3"));
}

#[test]
fn too_many_agents_leave_no_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.csv");
    fs::write(&path, "old").expect("written");
    let arguments = ["trace", "from-waldump", DUMP, "--agents", "1", "-o"];
    let path = path.to_str().expect("UTF-8");
    let done = lockstep(arguments.into_iter().chain([path]));
    assert_eq!(done.code, Some(2));
    let place = format!("{DUMP}:");
    assert!(done.stderr.contains(&place), "{}", done.stderr);
    assert!(done.stderr.contains("expected at most 1 transactions"), "{}", done.stderr);
    assert_eq!(fs::read_to_string(path).expect("read"), "old");
    assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 1);
}
