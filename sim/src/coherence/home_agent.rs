// SPDX-License-Identifier: MIT OR Apache-2.0
//! Home agents: they process the requests for each of their lines one at a time, send the necessary
//! snoops, and answer.

use timing::Time;
use timing::platform::HomeTiming;

use super::cache::{Inserted, SetAssociative};
use super::traffic::Message;
use super::transaction::{NOBODY, State, TransactionId};
use super::{CoherentMemory, Event};

/// One home agent and the memory behind it.
pub(super) struct HomeAgent {
    timing: HomeTiming,
    /// When it can take the next request.
    free: Time,
    /// Lines that the memory-side cache has; timing only, the data are in memory.
    memory_cache: SetAssociative<()>,
}

impl HomeAgent {
    pub(super) fn new(timing: &HomeTiming) -> Self {
        let (size, ways) = (timing.memory_cache.get().0, timing.memory_cache_ways.get().0);
        HomeAgent {
            timing: timing.clone(),
            free: Time::ZERO,
            memory_cache: SetAssociative::new(size, ways),
        }
    }

    /// Puts `line` into the memory-side cache, outside of time.
    pub(super) fn warm(&mut self, line: u32) {
        self.access(line);
    }

    /// Time of an access to `line`, which is in the memory-side cache afterwards.
    fn access(&mut self, line: u32) -> Time {
        if self.memory_cache.touch(line).is_some() {
            return self.timing.cached_access.get();
        }
        let inserted = self.memory_cache.insert(line, (), |_| false);
        debug_assert_ne!(inserted, Inserted::NoRoom);
        self.timing.memory_access.get()
    }
}

/// The snoop that a request needs at the holders of the line.
pub(super) fn snoop_for(request: Message) -> Message {
    match request {
        Message::ReadOnce => Message::SnoopOnce,
        Message::ReadShared => Message::SnoopShared,
        Message::ReadUnique | Message::FarStore | Message::FarCompareSwap => {
            Message::SnoopInvalidate
        }
        other => panic!("{other:?} is no request of an agent"),
    }
}

impl CoherentMemory {
    fn home_timing(&self, line: u32) -> &HomeTiming {
        &self.homes[self.region_of(line).0].timing
    }

    /// A message from a request agent is here.
    pub(super) fn at_home(&mut self, now: Time, id: TransactionId) {
        let transaction = &self.transactions[id];
        let (agent, line) = (transaction.agent, transaction.line);
        if matches!(transaction.message, Message::WriteBack | Message::Evict) {
            return self.line_came_home(id);
        }
        if transaction.relinquished {
            let entry = &mut self.directory[line as usize];
            entry.remove(agent);
            entry.in_flight -= 1;
            self.check_line(line);
        }
        let (region, _) = self.region_of(line);
        let home = &mut self.homes[region];
        let taken = now.max(home.free);
        home.free = taken + home.timing.occupancy.get();
        let entry = &mut self.directory[line as usize];
        if entry.busy {
            self.traffic.conflicts += 1;
            entry.enqueue(id, |last, id| self.transactions[last].next = id);
        } else {
            entry.busy = true;
            let lookup = home.timing.lookup.get();
            self.after(taken + lookup, Event::DirectoryRead(id));
        }
    }

    /// A copy was dropped. Needs no turn: whoever snoops that copy meanwhile is told
    /// that there is none, by a message behind this one.
    fn line_came_home(&mut self, id: TransactionId) {
        let transaction = &self.transactions[id];
        let (agent, line) = (transaction.agent, transaction.line);
        let entry = &mut self.directory[line as usize];
        if transaction.message == Message::WriteBack {
            assert_eq!(
                entry.owner(),
                Some(agent),
                "agent {agent} wrote line {line} back without owning it"
            );
            assert_eq!(entry.carrier, id, "line {line} has newer data elsewhere");
            self.memory[line as usize] = transaction.data;
            entry.carrier = NOBODY;
        }
        entry.remove(agent);
        entry.in_flight -= 1;
        self.transactions.end(id);
        self.check_line(line);
    }

    /// It is this transaction's turn, and the directory says which agents have copies.
    pub(super) fn directory_read(&mut self, now: Time, id: TransactionId) {
        let transaction = &self.transactions[id];
        let (agent, line) = (transaction.agent, transaction.line);
        let snoop = snoop_for(transaction.message);
        let entry = self.directory[line as usize];
        assert!(entry.busy, "line {line} has a transaction without being busy");
        assert_ne!(
            entry.owner(),
            Some(agent),
            "agent {agent} asks for line {line}, which it owns by the directory"
        );
        let owner = entry.owner().map_or(0, |owner| 1 << owner);
        let others = if snoop == Message::SnoopInvalidate { entry.holders() } else { owner };
        let targets = others & !(1 << agent);
        self.transactions[id].waiting = targets.count_ones() as u8;
        self.transactions[id].cost.snoops = targets.count_ones() as u8;
        for target in (0..self.agents.len()).filter(|target| targets & (1 << target) != 0) {
            let arrival = self.carry(now, id, snoop, target, false);
            let found = arrival + self.agent_timing(target).cache.snoop.get();
            self.after(found, Event::Snooped(id, target as u8));
        }
        // The owner brings the data; a sharer that asks for the line has them.
        if entry.owner().is_none() && !entry.is_sharer(agent) {
            self.transactions[id].waiting += 1;
            let (region, _) = self.region_of(line);
            let access = self.homes[region].access(line);
            self.after(now + access, Event::MemoryRead(id));
        } else if targets == 0 {
            self.all_at_hand(now, id);
        }
    }

    /// The answer of a snooped agent is here.
    pub(super) fn snoop_answered(&mut self, now: Time, id: TransactionId, agent: usize) {
        let transaction = &mut self.transactions[id];
        let line = transaction.line;
        let snoop = snoop_for(transaction.message);
        let entry = &mut self.directory[line as usize];
        if entry.carrier == id {
            assert!(transaction.dirty, "line {line} is carried by an answer without data");
            transaction.dirty = false;
            entry.carrier = NOBODY;
            self.memory[line as usize] = transaction.data;
        }
        match snoop {
            Message::SnoopOnce => {}
            Message::SnoopShared if transaction.kept & (1 << agent) != 0 => entry.add_sharer(agent),
            _ => entry.remove(agent),
        }
        self.one_less_to_wait_for(now, id);
    }

    pub(super) fn one_less_to_wait_for(&mut self, now: Time, id: TransactionId) {
        let transaction = &mut self.transactions[id];
        transaction.waiting -= 1;
        if transaction.waiting == 0 {
            self.all_at_hand(now, id);
        }
    }

    /// The line is at home and no agent has an illegal copy.
    fn all_at_hand(&mut self, now: Time, id: TransactionId) {
        let transaction = &self.transactions[id];
        let line = transaction.line;
        match transaction.message {
            Message::FarStore | Message::FarCompareSwap => {
                let performed = now + self.home_timing(line).atomic.get();
                self.after(performed, Event::PerformedAtHome(id));
            }
            Message::ReadOnce => self.perform_at_home(now, id),
            _ => self.grant_copy(now, id),
        }
    }

    /// Performs a far operation, or a read of which no copy is kept.
    pub(super) fn perform_at_home(&mut self, now: Time, id: TransactionId) {
        let line = self.transactions[id].line;
        // A snapshot that the owner gave was performed there.
        if self.transactions[id].order == 0 {
            let order = self.next_order();
            let transaction = &mut self.transactions[id];
            let operation = transaction.operation.expect("only operations are far");
            let data = &mut self.memory[line as usize];
            transaction.data = *data;
            let (value, wrote) = operation.perform(data);
            transaction.value = value;
            transaction.order = order;
            let holders = self.directory[line as usize].holders();
            assert!(!wrote || holders == 0, "far write to line {line} beside copies {holders:#b}");
        }
        let answer = match self.transactions[id].message {
            Message::FarStore => Message::Acknowledge,
            Message::FarCompareSwap => Message::WordData,
            _ => Message::LineData,
        };
        self.answer(now, id, answer);
    }

    /// Gives the agent a copy.
    fn grant_copy(&mut self, now: Time, id: TransactionId) {
        let (agent, line) = (self.transactions[id].agent, self.transactions[id].line);
        let is_unique = self.transactions[id].message == Message::ReadUnique;
        let entry = &mut self.directory[line as usize];
        let had_copy = entry.is_sharer(agent);
        let is_alone = entry.holders() & !(1 << agent) == 0;
        assert!(is_alone || !is_unique, "line {line} granted to {agent} alone beside copies");
        let alone = is_unique || (is_alone && self.agents[agent].grants_exclusive());
        if alone {
            entry.set_owner(agent);
        } else {
            entry.add_sharer(agent);
        }
        entry.in_flight += 1;
        let transaction = &mut self.transactions[id];
        transaction.granted = if alone { State::Exclusive } else { State::Shared };
        transaction.data = self.memory[line as usize];
        let answer = if had_copy { Message::Acknowledge } else { Message::LineData };
        self.answer(now, id, answer);
    }

    /// Sends the answer and lets the next transaction of the line have its turn.
    fn answer(&mut self, now: Time, id: TransactionId, answer: Message) {
        let (agent, line) = (self.transactions[id].agent, self.transactions[id].line);
        let arrival = self.carry(now, id, answer, agent, false);
        self.after(arrival, Event::Answered(id));
        let transactions = &mut self.transactions;
        let entry = &mut self.directory[line as usize];
        let next = entry.dequeue(|first| std::mem::replace(&mut transactions[first].next, NOBODY));
        entry.busy = next.is_some();
        if let Some(next) = next {
            let lookup = self.home_timing(line).lookup.get();
            self.after(now + lookup, Event::DirectoryRead(next));
        }
        self.check_line(line);
    }
}
