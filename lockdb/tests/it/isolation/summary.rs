// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tables of `docs/store-isolation.md`, made from the scenarios.

use std::fmt::Write;
use std::path::Path;

use crate::isolation::script::Script;
use crate::isolation::{anomalies, postgres};

/// What PostgreSQL prevents, as the Hermitage suite found it (M. Kleppmann,
/// <https://github.com/ept/hermitage>, its summary of test results): at READ COMMITTED, REPEATABLE
/// READ and SERIALIZABLE.
const POSTGRES: [(&str, [bool; 3]); 10] = [
    ("G0", [true, true, true]),
    ("G1a", [true, true, true]),
    ("G1b", [true, true, true]),
    ("G1c", [true, true, true]),
    ("OTV", [true, true, true]),
    ("PMP", [false, true, true]),
    ("P4", [false, true, true]),
    ("G-single", [false, true, true]),
    ("G2-item", [false, false, true]),
    ("G2", [false, false, true]),
];

const LEVELS: [&str; 3] = ["READ COMMITTED", "SNAPSHOT", "SERIALIZABLE"];

/// Of an anomaly at each level: whether all its scenarios prevent it.
fn prevented(anomaly: &str) -> [bool; 3] {
    let scenarios = anomalies::ALL.iter().filter(|scenario| scenario.title == anomaly);
    let scripts: Vec<Script> = scenarios.map(Script::new).collect();
    assert!(!scripts.is_empty(), "{anomaly} has scenarios");
    std::array::from_fn(|level| {
        let admits = |script: &Script| {
            assert_eq!(script.columns, LEVELS, "{anomaly}");
            script.admits(level)
        };
        let admitting = scripts.iter().filter(|&script| admits(script)).count();
        let all_or_none = [0, scripts.len()].contains(&admitting);
        assert!(all_or_none, "{anomaly}: scenarios that disagree at {}", LEVELS[level]);
        admitting == 0
    })
}

/// Each anomaly is admitted where PostgreSQL admits it, and prevented where that prevents it.
#[test]
fn the_levels_admit_what_those_of_postgresql_do() {
    for (anomaly, theirs) in POSTGRES {
        assert_eq!(prevented(anomaly), theirs, "{anomaly}");
    }
}

fn table_of_anomalies() -> String {
    let word = |prevented| if prevented { "prevented" } else { "**admitted**" };
    let mut table = String::from(
        "| anomaly | READ COMMITTED | SNAPSHOT | SERIALIZABLE | PostgreSQL | scenarios |\n\
         |---|---|---|---|---|---|\n",
    );
    for (anomaly, theirs) in POSTGRES {
        let ours = prevented(anomaly);
        let [committed, snapshot, serializable] = ours.map(word);
        let same = if ours == theirs { "the same" } else { "other" };
        let of = |scenario: &&crate::isolation::script::Scenario| scenario.title == anomaly;
        let names = anomalies::ALL.iter().filter(of).map(|scenario| format!("`{}`", scenario.name));
        let names: Vec<String> = names.collect();
        let names = names.join(", ");
        writeln!(
            table,
            "| {anomaly} | {committed} | {snapshot} | {serializable} | {same} | {names} |"
        )
        .expect("a write to a string succeeds");
    }
    table
}

fn table_of_row_locks() -> String {
    let mut table = String::from(
        "| PostgreSQL's specification | scenario | outcome |\n\
         |---|---|---|\n",
    );
    for scenario in postgres::all().filter(|scenario| !Script::new(scenario).compared().is_empty())
    {
        let outcome = match scenario.stricter {
            None => "the same".into(),
            Some(why) => why.split_whitespace().collect::<Vec<_>>().join(" "),
        };
        writeln!(table, "| {} | `{}` | {outcome} |", scenario.title, scenario.name)
            .expect("a write to a string succeeds");
    }
    table
}

/// The document says what the scenarios show. `LOCKSTEP_WRITE_DOCS=1` makes it so.
#[test]
fn the_document_shows_these_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/store-isolation.md");
    let document = std::fs::read_to_string(&path).expect("the document is there");
    let mut expected = document.clone();
    for (name, table) in [("anomalies", table_of_anomalies()), ("row locks", table_of_row_locks())]
    {
        let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->\n"));
        let start = expected.find(&begin).expect("the document has the place") + begin.len();
        let stop = start + expected[start..].find(&end).expect("and its end");
        expected.replace_range(start..stop, &format!("\n{table}\n"));
    }
    if document != expected && std::env::var_os("LOCKSTEP_WRITE_DOCS").is_some() {
        std::fs::write(&path, &expected).expect("the document can be written");
        return;
    }
    assert!(
        document == expected,
        "docs/store-isolation.md has other tables; write them with: LOCKSTEP_WRITE_DOCS=1 cargo \
         test -p lockdb --test it the_document_shows_these_tables"
    );
}
