// SPDX-License-Identifier: MIT OR Apache-2.0
//! The suite finds each mutant of the unit, and no error in the unit without one.

use conformance::draw::Profile;
use conformance::{MismatchError, draw, run};
use tuple_lock_unit::mutants::Model as TupleLockUnitMutants;

/// How many mutants the unit has.
const MUTANTS: u8 = 31;

/// Cases within which a mutant must be found.
const MOST_CASES: u64 = 2_000;

fn unit(mutant: u8, seed: u64) -> TupleLockUnitMutants {
    let mut unit = TupleLockUnitMutants::powered_up(seed);
    unit.core_mut().set_mutant(mutant);
    unit
}

/// The table of mutants in `docs/lock-unit.md`: number and what is wrong.
fn mutants() -> Vec<(u8, &'static str)> {
    let document = include_str!("../../../../docs/lock-unit.md");
    let (_, table) = document.split_once("| `fault_i` |").expect("the document lists the mutants");
    let row = |line: &'static str| {
        let mut cells = line.split('|').map(str::trim).skip(1);
        Some((cells.next()?.parse().ok()?, cells.next()?))
    };
    let mutants: Vec<_> = table.lines().filter_map(row).collect();
    let numbers: Vec<_> = mutants.iter().map(|&(number, _)| number).collect();
    assert_eq!(numbers, (1..=MUTANTS).collect::<Vec<_>>(), "mutants in docs/lock-unit.md");
    mutants
}

/// How the case of a seed fails.
fn check(mutant: u8, seed: u64) -> Result<(), MismatchError> {
    let case = draw::case(seed);
    run(&case, unit(mutant, case.seed)).map(drop)
}

/// The first of the cases that fails, and how.
fn find(mutant: u8) -> Option<(u64, MismatchError)> {
    (0..MOST_CASES).find_map(|seed| Some((seed, check(mutant, seed).err()?)))
}

#[test]
fn every_mutant_is_found() {
    let mut missed = Vec::new();
    println!("| mutant | what is wrong | cases | profile | found by |\n|---|---|---|---|---|");
    for (mutant, what) in mutants() {
        match find(mutant) {
            Some((seed, mismatch)) => {
                let (cases, profile) = (seed + 1, Profile::of_seed(seed));
                println!("| {mutant} | {what} | {cases} | {profile} | {} |", mismatch.property);
            }
            None => {
                println!("| {mutant} | {what} | {MOST_CASES} | | nothing |");
                missed.push(mutant);
            }
        }
    }
    assert!(missed.is_empty(), "mutants that no case finds: {missed:?}");
}

#[test]
fn without_a_mutant_the_model_passes_the_same_cases() {
    seeds::each!(200, |seed| check(0, seed));
}
