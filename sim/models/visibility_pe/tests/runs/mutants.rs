// SPDX-License-Identifier: MIT OR Apache-2.0
//! The test suite of runs finds every mutant.

use suites::subject::{found, set_mutant};
use visibility_pe::mutants::MUTANTS;

use crate::suite;

/// The first test that fails, and what it says.
fn first_to_fail() -> Option<String> {
    suite::ALL.into_iter().find_map(|(name, test)| {
        let what = found(|| {
            test();
            Ok(())
        });
        what.map(|what| format!("{name}: {what}"))
    })
}

#[test]
fn without_a_mutant_the_suite_passes() {
    set_mutant(0);
    assert_eq!(first_to_fail(), None);
}

#[test]
fn every_mutant_is_found() {
    let mut missed = Vec::new();
    for (number, mutant) in (1..).zip(&MUTANTS) {
        set_mutant(number);
        match first_to_fail() {
            Some(what) => println!("{number} {}: {what:.150}", mutant.name),
            None => missed.push(mutant.name),
        }
    }
    assert!(missed.is_empty(), "not found: {missed:#?}");
}
