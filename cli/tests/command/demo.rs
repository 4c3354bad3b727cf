// SPDX-License-Identifier: MIT OR Apache-2.0
use std::fs;

use crate::command;

#[test]
fn the_demo_runs_from_anywhere() {
    let elsewhere = tempfile::tempdir().expect("a folder");
    let output = command(elsewhere.path(), ["demo"])
        .env("TMPDIR", elsewhere.path())
        .output()
        .expect("the command starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    for scenario in ["hot-row-storm", "ycsb-zipf", "pgbench-replay", "wall-clock"] {
        assert!(text.contains(&format!("(scenarios/{scenario}.toml)")), "{scenario}: {text}");
    }
    assert_eq!(text.matches("commits/s").count(), 4, "{text}");
    assert!(text.contains("Where to go next"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let left = fs::read_dir(elsewhere.path()).expect("listed").count();
    assert_eq!(left, 0, "the store of the demo is removed");

    // The update beside the data moves a fraction of what the host would have pulled, and says so.
    let (_, update) = text.split_once("\n5. An update beside the data").expect("a fifth part");
    let update = update.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(update.contains("14 of 20,000 rows changed, with "), "{update}");
    let (_, gain) = update.split_once(": ").expect("a ratio");
    let gain: u64 = gain.split(' ').next().and_then(|gain| gain.parse().ok()).expect("a number");
    assert!(gain >= 10, "{update}");
}
