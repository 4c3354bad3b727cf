// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cards between hosts and network.
//!
//! - [`rdma`]: a card with datagrams and one-sided verbs.
//! - [`queue_pairs`]: its cache of connections.
//! - [`frame`]: what its packets are on the wire.

pub mod frame;
pub mod queue_pairs;
pub mod rdma;
