// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a run must have come to in the end.

use cluster::engine::{Key, Node, NodeId, Protocol};
use cluster::membership::Phase;
use cluster::recovery::Keeps;
use cluster::transact::digest;
use cluster::workload::{ChangedRow, check_totals};

use super::Case;
use crate::check::{Judge, Replayed, Row};
use crate::protocols::Cluster;
use crate::world::{Trace, World};

/// The cluster is at rest: judges all that happened.
pub fn judge<C: Cluster>(case: &Case, cluster: &C, world: &World<C>) -> Result<(), String> {
    world.check_at_rest().map_err(|error| format!("at rest: {error}"))?;
    let judge = Judge::new(cluster.workload(), cluster.layout());
    let name = format!("campaign, seed {}", case.seed);
    let replayed = judge.judge(world.recorder(), case.seed, &name);
    let mut replayed = replayed.map_err(|failure| failure.to_string())?;
    check_end(cluster, world, &mut replayed)
}

/// Compares what the nodes hold at rest with the replay of all transactions, and the workload's sums
/// with what these have changed.
///
/// # Errors
/// A sentence for what is not as it should be.
pub fn check_end<C: Cluster, W: Trace>(
    cluster: &C,
    world: &World<C, W>,
    replayed: &mut Replayed<'_, C::Workload>,
) -> Result<(), String> {
    let up = members::<C>(&world.up());
    if up.is_empty() {
        return Err("no node that is up is a member of a view, so nothing could be checked".into());
    }
    let mut keys: Vec<Key> = replayed.written().map(|row| row.key).collect();
    for (_, node) in &up {
        for partition in cluster.layout().all() {
            keys.extend(node.shared.store().written(partition));
        }
    }
    keys.sort();
    keys.dedup();
    for (id, node) in &up {
        let rows = keys.iter().filter_map(|key| row_at(cluster, node, *key).map(|row| row.0));
        let checked = replayed.check_end(rows);
        checked.map_err(|violation| format!("node {}: {violation}", id.0))?;
    }
    check_sums(cluster, world, &up, &keys)
}

/// A node that is up.
type Up<'a, C> = (NodeId, &'a Node<<C as Protocol>::Machine>);

/// The nodes that are in the newest view. A process that is in none, or in an old one, promises nothing.
fn members<'a, C: Cluster>(up: &[Up<'a, C>]) -> Vec<Up<'a, C>> {
    let newest = up.iter().map(|(_, node)| node.shared.recovery().member.epoch()).max();
    let is_in = |(id, node): &&Up<'a, C>| {
        let member = &node.shared.recovery().member;
        Some(member.epoch()) == newest
            && *member.phase() == Phase::Installed
            && member.view().incarnation_of(*id) == Some(member.incarnation())
    };
    up.iter().filter(is_in).copied().collect()
}

/// A row at a node that has a replica of it, and its value.
fn row_at<C: Cluster>(
    cluster: &C,
    node: &Node<C::Machine>,
    key: Key,
) -> Option<(Row, Option<Vec<u8>>)> {
    let store = node.shared.store();
    let partition = cluster.layout().partition_of(key);
    if !store.has(partition) || store.is_filling(partition) {
        return None;
    }
    let mut value = Vec::new();
    let found = store.read(key, &mut value).ok()?;
    let value = found.present.then_some(value);
    Some((Row { key, version: found.version, digest: digest(value.as_deref()) }, value))
}

/// The workload's own sums.
fn check_sums<C: Cluster, W: Trace>(
    cluster: &C,
    world: &World<C, W>,
    up: &[Up<'_, C>],
    keys: &[Key],
) -> Result<(), String> {
    let value = |key: &Key| {
        let mut found = up.iter().filter_map(|(_, node)| row_at(cluster, node, *key));
        found.next().map(|(_, value)| value).ok_or_else(|| format!("{key:?} has no replica"))
    };
    let values = keys.iter().map(value).collect::<Result<Vec<_>, _>>()?;
    let rows = keys.iter().zip(&values);
    let rows = rows.map(|(key, now)| ChangedRow { key: *key, now: now.as_deref() });
    let recorder = world.recorder();
    let stands = recorder.attempts().iter().filter(|attempt| attempt.is_committed());
    let stands = stands.map(|attempt| (attempt.kind, recorder.accesses(attempt).iter().copied()));
    check_totals(cluster.workload(), rows, stands).map(|_| ()).map_err(|error| error.to_string())
}
