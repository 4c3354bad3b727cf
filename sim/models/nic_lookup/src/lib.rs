// SPDX-License-Identifier: MIT OR Apache-2.0
//! The look-ups of a NIC (docs/nic-lookup.md) as a Verilated model: `hw/rtl/nic/nic_lookup.sv` with all
//! that is in it.

verilated::model!();
