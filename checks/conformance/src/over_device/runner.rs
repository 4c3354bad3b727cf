// SPDX-License-Identifier: MIT OR Apache-2.0
//! One case: agents of the device ask through the lock queue, agents of the host make their accesses
//! on the same memory, and the visible behaviour of both is checked against the rules.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use driver::lock_unit::stream::{Code, Tag, UnitRequest, UnitResponse};
use driver::{DmaBuffer, LockQueue, lock_unit::Counters};
use locks::machine::{Access, Answer};
use locks::{Head, Timestamp};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use sim::bus::stall::channel_generator;

use super::holders::Holders;
use super::judge::Known;
use super::{Bounds, DeviceRunError, Witnessed};
use crate::agent::{Action, Agent, Event};
use crate::bench::event;
use crate::case::{Case, Side, Stray};
use crate::host::{Finished, Host, HostAccess};
use crate::mismatch::{MismatchError, Property};
use crate::oracle::Tally;
use crate::requests::{TagPool, beat, foreign_cancel, harmless, operation};

/// A request that the unit was given, with what its response is judged by.
#[derive(Clone, Copy, Debug)]
struct Flight {
    agent: usize,
    tag: Tag,
    known: Known,
    /// The tag that a cancel or poll is at.
    target: Option<Tag>,
}

pub(super) struct Runner<'a> {
    case: &'a Case,
    bounds: Bounds,
    memory: &'a DmaBuffer,
    queue: &'a mut LockQueue,
    began: Instant,
    /// Time in the case's cycles.
    now: u64,
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
    holders: Holders,
    tally: Tally,
    witnessed: Witnessed,
    random: ChaCha8Rng,
    /// An agent that has been handed a lock does nothing before it is told so. Otherwise a cancel
    /// could hide that the unit does not look at its waiters' lines.
    awaits_notices: bool,
}

impl<'a> Runner<'a> {
    pub fn new(
        case: &'a Case,
        bounds: Bounds,
        memory: &'a DmaBuffer,
        queue: &'a mut LockQueue,
    ) -> Self {
        let agents: Vec<_> = case.agents.iter().map(|plan| Agent::new(plan, case)).collect();
        let mut random = channel_generator(case.seed, "over device");
        Self {
            case,
            bounds,
            memory,
            queue,
            began: Instant::now(),
            now: 0,
            hosts: vec![Host::default(); agents.len()],
            host_turns: vec![0; agents.len()],
            agents,
            flights: BTreeMap::new(),
            serial: 0,
            tags: TagPool::new(case.tags, case.seed),
            intruders: BTreeMap::new(),
            lingering: Vec::new(),
            holders: Holders::new(case.table.lines),
            tally: Tally::default(),
            witnessed: Witnessed::default(),
            awaits_notices: random.random(),
            random,
        }
    }

    /// Runs the case to its end; gives what the unit's counters should have counted.
    pub fn run(mut self) -> Result<(Witnessed, Counters), DeviceRunError> {
        while !self.is_over() {
            self.now = (self.began.elapsed().as_nanos() / self.bounds.cycle.as_nanos()) as u64;
            let mut busy = self.agents_act()?;
            while let Some(response) = self.queue.poll()? {
                self.respond(response)?;
                busy = true;
            }
            busy |= self.hosts_act()?;
            for line in 0..self.case.table.lines {
                self.holders.check_head(self.now, line, self.head(line))?;
            }
            if self.began.elapsed() > self.bounds.case {
                return Err(self.stuck());
            }
            if !busy {
                thread::yield_now();
            }
        }
        self.check_idle()?;
        if let Some(response) = self.queue.poll()? {
            let found = format!("{:#018x}", response.encode());
            return Err(self.wrong(Property::Response, "no response more", found));
        }
        Ok((self.witnessed, self.tally.counted().counters))
    }

    fn is_over(&self) -> bool {
        self.agents.iter().all(Agent::is_done) && self.flights.is_empty()
    }

    fn wrong(
        &self,
        property: Property,
        expected: &str,
        found: impl Into<String>,
    ) -> DeviceRunError {
        MismatchError::new(self.now, property, expected, found).into()
    }

    fn stuck(&mut self) -> DeviceRunError {
        // A queue that was halted says more than that nothing comes.
        if let Err(error) = self.queue.check() {
            return error.into();
        }
        let left: Vec<_> = self.agents.iter().filter(|agent| !agent.is_done()).collect();
        let found =
            format!("after {:?} still at it: {left:?}, {:?}", self.bounds.case, self.flights);
        self.wrong(Property::Progress, "all agents to come to their end", found)
    }

    /// When all is over every line is zero.
    fn check_idle(&self) -> Result<(), DeviceRunError> {
        for line in 0..self.case.table.lines {
            let words: [u64; 8] = std::array::from_fn(|word| self.word(line, word));
            if words != [0; 8] {
                let found = format!("line {line} is {words:x?}");
                return Err(self.wrong(Property::Idle, "eight zero words", found));
            }
        }
        Ok(())
    }

    fn word(&self, line: usize, word: usize) -> u64 {
        self.memory.word(64 * line + 8 * word).load(Ordering::Acquire)
    }

    fn head(&self, line: usize) -> u64 {
        self.word(line, 0)
    }

    // -------------------------------------------------------------------- agents

    fn agents_act(&mut self) -> Result<bool, DeviceRunError> {
        let mut busy = false;
        for index in 0..self.agents.len() {
            if self.hosts[index].is_busy() || self.awaits_notices && self.is_handed_a_lock(index) {
                continue;
            }
            let agent = &mut self.agents[index];
            let Some(action) = agent.decide(self.now, self.case, self.tags.free()) else {
                continue;
            };
            busy = true;
            agent.started(action);
            let (side, transaction) = (agent.side, agent.transaction);
            self.serial += 1;
            let held = self.note(action, transaction);
            if side == Side::Host {
                self.hosts[index].start(self.serial, transaction, action);
                self.host_turns[index] = self.now + self.pace();
                self.witnessed.host_requests += 1;
            } else {
                self.send(index, action, held)?;
            }
        }
        Ok(busy)
    }

    /// Whether memory names the agent's transaction the holder of a lock that it waits for through
    /// the unit.
    fn is_handed_a_lock(&self, agent: usize) -> bool {
        let transaction = self.agents[agent].transaction;
        let handed = |flight: &Flight| match flight.known {
            Known { action: Action::Acquire { line, .. }, queued: true, .. } => {
                flight.agent == agent && Head::from_word(self.head(line)).is_held_by(transaction)
            }
            _ => false,
        };
        self.flights.values().any(handed)
    }

    /// An action is about to begin; says whether its transaction has the lock.
    fn note(&mut self, action: Action, transaction: Timestamp) -> bool {
        match action {
            Action::Acquire { line, .. } => {
                for flight in self.flights.values_mut() {
                    let same = flight.known.transaction == Some(transaction);
                    let there =
                        matches!(flight.known.action, Action::Acquire { line: l, .. } if l == line);
                    flight.known.alone &= !(same && there);
                }
                self.holders.asks(self.serial, line, transaction);
                // A cancel that has not been answered may still end this wait: it has the same place.
                if self.is_cancelling(transaction) {
                    self.holders.may_leave(transaction);
                }
                self.holders.owner(line) == Some(transaction)
            }
            Action::Release { line, .. } => self.holders.lets_go(line, transaction),
            _ if action.cancels() => {
                self.holders.may_leave(transaction);
                false
            }
            _ => false,
        }
    }

    /// Whether a cancel of the transaction is on its way.
    fn is_cancelling(&self, transaction: Timestamp) -> bool {
        self.flights.values().any(|flight| {
            flight.known.transaction == Some(transaction) && flight.known.action.cancels()
        })
    }

    fn pace(&mut self) -> u64 {
        u64::from(self.random.random_range(0..=self.case.buses.host_pace))
    }

    /// Sends the request of an action to the unit.
    fn send(&mut self, agent: usize, action: Action, held: bool) -> Result<(), DeviceRunError> {
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
        let transaction = self.agents[agent].transaction;
        let request = match (stray, waiting) {
            (Some(Stray::ForeignCancel), Some(target)) => foreign_cancel(tag, target),
            (Some(Stray::ForeignCancel | Stray::OpenTag), _) => harmless(tag, self.case.key(0)),
            _ => {
                let tag_of = |wait: u64| self.flights[&wait].tag;
                let operation = operation(action, self.case, &self.tags, tag_of);
                UnitRequest { tag, transaction, operation }
            }
        };
        let target = match action {
            Action::Cancel { wait, .. } | Action::Poll { wait, .. } => {
                Some(self.flights[&wait].tag)
            }
            Action::Miss { nth, .. } => Some(self.tags.nth(nth)),
            _ => None,
        };
        let beat = beat(serial, request, stray, &mut self.random);
        let known = Known {
            action,
            transaction: beat.asked.transaction,
            held,
            alone: match action {
                Action::Acquire { line, .. } => {
                    !self.holders.has_another(serial, line, transaction)
                }
                _ => true,
            },
            queued: false,
            leaving: false,
            intrudes,
            target_waits: false,
            aimed: target.is_some_and(|target| self.is_open_acquire(target, transaction)),
            beside_wait: waiting.is_some(),
        };
        self.flights.insert(serial, Flight { agent, tag, known, target });
        self.tally.request();
        self.witnessed.device_requests += 1;
        self.queue.enqueue_beat(beat.data)?;
        Ok(self.queue.ring()?)
    }

    /// Whether an acquire of the transaction is open under the tag.
    fn is_open_acquire(&self, tag: Tag, transaction: Timestamp) -> bool {
        self.flights.values().any(|flight| {
            flight.tag == tag
                && flight.known.transaction == Some(transaction)
                && matches!(flight.known.action, Action::Acquire { .. })
        })
    }

    /// A tag to intrude on: that of a wait or of any acquire or release. One intruder at a time, so
    /// that it is known whom a response is for.
    fn open_tag(&self, waiting: Option<Tag>) -> Option<Tag> {
        let starts = |flight: &&Flight| {
            matches!(flight.known.action, Action::Acquire { .. } | Action::Release { .. })
        };
        let others = self.flights.values().filter(starts).map(|flight| flight.tag);
        let alone = |tag: &Tag| self.intruders.get(tag).is_none_or(|&count| count == 0);
        waiting.into_iter().chain(others).find(alone)
    }

    // -------------------------------------------------------------------- responses

    /// A response came: it is judged, and its agent continues.
    fn respond(&mut self, response: UnitResponse) -> Result<(), DeviceRunError> {
        let Some(serial) = self.whose(&response) else {
            let found = response.to_string();
            return Err(self.wrong(Property::Response, "a response to an open request", found));
        };
        let flight = self.flights[&serial];
        let target = self.target(&flight);
        let leaving = self.holders.is_leaving(serial);
        let known = Known { leaving, target_waits: target.is_some(), ..flight.known };
        if let Some(expected) = known.fault(&response) {
            let found = format!("{response} as an answer to {known:?}");
            return Err(self.wrong(Property::Response, expected, found));
        }
        let polls = matches!(known.action, Action::Poll { .. } | Action::Miss { polls: true, .. });
        self.tally.response(&response, polls);
        self.witnessed.responses[response.code as usize] += 1;
        self.witnessed.notices += u64::from(response.notice);
        let ends_target = !polls && matches!(response.code, Code::Cancelled | Code::Granted);
        self.tell(serial, flight, &response, target.filter(|_| ends_target))?;
        if let (Action::Poll { line, .. }, Code::Granted) = (known.action, response.code) {
            self.polled_granted(flight.agent, line)?;
        }
        Ok(())
    }

    /// The request that a response is for: that of its tag, or the one that intrudes on it.
    fn whose(&self, response: &UnitResponse) -> Option<u64> {
        let of_intruder = match response.code {
            Code::TagBusy | Code::BadRequest => true,
            Code::NotHeld => response.transaction == Some(Timestamp::MAX),
            _ => false,
        };
        let mut with_tag =
            self.flights.iter().filter(|(_, flight)| flight.tag == response.tag).rev();
        let intruder = with_tag.clone().find(|(_, flight)| flight.known.intrudes);
        let own = with_tag.find(|(_, flight)| !flight.known.intrudes);
        let (serial, _) = if of_intruder { intruder.or(own) } else { own }?;
        Some(*serial)
    }

    /// The waiting acquire that a cancel or poll is at.
    fn target(&self, flight: &Flight) -> Option<u64> {
        let tag = flight.target?;
        let waits = |(_, other): &(&u64, &Flight)| {
            other.tag == tag
                && other.known.queued
                && other.known.transaction == flight.known.transaction
        };
        self.flights.iter().find(waits).map(|(&serial, _)| serial)
    }

    fn tell(
        &mut self,
        serial: u64,
        flight: Flight,
        response: &UnitResponse,
        ended: Option<u64>,
    ) -> Result<(), DeviceRunError> {
        let event = event(response.code);
        let Known { action, queued, .. } = flight.known;
        let agent = &mut self.agents[flight.agent];
        match action {
            Action::Acquire { line, .. } if queued => agent.wait_ends(line, serial, event),
            Action::Acquire { line, .. } | Action::Release { line, .. } => {
                agent.answered(line, serial, event);
            }
            Action::Cancel { line, wait } => agent.told(line, wait, true),
            Action::Poll { line, wait } => agent.told(line, wait, false),
            Action::Miss { .. } | Action::Stray(_) => {}
            Action::Repair { .. } => unreachable!("nothing fails"),
        }
        if let Some(target) = ended {
            let Action::Acquire { line, .. } = self.flights[&target].known.action else {
                unreachable!("only acquires wait")
            };
            self.agents[flight.agent].wait_ends(line, target, event);
            self.acquire_ended(target, line, event)?;
            self.forget(target);
        }
        if let Action::Acquire { line, .. } = action {
            match event {
                Event::Queued => {
                    self.holders.queued(serial);
                    if let Some(flight) = self.flights.get_mut(&serial) {
                        flight.known.queued = true;
                    }
                    return Ok(());
                }
                event => self.acquire_ended(serial, line, event)?,
            }
        }
        let is_over =
            response.is_last() || matches!(action, Action::Poll { .. } | Action::Miss { .. });
        if is_over {
            self.forget(serial);
        }
        Ok(())
    }

    fn acquire_ended(
        &mut self,
        serial: u64,
        line: usize,
        event: Event,
    ) -> Result<(), DeviceRunError> {
        if event == Event::Granted {
            self.witnessed.grants += 1;
            return Ok(self.holders.granted(self.now, serial, line, self.head(line))?);
        }
        self.holders.ends(serial);
        Ok(())
    }

    /// A poll said that its transaction has the lock: then memory says so, since nobody asks for a
    /// release before the poll was answered.
    fn polled_granted(&self, agent: usize, line: usize) -> Result<(), DeviceRunError> {
        let transaction = self.agents[agent].transaction;
        let head = Head::from_word(self.head(line));
        if head.is_held_by(transaction) {
            return Ok(());
        }
        let found = format!("line {line} is {head:?} when T{transaction} was told so");
        Err(self.wrong(Property::Response, "a poll is granted to who has the lock", found))
    }

    /// A request is over: its tag is free, unless a stray request uses it.
    fn forget(&mut self, serial: u64) {
        let Some(Flight { tag, known, .. }) = self.flights.remove(&serial) else { return };
        if known.intrudes {
            let left = self.intruders.get_mut(&tag).expect("counted when it was sent");
            *left -= 1;
        } else {
            self.lingering.push(tag);
        }
        let busy = self.intruders.get(&tag).is_some_and(|&count| count > 0);
        if !busy && let Some(index) = self.lingering.iter().position(|&other| other == tag) {
            self.lingering.remove(index);
            self.tags.give_back(tag);
        }
    }

    // -------------------------------------------------------------------- hosts

    fn hosts_act(&mut self) -> Result<bool, DeviceRunError> {
        let mut busy = false;
        for index in 0..self.hosts.len() {
            if self.now < self.host_turns[index] {
                continue;
            }
            let Some((line, access)) = self.hosts[index].access() else { continue };
            busy = true;
            let answer = self.host_access(line, access);
            self.witnessed.host_accesses += 1;
            self.host_turns[index] = self.now + self.pace();
            if let Some(finished) = self.hosts[index].resume(answer) {
                self.host_finished(index, finished)?;
            }
        }
        Ok(busy)
    }

    /// One access of a host, by an atomic of this process.
    fn host_access(&self, line: usize, access: HostAccess) -> Answer {
        let word = |word: usize| self.memory.word(64 * line + 8 * word);
        match access {
            HostAccess::Load { word: index } => Answer::Word(self.word(line, index)),
            HostAccess::Whole(Access::CompareSwap { word: index, expected, new }) => {
                let word = word(index.into());
                let old = word.compare_exchange(expected, new, Ordering::AcqRel, Ordering::Acquire);
                Answer::Word(old.unwrap_or_else(|old| old))
            }
            HostAccess::Whole(Access::Clear(slot)) => {
                word(slot.index()).store(0, Ordering::Release);
                Answer::Cleared
            }
            HostAccess::Whole(Access::LoadHead | Access::ReadLine) => {
                unreachable!("loads go word by word")
            }
        }
    }

    fn host_finished(&mut self, index: usize, finished: Finished) -> Result<(), DeviceRunError> {
        let Finished { serial, action, event } = finished;
        let agent = &mut self.agents[index];
        match action {
            Action::Acquire { line, .. } => {
                agent.answered(line, serial, event);
                match event {
                    Event::Queued => self.holders.queued(serial),
                    event => self.acquire_ended(serial, line, event)?,
                }
            }
            Action::Release { line, .. } => agent.answered(line, serial, event),
            Action::Cancel { line, wait } | Action::Poll { line, wait } => {
                agent.told(line, wait, matches!(action, Action::Cancel { .. }));
                if event != Event::Queued {
                    agent.wait_ends(line, wait, event);
                    self.acquire_ended(wait, line, event)?;
                }
            }
            Action::Repair { .. } | Action::Miss { .. } | Action::Stray(_) => {
                unreachable!("hosts do neither, and nothing fails")
            }
        }
        Ok(())
    }
}

/// Longest that a case takes, and how long its cycles are.
impl Default for Bounds {
    fn default() -> Self {
        Self { case: Duration::from_secs(20), cycle: Duration::from_micros(1) }
    }
}
