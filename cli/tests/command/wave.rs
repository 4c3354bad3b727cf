// SPDX-License-Identifier: MIT OR Apache-2.0
use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::interrupt::wait_for_handler;
use crate::{SMALL, command, lockstep_in};

#[test]
fn waves_of_a_window_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("small.toml"), SMALL).expect("written");
    let arguments = ["wave", "run", "small.toml", "--from", "100", "--to", "200", "-o", "w.fst"];
    let said = lockstep_in(folder.path(), arguments).expect_success();
    assert!(said.starts_with("w.fst: cycles 100 to 200 of "), "{said}");
    let waves = fs::read(folder.path().join("w.fst")).expect("written");
    // The first block of an FST file is its header: type 0, then its length of 329 bytes.
    assert_eq!(waves[..9], [0, 0, 0, 0, 0, 0, 0, 1, 73]);
    assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 2);
}

#[test]
fn an_impossible_window_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("small.toml"), SMALL).expect("written");
    for (from, to, expected) in [
        ("5", "5", "--to 5: expected a cycle after --from 5"),
        ("900000000", "900000001", "--from 900000000: expected a cycle of the run"),
    ] {
        let arguments = ["wave", "run", "small.toml", "--from", from, "--to", to, "-o", "w.fst"];
        let done = lockstep_in(folder.path(), arguments);
        assert_eq!(done.code, Some(2), "{}", done.stderr);
        assert!(done.stderr.contains(expected), "{}", done.stderr);
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 1);
    }
}

#[test]
fn a_case_of_hardware_against_software_is_repeated() {
    let folder = tempfile::tempdir().expect("a folder");
    let case = serde_json::to_string(&conformance::draw::case(1)).expect("JSON");
    fs::write(folder.path().join("case.json"), case).expect("written");
    let arguments = ["wave", "conformance", "--case", "case.json", "-o", "w.fst"];
    let said = lockstep_in(folder.path(), arguments).expect_success();
    assert!(said.starts_with("w.fst: cycles 0 to "), "{said}");
    assert!(said.ends_with("Hardware and software agree in this case.\n"), "{said}");
    assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 2);

    fs::write(folder.path().join("case.json"), "{\"agents\": 3}").expect("written");
    let done = lockstep_in(folder.path(), arguments);
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    assert!(done.stderr.contains("case.json: "), "{}", done.stderr);
}

/// A terminal sends the signal to all processes, another program to one.
#[test]
fn interrupted_waves_end_at_once_and_leave_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = SMALL.replace("duration_ns = 20000", "duration_ns = 3_600_000_000_000");
    fs::write(folder.path().join("long.toml"), scenario).expect("written");
    let arguments = ["wave", "run", "long.toml", "--from", "0", "--to", "4000", "-o", "w.fst"];
    let start = || {
        let mut wave = command(folder.path(), arguments);
        wave.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts")
    };
    let wave = start();
    wait_for_handler(child_of(wave.id()));
    send("-INT", wave.id());
    let output = wave.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "lockstep: interrupted\n");
    assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 1);
    // When killed, it leaves no process behind.
    let mut wave = start();
    let child = child_of(wave.id());
    wave.kill().expect("it runs");
    wave.wait().expect("it ends");
    let is_at_work = || {
        let status = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        !status.is_empty() && !status.contains(") Z ")
    };
    let since = Instant::now();
    while is_at_work() {
        assert!(since.elapsed() < Duration::from_secs(20), "process {child} goes on");
        sleep(Duration::from_millis(5));
    }
}

/// The process that another has started, once it has.
fn child_of(process: u32) -> u32 {
    let since = Instant::now();
    loop {
        let path = format!("/proc/{process}/task/{process}/children");
        let children = fs::read_to_string(path).unwrap_or_default();
        if let Some(child) = children.split(' ').next().and_then(|child| child.parse().ok()) {
            return child;
        }
        assert!(since.elapsed() < Duration::from_secs(60), "no process is started");
        sleep(Duration::from_millis(5));
    }
}

fn send(signal: &str, process: u32) {
    let sent = Command::new("kill").args([signal, &process.to_string()]).status();
    assert!(sent.expect("kill starts").success());
}

/// A bound of the size of files, whose signal is not wanted, makes writes fail as a full disk does.
#[test]
fn waves_for_which_there_is_no_room_are_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("small.toml"), SMALL).expect("written");
    for trap in ["trap '' XFSZ; ", ""] {
        let wave = "wave run small.toml --from 0 --to 4000 -o w.fst";
        let script = format!("{trap}ulimit -c 0; ulimit -f 1; exec \"$0\" {wave}");
        let mut shell = Command::new("sh");
        shell.current_dir(folder.path()).args(["-c", &script, env!("CARGO_BIN_EXE_lockstep")]);
        let done = shell.output().expect("a shell");
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{said}");
        assert!(said.contains("w.fst: cannot write: "), "{said}");
        assert!(said.contains("is there room for the file?"), "{said}");
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 1, "{trap:?}");
    }
}
