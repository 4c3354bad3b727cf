// SPDX-License-Identifier: MIT OR Apache-2.0
//! A thread of the application: its workers draw transactions, hand them to the NIC, and run the logic that stays on
//! the host (section 4.2, steps 1 and 3).

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::super::messages::host::{ToHost, ToNic, WriteSet, put_write};
use super::super::messages::{Keys, MOST_ROWS, put_key, row, value_bytes};
use super::super::shared::Shared;
use super::super::{Aside, Fixed};
use super::worker::{State, Worker};
use crate::engine::{
    Class, Effects, Ending, Endpoint, Input, Instant, Key, Moment, NodeId, Part, Span, Stage,
    TransactionId, Work,
};
use crate::pause::{Aborted, pause};
use crate::ready;
use crate::recovery;
use crate::transact::{self, Decision, Intent, Transactions};
use crate::wire::{Reader, WireError};

/// How often a thread that has something to do looks whether its node serves again.
const PAUSED_POLL: Span = Span::from_us(10);

/// What a thread has dropped, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dropped {
    /// Bytes that are no message of the NIC.
    pub malformed: u64,
    /// Messages about an attempt that is over.
    pub unexpected: u64,
    /// Transactions that were rolled back, as they have a key that has no address or too many keys.
    pub too_large: u64,
    /// Attempts that were not begun, as all numbers for them were used: each ended its process.
    pub out_of_numbers: u64,
}

/// A thread of the application.
#[derive(Clone, Debug)]
pub struct Application<T: Transactions> {
    pub(super) fixed: Arc<Fixed<T>>,
    pub(super) state: ThreadState<T::Input, T::Source>,
}

/// All that counts of a thread's state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ThreadState<I, S> {
    pub own: NodeId,
    pub number: u8,
    pub workers: Vec<Worker<I, S>>,
    /// Workers to be invoked.
    ready: Vec<u8>,
    /// No worker wants to be looked at before this.
    timer: Option<Instant>,
    is_paused: bool,
    /// When the thread looks after the membership: thread 0 for the node, the others for changes.
    membership: Option<Instant>,
    clock: Aside<Instant>,
    dropped: Aside<Dropped>,
    scratch: Aside<Scratch>,
}

/// Buffers that are used again.
#[derive(Clone, Debug, Default)]
struct Scratch {
    input: Vec<u8>,
    reads: Vec<u8>,
    locks: Vec<u8>,
    ready: Vec<u8>,
}

impl<T: Transactions> PartialEq for Application<T> {
    /// The workload is one of a run and not compared.
    fn eq(&self, other: &Self) -> bool {
        self.state == other.state
    }
}

impl<T: Transactions> Eq for Application<T> {}

impl<T: Transactions> Hash for Application<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.state.hash(state);
    }
}

/// What keys are sent to the NIC for.
#[derive(Clone, Copy, Debug)]
enum Round<'a> {
    /// To begin a transaction whose logic the NIC runs on this input.
    Shipped(&'a [u8]),
    /// To begin one whose logic the host runs.
    First,
    /// The logic wants more rows.
    More,
}

/// What a step of a thread has in hand.
pub(super) struct Poll<'a, T: Transactions> {
    pub fixed: &'a Fixed<T>,
    pub state: &'a mut ThreadState<T::Input, T::Source>,
    pub shared: &'a mut Shared<T>,
    pub now: Instant,
    pub out: &'a mut Effects,
}

impl<T: Transactions> Application<T> {
    /// Thread `number` of `own`, whose workers count their attempts from after `attempt`.
    pub(in super::super) fn new(
        fixed: Arc<Fixed<T>>,
        own: NodeId,
        number: u8,
        attempt: u32,
    ) -> Self {
        let settings = &fixed.settings;
        let of_thread = u32::from(own.0) * u32::from(settings.threads) + u32::from(number);
        let workers = (0..settings.workers).map(|worker| {
            let of_cluster = of_thread * u32::from(settings.workers) + u32::from(worker);
            Worker::new(worker, attempt, fixed.workload.source(of_cluster))
        });
        let state = ThreadState {
            own,
            number,
            workers: workers.collect(),
            ready: Vec::new(),
            timer: None,
            is_paused: false,
            membership: fixed.settings.membership.map(|_| Instant::default()),
            clock: Aside::default(),
            dropped: Aside::default(),
            scratch: Aside::default(),
        };
        Self { fixed, state }
    }

    /// What the thread has dropped since its start.
    pub fn dropped(&self) -> Dropped {
        self.state.dropped.0
    }

    /// Whether all of its workers rest.
    pub fn rests(&self) -> bool {
        self.state.workers.iter().all(|worker| worker.state == State::Rests)
    }

    /// A poll: see [`Machine::burst`](crate::engine::Machine::burst).
    pub(in super::super) fn burst(
        &mut self,
        shared: &mut Shared<T>,
        now: Instant,
        inputs: &[Input<'_>],
        out: &mut Effects,
    ) {
        let Self { fixed, state } = self;
        state.clock.0 = now;
        if state.number == 0 {
            recovery::tick(shared, now, out);
        }
        let mut poll = Poll { fixed, state, shared, now, out };
        for input in inputs {
            match *input {
                Input::Message { from, bytes } => {
                    poll.out.work(Work::Receive, 1);
                    if from.node != poll.state.own {
                        poll.recover(from, bytes);
                    } else if poll.take(from, bytes).is_err() {
                        poll.state.dropped.0.malformed += 1;
                    }
                }
                Input::Begin { worker } => poll.told(worker, Worker::start),
                Input::Finish { worker } => poll.told(worker, Worker::finish_up),
                Input::Deadline | Input::Completed { .. } => {}
            }
        }
        poll.run();
        poll.out.ring_doorbell();
        let membership = fixed.settings.membership;
        state.membership = membership.and_then(|settings| match state.number {
            0 => shared.host.recovery.deadline(),
            _ => Some(now + settings.renew),
        });
    }

    pub(in super::super) fn deadline(&self) -> Option<Instant> {
        let ThreadState { ready, timer, is_paused, membership, clock, .. } = &self.state;
        let next = match (ready.is_empty(), is_paused) {
            (true, _) => None,
            (false, true) => Some(clock.0 + PAUSED_POLL),
            (false, false) => Some(clock.0),
        };
        [*timer, *membership, next].into_iter().flatten().min()
    }
}

impl<T: Transactions> Poll<'_, T> {
    fn told(&mut self, worker: u8, tell: impl FnOnce(&mut Worker<T::Input, T::Source>) -> bool) {
        let ThreadState { workers, ready, .. } = &mut *self.state;
        ready::told(workers, ready, worker, tell);
    }

    /// Takes a message of another node's host, or of the manager.
    fn recover(&mut self, from: Endpoint, bytes: &[u8]) {
        let is_known = from.node == NodeId::MANAGER || from.node.0 < self.fixed.settings.nodes;
        let is_recovery = matches!(from.part, Part::HostThread(_)) && recovery::is_kind(bytes);
        match is_known && is_recovery && self.state.number == 0 {
            true => recovery::receive(self.shared, self.now, from.node, bytes, self.out),
            false => self.state.dropped.0.malformed += 1,
        }
    }

    fn make_ready(&mut self, worker: u8) {
        ready::make_ready(&mut self.state.ready, worker);
    }

    /// Invokes the workers that are to begin something.
    fn run(&mut self) {
        if self.state.timer.is_some_and(|timer| timer <= self.now) {
            self.state.timer = None;
            for at in 0..self.state.workers.len() {
                match self.state.workers[at].state {
                    State::Again { at: due } if due <= self.now => self.make_ready(at as u8),
                    State::Again { at: due } => self.wake(due),
                    _ => {}
                }
            }
        }
        self.state.is_paused = !self.shared.serves(self.now);
        if self.state.is_paused {
            return;
        }
        let spare = std::mem::take(&mut self.state.scratch.0.ready);
        let mut ready = std::mem::replace(&mut self.state.ready, spare);
        for worker in ready.drain(..) {
            self.begin(worker);
        }
        self.state.scratch.0.ready = ready;
    }

    fn wake(&mut self, at: Instant) {
        let timer = &mut self.state.timer;
        *timer = Some(timer.map_or(at, |earlier| earlier.min(at)));
    }

    /// Begins an attempt, if it is time, or rests.
    fn begin(&mut self, worker: u8) {
        let fixed = self.fixed;
        let it = &mut self.state.workers[usize::from(worker)];
        let again = matches!(it.state, State::Again { .. });
        match it.state {
            State::Again { at } if at > self.now => return self.wake(at),
            State::Again { .. } => {}
            State::Next if it.finishing => return self.rest(worker),
            State::Next => it.input = fixed.workload.draw(&mut it.source),
            _ => return,
        }
        let Some(input) = &it.input else {
            it.finishing = true;
            return self.rest(worker);
        };
        // The next process of the node has the numbers from here on.
        if it.attempt.wrapping_add(1).is_multiple_of(fixed.attempts) {
            self.state.dropped.0.out_of_numbers += 1;
            return self.out.kill();
        }
        it.attempt = it.attempt.wrapping_add(1);
        it.begun = self.now;
        let kind = fixed.workload.kind(input);
        let transaction = self.transaction(worker);
        self.out.tell(Moment::Begun { transaction, kind, again });
        self.out.work(Work::Begin, 1);
        self.first_round(worker, kind);
    }

    /// Hands a transaction to the NIC, or runs it on the host's own tables.
    fn first_round(&mut self, worker: u8, kind: u8) {
        let fixed = self.fixed;
        let it = &mut self.state.workers[usize::from(worker)];
        let Some(input) = &it.input else { return };
        let stays = !fixed.settings.ships || fixed.settings.on_host >> kind.min(63) & 1 == 1;
        it.rows.clear();
        it.keys.clear();
        fixed.workload.declare(input, &it.rows, &mut it.keys);
        transact::merge(&mut it.keys);
        if stays && self.runs_locally(worker) {
            return;
        }
        let mut bytes = std::mem::take(&mut self.state.scratch.0.input);
        bytes.clear();
        if !stays && let Some(input) = &self.state.workers[usize::from(worker)].input {
            fixed.workload.put_input(input, &mut bytes);
        }
        let input = (!stays).then_some(&bytes[..]);
        self.send_keys(worker, input.map_or(Round::First, Round::Shipped));
        self.state.scratch.0.input = bytes;
    }

    /// The core of the NIC that coordinates the transactions of a worker.
    fn core_of(&self, worker: u8) -> Endpoint {
        let core = self.fixed.settings.core_of(self.state.number, worker);
        Endpoint { node: self.state.own, part: Part::NicCore(core) }
    }

    pub(super) fn send(&mut self, worker: u8, message: &ToNic<'_>) {
        self.out.work(Work::CopyLine, message.encoded_len().div_ceil(64) as u32);
        let to = self.core_of(worker);
        self.out.send(to, Class::Foreground, Stage::Host, |bytes| message.encode(bytes));
    }

    /// Sends the keys of a worker to the NIC: first those to be read, then those to be written.
    fn send_keys(&mut self, worker: u8, round: Round<'_>) {
        let it = &mut self.state.workers[usize::from(worker)];
        it.keys.sort_by_key(|(_, intent)| *intent);
        it.state = State::Nic;
        let has_no_address = |key: &Key| key.row >= MOST_ROWS;
        let of = |wanted| it.keys.iter().filter(move |(_, intent)| *intent == wanted);
        let too_many = [Intent::Read, Intent::Write].map(|it| of(it).count() > 255);
        if too_many.contains(&true) || it.keys.iter().any(|(key, _)| has_no_address(key)) {
            self.state.dropped.0.too_large += 1;
            let (transaction, point) = (self.transaction(worker), crate::engine::Point::Now);
            self.out.tell_committing(transaction, point, []);
            return self.finish(worker, Ending::RolledBack);
        }
        let Scratch { reads, locks, .. } = &mut self.state.scratch.0;
        let (mut reads, mut locks) = (std::mem::take(reads), std::mem::take(locks));
        reads.clear();
        locks.clear();
        of(Intent::Read).for_each(|(key, _)| put_key(*key, &mut reads));
        of(Intent::Write).for_each(|(key, _)| put_key(*key, &mut locks));
        let (head, of_reads, of_locks) = (it.head(), Keys::new(&reads), Keys::new(&locks));
        let message = match round {
            Round::Shipped(input) => {
                ToNic::BeginShipped { head, input, reads: of_reads, locks: of_locks }
            }
            Round::First => ToNic::Begin { head, reads: of_reads, locks: of_locks },
            Round::More => ToNic::More { head, reads: of_reads, locks: of_locks },
        };
        self.send(worker, &message);
        let Scratch { reads: of_reads, locks: of_locks, .. } = &mut self.state.scratch.0;
        (*of_reads, *of_locks) = (reads, locks);
    }

    /// Takes a message of the NIC.
    fn take(&mut self, from: Endpoint, bytes: &[u8]) -> Result<(), WireError> {
        let message = ToHost::decode(bytes)?;
        let (ToHost::Rows { head, .. } | ToHost::Outcome { head, .. }) = message;
        let is_known = usize::from(head.worker) < self.state.workers.len()
            && from == self.core_of(head.worker);
        if !is_known {
            self.state.dropped.0.malformed += 1;
            return Ok(());
        }
        let it = &self.state.workers[usize::from(head.worker)];
        let is_awaited = matches!(it.state, State::Nic | State::LocalReads) && it.head() == head;
        if !is_awaited {
            self.state.dropped.0.unexpected += 1;
            return Ok(());
        }
        match (message, it.state) {
            (ToHost::Rows { rows, .. }, State::Nic) => self.take_rows(head.worker, rows),
            (ToHost::Outcome { ending, .. }, State::LocalReads) => {
                self.end_local(head.worker, ending);
                Ok(())
            }
            (ToHost::Outcome { ending, .. }, _) => {
                self.finish(head.worker, ending);
                Ok(())
            }
            (ToHost::Rows { .. }, _) => {
                self.state.dropped.0.unexpected += 1;
                Ok(())
            }
        }
    }

    /// Takes the rows of the keys that were asked for, and runs the logic.
    fn take_rows(&mut self, worker: u8, rows: &[u8]) -> Result<(), WireError> {
        let tables = self.fixed.workload.tables();
        let it = &mut self.state.workers[usize::from(worker)];
        let mut check = Reader::new(rows);
        for (key, _) in &it.keys {
            row(&mut check, value_bytes(tables, *key))?;
        }
        check.end("rows")?;
        let mut reader = Reader::new(rows);
        for (key, intent) in &it.keys {
            let (version, value) = row(&mut reader, value_bytes(tables, *key))?;
            it.rows.fetched(*key, *intent, version.number.into(), value);
        }
        self.out.work(Work::CopyLine, rows.len().div_ceil(64) as u32);
        match self.think(worker) {
            None => self.send_keys(worker, Round::More),
            Some(decision) => self.send_writes(worker, decision),
        }
        Ok(())
    }

    /// Runs the logic. `None`: it wants the keys that are those of the worker now.
    pub(super) fn think(&mut self, worker: u8) -> Option<Decision> {
        let workload = &self.fixed.workload;
        let it = &mut self.state.workers[usize::from(worker)];
        let Some(input) = &it.input else { return Some(Decision::RollBack) };
        it.keys.clear();
        workload.declare(input, &it.rows, &mut it.keys);
        it.keys.retain(|(key, intent)| !it.rows.has(*key, *intent));
        transact::merge(&mut it.keys);
        if !it.keys.is_empty() {
            return None;
        }
        self.out.work(Work::Logic, it.rows.all().len() as u32);
        match workload.run(input, &mut it.rows) {
            Ok(decision) => Some(decision),
            // Logic that is given what it wants and still misses it would ask for ever.
            Err(missing) if it.rows.has(missing.key, missing.intent) => Some(Decision::RollBack),
            Err(missing) => {
                it.keys.push((missing.key, missing.intent));
                None
            }
        }
    }

    fn send_writes(&mut self, worker: u8, decision: Decision) {
        let it = &self.state.workers[usize::from(worker)];
        let head = it.head();
        let mut bytes = Vec::new();
        let number = self.put_writes(worker, &mut bytes);
        match decision {
            Decision::Commit if number <= usize::from(u8::MAX) => {
                let writes = WriteSet { number: number as u8, bytes: &bytes };
                self.send(worker, &ToNic::Writes { head, writes });
            }
            _ => self.send(worker, &ToNic::RollBack { head }),
        }
    }

    /// Appends the changes of a worker's rows, and says how many there are.
    pub(super) fn put_writes(&self, worker: u8, bytes: &mut Vec<u8>) -> usize {
        let rows = &self.state.workers[usize::from(worker)].rows;
        let mut number = 0;
        for (row, change) in rows.changes() {
            put_write(row.key, change, rows.value_of(row).unwrap_or_default(), bytes);
            number += 1;
        }
        number
    }

    /// The name of the attempt of a worker.
    pub(super) fn transaction(&self, worker: u8) -> TransactionId {
        let attempt = self.state.workers[usize::from(worker)].attempt;
        TransactionId::new(self.state.own, self.state.number, worker, attempt)
    }

    /// Tells the client how the attempt ended, and chooses what is next.
    pub(super) fn finish(&mut self, worker: u8, ending: Ending) {
        let transaction = self.transaction(worker);
        self.out.tell(Moment::Ended { transaction, ending });
        let it = &mut self.state.workers[usize::from(worker)];
        it.rows.clear();
        it.keys.clear();
        it.rolls_back = false;
        if ending.is_abort() {
            it.failures = it.failures.saturating_add(1);
            let length = self.now.since(it.begun);
            let aborted = Aborted { attempt: transaction, ending, length, failures: it.failures };
            let settings = &self.fixed.settings;
            let at = self.now + pause(&aborted, settings.patience, settings.backoff);
            it.state = State::Again { at };
        } else {
            (it.failures, it.input) = (0, None);
            it.state = State::Next;
        }
        it.begun = Instant::default();
        self.make_ready(worker);
    }

    fn rest(&mut self, worker: u8) {
        self.state.workers[usize::from(worker)].state = State::Rests;
        self.out.tell(Moment::Rests { worker });
    }
}
