// SPDX-License-Identifier: MIT OR Apache-2.0
//! A small world in virtual time: nodes, their manager, messages that take a while, and failures.

use std::collections::BTreeMap;
use std::ops::Range;

use cluster::engine::{
    Access, Effects, Ending, Endpoint, Input, Instant, Key, Machine, Moment, Node, NodeId,
    Operation, Outcome, Part, Point, Protocol, SendRequest, Span, Stage, Token, TransactionId,
};
use cluster::membership::{self, Manager};
use cluster::placement::{HeaderId, Partitioning};
use cluster::recovery::Keeps;
use cluster::transact::digest;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A protocol that recovers.
pub trait Subject: Protocol<Machine: Machine<Shared: Keeps + Clone>> {
    /// Where rows belong.
    fn layout(&self) -> &Partitioning;

    /// The threads that have workers, and how many each has.
    fn workers(&self) -> (u8, u8);

    /// The part at this place of a node, and the other way round.
    fn part(&self, place: usize) -> Part;

    /// See [`Subject::part`].
    fn place(&self, part: Part) -> usize;

    /// The manager, if the machine is the one.
    fn manager_of(machine: &Self::Machine) -> Option<&Manager>;

    /// Whether all workers of a node rest, and nothing is under way in it.
    ///
    /// # Errors
    /// What is.
    fn rests(&self, node: &Node<Self::Machine>) -> Result<(), String>;

    /// Whether a message is an answer.
    fn is_answer(bytes: &[u8]) -> bool;

    /// Does an operation of a NIC's core on the memory of its host, and leaves what was read in `bytes`.
    fn operate(
        shared: &mut <Self::Machine as Machine>::Shared,
        operation: Operation,
        bytes: &mut Vec<u8>,
    ) -> bool;
}

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
    Arrives {
        from: Endpoint,
        to: Endpoint,
        bytes: Vec<u8>,
    },
    /// A core's operation reaches the memory of its host, of process `process`.
    Operates {
        at: Endpoint,
        process: u64,
        token: Token,
        operation: Operation,
        bytes: Vec<u8>,
    },
    Completes {
        at: Endpoint,
        process: u64,
        token: Token,
        outcome: Outcome,
        bytes: Vec<u8>,
    },
    Deadline(Endpoint),
    Crash(NodeId),
    Restart(NodeId),
}

/// A transaction that was told of.
#[derive(Clone, Debug, Default)]
pub struct Course {
    pub accesses: Vec<Access>,
    pub point: Option<Point>,
    pub ending: Option<Ending>,
    pub decided: Option<bool>,
}

impl Course {
    /// Whether its changes are to be seen.
    pub fn stands(&self) -> bool {
        match self.ending {
            Some(ending) => ending == Ending::Committed,
            None => self.decided == Some(true),
        }
    }
}

pub struct World<P: Subject> {
    pub protocol: P,
    pub nodes: Vec<Node<P::Machine>>,
    pub manager: Node<P::Machine>,
    /// Which process of each node it is.
    processes: Vec<u64>,
    pub is_up: Vec<bool>,
    pub claimed: Vec<TransactionId>,
    pub courses: BTreeMap<TransactionId, Course>,
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
    /// The first decision that contradicts an earlier one.
    contradiction: Option<String>,
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

impl<P: Subject> World<P> {
    pub fn new(protocol: P, faults: Faults, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let nodes: Vec<_> =
            (0..protocol.nodes()).map(|node| protocol.start(NodeId(node))).collect();
        let offset = |_| Span::from_ps(random.random_range(0..SKEW.as_ps()));
        let offsets = (0..=nodes.len()).map(offset).collect();
        let mut world = Self {
            manager: protocol.manager().expect("there is a membership"),
            is_up: vec![true; nodes.len()],
            processes: vec![0; nodes.len()],
            sent: vec![0; nodes.len()],
            protocol,
            nodes,
            claimed: Vec::new(),
            courses: BTreeMap::new(),
            crash_after: None,
            restarts: false,
            cut: None,
            slow_updates: None,
            updates: 0,
            killed: 0,
            contradiction: None,
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
        let (threads, workers) = self.protocol.workers();
        let node_id = NodeId(node as u16);
        // All parts get to know when they are to be called.
        for place in 0..self.nodes[node].parts.len() {
            self.burst(Endpoint { node: node_id, part: self.protocol.part(place) }, &[]);
        }
        for thread in 0..threads {
            let inputs: Vec<_> = (0..workers).map(|worker| Input::Begin { worker }).collect();
            self.burst(Endpoint::host(node_id, thread), &inputs);
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
        let of_part = self.protocol.place(at.part);
        let (node, place) = match at.node {
            NodeId::MANAGER => (&mut self.manager, self.nodes.len()),
            id if self.is_up[id.index()] => (&mut self.nodes[id.index()], id.index()),
            _ => return,
        };
        let offset = self.offsets[place].as_ps();
        self.out.clear();
        let part = &mut node.parts[of_part];
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
        self.note(&out);
        for send in out.sends() {
            let bytes = out.bytes_of(&send.bytes);
            let is_local = send.to.node == at.node;
            let is_control = is_control(send);
            let is_update = send.stage == Stage::Primary && !is_local && !P::is_answer(bytes);
            self.updates += u64::from(is_update);
            if let Some(sent) = self.sent.get_mut(at.node.index()).filter(|_| !is_local) {
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
            let lost = match send.stage {
                Stage::Membership => self.faults.lost_control,
                Stage::Copy => self.faults.lost_copies,
                _ => self.faults.lost_rpcs,
            };
            for _ in 0..1 + u32::from(!is_local && self.one_in(self.faults.twice)) {
                if !is_local && self.one_in(lost) {
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
        for asked in out.operations() {
            let bytes = out.bytes_of(&asked.bytes).to_vec();
            let (token, operation) = (asked.token, asked.operation);
            let process = self.processes[at.node.index()];
            let time = self.now + self.random.random_range(LATENCY);
            self.push(time, Event::Operates { at, process, token, operation, bytes });
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

    fn note(&mut self, out: &Effects) {
        for moment in out.moments() {
            match moment {
                Moment::Begun { transaction, .. } => {
                    let before = self.courses.insert(*transaction, Course::default());
                    assert!(before.is_none(), "{transaction:?} twice");
                }
                Moment::Committing(committing) => {
                    let course = self.courses.get_mut(&committing.transaction).expect("begun");
                    course.accesses = out.accesses_of(committing).to_vec();
                    course.point = Some(committing.point);
                    self.claimed.push(committing.transaction);
                }
                Moment::Ended { transaction, ending } => {
                    let course = self.courses.get_mut(transaction).expect("begun");
                    assert_eq!(course.ending.replace(*ending), None, "{transaction:?}");
                }
                Moment::Decided { transaction, committed } => {
                    let course = self.courses.get_mut(transaction).expect("begun");
                    let before = course.decided.replace(*committed);
                    if before.is_some_and(|before| before != *committed) {
                        let what = format!("{transaction:?} is decided in two ways");
                        self.contradiction.get_or_insert(what);
                    }
                }
                Moment::Rests { .. } => {}
            }
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
            Event::Operates { at, process, token, operation, mut bytes } => {
                // What is under way when a process ends reaches memory all the same.
                let shared = &mut self.nodes[at.node.index()].shared;
                let outcome = match P::operate(shared, operation, &mut bytes) {
                    true => Outcome::Done,
                    false => Outcome::Failed,
                };
                let time = self.now + 100_000;
                self.push(time, Event::Completes { at, process, token, outcome, bytes });
            }
            Event::Completes { at, process, token, outcome, bytes } => {
                if process == self.processes[at.node.index()] {
                    self.burst(at, &[Input::Completed { token, outcome, bytes: &bytes }]);
                }
            }
            Event::Deadline(to) => {
                let of_part = self.protocol.place(to.part);
                let (node, place) = match to.node {
                    NodeId::MANAGER => (&self.manager, self.nodes.len()),
                    id => (&self.nodes[id.index()], id.index()),
                };
                let now = Instant::from_ps(self.now) + self.offsets[place];
                if node.parts[of_part].deadline().is_some_and(|at| at <= now) {
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
        self.processes[place] += 1;
        self.begin(place);
    }

    /// Whether all workers rest, and nothing of a change of views is left to be done.
    pub fn rests(&self) -> bool {
        let manager = self.manager();
        let up = self.nodes.iter().zip(&self.is_up).enumerate().filter(|(_, (_, is_up))| **is_up);
        let members: Vec<_> = manager.view().members().collect();
        let alive: Vec<_> = up.clone().map(|(node, _)| NodeId(node as u16)).collect();
        let is_ready = !manager.is_changing() && manager.is_filled() && members == alive;
        is_ready
            && up.clone().all(|(_, (node, _))| {
                let recovery = node.shared.recovery();
                let is_new = recovery.member.epoch() == manager.view().epoch();
                self.protocol.rests(node).is_ok() && !recovery.is_busy() && is_new
            })
    }

    /// The manager.
    pub fn manager(&self) -> &Manager {
        P::manager_of(&self.manager.parts[0]).expect("it is the manager")
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
                return Err(format!("not yet; {:?}", self.manager()));
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
            if !self.manager().lost().is_empty() {
                return Err(format!(
                    "data were lost: {:?} {:?} {:?}",
                    self.is_up,
                    self.now,
                    self.manager()
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
        let manager = self.manager();
        let up = self.nodes.iter().zip(&self.is_up).filter(|(_, is_up)| **is_up);
        let why: Vec<_> = up.map(|(node, _)| self.protocol.rests(node)).collect();
        Err(format!("no rest; up {:?}, {why:?}, {manager:?}", self.is_up))
    }

    /// Everything that has to hold at rest.
    pub fn check(&self) -> Result<(), String> {
        let up = self.nodes.iter().enumerate().filter(|(node, _)| self.is_up[*node]);
        let up: Vec<_> = up.map(|(node, state)| (NodeId(node as u16), state)).collect();
        self.protocol.check_at_rest(&up)?;
        self.contradiction.clone().map_or(Ok(()), Err)?;
        self.check_serial()
    }

    /// Replays what stands in the order of its points: each read saw the newest version, and the row
    /// that was last written; and what the primaries have at the end is what was written last.
    fn check_serial(&self) -> Result<(), String> {
        let mut versions = BTreeMap::<HeaderId, u64>::new();
        let mut written = BTreeMap::<Key, (u64, u64)>::new();
        for transaction in &self.claimed {
            let course = &self.courses[transaction];
            let only_reads = course.ending == Some(Ending::RolledBack);
            if !course.stands() && !only_reads || course.point == Some(Point::Within) {
                continue;
            }
            let layout = self.protocol.layout();
            for access in course.accesses.iter().filter(|access| !access.writes) {
                let header = layout.header_of(access.key);
                let newest = *versions.entry(header).or_default();
                let last = written.get(&access.key);
                if access.version != newest || last.is_some_and(|last| last.1 != access.digest) {
                    let writers = self.writers(access.key);
                    return Err(format!(
                        "{transaction:?} read {access:?}; {header:?} is at {newest}, and {last:?}; \
                         written by {writers:x?}"
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

    /// Who has claimed to write a key: each with the version, how it ended and what was decided.
    fn writers(&self, key: Key) -> Vec<(u64, u64, Option<Ending>, Option<bool>)> {
        let of = |transaction: &TransactionId| {
            let Course { accesses, ending, decided, .. } = &self.courses[transaction];
            let write = accesses.iter().find(|access| access.writes && access.key == key)?;
            Some((transaction.0, write.version, *ending, *decided))
        };
        self.claimed.iter().filter_map(of).collect()
    }

    fn check_end(
        &self,
        versions: &BTreeMap<HeaderId, u64>,
        written: &BTreeMap<Key, (u64, u64)>,
    ) -> Result<(), String> {
        let manager = self.manager();
        let store = |header: HeaderId| {
            let primary = manager.view().primary(header.partition).expect("none is lost");
            self.nodes[primary.index()].shared.store()
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

    /// How many transactions ended like this.
    pub fn ended(&self, ending: Ending) -> usize {
        self.courses.values().filter(|course| course.ending == Some(ending)).count()
    }
}

/// Whether a message is one of membership or recovery.
fn is_control(send: &SendRequest) -> bool {
    matches!(send.stage, Stage::Membership | Stage::Copy)
}
