// SPDX-License-Identifier: MIT OR Apache-2.0
//! A node's own membership: its view, its lease, and whether it is between two views.

use std::sync::Arc;

use super::{Message, Settings, View};
use crate::engine::{Class, Effects, Endpoint, Instant, NodeId, Stage};
use crate::placement::PartitionId;

/// Where a node is in the course of views.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// In its view.
    Installed,
    /// It has stopped its view, and prepares this one.
    Changing(Arc<View>),
    /// It is a new process and no member yet.
    Outside,
}

/// What a node may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It serves its view, and ends transactions.
    Serving,
    /// Its lease has run out: another view may have begun without it.
    WithoutLease,
    /// It is in no view.
    Stopped,
}

/// A node's view and lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    me: NodeId,
    /// The number of its process: a restarted one has the next.
    incarnation: u32,
    /// `None` if the membership never changes.
    settings: Option<Settings>,
    view: Arc<View>,
    phase: Phase,
    lease_until: Instant,
    renew_at: Instant,
    filled: Vec<PartitionId>,
}

impl Member {
    /// Node `me` in the first view. Its first lease begins with its clock. Without settings, it has no
    /// manager, and needs no lease.
    pub fn new(me: NodeId, settings: Option<Settings>, view: Arc<View>) -> Self {
        let start = Instant::default();
        Self {
            me,
            incarnation: 0,
            settings,
            view,
            phase: Phase::Installed,
            lease_until: settings.map_or(start, |settings| start + settings.lease),
            renew_at: start,
            filled: Vec::new(),
        }
    }

    /// A new process of the same node: in no view, without a lease.
    #[must_use]
    pub fn restarted(&self) -> Self {
        Self {
            incarnation: self.incarnation.wrapping_add(1),
            phase: Phase::Outside,
            lease_until: Instant::default(),
            renew_at: Instant::default(),
            filled: Vec::new(),
            view: Arc::clone(&self.view),
            ..*self
        }
    }

    /// The node.
    pub fn me(&self) -> NodeId {
        self.me
    }

    /// The number of its process.
    pub fn incarnation(&self) -> u32 {
        self.incarnation
    }

    /// How the membership is kept, if it can change.
    pub fn settings(&self) -> Option<&Settings> {
        self.settings.as_ref()
    }

    /// The last view that began for this node, as far as it knows. It may have stopped it.
    pub fn view(&self) -> &Arc<View> {
        &self.view
    }

    /// The number of [`Member::view`].
    pub fn epoch(&self) -> u32 {
        self.view.epoch()
    }

    /// Where it is in the course of views.
    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    /// The view that it prepares.
    pub fn proposed(&self) -> Option<&Arc<View>> {
        match &self.phase {
            Phase::Changing(view) => Some(view),
            Phase::Installed | Phase::Outside => None,
        }
    }

    /// Whether it prepares the view of this number.
    pub fn proposes(&self, epoch: u32) -> bool {
        self.proposed().is_some_and(|view| view.epoch() == epoch)
    }

    /// What it may do now.
    pub fn status(&self, now: Instant) -> Status {
        match self.phase {
            Phase::Changing(_) | Phase::Outside => Status::Stopped,
            Phase::Installed if self.settings.is_none() || now < self.lease_until => {
                Status::Serving
            }
            Phase::Installed => Status::WithoutLease,
        }
    }

    /// Takes the manager's answer: the lease lasts from when it was asked for, by this node's clock.
    pub fn granted(&mut self, incarnation: u32, sent: Instant) {
        if let (Some(settings), true) = (self.settings, incarnation == self.incarnation) {
            self.lease_until = self.lease_until.max(sent + settings.lease);
        }
    }

    /// Whether `view` is news for this process: it is a member of it, and knows none that is newer.
    pub fn accepts(&self, view: &View) -> bool {
        view.epoch() > self.epoch()
            && self.proposed().is_none_or(|proposed| proposed.epoch() < view.epoch())
            && view.incarnation_of(self.me) == Some(self.incarnation)
    }

    /// Stops the view, and prepares another. A new process begins to renew its lease now.
    pub fn change_to(&mut self, view: Arc<View>) {
        if self.phase == Phase::Outside {
            self.renew_at = Instant::default();
        }
        self.phase = Phase::Changing(view);
    }

    /// Begins the view that it prepares, and returns whether there is one.
    pub fn install(&mut self) -> bool {
        let Phase::Changing(view) = &self.phase else { return false };
        self.view = Arc::clone(view);
        self.phase = Phase::Installed;
        self.filled.clear();
        true
    }

    /// Notes that a replica has been filled, for the manager.
    pub fn is_filled(&mut self, partition: PartitionId) {
        if !self.filled.contains(&partition) {
            self.filled.push(partition);
            // Told at once: the manager may need it for the next view.
            self.renew_at = Instant::default();
        }
    }

    /// When it has to be asked to renew its lease, or to join.
    pub fn deadline(&self) -> Option<Instant> {
        self.settings.is_some().then_some(self.renew_at)
    }

    /// Renews the lease, or asks to join, if it is time.
    pub fn renew(&mut self, now: Instant, out: &mut Effects) {
        let Some(settings) = self.settings else { return };
        if now < self.renew_at {
            return;
        }
        self.renew_at = now + settings.renew;
        let (epoch, incarnation) = (self.epoch(), self.incarnation);
        let message = match self.phase {
            Phase::Outside => Message::Join { incarnation },
            Phase::Installed | Phase::Changing(_) => {
                Message::Renew { epoch, incarnation, sent: now, filled: self.filled.clone() }
            }
        };
        tell_manager(&message, out);
    }

    /// Tells the manager that this node is ready for the view that it prepares.
    pub fn tell_recovered(&self, out: &mut Effects) {
        if let Some(view) = self.proposed() {
            let (epoch, incarnation) = (view.epoch(), self.incarnation);
            tell_manager(&Message::Recovered { epoch, incarnation }, out);
        }
    }
}

fn tell_manager(message: &Message, out: &mut Effects) {
    let manager = Endpoint::host(NodeId::MANAGER, 0);
    out.send(manager, Class::Control, Stage::Membership, |bytes| message.encode(bytes));
    out.ring_doorbell();
}
