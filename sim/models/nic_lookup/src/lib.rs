// SPDX-License-Identifier: MIT OR Apache-2.0
//! The look-ups of a NIC (docs/nic-lookup.md) as Verilated models: `hw/rtl/nic/nic_lookup.sv` with all that is
//! in it, as shipped and in modules with little room.

verilated::model!();

/// Slots of 16 bytes, one word of a value, one object, four requests of the network, reads of one line.
pub mod narrow {
    verilated::model!("narrow");
}

/// Slots of two lines, eight words of a value, two objects, 16 requests of the network, reads of four lines.
pub mod wide {
    verilated::model!("wide");
}

/// As shipped, but with eight objects in an entry of the index: for a node of a cluster, whose index has as many.
pub mod eight {
    verilated::model!("eight");
}

/// Slots of 32 bytes, two words of a value, two objects, eight requests of the network, reads of two lines; with
/// planted bugs, which the test suite has to find.
#[cfg(feature = "mutants")]
pub mod mutants;
