// SPDX-License-Identifier: MIT OR Apache-2.0
//! A thread of a node: polls, serves requests, applies its log, and enters its workers.

use std::sync::Arc;

use super::context::{Context, Fixed, Scratch};
use super::server;
use super::shared::Shared;
use super::worker::{State, Worker};
use crate::engine::{Effects, Endpoint, Input, Instant, Machine, NodeId, Work};
use crate::ready::{make_ready, told};
use crate::rpc::{self, Dropped, Header, Kind, Limits, Rpc};
use crate::transact::Transactions;
use crate::wire::{Reader, WireError};

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread<T: Transactions> {
    fixed: Arc<Fixed<T>>,
    scratch: Scratch,
    rpc: Rpc,
    workers: Vec<Worker<T::Input, T::Source>>,
    /// Workers to be entered.
    ready: Vec<u8>,
    /// No worker wants to be looked at before this.
    timer: Option<Instant>,
    /// The time of the last burst.
    clock: Instant,
}

impl<T: Transactions> Thread<T> {
    pub(super) fn new(fixed: Arc<Fixed<T>>, own: NodeId, number: u8) -> Self {
        let settings = &fixed.settings;
        let of_thread = u32::from(own.0) * u32::from(settings.threads) + u32::from(number);
        let workers = (0..settings.workers).map(|worker| {
            let of_cluster = of_thread * u32::from(settings.workers) + u32::from(worker);
            Worker::new(worker, fixed.workload.source(of_cluster))
        });
        // A worker has one message under way to each node, so that there may be as many as workers.
        let limits = Limits {
            nodes: settings.nodes,
            workers: settings.workers,
            budget: settings.workers,
            suppresses: true,
        };
        Self {
            workers: workers.collect(),
            rpc: Rpc::new(own, number, &limits),
            ready: Vec::with_capacity(settings.workers.into()),
            scratch: Scratch::default(),
            timer: None,
            clock: Instant::default(),
            fixed,
        }
    }

    /// What the thread has dropped since its start.
    pub fn dropped(&self) -> Dropped {
        self.rpc.dropped.0
    }

    /// Whether all of its workers rest.
    pub fn rests(&self) -> bool {
        self.workers.iter().all(|worker| worker.state == State::Rests)
    }
}

impl<T: Transactions> Machine for Thread<T> {
    type Shared = Shared<T>;

    fn burst(
        &mut self,
        shared: &mut Shared<T>,
        now: Instant,
        inputs: &[Input<'_>],
        out: &mut Effects,
    ) {
        let Self { fixed, scratch, rpc, workers, ready, timer, clock } = self;
        *clock = now;
        let mut cx = Context { fixed, shared, rpc, scratch, now, out };
        server::apply_log(&mut cx);
        for input in inputs {
            match *input {
                Input::Message { from, bytes } => {
                    if take_message(&mut cx, workers, ready, from, bytes).is_err() {
                        cx.rpc.dropped.0.malformed += 1;
                    }
                }
                Input::Completed { token, outcome, bytes } => {
                    let worker = (token.0 >> 24) as u8;
                    let Some(state) = workers.get_mut(usize::from(worker)) else { continue };
                    if state.completed(&mut cx, token, outcome, bytes) {
                        make_ready(ready, worker);
                    }
                }
                Input::Begin { worker } => told(workers, ready, worker, Worker::start),
                Input::Finish { worker } => told(workers, ready, worker, Worker::finish_up),
                Input::Deadline => {}
            }
        }
        cx.out.ring_doorbell();
        if timer.is_some_and(|timer| timer <= now) {
            *timer = None;
            look_at_all(&mut cx, workers, ready);
        }
        for worker in ready.drain(..) {
            workers[usize::from(worker)].invoke(&mut cx);
        }
        std::mem::swap(ready, &mut cx.scratch.soon);
        if let Some(wake) = cx.scratch.wake.take() {
            *timer = Some(timer.map_or(wake, |timer| timer.min(wake)));
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let next = (!self.ready.is_empty()).then_some(self.clock);
        self.timer.into_iter().chain(next).min()
    }
}

/// Takes a message of another node: serves its requests, or gives its answers to the worker.
fn take_message<T: Transactions>(
    cx: &mut Context<'_, T>,
    workers: &mut [Worker<T::Input, T::Source>],
    ready: &mut Vec<u8>,
    from: Endpoint,
    bytes: &[u8],
) -> Result<(), WireError> {
    cx.out.work(Work::Receive, 1);
    let reader = &mut Reader::new(bytes);
    let header = Header::decode(reader)?;
    let is_of_peer = from == cx.rpc.peer(from.node)
        && from.node.0 < cx.fixed.settings.nodes
        && header.worker < cx.fixed.settings.workers;
    if !is_of_peer || header.epoch != cx.rpc.epoch() {
        cx.rpc.dropped.0.malformed += 1;
        return Ok(());
    }
    if header.kind == Kind::Requests {
        return rpc::serve(cx, from.node, &header, *reader);
    }
    let worker = &mut workers[usize::from(header.worker)];
    if !worker.answer(cx, from.node, &header, reader)? {
        cx.rpc.dropped.0.unexpected += 1;
    } else if !worker.is_waiting() || worker.calls.has_unsent() {
        // What did not fit into the message to this node has waited for the answer.
        make_ready(ready, header.worker);
    }
    Ok(())
}

/// Looks for workers whose pause is over.
fn look_at_all<T: Transactions>(
    cx: &mut Context<'_, T>,
    workers: &mut [Worker<T::Input, T::Source>],
    ready: &mut Vec<u8>,
) {
    for worker in workers {
        match worker.state {
            State::Again { at } if at <= cx.now => make_ready(ready, worker.calls.number),
            State::Again { at } => cx.wake(at),
            _ => {}
        }
    }
}
