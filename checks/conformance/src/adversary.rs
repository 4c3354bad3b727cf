// SPDX-License-Identifier: MIT OR Apache-2.0
//! An adversary in the place of memory.
//!
//! Each answer is one that memory could give, but no history of accesses needs to have led to it:
//! heads with any holder, any waiters and any count of cancels, and compare-and-swaps that fail
//! repeatedly. So states of the protocol that agents reach once in a million runs (63 cancels,
//! 255 rounds, every place of the ring) come up in every run. There is no line to be compared at
//! the end: the oracle judges accesses, responses and counters.

use std::collections::{BTreeMap, VecDeque};

use driver::lock_unit::stream::{Tag, UnitOperation, UnitRequest};
use locks::machine::Rule;
use locks::{Head, Ring, Timestamp, TupleKey};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use sim::bus::BusError;
use sim::bus::axi4::{AccessKind, MemoryAccess, MemoryAnswer, MemoryData};
use sim::bus::stall::{StallPattern, channel_generator};
use sim::bus::test_memory::PerformedAccess;
use sim::lock_unit::{UnitConfig, UnitUnderTest};
use sim::models::LockUnit;

use crate::bench::Summary;
use crate::case::LockTableShape;
use crate::mismatch::{MismatchError, Property};
use crate::oracle::Oracle;
use crate::registers;
use crate::requests::{Beat, TagPool, beat};

/// Cycles in which new requests are made; then everything is led to its end.
const REQUESTS_FOR: u64 = 4_000;
/// Cycles in which everything ends.
const END_WITHIN: u64 = 20_000;
const TAGS: u8 = 24;
/// Few transactions, so that heads and slots often name the one that asks.
const TRANSACTIONS: u64 = 12;

/// The adversary's plan for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mood {
    /// Any answer.
    Random,
    /// Compare-and-swaps succeed.
    Kind,
    /// The lock is free whenever it is checked, and taken whenever it is tried.
    Teasing,
    /// A place is free, but the head has changed whenever the request registers.
    Shifting,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    tag: Tag,
    transaction: Timestamp,
    waits: bool,
}

struct Adversary<M> {
    unit: UnitUnderTest<M>,
    oracle: Oracle,
    tags: TagPool,
    open: BTreeMap<u64, Open>,
    moods: BTreeMap<Tag, (Timestamp, Mood)>,
    sent: VecDeque<Beat>,
    /// Accesses by the cycle of their turn.
    turns: BTreeMap<(u64, u64), MemoryAccess>,
    /// Copies that the unit may hold, one entry for each.
    copies: Vec<u64>,
    beats: VecDeque<u64>,
    random: ChaCha8Rng,
    errors: bool,
    serial: u64,
    summary: Summary,
}

/// Runs the unit against the adversary of a seed.
///
/// # Errors
/// The first thing in which the unit and its oracle differ.
pub fn run_against_adversary(seed: u64, unit: impl LockUnit) -> Result<Summary, MismatchError> {
    let mut random = channel_generator(seed, "adversary");
    let probability = f64::from(random.random_range(0..5u32)) * 0.15;
    let streams = StallPattern::Random { probability };
    let mut config = UnitConfig { streams, seed, ..UnitConfig::smooth() };
    config.memory.split_atomic_errors = random.random_bool(0.5);
    let base = random.random_range(0..1u64 << 40) << 6;
    let table = LockTableShape { base, log2_buckets: 32, first_bucket: 0, lines: 1 << 32 };
    let mut adversary = Adversary {
        unit: UnitUnderTest::new(unit, &config),
        oracle: Oracle::new(table),
        tags: TagPool::new(TAGS, seed),
        open: BTreeMap::new(),
        moods: BTreeMap::new(),
        sent: Default::default(),
        turns: BTreeMap::new(),
        copies: Vec::new(),
        beats: Default::default(),
        errors: random.random_bool(0.5),
        random,
        serial: 0,
        summary: Summary::default(),
    };
    registers::open(&mut adversary.unit, table)?;
    adversary.run()
}

impl<M: LockUnit> Adversary<M> {
    fn run(&mut self) -> Result<Summary, MismatchError> {
        let begin = self.unit.cycle();
        loop {
            let now = self.unit.cycle() - begin;
            let ending = now >= REQUESTS_FOR;
            let over = self.open.is_empty() && self.beats.is_empty();
            if ending && over {
                break;
            }
            if now > REQUESTS_FOR + END_WITHIN {
                let found = format!("{:?}", self.open);
                let expected = "all requests to end";
                return Err(MismatchError::new(now, Property::Progress, expected, found));
            }
            if !ending && self.tags.free() > 0 && self.random.random_bool(0.5) {
                self.ask();
            }
            self.step(ending)?;
        }
        self.summary.cycles = self.unit.cycle() - begin;
        let counted = self.oracle.counted();
        self.summary.coverage.polls_from_copy = counted.counters.polls_from_copy;
        registers::check(&mut self.unit, counted)?;
        Ok(self.summary)
    }

    fn transaction(&mut self) -> Timestamp {
        // Neighbours, and in the highest bits too.
        let number = self.random.random_range(1..=TRANSACTIONS);
        let high = if number.is_multiple_of(2) { 1 << 47 } else { 0 };
        Timestamp::new(number | high).expect("at least 1, less than 48 bits")
    }

    fn ask(&mut self) {
        let tag = self.tags.take();
        let key = TupleKey::new(self.random.random(), self.random.random());
        let waiting: Vec<_> = self.open.values().filter(|open| open.waits).copied().collect();
        let target =
            (!waiting.is_empty()).then(|| waiting[self.random.random_range(0..waiting.len())]);
        let (operation, transaction) = match (self.random.random_range(0..8u32), target) {
            (0, Some(target)) => (UnitOperation::Cancel(target.tag), target.transaction),
            (1..=2, Some(target)) => (UnitOperation::Poll(target.tag), target.transaction),
            (3..=4, _) => (UnitOperation::Release(key), self.transaction()),
            _ => {
                let rules = [Rule::Queue, Rule::Queue, Rule::WaitDie, Rule::NoWait];
                let rule = rules[self.random.random_range(0..rules.len())];
                (UnitOperation::Acquire(key, rule), self.transaction())
            }
        };
        let mood = match self.random.random_range(0..20u32) {
            0 => Mood::Teasing,
            1 => Mood::Shifting,
            2..=8 => Mood::Kind,
            _ => Mood::Random,
        };
        self.serial += 1;
        let request = UnitRequest { tag, transaction, operation };
        let beat = beat(self.serial, request, None, &mut self.random);
        self.open.insert(self.serial, Open { tag, transaction, waits: false });
        self.moods.insert(tag, (transaction, mood));
        self.unit.request_beat(beat.data);
        self.sent.push_back(beat);
    }

    fn step(&mut self, ending: bool) -> Result<(), MismatchError> {
        let cycle = self.unit.cycle();
        let tells = ending || self.random.random_bool(0.02);
        if tells && !self.copies.is_empty() {
            let index = self.random.random_range(0..self.copies.len());
            let address = self.copies.swap_remove(index);
            self.unit.invalidate(address);
            self.beats.push_back(address);
        }
        let taken = self.unit.clock().map_err(|fault| {
            MismatchError::new(cycle, Property::Bus, "legal buses", fault.to_string())
        })?;
        if taken {
            let beat = self.sent.pop_front().expect("the unit takes what was sent");
            self.summary.requests += 1;
            self.oracle.request(cycle, beat.asked);
        }
        while self.beats.len() > self.unit.invalidation_backlog() {
            let address = self.beats.pop_front().expect("just compared");
            self.oracle.beat(cycle, address);
        }
        while let Some(response) = self.unit.take_response() {
            let answered = self.oracle.response(cycle, response)?;
            self.summary.coverage.response(&response);
            let open = self.open.get_mut(&answered.serial).expect("it was sent");
            open.waits = true;
            for serial in
                answered.last.then_some(answered.serial).into_iter().chain(answered.ends_target)
            {
                let open = self.open.remove(&serial).expect("it was open");
                self.tags.give_back(open.tag);
            }
        }
        while let Some(access) = self.unit.take_access() {
            self.oracle.access(cycle, &access)?;
            let turn = cycle + self.random.random_range(0..12u64);
            self.turns.insert((turn, self.summary.accesses), access);
            self.summary.accesses += 1;
        }
        while let Some(entry) = self.turns.first_entry().filter(|entry| entry.key().0 <= cycle) {
            let access = entry.remove();
            self.answer(cycle, access, ending);
        }
        self.summary.most_open = self.summary.most_open.max(self.open.len());
        if cycle.is_multiple_of(64) { self.oracle.check_progress(cycle) } else { Ok(()) }
    }

    fn answer(&mut self, cycle: u64, access: MemoryAccess, ending: bool) {
        let (transaction, mood) = self.moods[&Tag::of_id(access.id)];
        let phase = access.id >> 7;
        // Those that are led from round to round end by themselves.
        let led = matches!(mood, Mood::Teasing | Mood::Shifting) && phase <= 3;
        let ending = ending && !led;
        let outcome = if self.errors && !ending && self.random.random_bool(0.02) {
            Err([BusError::SubordinateError, BusError::DecodeError][self.random.random_range(0..2)])
        } else {
            Ok(match access.kind {
                AccessKind::Store { .. } => MemoryData::Stored,
                AccessKind::ReadBurst(_) | AccessKind::WriteBurst(_) => {
                    unreachable!("the unit's port takes no bursts")
                }
                AccessKind::ReadLine { keep_copy } => {
                    if keep_copy {
                        self.copies.push(access.address);
                    }
                    MemoryData::Line(match mood {
                        _ if ending => {
                            let mut line = [0; 8];
                            line[0] = transaction.word();
                            line
                        }
                        Mood::Teasing if phase == 1 => [0; 8],
                        Mood::Shifting if phase == 1 => self.shifting_line(transaction),
                        _ => self.line(transaction),
                    })
                }
                AccessKind::CompareSwap { expected, .. } => {
                    let succeeds = match mood {
                        _ if ending => true,
                        Mood::Kind => true,
                        Mood::Teasing => phase != 0,
                        Mood::Shifting => phase == 2,
                        Mood::Random => self.random.random_bool(0.4),
                    };
                    MemoryData::OldWord(if succeeds {
                        expected
                    } else if access.address.is_multiple_of(64) {
                        match mood {
                            Mood::Teasing | Mood::Shifting => self.shifting_line(transaction)[0],
                            _ => self.line(transaction)[0],
                        }
                    } else {
                        self.other(transaction).word()
                    })
                }
            })
        };
        let performed = PerformedAccess { cycle, access, outcome };
        self.oracle.answered(cycle, &performed);
        self.summary.coverage.performed(&performed);
        self.unit.answer(&MemoryAnswer { id: access.id, outcome });
    }

    /// Another transaction than this.
    fn other(&mut self, than: Timestamp) -> Timestamp {
        loop {
            let other = self.transaction();
            if other != than {
                return other;
            }
        }
    }

    /// Held by another, nobody waiting, never quite the same.
    fn shifting_line(&mut self, transaction: Timestamp) -> [u64; 8] {
        let mut line = [0; 8];
        line[0] = self.other(transaction).word() | self.random.random_range(0..63u64);
        line
    }

    /// Any line that satisfies the invariants of a bucket.
    fn line(&mut self, transaction: Timestamp) -> [u64; 8] {
        let mut line = [0; 8];
        let holder = match self.random.random_range(0..10u32) {
            0 => return line,
            1..=2 => transaction,
            _ => self.other(transaction),
        };
        let mut waiters: u64 = self.random.random_range(0..128);
        if self.random.random_bool(0.3) {
            waiters &= self.random.random_range(0..128u64);
        }
        let mut mine = 0;
        for slot in Ring::FULL.all() {
            let index = slot.index();
            let waits = waiters >> (index - 1) & 1 == 1;
            // The transaction waits in one slot, by the exception of docs/lock-protocol.md in two, and
            // not at all while it holds the lock.
            let often = if mine == 0 { 0.1 } else { 0.3 };
            let own = mine < 2 && waits && holder != transaction && self.random.random_bool(often);
            mine += u32::from(own);
            line[index] = match (waits, own) {
                (true, true) => transaction.word(),
                (true, false) => {
                    let mut other = self.other(transaction);
                    while other == holder {
                        other = self.other(transaction);
                    }
                    other.word()
                }
                // Another request may have placed itself, or not cleared its slot yet.
                (false, _) if self.random.random_bool(0.3) => self.other(transaction).word(),
                (false, _) => 0,
            };
        }
        let first = (0..7).cycle().skip(self.random.random_range(0..7)).take(7);
        let first = { first }.find(|bit| waiters >> bit & 1 == 1).map_or(0, |bit| bit + 1);
        let cancels = match self.random.random_range(0..6u32) {
            0 => 63,
            1 => 62,
            2 => self.random.random_range(0..64u64),
            _ => 0,
        };
        line[0] = holder.word() | waiters << 9 | first << 6 | cancels;
        debug_assert_eq!(Head::from_word(line[0]).check(Ring::FULL), Ok(()));
        line
    }
}
