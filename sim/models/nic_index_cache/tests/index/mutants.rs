// SPDX-License-Identifier: MIT OR Apache-2.0
//! The test suite of the index finds every mutant.

use nic_index_cache::mutants::MUTANTS as LIST;
use suites::subject::found;

use crate::dut::MUTANTS;
use crate::random;

/// Seeds of each test, at most.
const SEEDS: u64 = 60;

/// Runs the suite until something fails; says what, and with which seed.
fn run(mutant: u8) -> Option<String> {
    (0..SEEDS).find_map(|seed| {
        [random::right, random::failing, random::resets].into_iter().find_map(|test| {
            found(|| test(MUTANTS, mutant, seed).map(drop))
                .map(|what| format!("seed {seed}: {what}"))
        })
    })
}

#[test]
fn every_mutant_is_found() {
    let mut missed = Vec::new();
    for (number, mutant) in (1..).zip(&LIST) {
        match run(number) {
            Some(what) => {
                println!(
                    "{number} {}: {:.150}",
                    mutant.name,
                    what.lines().next().unwrap_or_default()
                );
            }
            None => missed.push(mutant.name),
        }
    }
    assert!(missed.is_empty(), "not found: {missed:#?}");
}

#[test]
fn without_a_mutant_nothing_is_found() {
    for seed in 0..3 {
        random::right(MUTANTS, 0, seed).unwrap();
        random::failing(MUTANTS, 0, seed).unwrap();
        random::resets(MUTANTS, 0, seed).unwrap();
    }
}
