// SPDX-License-Identifier: MIT OR Apache-2.0
use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::{command, lockstep, lockstep_in, project};

const DUMP: &str = "workloads/tests/it/postgresql-15.waldump.txt";

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

/// In gzip, with a scenario beside the trace; and the trace in gzip, too.
#[test]
fn a_compressed_dump_comes_with_a_scenario() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::write(folder.join("dump"), crate::shipped(DUMP)).expect("written");
    let gzip = |name: &str| {
        let done = std::process::Command::new("gzip").current_dir(folder).arg(name).status();
        assert!(done.expect("gzip is there").success());
    };
    gzip("dump");
    let convert = ["trace", "from-waldump", "dump.gz", "-o", "t.csv", "--scenario", "Re play.toml"];
    let said = lockstep_in(folder, convert).expect_success();
    assert!(said.contains("24 transactions of 3 agents"), "{said}");
    assert!(said.ends_with("Replay it: lockstep run Re play.toml\n"), "{said}");
    let committed = || {
        let line = lockstep_in(folder, ["run", "Re play.toml", "--json"]).expect_success();
        let report: serde_json::Value = serde_json::from_str(line.trim_end()).expect("JSON");
        ["host", "device"].map(|side| report[side]["committed"].as_u64().expect("a number"))
    };
    let plain = committed();
    assert_eq!(plain.iter().sum::<u64>(), 21);
    gzip("t.csv");
    let text = fs::read_to_string(folder.join("Re play.toml")).expect("read");
    fs::write(folder.join("Re play.toml"), text.replace("t.csv", "t.csv.gz")).expect("written");
    assert_eq!(committed(), plain);
}

#[test]
fn no_file_is_written_over_another_of_the_same_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::copy(project().join(DUMP), folder.join("dump")).expect("copied");
    let before = fs::read(folder.join("dump")).expect("read");
    for (output, scenario, expected) in [
        ("t.csv", "./t.csv", "./t.csv: --scenario: expected another file than that of -o"),
        ("./dump", "s.toml", "./dump: expected another file to write than the dump"),
        ("t.csv", "dump", "dump: expected another file to write than the dump"),
    ] {
        let convert = ["trace", "from-waldump", "dump", "-o", output, "--scenario", scenario];
        let done = lockstep_in(folder, convert);
        assert_eq!(done.code, Some(2), "{output} {scenario}");
        assert!(done.stderr.contains(expected), "{}", done.stderr);
        assert_eq!(fs::read_dir(folder).expect("listed").count(), 1);
        assert_eq!(fs::read(folder.join("dump")).expect("read"), before);
    }
}

#[test]
fn a_dump_without_row_locks_leaves_no_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let others = "rmgr: Btree       len (rec/tot):     64/    64, tx:        735, lsn: 0/0152B0B0, \
                  prev 0/0152B088, desc: INSERT_LEAF off 3\n";
    for (text, expected) in [("", "no row lock in 0 lines"), (others, "no row lock in 1 lines")] {
        fs::write(folder.join("dump"), text).expect("written");
        let done = lockstep_in(folder, ["trace", "from-waldump", "dump", "-o", "t.csv"]);
        assert_eq!(done.code, Some(2), "{}", done.stderr);
        assert!(done.stderr.contains(expected), "{}", done.stderr);
        assert_eq!(fs::read_dir(folder).expect("listed").count(), 1);
    }
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
