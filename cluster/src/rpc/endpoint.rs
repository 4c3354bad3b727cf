// SPDX-License-Identifier: MIT OR Apache-2.0
//! The RPC endpoint of a thread: what its master knows about messages under way.
//!
//! A message of a worker to a machine is under way until its answer has come, and a worker has at most
//! one of them to each machine. So a thread has to provide as many receive buffers as there are nodes
//! times the budget, and twice that for answers.

use crate::engine::{Aside, Endpoint, NodeId};
use crate::near;

/// What a thread has dropped, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dropped {
    /// Bytes that are no message, or one for another thread.
    pub malformed: u64,
    /// Requests that had been served already.
    pub duplicates: u64,
    /// Messages of another view.
    pub other_view: u64,
    /// Answers that nobody waits for.
    pub unexpected: u64,
    /// Messages that came while the node's lease was out or its view was changing.
    pub not_serving: u64,
    /// Transactions that were rolled back because their record does not fit into a message.
    pub too_large: u64,
    /// Attempts that were not begun, as all numbers for them were used: each ended its process.
    pub out_of_numbers: u64,
}

/// What an endpoint has to reckon with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Nodes of the cluster.
    pub nodes: u16,
    /// Workers of each thread.
    pub workers: u8,
    /// How many messages of one thread may be on their way to one remote machine.
    pub budget: u8,
    /// Whether what comes twice is served once. (If not, a bug is planted.)
    pub suppresses: bool,
}

/// The endpoint of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rpc {
    own: NodeId,
    thread: u8,
    workers: u8,
    budget: u8,
    /// The view of the messages below.
    epoch: u32,
    /// Messages under way to each node.
    under_way: Vec<u8>,
    /// The last message served of each worker of the peer thread of each node.
    served: Vec<u32>,
    /// Workers with messages that the budget holds back, the longest first.
    held_back: Vec<u8>,
    /// Those of them that are tried again; empty between polls.
    round: Vec<u8>,
    of_round: usize,
    suppresses: bool,
    /// What was dropped.
    pub dropped: Aside<Dropped>,
}

impl Rpc {
    /// The endpoint of thread `thread` of `own`, without any message.
    pub fn new(own: NodeId, thread: u8, limits: &Limits) -> Self {
        let &Limits { nodes, workers, budget, suppresses } = limits;
        let nodes = usize::from(nodes);
        Self {
            own,
            thread,
            workers,
            budget,
            epoch: 0,
            under_way: vec![0; nodes],
            served: vec![0; nodes * usize::from(workers)],
            held_back: Vec::with_capacity(workers.into()),
            round: Vec::with_capacity(workers.into()),
            of_round: 0,
            suppresses,
            dropped: Aside::default(),
        }
    }

    /// The node of the thread.
    pub fn own(&self) -> NodeId {
        self.own
    }

    /// The number of the thread.
    pub fn thread(&self) -> u8 {
        self.thread
    }

    /// The view whose messages are taken.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The thread of a node that this one talks to.
    pub fn peer(&self, node: NodeId) -> Endpoint {
        Endpoint::host(node, self.thread)
    }

    /// Forgets the messages of the old view. Sequence numbers go on with both sides from 0, as a node may
    /// have been restarted; the view in each header keeps old and new ones apart.
    pub fn enter(&mut self, epoch: u32) {
        self.epoch = epoch;
        self.under_way.fill(0);
        self.served.fill(0);
        self.held_back.clear();
    }

    /// Whether a request comes for the first time. It counts as served from now on.
    #[inline]
    pub fn is_new(&mut self, from: NodeId, worker: u8, sequence: u32) -> bool {
        let place = self.place(from, worker);
        match self.served.get_mut(place) {
            Some(last) if worker < self.workers && *last < sequence => {
                *last = sequence;
                true
            }
            _ => !self.suppresses,
        }
    }

    fn place(&self, from: NodeId, worker: u8) -> usize {
        from.index() * usize::from(self.workers) + usize::from(worker)
    }

    /// Fetches what [`Rpc::is_new`] needs.
    #[inline]
    pub fn fetch(&self, from: NodeId, worker: u8) {
        near::fetch(self.served.as_ptr().wrapping_add(self.place(from, worker)));
    }

    /// Takes a place for a message to `node`, if the budget has one.
    #[inline]
    pub fn take_place(&mut self, node: NodeId) -> bool {
        match self.under_way.get_mut(node.index()) {
            Some(count) if *count < self.budget => {
                *count += 1;
                true
            }
            _ => false,
        }
    }

    /// Gives the place of an answered message back.
    #[inline]
    pub fn give_place(&mut self, node: NodeId) {
        if let Some(count) = self.under_way.get_mut(node.index()) {
            *count = count.saturating_sub(1);
        }
    }

    /// How many messages are under way to `node`.
    pub fn under_way(&self, node: NodeId) -> u8 {
        self.under_way.get(node.index()).copied().unwrap_or(0)
    }

    /// Notes that a worker has messages for which the budget had no place.
    pub fn hold_back(&mut self, worker: u8) {
        if !self.held_back.contains(&worker) {
            self.held_back.push(worker);
        }
    }

    /// Begins to try all workers again that the budget has held back.
    pub fn begin_round(&mut self) {
        std::mem::swap(&mut self.held_back, &mut self.round);
        self.of_round = 0;
    }

    /// The next of them, the longest first. It is held back again by [`Rpc::hold_back`].
    pub fn next_of_round(&mut self) -> Option<u8> {
        let worker = self.round.get(self.of_round).copied();
        self.of_round += 1;
        if worker.is_none() {
            self.round.clear();
            self.of_round = 0;
        }
        worker
    }
}
