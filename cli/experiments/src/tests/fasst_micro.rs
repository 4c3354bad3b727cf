// SPDX-License-Identifier: MIT OR Apache-2.0
use super::{Small, seeds};

works_under_seeds! {
    fig1_works_under_seeds: "fasst-fig1" at 0.05,
    fig2_works_under_seeds: "fasst-fig2" at 0.05,
    fig3_works_under_seeds: "fasst-fig3" at 0.05,
    fig4_works_under_seeds: "fasst-fig4" at 0.05,
    dct_works_under_seeds: "fasst-dct" at 0.05,
}

/// A number that an entry was taken from is marked, and one that was predicted is not.
#[test]
fn inputs_are_told_from_predictions() {
    let findings = Small::of("fasst-fig4", 0.05).findings(seeds(1, 1));
    let marked = |label: &str| {
        let row = findings.rows.iter().find(|row| row.label.starts_with(label)).expect(label);
        (row.paper.is_some(), row.fitted.iter().cloned().collect::<Vec<_>>())
    };
    let all_on = "connect-ib: + response batching";
    assert_eq!(marked(&format!("{all_on}, 11 ")), (true, vec!["cpu.rpc".to_owned()]));
    assert_eq!(marked(&format!("{all_on}, 3 ")), (true, Vec::new()));
}
