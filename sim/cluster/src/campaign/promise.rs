// SPDX-License-Identifier: MIT OR Apache-2.0
//! Up to when a run has to keep all that is promised: until more processes have ended than rows have backups.
//!
//! What counts are processes of the present view that have ended, and those that ended before it and whose
//! replicas are not filled anew yet (`docs/recovery.md`). The manager knows both.

use cluster::engine::NodeId;
use cluster::membership::{Manager, View};
use cluster::recovery::Keeps;
use timing::Time;

use crate::protocols::Cluster;
use crate::world::World;

/// How often it is looked who has ended. No change of views is shorter.
const LOOK: Time = Time::from_us(2);

/// Follows a run.
#[derive(Clone, Debug)]
pub struct Promise {
    backups: u16,
    /// The present view.
    view: Option<View>,
    /// Processes that ended before it, and that new replicas have not made good yet.
    gone_before: u16,
    last_look: Time,
    beyond: Option<Beyond>,
}

/// More processes have ended than rows have backups.
#[derive(Clone, Debug)]
pub struct Beyond {
    /// Until then it was not so.
    pub at: Time,
    /// The view in which it happened.
    pub view: View,
}

impl Promise {
    /// Of a cluster with so many backups of each row.
    pub fn new(backups: u8) -> Self {
        let backups = backups.into();
        Self { backups, view: None, gone_before: 0, last_look: Time::ZERO, beyond: None }
    }

    /// Since when nothing more is promised, if it is so.
    pub fn beyond(&self) -> Option<&Beyond> {
        self.beyond.as_ref()
    }

    /// Runs up to a point of time.
    pub fn run_until<C: Cluster>(&mut self, world: &mut World<C>, limit: Time) {
        while world.now() < limit {
            world.run_until((world.now() + LOOK).min(limit));
            self.look(world);
        }
    }

    /// Looks who has ended.
    pub fn look<C: Cluster>(&mut self, world: &World<C>) {
        let Some(manager) = manager(world) else { return };
        let now = manager.view();
        let before = self.view.get_or_insert_with(|| now.clone());
        if before.epoch() != now.epoch() {
            let stays = |node| now.incarnation_of(node) == before.incarnation_of(node);
            self.gone_before += before.members().filter(|node| !stays(*node)).count() as u16;
            *before = now.clone();
        }
        let members = now.members().len() as u16;
        if manager.is_filled() {
            // Where too few nodes are left for all replicas, one process less may end.
            self.gone_before = (self.backups + 1).saturating_sub(members);
        }
        let running = now.members().filter(|node| runs(world, now, *node)).count() as u16;
        if self.gone_before + members - running > self.backups && self.beyond.is_none() {
            self.beyond = Some(Beyond { at: self.last_look, view: now.clone() });
        }
        self.last_look = world.now();
    }
}

/// Whether the process of a node that is a member of a view still runs.
pub fn runs<C: Cluster>(world: &World<C>, view: &View, node: NodeId) -> bool {
    let incarnation = world.node(node).map(|up| up.shared.recovery().member.incarnation());
    incarnation.is_some() && incarnation == view.incarnation_of(node)
}

/// The manager, if the cluster has one.
pub fn manager<C: Cluster>(world: &World<C>) -> Option<&Manager> {
    world.node(NodeId::MANAGER)?.parts.iter().find_map(C::manager_of)
}
