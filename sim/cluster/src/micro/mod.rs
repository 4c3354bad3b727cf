// SPDX-License-Identifier: MIT OR Apache-2.0
//! Micro-benchmarks: what a paper measured of its hardware alone, on the models of this hardware. Platform
//! files are calibrated with them.
//!
//! - [`rpc`]: requests and answers of fixed sizes, by datagrams, on RDMA clusters.
//! - [`read`]: READs and other verbs over connections.
//! - [`figures`]: the figures of the papers that they give; [`shapes`]: what the texts say of them beside numbers.
//! - [`smart_bench`], [`smart_machine`]: those of a SmartNIC.
//! - [`xenic`]: the figures that these give.

pub mod figures;
mod random;
pub mod read;
pub mod rpc;
pub mod shapes;
pub mod smart_bench;
pub mod smart_machine;
#[cfg(test)]
mod tests;
pub mod xenic;

use timing::Time;

/// How long a benchmark runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spans {
    /// Before anything is counted.
    pub warm_up: Time,
    /// While it is counted.
    pub measure: Time,
}

impl Spans {
    /// Enough for a throughput within a per cent.
    pub const USUAL: Self = Self { warm_up: Time::from_us(300), measure: Time::from_us(500) };
}

/// What a benchmark gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Requests or operations a second and active node, in millions.
    pub rate: f64,
    /// The median time from a batch's start to its end, in microseconds.
    pub median: f64,
    /// The resource that was busiest, and for which share of the time.
    pub busiest: (&'static str, f64),
    /// Messages or packets on the wire for each request or operation.
    pub packets: f64,
    /// Bytes on the wire for each request or operation, where they are counted.
    pub wire_bytes: f64,
}
