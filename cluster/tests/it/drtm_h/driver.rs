// SPDX-License-Identifier: MIT OR Apache-2.0
//! All nodes of a cluster that runs DrTM+H in one process, without a world: messages and verbs take their turns one
//! after the other, in order or shuffled, and time moves by a nanosecond with each. Verbs of one thread on one node keep
//! their order, as those of a connection do.

use std::collections::{BTreeMap, VecDeque};

use cluster::drtm_h::{DrtmH, Settings, Thread};
use cluster::engine::{
    Effects, Ending, Endpoint, Input, Instant, Machine as _, Node, NodeId, Operation, Outcome,
    Part, Place, Protocol, Span, Stage, Token, Work, WorkCounts,
};
use cluster::rpc::Kind;
use cluster::transact::Transactions;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::told::Told;

/// A message under way.
#[derive(Clone, Debug)]
struct Flight {
    from: Endpoint,
    to: Endpoint,
    bytes: Vec<u8>,
}

/// A verb that has yet to reach the memory, or whose completion has yet to be seen.
#[derive(Clone, Debug)]
struct Verb {
    token: Token,
    operation: Operation,
    bytes: Vec<u8>,
    outcome: Option<Outcome>,
}

/// The verbs of a thread on a node, in order.
type Connections = BTreeMap<(Endpoint, NodeId), VecDeque<Verb>>;

/// What the network does beside delivering.
#[derive(Clone, Copy, Debug, Default)]
pub struct Network {
    /// Whether what is under way is taken in any order.
    pub shuffles: bool,
    /// One message in so many is delivered twice.
    pub duplicates: Option<u32>,
}

pub struct Cluster<T: Transactions> {
    pub protocol: DrtmH<T>,
    pub nodes: Vec<Node<Thread<T>>>,
    messages: VecDeque<Flight>,
    requests: Connections,
    completions: Connections,
    pub killed: bool,
    /// Requests (messages, not answers) by stage.
    pub asked: BTreeMap<Stage, usize>,
    /// Verbs by stage: how many, and the bytes that they read or write.
    pub verbs: BTreeMap<Stage, (usize, usize)>,
    pub largest: usize,
    pub told: Told,
    pub work: WorkCounts,
    network: Network,
    random: ChaCha8Rng,
    now: Instant,
    out: Effects,
}

impl<T: Transactions> Cluster<T> {
    pub fn new(settings: Settings, workload: T, network: Network, seed: u64) -> Self {
        let protocol = DrtmH::new(settings, workload).expect("sound settings");
        let nodes = (0..protocol.nodes()).map(|node| protocol.start(NodeId(node))).collect();
        Self {
            protocol,
            nodes,
            messages: VecDeque::new(),
            requests: BTreeMap::new(),
            completions: BTreeMap::new(),
            killed: false,
            asked: BTreeMap::new(),
            verbs: BTreeMap::new(),
            largest: 0,
            told: Told::default(),
            work: WorkCounts::default(),
            network,
            random: ChaCha8Rng::seed_from_u64(seed),
            now: Instant::from_ps(1_000_000),
            out: Effects::new(),
        }
    }

    pub fn burst(&mut self, at: Endpoint, inputs: &[Input<'_>]) {
        let Part::HostThread(thread) = at.part else { return };
        self.now = self.now + Span::from_ns(1);
        self.out.clear();
        let node = &mut self.nodes[at.node.index()];
        node.parts[usize::from(thread)].burst(&mut node.shared, self.now, inputs, &mut self.out);
        self.take(at);
    }

    fn take(&mut self, at: Endpoint) {
        for send in self.out.sends() {
            let bytes = self.out.bytes_of(&send.bytes).to_vec();
            assert_ne!(at.node, send.to.node, "a thread sends to its own node");
            if Kind::of(&bytes) == Some(Kind::Requests) {
                *self.asked.entry(send.stage).or_default() += 1;
            }
            self.largest = self.largest.max(bytes.len());
            let flight = Flight { from: at, to: send.to, bytes };
            if self.network.duplicates.is_some_and(|one| self.random.random_ratio(1, one)) {
                self.messages.push_back(flight.clone());
            }
            self.messages.push_back(flight);
        }
        for asked in self.out.operations() {
            let Place::Node(to) = asked.place else { panic!("DMA without a NIC's core") };
            assert_ne!(at.node, to, "a verb on the own node");
            let bytes = self.out.bytes_of(&asked.bytes).to_vec();
            let touched = match asked.operation {
                Operation::Read { length, .. } => length as usize,
                Operation::Write { .. } => bytes.len(),
                _ => 8,
            };
            let counts = self.verbs.entry(asked.stage).or_default();
            *counts = (counts.0 + 1, counts.1 + touched);
            let (token, operation) = (asked.token, asked.operation);
            let verb = Verb { token, operation, bytes, outcome: None };
            self.requests.entry((at, to)).or_default().push_back(verb);
        }
        for (work, times) in Work::ALL.iter().zip(self.out.work_done().all()) {
            self.work.add(*work, *times);
        }
        self.killed |= self.out.is_killed();
        self.told.take(&self.out);
    }

    pub fn begin_all(&mut self) {
        let Settings { nodes, threads, workers, .. } = *self.protocol.settings();
        for node in (0..nodes).map(NodeId) {
            for thread in 0..threads {
                let inputs: Vec<_> = (0..workers).map(|worker| Input::Begin { worker }).collect();
                self.burst(Endpoint::host(node, thread), &inputs);
            }
        }
    }

    /// Takes one thing that is under way, or gives a deadline that has come. Says whether there was anything.
    pub fn step(&mut self) -> bool {
        let due = self.deadlines().find(|(at, _)| *at <= self.now);
        if let Some((_, at)) = due {
            self.burst(at, &[Input::Deadline]);
            return true;
        }
        let [messages, requests] = [self.messages.len(), self.requests.len()];
        let all = messages + requests + self.completions.len();
        if all == 0 {
            let next = self.deadlines().min();
            let Some((at, of)) = next else { return false };
            self.now = self.now.max(at);
            self.burst(of, &[Input::Deadline]);
            return true;
        }
        let place = if self.network.shuffles { self.random.random_range(0..all) } else { 0 };
        if let Some(Flight { from, to, bytes }) = self.messages.remove(place) {
            self.burst(to, &[Input::Message { from, bytes: &bytes }]);
        } else if place < messages + requests {
            let ((at, to), verb) = next(&mut self.requests, place - messages);
            let done = self.access(to, verb);
            self.completions.entry((at, to)).or_default().push_back(done);
        } else {
            let ((at, _), verb) = next(&mut self.completions, place - messages - requests);
            let Verb { token, bytes, outcome, .. } = verb;
            let outcome = outcome.expect("it has reached the memory");
            self.burst(at, &[Input::Completed { token, outcome, bytes: &bytes }]);
        }
        true
    }

    /// A verb reaches the memory of a node.
    fn access(&mut self, to: NodeId, mut verb: Verb) -> Verb {
        let shared = &mut self.nodes[to.index()].shared;
        let word = |at| {
            let mut bytes = Vec::new();
            assert!(shared.read_host(at, 8, &mut bytes), "no such memory");
            u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
        };
        let outcome = match verb.operation {
            Operation::Read { at, length } => {
                let done = shared.read_host(at, length, &mut verb.bytes);
                done.then_some(Outcome::Done)
            }
            Operation::Write { at } => {
                let bytes = std::mem::take(&mut verb.bytes);
                shared.write_host(at, &bytes).then_some(Outcome::Done)
            }
            Operation::CompareSwap { at, expected, new } => {
                let held = word(at);
                if held == expected {
                    assert!(shared.write_host(at, &new.to_le_bytes()));
                }
                Some(Outcome::Held(held))
            }
            Operation::FetchAdd { .. } => None,
        };
        verb.outcome = Some(outcome.unwrap_or(Outcome::Failed));
        verb
    }

    fn deadlines(&self) -> impl Iterator<Item = (Instant, Endpoint)> {
        self.nodes.iter().enumerate().flat_map(|(node, state)| {
            let parts = state.parts.iter().enumerate();
            parts.filter_map(move |(thread, part)| {
                let at = Endpoint::host(NodeId(node as u16), thread as u8);
                Some((part.deadline()?, at))
            })
        })
    }

    /// Runs until nothing is under way any more.
    ///
    /// # Errors
    /// When that does not come.
    pub fn run(&mut self, steps: u32) -> Result<(), String> {
        for _ in 0..steps {
            if !self.step() {
                return Ok(());
            }
        }
        Err("it does not come to rest".into())
    }

    /// That what has ended has a serial order, that all have ended, and that nothing is left over.
    pub fn check(&self) -> Result<(), String> {
        if self.killed {
            return Err("a process has ended itself".into());
        }
        self.told.check_serial(self.protocol.layout())?;
        self.told.check_ended()?;
        let up: Vec<_> = self.nodes.iter().enumerate().collect();
        let up: Vec<_> = up.iter().map(|(node, state)| (NodeId(*node as u16), *state)).collect();
        self.protocol.check_at_rest(&up)
    }

    pub fn ended(&self, ending: Ending) -> usize {
        self.told.ended(ending)
    }
}

/// Takes the oldest verb of a connection.
fn next(all: &mut Connections, place: usize) -> ((Endpoint, NodeId), Verb) {
    let way = *all.keys().nth(place).expect("there are so many");
    let verbs = all.get_mut(&way).expect("it was there");
    let verb = verbs.pop_front().expect("a connection with verbs");
    if verbs.is_empty() {
        all.remove(&way);
    }
    (way, verb)
}
