//! The suite bites: it finds each deliberate fault of the sabotaged unit, and none in the unit.

use conformance::draw::Profile;
use conformance::{Mismatch, draw, run};
use sim::models::{Sabotage, SabotagedTupleLockUnit};

/// How many faults the unit has.
const FAULTS: u8 = 31;

/// Cases within which a fault must be found.
const MOST_CASES: u64 = 2_000;

fn sabotaged(fault: u8, seed: u64) -> SabotagedTupleLockUnit {
    let mut unit = SabotagedTupleLockUnit::powered_up(seed);
    unit.set_fault(fault);
    unit
}

/// The table of faults in `docs/lock-unit.md`: number and what is wrong.
fn faults() -> Vec<(u8, &'static str)> {
    let document = include_str!("../../../docs/lock-unit.md");
    let (_, table) = document.split_once("| `fault_i` |").expect("the document lists the faults");
    let row = |line: &'static str| {
        let mut cells = line.split('|').map(str::trim).skip(1);
        Some((cells.next()?.parse().ok()?, cells.next()?))
    };
    let faults: Vec<_> = table.lines().filter_map(row).collect();
    let numbers: Vec<_> = faults.iter().map(|&(number, _)| number).collect();
    assert_eq!(numbers, (1..=FAULTS).collect::<Vec<_>>(), "faults in docs/lock-unit.md");
    faults
}

/// How the case of a seed fails.
fn check(fault: u8, seed: u64) -> Result<(), Mismatch> {
    let case = draw::case(seed);
    run(&case, sabotaged(fault, case.seed)).map(drop)
}

/// The first of the cases that fails, and how.
fn find(fault: u8) -> Option<(u64, Mismatch)> {
    (0..MOST_CASES).find_map(|seed| Some((seed, check(fault, seed).err()?)))
}

#[test]
fn every_fault_is_found() {
    let mut missed = Vec::new();
    println!("| fault | what is wrong | cases | profile | found by |\n|---|---|---|---|---|");
    for (fault, what) in faults() {
        match find(fault) {
            Some((seed, mismatch)) => {
                let (cases, profile) = (seed + 1, Profile::of_seed(seed));
                println!("| {fault} | {what} | {cases} | {profile} | {} |", mismatch.property);
            }
            None => {
                println!("| {fault} | {what} | {MOST_CASES} | | nothing |");
                missed.push(fault);
            }
        }
    }
    assert!(missed.is_empty(), "faults that no case finds: {missed:?}");
}

#[test]
fn without_a_fault_the_sabotaged_unit_passes_the_same_cases() {
    seeds::each!(200, |seed| check(0, seed));
}
