// SPDX-License-Identifier: MIT OR Apache-2.0
//! The test suite of the scanner finds every mutant.

use probe_scan::mutants::MUTANTS;
use suites::subject::found;

use crate::dut::{SLOTS_32, SLOTS_128};
use crate::random;

/// Seeds of each scanner, at most.
const SEEDS: u64 = 40;

/// Runs the suite until something fails; says what, and with which seed.
fn run(mutant: u8) -> Option<String> {
    for seed in 0..SEEDS {
        for (name, subject) in [("32 bytes", SLOTS_32), ("128 bytes", SLOTS_128)] {
            for test in [random::run, random::after_resets] {
                let what = found(|| test(subject, seed, mutant).map(drop));
                if let Some(what) = what {
                    return Some(format!("slots of {name}, seed {seed}: {what}"));
                }
            }
        }
    }
    None
}

#[test]
fn every_mutant_is_found() {
    let mut missed = Vec::new();
    for (number, mutant) in (1..).zip(&MUTANTS) {
        match run(number) {
            Some(what) => println!("{number} {}: {what:.150}", mutant.name),
            None => missed.push(mutant.name),
        }
    }
    assert!(missed.is_empty(), "not found: {missed:#?}");
}

#[test]
fn without_a_mutant_nothing_is_found() {
    assert_eq!(run(0), None);
}
