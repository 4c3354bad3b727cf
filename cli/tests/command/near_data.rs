// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep ndp`: what it prints, what it changes, and what it refuses.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::interrupt::wait_for_handler;
use crate::{Done, command, lockstep_in};

const CSV: &str = "\
id,region,balance,owner
1,7,50,ann
2,7,150,
3,7,\\N,\"smith, b\"
4,8,20,\\N
";

fn load(folder: &Path) {
    fs::write(folder.join("rows.csv"), CSV).expect("written");
    let loaded = ndp(
        folder,
        "load",
        &[
            "--table",
            "account",
            "--csv",
            "rows.csv",
            "--schema",
            "id int64, region int64, balance int64 null, owner text null",
        ],
    );
    assert_eq!(loaded.expect_success(), "loaded 4 rows of table account into store\n");
}

/// `lockstep ndp COMMAND store ARGUMENTS`.
fn ndp(folder: &Path, name: &str, arguments: &[&str]) -> Done {
    lockstep_in(folder, ["ndp", name, "store"].iter().chain(arguments))
}

/// The same, on the table of accounts.
fn account(folder: &Path, name: &str, arguments: &[&str]) -> Done {
    let table = ["--table", "account"];
    ndp(folder, name, &table.iter().chain(arguments).copied().collect::<Vec<_>>())
}

/// The lines that a select prints, its header first, the others sorted.
fn select(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let printed = account(folder, "select", arguments).expect_success();
    let mut lines: Vec<String> = printed.lines().map(str::to_owned).collect();
    lines[1..].sort();
    lines
}

const UPDATE: [&str; 4] =
    ["--where", "region = 7 and balance < 100", "--set", "balance = balance + 5"];

#[test]
fn rows_are_loaded_changed_and_selected_whoever_does_it() {
    for strategy in ["near-data", "host", "table-lock"] {
        for isolation in ["read-committed", "snapshot", "serializable"] {
            let folder = tempfile::tempdir().expect("a folder");
            let folder = folder.path();
            load(folder);
            let how = ["--strategy", strategy, "--isolation", isolation, "--json"];
            let arguments: Vec<&str> = UPDATE.iter().chain(&how).copied().collect();
            let line = account(folder, "update", &arguments).expect_success();
            let report: Value = serde_json::from_str(&line).expect("JSON");
            assert_eq!(report["rows"], 1, "{line}");
            assert_eq!(report["strategy"], strategy, "{line}");
            assert_eq!(report["isolation"], isolation, "{line}");
            assert!(report["link_bytes_total"].as_u64() > Some(0), "{line}");
            assert!(report["host_path_bytes"].as_u64() >= Some(8192), "{line}");
            let lines = select(folder, &[]);
            let expected = [
                "id,region,balance,owner",
                "1,7,55,ann",
                "2,7,150,",
                "3,7,\\N,\"smith, b\"",
                "4,8,20,\\N",
            ];
            assert_eq!(lines, expected, "{strategy} {isolation}");
        }
    }
}

#[test]
fn a_report_says_what_was_moved_and_how_long_it_took() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let loaded = ndp(folder, "load", &["--accounts", "20000"]);
    assert_eq!(loaded.expect_success(), "loaded 20,000 rows of table account into store\n");
    let load = ["--host-load", "zipf", "--alone-ms", "20", "--elements", "2"];
    let arguments: Vec<&str> = UPDATE.iter().chain(&load).copied().collect();
    let text = account(folder, "update", &arguments).expect_success();
    for part in [
        "Update of table account, near the data, 2 elements, read-committed\n",
        "changed, of 20,000",
        "\nTime       ",
        ": prepare ",
        "if the host had pulled and written the pages",
        "read by the device",
        "asked for",
        "\nAborts     ",
        "\nHost load  1 thread: ",
        "updates/s alone",
    ] {
        assert!(text.contains(part), "{text}, expected {part}");
    }
}

#[test]
fn values_and_sums_are_selected() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    load(folder);
    let lines = select(folder, &["--where", "balance is not null", "--columns", "id, balance * 2"]);
    assert_eq!(lines, ["id,balance * 2", "1,100", "2,300", "4,40"]);
    let lines = select(folder, &["--where", "owner = 'ann'", "--columns", "owner, id"]);
    assert_eq!(lines, ["owner,id", "ann,1"]);
    let lines = select(folder, &["--aggregate", "sum(balance) by region"]);
    assert_eq!(lines, ["region,sum(balance)", "7,200", "8,20"]);
    assert_eq!(select(folder, &["--aggregate", "count(*)"]), ["count(*)", "4"]);
    assert_eq!(select(folder, &["--limit", "2"]).len(), 3);
    // What begins like an option is a value where one is expected.
    let negative = ["--where", "-balance < -100", "--columns", "-id"];
    assert_eq!(select(folder, &negative), ["-id", "-2"]);
    let limited = account(folder, "select", &["--limit", "2", "--json"]).expect_success();
    let report: Value =
        serde_json::from_str(limited.lines().last().expect("the report")).expect("JSON");
    assert_eq!(report["rows"], 2, "{limited}");
    let lines = account(folder, "select", &["--where", "id = 3", "--json"]).expect_success();
    let row: Value = serde_json::from_str(lines.lines().next().expect("a row")).expect("JSON");
    assert_eq!((&row["balance"], &row["owner"]), (&Value::Null, &"smith, b".into()));
}

/// The report names the kind of elements, and software where hardware cannot do the job.
#[test]
fn a_report_says_what_elements_ran() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    load(folder);
    let elements = |arguments: &[&str]| {
        let arguments: Vec<&str> = arguments.iter().chain(&["--json"]).copied().collect();
        let lines = account(folder, "select", &arguments).expect_success();
        let report: Value =
            serde_json::from_str(lines.lines().last().expect("the report")).expect("JSON");
        report["elements"].clone()
    };
    let device = "sim:?elements=rtl";
    let rtl = elements(&["--device", device, "--where", "region = 7", "--elements", "2"]);
    assert_eq!((&rtl["ran"], &rtl["count"]), (&"rtl".into(), &2.into()), "{rtl}");
    assert!(rtl["clocks"].as_u64() > Some(0) && rtl["why_not_rtl"].is_null(), "{rtl}");
    let text = elements(&["--device", device, "--where", "owner = 'ann'"]);
    assert_eq!((&text["ran"], &text["clocks"]), (&"software".into(), &Value::Null), "{text}");
    assert_eq!(text["why_not_rtl"], "the program compares text or bytes of any length");
    assert!(elements(&["--where", "owner = 'ann'"])["why_not_rtl"].is_null());
    let update = ["--device", device, "--where", "owner = 'ann'", "--set", "balance = 1"];
    let text = account(folder, "update", &update).expect_success();
    let expected = "in software, not as RTL: the program compares text or bytes of any length";
    assert!(text.contains(expected), "{text}");
}

/// By the device's own words.
#[test]
fn a_sum_beyond_64_bits_is_told_as_such() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    load(folder);
    let sum = ["--aggregate", "sum(region * 1000000000000000000)"];
    let done = account(folder, "select", &sum);
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    let expected = "a sum of integers is 29000000000000000000";
    assert!(done.stderr.contains(expected) && done.stderr.contains("64 bits"), "{}", done.stderr);
}

#[test]
fn a_program_is_explained() {
    let folder = tempfile::tempdir().expect("a folder");
    load(folder.path());
    let arguments = ["--where", "region = 7", "--set", "balance = balance + 5, owner = 'x'"];
    let text = account(folder.path(), "explain", &arguments).expect_success();
    for part in ["balance := o0\n", "owner := 'x'\n", "FILTER r", "OUT o0, r", "; for software and"]
    {
        assert!(text.contains(part), "{text}, expected {part}");
    }
}

#[test]
fn bad_input_is_refused_and_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    load(folder);
    let set = ["--set", "balance = 1"];
    let cases: &[(&str, &[&str], &str)] = &[
        ("update", &["--set", "balnce = 1"], "did you mean \"balance\"?\n  balnce = 1\n  ^^^^^^"),
        ("update", &["--set", "balance = 1.5"], "found Float64, expected Int64"),
        ("update", &["--set", "id = 1"], "belongs to the primary key"),
        ("update", &["--set", "balance = balance * 9223372036854775807"], "out of range"),
        ("select", &["--where", "owner = 3"], "predicate, line 1, column 1: found Text and Int64"),
        (
            "select",
            &["--aggregate", "avg(id)"],
            "found \"avg(id)\", expected count, sum, min or max",
        ),
        (
            "update",
            &["--set", "balance = 1", "--strategy", "host", "--device", "sim:"],
            "expected none with --strategy host",
        ),
        ("explain", &["--where", "x"], "no column of table \"account\" is named \"x\""),
    ];
    for (name, arguments, expected) in cases {
        let done = account(folder, name, arguments);
        assert_eq!(done.code, Some(2), "{arguments:?}: {}", done.stderr);
        assert!(done.stderr.contains(expected), "{}, expected {expected}", done.stderr);
    }
    for strategy in ["host", "table-lock"] {
        let overflow = ["--set", "balance = balance * 9223372036854775807", "--strategy", strategy];
        let done = account(folder, "update", &overflow);
        assert_eq!(done.code, Some(2), "{}", done.stderr);
        assert!(done.stderr.contains("an integer is out of range"), "{}", done.stderr);
    }
    let done = ndp(folder, "update", &["--table", "acount", set[0], set[1]]);
    assert_eq!(done.code, Some(2));
    assert!(
        done.stderr.contains("there is no table \"acount\"; expected one of"),
        "{}",
        done.stderr
    );
    let nowhere = lockstep_in(folder, ["ndp", "select", "elsewhere", "--table", "t"]);
    assert_eq!(nowhere.code, Some(2));
    assert!(
        nowhere.stderr.contains("elsewhere: no store is here, expected one"),
        "{}",
        nowhere.stderr
    );
    assert!(!folder.join("elsewhere").exists());
    assert_eq!(select(folder, &["--where", "id = 1", "--columns", "balance"])[1], "50");
}

#[test]
fn bad_rows_are_refused_with_their_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::write(folder.join("bad.csv"), "id\n1\nx\n").expect("written");
    let arguments = ["--table", "t", "--csv", "bad.csv", "--schema", "id int64"];
    let done = ndp(folder, "load", &arguments);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("bad.csv: line 3, column \"id\": found \"x\""), "{}", done.stderr);
    let hint = "table \"t\" is there now, empty, and the same command goes on with it";
    assert!(done.stderr.contains(hint), "{}", done.stderr);
    fs::write(folder.join("bad.csv"), "id\n1\n2\n").expect("written");
    let mended = ndp(folder, "load", &arguments).expect_success();
    assert_eq!(mended, "loaded 2 rows of table t into store\n");
    let done = ndp(folder, "load", &arguments);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("with rows: leave --schema out to add some"), "{}", done.stderr);
    let other = ["--table", "t", "--csv", "bad.csv", "--schema", "id float64"];
    let done = ndp(folder, "load", &other);
    assert!(done.stderr.contains("with other columns or keys"), "{}", done.stderr);
    let done = ndp(folder, "load", &["--table", "u", "--csv", "bad.csv"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("no table \"u\", expected one, or --schema"), "{}", done.stderr);
    let done = ndp(folder, "load", &["--table", "t", "--csv", "none.csv"]);
    assert!(done.stderr.contains("none.csv: cannot open"), "{}", done.stderr);
}

/// What a load that is killed leaves are the first of its rows.
#[test]
fn a_load_that_was_broken_off_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    ndp(folder, "load", &["--accounts", "2500"]).expect_success();
    let text = ndp(folder, "load", &["--accounts", "6000"]).expect_success();
    let expected =
        "loaded 3,500 rows of table account, beside 2,500 of an earlier load, into store\n";
    assert_eq!(text, expected);
    let columns = ["--columns", "id, balance, owner", "-q"];
    let goes_on = select(folder, &columns);
    assert_eq!(goes_on.len(), 6001);
    // For one that was broken off at its end, too.
    let text = ndp(folder, "load", &["--accounts", "6000"]).expect_success();
    let expected = "loaded 0 rows of table account, beside 6,000 of an earlier load, into store\n";
    assert_eq!(text, expected);
    let at_once = tempfile::tempdir().expect("a folder");
    ndp(at_once.path(), "load", &["--accounts", "6000"]).expect_success();
    assert_eq!(goes_on, select(at_once.path(), &columns));
    account(folder, "update", &["--where", "id = 17", "--set", "balance = -1"]).expect_success();
    let done = ndp(folder, "load", &["--accounts", "9000"]);
    assert_eq!(done.code, Some(2));
    let expected =
        "table \"account\" has another row of key id = the integer 17 than this load makes";
    assert!(done.stderr.contains(expected), "{}", done.stderr);
}

/// The folder's files, with what stands in them.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder).expect("listed").map(|entry| entry.expect("read").path());
    let mut files: Vec<_> =
        entries.map(|path| (path.clone(), fs::read(path).expect("read"))).collect();
    files.sort();
    files
}

/// Not even where a load was broken off and most rows stand in the log alone, more than a shared state
/// has otherwise.
#[test]
fn select_and_explain_change_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    // A log of 60,000 rows has room, their pages have none.
    let mut shell = Command::new("bash");
    let load = "ulimit -f 5000; exec \"$0\" ndp load store --accounts 60000";
    shell.current_dir(folder).args(["-c", load, env!("CARGO_BIN_EXE_lockstep")]);
    let done = shell.output().expect("a shell");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("pages"), "{said}");
    assert!(said.contains("all rows are committed, and stay"), "{said}");
    let before = files(&folder.join("store"));
    let all = ["count(*)", "60000"];
    assert_eq!(select(folder, &["-q", "--aggregate", "count(*)"]), all);
    assert_eq!(select(folder, &["-q", "--aggregate", "count(*)", "--device", "sim:"]), all);
    account(folder, "explain", &["--where", "-id > -3"]).expect_success();
    assert!(files(&folder.join("store")) == before);
    let text = ndp(folder, "load", &["--accounts", "60000"]).expect_success();
    assert!(text.starts_with("loaded 0 rows of table account, beside 60,000"), "{text}");
    assert_eq!(select(folder, &["-q", "--aggregate", "count(*)"]), all);
}

/// In a mount namespace of its own, where the system lets us have one.
#[test]
fn a_store_on_a_file_system_that_cannot_be_written_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    load(folder);
    let inside = |script: &str| {
        let mut shell = Command::new("unshare");
        let read_only = "mount --bind store store && mount -o remount,bind,ro store || exit 77; ";
        shell.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
        shell.arg(format!("{read_only}{script}")).arg(env!("CARGO_BIN_EXE_lockstep"));
        shell.current_dir(folder).output()
    };
    match inside("exit 0") {
        Ok(probe) if probe.status.success() => {}
        other => {
            println!("skipped: this system lets nobody mount: {other:?}");
            return;
        }
    }
    for device in ["", "--device sim:", "--device 'sim:?elements=rtl'"] {
        let script = format!(
            "\"$0\" ndp select store --table account -q --aggregate 'sum(balance)' {device}"
        );
        let done = inside(&script).expect("it was there");
        let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
        assert_eq!(said, "sum(balance)\n220\n", "{device}");
    }
    let done = inside("\"$0\" ndp load store --accounts 10").expect("it was there");
    assert_eq!(done.status.code(), Some(2));
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(said.contains("store: Read-only file system"), "{said}");
}

/// Through the device and back, each type with what is hard to write.
#[test]
fn rows_that_were_selected_load_as_they_were() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let schema =
        "id int64, f float64 null, b bool null, x fixed(4) null, t text null, y bytes null";
    let rows = "id,f,b,x,t,y\n\
        -9223372036854775808,-0.0,true,ab,\"a, \"\"b\"\"\r\nc\",00ff\n\
        9223372036854775807,inf,false,\"\\N\",\"\\N\",\\x\n\
        0,5e-324,\\N,\\N,\\N,\\N\n\
        1,NaN,t,,\"\",\"\"\n\
        2,-inf,f, a ,  spaces  ,5c4e\n";
    fs::write(folder.join("rows.csv"), rows).expect("written");
    let load = |csv: &str, table: &str| {
        let arguments = ["--table", table, "--csv", csv, "--schema", schema];
        ndp(folder, "load", &arguments).expect_success();
    };
    let selected = |table: &str| {
        ndp(folder, "select", &["--table", table, "-q", "--elements", "1"]).expect_success()
    };
    load("rows.csv", "one");
    let first = selected("one");
    assert!(first.contains(",inf,false,\"\\N\",\"\\N\",\\x\n"), "{first}");
    assert!(first.contains("\n1,NaN,true,,,\\x\n"), "{first}");
    fs::write(folder.join("again.csv"), &first).expect("written");
    load("again.csv", "two");
    assert_eq!(selected("two"), first);
}

/// Whatever it was at, the store is as before, and whole.
#[test]
fn an_interrupted_update_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    load(folder);
    // The load alone continues for a minute, and the update comes after it.
    let arguments = ["ndp", "update", "store", "--table", "account", "--set", "balance = 0"];
    let load = ["--host-load", "uniform", "--alone-ms", "60000"];
    let run = command(folder, arguments.iter().chain(&load))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    wait_for_handler(run.id());
    let sent = Command::new("kill").args(["-INT", &run.id().to_string()]).status();
    assert!(sent.expect("kill starts").success());
    let output = run.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "lockstep: interrupted\n");
    assert_eq!(select(folder, &["--where", "id = 1", "--columns", "balance"])[1], "50");
}
