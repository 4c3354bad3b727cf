// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the threads of a node share.

use std::sync::Arc;

use super::mutant::Mutant;
use super::settings::Settings;
use crate::engine::{Instant, NodeId, TransactionId};
use crate::membership::{Member, Status, View};
use crate::placement::{PartitionId, Partitioning};
use crate::recovery::{self, Keeps, Parts, Recovery, Whole};
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
    /// The view, the lease, and what is done for the next view.
    pub recovery: Recovery,
    backups: u16,
    /// How often the node's process has begun.
    pub(super) starts: u32,
}

impl<T> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        self.store == other.store
            && self.log == other.log
            && self.recovery == other.recovery
            && self.starts == other.starts
    }
}

impl<T> Eq for Shared<T> {}

impl<T> std::hash::Hash for Shared<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.store.hash(state);
        self.log.hash(state);
        self.recovery.hash(state);
        self.starts.hash(state);
    }
}

impl<T: Transactions> Shared<T> {
    pub(super) fn new(
        workload: T,
        layout: Arc<Partitioning>,
        settings: &Settings,
        own: NodeId,
    ) -> Self {
        let held = layout.all().filter(|at| layout.initial_replicas(*at).contains(&own));
        let store = Store::new(workload, Arc::clone(&layout), held);
        let member = Member::new(own, settings.membership, Arc::new(View::initial(&layout)));
        let of_recovery = recovery::Settings {
            mtu: settings.mtu,
            copies_initial_rows: settings.copies_initial_rows,
            planted: settings.planted.of_part(Mutant::of_recovery),
        };
        let recovery = Recovery::new(member, of_recovery);
        Self { store, log: Log::new(), recovery, backups: layout.backups(), starts: 1 }
    }

    /// The view that the node is in, or was in last.
    #[inline]
    pub fn epoch(&self) -> u32 {
        self.recovery.member.epoch()
    }

    /// Whether the node serves: its lease runs, and its view is not about to change.
    #[inline]
    pub fn status(&self, now: Instant) -> Status {
        self.recovery.member.status(now)
    }

    /// The primary of a partition; `None` if no replica is left.
    #[inline]
    pub fn primary_of(&self, partition: PartitionId) -> Option<NodeId> {
        self.recovery.member.view().primary(partition)
    }

    /// Backup number `place` of a partition, from 0.
    #[inline]
    pub fn backup_of(&self, partition: PartitionId, place: usize) -> Option<NodeId> {
        let replicas = self.recovery.member.view().replicas(partition);
        let of_updates = match self.recovery.misses_filling() {
            true => replicas.complete(),
            false => replicas.nodes(),
        };
        of_updates.get(place + 1).copied()
    }

    /// Remote log replica number `place` of a coordinator, from 0.
    #[inline]
    pub fn log_replica(&self, own: NodeId, place: usize) -> Option<NodeId> {
        self.recovery.member.view().log_replica(own, self.backups, place)
    }
}

impl<T: Transactions> Keeps for Shared<T> {
    type Workload = T;
    type Records = Whole;

    fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    fn store(&self) -> &Store<T> {
        &self.store
    }

    fn log(&self) -> &Log {
        &self.log
    }

    fn parts(&mut self) -> Parts<'_, T> {
        Parts { recovery: &mut self.recovery, store: &mut self.store, log: &mut self.log }
    }

    /// A record is written only when all is locked and validated, and then decides.
    fn decides(&self, records: &[(TransactionId, &[u8])], _: &[(NodeId, &[u8])]) -> Vec<bool> {
        vec![true; records.len()]
    }
}
