// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be explored, and how far.

use std::collections::BTreeMap;
use std::hash::Hash;

use cluster::engine::{
    Endpoint, Key, Machine, Node, NodeId, Operation, Part, Protocol, Span, Stage,
};

/// A protocol that can be explored.
pub trait Subject:
    Protocol<Machine: Clone + Eq + Hash + Machine<Shared: Clone + Eq + Hash>>
{
    /// The workers that begin, each as its thread and its number there.
    fn workers(&self) -> Vec<(Endpoint, u8)>;

    /// The rows that are compared in the end, with their digests at the start.
    fn rows(&self) -> BTreeMap<Key, u64>;

    /// The digests of a row at those of these nodes that have a replica of it.
    fn replicas(&self, up: &[(NodeId, &Node<Self::Machine>)], key: Key) -> Vec<(NodeId, u64)>;

    /// Whether a message only renews a lease. Such arrive at once, so that the leases of those that live
    /// are always right, and there are fewer orders.
    fn renews(&self, stage: Stage, bytes: &[u8]) -> bool;

    /// How many threads a host has; the cores of its NIC come behind them.
    const HOST_THREADS: u8 = u8::MAX;

    /// Whether a part that polls for ever has something to find. `None`: it polls at its deadlines alone.
    fn finds_something(_: &Node<Self::Machine>, _: Part) -> Option<bool> {
        None
    }

    /// Does an operation of a NIC's core on the memory of its host, and leaves what was read in `bytes`.
    fn operate(_: &mut <Self::Machine as Machine>::Shared, _: Operation, _: &mut Vec<u8>) -> bool {
        false
    }

    /// Whether the cluster has nothing more to do for itself: nobody who is down is a member, nothing
    /// is being copied or flushed.
    fn is_settled(&self, up: &[(NodeId, &Node<Self::Machine>)], down: &[NodeId]) -> bool;
}

/// What may go wrong in an exploration, and how far it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The nodes that may crash.
    pub may_crash: Vec<NodeId>,
    /// How many of them.
    pub crashes: u8,
    /// How many of those may begin anew.
    pub restarts: u8,
    /// Whether the workers of such a process begin, too.
    pub begins_again: bool,
    /// How many messages may be delivered twice.
    pub duplicates: u8,
    /// How many messages may be lost.
    pub losses: u8,
    /// Of which stages those are; of all if there are none.
    pub stages: Vec<Stage>,
    /// How often a worker may try a transaction again.
    pub repeats: u8,
    /// How much time may pass until all rest.
    pub horizon: Span,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            may_crash: Vec::new(),
            crashes: 1,
            restarts: 0,
            begins_again: false,
            duplicates: 0,
            losses: 0,
            stages: Vec::new(),
            repeats: 1,
            horizon: Span::from_us(1_000_000),
        }
    }
}
