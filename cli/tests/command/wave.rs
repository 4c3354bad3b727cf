use std::fs;
use std::process::Command;

use crate::{SMALL, lockstep_in};

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
