// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lines of a history: what is written comes back, and what breaks a rule is refused.

use history::{Extension, Header, History, Level, Read, ReadError, Recorder, Scan, Status, Write};

const HEADER: &str = r#"{"format":1,"seed":7,"scenario":"by hand"}"#;
const EXTENDED: &str = r#"{"format":1,"seed":7,"scenario":"by hand","extensions":["dead","scans","order","lost-writes"]}"#;
const INITIAL: &str = r#"{"txn":0,"session":0,"begin":0,"commit":0,"status":"committed","level":"serializable","reads":[],"writes":[{"key":1,"version":0},{"key":"two","version":0}]}"#;

fn line(change: impl FnOnce(String) -> String) -> String {
    change(
        r#"{"txn":1,"session":1,"begin":0,"commit":1,"status":"committed","level":"snapshot","reads":[{"key":1,"version":0}],"writes":[{"key":1,"version":5}]}"#
            .to_owned(),
    )
}

fn read(lines: &[&str]) -> Result<History, ReadError> {
    History::read(lines.join("\n").as_bytes())
}

#[test]
fn what_is_written_comes_back() {
    let initial = [
        Write::new(1, 0).indexed("age", 30).at(0),
        Write::dead("two", 0).indexed("name", "b").at(0),
    ];
    let recorder = Recorder::new(7, "all fields", initial).with_wall_clock();
    let mut session = recorder.session(3);
    let mut transaction = session.begin(Level::Snapshot);
    transaction.snapshot(0);
    transaction.virtual_time(5, 9);
    transaction.read(1, 0);
    transaction.absent("two");
    transaction.scan(Scan::of_keys(1, "two").found(1, 0));
    let version = transaction.version();
    transaction.record(Write::dead(1, version).at(1));
    transaction.scan(Scan::of_index("age", 1, 99));
    transaction.commit(1);
    session.begin(Level::ReadCommitted).abort();
    let _ = session.begin(Level::Serializable);
    let history = recorder.finish([session]).expect("valid");
    assert_eq!(history.header().extensions, [Extension::Dead, Extension::Scans, Extension::Order]);
    let mut file = Vec::new();
    history.write(&mut file).expect("memory is enough");
    assert_eq!(History::read(file.as_slice()).expect("it was just written"), history);
    assert_eq!(file.iter().filter(|byte| **byte == b'\n').count(), 5);
}

#[test]
fn a_plain_history_has_the_plain_fields() {
    let text = [HEADER, INITIAL, &line(|line| line)].join("\n") + "\n";
    let mut again = Vec::new();
    History::read(text.as_bytes()).expect("valid").write(&mut again).expect("memory is enough");
    assert_eq!(String::from_utf8(again).expect("JSON is UTF-8"), text);
}

#[test]
fn the_recorder_folds() {
    let recorder =
        Recorder::new(1, "fold", [Write::new(1, 0), Write::new(2, 0), Write::dead(3, 0)]);
    let mut session = recorder.session(1);
    let mut t = session.begin(Level::ReadCommitted);
    let mine = t.version();
    t.read(1, 0);
    t.read(1, 0); // agrees
    t.read(2, 0);
    t.read(1, 77); // has changed
    t.read(1, 0); // and back
    let before = t.writes();
    t.write(2, mine);
    t.read(2, mine); // its own
    t.scan(Scan::of_keys(1, 3).found(1, 0).found(2, mine));
    t.undo(before);
    t.read(2, 0); // not its own any more
    let other = t.version();
    t.write(3, other);
    t.read(3, 0); // lost from sight
    t.scan(Scan::of_keys(3, 3)); // and again
    t.commit(None);
    let (_, transactions) = recorder.finish([session]).expect("valid").into_parts();
    let lost = |version| Read { version, instead_of: Some(other), ..Read::absent(3) };
    let seen = [
        Read::new(1, 0),
        Read::new(2, 0),
        Read::new(1, 77),
        Read::new(1, 0),
        lost(Some(0)),
        lost(None),
    ];
    assert_eq!(transactions[1].reads, seen);
    assert_eq!(transactions[1].writes, [Write::new(3, other)]);
    assert_eq!(transactions[1].scans[1].own, [3.into()]);
    assert!(transactions[1].scans[1].keys.is_empty());
}

#[test]
fn sessions_are_merged_by_what_they_recorded() {
    let recorder = Recorder::new(1, "merge", [Write::new(1, 0)]);
    let mut sessions: Vec<_> = (1..=3).map(|number| recorder.session(number)).collect();
    for (session, begins) in sessions.iter_mut().zip([[1, 4], [0, 4], [2, 3]]) {
        for begin in begins {
            let mut transaction = session.begin(Level::Snapshot);
            transaction.snapshot(begin);
            transaction.commit(begin);
        }
    }
    sessions.reverse();
    let history = recorder.finish(sessions).expect("valid");
    let order: Vec<_> =
        history.transactions()[1..].iter().map(|t| (t.session, t.begin.unwrap_or(0))).collect();
    assert_eq!(order, [(2, 0), (1, 1), (3, 2), (3, 3), (1, 4), (2, 4)]);
    let mut versions = std::collections::HashSet::new();
    assert!(history.transactions().iter().all(|t| versions.insert(t.txn)));
}

#[test]
fn an_end_that_was_not_recorded_is_unknown() {
    let recorder = Recorder::new(1, "crash", [Write::new(1, 0)]);
    let mut session = recorder.session(1);
    drop(session.begin(Level::Snapshot));
    let history = recorder.finish([session]).expect("valid");
    assert_eq!(history.transactions()[1].status, Status::Unknown);
}

/// Reads the lines and expects to be told `message`.
#[track_caller]
fn refused(lines: &[&str], message: &str) {
    let error = read(lines).expect_err("a rule is broken").to_string();
    assert_eq!(error, message);
}

#[track_caller]
fn refused_line(from: &str, to: &str, message: &str) {
    let changed = line(|line| {
        assert!(line.contains(from), "{from} is not in {line}");
        line.replacen(from, to, 1)
    });
    refused(&[EXTENDED, INITIAL, &changed], message);
}

#[test]
fn headers_that_are_none() {
    refused(&[], "line 1: field `.` is missing: expected a header");
    refused(
        &[r#"{"format":2,"seed":7,"scenario":"x"}"#, INITIAL],
        "line 1: field `format` is 2: expected 1",
    );
    refused(
        &[HEADER],
        "line 2: field `.` is missing: expected a transaction that writes every initial version",
    );
    let error = read(&[INITIAL]).expect_err("no header").to_string();
    assert!(
        error.starts_with("line 1: field `txn` is 0: unknown field `txn`, expected"),
        "{error}"
    );
}

#[test]
fn first_transactions_that_are_none() {
    refused(
        &[HEADER, &line(|line| line)],
        "line 2: field `reads` is not empty: expected no read in the first transaction",
    );
    refused(
        &[HEADER, &INITIAL.replace("committed", "aborted").replace(r#""commit":0,"#, "")],
        "line 2: field `status` is Aborted: expected \"committed\"",
    );
    refused(
        &[HEADER, &INITIAL.replace("\"two\"", "1")],
        "line 2: field `writes[1].key` is 1: expected each key once in the first transaction",
    );
}

#[test]
fn lines_that_are_no_transaction() {
    refused_line(
        r#""version":0"#,
        r#""version":"a""#,
        "line 3: field `reads[0].version` is \"a\": invalid type: string \"a\", expected u64 at \
         column 113",
    );
    for (from, to, start) in [
        (r#""key":1"#, r#""key":1.5"#, "line 3: field `reads[0].key` is 1.5: invalid type"),
        (r#""snapshot""#, r#""chaos""#, "line 3: field `level` is \"chaos\": unknown variant"),
        (r#""txn":1,"#, "", "line 3: field `.` is"),
        (r#","version":0"#, "", "line 3: field `reads[0]` is {\"key\":1}: missing field `version`"),
        (r#""txn":1,"#, r#""txn":1,"time":3,"#, "line 3: field `time` is 3: unknown field"),
        ("}]}", "}]", "line 3: field "),
        ("}]}", "}]} {}", "line 3: field `.` is \"{\\\"txn"),
    ] {
        let broken = line(|line| line.replacen(from, to, 1));
        let error = read(&[HEADER, INITIAL, &broken]).expect_err("broken").to_string();
        assert!(error.starts_with(start), "{error}\nshould begin with {start}");
    }
}

#[test]
fn rules_that_are_broken() {
    for (from, to, message) in [
        (r#""txn":1"#, r#""txn":0"#, "`txn` is 0: expected a number that no line above has"),
        (r#""begin":0"#, r#""begin":3"#, "`commit` is 1: expected at least begin, 3"),
        (r#""committed""#, r#""aborted""#, "`commit` is 1: expected none, as it aborted"),
        (
            r#"[{"key":1,"version":0}]"#,
            r#"[{"key":3,"version":0}]"#,
            "`reads[0].key` is 3: expected a key that the first transaction writes",
        ),
        (
            r#""writes":[{"key":1"#,
            r#""writes":[{"key":"three""#,
            "`writes[0].key` is \"three\": expected a key that the first transaction writes",
        ),
        (
            r#""version":5"#,
            r#""version":0"#,
            "`writes[0].version` is 0: expected a version of key 1 that no write above has",
        ),
        (
            r#"[{"key":1,"version":0}]"#,
            r#"[{"key":1,"version":5}]"#,
            "`reads[0].version` is 5: expected a version that another transaction wrote",
        ),
        (
            r#"[{"key":1,"version":0}]"#,
            r#"[{"key":1,"version":0},{"key":1,"version":0}]"#,
            "`reads[1].key` is 1: expected reads that agree to be folded into one",
        ),
        (
            r#""reads""#,
            r#""wall":{"begin":5,"end":4},"reads""#,
            "`wall.end` is 4: expected at least 5, its begin",
        ),
        (
            r#""reads""#,
            r#""scans":[{"low":2,"high":1,"keys":[]}],"reads""#,
            "`scans[0].high` is 1: expected at least low, 2",
        ),
        (
            r#""reads""#,
            r#""scans":[{"index":"age","low":2,"high":3,"keys":[]}],"reads""#,
            "`scans[0].index` is \"age\": expected an index that some write names",
        ),
        (
            r#""reads""#,
            r#""scans":[{"low":1,"high":1,"keys":[{"key":1,"version":null}]}],"reads""#,
            "`scans[0].keys[0]` is 1: expected a version and no instead_of",
        ),
        (
            r#""reads""#,
            r#""scans":[{"low":1,"high":1,"keys":[],"own":[9]}],"reads""#,
            "`scans[0].own.key` is 9: expected a key that the first transaction writes",
        ),
    ] {
        refused_line(from, to, &format!("line 3: field {message}"));
    }
}

#[test]
fn rules_between_lines() {
    let second = |change: fn(String) -> String| {
        line(|line| change(line.replace(r#""txn":1"#, r#""txn":2"#).replace(":5", ":6")))
    };
    let first = line(|line| line.replace(r#""reads""#, r#""wall":{"begin":5,"end":9},"reads""#));
    refused(
        &[
            HEADER,
            INITIAL,
            &first,
            &second(|l| l.replace(r#""reads""#, r#""wall":{"begin":8,"end":10},"reads""#)),
        ],
        "line 4: field `wall.begin` is 8: expected at least 9, the end of session 1's last",
    );
    refused(
        &[HEADER, &INITIAL.replace(r#""begin":0,"commit":0"#, r#""begin":4,"commit":4"#), &first],
        "line 3: field `begin` is 0: expected at least 4, the commit of the first transaction",
    );
    refused(
        &[HEADER, &INITIAL.replace(r#""begin":0,"commit":0,"#, ""), &first],
        "line 3: field `begin` is 0: expected none, as the first transaction has no commit",
    );
}

#[test]
fn extensions_are_announced() {
    for (from, to, message) in [
        (r#""version":5"#, r#""version":5,"dead":true"#, "`writes[0].dead`|Dead"),
        (r#""version":5"#, r#""version":5,"order":1"#, "`writes[0].order`|Order"),
        (r#""version":5"#, r#""version":5,"indexed":{"age":1}"#, "`writes[0].indexed`|Scans"),
        (r#""version":0"#, r#""version":null"#, "`reads[0].version`|Dead"),
        (r#""reads""#, r#""scans":[{"low":1,"high":1,"keys":[]}],"reads""#, "`scans`|Scans"),
    ] {
        let changed = line(|line| line.replacen(from, to, 1));
        let (field, extension) = message.split_once('|').expect("two parts");
        read(&[EXTENDED, INITIAL, &changed]).expect("announced");
        refused(
            &[HEADER, INITIAL, &changed],
            &format!(
                "line 3: field {field} is used: expected {extension} among the header's extensions"
            ),
        );
    }
    assert!(Header::new(1, "").extensions.is_empty());
}
