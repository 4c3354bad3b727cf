// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a driver starts the nodes of a cluster, and judges them at rest.

use super::{Machine, Node, NodeId};

/// A protocol with its settings and its workload: what a driver needs to run a cluster of it.
pub trait Protocol {
    /// The machines of all parts. The configuration manager is one of them.
    type Machine: Machine;

    /// How many nodes the cluster has at the start, without the manager.
    fn nodes(&self) -> u16;

    /// The node as it is at the start of a run.
    fn start(&self, node: NodeId) -> Node<Self::Machine>;

    /// The node after its process has ended and begins anew, with what its memory has kept.
    fn restart(
        &self,
        node: NodeId,
        kept: <Self::Machine as Machine>::Shared,
    ) -> Node<Self::Machine>;

    /// The configuration manager, which is assumed not to fail (FaSST, section 2: a separate
    /// fault-tolerant one); `None` for a protocol, or a benchmark, without one.
    fn manager(&self) -> Option<Node<Self::Machine>>;

    /// Checks the nodes that are up when all workers rest and no message is under way: replicas are
    /// equal, no row is locked, logs are empty, and the workload's own conditions hold.
    ///
    /// # Errors
    /// A sentence for the first condition that does not hold, with place and values.
    fn check_at_rest(&self, up: &[(NodeId, &Node<Self::Machine>)]) -> Result<(), String>;
}
