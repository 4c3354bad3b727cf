// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device (docs/device.md) as a Verilated model: `hw/rtl/shell/lockstep_device.sv` with all
//! that is in it.

verilated::model!();

/// The device with planted bugs, which the test suite has to find.
#[cfg(feature = "mutants")]
pub mod mutants;
