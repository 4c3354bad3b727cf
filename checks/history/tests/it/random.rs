// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random histories: valid ones pass, changed ones are found exactly when the change matters.
//!
//! For tiny histories an oracle decides by trying every order of events.

use crate::common::{Model, mutate, oracle};
use history::{History, Level, Options};

/// The levels that a case draws from.
fn levels(seed: u64) -> Vec<Level> {
    use Level::{ReadCommitted, Serializable, Snapshot};
    match seed % 4 {
        0 => vec![Serializable],
        1 => vec![Snapshot],
        2 => vec![ReadCommitted],
        _ => vec![ReadCommitted, Snapshot, Serializable],
    }
}

#[test]
fn valid_histories_pass() {
    for seed in seeds::of!(300) {
        let model = Model { transactions: 200, keys: 20, levels: levels(seed), ..Model::default() };
        let history = model.run(seed);
        let report = history.check(&Options::default());
        assert!(report.is_clean(), "{report}");
        assert!(report.is_complete() && report.committed() > 50, "{report}");
    }
}

#[test]
fn valid_histories_pass_without_points() {
    for seed in seeds::of!(300) {
        let model = Model { transactions: 200, keys: 20, levels: levels(seed), ..Model::default() };
        let history = without_points(model.run(seed));
        let report = history.check(&Options::default());
        assert!(report.is_clean(), "{report}");
    }
}

/// Every read of a SNAPSHOT history with a changed version breaks the snapshot rule.
#[test]
fn changed_reads_of_snapshots_are_found() {
    for seed in seeds::of!(300) {
        let levels = vec![Level::Snapshot];
        let model = Model { transactions: 200, keys: 20, levels, scans: false, ..Model::default() };
        let Some(changed) = mutate::read(model.run(seed), seed) else { continue };
        let report = changed.check(&Options::default());
        assert!(!report.is_clean());
    }
}

#[test]
fn with_points_the_oracle_agrees() {
    let (seeds, mut verdicts) = (seeds::of!(6000), [0_u32; 2]);
    for seed in &seeds {
        let model = Model { transactions: 4, keys: 2, levels: levels(seed), ..Model::default() };
        let mut history = model.run(seed);
        for change in 0..seed % 3 {
            history = mutate::any(history, seed ^ change);
        }
        let right = oracle::with_points(&history);
        let report = history.check(&Options::default());
        assert_eq!(report.is_clean(), right, "{report}\n{}", lines(&history));
        verdicts[usize::from(right)] += 1;
    }
    println!("{verdicts:?} of them wrong and right");
    assert!(!seeds.is_whole() || verdicts.iter().all(|count| *count > 150));
}

#[test]
fn without_points_the_oracle_agrees() {
    let (seeds, mut verdicts) = (seeds::of!(6000), [0_u32; 2]);
    for seed in &seeds {
        // Of versions that nobody read before they overwrote them, the order is not known.
        let model = Model {
            transactions: 4,
            keys: 3,
            levels: levels(seed),
            blind: seed % 8 > 5,
            lax_writers: seed % 16 > 9,
            scans: false,
        };
        let mut history = model.run(seed);
        for change in 0..seed % 3 {
            history = mutate::any(history, seed ^ change);
        }
        let history = without_points(history);
        let right = oracle::without_points(&history);
        let report =
            history.check(&Options { monotonic_reads: false, ..Options::default().untimed() });
        let message = || format!("{report}\n{}", lines(&history));
        assert!(report.is_clean() || !right, "false alarm: {}", message());
        if crate::common::every_writer_read_before(&history) {
            assert_eq!(report.is_clean(), right, "{}", message());
            verdicts[usize::from(right)] += 1;
        }
    }
    println!("{verdicts:?} of them wrong and right");
    assert!(!seeds.is_whole() || verdicts.iter().all(|count| *count > 150));
}

/// The size that a run of the store has; the test prints how long it took.
#[test]
fn a_hundred_thousand_transactions() {
    let levels = levels(3);
    let model =
        Model { transactions: 100_000, keys: 10_000, levels, scans: false, ..Model::default() };
    let history = model.run(1);
    let started = std::time::Instant::now();
    let report = history.check(&Options::default());
    println!("{} transactions in {:?}", report.committed(), started.elapsed());
    report.expect_clean();
    let changed = mutate::read(history, 1).expect("there are reads");
    let started = std::time::Instant::now();
    let report = changed.check(&Options::default());
    println!("and with one read changed in {:?}", started.elapsed());
    assert!(!report.is_clean());
}

fn lines(history: &History) -> String {
    let mut file = Vec::new();
    history.write(&mut file).expect("memory is enough");
    String::from_utf8(file).expect("JSON is UTF-8")
}

fn without_points(history: History) -> History {
    let (header, mut transactions) = history.into_parts();
    for transaction in &mut transactions {
        (transaction.begin, transaction.commit) = (None, None);
    }
    History::new(header, transactions).expect("points are optional")
}
