// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scanner of slots that a read of a table brought (docs/nic-lookup.md) as Verilated models:
//! `hw/rtl/nic/probe_scan.sv` with slots of 32 bytes and two words of a value, and in modules with others.

verilated::model!();

/// Slots of 16 bytes, without values.
pub mod slots_16 {
    verilated::model!("slots_16");
}

/// Slots of 32 bytes, and answers with more words than a slot has.
pub mod slots_32_long_values {
    verilated::model!("slots_32_long_values");
}

/// Slots that fill a line.
pub mod slots_64 {
    verilated::model!("slots_64");
}

/// Slots of two lines.
pub mod slots_128 {
    verilated::model!("slots_128");
}

/// The longest slots.
pub mod slots_320 {
    verilated::model!("slots_320");
}

/// The scanner with planted bugs, which the test suite has to find.
#[cfg(feature = "mutants")]
pub mod mutants;
