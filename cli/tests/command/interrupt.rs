// SPDX-License-Identifier: MIT OR Apache-2.0
use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::{SMALL, command};

/// Waits until the process handles SIGINT (number 2) by itself.
pub fn wait_for_handler(process: u32) {
    let start = Instant::now();
    loop {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let mask = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        if mask.is_some_and(|mask| mask & 1 << (2 - 1) != 0) {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "SIGINT is not handled: {status}");
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_interrupted_run_says_what_it_has_and_writes_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    // An hour of virtual time takes far longer than any test waits.
    let scenario = SMALL.replace("duration_ns = 20000", "duration_ns = 3_600_000_000_000");
    fs::write(folder.path().join("long.toml"), scenario).expect("written");
    let run = command(folder.path(), ["run", "long.toml", "--json", "--out", "out.json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    wait_for_handler(run.id());
    let sent = Command::new("kill").args(["-INT", &run.id().to_string()]).status();
    assert!(sent.expect("kill starts").success());
    let output = run.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let line = text.lines().next().expect("a report");
    let report: serde_json::Value = serde_json::from_str(line).expect("JSON");
    assert_eq!(report["interrupted"], true, "{line}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "lockstep: interrupted\n");
    assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 1);
}
