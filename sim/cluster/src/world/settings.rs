// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a world is made of.

use std::sync::Arc;

use cluster::engine::NodeId;
use timing::Time;
use timing::platform::{Bandwidth, Measure};

use super::cpu::CpuCosts;
use crate::fabric::FabricTiming;
use crate::nic::{Card, Connections, Framing, PlainCard, RdmaNic};

/// The machines that a protocol runs on: all alike.
#[derive(Clone)]
pub struct Hardware {
    /// What the work of host threads costs.
    pub host: CpuCosts,
    /// What the work of the NIC's cores costs, if it has such.
    pub nic_cores: Option<CpuCosts>,
    /// The network.
    pub fabric: FabricTiming,
    /// From one part of a node to another through the host's memory.
    pub local: Time,
    /// Makes the card of a node.
    pub card: Arc<dyn Fn(NodeId) -> Box<dyn Card> + Send + Sync>,
}

impl Hardware {
    /// Hardware of no platform, for tests and campaigns: every piece of work takes `work`, the card 20 ns,
    /// the slot 200 ns, the way 300 ns, and links carry 10 bytes a nanosecond.
    pub fn plain(work: Time) -> Self {
        let rate = Bandwidth::convert(10.0, "GB/s").expect("a rate");
        Self {
            host: CpuCosts::uniform(work),
            nic_cores: None,
            fabric: FabricTiming::star(rate, Time::from_ns(300), Framing::INFINIBAND),
            local: Time::from_ns(50),
            card: Arc::new(|_| Box::new(PlainCard::new(Time::from_ns(20), Time::from_ns(200)))),
        }
    }

    /// The same, with so many threads of a host at work, which all poll.
    #[must_use]
    pub fn with_threads(mut self, platform: &crate::platform::Hardware, threads: u8) -> Self {
        self.host.loaded = platform.slowed(threads);
        self
    }

    /// The hardware of a platform with RDMA cards. `connections` is how one-sided verbs share out queue
    /// pairs, and `posted` how many descriptors all receive queues of a node have together.
    pub fn of_platform(
        platform: &crate::platform::Hardware,
        connections: Connections,
        posted: u64,
    ) -> Self {
        let (rate, ports) = platform.ports();
        let costs = platform.nic_costs();
        let fabric = FabricTiming {
            rate,
            ports,
            latency: platform.wire_latency(true),
            far_latency: platform.wire_latency(false),
            nodes_a_leaf: platform.switch.nodes_a_leaf.get().0 as usize,
            oversubscription: Some(platform.switch.oversubscription.get()),
            framing: platform.framing(),
        };
        let poll = platform.cpu.poll.get();
        let host = CpuCosts { poll, work: platform.work_costs(), loaded: 1000 };
        Self {
            host,
            nic_cores: None,
            fabric,
            local: platform.cpu.local.get(),
            card: Arc::new(move |_| Box::new(RdmaNic::new(costs, connections, posted))),
        }
    }
}

/// How a world is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Host threads of a node; its other parts are cores of the NIC.
    pub host_threads: u8,
    /// How many of the host threads have workers: the first ones. All have if there is no number.
    pub threads_with_workers: Option<u8>,
    /// Workers of each of these, which are told to begin.
    pub workers: u8,
    /// The most messages that a poll takes.
    pub burst: u16,
    /// Whether attempts and accesses are recorded.
    pub record: bool,
    /// Whether a digest is made of all that happens.
    pub digest: bool,
    /// The bytes of memory of each node that verbs may access, if its machines have none of their own.
    pub memory: usize,
    /// After this time without an answer, a verb fails.
    pub verb_timeout: Time,
    /// Workers of a node that was restarted are told to begin again.
    pub begin_again: bool,
    /// A cluster is at rest when nothing but control traffic was under way for so long: as long as its
    /// machines may need to find out that a node has failed.
    pub quiet: Time,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            host_threads: 1,
            threads_with_workers: None,
            workers: 1,
            burst: 16,
            record: true,
            digest: true,
            memory: 0,
            verb_timeout: Time::from_us(1_000),
            begin_again: true,
            quiet: Time::ZERO,
        }
    }
}

/// Memory that verbs access. Addresses that it does not have are refused.
pub trait Registered {
    /// Appends `length` bytes from `at` on; whether they are there.
    fn read(&mut self, at: u64, length: u32, to: &mut Vec<u8>) -> bool;

    /// Writes `bytes` from `at` on; whether there is memory for them.
    fn write(&mut self, at: u64, bytes: &[u8]) -> bool;
}

impl Registered for Vec<u8> {
    fn read(&mut self, at: u64, length: u32, to: &mut Vec<u8>) -> bool {
        let Some(place) = place(at, length as usize, self.len()) else { return false };
        to.extend_from_slice(&self[place]);
        true
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> bool {
        let Some(place) = place(at, bytes.len(), self.len()) else { return false };
        self[place].copy_from_slice(bytes);
        true
    }
}

fn place(at: u64, length: usize, size: usize) -> Option<std::ops::Range<usize>> {
    let start = usize::try_from(at).ok()?;
    let end = start.checked_add(length)?;
    (end <= size).then_some(start..end)
}

/// Why a world cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorldError {
    /// A node has fewer parts than host threads.
    #[error("host_threads = {host_threads}, expected at most {parts}, the parts of node {node}")]
    TooManyThreads {
        /// The option.
        host_threads: u8,
        /// The node.
        node: u16,
        /// Its parts.
        parts: usize,
    },
    /// A node has cores of its NIC, and the hardware has none.
    #[error(
        "node {node} has {parts} parts beside {host_threads} host threads, expected hardware with \
         cores of the NIC"
    )]
    NoNicCores {
        /// The node.
        node: u16,
        /// Its parts beside the host threads.
        parts: usize,
        /// The option.
        host_threads: u8,
    },
    /// A poll has to take something.
    #[error("burst = 0, expected at least 1")]
    EmptyBurst,
    /// More parts or nodes than can be named.
    #[error("{what} = {count}, expected at most {most}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        count: usize,
        /// How many there may be.
        most: usize,
    },
}

/// A cluster did not come to rest within its time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no rest after {limit}: {}", waits.join("; "))]
pub struct Unrest {
    /// How long was waited.
    pub limit: Time,
    /// What is waited for.
    pub waits: Vec<String>,
}
