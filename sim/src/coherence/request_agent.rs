// SPDX-License-Identifier: MIT OR Apache-2.0
//! Request agents: caches, requested lines, and the effect of snoops.

use timing::Time;
use timing::platform::{AgentTiming, Atomics, Side};

use super::cache::{Inserted, SetAssociative};
use super::traffic::Message;
use super::transaction::{NOBODY, State, TransactionId};
use super::{AgentId, CoherentMemory, Completion, Event, Line, Operation};

/// A line in the cache of a request agent.
#[derive(Clone, Copy, Default)]
pub(super) struct Copy {
    pub(super) state: State,
    /// The agent must be notified when this copy ends.
    pub(super) watched: bool,
    pub(super) data: Line,
}

/// A line that was asked for in order to keep a copy.
struct Pending {
    line: u32,
    /// Operations on the same line that wait for it, oldest first.
    followers: Vec<TransactionId>,
}

/// One request agent.
pub(super) struct RequestAgent {
    pub(super) side: Side,
    atomics: Atomics,
    pub(super) cache: SetAssociative<Copy>,
    pending: Vec<Pending>,
    /// Line of the last read that was asked for.
    last_read: Option<u32>,
    /// Last line that was fetched ahead for the present stream.
    fetched_ahead: u32,
}

impl RequestAgent {
    pub(super) fn new(side: Side, timing: &AgentTiming) -> Self {
        let cache = &timing.cache;
        RequestAgent {
            side,
            atomics: timing.atomics,
            cache: SetAssociative::new(cache.size.get().0, cache.ways.get().0),
            pending: Vec::new(),
            last_read: None,
            fetched_ahead: 0,
        }
    }

    /// The line's data, if this agent has modified them.
    pub(super) fn modified(&self, line: u32) -> Option<Line> {
        let copy = self.cache.peek(line)?;
        (copy.state == State::Modified).then_some(copy.data)
    }

    pub(super) fn grants_exclusive(&self) -> bool {
        self.atomics == Atomics::Near
    }

    fn pending(&mut self, line: u32) -> Option<&mut Pending> {
        self.pending.iter_mut().find(|pending| pending.line == line)
    }

    /// What `operation` must ask for when the agent has `state` of its line; `None`
    /// when it has all it needs.
    fn request(&self, operation: Operation, state: Option<State>) -> Option<Message> {
        match operation {
            _ if state.is_some_and(State::is_alone) => None,
            Operation::ReadLine { .. } | Operation::Load { .. } if state.is_some() => None,
            Operation::ReadLine { keep_copy: true, .. } => Some(Message::ReadShared),
            Operation::ReadLine { keep_copy: false, .. } => Some(Message::ReadOnce),
            Operation::Load { .. } => Some(match self.atomics {
                Atomics::Near => Message::ReadShared,
                Atomics::Far => Message::ReadOnce,
            }),
            Operation::Store { .. } => Some(match self.atomics {
                Atomics::Near => Message::ReadUnique,
                Atomics::Far => Message::FarStore,
            }),
            Operation::CompareSwap { .. } => Some(match self.atomics {
                Atomics::Near => Message::ReadUnique,
                Atomics::Far => Message::FarCompareSwap,
            }),
        }
    }
}

/// Whether the answer to `message` is kept in the cache.
fn is_kept(message: Message) -> bool {
    matches!(message, Message::ReadShared | Message::ReadUnique)
}

impl CoherentMemory {
    pub(super) fn start_operation(
        &mut self,
        now: Time,
        agent: usize,
        line: u32,
        request: u64,
        operation: Operation,
    ) {
        // The message is chosen after the lookup.
        let id = self.transactions.begin(now, agent, line, Message::ReadOnce);
        self.transactions[id].operation = Some(operation);
        self.transactions[id].request = request;
        let found = now + self.agent_timing(agent).cache.lookup.get();
        self.after(found, Event::LookedUp(id));
    }

    pub(super) fn looked_up(&mut self, now: Time, id: TransactionId) {
        let (agent, line) = (self.transactions[id].agent, self.transactions[id].line);
        if let Some(pending) = self.agents[agent].pending(line) {
            pending.followers.push(id);
            self.traffic.misses += 1;
        } else {
            let hit = self.attempt(now, id);
            self.transactions[id].cost.hit = hit;
            self.traffic.hits += u64::from(hit);
            self.traffic.misses += u64::from(!hit);
            self.check_line(line);
        }
        let operation = self.transactions[id].operation;
        if matches!(operation, Some(Operation::ReadLine { .. } | Operation::Load { .. })) {
            self.fetch_ahead(now, agent, line);
        }
    }

    /// Performs the operation on the agent's copy, or asks for what is missing.
    /// Returns whether it was performed.
    fn attempt(&mut self, now: Time, id: TransactionId) -> bool {
        let (agent, line) = (self.transactions[id].agent, self.transactions[id].line);
        let operation = self.transactions[id].operation.expect("only operations are attempted");
        let state = self.agents[agent].cache.peek(line).map(|copy| copy.state);
        let Some(message) = self.agents[agent].request(operation, state) else {
            self.perform_on_copy(now, id, operation);
            return true;
        };
        if is_kept(message) {
            self.agents[agent].pending.push(Pending { line, followers: Vec::new() });
        } else if state.is_some() {
            // A far write ends all copies; this agent's own needs no snoop.
            self.give_up_copy(now, agent, line);
            self.transactions[id].relinquished = true;
            self.directory[line as usize].in_flight += 1;
        }
        self.ask(now, id, message);
        false
    }

    /// Sends a request, later if it has to leave over the link.
    fn ask(&mut self, now: Time, id: TransactionId, message: Message) {
        let transaction = &mut self.transactions[id];
        transaction.message = message;
        let (agent, line) = (transaction.agent, transaction.line);
        let (region, _) = self.region_of(line);
        if self.regions[region].home == self.agents[agent].side {
            self.send_request(now, id);
        } else {
            let sent = now + self.agent_timing(agent).cache.remote.get();
            self.after(sent, Event::Sent(id));
        }
    }

    pub(super) fn send_request(&mut self, now: Time, id: TransactionId) {
        let (agent, message) = (self.transactions[id].agent, self.transactions[id].message);
        let arrival = self.carry(now, id, message, agent, true);
        self.after(arrival, Event::AtHome(id));
    }

    fn perform_on_copy(&mut self, now: Time, id: TransactionId, operation: Operation) {
        let (agent, line) = (self.transactions[id].agent, self.transactions[id].line);
        let copy = self.agents[agent].cache.touch(line).expect("the agent has a copy");
        copy.watched |= matches!(operation, Operation::ReadLine { keep_copy: true, .. });
        let snapshot = copy.data;
        let (value, wrote) = operation.perform(&mut copy.data);
        if wrote {
            assert!(copy.state.is_alone(), "agent {agent} wrote to a shared copy of line {line}");
            copy.state = State::Modified;
        }
        self.performed_by_agent(now, id, snapshot, value);
    }

    fn performed_by_agent(&mut self, now: Time, id: TransactionId, data: Line, value: u64) {
        let order = self.next_order();
        let transaction = &mut self.transactions[id];
        transaction.data = data;
        transaction.value = value;
        transaction.order = order;
        self.respond(now, id);
    }

    fn respond(&mut self, now: Time, id: TransactionId) {
        let agent = self.transactions[id].agent;
        let completed = now + self.agent_timing(agent).cache.respond.get();
        self.after(completed, Event::Completed(id));
    }

    /// The answer of the home agent is here.
    pub(super) fn answered(&mut self, now: Time, id: TransactionId) {
        let transaction = &self.transactions[id];
        let (agent, line, message) = (transaction.agent, transaction.line, transaction.message);
        if is_kept(message) {
            self.take_copy(now, id);
            self.resume_followers(now, agent, line);
            self.check_line(line);
        } else {
            self.respond(now, id);
        }
    }

    /// Puts the answered line into the cache and performs the operation on it.
    fn take_copy(&mut self, now: Time, id: TransactionId) {
        let (agent, line) = (self.transactions[id].agent, self.transactions[id].line);
        let copy = Copy {
            state: self.transactions[id].granted,
            watched: false,
            data: self.transactions[id].data,
        };
        self.directory[line as usize].in_flight -= 1;
        let operation = self.transactions[id].operation;
        let RequestAgent { cache, pending, .. } = &mut self.agents[agent];
        if let Some(present) = cache.touch(line) {
            present.state = copy.state; // An upgrade: the data have been here all the time.
        } else {
            let is_pinned = |other| pending.iter().any(|pending| pending.line == other);
            match cache.insert(line, copy, is_pinned) {
                Inserted::Free => {}
                Inserted::Replaced(victim, old) => self.send_home(now, agent, victim, old),
                Inserted::NoRoom => return self.use_without_keeping(now, id, copy),
            }
        }
        match operation {
            Some(operation) => self.perform_on_copy(now, id, operation),
            None => self.transactions.end(id),
        }
    }

    /// All lines of the set are waiting to be changed: performs the operation on the
    /// line as it passes by and sends it home.
    fn use_without_keeping(&mut self, now: Time, id: TransactionId, mut copy: Copy) {
        let (agent, line) = (self.transactions[id].agent, self.transactions[id].line);
        if let Some(operation) = self.transactions[id].operation {
            copy.watched = matches!(operation, Operation::ReadLine { keep_copy: true, .. });
            let snapshot = copy.data;
            let (value, wrote) = operation.perform(&mut copy.data);
            if wrote {
                copy.state = State::Modified;
            }
            self.performed_by_agent(now, id, snapshot, value);
        } else {
            self.transactions.end(id);
        }
        self.send_home(now, agent, line, copy);
    }

    /// Tells the home agent that `old` is no longer kept.
    fn send_home(&mut self, now: Time, agent: usize, line: u32, old: Copy) {
        let is_dirty = old.state == State::Modified;
        let message = if is_dirty { Message::WriteBack } else { Message::Evict };
        let id = self.transactions.begin(now, agent, line, message);
        self.transactions[id].data = old.data;
        let entry = &mut self.directory[line as usize];
        entry.in_flight += 1;
        if is_dirty {
            entry.carrier = id;
        }
        self.note_copy_ended(now, agent, line, old);
        self.send_request(now, id);
        self.check_line(line);
    }

    /// Takes a shared copy out of the cache.
    fn give_up_copy(&mut self, now: Time, agent: usize, line: u32) {
        let old = self.agents[agent].cache.remove(line).expect("the agent has a copy");
        assert_eq!(old.state, State::Shared, "an owner performs by itself");
        self.note_copy_ended(now, agent, line, old);
    }

    /// Tells the agent, on the same way as its results, so that the reads that made the
    /// copy are complete by then.
    fn note_copy_ended(&mut self, now: Time, agent: usize, line: u32, old: Copy) {
        if old.watched {
            let known = now + self.agent_timing(agent).cache.respond.get();
            self.after(known, Event::CopyEnded(agent as u8, line));
        }
    }

    /// The line that was asked for has come: the waiting operations continue, in order,
    /// until one has to ask again.
    fn resume_followers(&mut self, now: Time, agent: usize, line: u32) {
        let all = &mut self.agents[agent].pending;
        let position = all.iter().position(|pending| pending.line == line);
        let mut waiting = all.swap_remove(position.expect("it was asked for")).followers;
        let mut resumed = 0;
        for id in waiting.iter().copied() {
            self.attempt(now, id);
            resumed += 1;
            if let Some(pending) = self.agents[agent].pending(line) {
                pending.followers = waiting.split_off(resumed);
                return;
            }
        }
    }

    /// After two reads of neighbouring lines, asks for those behind.
    fn fetch_ahead(&mut self, now: Time, agent: usize, line: u32) {
        let depth = self.agent_timing(agent).cache.prefetch.get().0;
        let reader = &mut self.agents[agent];
        let is_stream = reader.last_read.is_some_and(|last| last + 1 == line);
        if reader.last_read != Some(line) && !is_stream {
            reader.fetched_ahead = line;
        }
        reader.last_read = Some(line);
        if depth == 0 || !is_stream {
            return;
        }
        let first = line.max(reader.fetched_ahead) + 1;
        let (region, number) = self.region_of(line);
        let lines_behind = self.regions[region].bytes / 64 - number - 1;
        let last = line + lines_behind.min(u64::from(depth)) as u32;
        for ahead in first..=last {
            let reader = &mut self.agents[agent];
            reader.fetched_ahead = ahead;
            if reader.cache.peek(ahead).is_none() && reader.pending(ahead).is_none() {
                reader.pending.push(Pending { line: ahead, followers: Vec::new() });
                self.traffic.prefetches += 1;
                let id = self.transactions.begin(now, agent, ahead, Message::ReadShared);
                self.ask(now, id, Message::ReadShared);
            }
        }
    }

    /// A snoop of transaction `id` has been looked up in the cache of `agent`.
    pub(super) fn snooped(&mut self, now: Time, id: TransactionId, agent: usize) {
        let line = self.transactions[id].line;
        let snoop = super::home_agent::snoop_for(self.transactions[id].message);
        let entry = &mut self.directory[line as usize];
        let mut answer = Message::SnoopAnswer;
        if let Some(copy) = self.agents[agent].cache.peek(line).copied() {
            if copy.state == State::Modified && snoop != Message::SnoopOnce {
                entry.carrier = id;
                self.transactions[id].dirty = true;
            }
            if copy.state.is_alone() {
                answer = Message::SnoopData;
                self.transactions[id].data = copy.data;
                self.traffic.line_moves += 1;
            }
            match snoop {
                Message::SnoopOnce => self.read_at_owner(id, copy),
                Message::SnoopShared => {
                    self.agents[agent].cache.touch(line).expect("present").state = State::Shared;
                    self.transactions[id].kept |= 1 << agent;
                }
                _ => {
                    self.agents[agent].cache.remove(line);
                    self.traffic.invalidations += 1;
                    self.note_copy_ended(now, agent, line, copy);
                }
            }
        }
        self.check_line(line);
        let arrival = self.carry(now, id, answer, agent, true);
        self.after(arrival, Event::SnoopAnswered(id, agent as u8));
    }

    /// A snapshot of a line that its owner keeps: it is as of now.
    fn read_at_owner(&mut self, id: TransactionId, copy: Copy) {
        let order = self.next_order();
        let transaction = &mut self.transactions[id];
        let operation = transaction.operation.expect("a snapshot is for an operation");
        let mut data = copy.data;
        transaction.value = operation.perform(&mut data).0;
        transaction.order = order;
    }

    /// Ends the transaction of an operation.
    pub(super) fn complete(&mut self, now: Time, id: TransactionId) -> Completion {
        let transaction = &self.transactions[id];
        let operation = transaction.operation.expect("only operations complete");
        assert!(transaction.order > 0, "{operation:?} completed without being performed");
        assert_eq!(transaction.next, NOBODY, "{operation:?} completed while in a queue");
        let is_line = matches!(operation, Operation::ReadLine { .. });
        let completion = Completion {
            agent: AgentId(transaction.agent as u8),
            request: transaction.request,
            operation,
            issued: transaction.issued,
            completed: now,
            order: transaction.order,
            value: transaction.value,
            line: if is_line { transaction.data } else { [0; 8] },
            cost: transaction.cost,
        };
        self.transactions.end(id);
        completion
    }
}
