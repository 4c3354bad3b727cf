// SPDX-License-Identifier: MIT OR Apache-2.0
//! A cluster in virtual time: cores, NICs, links, switches and faults around the machines of the
//! protocols in [`cluster`].
//!
//! - [`world`]: the event loop, the cores, and what is counted and recorded.
//! - [`nic`]: the NICs.
//! - [`micro`]: micro-benchmarks of the hardware alone.
//! - [`faults`]: what goes wrong, and when.
//!
//! `docs/cluster.md` describes what is modelled and how time is charged.

pub mod faults;
pub mod micro;
pub mod nic;
pub mod world;
