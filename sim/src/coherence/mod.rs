// SPDX-License-Identifier: MIT OR Apache-2.0
//! Coherent memory: 64-byte lines shared by host cores and a device, timed.
//!
//! *Request agents* have caches with the states of MESI; each address range has a
//! *home agent* with a full directory, which serialises the transactions of a line.
//! `docs/coherent-memory.md` tells the protocol; all latencies come from the platform.
//!
//! The model has no clock of its own. [`CoherentMemory::submit`] and
//! [`CoherentMemory::handle`] hand out timed [`CoherenceEvent`]s, which the caller
//! gives back at their time. Events of one instant must come back in the order in
//! which they were handed out (the kernel does that within one priority), because
//! messages between two agents do not overtake each other.

mod cache;
mod directory;
mod home_agent;
mod invariants;
mod port;
mod request_agent;
mod traffic;
mod transaction;

pub use traffic::{Message, Traffic};

use timing::Time;
use timing::link::Link;
use timing::platform::{AgentTiming, CoherenceTiming, Platform, Side};

use directory::DirectoryEntry;
use home_agent::HomeAgent;
use request_agent::RequestAgent;
use transaction::{NOBODY, TransactionId, Transactions};

/// Bytes of a line.
pub const LINE_BYTES: u64 = 64;

/// A line as eight words, word 0 at the lowest address.
pub type Line = [u64; 8];

/// A request agent: the host's cores come first, from 0, then those of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentId(pub u8);

/// What an agent can ask of the memory. Addresses are byte addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A snapshot of the line at `address`, a multiple of 64.
    ReadLine {
        /// Of the line.
        address: u64,
        /// Keep a copy, and send [`Notification::Invalidated`] when it ends.
        keep_copy: bool,
    },
    /// The word at `address`, a multiple of 8. Near agents keep a copy of the line.
    Load {
        /// Of the word.
        address: u64,
    },
    /// Sets the word at `address`, a multiple of 8.
    Store {
        /// Of the word.
        address: u64,
        /// Its new content.
        value: u64,
    },
    /// Sets the word at `address`, a multiple of 8, if it is `expected`. The old word
    /// is the result either way.
    CompareSwap {
        /// Of the word.
        address: u64,
        /// Its content for the swap to happen.
        expected: u64,
        /// Its content then.
        new: u64,
    },
}

impl Operation {
    /// The byte address.
    pub fn address(self) -> u64 {
        match self {
            Operation::ReadLine { address, .. }
            | Operation::Load { address }
            | Operation::Store { address, .. }
            | Operation::CompareSwap { address, .. } => address,
        }
    }

    fn alignment(self) -> u64 {
        if matches!(self, Operation::ReadLine { .. }) { LINE_BYTES } else { 8 }
    }

    /// Performs the operation on `line`. Returns the old word and whether it wrote.
    fn perform(self, line: &mut Line) -> (u64, bool) {
        let word = &mut line[(self.address() / 8 % 8) as usize];
        let old = *word;
        let written = match self {
            Operation::ReadLine { .. } | Operation::Load { .. } => None,
            Operation::Store { value, .. } => Some(value),
            Operation::CompareSwap { expected, new, .. } => (old == expected).then_some(new),
        };
        if let Some(value) = written {
            *word = value;
        }
        (old, written.is_some())
    }
}

/// The time of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The agent's cache had all that was needed.
    pub hit: bool,
    /// Snoops that were sent because of it.
    pub snoops: u8,
    /// Bytes on the link because of it, packet overhead included.
    pub link_bytes: u32,
}

/// The end of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The requesting agent.
    pub agent: AgentId,
    /// The number that was given with the operation.
    pub request: u64,
    /// The question.
    pub operation: Operation,
    /// When it was submitted.
    pub issued: Time,
    /// When the result was there.
    pub completed: Time,
    /// Place in the one order of all operations that explains all results. 1 is first.
    pub order: u64,
    /// The word before the operation; of a line, its word 0.
    pub value: u64,
    /// The line of a [`Operation::ReadLine`]; zeros for others.
    pub line: Line,
    /// What it took.
    pub cost: Cost,
}

/// What the memory tells the agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notification {
    /// An operation ended.
    Completed(Completion),
    /// A copy that was to be kept is no longer valid. Comes once for a copy, however
    /// many reads asked to keep it, and not before those were completed.
    Invalidated {
        /// Whose copy.
        agent: AgentId,
        /// Byte address of the line.
        address: u64,
    },
}

/// A range of shared memory and its home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First byte, a multiple of 64.
    pub base: u64,
    /// Length, a multiple of 64, not 0.
    pub bytes: u64,
    /// The side of the home agent.
    pub home: Side,
}

/// Why coherent memory cannot be built or used like this.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CoherenceError {
    /// The platform file has no coherent half.
    #[error("platform {0} is not cache coherent, expected one with a [coherence] table")]
    NotCoherent(String),
    /// A region that cannot be.
    #[error(
        "region of {bytes} bytes at {base:#x}: expected multiples of 64, more than 0 and fewer \
         than 2^32 lines in all, no overlap, in ascending order"
    )]
    BadRegion {
        /// First byte.
        base: u64,
        /// Length in bytes.
        bytes: u64,
    },
    /// There is no memory there.
    #[error("address {address:#x} is outside of the coherent memory")]
    Outside {
        /// The byte address.
        address: u64,
    },
    /// Not a word or line address.
    #[error("address {address:#x}, expected a multiple of {alignment}")]
    Misaligned {
        /// The byte address.
        address: u64,
        /// The required divisor.
        alignment: u64,
    },
    /// There is no such request agent.
    #[error("agent {agent}, expected one below {agents}")]
    NoSuchAgent {
        /// The number given.
        agent: u8,
        /// How many there are.
        agents: usize,
    },
}

/// Something that will happen in the memory; to be given back at its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoherenceEvent(Event);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// The agent has looked into its cache.
    LookedUp(TransactionId),
    /// A request that leaves for the other side is on its way.
    Sent(TransactionId),
    /// A request is at the home agent.
    AtHome(TransactionId),
    /// The home agent has read the directory.
    DirectoryRead(TransactionId),
    /// The home agent has the line out of memory.
    MemoryRead(TransactionId),
    /// An agent has looked into its cache for a snoop.
    Snooped(TransactionId, u8),
    /// The answer of that agent is at the home agent.
    SnoopAnswered(TransactionId, u8),
    /// The home agent has performed the operation.
    PerformedAtHome(TransactionId),
    /// The answer is at the agent that asked.
    Answered(TransactionId),
    /// The result is with the agent.
    Completed(TransactionId),
    /// The end of a kept copy is known to the agent.
    CopyEnded(u8, u32),
}

/// The shared memory with all its agents.
pub struct CoherentMemory {
    timing: CoherenceTiming,
    link: Link,
    regions: Vec<Region>,
    /// One for each region.
    homes: Vec<HomeAgent>,
    agents: Vec<RequestAgent>,
    directory: Vec<DirectoryEntry>,
    memory: Vec<Line>,
    transactions: Transactions,
    traffic: Traffic,
    /// Operations performed so far.
    performed: u64,
    /// Handed out at the end of each call.
    outbox: Vec<(Time, CoherenceEvent)>,
}

impl CoherentMemory {
    /// Zeroed memory at `regions`, in ascending order, with cold caches.
    ///
    /// # Errors
    /// When the platform is not coherent or a region is impossible.
    pub fn new(platform: &Platform, regions: &[Region]) -> Result<Self, CoherenceError> {
        let timing = platform
            .coherence
            .clone()
            .ok_or_else(|| CoherenceError::NotCoherent(platform.name.clone()))?;
        let lines = checked_lines(regions)?;
        let sides = [(Side::Host, &timing.host), (Side::Device, &timing.device)];
        let agents = sides
            .into_iter()
            .flat_map(|(side, of_side)| {
                (0..of_side.agents.get().0).map(move |_| RequestAgent::new(side, of_side))
            })
            .collect();
        let homes = regions
            .iter()
            .map(|region| match region.home {
                Side::Host => HomeAgent::new(&timing.home_on_host),
                Side::Device => HomeAgent::new(&timing.home_on_device),
            })
            .collect();
        Ok(CoherentMemory {
            link: Link::new(&platform.link),
            regions: regions.to_vec(),
            homes,
            agents,
            directory: vec![DirectoryEntry::AT_HOME; lines],
            memory: vec![[0; 8]; lines],
            transactions: Transactions::default(),
            traffic: Traffic::default(),
            performed: 0,
            outbox: Vec::new(),
            timing,
        })
    }

    /// `bytes` of zeroed memory at `base`, at home where the platform says.
    ///
    /// # Errors
    /// As [`CoherentMemory::new`].
    pub fn placed_by_platform(
        platform: &Platform,
        base: u64,
        bytes: u64,
    ) -> Result<Self, CoherenceError> {
        let home = platform.coherence.as_ref().map_or(Side::Host, |coherence| coherence.home);
        Self::new(platform, &[Region { base, bytes, home }])
    }

    /// The host's core `number`, from 0.
    ///
    /// # Panics
    /// When there are fewer.
    pub fn host_agent(&self, number: u32) -> AgentId {
        let cores = self.timing.host.agents.get().0;
        assert!(number < cores, "host agent {number}, expected one below {cores}");
        AgentId(number as u8)
    }

    /// The device's agent `number`, from 0.
    ///
    /// # Panics
    /// When there are fewer.
    pub fn device_agent(&self, number: u32) -> AgentId {
        let agents = self.timing.device.agents.get().0;
        assert!(number < agents, "device agent {number}, expected one below {agents}");
        AgentId((self.timing.host.agents.get().0 + number) as u8)
    }

    /// How many request agents there are.
    pub fn agents(&self) -> usize {
        self.agents.len()
    }

    /// Starts `operation` for `agent`. It ends with a [`Notification::Completed`] that
    /// carries `request`. Operations of an agent on one line are performed in the order
    /// of submission; on different lines in any order.
    ///
    /// # Errors
    /// When there is no such agent or no memory at the address; nothing is started then.
    pub fn submit(
        &mut self,
        now: Time,
        agent: AgentId,
        request: u64,
        operation: Operation,
        schedule: &mut impl FnMut(Time, CoherenceEvent),
    ) -> Result<(), CoherenceError> {
        let (address, alignment) = (operation.address(), operation.alignment());
        let agents = self.agents.len();
        if usize::from(agent.0) >= agents {
            return Err(CoherenceError::NoSuchAgent { agent: agent.0, agents });
        }
        if !address.is_multiple_of(alignment) {
            return Err(CoherenceError::Misaligned { address, alignment });
        }
        let line = self.line_at(address)?;
        self.start_operation(now, agent.0 as usize, line, request, operation);
        self.hand_out(schedule);
        Ok(())
    }

    /// Lets `event` happen, at its time.
    ///
    /// # Panics
    /// When an invariant of the protocol does not hold for the line that it touches.
    pub fn handle(
        &mut self,
        now: Time,
        event: CoherenceEvent,
        schedule: &mut impl FnMut(Time, CoherenceEvent),
        notify: &mut impl FnMut(Notification),
    ) {
        match event.0 {
            Event::LookedUp(id) => self.looked_up(now, id),
            Event::Sent(id) => self.send_request(now, id),
            Event::AtHome(id) => self.at_home(now, id),
            Event::DirectoryRead(id) => self.directory_read(now, id),
            Event::MemoryRead(id) => self.one_less_to_wait_for(now, id),
            Event::Snooped(id, agent) => self.snooped(now, id, agent as usize),
            Event::SnoopAnswered(id, agent) => self.snoop_answered(now, id, agent as usize),
            Event::PerformedAtHome(id) => self.perform_at_home(now, id),
            Event::Answered(id) => self.answered(now, id),
            Event::Completed(id) => notify(Notification::Completed(self.complete(now, id))),
            Event::CopyEnded(agent, line) => {
                let address = self.address_of(line);
                notify(Notification::Invalidated { agent: AgentId(agent), address });
            }
        }
        self.hand_out(schedule);
    }

    /// The line at `address` as it is now, wherever its newest data are.
    ///
    /// # Errors
    /// When there is no memory at `address`.
    pub fn peek_line(&self, address: u64) -> Result<Line, CoherenceError> {
        let line = self.line_at(address)?;
        let modified = self.agents.iter().find_map(|agent| agent.modified(line));
        let carrier = self.directory[line as usize].carrier;
        Ok(modified.unwrap_or_else(|| match carrier {
            NOBODY => self.memory[line as usize],
            _ => self.transactions[carrier].data,
        }))
    }

    /// Sets a line before a run, while no agent has a copy of it.
    ///
    /// # Errors
    /// When there is no memory at `address`.
    ///
    /// # Panics
    /// When an agent has a copy or a transaction is under way for the line.
    pub fn poke_line(&mut self, address: u64, data: Line) -> Result<(), CoherenceError> {
        let line = self.line_at(address)?;
        let entry = self.directory[line as usize];
        let at_home = entry.holders() == 0 && !entry.busy && entry.in_flight == 0;
        assert!(at_home, "line at {address:#x} was set while it was in use");
        self.memory[line as usize] = data;
        Ok(())
    }

    /// Brings all lines through the memory-side caches, in ascending order: the state
    /// after software has cleared the memory. Takes no virtual time.
    pub fn warm_memory_caches(&mut self) {
        for line in 0..self.memory.len() as u32 {
            let (region, _) = self.region_of(line);
            self.homes[region].warm(line);
        }
    }

    /// Counters since the start.
    pub fn traffic(&self) -> Traffic {
        Traffic {
            link_bytes_to_host: self.link.bytes_towards(Side::Host),
            link_bytes_to_device: self.link.bytes_towards(Side::Device),
            ..self.traffic.clone()
        }
    }

    /// Sends `payload` bytes that are not coherent over the same link towards `side`: transfers of
    /// a DMA engine, doorbells, completions. They share the wire with the messages of coherence,
    /// first in, first out. Returns when the last byte is there.
    pub fn send_beside(&mut self, now: Time, side: Side, payload: u64) -> Time {
        self.link.send(now, side, payload).0
    }

    /// Operations, prefetches and lines on their way home that are under way.
    pub fn in_flight(&self) -> usize {
        self.transactions.open()
    }

    fn hand_out(&mut self, schedule: &mut impl FnMut(Time, CoherenceEvent)) {
        for (time, event) in self.outbox.drain(..) {
            schedule(time, event);
        }
    }

    fn after(&mut self, time: Time, event: Event) {
        self.outbox.push((time, CoherenceEvent(event)));
    }

    fn next_order(&mut self) -> u64 {
        self.performed += 1;
        self.performed
    }

    /// Number of the line that holds `address`, counted through all regions.
    fn line_at(&self, address: u64) -> Result<u32, CoherenceError> {
        let mut first = 0;
        for region in &self.regions {
            let offset = address.wrapping_sub(region.base);
            if offset < region.bytes {
                return Ok((first + offset / LINE_BYTES) as u32);
            }
            first += region.bytes / LINE_BYTES;
        }
        Err(CoherenceError::Outside { address })
    }

    /// The region of a line, and the line's number in it.
    fn region_of(&self, line: u32) -> (usize, u64) {
        let mut number = u64::from(line);
        for (index, region) in self.regions.iter().enumerate() {
            if number < region.bytes / LINE_BYTES {
                return (index, number);
            }
            number -= region.bytes / LINE_BYTES;
        }
        panic!("line {line} lies in no region");
    }

    fn address_of(&self, line: u32) -> u64 {
        let (region, number) = self.region_of(line);
        self.regions[region].base + number * LINE_BYTES
    }

    fn agent_timing(&self, agent: usize) -> &AgentTiming {
        match self.agents[agent].side {
            Side::Host => &self.timing.host,
            Side::Device => &self.timing.device,
        }
    }

    /// Carries `message` of transaction `id` between `agent` and the home agent of its
    /// line. Returns when it is there.
    fn carry(
        &mut self,
        now: Time,
        id: TransactionId,
        message: Message,
        agent: usize,
        to_home: bool,
    ) -> Time {
        self.traffic.messages[message as usize] += 1;
        let (region, _) = self.region_of(self.transactions[id].line);
        let home = self.regions[region].home;
        let side = self.agents[agent].side;
        let hop = self.agent_timing(agent).hop.get();
        if home == side {
            return now + hop;
        }
        self.traffic.link_messages += 1;
        let payload = message.payload();
        let (arrival, bytes) = if to_home {
            self.link.send(now + hop, home, payload)
        } else {
            let (at_port, bytes) = self.link.send(now, side, payload);
            (at_port + hop, bytes)
        };
        self.transactions[id].cost.link_bytes += bytes as u32;
        arrival
    }
}

/// Lines of all regions, if those are possible.
fn checked_lines(regions: &[Region]) -> Result<usize, CoherenceError> {
    let mut lines = 0_u64;
    let mut end = 0_u64;
    for &Region { base, bytes, .. } in regions {
        let aligned = base.is_multiple_of(LINE_BYTES) && bytes.is_multiple_of(LINE_BYTES);
        lines = lines.saturating_add(bytes / LINE_BYTES);
        let possible = aligned && bytes > 0 && base >= end && lines < u64::from(u32::MAX);
        let Some(new_end) = base.checked_add(bytes).filter(|_| possible) else {
            return Err(CoherenceError::BadRegion { base, bytes });
        };
        end = new_end;
    }
    Ok(lines as usize)
}
