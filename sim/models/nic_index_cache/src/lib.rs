// SPDX-License-Identifier: MIT OR Apache-2.0
//! The caching index of a NIC (docs/nic-lookup.md) as Verilated models: `hw/rtl/nic/nic_index_cache.sv` as
//! shipped, and in modules with so few places that segments collide.

verilated::model!();

/// Two sets of two places, one object of one word, two fetches.
pub mod narrow {
    verilated::model!("narrow");
}

/// Two sets of four places, three objects of eight words, entries of four lines, eight fetches.
pub mod wide {
    verilated::model!("wide");
}

/// Two sets of two places, two objects of two words, entries of two lines, four fetches; with planted bugs, which
/// the test suite has to find, and right when none is chosen.
#[cfg(feature = "mutants")]
pub mod mutants;
