// SPDX-License-Identifier: MIT OR Apache-2.0
//! A small world in virtual time: nodes, their manager, messages that take a while, and failures.

use std::collections::BTreeMap;
use std::ops::Range;

use cluster::engine::{
    Effects, Endpoint, Input, Instant, Key, Machine as _, Node, NodeId, Part, Point, Protocol,
    Span, Stage,
};
use cluster::fasst::{Fasst, Machine, Settings};
use cluster::membership;
use cluster::placement::HeaderId;
use cluster::transact::{Transactions, digest};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::courses::Courses;

/// What may go wrong with messages, as one in so many; 0 for never.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// RPCs are lost.
    pub lost_rpcs: u32,
    /// Messages of membership and recovery are lost.
    pub lost_control: u32,
    /// Copies for replicas that are being filled are lost.
    pub lost_copies: u32,
    /// Messages are delivered twice.
    pub twice: u32,
    /// RPCs are late.
    pub late_rpcs: u32,
    /// All messages are late.
    pub late: u32,
    /// Up to how many times the usual the late ones take.
    pub lateness: u64,
}

enum Event {
    Arrives { from: Endpoint, to: Endpoint, bytes: Vec<u8> },
    Deadline(Endpoint),
    Crash(NodeId),
    Restart(NodeId),
}

pub struct World<T: Transactions> {
    pub protocol: Fasst<T>,
    pub nodes: Vec<Node<Machine<T>>>,
    pub manager: Node<Machine<T>>,
    pub is_up: Vec<bool>,
    pub courses: Courses,
    /// The messages that each node has sent.
    pub sent: Vec<u64>,
    /// A node that crashes when it has sent so many messages.
    pub crash_after: Option<(NodeId, u64)>,
    /// Whether nodes that have ended themselves begin anew.
    pub restarts: bool,
    /// A node without messages of membership, from when to when.
    pub cut: Option<(NodeId, Range<Span>)>,
    /// How long requests to primaries that change rows take, if not as long as others.
    pub slow_updates: Option<Span>,
    /// How many of these were sent.
    pub updates: u64,
    /// How often a node ended itself.
    pub killed: u64,
    /// How far each node's clock is ahead.
    offsets: Vec<Span>,
    events: BTreeMap<(u64, u64), Event>,
    count: u64,
    now: u64,
    faults: Faults,
    random: ChaCha8Rng,
    out: Effects,
}

/// Latencies of messages, in ps.
const LATENCY: Range<u64> = 500_000..3_000_000;
/// After this, nothing goes wrong with messages any more: all have to come to rest.
const HEALED: u64 = 8_000_000_000;
/// The longest burst, and how far clocks are apart.
const SKEW: Span = Span::from_us(10);

pub fn membership() -> membership::Settings {
    membership::Settings {
        lease: Span::from_us(100),
        renew: Span::from_us(20),
        skew: SKEW,
        retry: Span::from_us(15),
    }
}

pub fn settings(nodes: u16) -> Settings {
    Settings {
        nodes,
        threads: 2,
        workers: 2,
        backups: 2.min(nodes as u8 - 1),
        loss_timeout: Span::from_us(400),
        membership: Some(membership()),
        ..Settings::default()
    }
}

impl<T: Transactions> World<T> {
    pub fn new(protocol: Fasst<T>, faults: Faults, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let nodes: Vec<_> =
            (0..protocol.nodes()).map(|node| protocol.start(NodeId(node))).collect();
        let offset = |_| Span::from_ps(random.random_range(0..SKEW.as_ps()));
        let offsets = (0..=nodes.len()).map(offset).collect();
        let mut world = Self {
            manager: protocol.manager().expect("there is a membership"),
            is_up: vec![true; nodes.len()],
            sent: vec![0; nodes.len()],
            protocol,
            nodes,
            courses: Courses::default(),
            crash_after: None,
            restarts: false,
            cut: None,
            slow_updates: None,
            updates: 0,
            killed: 0,
            offsets,
            events: BTreeMap::new(),
            count: 0,
            now: 0,
            faults,
            random,
            out: Effects::new(),
        };
        world.burst(Endpoint::host(NodeId::MANAGER, 0), &[]);
        (0..world.nodes.len()).for_each(|node| world.begin(node));
        world
    }

    fn begin(&mut self, node: usize) {
        let Settings { threads, workers, .. } = *self.protocol.settings();
        for thread in 0..threads {
            let inputs: Vec<_> = (0..workers).map(|worker| Input::Begin { worker }).collect();
            self.burst(Endpoint::host(NodeId(node as u16), thread), &inputs);
        }
    }

    fn push(&mut self, at: u64, event: Event) {
        self.count += 1;
        self.events.insert((at, self.count), event);
    }

    pub fn crash_at(&mut self, at: Span, node: NodeId) {
        self.push(at.as_ps(), Event::Crash(node));
    }

    pub fn restart_at(&mut self, at: Span, node: NodeId) {
        self.push(at.as_ps(), Event::Restart(node));
    }

    fn one_in(&mut self, times: u32) -> bool {
        times > 0 && self.now < HEALED && self.random.random_ratio(1, times)
    }

    fn burst(&mut self, at: Endpoint, inputs: &[Input<'_>]) {
        let Part::HostThread(thread) = at.part else { return };
        let (node, place) = match at.node {
            NodeId::MANAGER => (&mut self.manager, self.nodes.len()),
            id if self.is_up[id.index()] => (&mut self.nodes[id.index()], id.index()),
            _ => return,
        };
        let offset = self.offsets[place].as_ps();
        self.out.clear();
        let part = &mut node.parts[usize::from(thread)];
        part.burst(&mut node.shared, Instant::from_ps(self.now + offset), inputs, &mut self.out);
        let deadline = part.deadline();
        if let Some(deadline) = deadline {
            // At least some time passes, as a burst takes some.
            let at_ps = deadline.as_ps().saturating_sub(offset).max(self.now + 50_000);
            self.push(at_ps, Event::Deadline(at));
        }
        self.take(at);
    }

    fn take(&mut self, at: Endpoint) {
        let out = std::mem::take(&mut self.out);
        self.courses.note(&out);
        for send in out.sends() {
            let bytes = out.bytes_of(&send.bytes);
            let is_control = bytes[4] >= 16;
            let is_update = send.stage == Stage::Primary && bytes[4] == 0;
            self.updates += u64::from(is_update);
            if let Some(sent) = self.sent.get_mut(at.node.index()) {
                *sent += 1;
                if self
                    .crash_after
                    .is_some_and(|crash| (at.node, *sent) > crash && crash.0 == at.node)
                {
                    self.crash(at.node);
                    break;
                }
            }
            let now = Span::from_ps(self.now);
            let is_cut = self.cut.as_ref().is_some_and(|(node, when)| {
                is_control && when.contains(&now) && [at.node, send.to.node].contains(node)
            });
            if is_cut {
                continue;
            }
            let lost = match bytes[4] {
                0..16 => self.faults.lost_rpcs,
                34..=35 => self.faults.lost_copies,
                _ => self.faults.lost_control,
            };
            for _ in 0..1 + u32::from(self.one_in(self.faults.twice)) {
                if self.one_in(lost) {
                    continue;
                }
                let is_late = self.one_in(self.faults.late)
                    || !is_control && self.one_in(self.faults.late_rpcs);
                let lateness = self.faults.lateness.max(1);
                let times = if is_late { self.random.random_range(1..=lateness) } else { 1 };
                let usual = self.random.random_range(LATENCY) * times;
                let slow = self.slow_updates.filter(|_| is_update);
                let time = self.now + slow.map_or(usual, Span::as_ps);
                let bytes = bytes.to_vec();
                self.push(time, Event::Arrives { from: at, to: send.to, bytes });
            }
        }
        if out.is_killed() && at.node != NodeId::MANAGER {
            self.killed += 1;
            self.crash(at.node);
        }
        self.out = out;
    }

    pub fn crash(&mut self, node: NodeId) {
        if !std::mem::replace(&mut self.is_up[node.index()], false) {
            return;
        }
        self.crash_after = self.crash_after.filter(|(of, _)| *of != node);
        if self.restarts {
            let time = self.now + self.random.random_range(1..400) * 1_000_000;
            self.push(time, Event::Restart(node));
        }
    }

    /// Takes the next event. Deadlines that are no more are left out.
    pub fn step(&mut self) {
        let ((at, _), event) = self.events.pop_first().expect("leases are renewed for ever");
        self.now = self.now.max(at);
        match event {
            Event::Arrives { from, to, bytes } => {
                self.burst(to, &[Input::Message { from, bytes: &bytes }]);
            }
            Event::Deadline(to) => {
                let Part::HostThread(thread) = to.part else { return };
                let (node, place) = match to.node {
                    NodeId::MANAGER => (&self.manager, self.nodes.len()),
                    id => (&self.nodes[id.index()], id.index()),
                };
                let now = Instant::from_ps(self.now) + self.offsets[place];
                if node.parts[usize::from(thread)].deadline().is_some_and(|at| at <= now) {
                    self.burst(to, &[Input::Deadline]);
                }
            }
            Event::Crash(node) => self.crash(node),
            Event::Restart(node) => self.restart(node),
        }
    }

    fn restart(&mut self, node: NodeId) {
        let place = node.index();
        if std::mem::replace(&mut self.is_up[place], true) {
            return;
        }
        let kept = self.nodes[place].shared.clone();
        self.nodes[place] = self.protocol.restart(node, kept);
        self.begin(place);
    }

    /// Whether all workers rest, and nothing of a change of views is left to be done.
    pub fn rests(&self) -> bool {
        let Some(manager) = self.manager.parts[0].manager() else { return false };
        let up = self.nodes.iter().zip(&self.is_up).enumerate().filter(|(_, (_, is_up))| **is_up);
        let members: Vec<_> = manager.view().members().collect();
        let alive: Vec<_> = up.clone().map(|(node, _)| NodeId(node as u16)).collect();
        let is_ready = !manager.is_changing() && manager.is_filled() && members == alive;
        is_ready
            && up.clone().all(|(_, (node, _))| {
                let recovery = &node.shared.recovery;
                let rest = node.parts.iter().all(|part| part.thread().is_none_or(|at| at.rests()));
                rest && !recovery.is_busy() && recovery.member.epoch() == manager.view().epoch()
            })
    }

    /// The time since the start.
    pub fn now(&self) -> Span {
        Span::from_ps(self.now)
    }

    /// Runs until this time.
    pub fn run_until(&mut self, time: Span) {
        while self.now < time.as_ps() {
            self.step();
        }
    }

    /// Runs as long as this holds, for at most this long.
    ///
    /// # Errors
    /// When it still holds then.
    pub fn run_while(&mut self, limit: Span, holds: impl Fn(&Self) -> bool) -> Result<(), String> {
        let end = self.now + limit.as_ps();
        while holds(self) {
            self.step();
            if self.now > end {
                return Err(format!("not yet; {:?}", self.manager.parts[0].manager()));
            }
        }
        Ok(())
    }

    /// Runs until all is at rest, for at most this long.
    ///
    /// # Errors
    /// When it is not at rest then.
    pub fn run(&mut self, limit: Span) -> Result<(), String> {
        let end = self.now + limit.as_ps();
        while self.now < end {
            self.step();
            if !self.manager.parts[0].manager().is_none_or(|manager| manager.lost().is_empty()) {
                return Err(format!(
                    "data were lost: {:?} {:?} {:?}",
                    self.is_up,
                    self.now,
                    self.manager.parts[0].manager()
                ));
            }
            if self.rests()
                && self
                    .events
                    .values()
                    .all(|event| !matches!(event, Event::Crash(_) | Event::Restart(_)))
            {
                return Ok(());
            }
        }
        let manager = self.manager.parts[0].manager();
        Err(format!("no rest; up {:?}, {manager:?}", self.is_up))
    }

    /// Everything that has to hold at rest.
    pub fn check(&self) -> Result<(), String> {
        let up = self.nodes.iter().enumerate().filter(|(node, _)| self.is_up[*node]);
        let up: Vec<_> = up.map(|(node, state)| (NodeId(node as u16), state)).collect();
        self.protocol.check_at_rest(&up)?;
        self.check_serial()
    }

    /// Replays what stands in the order of its points: each read saw the newest version, and the row
    /// that was last written; and what the primaries have at the end is what was written last.
    fn check_serial(&self) -> Result<(), String> {
        let mut versions = BTreeMap::<HeaderId, u64>::new();
        let mut written = BTreeMap::<Key, (u64, u64)>::new();
        for (transaction, course) in self.courses.claimed() {
            if !course.is_judged() || course.point == Some(Point::Within) {
                continue;
            }
            let layout = self.protocol.layout();
            for access in course.accesses.iter().filter(|access| !access.writes) {
                let header = layout.header_of(access.key);
                let newest = *versions.entry(header).or_default();
                let last = written.get(&access.key);
                if access.version != newest || last.is_some_and(|last| last.1 != access.digest) {
                    return Err(format!(
                        "{transaction:?} read {access:?}; {header:?} is at {newest}, and {last:?}"
                    ));
                }
            }
            for access in course.accesses.iter().filter(|access| access.writes) {
                let header = layout.header_of(access.key);
                let newest = versions.entry(header).or_default();
                // Several rows under one header raise its version once.
                if access.version != *newest + 1
                    && written.get(&access.key).is_some_and(|last| last.0 >= access.version)
                {
                    return Err(format!(
                        "{transaction:?} wrote {access:?}; {header:?} is at {newest}"
                    ));
                }
                *newest = access.version;
                written.insert(access.key, (access.version, access.digest));
            }
        }
        self.check_end(&versions, &written)
    }

    fn check_end(
        &self,
        versions: &BTreeMap<HeaderId, u64>,
        written: &BTreeMap<Key, (u64, u64)>,
    ) -> Result<(), String> {
        let manager = self.manager.parts[0].manager().expect("it is the manager");
        let store = |header: HeaderId| {
            let primary = manager.view().primary(header.partition).expect("none is lost");
            &self.nodes[primary.index()].shared.store
        };
        for (header, version) in versions {
            let found = store(*header).header(*header).map(|header| header.version);
            if found != Some(*version) {
                return Err(format!("{header:?} should be at {version}, and is at {found:?}"));
            }
        }
        for (key, (_, expected)) in written {
            let header = self.protocol.layout().header_of(*key);
            let mut value = Vec::new();
            let found = store(header).read(*key, &mut value).map_err(|error| error.to_string())?;
            let found = digest(found.present.then_some(&value[..]));
            if found != *expected {
                return Err(format!("{key:?} is not what was written last"));
            }
        }
        Ok(())
    }
}
