// SPDX-License-Identifier: MIT OR Apache-2.0
//! The names of nodes, of their parts, of rows and of transactions.

/// A node of the cluster, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u16);

impl NodeId {
    /// The configuration manager, which is no node of the cluster: it holds no rows.
    pub const MANAGER: Self = Self(u16::MAX);

    /// The node as an index into a list of nodes.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// What a node consists of, as far as it takes part in a protocol. Each has its machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// A thread of the host, with a core of its own.
    HostThread(u8),
    /// A core of the NIC.
    NicCore(u8),
    /// Memory that verbs access; it has no machine.
    Memory,
    /// The data plane of a switch.
    Switch,
}

/// Where a message comes from or goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// The node.
    pub node: NodeId,
    /// The part of it.
    pub part: Part,
}

impl Endpoint {
    /// Thread `thread` of the host of `node`.
    pub const fn host(node: NodeId, thread: u8) -> Self {
        Self { node, part: Part::HostThread(thread) }
    }
}

/// The number of a table: its place in the workload's list of tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableNumber(pub u8);

/// The key of a row: a table, and eight bytes (FaSST, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The table.
    pub table: TableNumber,
    /// The key within the table.
    pub row: u64,
}

/// The name of an attempt at a transaction. No two attempts of a run have the same, whether the node
/// has been restarted between them or not.
///
/// Bits 63 to 48 are the node, 47 to 40 the thread, 39 to 32 the worker, 31 to 0 a count. A restarted
/// node goes on above the counts that it has used, and ends itself when there is none left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransactionId(pub u64);

impl TransactionId {
    /// Attempt number `count` of worker `worker` of thread `thread` of `node`.
    pub const fn new(node: NodeId, thread: u8, worker: u8, count: u32) -> Self {
        Self((node.0 as u64) << 48 | (thread as u64) << 40 | (worker as u64) << 32 | count as u64)
    }

    /// The node that coordinates it.
    pub const fn node(self) -> NodeId {
        NodeId((self.0 >> 48) as u16)
    }

    /// The thread of the node.
    pub const fn thread(self) -> u8 {
        (self.0 >> 40) as u8
    }

    /// The worker of the thread.
    pub const fn worker(self) -> u8 {
        (self.0 >> 32) as u8
    }

    /// The count of the worker's attempts.
    pub const fn count(self) -> u32 {
        self.0 as u32
    }
}

/// What kind of traffic a message is: where media have several queues or priorities, its class chooses
/// one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// What transactions wait for.
    #[default]
    Foreground,
    /// Membership: leases and views. Delayed by no other traffic of the node.
    Control,
    /// Copies for new replicas, which may wait.
    Background,
}
