use crate::lockstep_in;

#[test]
fn the_demo_runs_from_anywhere() {
    let elsewhere = tempfile::tempdir().expect("a folder");
    let text = lockstep_in(elsewhere.path(), ["demo"]).expect_success();
    for scenario in ["hot-row-storm", "ycsb-zipf", "pgbench-replay", "wall-clock"] {
        assert!(text.contains(&format!("(scenarios/{scenario}.toml)")), "{scenario}: {text}");
    }
    assert_eq!(text.matches("commits/s").count(), 4, "{text}");
    assert!(text.contains("Where to go next"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}
