// SPDX-License-Identifier: MIT OR Apache-2.0
//! The walk under test, or its mutants.

use visibility_walk::{Core, mutants};
pub use visibility_walk::{Inputs, Outputs};

pub type Model = verilated::Model<suites::subject::Subject<Core, mutants::Core>>;

/// A walk at power-up.
pub fn model(seed: u64) -> Model {
    suites::subject::model(seed, mutants::Core::set_mutant)
}
