// SPDX-License-Identifier: MIT OR Apache-2.0
//! The visibility walk of a processing element (docs/visibility-element.md) as a Verilated model:
//! `hw/rtl/visibility/visibility_walk.sv` with all that is in it.

verilated::model!();

/// The walk with planted bugs, which the test suite has to find.
#[cfg(feature = "mutants")]
pub mod mutants;
