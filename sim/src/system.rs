// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host cores, the lock unit's RTL and the coherent memory between them, in virtual time.
//!
//! The owner plays the host's software and the device's processing elements: it submits accesses
//! and requests, and [`System::advance`] advances the time to the next thing that it can see. The
//! unit is [`Clocked`] at its own period; most of the time it sleeps.

use std::collections::VecDeque;

use driver::DeviceError;
use driver::lock_unit::stream::{UnitRequest, UnitResponse};
use locks::machine::{Access, Answer};
use timing::platform::{Platform, Side};
use timing::{Kernel, Priority, Time};

use crate::bus::BusError;
use crate::bus::axi4::{MemoryAccess, MemoryAnswer, MemoryData};
use crate::bus::error::BusModelError;
use crate::clocked::Clocked;
use crate::coherence::{
    AgentId, CoherenceError, CoherenceEvent, CoherentMemory, LINE_BYTES, Line, Notification,
    Operation, Region, Traffic,
};
use crate::lock_unit::{UnitConfig, UnitUnderTest, access};
use crate::models::LockUnit;

/// Where the lock table begins in the shared address space.
pub const TABLE_BASE: u64 = 1 << 32;

/// Where the shared words begin, behind the largest lock table.
pub const WORDS_BASE: u64 = 1 << 40;

/// What a [`System`] is made of.
#[derive(Clone, Debug)]
pub struct SystemConfig {
    /// Latencies and rates.
    pub platform: Platform,
    /// Buckets of the lock table, a power of two.
    pub buckets: u64,
    /// The home of the table; `None`: that of the platform.
    pub home: Option<Side>,
    /// The buses around the unit.
    pub unit: UnitConfig,
}

/// Why a system cannot be built, or cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum SystemError {
    /// The number of buckets is impossible.
    #[error("buckets = {0}: expected a power of two from 1 to 2^32")]
    Buckets(u64),
    /// The platform does not do.
    #[error(transparent)]
    Coherence(#[from] CoherenceError),
    /// The unit's registers do not answer as they should.
    #[error("the lock unit's registers: {0}")]
    Device(#[from] DeviceError),
    /// The unit broke a rule of its buses, or kept one waiting too long.
    #[error("the lock unit at {time}: {fault}")]
    Bus {
        /// When.
        time: Time,
        /// What.
        fault: BusModelError,
    },
}

/// Something that the owner can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A core's access has been made.
    Answered {
        /// The number given with it.
        ticket: u64,
        /// Its outcome.
        answer: Answer,
        /// When it was submitted.
        issued: Time,
    },
    /// A line that a core meant to keep a copy of may have changed.
    LineChanged {
        /// The core.
        core: u32,
        /// The line's bucket.
        bucket: u64,
    },
    /// An access to a shared word, or a core's load of a bucket's head, has been made.
    Word {
        /// The number given with it.
        ticket: u64,
        /// The previous value of the word.
        value: u64,
    },
    /// The lock unit has answered a request.
    Response(UnitResponse),
    /// A timer of the owner.
    Timer(u64),
}

#[derive(Clone, Copy, Debug)]
enum Pending {
    Memory(CoherenceEvent),
    ClockEdge,
    Timer(u64),
}

/// The low half of a host request's number is the owner's ticket; this bit says that word 0 alone
/// was asked for although the whole line was read, so as to keep a copy.
const HEAD_ONLY: u64 = 1 << 63;

/// This bit says that the access ends as [`Event::Word`], whatever made it.
const WORD: u64 = 1 << 62;

/// Cycles without anything on its pins after which the unit has nothing left to do by itself.
const QUIET_CYCLES: u32 = 64;

/// See the module.
pub struct System<M> {
    kernel: Kernel<Pending>,
    memory: CoherentMemory,
    unit: Clocked<UnitUnderTest<M>>,
    device: AgentId,
    cores: u32,
    buckets: u64,
    words: u64,
    visible: VecDeque<Event>,
}

impl<M: LockUnit> System<M> {
    /// A system at time 0: an empty table in warm memory, the unit configured and enabled.
    ///
    /// # Errors
    /// When the configuration is impossible, or the unit's registers do not answer.
    pub fn new(model: M, config: &SystemConfig) -> Result<Self, SystemError> {
        Self::with_words(model, config, &[])
    }

    /// As [`System::new`], with coherent words beside the lock table that host and device share:
    /// a table's VID map, as the ccSLT paper proposes ("employing ccSVM to perform address mappings
    /// like VID_Map", section 3). The host is home to them.
    ///
    /// # Errors
    /// As [`System::new`].
    pub fn with_words(model: M, config: &SystemConfig, words: &[u64]) -> Result<Self, SystemError> {
        let buckets = config.buckets;
        if !buckets.is_power_of_two() || buckets > 1 << 32 {
            return Err(SystemError::Buckets(buckets));
        }
        let platform = &config.platform;
        let timing = platform
            .coherence
            .as_ref()
            .ok_or_else(|| CoherenceError::NotCoherent(platform.name.clone()))?;
        let home = config.home.unwrap_or(timing.home);
        let table = Region { base: TABLE_BASE, bytes: buckets * LINE_BYTES, home };
        let bytes = (8 * words.len() as u64).next_multiple_of(LINE_BYTES);
        let shared = Region { base: WORDS_BASE, bytes, home: Side::Host };
        let regions = [table, shared];
        let used = if words.is_empty() { 1 } else { 2 };
        let mut memory = CoherentMemory::new(platform, &regions[..used])?;
        for (line, words) in (0..).zip(words.chunks(LINE_BYTES as usize / 8)) {
            let mut data = [0; 8];
            data[..words.len()].copy_from_slice(words);
            memory.poke_line(WORDS_BASE + line * LINE_BYTES, data)?;
        }
        memory.warm_memory_caches();
        let mut unit = UnitUnderTest::new(model, &config.unit);
        driver::LockUnit::new(&mut unit).start(TABLE_BASE, buckets.trailing_zeros())?;
        Ok(Self {
            kernel: Kernel::new(),
            device: memory.device_agent(0),
            cores: timing.host.agents.get().0,
            unit: Clocked::new(unit, timing.unit_clock.get(), Time::ZERO, QUIET_CYCLES),
            memory,
            buckets,
            words: words.len() as u64,
            visible: VecDeque::new(),
        })
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.kernel.now()
    }

    /// How many cores the host has.
    pub fn host_cores(&self) -> u32 {
        self.cores
    }

    /// Starts an access of a host core; [`Event::Answered`] brings its end. With `keep_copy`,
    /// a read is followed by one [`Event::LineChanged`] once the copy may be stale.
    ///
    /// # Panics
    /// When there is no such core or bucket, or `ticket` is 2⁶² or more.
    pub fn host_access(
        &mut self,
        core: u32,
        ticket: u64,
        bucket: u64,
        access: Access,
        keep_copy: bool,
    ) {
        assert!(ticket < WORD, "ticket {ticket}: expected one below 2^62");
        assert!(bucket < self.buckets, "bucket {bucket} of {}", self.buckets);
        let line = TABLE_BASE + bucket * LINE_BYTES;
        let head_only = matches!(access, Access::LoadHead) && keep_copy;
        let flag = if head_only { HEAD_ONLY } else { 0 };
        let operation = access::operation(line, access, keep_copy);
        let agent = self.memory.host_agent(core);
        self.submit(agent, ticket | flag, operation).expect("core and bucket have been checked");
    }

    /// A host core stores a shared word; [`Event::Word`] brings its end.
    ///
    /// # Panics
    /// When there is no such core or word, or `ticket` is 2⁶² or more.
    pub fn host_store(&mut self, core: u32, ticket: u64, word: u64, value: u64) {
        let agent = self.memory.host_agent(core);
        let address = self.word_address(word);
        self.word_access(agent, ticket, Operation::Store { address, value });
    }

    /// A host core loads a shared word; [`Event::Word`] brings its end.
    ///
    /// # Panics
    /// When there is no such core or word, or `ticket` is 2⁶² or more.
    pub fn host_load(&mut self, core: u32, ticket: u64, word: u64) {
        let agent = self.memory.host_agent(core);
        let address = self.word_address(word);
        self.word_access(agent, ticket, Operation::Load { address });
    }

    /// A host core loads the head of a bucket, beside the accesses of its lock machine;
    /// [`Event::Word`] brings its end.
    ///
    /// # Panics
    /// When there is no such core or bucket, or `ticket` is 2⁶² or more.
    pub fn host_load_head(&mut self, core: u32, ticket: u64, bucket: u64) {
        assert!(bucket < self.buckets, "bucket {bucket} of {}", self.buckets);
        let agent = self.memory.host_agent(core);
        let address = TABLE_BASE + bucket * LINE_BYTES;
        self.word_access(agent, ticket, Operation::Load { address });
    }

    /// The device loads a shared word, beside its lock unit; [`Event::Word`] brings its end.
    ///
    /// # Panics
    /// When there is no such word, or `ticket` is 2⁶² or more.
    pub fn device_load(&mut self, ticket: u64, word: u64) {
        let address = self.word_address(word);
        self.word_access(self.device, ticket, Operation::Load { address });
    }

    /// A shared word as it is now, wherever its newest value is.
    ///
    /// # Panics
    /// When there is no such word.
    pub fn word(&self, word: u64) -> u64 {
        let address = self.word_address(word);
        let line = self.memory.peek_line(address).expect("the word has been checked");
        line[(word % 8) as usize]
    }

    fn word_address(&self, word: u64) -> u64 {
        assert!(word < self.words, "word {word} of {}", self.words);
        WORDS_BASE + 8 * word
    }

    fn word_access(&mut self, agent: AgentId, ticket: u64, operation: Operation) {
        assert!(ticket < WORD, "ticket {ticket}: expected one below 2^62");
        self.submit(agent, ticket | WORD, operation).expect("agent and word have been checked");
    }

    /// Sends `payload` bytes over the link towards `side`, beside the messages of coherence.
    /// Returns when the last byte is there.
    pub fn send(&mut self, side: Side, payload: u64) -> Time {
        self.memory.send_beside(self.kernel.now(), side, payload)
    }

    /// Sends a request to the lock unit; [`Event::Response`] brings what it answers.
    pub fn request(&mut self, request: UnitRequest) {
        self.unit.block_mut().request(request);
        self.wake_unit();
    }

    /// Sets a timer of the owner.
    ///
    /// # Panics
    /// When the time is past.
    pub fn at(&mut self, time: Time, timer: u64) {
        self.kernel.schedule_at(time, Priority::Issue, Pending::Timer(timer));
    }

    /// Advances the time to the next thing that the owner can see; `None` when nothing will ever
    /// happen again.
    ///
    /// # Errors
    /// When the unit breaks a rule of its buses.
    pub fn advance(&mut self) -> Result<Option<Event>, SystemError> {
        loop {
            if let Some(event) = self.visible.pop_front() {
                return Ok(Some(event));
            }
            let Some((now, event)) = self.kernel.pop() else { return Ok(None) };
            match event {
                Pending::Memory(event) => self.memory_event(now, event),
                Pending::ClockEdge => self.clock_unit(now)?,
                Pending::Timer(timer) => self.visible.push_back(Event::Timer(timer)),
            }
        }
    }

    /// A bucket's line as it is now, wherever its newest words are.
    pub fn line(&self, bucket: u64) -> Line {
        self.memory
            .peek_line(TABLE_BASE + bucket * LINE_BYTES)
            .unwrap_or_else(|error| panic!("bucket {bucket}: {error}"))
    }

    /// The cost of coherence so far.
    pub fn traffic(&self) -> Traffic {
        self.memory.traffic()
    }

    /// The unit, for its registers, waves and faults.
    pub fn unit_mut(&mut self) -> &mut UnitUnderTest<M> {
        self.unit.block_mut()
    }

    fn submit(
        &mut self,
        agent: AgentId,
        request: u64,
        operation: Operation,
    ) -> Result<(), CoherenceError> {
        let kernel = &mut self.kernel;
        let now = kernel.now();
        self.memory.submit(now, agent, request, operation, &mut |time, event| {
            kernel.schedule_at(time, Priority::Deliver, Pending::Memory(event));
        })
    }

    fn memory_event(&mut self, now: Time, event: CoherenceEvent) {
        let kernel = &mut self.kernel;
        // An event completes at most one operation and ends at most one copy.
        let mut notifications = [None; 2];
        self.memory.handle(
            now,
            event,
            &mut |time, event| kernel.schedule_at(time, Priority::Deliver, Pending::Memory(event)),
            &mut |notification| {
                let free = notifications.iter_mut().find(|entry| entry.is_none());
                *free.expect("two at the most") = Some(notification);
            },
        );
        for notification in notifications.into_iter().flatten() {
            self.notified(notification);
        }
    }

    fn notified(&mut self, notification: Notification) {
        match notification {
            Notification::Completed(completion) if completion.request & WORD != 0 => {
                let ticket = completion.request & !WORD;
                self.visible.push_back(Event::Word { ticket, value: completion.value });
            }
            Notification::Completed(completion) if completion.agent == self.device => {
                let id = completion.request as u16;
                let outcome = Ok(MemoryData::from(&completion));
                self.unit.block_mut().answer(&MemoryAnswer { id, outcome });
                self.wake_unit();
            }
            Notification::Completed(completion) => {
                let answer = match completion.request & HEAD_ONLY {
                    0 => Answer::from(&completion),
                    _ => Answer::Word(completion.value),
                };
                self.visible.push_back(Event::Answered {
                    ticket: completion.request & !HEAD_ONLY,
                    answer,
                    issued: completion.issued,
                });
            }
            Notification::Invalidated { agent, address } if agent == self.device => {
                self.unit.block_mut().invalidate(address);
                self.wake_unit();
            }
            Notification::Invalidated { agent, address } => {
                let bucket = (address - TABLE_BASE) / LINE_BYTES;
                let core = u32::from(agent.0);
                self.visible.push_back(Event::LineChanged { core, bucket });
            }
        }
    }

    /// Something has come to the unit's pins. A request that a timer makes at the instant of an
    /// edge comes after this edge; a unit that sleeps takes it at the same instant all the same, a
    /// cycle earlier than one that is awake.
    fn wake_unit(&mut self) {
        let edge = self.unit.wake(self.kernel.now());
        self.schedule_edge(edge);
    }

    fn clock_unit(&mut self, now: Time) -> Result<(), SystemError> {
        let edge = self.unit.edge(now).map_err(|fault| SystemError::Bus { time: now, fault })?;
        self.schedule_edge(edge);
        while let Some(access) = self.unit.block_mut().take_access() {
            self.unit_access(&access);
        }
        while let Some(response) = self.unit.block_mut().take_response() {
            self.visible.push_back(Event::Response(response));
        }
        Ok(())
    }

    fn schedule_edge(&mut self, edge: Option<Time>) {
        if let Some(edge) = edge {
            self.kernel.schedule_at(edge, Priority::ClockEdge, Pending::ClockEdge);
        }
    }

    fn unit_access(&mut self, access: &MemoryAccess) {
        let operation = Operation::try_from(access).expect("the lock unit stores whole words");
        if self.submit(self.device, u64::from(access.id), operation).is_err() {
            let outcome = Err(BusError::DecodeError);
            self.unit.block_mut().answer(&MemoryAnswer { id: access.id, outcome });
        }
    }
}
