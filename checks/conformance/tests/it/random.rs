// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random cases on the unit itself.

use conformance::{ALL_PHASES, Coverage, check_seed};
use driver::lock_unit::stream::Code;
use sim::models::TupleLockUnit;

#[test]
fn the_unit_and_its_oracle_agree() {
    // Enough cases to bring about everything.
    let seeds = seeds::of!(2_000);
    let (mut cycles, mut requests, mut accesses) = (0, 0, 0);
    let mut coverage = Coverage::default();
    for seed in &seeds {
        match check_seed(seed, TupleLockUnit::powered_up) {
            Ok(summary) => {
                cycles += summary.cycles;
                requests += summary.requests;
                accesses += summary.accesses;
                coverage.merge(&summary.coverage);
            }
            Err(failure) => panic!("{failure}"),
        }
    }
    let count = seeds.count();
    println!("{count} cases, {cycles} cycles, {requests} requests, {accesses} accesses");
    println!("{coverage}");
    if seeds.is_whole() {
        let Coverage { phases, failed_phases, words, responses, polls_from_copy } = coverage;
        assert!(polls_from_copy > 0, "no poll was answered from a copy");
        assert_eq!((phases, failed_phases, words), (ALL_PHASES, ALL_PHASES, 0xFF));
        // 255 rounds need an adversary: adversary.rs.
        let missed =
            |&(code, &count): &(usize, &u64)| count == 0 && code != Code::RefusedContended as usize;
        assert_eq!(responses.iter().enumerate().find(missed), None, "no response has this code");
    }
}
