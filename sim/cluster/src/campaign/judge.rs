// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a run must have come to in the end.

use cluster::engine::{Access, Ending, Key, Node, NodeId, Protocol};
use cluster::membership::{Manager, Phase};
use cluster::recovery::Keeps;
use cluster::transact::digest;
use cluster::workload::{ChangedRow, check_totals};

use super::Case;
use super::promise::{self, Beyond};
use crate::check::{Judge, Replayed, Row};
use crate::protocols::Cluster;
use crate::world::recorder::Recorder;
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

/// More processes have ended than rows have backups: judges what is promised all the same. The history until then is
/// judged without the points that transactions claim, as nobody knows how those under way have ended. If the cluster
/// has gone on to rest, no acknowledged change is undone of which a record has survived.
pub fn judge_beyond<C: Cluster>(
    case: &Case,
    cluster: &C,
    world: &World<C>,
    beyond: &Beyond,
    rests: bool,
) -> Result<(), String> {
    let known = world.recorder().until(beyond.at);
    let judge = Judge::new(cluster.workload(), cluster.layout());
    let name = format!("campaign, seed {}, beyond f", case.seed);
    let history = judge.history(&known, case.seed, &name).map_err(|error| error.to_string())?;
    let report = history.check(&history::Options::default());
    if !report.is_clean() {
        return Err(format!("before more ended than there are backups: {report}"));
    }
    let goes_on = |manager: &Manager| manager.lost().is_empty() && !manager.is_changing();
    match rests && promise::manager(world).is_some_and(goes_on) {
        true => check_kept(cluster, world, &known, beyond),
        false => Ok(()),
    }
}

/// An acknowledged change has a record at its coordinator and at as many other nodes as there are backups: its
/// backups, and its primary in the place of a coordinator among them. As long as one of these has not ended, and its
/// partition is not lost, it stands.
fn check_kept<C: Cluster>(
    cluster: &C,
    world: &World<C>,
    known: &Recorder,
    beyond: &Beyond,
) -> Result<(), String> {
    let up = members::<C>(&world.up());
    let has_record = |coordinator: NodeId, key: Key| {
        let partition = cluster.layout().partition_of(key);
        let backups = beyond.view.backups(partition);
        let primary = beyond.view.primary(partition).filter(|_| backups.contains(&coordinator));
        let mut holders = backups.iter().copied().chain(primary).chain([coordinator]);
        let is_member = |node: NodeId| up.iter().any(|(id, _)| *id == node);
        holders.any(|node| is_member(node) && promise::runs(world, &beyond.view, node))
    };
    let told = known.attempts().iter().filter(|it| it.ending() == Some(Ending::Committed));
    for attempt in told {
        let coordinator = attempt.transaction.node();
        let writes = known.accesses(attempt).iter().map(|access| Access::from(*access));
        for Access { key, version, .. } in writes.filter(|access| access.writes) {
            if !has_record(coordinator, key) {
                continue;
            }
            for (id, node) in &up {
                let row = row_at(cluster, node, key).filter(|(row, _)| row.version < version);
                if let Some((row, _)) = row {
                    return Err(format!(
                        "an acknowledged change is lost: node {} has version {} of {key:?}, and {:#x} made \
                         version {version}",
                        id.0, row.version, attempt.transaction.0
                    ));
                }
            }
        }
    }
    Ok(())
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
