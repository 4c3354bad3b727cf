// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lanes under test, or their mutants.

use program_lanes::{Core, mutants};

pub type Model = verilated::Model<suites::subject::Subject<Core, mutants::Core>>;

/// Lanes at power-up.
pub fn lanes(seed: u64) -> Model {
    suites::subject::model(seed, mutants::Core::set_mutant)
}
