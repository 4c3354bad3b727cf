//! The rig's lock unit: one machine of `lockdb` after the other, each run to its end at once.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use driver::map::device::LOCK_UNIT;
use driver::map::{Counter, lock_unit};
use locks::machine::{Access, Answer, Bounds, Machine, Outcome, Place, Refusal, Request, Rule};
use locks::{Head, Ring, Timestamp, TupleKey};

use super::Flaw;
use super::memory::{Memories, Spot};
use super::registers::Registers;

#[derive(Default)]
pub struct Locks {
    waits: BTreeMap<u8, Wait>,
    flaw: Flaw,
    /// Whether words of host memory may be compared and swapped.
    atomics: bool,
}

#[derive(Clone, Copy)]
struct Wait {
    transaction: Timestamp,
    line: u64,
    place: Place,
}

const MOST_ACCESSES: u32 = 10_000;

/// Codes of responses.
const GRANTED: u64 = 0;
const QUEUED: u64 = 1;
const REFUSED_FULL: u64 = 2;
const RELEASED: u64 = 6;
const CANCELLED: u64 = 7;
const NOT_HELD: u64 = 8;
const BUS_ERROR: u64 = 9;
const TAG_BUSY: u64 = 10;
const NOT_WAITING: u64 = 11;
const BAD_REQUEST: u64 = 12;
const NOTICE: u64 = 1 << 15;

impl Locks {
    pub fn has_waiters(&self) -> bool {
        !self.waits.is_empty()
    }

    /// Executes one request; gives its response.
    pub fn request(&mut self, beat: [u64; 3], registers: &mut Registers, m: &Memories) -> u64 {
        registers.count(LOCK_UNIT + lock_unit::REQUESTS.offset(), 1);
        self.atomics = registers.may_request_atomics();
        let [low, vid, high] = beat;
        let (tag, operation, rule) = (low as u8 & 0x7F, low >> 8 & 0xF, low >> 12 & 3);
        let target = (high >> 32) as u8 & 0x7F;
        let respond = |code: u64| u64::from(tag) | code << 8 | low >> 16 << 16;
        let rule = [Rule::Queue, Rule::NoWait, Rule::WaitDie].get(rule as usize).copied();
        let (transaction, key) = (Timestamp::of_word(low), TupleKey::new(vid, high as u32));
        if self.waits.contains_key(&tag) {
            return respond(TAG_BUSY);
        }
        let Some(transaction) = transaction else { return respond(BAD_REQUEST) };
        let base = registers.pair(LOCK_UNIT + lock_unit::TABLE_BASE.offset());
        let log2 = registers.get(LOCK_UNIT + lock_unit::TABLE_LOG2_BUCKETS.offset());
        let line = base + 64 * (key.mix() & ((1 << log2) - 1));
        match (operation, rule) {
            (0, Some(_)) if self.flaw == Flaw::SaysFull => respond(REFUSED_FULL),
            (0, Some(rule)) => {
                let outcome = self.run(transaction, line, Request::Acquire(rule), m);
                if let Outcome::Queued { place, .. } = outcome {
                    self.waits.insert(tag, Wait { transaction, line, place });
                }
                respond(0) | bits(outcome)
            }
            (1, _) => match self.run(transaction, line, Request::Release, m) {
                Outcome::Released { next } => {
                    u64::from(tag) | 6 << 8 | next.map_or(0, Timestamp::word)
                }
                outcome => respond(0) | bits(outcome),
            },
            (2 | 3, _) => match self.waits.get(&target).copied() {
                Some(wait) if wait.transaction == transaction && operation == 2 => {
                    let outcome = self.run(transaction, wait.line, Request::Cancel(wait.place), m);
                    self.waits.remove(&target);
                    respond(0) | bits(outcome)
                }
                Some(wait) if wait.transaction == transaction => respond(0) | poll(&wait, m),
                _ => respond(NOT_WAITING),
            },
            _ => respond(BAD_REQUEST),
        }
    }

    /// What a response brings about beside itself; gives it as it is told.
    pub fn after(
        &mut self,
        response: u64,
        of_poll: bool,
        registers: &mut Registers,
        vectors: &mut Vec<usize>,
        flaw: Flaw,
    ) -> u64 {
        self.flaw = flaw;
        let response = spoilt(response, flaw);
        count(response, of_poll, registers, flaw);
        let (status, enable) = (lock_unit::ISR.offset(), lock_unit::IER.offset());
        if response >> 8 & 0xF == BUS_ERROR && registers.get(LOCK_UNIT + status) & 1 == 0 {
            registers.set(LOCK_UNIT + status, 1);
            let on = registers.get(LOCK_UNIT + enable) & 1 == 1
                && registers.get(LOCK_UNIT + lock_unit::GIE.offset()) & 1 == 1;
            if on && flaw != Flaw::HidesBusErrors {
                vectors.push(3);
            }
        }
        response
    }

    /// Looks at the lines of all waiters; gives the notices of those that have their lock.
    pub fn look(&mut self, registers: &mut Registers, memories: &Memories, flaw: Flaw) -> Vec<u64> {
        if flaw == Flaw::ForgetsWaiters {
            return Vec::new();
        }
        self.atomics = registers.may_request_atomics();
        let over = |wait: &Wait| {
            let Some(spot) = memories.readable(wait.line, 64) else { return true };
            let head = Head::from_word(spot.memory.word(spot.offset).load(Ordering::Acquire));
            head.is_held_by(wait.transaction) || !head.is_waiting(wait.place.slot)
        };
        let ended: Vec<_> =
            self.waits.iter().filter(|(_, wait)| over(wait)).map(|(&t, &w)| (t, w)).collect();
        let mut notices = Vec::new();
        for (tag, wait) in ended {
            self.waits.remove(&tag);
            let Wait { transaction, line, place } = wait;
            let outcome = self.run(transaction, line, Request::Poll(place), memories);
            let response = u64::from(tag) | bits(outcome) | transaction.word();
            count(response, false, registers, flaw);
            notices.push(if flaw == Flaw::MissesNotices { response } else { response | NOTICE });
        }
        notices
    }

    fn run(&self, transaction: Timestamp, line: u64, request: Request, m: &Memories) -> Outcome {
        let mut machine = Machine::new(transaction, request, Bounds::BUCKET);
        // On a table that was damaged a machine may find no end.
        for _ in 0..MOST_ACCESSES {
            let swaps = matches!(machine.access(), Access::CompareSwap { .. });
            let answer = match m.writable(line, 64).filter(|_| self.atomics || !swaps) {
                Some(spot) => perform(&spot, machine.access(), self.flaw),
                None => Answer::BusError,
            };
            if let Some(outcome) = machine.resume(answer) {
                return outcome;
            }
        }
        Outcome::BusError
    }
}

/// A response as a flawed unit gives it.
fn spoilt(response: u64, flaw: Flaw) -> u64 {
    let code = response >> 8 & 0xF;
    match flaw {
        Flaw::WrongPosition if code == QUEUED => response - (1 << 12),
        Flaw::SaysAgain if code == GRANTED => response | 1 << 7,
        Flaw::ReleasesForAll if code == NOT_HELD => response & 0x7F | RELEASED << 8,
        _ => response,
    }
}

/// Counts a response by its code.
fn count(response: u64, of_poll: bool, registers: &mut Registers, flaw: Flaw) {
    let code = response >> 8 & 0xF;
    let mut add = |counter: Counter| registers.count(LOCK_UNIT + counter.offset(), 1);
    match code {
        BUS_ERROR => add(lock_unit::BUS_ERRORS),
        NOT_HELD | TAG_BUSY | NOT_WAITING | BAD_REQUEST => add(lock_unit::REQUESTER_ERRORS),
        _ if of_poll => {}
        GRANTED => {
            add(lock_unit::GRANTED);
            if response >> 7 & 1 == 1 {
                add(lock_unit::GRANTED_AGAIN);
            }
        }
        QUEUED => add(lock_unit::QUEUED),
        RELEASED => {
            add(lock_unit::RELEASED);
            if response >> 16 != 0 && flaw != Flaw::Miscounts {
                add(lock_unit::HANDED_OVER);
            }
        }
        CANCELLED => add(lock_unit::CANCELLED),
        _ => add(lock_unit::REFUSED),
    }
}

fn perform(spot: &Spot, access: Access, flaw: Flaw) -> Answer {
    let word = |index: usize| spot.memory.word(spot.offset + 8 * index);
    match access {
        Access::LoadHead => Answer::Word(word(0).load(Ordering::Acquire)),
        Access::ReadLine => {
            Answer::Line(std::array::from_fn(|index| word(index).load(Ordering::Acquire)))
        }
        Access::Clear(_) if flaw == Flaw::LeavesSlots => Answer::Cleared,
        Access::CompareSwap { word: index, expected, new } if flaw == Flaw::TearsCompareSwap => {
            let old = word(index.into()).load(Ordering::Acquire);
            thread::sleep(Duration::from_micros(20));
            if old == expected {
                word(index.into()).store(new, Ordering::Release);
            }
            Answer::Word(old)
        }
        Access::CompareSwap { word: index, expected, new } => {
            let new = match flaw {
                Flaw::HandsOverToLast if index == 0 => overtaken(spot, expected, new),
                _ => new,
            };
            let word = word(index.into());
            let old = word.compare_exchange(expected, new, Ordering::AcqRel, Ordering::Acquire);
            Answer::Word(old.unwrap_or_else(|old| old))
        }
        Access::Clear(slot) => {
            word(slot.index()).store(0, Ordering::Release);
            Answer::Cleared
        }
    }
}

/// The head after a hand-over to who has come last, in the place of one to who has come first.
fn overtaken(spot: &Spot, expected: u64, new: u64) -> u64 {
    let (before, after) = (Head::from_word(expected), Head::from_word(new));
    let hands_over = before.has_waiters() && before.holder() != after.holder();
    match before.queue(Ring::FULL).last().filter(|_| hands_over) {
        Some(last) => {
            let next = spot.memory.word(spot.offset + 8 * last.index()).load(Ordering::Acquire);
            next | before.leave(last).word() & 0xFFC0
        }
        None => new,
    }
}

/// How a wait stands; the slot is left to its own request.
fn poll(wait: &Wait, memories: &Memories) -> u64 {
    let Some(spot) = memories.readable(wait.line, 64) else { return BUS_ERROR << 8 };
    let head = Head::from_word(spot.memory.word(spot.offset).load(Ordering::Acquire));
    match head.position(wait.place.slot, Ring::FULL) {
        _ if head.is_held_by(wait.transaction) => 0,
        Some(position) => QUEUED << 8 | u64::from(position) << 12,
        None => CANCELLED << 8,
    }
}

/// Code, again and position of an outcome, as a response has them.
fn bits(outcome: Outcome) -> u64 {
    let (code, again, position) = match outcome {
        Outcome::Granted { again } => (0, again, 0),
        Outcome::Queued { position, .. } => (QUEUED, false, position),
        Outcome::Refused(Refusal::Full) => (REFUSED_FULL, false, 0),
        Outcome::Refused(Refusal::Busy) => (3, false, 0),
        Outcome::Refused(Refusal::Die) => (4, false, 0),
        Outcome::Refused(Refusal::Contended) => (5, false, 0),
        Outcome::Released { .. } => (6, false, 0),
        Outcome::Cancelled => (CANCELLED, false, 0),
        Outcome::NotHeld => (8, false, 0),
        Outcome::BusError => (BUS_ERROR, false, 0),
    };
    u64::from(again) << 7 | code << 8 | u64::from(position) << 12
}
