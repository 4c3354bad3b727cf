// SPDX-License-Identifier: MIT OR Apache-2.0
//! The test suite of the lanes finds every mutant.

use program_lanes::mutants::MUTANTS;
use suites::subject::{assert_each_found, set_mutant};

use crate::suite;

/// Runs the suite until something fails, what is quick first; says what.
fn run(seeds: u64) -> Result<(), String> {
    let drawn = |seed| {
        suite::packets(seed).map_err(|wrong| format!("packets, seed {seed}: {wrong}"))?;
        suite::any_words(seed).map_err(|wrong| format!("any words, seed {seed}: {wrong}"))
    };
    drawn(0)?;
    suite::comparisons().map_err(|wrong| format!("comparisons: {wrong}"))?;
    suite::no_end().map_err(|wrong| format!("no end: {wrong}"))?;
    suite::rates().map_err(|wrong| format!("rates: {wrong}"))?;
    suite::corners().map_err(|wrong| format!("corners: {wrong}"))?;
    (1..seeds).try_for_each(drawn)
}

#[test]
fn without_a_mutant_the_suite_passes() {
    set_mutant(0);
    run(1).unwrap();
}

#[test]
fn every_mutant_is_found() {
    assert_each_found(&MUTANTS, || run(24));
}
