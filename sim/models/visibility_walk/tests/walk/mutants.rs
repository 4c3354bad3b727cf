// SPDX-License-Identifier: MIT OR Apache-2.0
//! The test suite of the walk finds every mutant.

use suites::subject::{found, set_mutant};
use visibility_walk::mutants::MUTANTS;

use crate::random;

/// Seeds of each test, at most.
const SEEDS: u64 = 100;
/// Those that have found something before go first.
const FIRST: [u64; 12] = [0, 1, 10, 17, 9, 26, 31, 21, 39, 74, 4, 2];

/// What the suite says of the walk, if anything.
fn noticed() -> Option<String> {
    FIRST.into_iter().chain(0..SEEDS).find_map(|seed| {
        [random::damaged, random::in_order, random::failing_later]
            .iter()
            .find_map(|test| found(|| test(seed)).map(|what| format!("seed {seed}: {what}")))
    })
}

#[test]
fn every_mutant_is_found() {
    let missed: Vec<&str> = (1..)
        .zip(&MUTANTS)
        .filter_map(|(number, mutant)| {
            set_mutant(number);
            match noticed() {
                Some(what) => {
                    println!("{}: {what:.150}", mutant.name);
                    None
                }
                None => Some(mutant.name),
            }
        })
        .collect();
    assert!(missed.is_empty(), "not found: {missed:?}");
}

#[test]
fn without_a_mutant_nothing_is_found() {
    set_mutant(0);
    for seed in 0..3 {
        random::damaged(seed).unwrap();
        random::in_order(seed).unwrap();
    }
}
