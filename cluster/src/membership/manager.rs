// SPDX-License-Identifier: MIT OR Apache-2.0
//! The configuration manager: a service that is assumed not to fail (FaRM keeps its state in
//! ZooKeeper).
//!
//! It evicts a node when the node's lease has run out by the node's own clock, for certain. All members
//! of the next view then stop the present one, exchange what they have to, and say that they are ready;
//! when the last one has, the view begins. If another node fails before that, the next view is proposed
//! in its place. What it sends it sends again until it is answered, and what it gets may come twice, late
//! or never.

use super::{Message, Settings, View};
use crate::engine::{Class, Effects, Endpoint, Input, Instant, NodeId, Stage};
use crate::placement::{PartitionId, Partitioning};
use crate::wire::WireError;

/// What has happened, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ManagerCounts {
    /// Processes evicted since their leases had run out.
    pub evicted: u64,
    /// Processes that became members anew.
    pub joined: u64,
    /// Views proposed.
    pub proposed: u64,
    /// Views begun.
    pub begun: u64,
    /// Messages that could not be read, or were not for the manager.
    pub malformed: u64,
}

/// What the manager knows of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Known {
    /// The latest process.
    incarnation: u32,
    /// Until when its lease lasts, for certain no longer by its own clock. `None`: it is not alive.
    until: Option<Instant>,
}

/// A view that is being prepared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Pending {
    view: View,
    /// The members that are not ready yet.
    waiting: Vec<NodeId>,
    /// When they are asked again.
    again: Instant,
}

/// The manager.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Manager {
    settings: Settings,
    backups: u16,
    view: View,
    pending: Option<Pending>,
    nodes: Vec<Known>,
    /// Replicas that have been filled in the present view.
    filled: Vec<(PartitionId, NodeId)>,
    lost: Vec<PartitionId>,
    check_at: Instant,
    counts: ManagerCounts,
}

impl Manager {
    /// With the first view, in which all nodes have a lease from their start.
    pub fn new(settings: Settings, layout: &Partitioning) -> Self {
        let until = Some(Instant::default() + settings.lease + settings.skew);
        Self {
            settings,
            backups: layout.backups(),
            view: View::initial(layout),
            pending: None,
            nodes: vec![Known { incarnation: 0, until }; usize::from(layout.partitions())],
            filled: Vec::new(),
            lost: Vec::new(),
            check_at: Instant::default(),
            counts: ManagerCounts::default(),
        }
    }

    /// The view that has begun last.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Whether a change of views is under way.
    pub fn is_changing(&self) -> bool {
        self.pending.is_some()
    }

    /// The partitions that no live node has all rows of. When there is one, more nodes have failed than
    /// the replication bears: its data are lost, and there are no further views.
    pub fn lost(&self) -> &[PartitionId] {
        &self.lost
    }

    /// Whether all replicas of the present view have all rows.
    pub fn is_filled(&self) -> bool {
        self.view.partitions().all(|(id, replicas)| {
            replicas.filling().iter().all(|node| self.filled.contains(&(id, *node)))
        })
    }

    /// What has happened so far.
    pub fn counts(&self) -> &ManagerCounts {
        &self.counts
    }

    /// Handles a poll's worth of inputs.
    pub fn burst(&mut self, now: Instant, inputs: &[Input<'_>], out: &mut Effects) {
        for input in inputs {
            if let Input::Message { from, bytes } = input
                && self.receive(now, from.node, bytes, out).is_err()
            {
                self.counts.malformed += 1;
            }
        }
        if now >= self.check_at {
            self.check_at = now + self.settings.retry;
            self.evict(now, out);
        }
        if self.pending.as_ref().is_some_and(|pending| now >= pending.again) {
            self.ask_again(now, out);
        }
        out.ring_doorbell();
    }

    /// When it has to be called.
    pub fn deadline(&self) -> Option<Instant> {
        let again = self.pending.as_ref().map(|pending| pending.again);
        Some(again.map_or(self.check_at, |again| again.min(self.check_at)))
    }

    fn receive(
        &mut self,
        now: Instant,
        from: NodeId,
        bytes: &[u8],
        out: &mut Effects,
    ) -> Result<(), WireError> {
        let message = Message::decode(bytes)?;
        if from.index() >= self.nodes.len() {
            self.counts.malformed += 1;
            return Ok(());
        }
        match message {
            Message::Renew { epoch, incarnation, sent, filled } => {
                self.renewed(now, from, (epoch, incarnation), sent, filled, out);
            }
            Message::Join { incarnation } => self.join(now, from, incarnation, out),
            Message::Recovered { epoch, incarnation } => {
                self.recovered(from, epoch, incarnation, out);
            }
            _ => self.counts.malformed += 1,
        }
        Ok(())
    }

    fn renewed(
        &mut self,
        now: Instant,
        from: NodeId,
        (epoch, incarnation): (u32, u32),
        sent: Instant,
        filled: Vec<PartitionId>,
        out: &mut Effects,
    ) {
        let known = &mut self.nodes[from.index()];
        if known.incarnation != incarnation || known.until.is_none() {
            let epoch = self.view.epoch();
            return tell(from, &Message::Evicted { epoch, incarnation }, out);
        }
        known.until = Some(now + self.settings.lease + self.settings.skew);
        if epoch == self.view.epoch() {
            for replica in filled.into_iter().map(|partition| (partition, from)) {
                let is_filling = self.view.replicas(replica.0).filling().contains(&from);
                if is_filling && !self.filled.contains(&replica) {
                    self.filled.push(replica);
                }
            }
        }
        // It tells a node also of a view whose begin it has missed.
        tell(from, &Message::Grant { epoch: self.view.epoch(), incarnation, sent }, out);
    }

    /// A new process wants to be a member. If an old one of its node still is, that one is gone: it needs
    /// no lease to run out.
    fn join(&mut self, now: Instant, from: NodeId, incarnation: u32, out: &mut Effects) {
        let known = &mut self.nodes[from.index()];
        if incarnation <= known.incarnation {
            // A member of the next view will be asked again. A process that was evicted has to begin anew:
            // it may have been a member, and have records of transactions that others know nothing of.
            if incarnation == known.incarnation && known.until.is_none() {
                tell(from, &Message::Evicted { epoch: self.view.epoch(), incarnation }, out);
            }
            return;
        }
        let until = Some(now + self.settings.lease + self.settings.skew);
        *known = Known { incarnation, until };
        self.counts.joined += 1;
        self.propose(now, out);
    }

    fn recovered(&mut self, from: NodeId, epoch: u32, incarnation: u32, out: &mut Effects) {
        if epoch == self.view.epoch() {
            return tell(from, &Message::Commit { epoch }, out);
        }
        let Some(pending) = &mut self.pending else { return };
        if epoch != pending.view.epoch() || pending.view.incarnation_of(from) != Some(incarnation) {
            return;
        }
        pending.waiting.retain(|node| *node != from);
        if !pending.waiting.is_empty() {
            return;
        }
        if let Some(pending) = self.pending.take() {
            self.view = pending.view;
            self.filled.clear();
            self.counts.begun += 1;
            for node in self.view.members() {
                tell(node, &Message::Commit { epoch }, out);
            }
        }
    }

    fn evict(&mut self, now: Instant, out: &mut Effects) {
        let mut found = 0;
        for known in &mut self.nodes {
            if known.until.is_some_and(|until| until < now) {
                known.until = None;
                found += 1;
            }
        }
        if found > 0 {
            self.counts.evicted += found;
            self.propose(now, out);
        }
    }

    /// Proposes the next view, of the processes that are alive. Its replicas follow from those of the
    /// last view that has begun, for nobody has dropped any since.
    fn propose(&mut self, now: Instant, out: &mut Effects) {
        if !self.lost.is_empty() {
            return;
        }
        let nodes = (0..).map(NodeId).zip(&self.nodes);
        let alive = nodes.filter(|(_, known)| known.until.is_some());
        let alive: Vec<_> = alive.map(|(node, known)| (node, known.incarnation)).collect();
        let last = self.pending.as_ref().map_or(&self.view, |pending| &pending.view);
        let epoch = last.epoch() + 1;
        let view = self.view.next(epoch, &alive, &self.filled, self.backups);
        self.lost = view.lost().collect();
        if !self.lost.is_empty() {
            self.pending = None;
            return;
        }
        self.counts.proposed += 1;
        let waiting = view.members().collect();
        self.pending = Some(Pending { view, waiting, again: now });
        self.ask_again(now, out);
    }

    fn ask_again(&mut self, now: Instant, out: &mut Effects) {
        let Some(pending) = &mut self.pending else { return };
        pending.again = now + self.settings.retry;
        let message = Message::Prepare { view: pending.view.clone() };
        for node in &pending.waiting {
            tell(*node, &message, out);
        }
    }
}

fn tell(node: NodeId, message: &Message, out: &mut Effects) {
    let to = Endpoint::host(node, 0);
    out.send(to, Class::Control, Stage::Membership, |bytes| message.encode(bytes));
}
