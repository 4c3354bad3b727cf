// SPDX-License-Identifier: MIT OR Apache-2.0
//! A plan as it happens: which frames it has met, and what it did to them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use cluster::engine::{NodeId, Stage};
use cluster::mix;
use timing::Time;

use super::{Fate, Fault, FaultKind, FaultPlan, Faults, FrameNote, Frames, Happening, NodeName};

/// How often each kind of fault has met each stage of a protocol.
///
/// A fault of frames meets the stages of those frames; one of a node for a while those of the frames
/// that it sends meanwhile. A crash meets the stage of the frame at which it happens, or of the last
/// one that the node has sent; a restart that of the last frame of anybody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hits([[u64; Stage::COUNT]; FaultKind::COUNT]);

impl Hits {
    /// How often.
    pub fn of(&self, kind: FaultKind, stage: Stage) -> u64 {
        self.0[kind as usize][stage as usize]
    }

    /// Adds those of another run.
    pub fn add(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            *own += other;
        }
    }

    fn hit(&mut self, kind: FaultKind, stage: Stage) {
        self.0[kind as usize][stage as usize] += 1;
    }
}

impl std::fmt::Display for Hits {
    /// A table: a line for each kind, a column for each stage.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:10}", "")?;
        Stage::ALL.iter().try_for_each(|stage| write!(f, "{:>14}", stage.name()))?;
        for kind in FaultKind::ALL {
            write!(f, "\n{:10}", kind.name())?;
            Stage::ALL.iter().try_for_each(|stage| write!(f, "{:14}", self.of(kind, *stage)))?;
        }
        Ok(())
    }
}

/// The hits of a plan that a world has taken.
#[derive(Clone, Debug, Default)]
pub struct HitsView(Arc<Mutex<Hits>>);

impl HitsView {
    /// The hits so far.
    pub fn get(&self) -> Hits {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A plan at work.
#[derive(Debug)]
pub struct ActivePlan {
    rules: Vec<Rule>,
    happenings: Vec<(Time, NodeId, Happening)>,
    /// Nodes that are slow, stand still or have a clock of their own: until when.
    spans: Vec<(FaultKind, NodeId, Time, Time)>,
    due: Vec<(NodeId, Happening)>,
    /// Crashes at a frame, and its stage.
    crashing: Vec<(Time, NodeId, Stage)>,
    last_stages: Vec<(NodeId, Stage)>,
    last_stage: Stage,
    /// From this time on there are no faults of frames.
    until: Time,
    hits: Hits,
    view: HitsView,
    reported: Hits,
}

#[derive(Debug)]
struct Rule {
    fault: Fault,
    /// How many frames it would have been about.
    met: u64,
}

impl ActivePlan {
    /// The plan, to be given to a world. After `until` all is well again: nothing happens to frames,
    /// nodes have their speed and clocks their rate; what has crashed stays so.
    pub fn new(plan: &FaultPlan, until: Time) -> Self {
        let mut active = Self {
            rules: Vec::new(),
            happenings: Vec::new(),
            crashing: Vec::new(),
            spans: Vec::new(),
            due: Vec::new(),
            last_stages: Vec::new(),
            last_stage: Stage::Execute,
            until,
            hits: Hits::default(),
            view: HitsView::default(),
            reported: Hits::default(),
        };
        plan.faults.iter().for_each(|fault| active.take(fault));
        active.slow_down(plan);
        active.happenings.sort_by_key(|(at, ..)| *at);
        active
    }

    /// Where the hits can be read while a world has the plan.
    pub fn view(&self) -> HitsView {
        self.view.clone()
    }

    fn take(&mut self, fault: &Fault) {
        let until = self.until;
        let ns = |ns| Time::from_ns(ns).min(until);
        match fault {
            Fault::Crash { node, at_ns: Some(at), .. } => {
                if Time::from_ns(*at) < until {
                    self.happen(ns(*at), *node, Happening::Crash);
                }
            }
            // To come back is no fault.
            Fault::Restart { node, at_ns } => {
                self.happen(Time::from_ns(*at_ns), *node, Happening::Restart);
            }
            Fault::Slow { node, from_ns, until_ns, .. } => {
                let (from, end) = (ns(*from_ns), ns(*until_ns));
                self.spans.push((FaultKind::Slow, NodeId(*node), from, end));
            }
            Fault::Pause { node, at_ns, for_ns } => {
                let (at, length) = (Time::from_ns(*at_ns), Time::from_ns(*for_ns));
                if at < until {
                    self.happen(at, *node, Happening::Pause { length });
                    // What it sends first afterwards is what the pause has met.
                    let end = (at + length).saturating_add(length);
                    self.spans.push((FaultKind::Pause, NodeId(*node), at, end));
                }
            }
            Fault::Clock { node, at_ns, ahead_ns, drift_ppm } => {
                let (ahead, at) = (Time::from_ns(*ahead_ns), Time::from_ns(*at_ns));
                if at >= until {
                    return;
                }
                self.happen(at, *node, Happening::Clock { ahead, drift: *drift_ppm });
                let well = Happening::Clock { ahead: Time::ZERO, drift: 0 };
                if until < Time::MAX {
                    self.happen(until, *node, well);
                }
                self.spans.push((FaultKind::Clock, NodeId(*node), at, until));
            }
            _ => self.rules.push(Rule { fault: fault.clone(), met: 0 }),
        }
    }

    /// A node is as slow as the slowest fault that is in force at the time, so the end of one does not end another.
    fn slow_down(&mut self, plan: &FaultPlan) {
        let slow = plan.faults.iter().filter_map(|fault| match fault {
            Fault::Slow { node, factor, from_ns, until_ns } => {
                let [from, end] = [from_ns, until_ns].map(|ns| Time::from_ns(*ns).min(self.until));
                Some((*node, *factor, from..end))
            }
            _ => None,
        });
        let slow: Vec<_> = slow.collect();
        let turns =
            slow.iter().flat_map(|(node, _, span)| [(*node, span.start), (*node, span.end)]);
        let turns: BTreeSet<(u16, Time)> = turns.collect();
        for (node, at) in turns {
            let in_force = slow.iter().filter(|(of, _, span)| *of == node && span.contains(&at));
            let factor = in_force.map(|(_, factor, _)| *factor).max().unwrap_or(1000);
            self.happen(at, node, Happening::Slow { factor });
        }
    }

    fn happen(&mut self, at: Time, node: u16, happening: Happening) {
        self.happenings.push((at, NodeId(node), happening));
    }

    /// Counts what this frame meets, beside the rules.
    fn note(&mut self, now: Time, frame: &FrameNote) {
        for (kind, node, from, until) in &self.spans {
            if *node == frame.from.node && (*from..*until).contains(&now) {
                self.hits.hit(*kind, frame.stage);
            }
        }
        self.last_stage = frame.stage;
        match self.last_stages.iter_mut().find(|(node, _)| *node == frame.from.node) {
            Some((_, stage)) => *stage = frame.stage,
            None => self.last_stages.push((frame.from.node, frame.stage)),
        }
    }

    /// Lets others see the hits.
    fn publish(&mut self) {
        if self.hits != self.reported {
            self.reported = self.hits;
            *self.view.0.lock().unwrap_or_else(PoisonError::into_inner) = self.hits;
        }
    }

    /// The stage that the crash of a node meets.
    fn stage_of_crash(&mut self, now: Time, node: NodeId) -> Stage {
        self.crashing.retain(|(at, ..)| *at == now);
        if let Some((.., stage)) = self.crashing.iter().find(|(_, other, _)| *other == node) {
            return *stage;
        }
        let last = self.last_stages.iter().find(|(other, _)| *other == node);
        last.map_or(self.last_stage, |(_, stage)| *stage)
    }

    /// What the rules make of a frame. Delays add up, and of several second times the latest counts. A frame that is
    /// lost is neither late nor doubled.
    fn decide(&mut self, now: Time, frame: &FrameNote) -> Fate {
        let (mut delay, mut twice, mut lost) = (Time::ZERO, None, false);
        for rule in &mut self.rules {
            let Some(draw) = rule.meets(now, frame) else { continue };
            match &rule.fault {
                Fault::Drop { .. } | Fault::Cut { .. } => lost = true,
                Fault::Delay { by_ns, .. } => delay += Time::from_ns(*by_ns),
                Fault::Reorder { within_ns, .. } => {
                    delay += Time::from_ps(draw % (within_ns * 1000));
                }
                Fault::Duplicate { after_ns, .. } => {
                    twice = twice.max(Some(Time::from_ns(*after_ns)));
                }
                Fault::Crash { node, .. } => {
                    self.due.push((NodeId(*node), Happening::Crash));
                    self.crashing.push((now, NodeId(*node), frame.stage));
                    continue;
                }
                _ => {}
            }
            self.hits.hit(rule.fault.kind(), frame.stage);
        }
        match (lost, twice) {
            (true, _) => Fate::Drop,
            (_, Some(after)) => Fate::Duplicate { delay, after },
            _ if delay > Time::ZERO => Fate::Delay(delay),
            _ => Fate::Deliver,
        }
    }
}

impl Faults for ActivePlan {
    fn happenings(&self) -> &[(Time, NodeId, Happening)] {
        &self.happenings
    }

    fn fate(&mut self, now: Time, frame: &FrameNote) -> Fate {
        self.note(now, frame);
        let fate = if now < self.until { self.decide(now, frame) } else { Fate::Deliver };
        self.publish();
        fate
    }

    fn happened(&mut self, now: Time, node: NodeId, happening: &Happening) {
        match happening {
            Happening::Crash => {
                let stage = self.stage_of_crash(now, node);
                self.hits.hit(FaultKind::Crash, stage);
            }
            Happening::Restart => self.hits.hit(FaultKind::Restart, self.last_stage),
            _ => {}
        }
        self.publish();
    }

    fn due(&mut self) -> Option<(NodeId, Happening)> {
        self.due.pop()
    }
}

impl Rule {
    /// A draw, if the rule is about this frame.
    fn meets(&mut self, now: Time, frame: &FrameNote) -> Option<u64> {
        if let Fault::Cut { nodes, others, from_ns, until_ns, one_way } = &self.fault {
            let span = Time::from_ns(*from_ns)..Time::from_ns(*until_ns);
            let (from, to) = (NodeName(frame.from.node), NodeName(frame.to.node));
            let is_other = |name| match others.is_empty() {
                true => !nodes.contains(name),
                false => others.contains(name),
            };
            let out = nodes.contains(&from) && is_other(&to);
            let back = !one_way && nodes.contains(&to) && is_other(&from);
            return (span.contains(&now) && (out || back)).then_some(0);
        }
        let frames = self.fault.frames()?;
        if !frames.are(now, frame) {
            return None;
        }
        let number = self.met;
        self.met += 1;
        let draw = mix(frames.seed ^ mix(number));
        let bites = match (frames.nth, frames.per_mille) {
            (Some(nth), _) => nth == number,
            (None, Some(per_mille)) => draw % 1000 < u64::from(per_mille),
            (None, None) => true,
        };
        bites.then(|| mix(draw))
    }
}

impl Frames {
    /// Whether this frame is one of them, before any draw.
    fn are(&self, now: Time, frame: &FrameNote) -> bool {
        self.from.is_none_or(|from| from.0 == frame.from.node)
            && self.to.is_none_or(|to| to.0 == frame.to.node)
            && self.stage.is_none_or(|stage| stage == frame.stage)
            && self.from_ns.is_none_or(|from| now >= Time::from_ns(from))
            && self.until_ns.is_none_or(|until| now < Time::from_ns(until))
    }
}
