// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state space: nodes, messages under way in no order, and what may go wrong how often.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::rc::Rc;

use cluster::engine::{
    Class, Effects, Endpoint, Input, Instant, Key, Machine, Node, NodeId, Operation, Outcome, Part,
    Protocol, Span, Stage, Token, TransactionId,
};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::course::Course;

/// A protocol that can be explored.
pub trait Subject:
    Protocol<Machine: Clone + Eq + Hash + Machine<Shared: Clone + Eq + Hash>>
{
    /// The workers that begin, each as its thread and its number there.
    fn workers(&self) -> Vec<(Endpoint, u8)>;

    /// The rows that are compared in the end, with their digests at the start.
    fn rows(&self) -> BTreeMap<Key, u64>;

    /// The digests of a row at those of these nodes that have a replica of it.
    fn replicas(&self, up: &[(NodeId, &Node<Self::Machine>)], key: Key) -> Vec<(NodeId, u64)>;

    /// Whether a message only renews a lease. Such arrive at once, so that the leases of those that live
    /// are always right, and there are fewer orders.
    fn renews(&self, stage: Stage, bytes: &[u8]) -> bool;

    /// How many threads a host has; the cores of its NIC come behind them.
    const HOST_THREADS: u8 = u8::MAX;

    /// Whether a part that polls for ever has something to find. `None`: it polls at its deadlines alone.
    fn finds_something(_: &Node<Self::Machine>, _: Part) -> Option<bool> {
        None
    }

    /// Does an operation of a NIC's core on the memory of its host, and leaves what was read in `bytes`.
    fn operate(_: &mut <Self::Machine as Machine>::Shared, _: Operation, _: &mut Vec<u8>) -> bool {
        false
    }

    /// Whether the cluster has nothing more to do for itself: nobody who is down is a member, nothing
    /// is being copied or flushed.
    fn is_settled(&self, up: &[(NodeId, &Node<Self::Machine>)], down: &[NodeId]) -> bool;
}

/// What may go wrong in an exploration, and how far it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The nodes that may crash.
    pub may_crash: Vec<NodeId>,
    /// How many of them.
    pub crashes: u8,
    /// How many of those may begin anew.
    pub restarts: u8,
    /// Whether the workers of such a process begin, too.
    pub begins_again: bool,
    /// How many messages may be delivered twice.
    pub duplicates: u8,
    /// How many messages may be lost.
    pub losses: u8,
    /// Of which stages those are; of all if there are none.
    pub stages: Vec<Stage>,
    /// How often a worker may try a transaction again.
    pub repeats: u8,
    /// How much time may pass until all rest.
    pub horizon: Span,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            may_crash: Vec::new(),
            crashes: 1,
            restarts: 0,
            begins_again: false,
            duplicates: 0,
            losses: 0,
            stages: Vec::new(),
            repeats: 1,
            horizon: Span::from_us(1_000_000),
        }
    }
}

/// A message under way, or a memory operation: to memory until it is made, and from there until its end is seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    to: Endpoint,
    from: Endpoint,
    class: Class,
    stage: Stage,
    bytes: Vec<u8>,
}

/// A node with the hash of it.
struct Held<M: Machine> {
    node: Node<M>,
    hash: u64,
}

/// What there is of a node.
enum Process<M: Machine> {
    Up(Rc<Held<M>>),
    /// The process is gone. If it may begin anew, this is how it will: what the memory has kept matters only
    /// as far as it goes into that.
    Down(Option<Rc<Held<M>>>),
    /// There never was one: the manager of a cluster without.
    None,
}

impl<M: Machine> Clone for Process<M> {
    fn clone(&self) -> Self {
        match self {
            Self::Up(held) => Self::Up(Rc::clone(held)),
            Self::Down(next) => Self::Down(next.clone()),
            Self::None => Self::None,
        }
    }
}

impl<M: Machine> Process<M> {
    fn up(&self) -> Option<&Held<M>> {
        match self {
            Self::Up(held) => Some(held),
            Self::Down(_) | Self::None => None,
        }
    }

    /// Which of the three it is, and the hash of what it holds.
    fn hash(&self) -> (u8, u64) {
        match self {
            Self::Up(held) => (1, held.hash),
            Self::Down(next) => (0, next.as_ref().map_or(0, |held| held.hash)),
            Self::None => (2, 0),
        }
    }
}

/// A state. Clones share their nodes.
pub struct State<P: Protocol> {
    /// The nodes by number, the manager last.
    nodes: Vec<Process<P::Machine>>,
    begins: Vec<(Endpoint, u8)>,
    /// In their order, so that states that differ in nothing else are one.
    flight: Vec<Rc<Message>>,
    now: Instant,
    crashes: u8,
    restarts: u8,
    duplicates: u8,
    losses: u8,
    course: Rc<Course>,
}

impl<P: Protocol> Clone for State<P> {
    fn clone(&self) -> Self {
        Self {
            nodes: self.nodes.clone(),
            begins: self.begins.clone(),
            flight: self.flight.clone(),
            course: Rc::clone(&self.course),
            ..*self
        }
    }
}

/// A step from one state to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A worker begins.
    Begin(Endpoint, u8),
    /// A message arrives.
    Deliver(Rc<Message>),
    /// A message arrives and will do so once more.
    Duplicate(Rc<Message>),
    /// A message is lost.
    Lose(Rc<Message>),
    /// A part polls, as it wanted to.
    Poll(Endpoint),
    /// A process ends.
    Crash(NodeId),
    /// A process that has ended begins anew, and so do its workers.
    Restart(NodeId),
    /// Time goes on to the next deadline of any part.
    Wait,
}

/// What to do with a state.
pub enum Verdict {
    /// Take each of these actions.
    Go(Vec<Action>),
    /// All rest, and all is right.
    Done,
    /// A worker has begun too often.
    Cut,
}

pub struct Model<'a, P> {
    pub protocol: &'a P,
    pub limits: Limits,
}

/// The part at a place of a node.
fn endpoint<P: Subject>(node: NodeId, place: usize) -> Endpoint {
    let part = match (place as u8).checked_sub(P::HOST_THREADS) {
        None => Part::HostThread(place as u8),
        Some(core) => Part::NicCore(core),
    };
    Endpoint { node, part }
}

fn hash_of(value: &impl Hash) -> u64 {
    foldhash::quality::FixedState::default().hash_one(value)
}

/// What a part is called in the names of its attempts.
fn part_name(endpoint: Endpoint) -> TransactionId {
    let Part::HostThread(thread) = endpoint.part else { return TransactionId::default() };
    TransactionId::new(endpoint.node, thread, 0, 0)
}

impl<P: Subject> Model<'_, P> {
    /// The state before anybody has begun: all have had an empty burst, and have their first leases.
    ///
    /// # Errors
    /// When what the machines tell is wrong.
    pub fn start(&self) -> Result<State<P>, String> {
        let nodes = (0..self.protocol.nodes()).map(|node| Some(self.protocol.start(NodeId(node))));
        let hold = |node: Option<Node<P::Machine>>| {
            node.map_or(Process::None, |node| Process::Up(Rc::new(Held::new(node))))
        };
        let mut state = State {
            nodes: nodes.chain([self.protocol.manager()]).map(hold).collect(),
            begins: self.protocol.workers(),
            flight: Vec::new(),
            now: Instant::default(),
            crashes: if self.limits.may_crash.is_empty() { 0 } else { self.limits.crashes },
            restarts: self.limits.restarts,
            duplicates: self.limits.duplicates,
            losses: self.limits.losses,
            course: Rc::default(),
        };
        let due: Vec<Endpoint> = state.deadlines().map(|(part, _)| part).collect();
        due.into_iter().try_for_each(|part| self.burst(&mut state, part, &[Input::Deadline]))?;
        self.renew(&mut state)?;
        Ok(state)
    }

    /// Lets all messages arrive that only renew leases.
    fn renew(&self, state: &mut State<P>) -> Result<(), String> {
        let renews = |message: &Rc<Message>| self.protocol.renews(message.stage, &message.bytes);
        while let Some(message) = state.flight.iter().find(|message| renews(message)).cloned() {
            state.take(&message);
            self.deliver(state, &message)?;
        }
        Ok(())
    }

    /// What can happen next.
    ///
    /// # Errors
    /// When the state is wrong.
    pub fn judge(&self, state: &State<P>) -> Result<Verdict, String> {
        if state.is_quiet() && self.is_at_rest(state) {
            self.check(state)?;
            let restarts = self.restarts(state);
            return Ok(if restarts.is_empty() { Verdict::Done } else { Verdict::Go(restarts) });
        }
        if state.course.most_repeats() > self.limits.repeats {
            return Ok(Verdict::Cut);
        }
        let actions = self.actions(state);
        match actions.is_empty() {
            true => Err("stuck: nothing can happen, and not all rest".into()),
            false => Ok(Verdict::Go(actions)),
        }
    }

    /// Goes on from a state without anything more going wrong, one action or the other next, until all
    /// rest: nobody may be in the way of the others for ever.
    ///
    /// # Errors
    /// When something is wrong on the way, or they do not come to rest.
    pub fn settle(&self, state: &State<P>) -> Result<(), String> {
        let limits = Limits { repeats: 200, ..self.limits.clone() };
        let model = Model { protocol: self.protocol, limits };
        let mut state = state.clone();
        (state.crashes, state.duplicates, state.losses) = (0, 0, 0);
        state.end_restarts();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..20_000 {
            match model.judge(&state)? {
                Verdict::Done => return Ok(()),
                Verdict::Cut => break,
                Verdict::Go(actions) => {
                    let action = &actions[random.random_range(0..actions.len())];
                    state = model.step(&state, action)?;
                }
            }
        }
        Err("no progress: all have had their turns many times, and not all rest".into())
    }

    fn actions(&self, state: &State<P>) -> Vec<Action> {
        let begins = state.begins.iter().map(|(part, worker)| Action::Begin(*part, *worker));
        let mut actions: Vec<Action> = begins.collect();
        for (place, message) in state.flight.iter().enumerate() {
            if place > 0 && *message == state.flight[place - 1] || !state.is_up(message.to.node) {
                continue;
            }
            let stages = &self.limits.stages;
            let is_chosen = stages.is_empty() || stages.contains(&message.stage);
            actions.push(Action::Deliver(Rc::clone(message)));
            let is_of_wire = message.from.node != message.to.node;
            let is_chosen = is_chosen && is_of_wire;
            if state.duplicates > 0 && is_chosen {
                actions.push(Action::Duplicate(Rc::clone(message)));
            }
            if state.losses > 0 && is_chosen {
                actions.push(Action::Lose(Rc::clone(message)));
            }
        }
        let due = state.deadlines().filter(|(_, deadline)| *deadline <= state.now);
        actions.extend(due.map(|(part, _)| part).chain(state.finders()).map(Action::Poll));
        // A worker that begins after all of this has other things to see only if the node comes back.
        let has_begun = state.begins.is_empty() || state.restarts > 0;
        if state.crashes > 0 && has_begun && !state.is_quiet() {
            let crashes = self.limits.may_crash.iter().map(|node| Action::Crash(*node));
            actions.extend(
                crashes.filter(|crash| matches!(crash, Action::Crash(node) if state.is_up(*node))),
            );
        }
        actions.extend(self.restarts(state));
        if self.may_wait(state, actions.is_empty()) {
            actions.push(Action::Wait);
        }
        actions
    }

    fn restarts(&self, state: &State<P>) -> Vec<Action> {
        match state.restarts {
            0 => Vec::new(),
            _ => state.down().map(Action::Restart).collect(),
        }
    }

    /// Leases of those that live are renewed in time, so nothing of membership is under way while time
    /// passes. Other messages may be slower than a change of the membership, but no slower.
    fn may_wait(&self, state: &State<P>, is_idle: bool) -> bool {
        let end = Instant::default() + self.limits.horizon;
        let is_later = |(_, deadline): (_, Instant)| deadline > state.now && deadline <= end;
        let is_prompt = |message: &Rc<Message>| {
            message.class != Class::Foreground && state.is_up(message.to.node)
        };
        let is_troubled = state.down().next().is_some();
        state.deadlines().any(is_later)
            && !state.flight.iter().any(is_prompt)
            && !state.deadlines().any(|(_, deadline)| deadline <= state.now)
            && (is_idle || is_troubled && !self.is_settled(state))
    }

    fn is_settled(&self, state: &State<P>) -> bool {
        let down: Vec<NodeId> = state.down().collect();
        self.protocol.is_settled(&state.up(), &down)
    }

    /// Whether the workers that live rest, and nobody has anything to do.
    fn is_at_rest(&self, state: &State<P>) -> bool {
        let rests = |(part, worker): &(Endpoint, u8)| {
            let name = part_name(*part).0 | u64::from(*worker) << 32;
            !state.is_up(part.node) || state.course.rests(TransactionId(name))
        };
        let down: Vec<NodeId> = state.down().collect();
        self.protocol.workers().iter().all(rests) && self.protocol.is_settled(&state.up(), &down)
    }

    /// Checks a state in which all rest.
    fn check(&self, state: &State<P>) -> Result<(), String> {
        let rows = state.course.serial_order(&self.protocol.rows())?;
        let up = state.up();
        for (key, digest) in rows {
            for (node, found) in self.protocol.replicas(&up, key) {
                if found != digest {
                    return Err(format!(
                        "{key:?} is {found:#x} at {node:?}; the transactions leave {digest:#x}"
                    ));
                }
            }
        }
        let nodes: Vec<_> = up.iter().filter(|(id, _)| *id != NodeId::MANAGER).copied().collect();
        self.protocol.check_at_rest(&nodes)
    }

    /// The state after an action.
    ///
    /// # Errors
    /// When what the machines tell is wrong.
    pub fn step(&self, state: &State<P>, action: &Action) -> Result<State<P>, String> {
        let mut next = state.clone();
        match action {
            Action::Begin(part, worker) => {
                next.begins.retain(|begin| begin != &(*part, *worker));
                self.burst(&mut next, *part, &[Input::Begin { worker: *worker }])?;
            }
            Action::Deliver(message) => {
                next.take(message);
                self.deliver(&mut next, message)?;
            }
            Action::Duplicate(message) => {
                next.duplicates -= 1;
                self.deliver(&mut next, message)?;
            }
            Action::Lose(message) => {
                next.losses -= 1;
                next.take(message);
            }
            Action::Poll(part) => self.burst(&mut next, *part, &[Input::Deadline])?,
            Action::Crash(node) => {
                next.crashes -= 1;
                self.end_process(&mut next, *node);
            }
            Action::Restart(node) => self.restart(&mut next, *node)?,
            Action::Wait => self.wait(&mut next)?,
        }
        self.renew(&mut next)?;
        Ok(next)
    }

    fn deliver(&self, state: &mut State<P>, message: &Message) -> Result<(), String> {
        match (message.from.part, message.to.part) {
            (_, Part::Memory) => {
                state.operate(message);
                Ok(())
            }
            (Part::Memory, _) => {
                let (token, rest) = message.bytes.split_first_chunk().expect("a token");
                let (done, bytes) = rest.split_first().expect("how it ended");
                let token = Token(u32::from_le_bytes(*token));
                let outcome = if *done == 1 { Outcome::Done } else { Outcome::Failed };
                self.burst(state, message.to, &[Input::Completed { token, outcome, bytes }])
            }
            _ => {
                let input = Input::Message { from: message.from, bytes: &message.bytes };
                self.burst(state, message.to, &[input])
            }
        }
    }

    /// Gives a part of a node a burst, and takes its effects.
    fn burst(
        &self,
        state: &mut State<P>,
        part: Endpoint,
        inputs: &[Input<'_>],
    ) -> Result<(), String> {
        let index = state.index(part.node);
        let Some(held) = state.nodes[index].up() else { return Ok(()) };
        let mut node = held.node.clone();
        let place = match part.part {
            Part::HostThread(thread) => thread,
            Part::NicCore(core) => P::HOST_THREADS.saturating_add(core),
            Part::Memory | Part::Switch => return Err(format!("no such {part:?}")),
        };
        let mut effects = Effects::new();
        let machine = node.parts.get_mut(usize::from(place));
        let machine = machine.ok_or_else(|| format!("no such {part:?}"))?;
        machine.burst(&mut node.shared, state.now, inputs, &mut effects);
        state.nodes[index] = Process::Up(Rc::new(Held::new(node)));
        if !effects.moments().is_empty() {
            Rc::make_mut(&mut state.course).take(part_name(part), &effects)?;
        }
        state.send_all(part, &effects)?;
        if effects.is_killed() {
            self.end_process(state, part.node);
        }
        Ok(())
    }

    /// The process of a node is gone. Messages that are under way to it reach the next one, or nobody if there
    /// will be none.
    fn end_process(&self, state: &mut State<P>, node: NodeId) {
        let index = state.index(node);
        let next = state.nodes[index].up().filter(|_| state.restarts > 0);
        let next = next.map(|held| self.protocol.restart(node, held.node.shared.clone()));
        state.nodes[index] = Process::Down(next.map(|node| Rc::new(Held::new(node))));
        state.begins.retain(|(part, _)| part.node != node);
        state.drop_undeliverable();
        Rc::make_mut(&mut state.course).forget_node(node);
    }

    fn restart(&self, state: &mut State<P>, node: NodeId) -> Result<(), String> {
        let index = state.index(node);
        let Process::Down(Some(next)) = &state.nodes[index] else {
            return Err(format!("node {} has nothing to begin with", node.0));
        };
        state.nodes[index] = Process::Up(Rc::clone(next));
        state.restarts -= 1;
        if state.restarts == 0 {
            state.end_restarts();
        }
        let workers = self.protocol.workers().into_iter().filter(|(part, _)| part.node == node);
        for (part, worker) in workers {
            if self.limits.begins_again {
                self.burst(state, part, &[Input::Begin { worker }])?;
            } else {
                Rc::make_mut(&mut state.course).rest(part_name(part), worker);
            }
        }
        Ok(())
    }

    /// Goes on to the next deadline of any part.
    fn wait(&self, state: &mut State<P>) -> Result<(), String> {
        let later = state.deadlines().map(|(_, deadline)| deadline);
        state.now = later.filter(|deadline| *deadline > state.now).min().expect("a deadline");
        let due: Vec<Endpoint> = state
            .deadlines()
            .filter(|(_, deadline)| *deadline <= state.now)
            .map(|(part, _)| part)
            .collect();
        due.into_iter().try_for_each(|part| self.burst(state, part, &[Input::Deadline]))
    }
}

impl<M: Machine<Shared: Hash> + Hash> Held<M> {
    fn new(node: Node<M>) -> Self {
        let hash = hash_of(&(&node.shared, &node.parts));
        Self { node, hash }
    }
}

impl<P: Subject> State<P> {
    /// What stands for the state among those that were seen.
    pub fn fingerprint(&self) -> u64 {
        let nodes: Vec<_> = self.nodes.iter().map(Process::hash).collect();
        let counts = (self.crashes, self.restarts, self.duplicates, self.losses);
        hash_of(&(nodes, &self.begins, &self.flight, self.now, counts, &*self.course))
    }

    /// What clients have seen.
    pub fn course(&self) -> &Course {
        &self.course
    }

    fn index(&self, node: NodeId) -> usize {
        if node == NodeId::MANAGER { self.nodes.len() - 1 } else { node.index() }
    }

    fn up(&self) -> Vec<(NodeId, &Node<P::Machine>)> {
        let manager = self.nodes.len() - 1;
        let id = |index| if index == manager { NodeId::MANAGER } else { NodeId(index as u16) };
        let nodes = self.nodes.iter().enumerate();
        nodes.filter_map(|(index, node)| Some((id(index), &node.up()?.node))).collect()
    }

    /// The nodes whose processes are gone.
    fn down(&self) -> impl Iterator<Item = NodeId> {
        let nodes = &self.nodes[..self.nodes.len() - 1];
        (0..).map(NodeId).zip(nodes).filter(|(_, node)| node.up().is_none()).map(|(node, _)| node)
    }

    fn is_up(&self, node: NodeId) -> bool {
        self.nodes[self.index(node)].up().is_some()
    }

    /// Whether no message is under way to a process that runs.
    fn is_quiet(&self) -> bool {
        self.begins.is_empty() && !self.flight.iter().any(|message| self.is_up(message.to.node))
    }

    /// The deadlines of all parts that have one.
    fn deadlines(&self) -> impl Iterator<Item = (Endpoint, Instant)> {
        self.up().into_iter().flat_map(|(id, node)| {
            let part = move |(place, part): (usize, &P::Machine)| {
                let at = endpoint::<P>(id, place);
                let deadline = part.deadline()?;
                P::finds_something(node, at.part).is_none().then_some((at, deadline))
            };
            node.parts.iter().enumerate().filter_map(part)
        })
    }

    /// The parts that poll for ever and have something to find.
    fn finders(&self) -> impl Iterator<Item = Endpoint> {
        self.up().into_iter().flat_map(|(id, node)| {
            let parts = (0..node.parts.len()).map(move |place| endpoint::<P>(id, place));
            parts.filter(|at| P::finds_something(node, at.part) == Some(true))
        })
    }

    /// Takes a message out of those under way.
    fn take(&mut self, message: &Message) {
        let place = self.flight.iter().position(|other| **other == *message);
        self.flight.remove(place.expect("the message is under way"));
    }

    /// Makes a memory operation: a token, an address and a length, 0 for a write, and what is written.
    fn operate(&mut self, message: &Message) {
        let index = self.index(message.to.node);
        let Some(held) = self.nodes[index].up() else { return };
        let mut node = held.node.clone();
        let (token, rest) = message.bytes.split_at(4);
        let (at, rest) = rest.split_first_chunk().expect("an address");
        let (length, written) = rest.split_first_chunk().expect("a length");
        let (at, length) = (u64::from_le_bytes(*at), u32::from_le_bytes(*length));
        let operation = match length {
            0 => Operation::Write { at },
            _ => Operation::Read { at, length },
        };
        let mut bytes = written.to_vec();
        let done = P::operate(&mut node.shared, operation, &mut bytes);
        self.nodes[index] = Process::Up(Rc::new(Held::new(node)));
        let bytes = [token, &[u8::from(done)], &bytes].concat();
        let (class, stage) = (message.class, message.stage);
        self.send(Message { to: message.from, from: message.to, class, stage, bytes });
    }

    /// Puts under way what a burst of a part sends and asks of memory.
    fn send_all(&mut self, part: Endpoint, effects: &Effects) -> Result<(), String> {
        for send in effects.sends() {
            let bytes = effects.bytes_of(&send.bytes).to_vec();
            let (to, class, stage) = (send.to, send.class, send.stage);
            self.send(Message { to, from: part, class, stage, bytes });
        }
        for asked in effects.operations() {
            let (at, length) = match asked.operation {
                Operation::Read { at, length } => (at, length),
                Operation::Write { at } => (at, 0),
                other => return Err(format!("no {other:?} is explored")),
            };
            let mut bytes = asked.token.0.to_le_bytes().to_vec();
            bytes.extend(at.to_le_bytes());
            bytes.extend(length.to_le_bytes());
            bytes.extend(effects.bytes_of(&asked.bytes));
            let to = Endpoint { part: Part::Memory, ..part };
            let (class, stage) = (Class::Foreground, Stage::Micro);
            self.send(Message { to, from: part, class, stage, bytes });
        }
        Ok(())
    }

    /// Puts a message under way. One for a process that is gone would never arrive.
    fn send(&mut self, message: Message) {
        if self.is_up(message.to.node) {
            let place = self.flight.partition_point(|other| **other <= message);
            self.flight.insert(place, Rc::new(message));
        }
    }

    /// No process begins anew any more.
    fn end_restarts(&mut self) {
        self.restarts = 0;
        for node in &mut self.nodes {
            if let Process::Down(next) = node {
                *next = None;
            }
        }
        self.drop_undeliverable();
    }

    /// Messages to nodes that are down for ever reach nobody.
    fn drop_undeliverable(&mut self) {
        let is_over: Vec<bool> =
            self.nodes.iter().map(|node| matches!(node, Process::Down(None))).collect();
        let last = self.nodes.len() - 1;
        self.flight.retain(|message| {
            let to = message.to.node;
            !is_over[if to == NodeId::MANAGER { last } else { to.index() }]
        });
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begin(part, worker) => write!(f, "worker {worker} of {} begins", Name(*part)),
            Self::Deliver(message) => write!(f, "arrives: {message}"),
            Self::Duplicate(message) => write!(f, "arrives, and will again: {message}"),
            Self::Lose(message) => write!(f, "is lost: {message}"),
            Self::Poll(part) => write!(f, "{} polls", Name(*part)),
            Self::Crash(node) => write!(f, "node {} crashes", node.0),
            Self::Restart(node) => write!(f, "node {} begins anew", node.0),
            Self::Wait => write!(f, "time passes"),
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} to {}:", self.stage.name(), Name(self.from), Name(self.to))?;
        self.bytes.iter().try_for_each(|byte| write!(f, " {byte:02x}"))
    }
}

/// A part in a trace.
struct Name(Endpoint);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let node = self.0.node;
        match self.0.part {
            _ if node == NodeId::MANAGER => write!(f, "manager"),
            Part::HostThread(thread) => write!(f, "{}.{thread}", node.0),
            Part::NicCore(core) => write!(f, "{}.nic{core}", node.0),
            Part::Memory | Part::Switch => write!(f, "{}.memory", node.0),
        }
    }
}
