// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the threads of a node share.

use std::sync::Arc;

use crate::engine::{Instant, NodeId};
use crate::placement::{PartitionId, Partitioning};
use crate::store::Store;
use crate::store::log::Log;
use crate::transact::Transactions;

/// What the threads of a node share: its rows, its log, and its view of the cluster.
#[derive(Clone, Debug)]
pub struct Shared<T> {
    /// The rows.
    pub store: Store<T>,
    /// The log.
    pub log: Log,
    layout: Arc<Partitioning>,
    /// How often the node's process has begun.
    pub(super) starts: u32,
}

impl<T> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        self.store == other.store && self.log == other.log && self.starts == other.starts
    }
}

impl<T> Eq for Shared<T> {}

impl<T> std::hash::Hash for Shared<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.store.hash(state);
        self.log.hash(state);
        self.starts.hash(state);
    }
}

impl<T: Transactions> Shared<T> {
    pub(super) fn new(workload: T, layout: Arc<Partitioning>, own: NodeId) -> Self {
        let held = layout.all().filter(|at| layout.initial_replicas(*at).contains(&own));
        let store = Store::new(workload, Arc::clone(&layout), held);
        Self { store, log: Log::new(), layout, starts: 1 }
    }

    /// The view.
    pub fn epoch(&self) -> u32 {
        0
    }

    /// Whether the node serves: its lease runs, and its view is not about to change.
    pub fn serves(&self, _: Instant) -> bool {
        true
    }

    /// The primary of a partition; `None` if no replica is left.
    #[inline]
    pub fn primary_of(&self, partition: PartitionId) -> Option<NodeId> {
        Some(NodeId(partition.0))
    }

    /// Backup number `place` of a partition, from 0.
    #[inline]
    pub fn backup_of(&self, partition: PartitionId, place: usize) -> Option<NodeId> {
        self.after(NodeId(partition.0), place)
    }

    /// Remote log replica number `place` of a coordinator, from 0.
    #[inline]
    pub fn log_replica(&self, own: NodeId, place: usize) -> Option<NodeId> {
        self.after(own, place)
    }

    fn after(&self, node: NodeId, place: usize) -> Option<NodeId> {
        let by = place + 1;
        let nodes = usize::from(self.layout.partitions());
        let is_one = by <= usize::from(self.layout.backups());
        is_one.then(|| NodeId(((node.index() + by) % nodes) as u16))
    }
}
