// SPDX-License-Identifier: MIT OR Apache-2.0
//! The test suite of the vectorizer finds every mutant.

use dma_vectorizer::mutants::MUTANTS;
use suites::subject::{finds_case, found, set_mutant};

use crate::{random, registers};

/// Seeds of each test, at most.
const SEEDS: u64 = 40;

/// Runs the suite until something fails; says what, and with which seed.
fn run() -> Result<(), String> {
    for test in [
        registers::after_a_reset,
        registers::those_of_the_map,
        registers::settings_hold,
        registers::a_vector_waits_long,
    ] {
        let test = || {
            test();
            Ok(())
        };
        found(test).map_or(Ok(()), Err)?;
    }
    for seed in 0..SEEDS {
        for test in [
            random::with_errors,
            random::in_order,
            random::short,
            random::two_pieces,
            random::after_resets,
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
    for seed in 0..2 {
        random::with_errors(seed).unwrap();
        random::in_order(seed).unwrap();
    }
}
