// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device under test, or its mutants, and a twin that gets the same inputs.

use std::cell::Cell;

use lockstep_device_model::{Core, mutants};
pub use lockstep_device_model::{Inputs, Outputs};
use suites::subject::{self, Subject};

pub type Model = verilated::Model<Subject<Core, mutants::Core>>;

thread_local! {
    static TWIN: Cell<Option<u8>> = const { Cell::new(None) };
}

/// Devices of this thread have a twin from now on, with the mutant of this number.
pub fn set_twin(number: u8) {
    TWIN.set(Some(number));
}

/// A device at power-up.
pub fn device(seed: u64) -> Model {
    subject::model(seed, mutants::Core::set_mutant)
}

/// Another one that must do the same.
pub fn twin(seed: u64) -> Option<Model> {
    TWIN.get().map(|number| subject::mutant(seed, number, mutants::Core::set_mutant))
}
