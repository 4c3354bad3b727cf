// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bench: the unit, its oracle and the agents on one memory, cycle by cycle.

use std::collections::{BTreeMap, VecDeque};

use driver::lock_unit::stream::{Code, Tag, UnitRequest, UnitResponse};
use locks::machine::{Access, Answer};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use sim::bus::stall::channel_generator;
use sim::bus::test_memory::{PerformedAccess, TestMemory};
use sim::lock_unit::UnitUnderTest;
use sim::models::LockUnit;

use crate::agent::{Action, Agent, Event};
use crate::case::{Case, Side, Stray};
use crate::coverage::Coverage;
use crate::host::{Finished, Host, HostAccess};
use crate::ledger::Ledger;
use crate::mismatch::{MismatchError, Property};
use crate::oracle::{Oracle, describe};
use crate::registers;
use crate::requests::{Beat, TagPool, beat, foreign_cancel, harmless, operation};

/// Longest run of a case in cycles; agents that give up their waits end long before.
const LONGEST_RUN: u64 = 400_000;
/// Cycles between two looks at what the unit owes.
const PROGRESS_CHECKS: u64 = 64;
/// Cycles after the last request in which nothing more may come.
const SILENCE: u64 = 200;

/// The properties of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Clock cycles.
    pub cycles: u64,
    /// Requests that the unit took.
    pub requests: u64,
    /// Accesses that the unit made.
    pub accesses: u64,
    /// Accesses that hosts made.
    pub host_accesses: u64,
    /// Most requests that were open at once.
    pub most_open: usize,
    /// What it has brought about.
    pub coverage: Coverage,
}

/// A request of a device's agent, or a stray one of the bench.
#[derive(Clone, Copy, Debug)]
struct Flight {
    agent: usize,
    action: Action,
    tag: Tag,
    /// Acquire: it has been answered *queued*.
    queued: bool,
    /// It used a tag that was another's.
    intrudes: bool,
}

pub(crate) struct Bench<'a, M> {
    case: &'a Case,
    unit: UnitUnderTest<M>,
    oracle: Oracle,
    ledger: Ledger,
    memory: TestMemory,
    summary: Summary,
    agents: Vec<Agent>,
    hosts: Vec<Host>,
    /// When each host makes its next access.
    host_turns: Vec<u64>,
    flights: BTreeMap<u64, Flight>,
    serial: u64,
    tags: TagPool,
    /// Requests that intrude on a tag, which is in use until they are answered.
    intruders: BTreeMap<Tag, usize>,
    /// Tags whose own request is over while intruders are not.
    lingering: Vec<Tag>,
    sent: VecDeque<Beat>,
    /// Beats by the cycle in which they are sent.
    beats: BTreeMap<u64, Vec<u64>>,
    beats_sent: VecDeque<u64>,
    random: ChaCha8Rng,
    cycle: u64,
}

impl<'a, M: LockUnit> Bench<'a, M> {
    /// Everything at its start.
    pub fn new(case: &'a Case, model: M) -> Self {
        let agents: Vec<_> = case.agents.iter().map(|plan| Agent::new(plan, case)).collect();
        Self {
            case,
            unit: UnitUnderTest::new(model, &case.unit_config()),
            oracle: Oracle::new(case.table),
            ledger: Ledger::new(case.table.lines),
            memory: TestMemory::new(case.memory_config()),
            summary: Summary::default(),
            hosts: vec![Host::default(); agents.len()],
            host_turns: vec![0; agents.len()],
            agents,
            flights: BTreeMap::new(),
            serial: 0,
            tags: TagPool::new(case.tags, case.seed),
            intruders: BTreeMap::new(),
            lingering: Vec::new(),
            sent: VecDeque::new(),
            beats: BTreeMap::new(),
            beats_sent: VecDeque::new(),
            random: channel_generator(case.seed, "bench"),
            cycle: 0,
        }
    }

    /// Runs the case to its end.
    pub fn run(&mut self) -> Result<Summary, MismatchError> {
        registers::open(&mut self.unit, self.case.table)?;
        let begin = self.unit.cycle();
        while !self.is_over() {
            self.step()?;
            if self.cycle - begin > LONGEST_RUN {
                let left: Vec<_> = self.agents.iter().filter(|agent| !agent.is_done()).collect();
                let found = format!("after {LONGEST_RUN} cycles still at it: {left:?}");
                return Err(self.wrong(
                    Property::Progress,
                    "all agents to come to their end",
                    found,
                ));
            }
        }
        for _ in 0..SILENCE {
            self.step()?;
        }
        self.summary.cycles = self.cycle - begin;
        let counted = self.oracle.counted();
        self.summary.coverage.polls_from_copy = counted.counters.polls_from_copy;
        registers::check(&mut self.unit, counted)?;
        self.check_idle()?;
        Ok(self.summary)
    }

    /// When all is over every line is zero.
    fn check_idle(&self) -> Result<(), MismatchError> {
        for line in 0..self.case.table.lines {
            let memory = self.memory.line(self.case.table.address(line));
            let memory = memory.expect("inside the table");
            let reference = self.ledger.words(line);
            if memory != [0; 8] || reference != memory {
                let found = format!("line {line} is {memory:x?}, in the reference {reference:x?}");
                return Err(self.wrong(Property::Idle, "eight zero words", found));
            }
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.agents.iter().all(Agent::is_done)
            && self.flights.is_empty()
            && self.oracle.is_idle()
            && self.beats.is_empty()
            && self.beats_sent.is_empty()
    }

    fn wrong(
        &self,
        property: Property,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> MismatchError {
        MismatchError::new(self.cycle, property, expected, found)
    }

    /// One clock cycle, and all that happens in it.
    fn step(&mut self) -> Result<(), MismatchError> {
        self.cycle = self.unit.cycle();
        self.agents_act()?;
        for address in self.beats.remove(&self.cycle).into_iter().flatten() {
            self.unit.invalidate(address);
            self.beats_sent.push_back(address);
        }
        let taken = self.unit.clock();
        let taken = taken.map_err(|f| self.wrong(Property::Bus, "legal buses", f.to_string()))?;
        if taken {
            let beat = self.sent.pop_front().expect("the unit takes what was sent");
            self.summary.requests += 1;
            self.oracle.request(self.cycle, beat.asked);
        }
        while self.beats_sent.len() > self.unit.invalidation_backlog() {
            let address = self.beats_sent.pop_front().expect("just compared");
            self.oracle.beat(self.cycle, address);
        }
        while let Some(response) = self.unit.take_response() {
            self.respond(response)?;
        }
        while let Some(access) = self.unit.take_access() {
            self.oracle.access(self.cycle, &access)?;
            self.summary.accesses += 1;
            self.memory.accept(self.cycle, access);
        }
        self.memory.answer_due(self.cycle, self.unit.memory_port());
        for performed in self.memory.take_log() {
            self.performed(&performed)?;
        }
        self.hosts_act()?;
        self.schedule_beats();
        if self.cycle.is_multiple_of(PROGRESS_CHECKS) {
            self.oracle.check_progress(self.cycle)?;
        }
        Ok(())
    }

    // -------------------------------------------------------------------- agents

    fn agents_act(&mut self) -> Result<(), MismatchError> {
        for index in 0..self.agents.len() {
            if self.hosts[index].is_busy() {
                continue;
            }
            let agent = &mut self.agents[index];
            let Some(action) = agent.decide(self.cycle, self.case, self.tags.free()) else {
                continue;
            };
            agent.started(action);
            if let Action::Release { line, .. } | Action::Repair { line } = action {
                self.ledger.lets_go(line, agent.transaction);
            }
            let by_host = agent.side == Side::Host || matches!(action, Action::Repair { .. });
            self.serial += 1;
            if by_host {
                self.hosts[index].start(self.serial, agent.transaction, action);
                self.host_turns[index] = self.cycle + self.pace();
            } else {
                self.send(index, action);
            }
        }
        self.summary.most_open = self.summary.most_open.max(self.flights.len());
        Ok(())
    }

    fn pace(&mut self) -> u64 {
        u64::from(self.random.random_range(0..=self.case.buses.host_pace))
    }

    /// Sends the request of an action to the unit.
    fn send(&mut self, agent: usize, action: Action) {
        let serial = self.serial;
        let stray = if let Action::Stray(stray) = action { Some(stray) } else { None };
        let waiting = self.agents[agent].any_wait().map(|wait| self.flights[&wait].tag);
        let intrudes = matches!(stray, Some(Stray::OpenTag | Stray::OpenTagUnknownOperation));
        let (tag, intrudes) = match self.open_tag(waiting).filter(|_| intrudes) {
            Some(tag) => (tag, true),
            None => (self.tags.take(), false),
        };
        if intrudes {
            *self.intruders.entry(tag).or_default() += 1;
        }
        let request = match (stray, waiting) {
            (Some(Stray::ForeignCancel), Some(target)) => foreign_cancel(tag, target),
            (Some(Stray::ForeignCancel | Stray::OpenTag), _) => harmless(tag, self.case.key(0)),
            _ => {
                let tag_of = |wait: u64| self.flights[&wait].tag;
                let operation = operation(action, self.case, &self.tags, tag_of);
                UnitRequest { tag, transaction: self.agents[agent].transaction, operation }
            }
        };
        let beat = beat(serial, request, stray, &mut self.random);
        self.flights.insert(serial, Flight { agent, action, tag, queued: false, intrudes });
        self.unit.request_beat(beat.data);
        self.sent.push_back(beat);
    }

    /// A tag to intrude on: that of a wait or of any acquire or release. One intruder at a time, so
    /// that it is known whom a response is for.
    fn open_tag(&self, waiting: Option<Tag>) -> Option<Tag> {
        let starts = |flight: &&Flight| {
            matches!(flight.action, Action::Acquire { .. } | Action::Release { .. })
        };
        let others = self.flights.values().filter(starts).map(|flight| flight.tag);
        let alone = |tag: &Tag| self.intruders.get(tag).is_none_or(|&count| count == 0);
        waiting.into_iter().chain(others).find(alone)
    }

    /// A response came: the oracle judges it, and its agent continues.
    fn respond(&mut self, response: UnitResponse) -> Result<(), MismatchError> {
        let answered = self.oracle.response(self.cycle, response)?;
        self.summary.coverage.response(&response);
        let serial = answered.serial;
        let event = event(response.code);
        let flight = *self.flights.get(&serial).expect("the oracle knows what was sent");
        // A cancel may also end a wait whose agent did not know yet that it waits.
        let target = answered.ends_target.map(|target| (target, self.flights[&target].action));
        let agent = &mut self.agents[flight.agent];
        match flight.action {
            Action::Acquire { line, .. } if flight.queued => agent.wait_ends(line, serial, event),
            Action::Acquire { line, .. } | Action::Release { line, .. } => {
                agent.answered(line, serial, event);
            }
            Action::Cancel { line, wait } => agent.told(line, wait, true),
            Action::Poll { line, wait } => agent.told(line, wait, false),
            Action::Miss { .. } | Action::Stray(_) => {}
            Action::Repair { .. } => unreachable!("the host repairs"),
        }
        if let Some((target, Action::Acquire { line, .. })) = target {
            agent.wait_ends(line, target, event);
        }
        let granted = target.map_or(flight.action, |(_, action)| action);
        if let (Action::Acquire { line, .. }, Event::Granted) = (granted, event) {
            self.ledger.granted(self.cycle, line, agent.transaction)?;
        }
        if let Some(flight) = self.flights.get_mut(&serial) {
            flight.queued |= event == Event::Queued;
        }
        if answered.last {
            self.forget(serial);
        }
        if let Some(target) = answered.ends_target {
            self.forget(target);
        }
        Ok(())
    }

    /// A request is over: its tag is free, unless a stray request uses it.
    fn forget(&mut self, serial: u64) {
        let Flight { tag, intrudes, .. } =
            self.flights.remove(&serial).expect("the oracle knows what was sent");
        if intrudes {
            let left = self.intruders.get_mut(&tag).expect("counted when it was sent");
            *left -= 1;
        } else {
            self.lingering.push(tag);
        }
        let busy = |tag: &Tag| self.intruders.get(tag).is_some_and(|&count| count > 0);
        if !busy(&tag)
            && let Some(index) = self.lingering.iter().position(|&other| other == tag)
        {
            self.lingering.remove(index);
            self.tags.give_back(tag);
        }
    }

    // -------------------------------------------------------------------- memory

    /// Memory has performed an access of the unit.
    fn performed(&mut self, performed: &PerformedAccess) -> Result<(), MismatchError> {
        self.oracle.answered(self.cycle, performed);
        self.summary.coverage.performed(performed);
        let Ok(data) = performed.outcome else { return Ok(()) };
        let access = performed.access;
        let Some(line) = self.case.table.line(access.address) else {
            return Err(self.wrong(Property::Access, "an access to the table", describe(&access)));
        };
        let done = Access::try_from(&access).expect("checked by the oracle");
        let expected = self.ledger.perform(self.cycle, line, done)?;
        self.same(expected, data.into())
    }

    fn same(&self, expected: Answer, found: Answer) -> Result<(), MismatchError> {
        match expected == found {
            true => Ok(()),
            false => {
                let (expected, found) = (format!("{expected:x?}"), format!("{found:x?}"));
                Err(self.wrong(Property::Bucket, expected, found))
            }
        }
    }

    fn hosts_act(&mut self) -> Result<(), MismatchError> {
        for index in 0..self.hosts.len() {
            if self.cycle < self.host_turns[index] {
                continue;
            }
            let Some((line, access)) = self.hosts[index].access() else { continue };
            let (expected, found) = self.host_access(line, access)?;
            self.same(expected, found)?;
            self.summary.host_accesses += 1;
            self.host_turns[index] = self.cycle + 1 + self.pace();
            if let Some(finished) = self.hosts[index].resume(found) {
                self.host_finished(index, finished)?;
            }
        }
        Ok(())
    }

    /// One access of a host, as the reference answers it and as memory does.
    fn host_access(
        &mut self,
        line: usize,
        access: HostAccess,
    ) -> Result<(Answer, Answer), MismatchError> {
        let address = |word: usize| self.case.table.address(line) + 8 * word as u64;
        const INSIDE: &str = "hosts stay inside the table";
        let (expected, found) = match access {
            HostAccess::Load { word } => {
                let expected = self.ledger.words(line)[word];
                let found = self.memory.load(address(word)).expect(INSIDE);
                (Answer::Word(expected), Answer::Word(found))
            }
            HostAccess::Whole(access) => {
                let found = match access {
                    Access::CompareSwap { word, expected, new } => {
                        let word = address(word.into());
                        let old = self.memory.compare_swap(word, expected, new);
                        Answer::Word(old.expect(INSIDE))
                    }
                    Access::Clear(slot) => {
                        self.memory.store(address(slot.index()), 0).expect(INSIDE);
                        Answer::Cleared
                    }
                    Access::LoadHead | Access::ReadLine => unreachable!("loads go word by word"),
                };
                (self.ledger.perform(self.cycle, line, access)?, found)
            }
        };
        Ok((expected, found))
    }

    fn host_finished(&mut self, index: usize, finished: Finished) -> Result<(), MismatchError> {
        let Finished { serial, action, event } = finished;
        let agent = &mut self.agents[index];
        let ends = event != Event::Queued;
        let granted_line = match action {
            Action::Acquire { line, .. } => {
                agent.answered(line, serial, event);
                Some(line)
            }
            Action::Release { line, .. } => {
                agent.answered(line, serial, event);
                None
            }
            Action::Cancel { line, wait } | Action::Poll { line, wait } => {
                agent.told(line, wait, matches!(action, Action::Cancel { .. }));
                if ends {
                    agent.wait_ends(line, wait, event);
                }
                Some(line)
            }
            Action::Repair { line } => {
                agent.repaired(line, serial);
                None
            }
            Action::Miss { .. } | Action::Stray(_) => unreachable!("hosts do neither"),
        };
        if let (Some(line), Event::Granted) = (granted_line, event) {
            let transaction = self.agents[index].transaction;
            self.ledger.granted(self.cycle, line, transaction)?;
        }
        Ok(())
    }

    /// Memory says which copies are void; the unit is told a little later.
    fn schedule_beats(&mut self) {
        let mut addresses = Vec::new();
        while let Some(address) = self.memory.take_invalidation() {
            if !(self.case.buses.one_beat_for_all && addresses.contains(&address)) {
                addresses.push(address);
            }
        }
        for address in addresses {
            let delay = self.random.random_range(0..=self.case.buses.beat_delay);
            self.beats.entry(self.cycle + 1 + u64::from(delay)).or_default().push(address);
        }
    }
}

/// The meaning of a response for its agent.
pub(crate) fn event(code: Code) -> Event {
    match code {
        Code::Granted => Event::Granted,
        Code::Queued => Event::Queued,
        Code::BusError => Event::Failed,
        _ => Event::Ended,
    }
}
