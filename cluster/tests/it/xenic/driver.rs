// SPDX-License-Identifier: MIT OR Apache-2.0
//! All nodes of a cluster that runs Xenic in one process, without a world: messages and memory operations take their
//! turns one after the other, in order or shuffled, and time moves by a nanosecond with each.

use std::collections::{BTreeMap, VecDeque};

use cluster::engine::{
    Effects, Ending, Endpoint, Input, Instant, Machine as _, Node, NodeId, Operation, Outcome,
    Part, Protocol, Span, Token, Work, WorkCounts,
};
use cluster::transact::Transactions;
use cluster::xenic::{Machine, Settings, Xenic};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::told::Told;

/// Something under way.
#[derive(Clone, Debug)]
pub enum Flight {
    Message {
        from: Endpoint,
        to: Endpoint,
        bytes: Vec<u8>,
    },
    /// A memory operation that has yet to reach host memory.
    Operation {
        at: Endpoint,
        token: Token,
        operation: Operation,
        bytes: Vec<u8>,
    },
    /// One that has, and whose core has yet to see it.
    Completion {
        at: Endpoint,
        token: Token,
        outcome: Outcome,
        bytes: Vec<u8>,
    },
}

/// What the network does beside delivering.
#[derive(Clone, Copy, Debug, Default)]
pub struct Network {
    /// Whether what is under way is taken in any order.
    pub shuffles: bool,
    /// One message between nodes in so many is delivered twice.
    pub duplicates: Option<u32>,
    /// One message between nodes in so many is lost.
    pub losses: Option<u32>,
    /// Log workers take a turn only once in so many steps; 1 if never set.
    pub lazy: u32,
}

pub struct Cluster<T: Transactions> {
    pub protocol: Xenic<T>,
    pub nodes: Vec<Node<Machine<T>>>,
    pub flying: VecDeque<Flight>,
    pub killed: Vec<bool>,
    /// Messages and bytes between NICs, by the number of their kind (answers have bit 7).
    pub sent: BTreeMap<u8, (usize, usize)>,
    /// Messages and bytes over the slot, to the NIC and to the host, without what log workers send.
    pub crossed: [(usize, usize); 2],
    /// Memory operations: reads and their bytes, writes and theirs.
    pub reads: (usize, usize),
    pub writes: (usize, usize),
    pub largest: usize,
    pub told: Told,
    pub work: WorkCounts,
    pub most_steps: u32,
    /// Whether what is told is not listened to, as it may make no sense.
    pub is_deaf: bool,
    network: Network,
    random: ChaCha8Rng,
    now: Instant,
    out: Effects,
}

impl<T: Transactions> Cluster<T> {
    pub fn new(settings: Settings, workload: T, network: Network, seed: u64) -> Self {
        Self::of(Xenic::new(settings, workload).expect("sound settings"), network, seed)
    }

    pub fn of(protocol: Xenic<T>, network: Network, seed: u64) -> Self {
        let nodes: Vec<_> =
            (0..protocol.nodes()).map(|node| protocol.start(NodeId(node))).collect();
        Self {
            killed: vec![false; nodes.len()],
            protocol,
            nodes,
            flying: VecDeque::new(),
            sent: BTreeMap::new(),
            crossed: [(0, 0); 2],
            reads: (0, 0),
            writes: (0, 0),
            largest: 0,
            told: Told::default(),
            work: WorkCounts::default(),
            most_steps: 2_000_000,
            is_deaf: false,
            network,
            random: ChaCha8Rng::seed_from_u64(seed),
            now: Instant::from_ps(1_000_000),
            out: Effects::new(),
        }
    }

    /// The place of a part in its node.
    fn place(&self, part: Part) -> usize {
        let Settings { threads, log_workers, .. } = *self.protocol.settings();
        match part {
            Part::HostThread(thread) => usize::from(thread),
            Part::NicCore(core) => usize::from(threads + log_workers + core),
            Part::Memory | Part::Switch => panic!("it has no machine"),
        }
    }

    fn is_log_worker(&self, part: Part) -> bool {
        let threads = self.protocol.settings().threads;
        matches!(part, Part::HostThread(thread) if thread >= threads)
    }

    fn endpoint(&self, node: usize, place: usize) -> Endpoint {
        let Settings { threads, log_workers, .. } = *self.protocol.settings();
        let node = NodeId(node as u16);
        match (place as u8).checked_sub(threads + log_workers) {
            None => Endpoint::host(node, place as u8),
            Some(core) => Endpoint { node, part: Part::NicCore(core) },
        }
    }

    pub fn burst(&mut self, at: Endpoint, inputs: &[Input<'_>]) {
        if self.killed[at.node.index()] {
            return;
        }
        self.now = self.now + Span::from_ns(1);
        self.out.clear();
        let place = self.place(at.part);
        let node = &mut self.nodes[at.node.index()];
        node.parts[place].burst(&mut node.shared, self.now, inputs, &mut self.out);
        self.take(at);
    }

    fn take(&mut self, at: Endpoint) {
        let log_workers = self.protocol.settings().threads..;
        for send in self.out.sends() {
            let bytes = self.out.bytes_of(&send.bytes).to_vec();
            let size = bytes.len();
            let between_nics =
                matches!((at.part, send.to.part), (Part::NicCore(_), Part::NicCore(_)));
            let add = |(number, sum): &mut (usize, usize)| {
                *number += 1;
                *sum += size;
            };
            match at.part {
                _ if between_nics => {
                    assert_ne!(at.node, send.to.node, "a core sends to its own node");
                    add(self.sent.entry(bytes[2]).or_default());
                }
                Part::HostThread(thread) if log_workers.contains(&thread) => {}
                Part::HostThread(_) => add(&mut self.crossed[0]),
                _ => add(&mut self.crossed[1]),
            }
            self.largest = self.largest.max(if between_nics { size } else { 0 });
            let flight = Flight::Message { from: at, to: send.to, bytes };
            let twice = self.network.duplicates.filter(|_| between_nics);
            if twice.is_some_and(|one| self.random.random_ratio(1, one)) {
                self.flying.push_back(flight.clone());
            }
            let is_lost = self.network.losses.filter(|_| between_nics);
            if !is_lost.is_some_and(|one| self.random.random_ratio(1, one)) {
                self.flying.push_back(flight);
            }
        }
        for asked in self.out.operations() {
            let bytes = self.out.bytes_of(&asked.bytes).to_vec();
            match asked.operation {
                Operation::Read { length, .. } => {
                    self.reads = (self.reads.0 + 1, self.reads.1 + length as usize);
                }
                _ => self.writes = (self.writes.0 + 1, self.writes.1 + bytes.len()),
            }
            let (token, operation) = (asked.token, asked.operation);
            self.flying.push_back(Flight::Operation { at, token, operation, bytes });
        }
        for (work, times) in Work::ALL.iter().zip(self.out.work_done().all()) {
            self.work.add(*work, *times);
        }
        self.killed[at.node.index()] |= self.out.is_killed();
        if !self.is_deaf {
            self.told.take(&self.out);
        }
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
        let due = self.deadlines().find(|(_, at)| *at <= self.now);
        if let Some((at, _)) = due {
            let polls = self.network.lazy <= 1
                || !self.is_log_worker(at.part)
                || self.flying.is_empty()
                || self.random.random_ratio(1, self.network.lazy);
            if polls {
                self.burst(at, &[Input::Deadline]);
                return true;
            }
        }
        if self.flying.is_empty() {
            return self.wait();
        }
        let place = match self.network.shuffles {
            true => self.random.random_range(0..self.flying.len()),
            false => 0,
        };
        match self.flying.remove(place).expect("it is there") {
            Flight::Message { from, to, bytes } => {
                self.burst(to, &[Input::Message { from, bytes: &bytes }]);
            }
            Flight::Operation { at, token, operation, mut bytes } => {
                let shared = &mut self.nodes[at.node.index()].shared;
                let done = match operation {
                    Operation::Read { at, length } => shared.read_host(at, length, &mut bytes),
                    Operation::Write { at } => {
                        let done = shared.write_host(at, &bytes);
                        bytes.clear();
                        done
                    }
                    _ => false,
                };
                let outcome = if done { Outcome::Done } else { Outcome::Failed };
                let completion = Flight::Completion { at, token, outcome, bytes };
                match self.network.shuffles {
                    true => self.flying.push_back(completion),
                    false => self.flying.push_front(completion),
                }
            }
            Flight::Completion { at, token, outcome, bytes } => {
                self.burst(at, &[Input::Completed { token, outcome, bytes: &bytes }]);
            }
        }
        true
    }

    /// The deadlines of all parts, but of log workers that have nothing to do.
    fn deadlines(&self) -> impl Iterator<Item = (Endpoint, Instant)> {
        let nodes = self.nodes.iter().zip(&self.killed).enumerate();
        nodes.filter(|(_, (_, killed))| !**killed).flat_map(move |(node, (state, _))| {
            let has_records = state.shared.host.logs.iter().any(|log| log.has_arrivals());
            let parts = state.parts.iter().enumerate();
            parts.filter_map(move |(place, part)| {
                let idles = matches!(part, Machine::LogWorker(_)) && !has_records;
                let deadline = part.deadline().filter(|_| !idles)?;
                Some((self.endpoint(node, place), deadline))
            })
        })
    }

    /// Goes on to the next deadline, if there is one.
    pub fn wait(&mut self) -> bool {
        let Some((at, of)) = self.deadlines().map(|(part, at)| (at, part)).min() else {
            return false;
        };
        self.now = self.now.max(at);
        self.burst(of, &[Input::Deadline]);
        true
    }

    /// Runs until nothing is under way any more.
    ///
    /// # Errors
    /// When that does not come.
    pub fn run(&mut self) -> Result<(), String> {
        for _ in 0..self.most_steps {
            if !self.step() {
                return Ok(());
            }
        }
        Err("it does not come to rest".into())
    }

    pub fn check_at_rest(&self) -> Result<(), String> {
        let up = self.nodes.iter().enumerate().filter(|(node, _)| !self.killed[*node]);
        let up: Vec<_> = up.map(|(node, state)| (NodeId(node as u16), state)).collect();
        self.protocol.check_at_rest(&up)
    }

    pub fn ended(&self, ending: Ending) -> usize {
        self.told.ended(ending)
    }

    /// That what has ended has a serial order, that nothing is left over, and that all have ended.
    pub fn check(&self) -> Result<(), String> {
        self.told.check_serial(self.protocol.layout())?;
        self.told.check_ended()?;
        self.check_at_rest()
    }
}
