// SPDX-License-Identifier: MIT OR Apache-2.0
//! A cluster in virtual time: cores, NICs, links, switches and faults around the machines of the
//! protocols in [`cluster`].
//!
//! - [`nic`]: the cards.

pub mod nic;
