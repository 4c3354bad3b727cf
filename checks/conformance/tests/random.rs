//! Random cases on the unit itself.

use conformance::{ALL_PHASES, Coverage, check_seed, seeds};
use driver::lock_unit::stream::Code;
use sim::models::TupleLockUnit;

/// Enough cases to bring about everything.
const CASES: u64 = 2_000;

#[test]
fn the_unit_and_its_oracle_agree() {
    let seeds = seeds(CASES);
    let (mut cycles, mut requests, mut accesses) = (0, 0, 0);
    let mut coverage = Coverage::default();
    for seed in seeds.clone() {
        let command =
            format!("LOCKSTEP_SEED={seed} cargo test -p lockstep-conformance --test random");
        match check_seed(seed, &command, TupleLockUnit::powered_up) {
            Ok(summary) => {
                cycles += summary.cycles;
                requests += summary.requests;
                accesses += summary.accesses;
                coverage.merge(&summary.coverage);
            }
            Err(failure) => panic!("{failure}"),
        }
    }
    let count = seeds.count() as u64;
    println!("{count} cases, {cycles} cycles, {requests} requests, {accesses} accesses");
    println!("{coverage}");
    if count >= CASES {
        let Coverage { phases, failed_phases, words, responses, polls_from_copy } = coverage;
        assert!(polls_from_copy > 0, "no poll was answered from a copy");
        assert_eq!((phases, failed_phases, words), (ALL_PHASES, ALL_PHASES, 0xFF));
        // 255 rounds need an adversary: tests/adversary.rs.
        let missed =
            |&(code, &count): &(usize, &u64)| count == 0 && code != Code::RefusedContended as usize;
        assert_eq!(responses.iter().enumerate().find(missed), None, "no response has this code");
    }
}
