// SPDX-License-Identifier: MIT OR Apache-2.0
//! A flat memory behind the AXI4 bridge, for tests.
//!
//! It performs accesses in an order and after latencies drawn from a seed, keeps a log
//! of that order (so that an oracle can follow it step by step), answers some with bus
//! errors, and says when copies that were read to be kept stop being valid. The lines of a
//! burst are read and written together, or each at a time of its own ([`BeatOrder`]).

mod bursts;

pub use bursts::{BeatOrder, MemoryStatistics, PerformedBeat};

use super::BusError;
use super::axi4::{
    AccessKind, Axi4Subordinate, Delay, ID_COUNT, MemoryAccess, MemoryAnswer, MemoryData,
};
use super::pins::DATA_WORDS;
use super::stall::{below, channel_generator};
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::ops::Range;

/// Which accesses are answered with an error and change nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ErrorInjection {
    /// None, beside those outside the memory.
    #[default]
    None,
    /// Each by itself with this probability; SLVERR and DECERR are equally likely.
    Rate(f64),
    /// Those with these numbers, counted from 0 in the order in which they are
    /// performed. Each beat of a burst counts.
    Listed(BTreeMap<u64, BusError>),
}

/// Everything about a [`TestMemory`].
#[derive(Debug, Clone)]
pub struct TestMemoryConfig {
    /// Byte address of the first line, a multiple of 64.
    pub base: u64,
    /// Number of 64-byte lines.
    pub lines: usize,
    /// Seed of latencies and errors.
    pub seed: u64,
    /// Cycles between an access and its turn, drawn for each by itself.
    pub latency: Delay,
    /// Which accesses fail.
    pub errors: ErrorInjection,
}

/// An access that was performed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PerformedAccess {
    /// The cycle in which it took effect.
    pub cycle: u64,
    /// The question.
    pub access: MemoryAccess,
    /// The answer.
    pub outcome: Result<MemoryData, BusError>,
}

/// An access that waits for its turn; ordered by that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    cycle: u64,
    arrival: u64,
    /// Index into the waiting accesses.
    slot: usize,
    /// A beat of a burst, or [`WHOLE`].
    beat: u16,
}

/// The beat of a turn that is the whole access's.
const WHOLE: u16 = u16::MAX;

/// An access that waits for its turn.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    access: MemoryAccess,
    /// Its turns that are to come.
    turns: u16,
    /// The first error of a write.
    error: Option<BusError>,
}

/// A flat memory. Accesses outside it are answered DECERR.
#[derive(Debug, Clone)]
pub struct TestMemory {
    base: u64,
    lines: Vec<[u64; DATA_WORDS]>,
    latency: Delay,
    errors: ErrorInjection,
    generator: ChaCha8Rng,
    waiting: Vec<Waiting>,
    free: Vec<usize>,
    turns: BinaryHeap<Reverse<Turn>>,
    arrivals: u64,
    /// The last turn given to each id, so that its accesses keep their order; behind them those of
    /// reads by bursts.
    last_turn: Vec<u64>,
    performed: u64,
    log: Vec<PerformedAccess>,
    /// Copies of each line that were read to be kept and are still valid.
    copies: BTreeMap<u64, u32>,
    invalidations: VecDeque<u64>,
    /// Addresses at which accesses fail.
    failures: Vec<(Range<u64>, BusError)>,
    beat_order: BeatOrder,
    statistics: MemoryStatistics,
    beat_log: Option<Vec<PerformedBeat>>,
}

impl TestMemory {
    /// A memory of zeros.
    ///
    /// # Panics
    /// When the base is not a multiple of 64, the latency is no range, or the error rate
    /// is not within 0 to 1.
    pub fn new(config: TestMemoryConfig) -> Self {
        let TestMemoryConfig { base, lines, seed, latency, errors } = config;
        assert!(base.is_multiple_of(64), "base is 0x{base:X}, expected a multiple of 64");
        assert!(latency.minimum <= latency.maximum, "latency is {latency:?}, expected a range");
        if let ErrorInjection::Rate(rate) = errors {
            below(rate);
        }
        TestMemory {
            base,
            lines: vec![[0; DATA_WORDS]; lines],
            latency,
            errors,
            generator: channel_generator(seed, "test memory"),
            waiting: Vec::new(),
            free: Vec::new(),
            turns: BinaryHeap::new(),
            arrivals: 0,
            last_turn: vec![0; 2 * ID_COUNT],
            performed: 0,
            log: Vec::new(),
            copies: BTreeMap::new(),
            invalidations: VecDeque::new(),
            failures: Vec::new(),
            beat_order: BeatOrder::default(),
            statistics: MemoryStatistics::default(),
            beat_log: None,
        }
    }

    /// Takes new accesses from the bridge and answers those whose turn has come. Call
    /// once a cycle, after the bridge's `sample`.
    pub fn step(&mut self, cycle: u64, bridge: &mut Axi4Subordinate) {
        while let Some(access) = bridge.take_access() {
            self.accept(cycle, access);
        }
        self.answer_due(cycle, bridge);
    }

    /// Answers the accesses whose turn has come. For owners that look at each access
    /// before they hand it to [`TestMemory::accept`]; once a cycle, as `step`.
    pub fn answer_due(&mut self, cycle: u64, bridge: &mut Axi4Subordinate) {
        while let Some(Reverse(turn)) = self.turns.peek().copied() {
            if turn.cycle > cycle {
                break;
            }
            self.turns.pop();
            let waiting = &mut self.waiting[turn.slot];
            waiting.turns -= 1;
            if waiting.turns == 0 {
                self.free.push(turn.slot);
            }
            let access = waiting.access;
            if let AccessKind::ReadBurst(burst) | AccessKind::WriteBurst(burst) = access.kind {
                self.answer_burst(cycle, bridge, turn, burst);
                continue;
            }
            let outcome = self.perform(cycle, access);
            bridge.answer(cycle, &MemoryAnswer { id: access.id, outcome });
        }
    }

    /// What was performed so far, in order; clears the log.
    pub fn take_log(&mut self) -> Vec<PerformedAccess> {
        std::mem::take(&mut self.log)
    }

    /// Byte address of a line of which one kept copy stopped being valid: one beat for
    /// `s_axis_inv`. Copies are counted from the reads with `keep_copy`.
    pub fn take_invalidation(&mut self) -> Option<u64> {
        self.invalidations.pop_front()
    }

    /// The word at byte `address`, as another agent loads it; `None` outside the memory.
    pub fn load(&self, address: u64) -> Option<u64> {
        let (line, word) = self.place(address)?;
        Some(self.lines[line][word])
    }

    /// The line at byte `address`; `None` outside the memory.
    pub fn line(&self, address: u64) -> Option<[u64; DATA_WORDS]> {
        self.place(address).map(|(line, _)| self.lines[line])
    }

    /// Another agent's store to the word at byte `address`.
    ///
    /// # Errors
    /// DECERR outside the memory.
    pub fn store(&mut self, address: u64, value: u64) -> Result<(), BusError> {
        self.store_bytes(address, value, 0xFF)
    }

    /// Another agent's compare-and-swap; gives the word before.
    ///
    /// # Errors
    /// DECERR outside the memory.
    pub fn compare_swap(&mut self, address: u64, expected: u64, new: u64) -> Result<u64, BusError> {
        let (line, word) = self.place(address).ok_or(BusError::DecodeError)?;
        let old = self.lines[line][word];
        if old == expected {
            self.store_bytes(address, new, 0xFF)?;
        }
        Ok(old)
    }

    /// Takes an access that arrives in `cycle` and draws its turn.
    pub fn accept(&mut self, cycle: u64, access: MemoryAccess) {
        let waiting = Waiting { access, turns: 0, error: None };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.waiting.push(waiting);
            self.waiting.len() - 1
        });
        self.waiting[slot] = waiting;
        if let AccessKind::ReadBurst(burst) | AccessKind::WriteBurst(burst) = access.kind {
            return self.draw_turns(cycle, slot, burst);
        }
        let due = self.draw_due(cycle);
        let last = &mut self.last_turn[usize::from(access.id)];
        *last = due.max(*last);
        let due = *last;
        self.add_turn(due, slot, WHOLE);
    }

    /// The cycle in which something that arrives in this one has its turn.
    fn draw_due(&mut self, cycle: u64) -> u64 {
        let Delay { minimum, maximum } = self.latency;
        cycle + u64::from(self.generator.random_range(minimum..=maximum))
    }

    fn add_turn(&mut self, cycle: u64, slot: usize, beat: u16) {
        self.turns.push(Reverse(Turn { cycle, arrival: self.arrivals, slot, beat }));
        self.waiting[slot].turns += 1;
        self.arrivals += 1;
    }

    fn perform(&mut self, cycle: u64, access: MemoryAccess) -> Result<MemoryData, BusError> {
        let outcome = match self.injected_error() {
            Some(error) => Err(error),
            None => self.apply(&access),
        };
        self.count(&access, &outcome);
        self.performed += 1;
        self.log.push(PerformedAccess { cycle, access, outcome });
        outcome
    }

    fn apply(&mut self, access: &MemoryAccess) -> Result<MemoryData, BusError> {
        let address = access.address;
        let bytes = if let AccessKind::ReadLine { .. } = access.kind { 64 } else { 8 };
        if let Some(error) = self.failure(address, bytes) {
            return Err(error);
        }
        match access.kind {
            AccessKind::ReadLine { keep_copy } => {
                let line = self.line(address).ok_or(BusError::DecodeError)?;
                if keep_copy {
                    *self.copies.entry(address).or_default() += 1;
                }
                Ok(MemoryData::Line(line))
            }
            AccessKind::CompareSwap { expected, new } => {
                self.compare_swap(address, expected, new).map(MemoryData::OldWord)
            }
            AccessKind::Store { value, strobe } => {
                self.store_bytes(address, value, strobe).map(|()| MemoryData::Stored)
            }
            AccessKind::ReadBurst(_) | AccessKind::WriteBurst(_) => {
                unreachable!("bursts are performed beat by beat")
            }
        }
    }

    fn store_bytes(&mut self, address: u64, value: u64, strobe: u8) -> Result<(), BusError> {
        let (line, word) = self.place(address).ok_or(BusError::DecodeError)?;
        let mask = (0..8).filter(|byte| strobe >> byte & 1 == 1).map(|byte| 0xFF << (8 * byte));
        let mask = mask.fold(0u64, |all, byte| all | byte);
        let stored = &mut self.lines[line][word];
        *stored = *stored & !mask | value & mask;
        self.void_copies(address & !63);
        Ok(())
    }

    /// The line at this address has changed.
    fn void_copies(&mut self, line_address: u64) {
        for _ in 0..self.copies.remove(&line_address).unwrap_or(0) {
            self.invalidations.push_back(line_address);
        }
    }

    fn injected_error(&mut self) -> Option<BusError> {
        match &self.errors {
            ErrorInjection::None => None,
            ErrorInjection::Listed(list) => list.get(&self.performed).copied(),
            ErrorInjection::Rate(rate) => {
                let hit = u64::from(self.generator.next_u32()) < below(*rate);
                let kinds = [BusError::SubordinateError, BusError::DecodeError];
                hit.then(|| kinds[self.generator.random_range(0..2)])
            }
        }
    }

    /// Line and word of an aligned byte address.
    fn place(&self, address: u64) -> Option<(usize, usize)> {
        let offset = address.checked_sub(self.base)?;
        let line = usize::try_from(offset / 64).ok()?;
        (line < self.lines.len()).then_some((line, (offset / 8 % 8) as usize))
    }
}
