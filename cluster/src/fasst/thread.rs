// SPDX-License-Identifier: MIT OR Apache-2.0
//! A thread of a node: its master, which polls, serves requests and collects answers, and its workers.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::context::{Context, Fixed, Scratch};
use super::messages::{Header, Kind};
use super::mutant::Mutant;
use super::server;
use super::shared::Shared;
use super::worker::{State, Worker};
use crate::engine::{Aside, Effects, Endpoint, Input, Instant, NodeId, Span, Work};
use crate::membership::Status;
use crate::ready::{make_ready, told};
use crate::recovery;
use crate::rpc::{self, Dropped, Limits, Rpc};
use crate::transact::Transactions;
use crate::wire::{Reader, WireError};

/// How often a thread that has something to do looks whether its node serves again.
const PAUSED_POLL: Span = Span::from_us(10);

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread<T: Transactions> {
    fixed: Arc<Fixed<T>>,
    /// Its buffers, and the workers that go on in the next poll.
    scratch: Scratch,
    state: ThreadState<T::Input, T::Source>,
}

/// All that counts of a thread's state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ThreadState<I, S> {
    rpc: Rpc,
    workers: Vec<Worker<I, S>>,
    /// Workers to be invoked.
    ready: Vec<u8>,
    /// No worker wants to be looked at before this.
    timer: Option<Instant>,
    /// Whether the node did not serve at the last burst.
    is_paused: bool,
    /// Whether the workers have left the view of the endpoint.
    has_left: bool,
    /// When the thread looks after the membership: thread 0 for the node, the others for changes.
    membership: Option<Instant>,
    /// Messages that came while the node's lease was out: they stay in the receive queue until it is
    /// renewed, or the view changes.
    held: Vec<(Endpoint, Vec<u8>)>,
    /// The time of the last burst.
    clock: Aside<Instant>,
}

impl<T: Transactions> PartialEq for Thread<T> {
    /// The workload is one of a run and not compared.
    fn eq(&self, other: &Self) -> bool {
        self.state == other.state
    }
}

impl<T: Transactions> Eq for Thread<T> {}

impl<T: Transactions> Hash for Thread<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.state.hash(state);
    }
}

impl<T: Transactions> Thread<T> {
    pub(super) fn new(fixed: Arc<Fixed<T>>, own: NodeId, number: u8, attempt: u32) -> Self {
        let settings = &fixed.settings;
        let threads = u32::from(settings.threads);
        let of_thread = u32::from(own.0) * threads + u32::from(number);
        let workers = (0..settings.workers).map(|worker| {
            let of_cluster = of_thread * u32::from(settings.workers) + u32::from(worker);
            Worker::new(worker, attempt, fixed.workload.source(of_cluster))
        });
        let limits = Limits {
            nodes: settings.nodes,
            workers: settings.workers,
            budget: settings.budget,
            suppresses: !settings.planted.is(Mutant::NoDuplicateSuppression),
        };
        let state = ThreadState {
            rpc: Rpc::new(own, number, &limits),
            workers: workers.collect(),
            ready: Vec::with_capacity(settings.workers.into()),
            timer: None,
            is_paused: false,
            has_left: false,
            membership: fixed.settings.membership.map(|_| Instant::default()),
            held: Vec::new(),
            clock: Aside::default(),
        };
        Self { fixed, scratch: Scratch::default(), state }
    }

    /// What the thread has dropped since its start.
    pub fn dropped(&self) -> Dropped {
        self.state.rpc.dropped.0
    }

    /// Whether all of its workers rest.
    pub fn rests(&self) -> bool {
        self.state.workers.iter().all(|worker| worker.state == State::Rests)
    }

    /// How many messages are on their way to `node`, or to be answered by it.
    pub fn under_way(&self, node: NodeId) -> u8 {
        self.state.rpc.under_way(node)
    }

    /// A poll: see [`Machine::burst`](crate::engine::Machine::burst).
    pub(super) fn burst(
        &mut self,
        shared: &mut Shared<T>,
        now: Instant,
        inputs: &[Input<'_>],
        out: &mut Effects,
    ) {
        let Self { fixed, scratch, state } = self;
        let ThreadState {
            rpc,
            workers,
            ready,
            timer,
            is_paused,
            has_left,
            membership,
            held,
            clock,
        } = state;
        clock.0 = now;
        let mut cx = Context { fixed, shared, rpc, scratch, now, out };
        if cx.rpc.thread() == 0 {
            recovery::tick(cx.shared, now, cx.out);
        }
        follow_view(&mut cx, workers, ready, has_left);
        if !held.is_empty() && cx.shared.status(now) != Status::WithoutLease {
            for (from, bytes) in std::mem::take(held) {
                take_message(&mut cx, workers, ready, held, has_left, from, &bytes);
            }
        }
        fetch_ahead(&cx, workers, inputs);
        for input in inputs {
            match *input {
                Input::Message { from, bytes } => {
                    let is_rpc = cx.rpc.thread() != 0 || !recovery::is_kind(bytes);
                    if is_rpc {
                        take_message(&mut cx, workers, ready, held, has_left, from, bytes);
                    } else {
                        cx.out.work(Work::Receive, 1);
                        recovery::receive(cx.shared, now, from.node, bytes, cx.out);
                        follow_view(&mut cx, workers, ready, has_left);
                    }
                }
                Input::Begin { worker } => told(workers, ready, worker, Worker::start),
                Input::Finish { worker } => told(workers, ready, worker, Worker::finish_up),
                Input::Deadline | Input::Completed { .. } => {}
            }
        }
        cx.out.ring_doorbell();
        if timer.is_some_and(|timer| timer <= now) {
            *timer = None;
            look_at_all(&mut cx, workers, ready);
        }
        *is_paused = !serves(&cx);
        if !*is_paused {
            run(&mut cx, workers, ready);
        }
        *membership = fixed.settings.membership.and_then(|settings| match cx.rpc.thread() {
            0 => cx.shared.recovery.deadline(),
            _ => Some(now + settings.renew),
        });
        if let Some(wake) = cx.scratch.wake.take() {
            *timer = Some(timer.map_or(wake, |timer| timer.min(wake)));
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        let ThreadState { ready, timer, is_paused, membership, held, clock, .. } = &self.state;
        let next = match (ready.is_empty() && held.is_empty(), is_paused) {
            (true, _) => None,
            (false, true) => Some(clock.0 + PAUSED_POLL),
            (false, false) => Some(clock.0),
        };
        [*timer, *membership, next].into_iter().flatten().min()
    }
}

/// Fetches what each message will need, so that the processor waits for all of it at once: of thousands of
/// workers none stays in its cache until the next answer.
fn fetch_ahead<T: Transactions>(
    cx: &Context<'_, T>,
    workers: &[Worker<T::Input, T::Source>],
    inputs: &[Input<'_>],
) {
    let answered = || {
        inputs.iter().filter_map(|input| match *input {
            Input::Message { bytes, .. } => match *bytes.get(4..)?.first_chunk()? {
                [1, worker] => workers.get(usize::from(worker)),
                _ => None,
            },
            _ => None,
        })
    };
    answered().for_each(Worker::fetch);
    let mut read = 0;
    for input in inputs {
        let Input::Message { from, bytes } = *input else { continue };
        let Some(&[0, worker]) = bytes.get(4..).and_then(<[u8]>::first_chunk) else { continue };
        cx.rpc.fetch(from.node, worker);
        read ^= server::key_of(bytes).map_or(0, |key| cx.shared.store.version_near(key));
    }
    std::hint::black_box(read);
    answered().for_each(Worker::fetch_lists);
}

/// Takes a message of another node: serves its requests, or gives its answers to the worker.
fn take_message<T: Transactions>(
    cx: &mut Context<'_, T>,
    workers: &mut [Worker<T::Input, T::Source>],
    ready: &mut Vec<u8>,
    held: &mut Vec<(Endpoint, Vec<u8>)>,
    has_left: &mut bool,
    from: Endpoint,
    bytes: &[u8],
) {
    cx.out.work(Work::Receive, 1);
    if !cx.fixed.settings.cheap_receives {
        cx.out.work(Work::PostReceive, 1);
    }
    let mut reader = Reader::new(bytes);
    let Ok(header) = Header::decode(&mut reader) else {
        cx.rpc.dropped.0.malformed += 1;
        return;
    };
    let is_of_peer = from == cx.rpc.peer(from.node)
        && from.node.0 < cx.fixed.settings.nodes
        && header.worker < cx.fixed.settings.workers;
    if !is_of_peer {
        cx.rpc.dropped.0.malformed += 1;
        return;
    }
    if header.epoch > cx.rpc.epoch() {
        // The sender is in the next view: so it has begun.
        recovery::saw(cx.shared, header.epoch, cx.now, cx.out);
        follow_view(cx, workers, ready, has_left);
    }
    if header.epoch != cx.rpc.epoch() && !cx.has(Mutant::StaleEpochServed) {
        cx.rpc.dropped.0.other_view += 1;
    } else if !serves(cx) {
        let room =
            2 * usize::from(cx.fixed.settings.nodes) * usize::from(cx.fixed.settings.workers);
        match cx.shared.status(cx.now) {
            Status::WithoutLease if held.len() < room => held.push((from, bytes.to_vec())),
            _ => cx.rpc.dropped.0.not_serving += 1,
        }
    } else if take_of_peer(cx, workers, ready, from.node, &header, reader).is_err() {
        cx.rpc.dropped.0.malformed += 1;
    }
}

fn take_of_peer<T: Transactions>(
    cx: &mut Context<'_, T>,
    workers: &mut [Worker<T::Input, T::Source>],
    ready: &mut Vec<u8>,
    from: NodeId,
    header: &Header,
    mut reader: Reader<'_>,
) -> Result<(), WireError> {
    if header.kind == Kind::Requests {
        rpc::serve(cx, from, header, reader)?;
        if !cx.fixed.settings.response_batching {
            cx.out.ring_doorbell();
        }
        return Ok(());
    }
    let Some(worker) = workers.get_mut(usize::from(header.worker)) else { return Ok(()) };
    if !worker.answer(cx, from, header, &mut reader)? {
        cx.rpc.dropped.0.unexpected += 1;
    } else if worker.calls.open == 0 {
        ready.push(header.worker);
    } else if worker.calls.has_unsent() {
        // A message to this node may have waited for the answer.
        cx.rpc.hold_back(header.worker);
    }
    Ok(())
}

/// Sends what the budget has held back, and invokes the workers that are ready.
fn run<T: Transactions>(
    cx: &mut Context<'_, T>,
    workers: &mut [Worker<T::Input, T::Source>],
    ready: &mut Vec<u8>,
) {
    cx.rpc.begin_round();
    while let Some(worker) = cx.rpc.next_of_round() {
        workers[usize::from(worker)].send(cx);
    }
    for worker in ready.drain(..) {
        workers[usize::from(worker)].invoke(cx);
    }
    std::mem::swap(ready, &mut cx.scratch.soon);
}

/// Looks for workers whose answers do not come, and for those whose pause is over.
fn look_at_all<T: Transactions>(
    cx: &mut Context<'_, T>,
    workers: &mut [Worker<T::Input, T::Source>],
    ready: &mut Vec<u8>,
) {
    for worker in workers {
        match worker.state {
            State::Again { at } if at <= cx.now => make_ready(ready, worker.calls.number),
            State::Again { at } => cx.wake(at),
            _ if worker.calls.waits() => {
                let end = worker.calls.progress + cx.fixed.settings.loss_timeout;
                if end > cx.now {
                    cx.wake(end);
                } else if !cx.has(Mutant::LossNotDetected) {
                    cx.out.kill();
                }
            }
            _ => {}
        }
    }
}

/// Whether the node serves, and ends transactions.
fn serves<T: Transactions>(cx: &Context<'_, T>) -> bool {
    match cx.shared.status(cx.now) {
        Status::Serving => true,
        Status::WithoutLease => cx.has(Mutant::LeaseNotChecked),
        Status::Stopped => false,
    }
}

/// Leaves the view when the node has stopped it, and enters the next when it has begun: between the two,
/// recovery has decided about all records.
fn follow_view<T: Transactions>(
    cx: &mut Context<'_, T>,
    workers: &mut [Worker<T::Input, T::Source>],
    ready: &mut Vec<u8>,
    has_left: &mut bool,
) {
    let is_stopped = cx.shared.status(cx.now) == Status::Stopped;
    let is_new = cx.shared.epoch() != cx.rpc.epoch();
    if (is_stopped || is_new) && !*has_left {
        workers.iter_mut().for_each(|worker| worker.leave_view(cx));
        *has_left = true;
    }
    if is_stopped || !*has_left {
        return;
    }
    *has_left = false;
    cx.rpc.enter(cx.shared.epoch());
    for worker in workers {
        if worker.resume(cx) {
            make_ready(ready, worker.calls.number);
        }
    }
}
