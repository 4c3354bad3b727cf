// SPDX-License-Identifier: MIT OR Apache-2.0
//! The test suite of the look-ups finds every mutant.

use nic_lookup::mutants::MUTANTS as LIST;
use suites::subject::{found, mutant_of_case};

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

/// A case is a mutant, since all take more than a minute: LOCKSTEP_CASES=1000 has each of them once.
#[test]
fn mutants_are_found() {
    seeds::each!(12, |seed| {
        let Some(index) = mutant_of_case(LIST.len(), seed) else { return Ok(()) };
        let name = LIST[index].name;
        let what = run(index as u8 + 1).ok_or_else(|| format!("not found: {name}"))?;
        println!("{name}: {:.150}", what.lines().next().unwrap_or_default());
        Ok::<_, String>(())
    });
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
