// SPDX-License-Identifier: MIT OR Apache-2.0
//! READs, or other verbs, of a fixed size over connections: some nodes ask, some are asked.

use std::ops::Range;
use std::sync::Arc;

use cluster::engine::{
    Effects, Ending, Input, Instant, Machine, Moment, Node, NodeId, Operation, Place, Protocol,
    Token, TransactionId, Work,
};

use super::random::Random;
use super::{Measured, Spans};
use crate::nic::rdma::Costs;
use crate::nic::{Connections, RdmaNic};
use crate::platform::Hardware;
use crate::world::{self, Options, World, WorldError};

/// Which operation is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operate {
    /// A READ of so many bytes.
    Read(u32),
    /// A WRITE of so many bytes.
    Write(u32),
    /// A compare-and-swap of a word.
    CompareSwap,
}

/// Who asks whom for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerbBench {
    /// Nodes.
    pub nodes: u16,
    /// Those that ask.
    pub initiators: Range<u16>,
    /// Those that are asked, each by all others.
    pub targets: Range<u16>,
    /// Threads of a node.
    pub threads: u8,
    /// Operations of a thread that are under way at once.
    pub window: u8,
    /// The operation.
    pub operate: Operate,
    /// Queue pairs.
    pub connections: Connections,
    /// Chooses targets and addresses.
    pub seed: u64,
}

impl VerbBench {
    /// All nodes ask all others for READs of `bytes`.
    pub const fn symmetric(nodes: u16, threads: u8, bytes: u32) -> Self {
        Self {
            nodes,
            initiators: 0..nodes,
            targets: 0..nodes,
            threads,
            window: 20,
            operate: Operate::Read(bytes),
            connections: Connections::OWN,
            seed: 1,
        }
    }

    /// Operations a second and initiator.
    ///
    /// # Errors
    /// When the hardware cannot have so many threads.
    pub fn run(self, hardware: &Hardware, spans: Spans) -> Result<Measured, WorldError> {
        self.run_with(hardware, hardware.nic_costs(), spans)
    }

    /// As [`VerbBench::run`], on cards of other costs.
    ///
    /// # Errors
    /// As there.
    pub fn run_with(
        self,
        hardware: &Hardware,
        costs: Costs,
        spans: Spans,
    ) -> Result<Measured, WorldError> {
        let connections = self.connections;
        let made = world::Hardware {
            card: Arc::new(move |_| Box::new(RdmaNic::new(costs, connections, 0))),
            ..world::Hardware::of_platform(hardware, connections, 0)
        };
        let options = Options {
            host_threads: self.threads,
            workers: self.window,
            memory: self.reach() as usize + 8192,
            record: false,
            digest: false,
            ..Options::default()
        };
        let initiators = self.initiators.len() as f64;
        let mut world = World::new(self, made, None, options)?;
        world.run_for(spans.warm_up, spans.measure);
        let ledger = world.ledger();
        Ok(Measured {
            rate: ledger.transactions() as f64 / initiators / spans.measure.as_ns_f64() * 1e3,
            median: ledger.latency().value_at_quantile(0.5) as f64 / 1e3,
            busiest: ledger.busiest().unwrap_or(("none", 0.0)),
            packets: 2.0,
            wire_bytes: 0.0,
        })
    }

    /// Addresses are below this one; the address tells which queue pair is taken.
    fn reach(&self) -> u64 {
        u64::from(self.connections.each.max(1)) * 64
    }
}

impl Protocol for VerbBench {
    type Machine = VerbThread;

    fn nodes(&self) -> u16 {
        self.nodes
    }

    fn start(&self, node: NodeId) -> Node<VerbThread> {
        let parts = (0..self.threads).map(|thread| VerbThread::new(self.clone(), node, thread));
        let queue_pairs = usize::from(self.nodes) * self.connections.each.max(1) as usize;
        let sets = usize::from(self.threads.div_ceil(self.connections.threads_a_set.max(1)));
        Node { shared: vec![u8::MAX; queue_pairs * sets], parts: parts.collect() }
    }

    fn restart(&self, node: NodeId, _: Vec<u8>) -> Node<VerbThread> {
        self.start(node)
    }

    fn manager(&self) -> Option<Node<VerbThread>> {
        None
    }

    fn check_at_rest(&self, _: &[(NodeId, &Node<VerbThread>)]) -> Result<(), String> {
        Ok(())
    }
}

/// A thread of the benchmark.
#[derive(Clone, Debug)]
pub struct VerbThread {
    bench: VerbBench,
    node: NodeId,
    thread: u8,
    random: Random,
    counts: Vec<u32>,
    finishes: bool,
}

impl VerbThread {
    fn new(bench: VerbBench, node: NodeId, thread: u8) -> Self {
        let random = Random::of(bench.seed, node.0, thread);
        let counts = vec![0; bench.window.into()];
        Self { bench, node, thread, random, counts, finishes: false }
    }

    fn transaction(&self, worker: u8) -> TransactionId {
        let count = self.counts[usize::from(worker)];
        TransactionId::new(self.node, self.thread, worker, count)
    }

    /// Makes the next operation. `users` are the threads that used each queue pair last.
    fn ask(&mut self, worker: u8, users: &mut [u8], out: &mut Effects) {
        if self.finishes || !self.bench.initiators.contains(&self.node.0) {
            return out.tell(Moment::Rests { worker });
        }
        let Some(target) = self.target() else { return out.tell(Moment::Rests { worker }) };
        self.counts[usize::from(worker)] += 1;
        let transaction = self.transaction(worker);
        out.tell(Moment::Begun { transaction, kind: 0, again: false });
        let one = self.random.below(self.bench.connections.each.max(1).into());
        let at = one * 64;
        let operation = match self.bench.operate {
            Operate::Read(length) => Operation::Read { at, length },
            Operate::Write(_) => Operation::Write { at },
            Operate::CompareSwap => Operation::CompareSwap { at, expected: 0, new: 0 },
        };
        out.work(Work::Post, 1);
        self.take_queue_pair(target, one, users, out);
        out.operate(Token(worker.into()), Place::Node(target), operation, |bytes| {
            if let Operate::Write(length) = self.bench.operate {
                bytes.resize(bytes.len() + length as usize, 0);
            }
        });
    }

    fn target(&mut self) -> Option<NodeId> {
        let targets = &self.bench.targets;
        let own = targets.contains(&self.node.0);
        let others = (targets.len() - usize::from(own)) as u64;
        if others == 0 {
            return None;
        }
        let drawn = targets.start + self.random.below(others) as u16;
        Some(NodeId(drawn + u16::from(own && drawn >= self.node.0)))
    }

    fn take_queue_pair(&self, target: NodeId, one: u64, users: &mut [u8], out: &mut Effects) {
        let each = self.bench.connections.each.max(1) as usize;
        let set = usize::from(self.thread / self.bench.connections.threads_a_set.max(1));
        let place = (set * usize::from(self.bench.nodes) + target.index()) * each + one as usize;
        let Some(user) = users.get_mut(place) else { return };
        if *user != self.thread && *user != u8::MAX {
            out.work(Work::TakeOver, 1);
        }
        *user = self.thread;
    }
}

impl Machine for VerbThread {
    type Shared = Vec<u8>;

    fn burst(&mut self, users: &mut Vec<u8>, _: Instant, inputs: &[Input<'_>], out: &mut Effects) {
        for input in inputs {
            match *input {
                Input::Begin { worker } => self.ask(worker, users, out),
                Input::Completed { token, .. } => {
                    let worker = token.0 as u8;
                    let transaction = self.transaction(worker);
                    out.tell(Moment::Ended { transaction, ending: Ending::Committed });
                    self.ask(worker, users, out);
                }
                Input::Finish { .. } => self.finishes = true,
                Input::Message { .. } | Input::Deadline => {}
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}
