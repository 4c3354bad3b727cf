// SPDX-License-Identifier: MIT OR Apache-2.0
//! The visibility element (docs/visibility-element.md) as a Verilated model: its registers, the
//! walk, and the lanes that execute programs.

verilated::model!();

/// The visibility element with planted bugs, which the test suite has to find.
#[cfg(feature = "mutants")]
pub mod mutants;
