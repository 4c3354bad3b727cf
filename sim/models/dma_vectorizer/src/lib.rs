// SPDX-License-Identifier: MIT OR Apache-2.0
//! The DMA vectorizer of a NIC (docs/nic-lookup.md) as a Verilated model:
//! `hw/rtl/nic/dma_vectorizer.sv` with all that is in it.

verilated::model!();

/// The vectorizer with planted bugs, which the test suite has to find.
#[cfg(feature = "mutants")]
pub mod mutants;
