// SPDX-License-Identifier: MIT OR Apache-2.0
//! The unit against an adversary in the place of memory.

use conformance::{ALL_PHASES, Coverage, run_against_adversary};
use sim::models::TupleLockUnit;

#[test]
fn the_unit_and_its_oracle_agree_whatever_memory_answers() {
    let (seeds, mut coverage) = (seeds::of!(150), Coverage::default());
    for seed in &seeds {
        match run_against_adversary(seed, TupleLockUnit::powered_up(seed)) {
            Ok(summary) => coverage.merge(&summary.coverage),
            Err(mismatch) => panic!("seed {seed}\n{mismatch}"),
        }
    }
    println!("{} runs: {coverage}", seeds.count());
    if seeds.is_whole() {
        let Coverage { phases, failed_phases, words, .. } = coverage;
        assert_eq!((phases, failed_phases, words), (ALL_PHASES, ALL_PHASES, 0xFF));
        // Codes up to 9: refused as contended, too. The others ask for bad requests.
        assert!(coverage.responses[..10].iter().all(|&count| count > 0), "{coverage}");
    }
}
