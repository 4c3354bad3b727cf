// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tuple-locking unit (docs/lock-unit.md) as a Verilated model, made of the
//! committed Verilog in `hw/bsv/generated/`.

verilated::model!();

/// The unit with planted bugs, which conformance has to find.
#[cfg(feature = "mutants")]
pub mod mutants;
