// SPDX-License-Identifier: MIT OR Apache-2.0
//! The test suite of the walk finds every mutant.

use suites::subject::{finds_case, found, set_mutant};
use visibility_walk::mutants::MUTANTS;

use crate::random;

/// Seeds of each test, at most.
const SEEDS: u64 = 100;
/// Those that have found something before go first.
const FIRST: [u64; 13] = [0, 1, 10, 17, 14, 9, 26, 31, 21, 39, 74, 4, 2];

/// Runs the suite until something fails; says what, and with which seed.
fn run() -> Result<(), String> {
    for seed in FIRST.into_iter().chain(0..SEEDS) {
        for test in [
            random::damaged,
            random::in_order,
            random::failing_later,
            random::crowded_pages,
            random::broken_chunks,
            random::ends_of_lines,
        ] {
            found(|| test(seed)).map_or(Ok(()), |what| Err(format!("seed {seed}: {what}")))?;
        }
    }
    Ok(())
}

/// A case is a mutant, since all take long: LOCKSTEP_CASES=1000 has each of them once.
#[test]
fn mutants_are_found() {
    seeds::each!(12, |seed| finds_case(&MUTANTS, seed, run));
}

#[test]
fn without_a_mutant_nothing_is_found() {
    set_mutant(0);
    for seed in 0..3 {
        random::damaged(seed).unwrap();
        random::in_order(seed).unwrap();
        random::broken_chunks(seed).unwrap();
        random::ends_of_lines(seed).unwrap();
    }
}
