// SPDX-License-Identifier: MIT OR Apache-2.0
use super::{Small, seeds};

works_under_seeds! {
    fig1_works_under_seeds: "fasst-fig1" at 0.02,
    fig2_works_under_seeds: "fasst-fig2" at 0.02,
    fig3_works_under_seeds: "fasst-fig3" at 0.02,
    fig4_works_under_seeds: "fasst-fig4" at 0.02,
    dct_works_under_seeds: "fasst-dct" at 0.02,
    fig7_works_under_seeds: "fasst-fig7" at 0.02,
    fig8_works_under_seeds: "fasst-fig8" at 0.02,
    fig9_works_under_seeds: "fasst-fig9" at 0.02,
    fig10_works_under_seeds: "fasst-fig10" at 0.02,
    availability_works_under_seeds: "fasst-availability" at 0.02,
}

/// What the protocol sends is what its description counts, also on a small cluster.
#[test]
fn messages_are_those_counted_by_hand() {
    let findings = Small::of("fasst-fig7", 0.02).findings(seeds(1, 1));
    let number = |label: &str| {
        let row = findings.rows.iter().find(|row| row.label == label).expect(label);
        row.measured.median
    };
    for store in ["O(1,0)", "O(4,0)"] {
        let point = format!("{store} on CIB, 11 machines, 19 workers");
        let [sent, by_hand] = [": messages", ": messages counted by hand"]
            .map(|what| number(&format!("{point}{what}")));
        assert!((sent / by_hand - 1.0).abs() < 0.1, "{point}: {sent}, by hand {by_hand}");
    }
}
