// SPDX-License-Identifier: MIT OR Apache-2.0
//! The test suite of runs finds every mutant.

use suites::subject::{assert_each_found, found, set_mutant};
use visibility_pe::mutants::MUTANTS;

use crate::suite;

/// Runs the suite until a test fails; says which, and what it says.
fn run() -> Result<(), String> {
    for (name, test) in suite::ALL {
        let what = found(|| {
            test();
            Ok(())
        });
        what.map_or(Ok(()), |what| Err(format!("{name}: {what}")))?;
    }
    Ok(())
}

#[test]
fn without_a_mutant_the_suite_passes() {
    set_mutant(0);
    run().unwrap();
}

#[test]
fn every_mutant_is_found() {
    assert_each_found(&MUTANTS, run);
}
