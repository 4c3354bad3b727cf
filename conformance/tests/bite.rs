//! The suite bites: it finds each deliberate fault of the sabotaged unit, and none in the unit.

use std::ops::Range;

use conformance::{Mismatch, draw, run, seeds};
use sim::models::{Sabotage, SabotagedTupleLockUnit};

/// The faults of `docs/lock-unit.md`.
const FAULTS: [(u8, &str); 31] = [
    (1, "the hash shifts the version by 6 instead of 5"),
    (2, "the mask of the bucket is one bit short"),
    (3, "the bucket's number is shifted once too often"),
    (4, "beats are ignored"),
    (5, "a beat between AR and its R is lost"),
    (6, "errors on B are dropped"),
    (7, "errors on R are dropped"),
    (8, "the position is one too small"),
    (9, "the first empty slot is chosen, before waiters too"),
    (10, "the slot right behind the last waiter is passed over"),
    (11, "`first` stays when the lock is handed over"),
    (12, "a waiter that leaves is not counted in `cancels`"),
    (13, "`cancels` stays when the lock is handed over"),
    (14, "a transaction does not know that it holds the lock"),
    (15, "release of a lock that is not held is answered *released*"),
    (16, "the slot is not cleared after a grant"),
    (17, "a placed slot that cannot register is not taken back"),
    (18, "a full queue is not noticed"),
    (19, "wait-die lets the younger wait"),
    (20, "polls are served from a void copy"),
    (21, "the halves of a compare-and-swap are exchanged for odd slots"),
    (22, "a tag that is open is taken again"),
    (23, "the lock goes to the slot after `first`"),
    (24, "a guest leaves the queue and clears the slot for its owner"),
    (25, "a cancel that comes after the grant is answered *cancelled*"),
    (26, "a transaction does not know that it waits, and waits twice"),
    (27, "a cancel does not end its target"),
    (28, "`first` stays when its waiter leaves"),
    (29, "Register is tried again although the slot is no entrance any more"),
    (30, "the placed slot is kept after a bus error in Register"),
    (31, "a compare-and-swap of an odd slot says INCR"),
];

/// Cases within which a fault must be found.
const MOST_CASES: u64 = 2_000;

fn sabotaged(fault: u8) -> SabotagedTupleLockUnit {
    let mut unit = SabotagedTupleLockUnit::new();
    unit.set_fault(fault);
    unit
}

/// The first of the seeds' cases that fails, and how.
fn find(fault: u8, mut seeds: Range<u64>) -> Option<(u64, Mismatch)> {
    seeds.find_map(|seed| Some((seed, run(&draw::case(seed), sabotaged(fault)).err()?)))
}

#[test]
fn every_fault_is_found() {
    let mut missed = Vec::new();
    println!("| fault | what is wrong | cases | found by |\n|---|---|---|---|");
    for (fault, what) in FAULTS {
        match find(fault, 0..MOST_CASES) {
            Some((seed, mismatch)) => {
                println!("| {fault} | {what} | {} | {} |", seed + 1, mismatch.property);
            }
            None => {
                println!("| {fault} | {what} | {MOST_CASES} | nothing |");
                missed.push(fault);
            }
        }
    }
    assert!(missed.is_empty(), "faults that no case finds: {missed:?}");
}

#[test]
fn without_a_fault_the_sabotaged_unit_passes_the_same_cases() {
    if let Some((seed, mismatch)) = find(0, seeds(200)) {
        panic!("seed {seed}: {mismatch}");
    }
}
