// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device model's lock unit: one machine of `locks` after the other, each run to its end at once.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use driver::lock_unit::stream::{Code, Tag, UnitOperation, UnitRequest, UnitResponse};
use driver::map::device::LOCK_UNIT;
use driver::map::{Counter, lock_unit};
use locks::machine::{Access, Answer, Bounds, Machine, Outcome, Place, Refusal, Request};
use locks::{Head, Ring, Timestamp, TupleKey};

use super::Mutant;
use super::memory::{Memories, Spot};
use super::registers::Registers;

#[derive(Default)]
pub struct Locks {
    waits: BTreeMap<Tag, Wait>,
    mutant: Mutant,
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

impl Locks {
    pub fn has_waiters(&self) -> bool {
        !self.waits.is_empty()
    }

    /// Executes one request; gives its response.
    pub fn request(
        &mut self,
        beat: [u64; 3],
        registers: &mut Registers,
        m: &Memories,
    ) -> UnitResponse {
        registers.count(LOCK_UNIT + lock_unit::REQUESTS.offset(), 1);
        self.atomics = registers.may_request_atomics();
        let (tag, own) = (Tag::of_request(beat), Timestamp::of_word(beat[0]));
        if self.waits.contains_key(&tag) {
            return UnitResponse::plain(tag, Code::TagBusy, own);
        }
        let Some(UnitRequest { transaction, operation, .. }) = UnitRequest::decode(beat) else {
            return UnitResponse::plain(tag, Code::BadRequest, own);
        };
        let outcome = match operation {
            UnitOperation::Acquire(..) if self.mutant == Mutant::SaysFull => {
                return UnitResponse::plain(tag, Code::RefusedFull, own);
            }
            UnitOperation::Acquire(key, rule) => {
                let line = line(key, registers);
                let outcome = self.run(transaction, line, Request::Acquire(rule), m);
                if let Outcome::Queued { place, .. } = outcome {
                    self.waits.insert(tag, Wait { transaction, line, place });
                }
                outcome
            }
            UnitOperation::Release(key) => {
                self.run(transaction, line(key, registers), Request::Release, m)
            }
            UnitOperation::Cancel(target) | UnitOperation::Poll(target) => {
                let wait = self.waits.get(&target).copied();
                let Some(wait) = wait.filter(|wait| wait.transaction == transaction) else {
                    return UnitResponse::plain(tag, Code::NotWaiting, own);
                };
                if matches!(operation, UnitOperation::Poll(_)) {
                    return poll(tag, &wait, m);
                }
                let outcome = self.run(transaction, wait.line, Request::Cancel(wait.place), m);
                self.waits.remove(&target);
                outcome
            }
        };
        response(tag, transaction, outcome)
    }

    /// What a response brings about beside itself; gives it as it is told.
    pub fn after(
        &mut self,
        response: UnitResponse,
        of_poll: bool,
        registers: &mut Registers,
        vectors: &mut Vec<usize>,
        mutant: Mutant,
    ) -> UnitResponse {
        self.mutant = mutant;
        let response = spoilt(response, mutant);
        count(response, of_poll, registers, mutant);
        let (status, enable) = (lock_unit::ISR.offset(), lock_unit::IER.offset());
        if response.code == Code::BusError && registers.get(LOCK_UNIT + status) & 1 == 0 {
            registers.set(LOCK_UNIT + status, 1);
            let on = registers.get(LOCK_UNIT + enable) & 1 == 1
                && registers.get(LOCK_UNIT + lock_unit::GIE.offset()) & 1 == 1;
            if on && mutant != Mutant::HidesBusErrors {
                vectors.push(3);
            }
        }
        response
    }

    /// Looks at the lines of all waiters; gives the notices of those that have their lock.
    pub fn look(
        &mut self,
        registers: &mut Registers,
        memories: &Memories,
        mutant: Mutant,
    ) -> Vec<UnitResponse> {
        if mutant == Mutant::ForgetsWaiters {
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
            let response = response(tag, transaction, outcome);
            count(response, false, registers, mutant);
            notices.push(UnitResponse { notice: mutant != Mutant::MissesNotices, ..response });
        }
        notices
    }

    fn run(&self, transaction: Timestamp, line: u64, request: Request, m: &Memories) -> Outcome {
        let mut machine = Machine::new(transaction, request, Bounds::BUCKET);
        // On a table that was damaged a machine may find no end.
        for _ in 0..MOST_ACCESSES {
            let swaps = matches!(machine.access(), Access::CompareSwap { .. });
            let answer = match m.writable(line, 64).filter(|_| self.atomics || !swaps) {
                Some(spot) => perform(&spot, machine.access(), self.mutant),
                None => Answer::BusError,
            };
            if let Some(outcome) = machine.resume(answer) {
                return outcome;
            }
        }
        Outcome::BusError
    }
}

/// The line of the table that a key belongs to.
fn line(key: TupleKey, registers: &Registers) -> u64 {
    let base = registers.pair(LOCK_UNIT + lock_unit::TABLE_BASE.offset());
    let log2 = registers.get(LOCK_UNIT + lock_unit::TABLE_LOG2_BUCKETS.offset());
    base + 64 * (key.mix() & ((1 << log2) - 1))
}

/// A response as a flawed unit gives it.
fn spoilt(response: UnitResponse, mutant: Mutant) -> UnitResponse {
    match (mutant, response.code) {
        (Mutant::WrongPosition, Code::Queued) => {
            UnitResponse { position: response.position - 1, ..response }
        }
        (Mutant::SaysAgain, Code::Granted) => UnitResponse { again: true, ..response },
        (Mutant::ReleasesForAll, Code::NotHeld) => {
            UnitResponse::plain(response.tag, Code::Released, None)
        }
        _ => response,
    }
}

/// Counts a response by its code.
fn count(response: UnitResponse, of_poll: bool, registers: &mut Registers, mutant: Mutant) {
    let mut add = |counter: Counter| registers.count(LOCK_UNIT + counter.offset(), 1);
    match response.code {
        Code::BusError => add(lock_unit::BUS_ERRORS),
        Code::NotHeld | Code::TagBusy | Code::NotWaiting | Code::BadRequest => {
            add(lock_unit::REQUESTER_ERRORS);
        }
        _ if of_poll => {}
        Code::Granted => {
            add(lock_unit::GRANTED);
            if response.again {
                add(lock_unit::GRANTED_AGAIN);
            }
        }
        Code::Queued => add(lock_unit::QUEUED),
        Code::Released => {
            add(lock_unit::RELEASED);
            if response.transaction.is_some() && mutant != Mutant::Miscounts {
                add(lock_unit::HANDED_OVER);
            }
        }
        Code::Cancelled => add(lock_unit::CANCELLED),
        Code::RefusedFull | Code::RefusedBusy | Code::RefusedDie | Code::RefusedContended => {
            add(lock_unit::REFUSED);
        }
    }
}

fn perform(spot: &Spot, access: Access, mutant: Mutant) -> Answer {
    let word = |index: usize| spot.memory.word(spot.offset + 8 * index);
    match access {
        Access::LoadHead => Answer::Word(word(0).load(Ordering::Acquire)),
        Access::ReadLine => {
            Answer::Line(std::array::from_fn(|index| word(index).load(Ordering::Acquire)))
        }
        Access::Clear(_) if mutant == Mutant::LeavesSlots => Answer::Cleared,
        Access::CompareSwap { word: index, expected, new }
            if mutant == Mutant::TearsCompareSwap =>
        {
            let old = word(index.into()).load(Ordering::Acquire);
            thread::sleep(Duration::from_micros(20));
            if old == expected {
                word(index.into()).store(new, Ordering::Release);
            }
            Answer::Word(old)
        }
        Access::CompareSwap { word: index, expected, new } => {
            let new = match mutant {
                Mutant::HandsOverToLast if index == 0 => overtaken(spot, expected, new),
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

/// The head after a hand-over to the last waiter instead of the first.
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
fn poll(tag: Tag, wait: &Wait, memories: &Memories) -> UnitResponse {
    let own = Some(wait.transaction);
    let Some(spot) = memories.readable(wait.line, 64) else {
        return UnitResponse::plain(tag, Code::BusError, own);
    };
    let head = Head::from_word(spot.memory.word(spot.offset).load(Ordering::Acquire));
    match head.position(wait.place.slot, Ring::FULL) {
        _ if head.is_held_by(wait.transaction) => UnitResponse::plain(tag, Code::Granted, own),
        Some(position) => UnitResponse { position, ..UnitResponse::plain(tag, Code::Queued, own) },
        None => UnitResponse::plain(tag, Code::Cancelled, own),
    }
}

/// The response that tells an outcome.
fn response(tag: Tag, transaction: Timestamp, outcome: Outcome) -> UnitResponse {
    let own = Some(transaction);
    let plain = |code| UnitResponse::plain(tag, code, own);
    match outcome {
        Outcome::Granted { again } => UnitResponse { again, ..plain(Code::Granted) },
        Outcome::Queued { position, .. } => UnitResponse { position, ..plain(Code::Queued) },
        Outcome::Refused(Refusal::Full) => plain(Code::RefusedFull),
        Outcome::Refused(Refusal::Busy) => plain(Code::RefusedBusy),
        Outcome::Refused(Refusal::Die) => plain(Code::RefusedDie),
        Outcome::Refused(Refusal::Contended) => plain(Code::RefusedContended),
        Outcome::Released { next } => UnitResponse { transaction: next, ..plain(Code::Released) },
        Outcome::Cancelled => plain(Code::Cancelled),
        Outcome::NotHeld => plain(Code::NotHeld),
        Outcome::BusError => plain(Code::BusError),
    }
}
