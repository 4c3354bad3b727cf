// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the steps of a burst have in hand.

use std::sync::Arc;

use super::chains::{Chains, Place};
use super::mutant::Mutant;
use super::settings::Settings;
use super::shared::Shared;
use crate::engine::{Effects, Instant, Key, NodeId};
use crate::placement::{PartitionId, Partitioning};
use crate::rpc::Rpc;
use crate::transact::{Intent, Transactions};

/// What never changes in a run.
#[derive(Clone, Debug)]
pub(super) struct Fixed<T> {
    pub settings: Settings,
    pub workload: T,
    pub layout: Arc<Partitioning>,
    pub chains: Chains,
    /// The tables.
    pub places: Vec<Place>,
}

impl<T: Transactions> Fixed<T> {
    /// How many READs bring a row, or say that there is none.
    pub fn reads_of(&self, key: Key, is_there: bool) -> u8 {
        if self.settings.form.cached {
            return 1;
        }
        let beside = is_there && self.places[usize::from(key.table.0)].is_out_of_line;
        self.chains.buckets(key, is_there).saturating_add(beside.into())
    }

    /// The node of a partition's primary, which is always that of its number.
    pub fn primary_of(&self, key: Key) -> NodeId {
        NodeId(self.layout.partition_of(key).0)
    }

    /// Backup number `place` of a partition, from 0; `None` if it has fewer.
    pub fn backup_of(&self, partition: PartitionId, place: u8) -> Option<NodeId> {
        let Settings { nodes, backups, .. } = self.settings;
        let node = (u32::from(partition.0) + 1 + u32::from(place)) % u32::from(nodes);
        (place < backups).then_some(NodeId(node as u16))
    }

    /// Whether `node` is a backup of a key's partition.
    pub fn is_backup(&self, node: NodeId, key: Key) -> bool {
        let partition = self.layout.partition_of(key);
        (0..self.settings.backups).any(|place| self.backup_of(partition, place) == Some(node))
    }
}

/// Buffers that are used again, with nothing in them between bursts that counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    pub wanted: Vec<(Key, Intent)>,
    pub value: Vec<u8>,
    pub holders: Vec<NodeId>,
    /// Workers that go on in the next poll.
    pub soon: Vec<u8>,
    /// When a worker wants to be looked at again.
    pub wake: Option<Instant>,
}

/// What a step of a thread may use.
pub(super) struct Context<'a, T> {
    pub fixed: &'a Fixed<T>,
    pub shared: &'a mut Shared<T>,
    pub rpc: &'a mut Rpc,
    pub scratch: &'a mut Scratch,
    pub now: Instant,
    pub out: &'a mut Effects,
}

impl<T: Transactions> Context<'_, T> {
    /// Whether this bug is planted.
    #[inline]
    pub fn has(&self, mutant: Mutant) -> bool {
        self.fixed.settings.planted.is(mutant)
    }

    /// Asks for a look at the workers at `at`, or before.
    pub fn wake(&mut self, at: Instant) {
        self.scratch.wake = Some(self.scratch.wake.map_or(at, |earlier| earlier.min(at)));
    }
}
