// SPDX-License-Identifier: MIT OR Apache-2.0
//! What holds of a cluster at rest.

use crate::engine::NodeId;
use crate::membership::{Member, Phase};
use crate::store::Store;
use crate::store::log::Log;
use crate::transact::Transactions;

/// What is looked at of one node.
#[derive(Clone, Copy, Debug)]
pub struct AtRest<'a, T> {
    /// The node.
    pub node: NodeId,
    /// Its rows.
    pub store: &'a Store<T>,
    /// Its log.
    pub log: &'a Log,
    /// Its view.
    pub member: &'a Member,
}

/// Checks the nodes that are up when nothing is under way: the members of the newest view have no locked
/// row and no record, and all replicas of a partition that have all rows are equal to the primary's.
///
/// A process that is in no view, or an old one, promises nothing and is not looked at.
///
/// # Errors
/// A sentence for the first condition that does not hold.
pub fn check_at_rest<T: Transactions>(up: &[AtRest<'_, T>]) -> Result<(), String> {
    let Some(newest) = up.iter().map(|node| node.member.epoch()).max() else { return Ok(()) };
    let is_in = |node: &&AtRest<'_, T>| {
        node.member.epoch() == newest
            && *node.member.phase() == Phase::Installed
            && node.member.view().incarnation_of(node.node) == Some(node.member.incarnation())
    };
    let members: Vec<_> = up.iter().filter(is_in).collect();
    for node in &members {
        if let Some((header, by)) = node.store.locked() {
            let (node, header) = (node.node.0, node.store.layout().name_of(header));
            return Err(format!(
                "node {node}: {header} is locked at rest, by attempt {:#018x}",
                by.0
            ));
        }
        if let Some((transaction, _)) = node.log.records().first() {
            return Err(format!(
                "node {}: the log has {} records at rest, the first of attempt {:#018x}",
                node.node.0,
                node.log.len(),
                transaction.0
            ));
        }
    }
    let Some(first) = members.first() else { return Ok(()) };
    for (partition, replicas) in first.member.view().partitions() {
        let of = |node: NodeId| members.iter().find(|member| member.node == node);
        let Some(primary) = replicas.nodes().first().and_then(|node| of(*node)) else { continue };
        for backup in replicas.nodes()[1..].iter().filter_map(|node| of(*node)) {
            if backup.store.is_filling(partition) {
                continue;
            }
            if !backup.store.has(partition) {
                let (node, partition) = (backup.node.0, partition.0);
                return Err(format!("node {node} has no replica of partition {partition}"));
            }
            if let Some(difference) = primary.store.difference(backup.store, partition) {
                return Err(format!(
                    "partition {}: its primary, node {}, and its backup, node {}, differ: {difference}",
                    partition.0, primary.node.0, backup.node.0
                ));
            }
        }
    }
    Ok(())
}
