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

/// A case is a mutant, since all take more than a minute: `LOCKSTEP_CASES=46` are all.
#[test]
fn mutants_are_found() {
    let count = LIST.len() as u64;
    seeds::each!(12, |seed| {
        // Coprime with their number, so that some of each file are among the first.
        let place = (seed * 7 % count) as usize;
        let mutant = &LIST[place];
        let what = run(place as u8 + 1).ok_or_else(|| format!("{} is not found", mutant.name))?;
        println!("{}: {:.150}", mutant.name, what.lines().next().unwrap_or_default());
        Ok::<_, String>(())
    });
}

#[test]
fn each_mutant_is_a_case() {
    let count = LIST.len() as u64;
    let places: std::collections::BTreeSet<u64> = (0..count).map(|seed| seed * 7 % count).collect();
    assert_eq!(places.len() as u64, count, "{count} is a multiple of 7");
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
