// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a sweep reports is a matter of its points alone.

use cluster_sim::run::{Draft, Flags, RunError, Settings, sweep};

const POINTS: &str = r#"
name = "small"
protocol = "fasst"
platform = "connectx3"
nodes = 3
threads = 1
replicas = 2
warm_up_us = 20
duration_us = 100

[workload.object-store]
reads = 2
writes = 1
keys_per_thread = 1_000
"#;

fn points() -> Vec<Settings> {
    let point = |workers| {
        let flags = Flags { workers: Some(workers), ..Flags::default() };
        let draft = Draft::parse("small.toml", POINTS).and_then(|draft| draft.with_flags(flags));
        Settings::check(&draft.expect("a draft")).expect("possible")
    };
    // The longest first, so that two threads end them in another order than one.
    [12, 1, 7, 2, 3].map(point).into()
}

/// The bytes of all reports, and the last that was told of the progress.
fn swept(jobs: usize) -> Result<(Vec<u8>, (f64, usize)), RunError> {
    let mut last = (0.0, 0);
    let reports = sweep(&points(), jobs, &|| false, &mut |part, points| last = (part, points))?;
    let bytes = serde_json::to_vec(&reports).expect("reports can be written");
    Ok((bytes, last))
}

#[test]
fn reports_do_not_depend_on_the_number_of_threads() {
    let (alone, told) = swept(1).expect("a sweep");
    assert_eq!(told, (1.0, 5));
    assert!(alone.len() > 1_000, "{}", String::from_utf8_lossy(&alone));
    for jobs in [2, 5, 64] {
        let (bytes, told) = swept(jobs).expect("a sweep");
        assert!(bytes == alone, "{jobs} threads");
        assert_eq!(told, (1.0, 5), "{jobs} threads");
    }
}
