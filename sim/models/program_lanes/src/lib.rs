// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lanes of a processing element, which execute programs (docs/visibility-element.md), as a
//! Verilated model.

verilated::model!();

/// The lanes with planted bugs, which the test suite has to find.
#[cfg(feature = "mutants")]
pub mod mutants;
