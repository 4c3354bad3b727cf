// SPDX-License-Identifier: MIT OR Apache-2.0
//! Properties of every experiment in virtual time.

use std::collections::BTreeSet;

use timing::platform::Platform;

use super::{Small, seeds};
use crate::findings::Paper;
use crate::{Clock, Experiment, Findings, Record, Seeds, files};

/// Experiments that draw nothing, or nothing that matters: transfers of one device alone hardly depend on
/// where they go, and requests of a lone core not on whom they are for.
const DRAW_LITTLE: [&str; 8] = [
    "ccslt-fig5",
    "xenic-rpc",
    "xenic-fig2",
    "xenic-fig3",
    "xenic-fig4",
    "drtm-fig10a",
    "drtm-atomics",
    "switchtx-roundtrip",
];

/// Measures under two seeds, under one of them alone, and with fitted entries moved.
pub fn under_seeds(small: Small) {
    let experiment = small.experiment;
    assert_eq!(experiment.clock, Clock::Virtual);
    let findings = small.findings(seeds(5, 2));
    every_row_is_whole(&findings, 2);
    the_papers_values_are_those_registered(experiment, &findings);
    the_record_has_all_rows(experiment, seeds(5, 2), &findings);
    let differs = findings.rows.iter().any(|row| row.measured.min < row.measured.max);
    assert!(differs || DRAW_LITTLE.contains(&experiment.name));
    let on_threads = |threads| small.with(seeds(6, 1), |setting| setting.threads = threads);
    let alone = on_threads(1);
    one_seed_is_part_of(&findings, &alone);
    let moved = small.with(seeds(6, 1), |setting| setting.fitted = 1.3);
    let fitted = no_row_forgets_that_it_is_fitted(&alone, &moved);
    // The fitted entries of clusters were fitted to micro-benchmarks of the same paper, and stay.
    let is_moved = |name: &&str| Platform::NAMES.contains(name);
    let is_of_cluster = experiment.platforms.contains(&"xenic-cx5")
        || ["xenic-index-cache", "xenic-rtl", "xenic-tpcc-50g"].contains(&experiment.name);
    let is_moved = experiment.platforms.iter().any(is_moved)
        && experiment.name != "xenic-fig4"
        && !is_of_cluster;
    assert_eq!(fitted > 0, is_moved, "rows that rest on fitted entries: {fitted}");
    let bytes = |findings| written(experiment, seeds(6, 1), findings);
    assert!(bytes(&alone) == bytes(&on_threads(2)), "two threads give other bytes than one");
}

/// Contents of all files.
fn written(experiment: &Experiment, seeds: Seeds, findings: &Findings) -> Vec<(String, String)> {
    files(experiment, findings, &Record::new(experiment, seeds, findings, None))
}

fn the_papers_values_are_those_registered(experiment: &Experiment, findings: &Findings) {
    // The same value can be asked to be met more narrowly by one row than by another.
    let same = |one: &Paper, other: &Paper| {
        (one.low, one.high, one.place) == (other.low, other.high, other.place)
    };
    let papers = || findings.rows.iter().filter_map(|row| row.paper.as_ref());
    for paper in papers() {
        assert!(experiment.paper.iter().any(|of| same(of, paper)), "not registered: {paper:?}");
    }
    for paper in experiment.paper {
        assert!(papers().any(|of| same(of, paper)), "beside no row: {paper:?}");
    }
    assert_eq!(findings.platforms, experiment.platforms);
}

/// Each row once, under its name and in its order, with as many values as seeds.
fn the_record_has_all_rows(experiment: &Experiment, seeds: Seeds, findings: &Findings) {
    let json = Record::new(experiment, seeds, findings, None).text();
    let record: serde_json::Value = serde_json::from_str(&json).expect("well formed");
    assert_eq!(record["experiment"], experiment.name);
    let rows = record["rows"].as_array().expect("rows");
    let label = |row: &serde_json::Value| row["label"].as_str().expect("a text").to_owned();
    let labels: Vec<String> = rows.iter().map(label).collect();
    let expected: Vec<&str> = findings.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, expected);
    let different: BTreeSet<&String> = labels.iter().collect();
    assert_eq!(different.len(), labels.len(), "a label stands twice: {labels:?}");
    for row in rows {
        assert_eq!(row["values"].as_array().map(Vec::len), Some(seeds.count as usize), "{row}");
        assert_eq!(row["paper"].is_null(), row["ratio"].is_null(), "{row}");
    }
}

fn every_row_is_whole(findings: &Findings, seeds: usize) {
    for row in &findings.rows {
        // A host that is home to the table needs no link, of all insertions none may be what is counted, and rows that
        // are cached need no read.
        let least = row.measured.min;
        let possible = least > 0.0 || ["B/lock", "%", "reads"].contains(&row.unit) && least == 0.0;
        assert!(row.measured.max.is_finite() && possible, "{row:?}");
        assert_eq!(row.measured.seeds, seeds, "{row:?}");
    }
    assert!(!findings.rows.is_empty() && !findings.claims.is_empty());
}

/// What a seed gives alone it gives beside another, too.
fn one_seed_is_part_of(findings: &Findings, alone: &Findings) {
    assert_eq!(findings.rows.len(), alone.rows.len());
    for (row, alone) in findings.rows.iter().zip(&alone.rows) {
        let (ends, value) = (row.measured, alone.measured.median);
        assert_eq!(row.label, alone.label);
        assert!([ends.min, ends.max].contains(&value), "{row:?}: {value}");
    }
}

/// However an experiment makes its rows: what does not say that it rests on a fitted entry is the
/// same with all of them moved. How many rows are not the same is returned.
fn no_row_forgets_that_it_is_fitted(findings: &Findings, moved: &Findings) -> usize {
    let mut differ = 0;
    for (row, moved) in findings.rows.iter().zip(&moved.rows) {
        assert_eq!(row.label, moved.label);
        let same = row.measured == moved.measured;
        assert!(same || !row.fitted.is_empty(), "{row:?}, and moved {moved:?}");
        differ += usize::from(!same);
    }
    differ
}
