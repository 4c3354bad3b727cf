// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random cases on the unit itself.

use conformance::draw::{Profile, case_of};
use conformance::{ALL_PHASES, Coverage, check_seed, run};
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

#[test]
fn all_tags_may_be_in_use_at_once() {
    let seeds = seeds::of!(40);
    let (mut most_open, mut polls_from_copy) = (0, 0);
    for seed in &seeds {
        let case = case_of(Profile::AllTags, seed);
        match run(&case, TupleLockUnit::powered_up(seed)) {
            Ok(summary) => {
                most_open = most_open.max(summary.most_open);
                polls_from_copy += summary.coverage.polls_from_copy;
            }
            Err(mismatch) => panic!("seed {seed}\n{case}\n{mismatch}"),
        }
    }
    let count = seeds.count();
    println!(
        "{count} cases, at most {most_open} requests at once, {polls_from_copy} polls from a copy"
    );
    if seeds.is_whole() {
        assert!(polls_from_copy >= 500, "{polls_from_copy} polls from a copy, expected 500");
        assert!(most_open >= 120, "at most {most_open} requests were open at once, expected 120");
    }
}
