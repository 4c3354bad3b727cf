// SPDX-License-Identifier: MIT OR Apache-2.0
//! FaSST as the explorer takes it: small clusters, and scripts that meet each other.

use std::collections::BTreeMap;

use cluster::engine::{Endpoint, Key, Node, NodeId, Span, Stage};
use cluster::fasst::{Fasst, Machine, Settings};
use cluster::membership::{self, Phase, kind};
use cluster::placement::PartitionId;
use cluster::transact::digest;

use super::script::{Script, Transaction, key};
use super::subject::Subject;

/// A cluster whose rows are those of the script: one thread a node, and as many workers as asked for.
pub fn cluster(settings: Settings, script: Script) -> Fasst<Script> {
    Fasst::new(settings, script).expect("sound settings")
}

/// Small; as long as a walk follows a worker, it tries again at once.
pub fn small(nodes: u16, backups: u8) -> Settings {
    Settings {
        nodes,
        threads: 1,
        workers: 1,
        backups,
        budget: 1,
        loss_timeout: Span::from_us(1_000),
        patience: 1,
        ..Settings::default()
    }
}

/// With a manager, which replaces nodes that have crashed.
pub fn managed(settings: Settings) -> Settings {
    let span = Span::from_us;
    let membership =
        membership::Settings { lease: span(100), renew: span(60), skew: span(10), retry: span(40) };
    Settings { membership: Some(membership), ..settings }
}

/// Of the rows below `rows`, those of each partition.
pub fn rows_of(cluster: &Fasst<Script>, rows: u64) -> Vec<Vec<u64>> {
    let layout = cluster.layout();
    let of = |partition| {
        let is_there = |row: &u64| layout.partition_of(key(*row)) == PartitionId(partition);
        (0..rows).filter(is_there).collect()
    };
    (0..layout.partitions()).map(of).collect()
}

/// How many rows there are at the start.
pub const ROWS: u64 = 32;

/// A cluster with rows in each partition, and the transactions that `script` makes of them, for each
/// worker.
pub fn scripted(
    settings: &Settings,
    buckets: Option<u32>,
    script: impl FnOnce(&[Vec<u64>]) -> Vec<Vec<Transaction>>,
) -> Fasst<Script> {
    let build = |workers| {
        let cluster = cluster(settings.clone(), Script::new(ROWS, workers));
        match buckets {
            Some(buckets) => cluster.with_buckets(buckets),
            None => cluster,
        }
    };
    let rows = rows_of(&build(Vec::new()), 2 * ROWS);
    build(script(&rows))
}

impl Subject for Fasst<Script> {
    fn workers(&self) -> Vec<(Endpoint, u8)> {
        let settings = self.settings();
        let (threads, workers) = (u32::from(settings.threads), u32::from(settings.workers));
        let place = |worker: u32| {
            let (thread, number) = (worker / workers, (worker % workers) as u8);
            let node = NodeId((thread / threads) as u16);
            (Endpoint::host(node, (thread % threads) as u8), number)
        };
        self.workload().busy_workers().map(place).collect()
    }

    fn rows(&self) -> BTreeMap<Key, u64> {
        self.workload().initial_digests()
    }

    fn replicas(&self, up: &[(NodeId, &Node<Machine<Script>>)], key: Key) -> Vec<(NodeId, u64)> {
        let partition = self.layout().partition_of(key);
        let digest_at = |(id, node): &(NodeId, &Node<Machine<Script>>)| {
            let store = &node.shared.store;
            if *id == NodeId::MANAGER || !store.has(partition) || store.is_filling(partition) {
                return None;
            }
            let mut value = Vec::new();
            let found = store.read(key, &mut value).ok()?;
            Some((*id, digest(found.present.then_some(&value[..]))))
        };
        up.iter().filter_map(digest_at).collect()
    }

    fn renews(&self, stage: Stage, bytes: &[u8]) -> bool {
        // After the number of the view.
        let kind = bytes.get(4).copied().unwrap_or_default();
        stage == Stage::Membership && [kind::RENEW, kind::GRANT].contains(&kind)
    }

    fn is_settled(&self, up: &[(NodeId, &Node<Machine<Script>>)], down: &[NodeId]) -> bool {
        if self.settings().membership.is_none() {
            return true;
        }
        let is_settled = |(id, node): &(NodeId, &Node<Machine<Script>>)| {
            let recovery = &node.shared.recovery;
            let (member, store) = (&recovery.member, &node.shared.store);
            *id == NodeId::MANAGER
                || !recovery.is_busy()
                    && *member.phase() == Phase::Installed
                    && !down.iter().any(|node| member.view().contains(*node))
                    && !self.layout().all().any(|partition| store.is_filling(partition))
        };
        up.iter().all(is_settled)
    }
}
