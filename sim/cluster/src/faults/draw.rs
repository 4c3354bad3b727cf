// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plans drawn from a seed: faults that a cluster has to outlive.

use cluster::engine::{NodeId, Stage};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Fault, FaultPlan, Frames, NodeName};

/// What a cluster has to outlive, by which plans are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dangers {
    /// The nodes of the cluster.
    pub nodes: u16,
    /// How many of them may end: as many as a row has backups, as all may end at once.
    pub tolerated: u16,
    /// How long there are faults.
    pub span_ns: u64,
    /// How long a lease lasts. A plan lets it run out, at nodes that may end alone.
    pub lease_ns: u64,
    /// How long a process waits for an answer until it ends itself. Longer than two leases: a node
    /// that is gone has been replaced by then.
    pub loss_ns: u64,
    /// How far clocks may come apart in the run.
    pub skew_ns: u64,
}

impl FaultPlan {
    /// Draws a plan. At most [`Dangers::tolerated`] processes end by it, for the protocols whose
    /// processes end themselves as a message is lost, too.
    pub fn draw(seed: u64, dangers: &Dangers) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut nodes: Vec<u16> = (0..dangers.nodes).collect();
        nodes.shuffle(&mut random);
        nodes.truncate(random.random_range(0..=usize::from(dangers.tolerated)));
        let mut draw = Draw { random, dangers: *dangers, victims: nodes, plan: Self::default() };
        for _ in 0..draw.random.random_range(1..=6) {
            draw.add_harmless();
        }
        while let Some(victim) = draw.victims.pop() {
            draw.add_deadly(victim);
        }
        draw.plan.faults.shuffle(&mut draw.random);
        draw.plan.of_the_living()
    }

    /// Draws a plan in which a coordinator may have the only record of a transaction, if rows have one backup:
    /// as it asks a primary for a change, the node crashes that has the other record, and the request comes
    /// only when the others have gone on without that node. Beside that there are a few harmless faults.
    pub fn lone_record(seed: u64, dangers: &Dangers) -> Self {
        let random = ChaCha8Rng::seed_from_u64(seed);
        let plan = Self::default();
        let mut draw = Draw { random, dangers: *dangers, victims: Vec::new(), plan };
        for _ in 0..draw.random.random_range(0..=2) {
            draw.add_harmless();
        }
        draw.add_lone_record();
        draw.plan.of_the_living()
    }

    /// Draws a plan in which one node outlives its lease: it stands still until the others have replaced
    /// it and go on, and then wakes up and has not heard of it, often with a clock that is behind. The
    /// manager may be out of its reach for a while longer. Beside that there are a few harmless faults.
    pub fn outlive_lease(seed: u64, dangers: &Dangers) -> Self {
        let random = ChaCha8Rng::seed_from_u64(seed);
        let plan = Self::default();
        let mut draw = Draw { random, dangers: *dangers, victims: Vec::new(), plan };
        for _ in 0..draw.random.random_range(0..=2) {
            draw.add_harmless();
        }
        draw.add_stale();
        draw.plan
    }
}

struct Draw {
    random: ChaCha8Rng,
    dangers: Dangers,
    /// The nodes that may end and have no reason yet.
    victims: Vec<u16>,
    plan: FaultPlan,
}

/// The stages whose frames a process waits for.
const AWAITED: [Stage; 6] =
    [Stage::Execute, Stage::Validate, Stage::Log, Stage::Backup, Stage::Primary, Stage::Abort];

impl Draw {
    fn up_to(&mut self, most: u64) -> u64 {
        self.random.random_range(1..=most.max(1))
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.random.random_range(0..100) < percent
    }

    /// A time at which there are faults.
    fn time(&mut self) -> u64 {
        self.up_to(self.dangers.span_ns)
    }

    fn span(&mut self, most: u64) -> (u64, u64) {
        let from = self.time();
        (from, from + self.up_to(most))
    }

    fn node(&mut self) -> u16 {
        self.random.random_range(0..self.dangers.nodes)
    }

    /// The number of a frame of a stage. Of some there are few.
    fn number(&mut self, stage: Option<Stage>) -> u64 {
        let most = match stage {
            Some(Stage::Copy) => 4,
            Some(Stage::Execute) | None => 200,
            _ => 40,
        };
        self.random.random_range(0..most)
    }

    /// Frames of any kind: one, or a share of those of a while.
    fn frames(&mut self) -> Frames {
        let mut frames = Frames::default();
        if self.chance(40) {
            frames.from = Some(NodeName(NodeId(self.node())));
        }
        if self.chance(40) {
            frames.to = Some(NodeName(NodeId(self.node()))).filter(|to| Some(*to) != frames.from);
        }
        if self.chance(70) {
            // The last one is a benchmark's.
            frames.stage = Some(Stage::ALL[self.random.random_range(0..Stage::COUNT - 1)]);
        }
        if self.chance(30) {
            frames.nth = Some(self.number(frames.stage));
            return frames;
        }
        frames.per_mille = Some(self.up_to(300) as u32);
        frames.seed = self.random.random_range(1..u64::from(u32::MAX));
        if self.chance(50) {
            let (from, until) = self.span(self.dangers.span_ns / 2);
            (frames.from_ns, frames.until_ns) = (Some(from), Some(until));
        }
        frames
    }

    /// A fault that ends no process. Delays add up, and leases and answers have to come in time.
    fn add_harmless(&mut self) {
        let late = self.dangers.lease_ns.min(self.dangers.loss_ns) / 16;
        let fault = match self.random.random_range(0..10) {
            0 | 1 => Fault::Delay { frames: self.frames(), by_ns: self.up_to(late) },
            2 | 3 => Fault::Reorder { frames: self.frames(), within_ns: self.up_to(late) },
            4 | 5 => Fault::Duplicate { frames: self.frames(), after_ns: self.up_to(late) },
            6 => {
                let (from_ns, until_ns) = self.span(self.dangers.span_ns / 2);
                let factor = self.random.random_range(1_100..6_000);
                Fault::Slow { node: self.node(), factor, from_ns, until_ns }
            }
            7 => {
                let (at_ns, for_ns) = (self.time(), self.up_to(late));
                Fault::Pause { node: self.node(), at_ns, for_ns }
            }
            8 => {
                let (at_ns, most) = (self.time(), self.dangers.skew_ns / 4);
                let drift = (most * 1_000_000 / self.dangers.span_ns.max(1)).min(20_000) as i32;
                let drift_ppm = self.random.random_range(-drift..=drift);
                Fault::Clock { node: self.node(), at_ns, ahead_ns: self.up_to(most), drift_ppm }
            }
            // One message of membership: those are sent again.
            _ => {
                let stage = Some(Stage::Membership);
                let nth = Some(self.random.random_range(0..60));
                Fault::Drop { frames: Frames { stage, nth, ..self.frames().of_one() } }
            }
        };
        self.plan.faults.push(fault);
    }

    /// A fault by which this node ends, and perhaps another of those that may.
    fn add_deadly(&mut self, victim: u16) {
        let name = NodeName(NodeId(victim));
        let fault = match self.random.random_range(0..10) {
            0 => Fault::Crash { node: victim, at_ns: Some(self.time()), at_frame: None },
            1..=3 => {
                let stage = Some(self.stage(true));
                let nth = Some(self.number(stage));
                let mut frames = Frames { stage, nth, ..Frames::default() };
                match self.chance(60) {
                    true => frames.from = Some(name),
                    false => frames.to = Some(name),
                }
                Fault::Crash { node: victim, at_ns: None, at_frame: Some(frames) }
            }
            // A lost message ends the process that waits for it or for its answer.
            4..=6 => {
                let stage = Some(self.stage(false));
                let nth = Some(self.number(stage));
                Fault::Drop { frames: Frames { stage, nth, ..Frames::default() } }
            }
            // Alone until its lease has run out.
            7 => {
                let from_ns = self.time();
                let until_ns = from_ns + 3 * self.dangers.lease_ns + self.up_to(from_ns);
                let (nodes, one_way) = (vec![name], self.chance(30));
                Fault::Cut { nodes, others: Vec::new(), from_ns, until_ns, one_way }
            }
            8 => {
                let (at_ns, lease) = (self.time(), self.dangers.lease_ns);
                Fault::Pause { node: victim, at_ns, for_ns: lease + self.up_to(2 * lease) }
            }
            _ => self.cut_off(name),
        };
        self.plan.faults.push(fault);
        if self.chance(50) {
            self.restart(victim);
        }
    }

    /// A node that stands still for longer than its lease.
    fn add_stale(&mut self) {
        let Dangers { lease_ns: lease, skew_ns: skew, span_ns: span, .. } = self.dangers;
        let (node, at_ns) = (self.node(), self.up_to(span / 2));
        if self.chance(50) {
            let drift = (skew / 4 * 1_000_000 / span.max(1)).min(20_000) as i32;
            self.plan.faults.push(Fault::Clock { node, at_ns: 0, ahead_ns: 0, drift_ppm: -drift });
        }
        let for_ns = lease + skew + self.up_to(2 * lease);
        self.plan.faults.push(Fault::Pause { node, at_ns, for_ns });
        if self.chance(70) {
            let (nodes, others) = (vec![NodeName(NodeId(node))], vec![NodeName(NodeId::MANAGER)]);
            let until_ns = at_ns + for_ns + self.up_to(lease);
            let cut = Fault::Cut { nodes, others, from_ns: at_ns, until_ns, one_way: false };
            self.plan.faults.push(cut);
        }
        if self.chance(50) {
            let at_ns = at_ns + for_ns + 2 * lease + self.up_to(span / 4);
            self.plan.faults.push(Fault::Restart { node, at_ns });
        }
    }

    /// Each node has its log replica and its backup at the next one, as long as all are there.
    fn add_lone_record(&mut self) {
        let Dangers { nodes, lease_ns: lease, skew_ns: skew, loss_ns: loss, .. } = self.dangers;
        let coordinator = self.node();
        let log_replica = (coordinator + 1) % nodes;
        let primary = (coordinator + self.random.random_range(2..nodes.max(3))) % nodes;
        let name = |node| Some(NodeName(NodeId(node)));
        let frames = Frames {
            from: name(coordinator),
            to: name(primary),
            stage: Some(Stage::Primary),
            nth: Some(self.random.random_range(0..12)),
            ..Frames::default()
        };
        // Longer than it takes to find out and to change the view, and no loss.
        let least = 2 * (lease + skew);
        let by_ns = least + self.up_to(loss.saturating_sub(least + lease));
        self.plan.faults.push(Fault::Delay { frames: frames.clone(), by_ns });
        let crash = Fault::Crash { node: log_replica, at_ns: None, at_frame: Some(frames) };
        self.plan.faults.push(crash);
        if self.chance(50) {
            self.restart(log_replica);
        }
    }

    /// A stage whose frames a process waits for, or one beside transactions.
    fn stage(&mut self, or_membership: bool) -> Stage {
        let others: &[Stage] = match or_membership {
            true => &[Stage::Copy, Stage::Copy, Stage::Membership],
            false => &[Stage::Copy, Stage::Copy],
        };
        let place = self.random.random_range(0..AWAITED.len() + others.len());
        *AWAITED.iter().chain(others).nth(place).unwrap_or(&Stage::Copy)
    }

    /// A cut from another node that may end, or from the manager if there is none.
    fn cut_off(&mut self, name: NodeName) -> Fault {
        let (from_ns, until_ns) = self.span(4 * self.dangers.lease_ns);
        let other = self.victims.pop().map_or(NodeId::MANAGER, NodeId);
        let (nodes, others) = (vec![name], vec![NodeName(other)]);
        Fault::Cut { nodes, others, from_ns, until_ns, one_way: self.chance(30) }
    }

    /// The node comes back, if it is gone by then. One that ends itself needs a while for that.
    fn restart(&mut self, node: u16) {
        let last = match self.plan.faults.last() {
            Some(Fault::Crash { at_ns: Some(at), .. }) => *at,
            Some(Fault::Crash { .. }) => self.dangers.span_ns / 2,
            _ => self.dangers.span_ns / 2 + self.dangers.loss_ns,
        };
        let at_ns = last + self.up_to(self.dangers.span_ns / 2);
        self.plan.faults.push(Fault::Restart { node, at_ns });
    }
}

impl Frames {
    /// Those between the same nodes, without a share and a span.
    fn of_one(self) -> Self {
        Self { from: self.from, to: self.to, ..Self::default() }
    }
}
