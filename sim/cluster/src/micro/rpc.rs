// SPDX-License-Identifier: MIT OR Apache-2.0
//! RPCs with buffers of fixed sizes by datagrams, with the structure of FaSST's (sections 3.3 and 4): a
//! thread serves what its poll finds, and its workers send a batch of requests each, to different
//! nodes, and wait for all answers.

use cluster::engine::{
    Class, Effects, Ending, Endpoint, Input, Instant, Machine, Moment, Node, NodeId, Protocol,
    Stage, TransactionId, Work,
};

use super::random::Random;
use super::{Measured, Spans};
use crate::nic::Connections;
use crate::platform::Hardware;
use crate::world::{self, Options, World, WorldError};

/// What is sent, and which optimizations are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RpcBench {
    /// Nodes; each asks all others. (What goes to the own node would pass no card.)
    pub nodes: u16,
    /// Threads of a node.
    pub threads: u8,
    /// Workers of a thread.
    pub workers: u8,
    /// Requests of a batch, each to a different node.
    pub batch: u16,
    /// Bytes of a request; at least two.
    pub request: u32,
    /// Bytes of an answer; at least two.
    pub answer: u32,
    /// One doorbell for the requests of a batch, not one each.
    pub batched_requests: bool,
    /// Buffers are handed to the card by the head pointer, not by descriptors.
    pub cheap_receives: bool,
    /// One doorbell for the answers of a poll, not one each.
    pub batched_answers: bool,
    /// Chooses the receivers.
    pub seed: u64,
}

impl RpcBench {
    /// All optimizations, batches of one, 32 bytes each way.
    pub const fn new(nodes: u16, threads: u8, workers: u8) -> Self {
        Self {
            nodes,
            threads,
            workers,
            batch: 1,
            request: 32,
            answer: 32,
            batched_requests: true,
            cheap_receives: true,
            batched_answers: true,
            seed: 1,
        }
    }

    /// Requests a second and node.
    ///
    /// # Errors
    /// When the hardware cannot have so many threads.
    pub fn run(self, hardware: &Hardware, spans: Spans) -> Result<Measured, WorldError> {
        // As many as there are workers that can send to a thread (FaSST, section 4.4).
        let posted = u64::from(self.nodes) * u64::from(self.workers) * u64::from(self.threads);
        let made = world::Hardware::of_platform(hardware, Connections::OWN, posted);
        let options = Options {
            host_threads: self.threads,
            workers: self.workers,
            record: false,
            digest: false,
            ..Options::default()
        };
        let mut world = World::new(self, made, None, options)?;
        world.run_for(spans.warm_up, spans.measure);
        let ledger = world.ledger();
        let messages = ledger.messages[Stage::Micro as usize];
        // Half of what came were answers. Whole batches would be few where they are large.
        let requests = messages.received as f64 / 2.0;
        Ok(Measured {
            rate: requests / f64::from(self.nodes) / spans.measure.as_ns_f64() * 1e3,
            median: ledger.latency().value_at_quantile(0.5) as f64 / 1e3,
            busiest: ledger.busiest().unwrap_or(("none", 0.0)),
            packets: messages.sent as f64 / requests,
            wire_bytes: messages.wire_bytes as f64 / requests,
        })
    }
}

impl Protocol for RpcBench {
    type Machine = RpcThread;

    fn nodes(&self) -> u16 {
        self.nodes
    }

    fn start(&self, node: NodeId) -> Node<RpcThread> {
        let thread = |thread| RpcThread::new(*self, node, thread);
        Node { shared: (), parts: (0..self.threads).map(thread).collect() }
    }

    fn restart(&self, node: NodeId, (): ()) -> Node<RpcThread> {
        self.start(node)
    }

    fn manager(&self) -> Option<Node<RpcThread>> {
        None
    }

    fn check_at_rest(&self, _: &[(NodeId, &Node<RpcThread>)]) -> Result<(), String> {
        Ok(())
    }
}

/// A thread of the benchmark.
#[derive(Clone, Debug)]
pub struct RpcThread {
    bench: RpcBench,
    node: NodeId,
    thread: u8,
    random: Random,
    /// The other nodes, in an order that changes.
    others: Vec<NodeId>,
    workers: Vec<Worker>,
    /// Requests of a poll: worker and node.
    asked: Vec<(u8, NodeId)>,
    /// Workers that go on in this poll.
    ready: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Worker {
    /// Answers that are yet to come.
    open: u16,
    batches: u32,
    finishes: bool,
}

const REQUEST: u8 = 0;
const ANSWER: u8 = 1;

impl RpcThread {
    fn new(bench: RpcBench, node: NodeId, thread: u8) -> Self {
        Self {
            bench,
            node,
            thread,
            random: Random::of(bench.seed, node.0, thread),
            others: (0..bench.nodes).map(NodeId).filter(|other| *other != node).collect(),
            workers: vec![Worker::default(); bench.workers.into()],
            asked: Vec::new(),
            ready: Vec::new(),
        }
    }

    fn take(&mut self, from: Endpoint, bytes: &[u8], out: &mut Effects) {
        out.work(Work::Receive, 1);
        if !self.bench.cheap_receives {
            out.work(Work::PostReceive, 1);
        }
        let &[kind, worker, ..] = bytes else { return };
        match kind {
            REQUEST => {
                out.work(Work::Handle, 1);
                self.asked.push((worker, from.node));
            }
            ANSWER => {
                let Some(state) = self.workers.get_mut(usize::from(worker)) else { return };
                state.open = state.open.saturating_sub(1);
                if state.open == 0 {
                    self.ready.push(worker);
                    let transaction = self.batch_of(worker);
                    out.tell(Moment::Ended { transaction, ending: Ending::Committed });
                }
            }
            _ => {}
        }
    }

    fn batch_of(&self, worker: u8) -> TransactionId {
        let count = self.workers[usize::from(worker)].batches;
        TransactionId::new(self.node, self.thread, worker, count)
    }

    fn answer(&mut self, out: &mut Effects) {
        for (worker, node) in self.asked.drain(..) {
            let to = Endpoint::host(node, self.thread);
            send(to, [ANSWER, worker], self.bench.answer, out);
            if !self.bench.batched_answers {
                out.ring_doorbell();
            }
        }
        out.ring_doorbell();
    }

    /// A worker runs until it waits for the answers to its next batch.
    fn go_on(&mut self, worker: u8, out: &mut Effects) {
        let state = &mut self.workers[usize::from(worker)];
        out.work(Work::Switch, 1);
        if state.finishes {
            return out.tell(Moment::Rests { worker });
        }
        state.batches += 1;
        let batch = usize::from(self.bench.batch).min(self.others.len());
        state.open = batch as u16;
        let transaction = self.batch_of(worker);
        out.tell(Moment::Begun { transaction, kind: 0, again: false });
        for place in 0..batch {
            let rest = (self.others.len() - place) as u64;
            self.others.swap(place, place + self.random.below(rest) as usize);
            let to = Endpoint::host(self.others[place], self.thread);
            send(to, [REQUEST, worker], self.bench.request, out);
            if !self.bench.batched_requests {
                out.ring_doorbell();
            }
        }
        out.ring_doorbell();
    }
}

impl Machine for RpcThread {
    type Shared = ();

    fn burst(&mut self, (): &mut (), _: Instant, inputs: &[Input<'_>], out: &mut Effects) {
        for input in inputs {
            match *input {
                Input::Message { from, bytes } => self.take(from, bytes, out),
                Input::Begin { worker } => self.ready.push(worker),
                Input::Finish { worker } => {
                    if let Some(state) = self.workers.get_mut(usize::from(worker)) {
                        state.finishes = true;
                    }
                }
                Input::Completed { .. } | Input::Deadline => {}
            }
        }
        self.answer(out);
        let mut ready = std::mem::take(&mut self.ready);
        for worker in ready.drain(..) {
            self.go_on(worker, out);
        }
        self.ready = ready;
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}

fn send(to: Endpoint, begin: [u8; 2], length: u32, out: &mut Effects) {
    out.send(to, Class::Foreground, Stage::Micro, |bytes| {
        let end = bytes.len() + length as usize;
        bytes.extend(begin);
        bytes.resize(end, 0);
    });
}
