// SPDX-License-Identifier: MIT OR Apache-2.0
//! The network: full-duplex links from each node to its leaf switch, and from each leaf to the switches
//! above. Switches forward without waiting for a packet's end and never block inside.
//!
//! A frame occupies the sender's link from the moment when its card is done with it, the links above the
//! leaves if it has to pass them, and the receiver's link from the moment when its first byte is there.
//! In between lies the constant delay of the way. All is booked at the moment when a frame is there, so
//! that frames pass a link in the order in which they come to it.

use timing::Time;
use timing::platform::{Bandwidth, Ratio};

use crate::nic::{Engine, Framing};

/// The links, the switches, and the packets on them.
#[derive(Clone, Copy, Debug)]
pub struct FabricTiming {
    /// Bytes a second of each link of a node, in each direction.
    pub rate: Bandwidth,
    /// Links of a node. Which one a frame takes hangs on the thread that sends it, so that the order of
    /// its messages is kept.
    pub ports: u32,
    /// From a byte's start at one node to its arrival at another of the same leaf: wires and switches.
    pub latency: Time,
    /// The same to a node of another leaf.
    pub far_latency: Time,
    /// Nodes at a leaf switch.
    pub nodes_a_leaf: usize,
    /// The rate of all links of a leaf to its nodes over that of its links to the switches above.
    pub oversubscription: Option<Ratio>,
    /// What the packets are.
    pub framing: Framing,
}

impl FabricTiming {
    /// One link for each node, to one switch.
    pub const fn star(rate: Bandwidth, latency: Time, framing: Framing) -> Self {
        let (ports, nodes_a_leaf) = (1, usize::MAX);
        Self {
            rate,
            ports,
            latency,
            far_latency: latency,
            nodes_a_leaf,
            oversubscription: None,
            framing,
        }
    }
}

/// The links of all nodes.
#[derive(Clone, Debug)]
pub struct Fabric {
    timing: FabricTiming,
    /// The links of each node, one node after the other.
    ports: Vec<Duplex>,
    /// The links of each leaf to the switches above.
    leaves: Vec<Duplex>,
}

/// The two directions of a link.
#[derive(Clone, Copy, Debug, Default)]
struct Duplex {
    out: Engine,
    inward: Engine,
}

impl Fabric {
    /// Idle links of so many nodes.
    pub fn new(timing: FabricTiming, nodes: usize) -> Self {
        let timing = FabricTiming {
            ports: timing.ports.max(1),
            nodes_a_leaf: timing.nodes_a_leaf.max(1),
            ..timing
        };
        let leaves = nodes.div_ceil(timing.nodes_a_leaf);
        let ports = vec![Duplex::default(); nodes * timing.ports as usize];
        Self { timing, ports, leaves: vec![Duplex::default(); leaves] }
    }

    /// What it was made with.
    pub fn timing(&self) -> &FabricTiming {
        &self.timing
    }

    /// A frame of the sender's thread or core `part`, with so many bytes on the wire, is ready to leave
    /// `from` for `to`. Returns when its first byte arrives at the link of `to`, or of its leaf.
    pub fn leave(&mut self, (from, to): (usize, usize), part: u8, ready: Time, wire: u32) -> Time {
        let length = self.length(wire);
        let port = self.port(from, part);
        let start = self.ports[port].out.take(ready, length).saturating_sub(length);
        let Some([leaf, _]) = self.leaves_between(from, to) else {
            return start + self.timing.latency;
        };
        let above = self.length_above(wire);
        let start = self.leaves[leaf].out.take(start, above).saturating_sub(above);
        start + self.timing.far_latency
    }

    /// The first byte of such a frame arrives. Returns when its last byte is there.
    pub fn arrive(&mut self, (from, to): (usize, usize), part: u8, now: Time, wire: u32) -> Time {
        let mut start = now;
        if let Some([_, leaf]) = self.leaves_between(from, to) {
            let above = self.length_above(wire);
            start = self.leaves[leaf].inward.take(now, above).saturating_sub(above);
        }
        let length = self.length(wire);
        let port = self.port(to, part);
        self.ports[port].inward.take(start, length)
    }

    /// How long so many bytes are on a link of a node.
    pub fn length(&self, wire: u32) -> Time {
        self.timing.rate.time_for(u64::from(wire))
    }

    /// How long a byte is under way between two nodes.
    pub fn latency(&self, from: usize, to: usize) -> Time {
        match self.leaves_between(from, to) {
            Some(_) => self.timing.far_latency,
            None => self.timing.latency,
        }
    }

    /// How long so many bytes are on the links of a leaf to the switches above, all taken together.
    fn length_above(&self, wire: u32) -> Time {
        let Some(ratio) = self.timing.oversubscription else { return Time::ZERO };
        let links = self.timing.nodes_a_leaf as u64 * u64::from(self.timing.ports);
        Time::from_ps(ratio.of(self.length(wire)).as_ps() / links)
    }

    /// The leaves of two nodes, if they are not the same.
    fn leaves_between(&self, from: usize, to: usize) -> Option<[usize; 2]> {
        // Most fabrics have one leaf, and a division takes as long as all the rest.
        if self.leaves.len() == 1 {
            return None;
        }
        let leaves = [from, to].map(|node| node / self.timing.nodes_a_leaf);
        (leaves[0] != leaves[1]).then_some(leaves)
    }

    fn port(&self, node: usize, part: u8) -> usize {
        let ports = self.timing.ports;
        node * ports as usize + (u32::from(part) % ports) as usize
    }

    /// How long the links of `node` have been busy until `now`, all together: out, and in.
    pub fn busy(&self, node: usize, now: Time) -> [Time; 2] {
        let ports = self.timing.ports as usize;
        let mut sums = [Time::ZERO; 2];
        for port in &self.ports[node * ports..(node + 1) * ports] {
            sums[0] += port.out.busy_until(now);
            sums[1] += port.inward.busy_until(now);
        }
        sums
    }

    /// How long the links above the leaf of `node` have been busy until `now`: up, and down.
    pub fn busy_above(&self, node: usize, now: Time) -> [Time; 2] {
        let leaf = &self.leaves[node / self.timing.nodes_a_leaf];
        [leaf.out.busy_until(now), leaf.inward.busy_until(now)]
    }

    /// Whether there are several leaves, with links above that can be busy.
    pub fn has_leaves(&self) -> bool {
        self.leaves.len() > 1 && self.timing.oversubscription.is_some()
    }
}

#[cfg(test)]
mod tests {
    use timing::platform::Measure;

    use super::*;

    fn timing() -> FabricTiming {
        let framing = Framing {
            link: 0,
            base: 0,
            datagram: 0,
            remote: 0,
            atomic: 0,
            answer: 0,
            held: 0,
            mtu: 4096,
        };
        let rate = Bandwidth::convert(1.0, "GB/s").expect("a rate");
        FabricTiming {
            far_latency: Time::from_ns(900),
            nodes_a_leaf: 2,
            oversubscription: Ratio::convert(4.0, "x"),
            ..FabricTiming::star(rate, Time::from_ns(300), framing)
        }
    }

    #[test]
    fn two_senders_to_one_node_share_its_link() {
        let mut fabric = Fabric::new(timing(), 3);
        let first = fabric.leave((0, 1), 0, Time::ZERO, 100);
        let behind = fabric.leave((0, 1), 0, Time::ZERO, 100);
        assert_eq!([first, behind], [300, 400].map(Time::from_ns));
        assert_eq!(fabric.arrive((0, 1), 0, first, 100), Time::from_ns(400));
        assert_eq!(fabric.arrive((1, 1), 0, Time::from_ns(350), 100), Time::from_ns(500));
        assert_eq!(fabric.busy(0, Time::from_ns(150)), [Time::from_ns(150), Time::ZERO]);
    }

    /// Two nodes with one link each at a leaf, four times as much as above it: half of a node's rate.
    #[test]
    fn links_above_the_leaves_are_slower() {
        let mut fabric = Fabric::new(timing(), 4);
        assert_eq!(fabric.leave((0, 2), 0, Time::ZERO, 100), Time::from_ns(900));
        assert_eq!(fabric.leave((1, 2), 0, Time::ZERO, 100), Time::from_ns(1_100));
        assert_eq!(fabric.busy_above(1, Time::from_us(1))[0], Time::from_ns(400));
        assert_eq!(fabric.arrive((0, 2), 0, Time::from_ns(900), 100), Time::from_ns(1_000));
        assert_eq!(fabric.arrive((1, 3), 0, Time::from_ns(900), 100), Time::from_ns(1_200));
    }

    #[test]
    fn threads_take_the_ports_in_turn() {
        let mut fabric = Fabric::new(FabricTiming { ports: 2, ..timing() }, 2);
        let starts = [0, 1, 2].map(|part| fabric.leave((0, 1), part, Time::ZERO, 100));
        assert_eq!(starts, [300, 300, 400].map(Time::from_ns));
    }
}
