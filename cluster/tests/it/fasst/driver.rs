// SPDX-License-Identifier: MIT OR Apache-2.0
//! All nodes of a cluster in one process, without a world: messages are delivered one after the other,
//! in order or shuffled, and time moves by a nanosecond with each.

use std::collections::{BTreeMap, VecDeque};

use cluster::engine::{
    Effects, Ending, Endpoint, Input, Instant, Machine as _, Node, NodeId, Part, Protocol, Span,
    Stage, Work, WorkCounts,
};
use cluster::fasst::messages::Kind;
use cluster::fasst::{Fasst, Machine, Settings};
use cluster::transact::Transactions;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::told::Told;

/// A message under way.
#[derive(Clone, Debug)]
pub struct Flight {
    pub from: Endpoint,
    pub to: Endpoint,
    pub bytes: Vec<u8>,
}

/// What the network does beside delivering.
#[derive(Clone, Copy, Debug, Default)]
pub struct Network {
    /// Whether messages are taken in any order.
    pub shuffles: bool,
    /// One message in so many is delivered twice.
    pub duplicates: Option<u32>,
}

pub struct Cluster<T: Transactions> {
    pub protocol: Fasst<T>,
    pub nodes: Vec<Node<Machine<T>>>,
    pub flying: VecDeque<Flight>,
    pub killed: Vec<bool>,
    /// Requests (messages, not answers) by stage.
    pub requests: BTreeMap<Stage, usize>,
    pub largest: usize,
    pub told: Told,
    pub work: WorkCounts,
    pub doorbells: usize,
    network: Network,
    random: ChaCha8Rng,
    now: Instant,
    out: Effects,
}

impl<T: Transactions> Cluster<T> {
    pub fn new(settings: Settings, workload: T, network: Network, seed: u64) -> Self {
        Self::of(Fasst::new(settings, workload).expect("sound settings"), network, seed)
    }

    pub fn of(protocol: Fasst<T>, network: Network, seed: u64) -> Self {
        let nodes: Vec<_> =
            (0..protocol.nodes()).map(|node| protocol.start(NodeId(node))).collect();
        Self {
            killed: vec![false; nodes.len()],
            protocol,
            nodes,
            flying: VecDeque::new(),
            requests: BTreeMap::new(),
            largest: 0,
            told: Told::default(),
            work: WorkCounts::default(),
            doorbells: 0,
            network,
            random: ChaCha8Rng::seed_from_u64(seed),
            now: Instant::from_ps(1_000_000),
            out: Effects::new(),
        }
    }

    pub fn burst(&mut self, at: Endpoint, inputs: &[Input<'_>]) {
        let Part::HostThread(thread) = at.part else { return };
        if self.killed[at.node.index()] {
            return;
        }
        self.now = self.now + Span::from_ns(1);
        self.out.clear();
        let node = &mut self.nodes[at.node.index()];
        node.parts[usize::from(thread)].burst(&mut node.shared, self.now, inputs, &mut self.out);
        self.take(at);
    }

    fn take(&mut self, at: Endpoint) {
        for send in self.out.sends() {
            let bytes = self.out.bytes_of(&send.bytes).to_vec();
            if Kind::of(&bytes) == Some(Kind::Requests) {
                *self.requests.entry(send.stage).or_default() += 1;
            }
            self.largest = self.largest.max(bytes.len());
            let flight = Flight { from: at, to: send.to, bytes };
            if self.network.duplicates.is_some_and(|one| self.random.random_ratio(1, one)) {
                self.flying.push_back(flight.clone());
            }
            self.flying.push_back(flight);
        }
        for (work, times) in Work::ALL.iter().zip(self.out.work_done().all()) {
            self.work.add(*work, *times);
        }
        self.doorbells += self.out.batches().count();
        self.killed[at.node.index()] |= self.out.is_killed();
        self.told.take(&self.out);
    }

    /// Gives the workers of all threads an input.
    pub fn tell_all(&mut self, input: impl Fn(u8) -> Input<'static>) {
        let Settings { nodes, threads, workers, .. } = *self.protocol.settings();
        for node in (0..nodes).map(NodeId) {
            for thread in 0..threads {
                let inputs: Vec<_> = (0..workers).map(&input).collect();
                self.burst(Endpoint::host(node, thread), &inputs);
            }
        }
    }

    pub fn begin_all(&mut self) {
        self.tell_all(|worker| Input::Begin { worker });
    }

    /// Delivers one message, or gives the deadlines that have come. Says whether there was anything.
    pub fn step(&mut self) -> bool {
        let due = self.due();
        if let Some(at) = due {
            self.burst(at, &[Input::Deadline]);
            return true;
        }
        if self.flying.is_empty() {
            return self.wait();
        }
        let place = match self.network.shuffles {
            true => self.random.random_range(0..self.flying.len()),
            false => 0,
        };
        let flight = self.flying.remove(place).expect("it is there");
        let Flight { from, to, bytes } = flight;
        self.burst(to, &[Input::Message { from, bytes: &bytes }]);
        true
    }

    fn deadlines(&self) -> impl Iterator<Item = (Instant, Endpoint)> {
        let nodes = self.nodes.iter().zip(&self.killed).enumerate();
        nodes.filter(|(_, (_, killed))| !**killed).flat_map(|(node, (state, _))| {
            let parts = state.parts.iter().enumerate();
            parts.filter_map(move |(thread, part)| {
                let at = Endpoint::host(NodeId(node as u16), thread as u8);
                Some((part.deadline()?, at))
            })
        })
    }

    fn due(&self) -> Option<Endpoint> {
        self.deadlines().find(|(at, _)| *at <= self.now).map(|(_, at)| at)
    }

    /// Goes on to the next deadline, if a worker still waits.
    pub fn wait(&mut self) -> bool {
        if self.rests() {
            return false;
        }
        let Some((at, of)) = self.deadlines().min() else { return false };
        self.now = self.now.max(at);
        self.burst(of, &[Input::Deadline]);
        true
    }

    pub fn rests(&self) -> bool {
        let up = self.nodes.iter().zip(&self.killed).filter(|(_, killed)| !**killed);
        let mut parts = up.flat_map(|(node, _)| &node.parts);
        parts.all(|part| part.thread().is_none_or(|thread| thread.rests()))
    }

    /// Runs until nothing is under way any more.
    pub fn run(&mut self) {
        for _ in 0..20_000_000 {
            if !self.step() {
                return;
            }
        }
        panic!("it does not come to rest");
    }

    pub fn check_at_rest(&self) -> Result<(), String> {
        let up = self.nodes.iter().enumerate().filter(|(node, _)| !self.killed[*node]);
        let up: Vec<_> = up.map(|(node, state)| (NodeId(node as u16), state)).collect();
        self.protocol.check_at_rest(&up)
    }

    pub fn ended(&self, ending: Ending) -> usize {
        self.told.ended(ending)
    }

    pub fn check_serial(&self) -> Result<(), String> {
        self.told.check_serial(self.protocol.layout())
    }
}
