// SPDX-License-Identifier: MIT OR Apache-2.0
//! The test suite of the look-ups finds every mutant.

use nic_lookup::mutants::MUTANTS as LIST;
use suites::subject::found;

use crate::dut::MUTANTS;
use crate::{directed, random};

/// Seeds of each test, at most.
const SEEDS: u64 = 60;

/// Runs the suite until something fails; says what, and with which seed.
fn run(mutant: u8) -> Option<String> {
    type Test = fn(u8, u64) -> Result<(), String>;
    let tests: [Test; 4] = [
        |mutant, seed| random::right(MUTANTS, mutant, seed).map(drop),
        |mutant, seed| random::failing(MUTANTS, mutant, seed).map(drop),
        |mutant, seed| random::spoiled(MUTANTS, mutant, seed).map(drop),
        |mutant, seed| directed::all(MUTANTS, mutant, seed),
    ];
    (0..SEEDS).find_map(|seed| {
        let what = tests.iter().find_map(|test| found(|| test(mutant, seed)))?;
        Some(format!("seed {seed}: {what}"))
    })
}

#[test]
fn every_mutant_is_found() {
    let mut missed = Vec::new();
    for (number, mutant) in (1..).zip(&LIST) {
        match run(number) {
            Some(what) => {
                let line = what.lines().next().unwrap_or_default();
                println!("{number} {}: {line:.150}", mutant.name);
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
        random::spoiled(MUTANTS, 0, seed).unwrap();
        directed::all(MUTANTS, 0, seed).unwrap();
    }
}
