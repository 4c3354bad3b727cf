// SPDX-License-Identifier: MIT OR Apache-2.0
//! A state: nodes, messages under way in no order, and what may still go wrong how often.

use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::rc::Rc;

use cluster::engine::{
    Class, Effects, Endpoint, Instant, Machine, Node, NodeId, Operation, Part, Protocol, Stage,
};

use super::course::Course;
use super::subject::Subject;

/// A message under way, or a memory operation: to memory until it is made, and from there until its end is seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    pub(super) to: Endpoint,
    pub(super) from: Endpoint,
    pub(super) class: Class,
    pub(super) stage: Stage,
    pub(super) bytes: Vec<u8>,
}

/// A node with the hash of it.
pub(super) struct Held<M: Machine> {
    pub(super) node: Node<M>,
    pub(super) hash: u64,
}

/// What there is of a node.
pub(super) enum Process<M: Machine> {
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
    pub(super) fn up(&self) -> Option<&Held<M>> {
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
    pub(super) nodes: Vec<Process<P::Machine>>,
    pub(super) begins: Vec<(Endpoint, u8)>,
    /// In their order, so that states that differ in nothing else are one.
    pub(super) flight: Vec<Rc<Message>>,
    pub(super) now: Instant,
    pub(super) crashes: u8,
    pub(super) restarts: u8,
    pub(super) duplicates: u8,
    pub(super) losses: u8,
    pub(super) course: Rc<Course>,
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

/// The part at a place of a node.
pub(super) fn endpoint<P: Subject>(node: NodeId, place: usize) -> Endpoint {
    let part = match (place as u8).checked_sub(P::HOST_THREADS) {
        None => Part::HostThread(place as u8),
        Some(core) => Part::NicCore(core),
    };
    Endpoint { node, part }
}

fn hash_of(value: &impl Hash) -> u64 {
    foldhash::quality::FixedState::default().hash_one(value)
}

impl<M: Machine<Shared: Hash> + Hash> Held<M> {
    pub(super) fn new(node: Node<M>) -> Self {
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

    pub(super) fn index(&self, node: NodeId) -> usize {
        if node == NodeId::MANAGER { self.nodes.len() - 1 } else { node.index() }
    }

    pub(super) fn up(&self) -> Vec<(NodeId, &Node<P::Machine>)> {
        let manager = self.nodes.len() - 1;
        let id = |index| if index == manager { NodeId::MANAGER } else { NodeId(index as u16) };
        let nodes = self.nodes.iter().enumerate();
        nodes.filter_map(|(index, node)| Some((id(index), &node.up()?.node))).collect()
    }

    /// The nodes whose processes are gone.
    pub(super) fn down(&self) -> impl Iterator<Item = NodeId> {
        let nodes = &self.nodes[..self.nodes.len() - 1];
        (0..).map(NodeId).zip(nodes).filter(|(_, node)| node.up().is_none()).map(|(node, _)| node)
    }

    pub(super) fn is_up(&self, node: NodeId) -> bool {
        self.nodes[self.index(node)].up().is_some()
    }

    /// Whether no message is under way to a process that runs.
    pub(super) fn is_quiet(&self) -> bool {
        self.begins.is_empty() && !self.flight.iter().any(|message| self.is_up(message.to.node))
    }

    /// The deadlines of all parts that have one.
    pub(super) fn deadlines(&self) -> impl Iterator<Item = (Endpoint, Instant)> {
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
    pub(super) fn finders(&self) -> impl Iterator<Item = Endpoint> {
        self.up().into_iter().flat_map(|(id, node)| {
            let parts = (0..node.parts.len()).map(move |place| endpoint::<P>(id, place));
            parts.filter(|at| P::finds_something(node, at.part) == Some(true))
        })
    }

    /// Takes a message out of those under way.
    pub(super) fn take(&mut self, message: &Message) {
        let place = self.flight.iter().position(|other| **other == *message);
        self.flight.remove(place.expect("the message is under way"));
    }

    /// Makes a memory operation: a token, an address and a length, 0 for a write, and what is written.
    pub(super) fn operate(&mut self, message: &Message) {
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
    pub(super) fn send_all(&mut self, part: Endpoint, effects: &Effects) -> Result<(), String> {
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
    pub(super) fn end_restarts(&mut self) {
        self.restarts = 0;
        for node in &mut self.nodes {
            if let Process::Down(next) = node {
                *next = None;
            }
        }
        self.drop_undeliverable();
    }

    /// Messages to nodes that are down for ever reach nobody.
    pub(super) fn drop_undeliverable(&mut self) {
        let is_over: Vec<bool> =
            self.nodes.iter().map(|node| matches!(node, Process::Down(None))).collect();
        let last = self.nodes.len() - 1;
        self.flight.retain(|message| {
            let to = message.to.node;
            !is_over[if to == NodeId::MANAGER { last } else { to.index() }]
        });
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} to {}:", self.stage.name(), Name(self.from), Name(self.to))?;
        self.bytes.iter().try_for_each(|byte| write!(f, " {byte:02x}"))
    }
}

/// A part in a trace.
pub(super) struct Name(pub(super) Endpoint);

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
