// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a NIC does to find keys in a host's table (`docs/nic-lookup.md`), as pure machines: no clock, no memory
//! of their own, no threads. Software drives them, and the RTL in `hw/rtl/nic` is held to them.

pub mod index;
pub mod lookup;
pub mod scan;
pub mod vector;
