// SPDX-License-Identifier: MIT OR Apache-2.0
//! The element under test, or its mutants.

use suites::subject::Subject;
use verilated::Model;
use visibility_pe::mutants;

pub type Core = Subject<visibility_pe::Core, mutants::Core>;

/// An element at power-up.
pub fn model(seed: u64) -> Model<Core> {
    suites::subject::model(seed, mutants::Core::set_mutant)
}
