// SPDX-License-Identifier: MIT OR Apache-2.0
//! The network: a full-duplex link from each node to one switch that forwards without waiting for a
//! packet's end and never blocks inside.
//!
//! A frame occupies the sender's link from the moment when its card is done with it, and the receiver's
//! link from the moment when its first byte is there. In between lies the constant delay of the way.

use timing::Time;
use timing::platform::Bandwidth;

use crate::nic::Engine;
use crate::nic::Framing;

/// The links, the switch, and the packets on them.
#[derive(Clone, Copy, Debug)]
pub struct FabricTiming {
    /// Bytes a second of each link and direction.
    pub rate: Bandwidth,
    /// From a byte's start at one node to its arrival at another: wires and switches.
    pub latency: Time,
    /// What the packets are.
    pub framing: Framing,
}

/// The links of all nodes.
#[derive(Clone, Debug)]
pub struct Fabric {
    timing: FabricTiming,
    ports: Vec<Port>,
}

/// The link of a node.
#[derive(Clone, Copy, Debug, Default)]
struct Port {
    out: Engine,
    inward: Engine,
}

impl Fabric {
    /// Idle links of so many nodes.
    pub fn new(timing: FabricTiming, nodes: usize) -> Self {
        Self { timing, ports: vec![Port::default(); nodes] }
    }

    /// What it was made with.
    pub fn timing(&self) -> &FabricTiming {
        &self.timing
    }

    /// A frame with so many bytes on the wire is ready to leave `node`. Returns when its first byte
    /// arrives at the other side.
    pub fn leave(&mut self, node: usize, ready: Time, wire: u32) -> Time {
        let length = self.length(wire);
        let end = self.ports[node].out.take(ready, length);
        end.saturating_sub(length) + self.timing.latency
    }

    /// The first byte of a frame arrives at the switch's port to `node`. Returns when its last byte is
    /// there.
    pub fn arrive(&mut self, node: usize, now: Time, wire: u32) -> Time {
        let length = self.length(wire);
        self.ports[node].inward.take(now, length)
    }

    /// How long so many bytes are on a link.
    pub fn length(&self, wire: u32) -> Time {
        self.timing.rate.time_for(u64::from(wire))
    }

    /// How long the link of `node` has been busy until `now`: out, and in.
    pub fn busy(&self, node: usize, now: Time) -> [Time; 2] {
        let port = &self.ports[node];
        [port.out.busy_until(now), port.inward.busy_until(now)]
    }
}
