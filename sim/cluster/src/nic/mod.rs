// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cards between hosts and network.
//!
//! - [`card`]: a card as a world drives it.
//! - [`plain`]: one for tests of the world.
//! - [`frame`]: what packets are on the wire.

pub mod card;
pub mod frame;
pub mod plain;
