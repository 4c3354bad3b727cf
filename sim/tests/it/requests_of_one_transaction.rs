// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lock unit with two requests of one transaction in one bucket, in the orders of accesses
//! that `docs/lock-protocol.md`, "Two requests of one transaction", speaks of.

use driver::Registers;
use driver::lock_unit::stream::{Code, Tag, UnitOperation, UnitRequest, UnitResponse};
use locks::machine::{Phase, Rule};
use locks::{Head, Slot, Timestamp, TupleKey};
use lockstep_sim::bus::BusError;
use lockstep_sim::bus::axi4::{AccessKind, MemoryAccess, MemoryAnswer, MemoryData};
use lockstep_sim::lock_unit::{UnitConfig, UnitUnderTest};
use lockstep_sim::models::TupleLockUnit;

/// The unit's own phase: a waiter reads its line.
const WATCH: u16 = 11;
const LINE: u64 = 0x4000;
/// More cycles than any one step takes.
const TIMEOUT: u64 = 200;
const HOLDER: Timestamp = Timestamp::new(1).unwrap();
const TWINS: Timestamp = Timestamp::new(2).unwrap();
const OTHER: Timestamp = Timestamp::new(3).unwrap();

/// The unit and a table of one bucket, whose accesses take effect one by one as the test says.
struct Bench {
    unit: UnitUnderTest<TupleLockUnit>,
    words: [u64; 8],
    asked: Vec<MemoryAccess>,
    told: Vec<UnitResponse>,
}

impl Bench {
    fn new(words: [u64; 8]) -> Self {
        let mut unit = UnitUnderTest::new(TupleLockUnit::new(), &UnitConfig::smooth());
        unit.write32(0x020, LINE as u32).unwrap();
        unit.write32(0x000, 1).unwrap();
        Self { unit, words, asked: Vec::new(), told: Vec::new() }
    }

    fn ask(&mut self, tag: u8, operation: UnitOperation) {
        self.unit.request(UnitRequest { tag: self::tag(tag), transaction: TWINS, operation });
    }

    fn acquire(&mut self, tag: u8) {
        let key = TupleKey::new(u64::from(tag), 0);
        self.ask(tag, UnitOperation::Acquire(key, Rule::Queue));
    }

    /// The access of this phase, once the unit makes it.
    fn access(&mut self, tag: u8, phase: u16) -> MemoryAccess {
        let id = phase << 7 | u16::from(tag);
        for _ in 0..TIMEOUT {
            if let Some(index) = self.asked.iter().position(|access| access.id == id) {
                return self.asked.remove(index);
            }
            self.clock();
        }
        panic!("no access of tag {tag} in phase {phase}; there are {:#?}", self.asked);
    }

    /// The access of this phase takes effect; whether it changed the bucket.
    fn performs(&mut self, tag: u8, phase: u16) -> bool {
        let access = self.access(tag, phase);
        let word = (access.address - LINE) as usize / 8;
        let before = self.words;
        let data = match access.kind {
            AccessKind::ReadLine { .. } => MemoryData::Line(self.words),
            AccessKind::CompareSwap { expected, new } => {
                let old = self.words[word];
                if old == expected {
                    self.words[word] = new;
                }
                MemoryData::OldWord(old)
            }
            AccessKind::Store { value, .. } => {
                self.words[word] = value;
                MemoryData::Stored
            }
            AccessKind::ReadBurst(_) | AccessKind::WriteBurst(_) => {
                unreachable!("the unit's port takes no bursts")
            }
        };
        self.unit.answer(&MemoryAnswer { id: access.id, outcome: Ok(data) });
        self.words != before
    }

    fn step(&mut self, tag: u8, phase: Phase) -> bool {
        self.performs(tag, phase as u16)
    }

    fn fails(&mut self, tag: u8, phase: Phase) {
        let access = self.access(tag, phase as u16);
        self.unit.answer(&MemoryAnswer { id: access.id, outcome: Err(BusError::SubordinateError) });
    }

    /// The next response of this tag: its code and position, and whether it is a notice.
    fn answer(&mut self, tag: u8) -> (Code, u8, bool) {
        for _ in 0..TIMEOUT {
            let ours = |response: &UnitResponse| response.tag.index() == usize::from(tag);
            if let Some(index) = self.told.iter().position(ours) {
                let UnitResponse { code, position, notice, .. } = self.told.remove(index);
                return (code, position, notice);
            }
            self.clock();
        }
        panic!("no response of tag {tag} in {TIMEOUT} cycles");
    }

    fn clock(&mut self) {
        self.unit.clock().unwrap();
        self.asked.extend(self.unit.take_access());
        self.told.extend(self.unit.take_response());
    }

    /// Another agent hands the lock to the first in the queue.
    fn hand_over(&mut self) {
        let head = Head::from_word(self.words[0]);
        let first = head.first().expect("a waiter exists");
        let next = Timestamp::of_word(self.words[first.index()]).expect("a waiter's word");
        self.words[0] = head.hand_over(next).word();
        self.unit.invalidate(LINE);
    }

    /// Both twins have placed a word, in slots 1 and 2, and neither is registered.
    fn with_two_placed() -> Self {
        let mut bench = Bench::new(held_by(HOLDER));
        bench.acquire(0);
        bench.acquire(1);
        for phase in [Phase::Take, Phase::Look] {
            assert!(!bench.step(0, phase) && !bench.step(1, phase));
        }
        assert!(bench.step(0, Phase::Place));
        assert!(!bench.step(1, Phase::Place), "both have chosen slot 1");
        bench.step(1, Phase::Look);
        assert!(bench.step(1, Phase::Place));
        assert_eq!(bench.words[1..4], [TWINS.word(), TWINS.word(), 0]);
        bench
    }
}

fn tag(number: u8) -> Tag {
    Tag::new(number).unwrap()
}

fn held_by(holder: Timestamp) -> [u64; 8] {
    [Head::held_by(holder).word(), 0, 0, 0, 0, 0, 0, 0]
}

#[test]
fn the_second_to_register_becomes_a_shared_waiter_of_the_first() {
    let mut bench = Bench::with_two_placed();
    assert!(bench.step(0, Phase::Register));
    assert_eq!(bench.answer(0), (Code::Queued, 1, false));
    assert!(!bench.step(1, Phase::Register), "the head has changed");
    bench.step(1, Phase::Review);
    assert!(bench.step(1, Phase::Withdraw));
    bench.step(1, Phase::Look);
    assert_eq!(bench.answer(1), (Code::Queued, 1, false));
    for tag in [0, 1] {
        bench.performs(tag, WATCH);
    }

    bench.hand_over();
    bench.performs(0, WATCH);
    assert!(bench.step(0, Phase::Clear));
    assert_eq!(bench.answer(0), (Code::Granted, 0, true));
    bench.performs(1, WATCH);
    assert_eq!(bench.answer(1), (Code::Granted, 0, true));

    bench.ask(2, UnitOperation::Release(TupleKey::new(0, 0)));
    assert!(bench.step(2, Phase::Free));
    assert_eq!(bench.answer(2), (Code::Released, 0, false));
    assert_eq!(bench.words, [0; 8]);
}

#[test]
fn a_register_that_lost_to_a_stranger_is_tried_again_after_a_review() {
    let mut bench = Bench::new(held_by(HOLDER));
    bench.acquire(0);
    for phase in [Phase::Take, Phase::Look, Phase::Place] {
        bench.step(0, phase);
    }
    // The lock goes to another waiter, which has no waiter behind it.
    bench.words[0] = Head::held_by(OTHER).word();
    assert!(!bench.step(0, Phase::Register));
    bench.step(0, Phase::Review);
    assert!(bench.step(0, Phase::Register));
    assert_eq!(bench.answer(0), (Code::Queued, 1, false));
}

#[test]
fn a_slot_is_withdrawn_after_a_bus_error_in_review() {
    let mut bench = Bench::with_two_placed();
    assert!(bench.step(0, Phase::Register));
    assert!(!bench.step(1, Phase::Register));
    bench.fails(1, Phase::Review);
    assert!(bench.step(1, Phase::Withdraw));
    assert_eq!(bench.answer(1), (Code::BusError, 0, false));
    assert_eq!(bench.words[1..], [TWINS.word(), 0, 0, 0, 0, 0, 0]);
}

#[test]
fn a_request_that_waits_for_its_own_transaction_leaves() {
    // One twin sees another waiting in slot 1 and places its word in slot 2.
    let mut bench = Bench::new(held_by(HOLDER));
    let slot = Slot::new(1).unwrap();
    bench.words[0] = Head::held_by(HOLDER).register(slot).word();
    bench.words[1] = OTHER.word();
    bench.acquire(1);
    for phase in [Phase::Take, Phase::Look, Phase::Place] {
        bench.step(1, phase);
    }
    // That one comes and goes, and the holder comes back: the other twin takes slot 1, and the
    // head looks as it did.
    bench.words = [Head::held_by(HOLDER).word(), 0, TWINS.word(), 0, 0, 0, 0, 0];
    bench.acquire(0);
    for phase in [Phase::Take, Phase::Look, Phase::Place, Phase::Register] {
        bench.step(0, phase);
    }
    assert_eq!(bench.answer(0), (Code::Queued, 1, false));
    assert!(bench.step(1, Phase::Register));
    assert_eq!(bench.answer(1), (Code::Queued, 2, false));
    for tag in [0, 1] {
        bench.performs(tag, WATCH);
    }

    bench.hand_over();
    bench.performs(0, WATCH);
    assert!(bench.step(0, Phase::Clear));
    assert_eq!(bench.answer(0), (Code::Granted, 0, true));
    bench.performs(1, WATCH);
    assert!(bench.step(1, Phase::Leave));
    assert!(bench.step(1, Phase::Clear));
    assert_eq!(bench.answer(1), (Code::Granted, 0, true));

    bench.ask(2, UnitOperation::Release(TupleKey::new(0, 0)));
    assert!(!bench.step(2, Phase::Free), "the head counts the one that left");
    assert!(bench.step(2, Phase::HandOver));
    assert_eq!(bench.answer(2), (Code::Released, 0, false));
    assert_eq!(bench.words, [0; 8]);
}
