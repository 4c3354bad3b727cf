// SPDX-License-Identifier: MIT OR Apache-2.0
//! A core of a NIC: its burst loop, the transactions that it coordinates, and the requests of others that it serves
//! (section 4.3).
//!
//! What waits for a memory operation is a value in [`Slab`] `operations` (the paper's callback); its token is the
//! place. What a core asks of its own node goes the same way as to others, but for the network: such messages
//! are taken in the burst that has written them.

mod answers;
mod commit;
mod fetch;
mod logging;
mod requests;
mod server;
mod ship;
mod slab;
mod slot;
mod to_host;

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::index::At;
use super::log::Name;
use super::messages::host::{Applied, ToNic};
use super::messages::{self, Header, Request};
use super::mutant::Mutant;
use super::shared::Shared;
use super::{Aside, Fixed};
use crate::engine::{
    Class, Effects, Endpoint, Input, Instant, NodeId, Outcome, Part, Span, Token, Work,
};
use crate::membership::Status;
use crate::near;
use crate::placement::PartitionId;
use crate::transact::{Rows, Transactions};
use crate::wire::{Reader, WireError};
use fetch::Fetch;
use logging::{Stalled, Then};
use slab::Slab;
use slot::Slot;

/// How often a core that has something to do looks whether its node serves again.
const PAUSED_POLL: Span = Span::from_us(10);

/// What a core has dropped, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dropped {
    /// Bytes that are no message, or one for another core.
    pub malformed: u64,
    /// Requests that had been served already.
    pub duplicates: u64,
    /// Messages of another view.
    pub other_view: u64,
    /// Answers that nobody waits for.
    pub unexpected: u64,
    /// Messages that came while the node's lease was out or its view was changing.
    pub not_serving: u64,
    /// Transactions that were rolled back because a message about them would be too large, or they would take too
    /// many messages, or lock more rows of one entry of an index than it has room for.
    pub too_large: u64,
    /// Memory operations that failed.
    pub failed: u64,
}

/// A core.
#[derive(Clone, Debug)]
pub struct Core<T: Transactions> {
    fixed: Arc<Fixed<T>>,
    scratch: Scratch,
    state: State<T::Input>,
}

/// What an input of a burst is about.
#[derive(Clone, Copy, Debug)]
enum Ahead {
    /// A slot of the core.
    Slot(usize),
    /// A slot of a peer core, and which of its two records.
    Flow { flow: usize, odd: bool },
    /// An entry of the index.
    Entry(u32),
}

/// Buffers that are used again, with nothing in them between bursts that counts.
#[derive(Clone, Debug, Default)]
struct Scratch {
    /// Messages of the core to itself.
    loopback: VecDeque<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    /// What a message is made of.
    one: Vec<u8>,
    two: Vec<u8>,
    three: Vec<u8>,
    message: Vec<u8>,
    nodes: Vec<NodeId>,
    shards: Vec<PartitionId>,
    rows: Rows,
    wanted: Vec<(crate::engine::Key, crate::transact::Intent)>,
    /// What the inputs of a burst are about.
    ahead: Vec<Ahead>,
    /// Requests for rows that are over.
    fetches: Vec<Fetch>,
    /// Where the rows of a request are that were all cached; empty if some were not.
    places: Vec<At>,
    /// Memory for the list of requests that wait for the log.
    stalled: VecDeque<Stalled>,
}

/// All that counts of a core's state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State<I> {
    own: NodeId,
    number: u8,
    /// The view whose messages are taken.
    epoch: u32,
    slots: Vec<Slot<I>>,
    /// Slots without a transaction; the last one is used first.
    free: Vec<u16>,
    /// Requests of the host that wait for a slot.
    waiting: VecDeque<(u8, Vec<u8>)>,
    fetches: Slab<Fetch>,
    operations: Slab<Then>,
    /// Requests that wait for a cell of the log, or for room for a pin.
    stalled: VecDeque<Stalled>,
    /// Marks that the host has yet to get.
    marks: Vec<Name>,
    /// When they are written, if no other write comes before.
    marks_at: Option<Instant>,
    /// No idle slot has to say so before this.
    flush_at: Option<Instant>,
    /// No slot has waited too long before this.
    loss_at: Option<Instant>,
    /// When the core looks for a change of the membership.
    look_at: Option<Instant>,
    is_paused: bool,
    /// Whether the slots have left the view.
    has_left: bool,
    /// Messages that came while the node's lease was out.
    held: Vec<(Endpoint, Vec<u8>)>,
    clock: Aside<Instant>,
    /// The number of the burst.
    burst: Aside<u64>,
    dropped: Aside<Dropped>,
}

impl<T: Transactions> PartialEq for Core<T> {
    /// The workload is one of a run and not compared.
    fn eq(&self, other: &Self) -> bool {
        self.state == other.state
    }
}

impl<T: Transactions> Eq for Core<T> {}

impl<T: Transactions> Hash for Core<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.state.hash(state);
    }
}

impl<T: Transactions> Core<T> {
    /// Core `number` of the NIC of `own`.
    pub(super) fn new(fixed: Arc<Fixed<T>>, own: NodeId, number: u8) -> Self {
        let slots = fixed.settings.slots;
        let state = State {
            own,
            number,
            epoch: 0,
            slots: (0..slots).map(|_| Slot::default()).collect(),
            free: (0..slots).rev().collect(),
            waiting: VecDeque::new(),
            fetches: Slab::default(),
            operations: Slab::default(),
            stalled: VecDeque::new(),
            marks: Vec::new(),
            marks_at: None,
            flush_at: None,
            loss_at: None,
            look_at: None,
            is_paused: false,
            has_left: false,
            held: Vec::new(),
            clock: Aside::default(),
            burst: Aside::default(),
            dropped: Aside::default(),
        };
        Self { fixed, scratch: Scratch::default(), state }
    }

    /// What the core has dropped since its start.
    pub fn dropped(&self) -> Dropped {
        self.state.dropped.0
    }

    /// How many transactions it coordinates.
    pub fn busy_slots(&self) -> usize {
        self.state.slots.len() - self.state.free.len()
    }

    /// Whether nothing is under way in it: no transaction, no request, no memory operation.
    ///
    /// # Errors
    /// A sentence for the first thing that is.
    pub(super) fn check_at_rest(&self) -> Result<(), String> {
        let State { fetches, operations, stalled, waiting, marks, .. } = &self.state;
        let number = self.state.number;
        for (what, count) in [
            ("busy slots", self.busy_slots()),
            ("requests of its host that wait", waiting.len()),
            ("requests that wait for reads", fetches.len()),
            ("memory operations", operations.len()),
            ("requests that wait for the log", stalled.len()),
            ("marks", marks.len()),
        ] {
            if count > 0 {
                return Err(format!("core {number} has {count} {what} at rest"));
            }
        }
        match self.state.slots.iter().position(Slot::owes) {
            Some(slot) => Err(format!("slot {slot} of core {number} has not said that it idles")),
            None => Ok(()),
        }
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
        state.clock.0 = now;
        state.burst.0 += 1;
        let mut burst = Burst { fixed, shared, core: state, scratch, now, out };
        burst.follow_view();
        burst.take_held();
        burst.look_ahead(inputs);
        for input in inputs {
            match *input {
                Input::Message { from, bytes } => burst.take_message(from, bytes),
                Input::Completed { token, outcome, bytes } => {
                    burst.completed(token, outcome, bytes);
                }
                Input::Begin { .. } | Input::Finish { .. } | Input::Deadline => {}
            }
            burst.take_own();
        }
        burst.core.is_paused = !burst.serves();
        let membership = burst.fixed.settings.membership;
        burst.core.look_at = membership.map(|settings| now + settings.renew);
        if !burst.core.is_paused {
            burst.look_at_time();
            burst.take_own();
        }
        burst.out.ring_doorbell();
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        let State { marks_at, flush_at, loss_at, look_at, .. } = &self.state;
        let State { is_paused, held, clock, .. } = &self.state;
        let timers = [*marks_at, *flush_at, *loss_at].into_iter().flatten().min();
        let poll = clock.0 + PAUSED_POLL;
        match (is_paused, held.is_empty()) {
            (true, true) => *look_at,
            (true, false) => Some(poll),
            (false, _) => timers.into_iter().chain(*look_at).min(),
        }
    }
}

/// What the steps of a burst have in hand.
struct Burst<'a, T: Transactions> {
    fixed: &'a Fixed<T>,
    shared: &'a mut Shared<T>,
    core: &'a mut State<T::Input>,
    scratch: &'a mut Scratch,
    now: Instant,
    out: &'a mut Effects,
}

impl<T: Transactions> Burst<'_, T> {
    /// Whether this bug is planted.
    #[inline]
    fn has(&self, mutant: Mutant) -> bool {
        self.fixed.settings.planted.is(mutant)
    }

    /// Asks for what the inputs of a burst are about, before the first is served: slots and flows, what hangs on
    /// them, and the entries of keys.
    fn look_ahead(&mut self, inputs: &[Input<'_>]) {
        let mut ahead = std::mem::take(&mut self.scratch.ahead);
        ahead.clear();
        ahead.extend(inputs.iter().filter_map(|input| self.place_of(input)));
        let memory = &self.shared.nic.cores[usize::from(self.core.number)];
        for place in &ahead {
            match *place {
                Ahead::Slot(slot) => near::fetch_value(&self.core.slots[slot]),
                Ahead::Flow { flow, .. } => near::fetch_value(&memory.flows[flow]),
                Ahead::Entry(_) => {}
            }
        }
        let fixed = self.fixed;
        let messages = inputs.iter().filter_map(|input| match *input {
            Input::Message { from, bytes } if matches!(from.part, Part::NicCore(_)) => Some(bytes),
            _ => None,
        });
        for key in messages.flat_map(messages::keys_asked_for) {
            if usize::from(key.table.0) < fixed.workload.tables().len() {
                let partition = fixed.layout.partition_of(key);
                let entry = self.shared.nic.index.prefetch(partition, key);
                ahead.extend(entry.map(Ahead::Entry));
            }
        }
        for place in &ahead {
            match *place {
                Ahead::Slot(slot) => {
                    self.core.slots[slot].prefetch();
                    near::fetch_start(&memory.own[slot].record, 2);
                }
                Ahead::Flow { flow, odd } => {
                    near::fetch_start(&memory.flows[flow].kept[usize::from(odd)].record, 2);
                }
                Ahead::Entry(place) => self.shared.nic.index.prefetch_values(place),
            }
        }
        self.scratch.ahead = ahead;
    }

    /// The slot or the flow that an input is likely to be about: a hint.
    fn place_of(&self, input: &Input<'_>) -> Option<Ahead> {
        let flow_of = |node: NodeId, slot: u16, count: u32| {
            let flow = self.flow_of(node, slot);
            let is_there = node.0 < self.fixed.settings.nodes && slot < self.fixed.settings.slots;
            is_there.then_some(Ahead::Flow { flow, odd: count & 1 == 1 })
        };
        match *input {
            Input::Message { from, bytes } if matches!(from.part, Part::NicCore(_)) => {
                let header = Header::decode(&mut Reader::new(bytes)).ok()?;
                match header.is_answer {
                    true => (header.slot < self.fixed.settings.slots)
                        .then_some(Ahead::Slot(header.slot.into())),
                    false => {
                        let node =
                            messages::coordinator_of(header.kind, bytes).unwrap_or(from.node);
                        flow_of(node, header.slot, header.count)
                    }
                }
            }
            Input::Message { bytes, .. } => {
                let applied = ToNic::decode(bytes, &[]).ok()?;
                let ToNic::Applied(Applied { owner, count, .. }) = applied else { return None };
                let (node, _, slot) = super::shared::place_of(&self.fixed.settings, owner);
                flow_of(node, slot, count)
            }
            Input::Completed { token, .. } => match self.core.operations.get(token.0)? {
                Then::Written { flow, count, .. } => {
                    Some(Ahead::Flow { flow: *flow as usize, odd: count & 1 == 1 })
                }
                Then::Read { .. } | Then::Nothing => None,
            },
            _ => None,
        }
    }

    /// Whether the node serves, and ends transactions.
    fn serves(&self) -> bool {
        self.shared.serves(self.now)
    }

    fn dropped(&mut self) -> &mut Dropped {
        &mut self.core.dropped.0
    }

    /// The core of this number on another node's NIC.
    fn peer(&self, node: NodeId) -> Endpoint {
        Endpoint { node, part: Part::NicCore(self.core.number) }
    }

    /// The place of a slot of a peer core among all.
    fn flow_of(&self, node: NodeId, slot: u16) -> usize {
        node.index() * usize::from(self.fixed.settings.slots) + usize::from(slot)
    }

    fn owner_of(&self, node: NodeId, slot: u16) -> u16 {
        super::shared::owner_of(&self.fixed.settings, node, self.core.number, slot)
    }

    /// Takes what the core has sent to itself.
    fn take_own(&mut self) {
        while let Some(message) = self.scratch.loopback.pop_front() {
            let own = self.peer(self.core.own);
            self.take_of_peer(own.node, &message);
            let mut message = message;
            message.clear();
            self.scratch.spare.push(message);
        }
    }

    /// Sends a message to the core of this number of a node, which may be the own one.
    fn post(&mut self, to: NodeId, header: Header, write: impl FnOnce(&mut Vec<u8>)) {
        let write = |bytes: &mut Vec<u8>| {
            header.encode(bytes);
            write(bytes);
        };
        if to == self.core.own {
            let mut message = self.scratch.spare.pop().unwrap_or_default();
            write(&mut message);
            self.scratch.loopback.push_back(message);
        } else {
            let to = self.peer(to);
            self.out.send(to, Class::Foreground, header.kind.stage(), write);
        }
    }

    fn take_message(&mut self, from: Endpoint, bytes: &[u8]) {
        self.out.work(Work::Receive, 1);
        if from.node == self.core.own && matches!(from.part, Part::HostThread(_)) {
            return self.take_of_host(from, bytes);
        }
        if from != self.peer(from.node) || from.node.0 >= self.fixed.settings.nodes {
            self.dropped().malformed += 1;
            return;
        }
        match self.shared.status(self.now) {
            Status::WithoutLease if !self.serves() => self.keep_for_later(from, bytes),
            _ => self.take_of_peer(from.node, bytes),
        }
    }

    /// Keeps a message until the lease is renewed, or the next view begins: dropped, it would be a loss to its
    /// sender.
    fn keep_for_later(&mut self, from: Endpoint, bytes: &[u8]) {
        let settings = &self.fixed.settings;
        let workers = usize::from(settings.threads) * usize::from(settings.workers);
        if self.core.held.len() < 4 * settings.flows() + 4 * workers {
            self.core.held.push((from, bytes.to_vec()));
        } else {
            self.dropped().not_serving += 1;
        }
    }

    fn take_held(&mut self) {
        if self.core.held.is_empty() || !self.serves() {
            return;
        }
        for (from, bytes) in std::mem::take(&mut self.core.held) {
            self.take_message(from, &bytes);
            self.take_own();
        }
    }

    fn take_of_peer(&mut self, from: NodeId, bytes: &[u8]) {
        let mut reader = Reader::new(bytes);
        let Ok(header) = Header::decode(&mut reader) else {
            self.dropped().malformed += 1;
            return;
        };
        if header.slot >= self.fixed.settings.slots {
            self.dropped().malformed += 1;
        } else if header.view != self.core.epoch as u16 {
            // The sender may be in the next view already, which will begin here, too.
            let proposed = self.shared.host.recovery.member.proposed();
            match proposed.is_some_and(|view| view.epoch() as u16 == header.view) {
                true => self.keep_for_later(self.peer(from), bytes),
                false => self.dropped().other_view += 1,
            }
        } else if !self.serves() {
            self.dropped().not_serving += 1;
        } else if self.take_read(from, header, reader, bytes).is_err() {
            self.dropped().malformed += 1;
        }
    }

    fn take_read(
        &mut self,
        from: NodeId,
        header: Header,
        mut reader: Reader<'_>,
        bytes: &[u8],
    ) -> Result<(), WireError> {
        if header.is_answer {
            return self.take_answer(from, header, reader);
        }
        let fixed = self.fixed;
        let (tables, partitions) = (fixed.workload.tables(), fixed.layout.partitions());
        let request = Request::decode(header.kind, &mut reader, tables, partitions)?;
        self.serve(from, header, request, bytes);
        Ok(())
    }

    fn take_of_host(&mut self, from: Endpoint, bytes: &[u8]) {
        let Part::HostThread(thread) = from.part else { return };
        let fixed = self.fixed;
        let message = ToNic::decode(bytes, fixed.workload.tables());
        let message = message.ok().filter(|message| self.is_from(thread, message));
        match message {
            None => self.dropped().malformed += 1,
            Some(ToNic::Applied(applied)) => self.applied(applied),
            Some(_) if !self.serves() => self.keep_for_later(from, bytes),
            Some(message) => self.take_of_thread(thread, message, bytes),
        }
    }

    /// Whether a message may come from this thread of the host: from a log worker, or from one with the worker that
    /// it names, whose transactions are this core's.
    fn is_from(&self, thread: u8, message: &ToNic<'_>) -> bool {
        let settings = &self.fixed.settings;
        match message.head() {
            None => {
                let log_workers = settings.threads..settings.threads + settings.log_workers;
                log_workers.contains(&thread)
            }
            Some(head) => {
                thread < settings.threads
                    && head.worker < settings.workers
                    && settings.core_of(thread, head.worker) == self.core.number
            }
        }
    }

    /// A memory operation has ended.
    fn completed(&mut self, token: Token, outcome: Outcome, bytes: &[u8]) {
        let Some(then) = self.core.operations.take(token.0) else {
            self.dropped().unexpected += 1;
            return;
        };
        self.out.work(Work::Continue, 1);
        self.dropped().failed += u64::from(outcome == Outcome::Failed);
        match then {
            Then::Read { fetch, want } => self.has_read(fetch, want, outcome, bytes),
            Then::Written { flow, count, unlocks, answer } => {
                if outcome == Outcome::Done {
                    self.has_written(flow, count, unlocks, answer);
                }
            }
            Then::Nothing => {}
        }
    }

    /// Does what it is time for.
    fn look_at_time(&mut self) {
        let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= self.now);
        let (marks, flush, loss) =
            (is_due(self.core.marks_at), is_due(self.core.flush_at), is_due(self.core.loss_at));
        if marks {
            self.write_marks();
        }
        if flush {
            self.end_idle_slots();
        }
        if loss {
            self.look_for_losses();
        }
    }

    /// Leaves the view when the node has stopped it, and enters the next when it has begun.
    fn follow_view(&mut self) {
        let is_stopped = self.shared.status(self.now) == Status::Stopped;
        let is_new = self.shared.host.recovery.member.epoch() != self.core.epoch;
        if (is_stopped || is_new) && !self.core.has_left {
            self.core.has_left = true;
            self.leave_view();
        }
        if is_stopped || !self.core.has_left {
            return;
        }
        self.core.has_left = false;
        self.core.epoch = self.shared.host.recovery.member.epoch();
        self.enter_view();
    }
}
