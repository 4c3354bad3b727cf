// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scanner of slots that a read of a table brought (docs/nic-lookup.md) as Verilated models:
//! `hw/rtl/nic/probe_scan.sv` in a module for each size of slots.

/// Slots of 16 bytes, without values.
pub mod slots_16 {
    verilated::model!("slots_16");
}

/// Slots of 32 bytes, and answers with as many words. With the feature `mutants` it has one more input, `mutant_i`.
pub mod slots_32 {
    verilated::model!("slots_32");
}

/// Slots of 32 bytes, and answers with more words than a slot has.
pub mod slots_32_long_values {
    verilated::model!("slots_32_long_values");
}

/// Slots that fill a line.
pub mod slots_64 {
    verilated::model!("slots_64");
}

/// Slots of two lines. With the feature `mutants` it has one more input, `mutant_i`.
pub mod slots_128 {
    verilated::model!("slots_128");
}

/// The longest slots.
pub mod slots_320 {
    verilated::model!("slots_320");
}

/// Planted bugs, which the test suite has to find.
#[cfg(feature = "mutants")]
pub mod mutants;
