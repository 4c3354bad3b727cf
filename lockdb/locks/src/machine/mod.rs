// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lock protocol as a pure machine: no memory, no clock, no threads.
//!
//! A [`Machine`] is one request on one bucket. It says which [`Access`] it wants next and is told
//! the [`Answer`], until it ends with an [`Outcome`]. Its driver supplies the memory: real atomics
//! ([`crate::LockTable`]), a simulated coherent memory, the log of the hardware's accesses, or the
//! model checker. `docs/lock-protocol.md` has the table of all phases.

mod acquire;
mod leave;
mod release;
mod repair;

pub use repair::{Repair, RepairStep};

use crate::{Head, Ring, Slot, Timestamp};

/// What a request may do to its bucket. Word 0 is the head, words 1 to 7 the slots.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// Read word 0. (Hardware reads the line and looks at word 0.)
    LoadHead,
    /// Read all eight words: in hardware one snapshot, in software word 0 first.
    ReadLine,
    /// Replace a word if it has the expected value; answered with the old word.
    CompareSwap {
        /// Index of the word, 0 to 7.
        word: u8,
        /// Replaced only if it has this value.
        expected: u64,
        /// The new value.
        new: u64,
    },
    /// Write 0 to a slot that only this request may change.
    Clear(Slot),
}

impl Access {
    /// Replaces the head.
    #[inline(always)]
    fn swap_head(expected: Head, new: Head) -> Self {
        Access::CompareSwap { word: 0, expected: expected.word(), new: new.word() }
    }
}

/// The outcome of an [`Access`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Answer {
    /// Of `LoadHead`: word 0. Of `CompareSwap`: the old word.
    Word(u64),
    /// Of `ReadLine`: all eight words.
    Line([u64; 8]),
    /// Of `Clear`: done.
    Cleared,
    /// The access failed on the bus and changed nothing.
    BusError,
}

/// The request of a requester.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Request {
    /// Take the lock or, if the rule allows, a place in its queue.
    Acquire(Rule),
    /// Give the lock back, or to the next in the queue.
    Release,
    /// Leave the queue.
    Cancel(Place),
    /// Ask how it stands.
    Poll(Place),
}

/// What to do when another transaction holds the lock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Rule {
    /// Wait in the queue.
    #[default]
    Queue,
    /// Do not wait.
    NoWait,
    /// Wait only when older than the holder and every waiter: no cycle of waiting can close.
    WaitDie,
}

/// Where a queued request waits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// Its slot.
    pub slot: Slot,
    /// The slot belongs to another request of the same transaction, which will clear it.
    pub shared: bool,
}

/// Why a request was refused. It holds nothing and waits nowhere.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Refusal {
    /// No slot was free, or the count of cancels has run out.
    Full,
    /// The rule is not to wait.
    Busy,
    /// Wait-die: an older transaction is ahead.
    Die,
    /// Others changed the bucket 255 times in between.
    Contended,
}

/// How a request ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[must_use]
pub enum Outcome {
    /// The transaction holds the lock.
    Granted {
        /// It held it before this request; it still releases once.
        again: bool,
    },
    /// The transaction waits.
    Queued {
        /// Where.
        place: Place,
        /// 1 is granted next.
        position: u8,
    },
    /// The transaction neither holds nor waits.
    Refused(Refusal),
    /// The lock is free, or belongs to `next` from now on.
    Released {
        /// The new holder of the lock.
        next: Option<Timestamp>,
    },
    /// The transaction has left the queue.
    Cancelled,
    /// Release of a lock that the transaction does not hold. Nothing was changed.
    NotHeld,
    /// An access failed on the bus.
    BusError,
}

/// What a request waits for. The numbers are the high bits of the hardware's AXI ids.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Phase {
    /// Acquire: the free head is replaced by ours.
    Take = 0,
    /// Acquire: the line is read to find a place.
    Look = 1,
    /// Acquire: our word goes into an empty slot.
    Place = 2,
    /// Acquire: the slot is registered in the head.
    Register = 3,
    /// Acquire: the slot that could not be registered is given back.
    Withdraw = 4,
    /// Release: the head that names us alone is replaced by the free one.
    Free = 5,
    /// Release: the line is read to find the next holder.
    Survey = 6,
    /// Release: the head passes to the next holder, or to nobody.
    HandOver = 7,
    /// Cancel and poll: the head is read.
    Inspect = 8,
    /// Cancel: the head forgets our slot.
    Leave = 9,
    /// Our slot, which the head no longer names, is cleared.
    Clear = 10,
    // 11 is Watch, by which the hardware reads the line of a waiter: no step of a request.
    /// Acquire: the head has changed since our word was placed, and the line is read again.
    Review = 12,
}

/// The size of the protocol: real buckets have [`Bounds::BUCKET`], the model checker less.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Bounds {
    /// The slots of the queue.
    pub ring: Ring,
    /// Failed rounds after which an acquire gives up; 0: it never does.
    pub rounds: u8,
}

impl Bounds {
    /// A 64-byte bucket, in software and in hardware.
    pub const BUCKET: Bounds = Bounds { ring: Ring::FULL, rounds: 255 };
}

/// One request on one bucket.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Machine {
    transaction: Timestamp,
    request: Request,
    bounds: Bounds,
    phase: Phase,
    /// The head that the next compare-and-swap of word 0 expects.
    head: Head,
    /// Acquire: the slot chosen. Cancel and poll: the slot waited in.
    slot: Slot,
    /// Release: the new holder of the lock.
    next: Option<Timestamp>,
    /// Withdraw and Clear: the end that follows; `None` is to look again.
    then: Option<Outcome>,
    rounds: u8,
}

impl Machine {
    /// A request at its start. [`Machine::access`] is its first access.
    #[inline]
    pub fn new(transaction: Timestamp, request: Request, bounds: Bounds) -> Self {
        let (phase, slot) = match request {
            Request::Acquire(_) => (Phase::Take, FIRST_SLOT),
            Request::Release => (Phase::Free, FIRST_SLOT),
            Request::Cancel(place) | Request::Poll(place) => (Phase::Inspect, place.slot),
        };
        let (head, next, then, rounds) = (Head::FREE, None, None, 0);
        Self { transaction, request, bounds, phase, head, slot, next, then, rounds }
    }

    /// The transaction that asks.
    pub fn transaction(&self) -> Timestamp {
        self.transaction
    }

    /// Its request.
    pub fn request(&self) -> Request {
        self.request
    }

    /// The event that it waits for.
    #[inline]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The access that it waits for.
    #[inline(always)]
    pub fn access(&self) -> Access {
        let mine = self.transaction.word();
        match self.phase {
            Phase::Take => Access::swap_head(Head::FREE, Head::held_by(self.transaction)),
            Phase::Look | Phase::Review | Phase::Survey => Access::ReadLine,
            Phase::Place => Access::CompareSwap { word: self.slot.get(), expected: 0, new: mine },
            Phase::Register => Access::swap_head(self.head, self.head.register(self.slot)),
            Phase::Free => Access::swap_head(Head::held_by(self.transaction), Head::FREE),
            Phase::HandOver => Access::swap_head(
                self.head,
                self.next.map_or(Head::FREE, |next| self.head.hand_over(next)),
            ),
            Phase::Inspect => Access::LoadHead,
            Phase::Leave => Access::swap_head(self.head, self.head.leave(self.slot)),
            Phase::Withdraw | Phase::Clear => Access::Clear(self.slot),
        }
    }

    /// The end of a request that found its bucket uncontended with its first access, as most do.
    /// No other part of the machine decides this, so that the fast path is one comparison.
    #[inline(always)]
    pub fn ends_at_once(&self, answer: Answer) -> Option<Outcome> {
        let mine = Head::held_by(self.transaction).word();
        match (self.phase, answer) {
            (Phase::Take, Answer::Word(old)) if old == Head::FREE.word() => {
                Some(Outcome::Granted { again: false })
            }
            (Phase::Free, Answer::Word(old)) if old == mine => {
                Some(Outcome::Released { next: None })
            }
            _ => None,
        }
    }

    /// Takes the answer to [`Machine::access`]; `None` when there is another access to be made.
    ///
    /// # Panics
    /// When the answer is not of the access's kind.
    #[inline]
    pub fn resume(&mut self, answer: Answer) -> Option<Outcome> {
        if let Some(end) = self.ends_at_once(answer) {
            return Some(end);
        }
        match (self.phase, answer) {
            (_, Answer::BusError) => self.after_bus_error(),
            (Phase::Take, Answer::Word(old)) => self.after_take(Head::from_word(old)),
            (Phase::Look, Answer::Line(line)) => self.after_look(&line),
            (Phase::Place, Answer::Word(old)) => self.after_place(old),
            (Phase::Register, Answer::Word(old)) => self.after_register(Head::from_word(old)),
            (Phase::Review, Answer::Line(line)) => self.after_review(&line),
            (Phase::Withdraw, Answer::Cleared) => self.after_withdraw(),
            (Phase::Free, Answer::Word(old)) => self.after_free(Head::from_word(old)),
            (Phase::Survey, Answer::Line(line)) => self.after_survey(&line),
            (Phase::HandOver, Answer::Word(old)) => self.after_hand_over(Head::from_word(old)),
            (Phase::Inspect, Answer::Word(head)) => self.after_inspect(Head::from_word(head)),
            (Phase::Leave, Answer::Word(old)) => self.after_leave(Head::from_word(old)),
            (Phase::Clear, Answer::Cleared) => self.then,
            (phase, answer) => panic!("{answer:?} is no answer to {phase:?}"),
        }
    }

    #[inline]
    fn go(&mut self, phase: Phase) -> Option<Outcome> {
        self.phase = phase;
        None
    }

    /// Reads the line (again); what was known of it is forgotten.
    fn read_line(&mut self, phase: Phase) -> Option<Outcome> {
        (self.head, self.slot, self.next) = (Head::FREE, FIRST_SLOT, None);
        self.go(phase)
    }

    /// The access changed nothing, so only a slot that was placed before has to be given back.
    #[cold]
    fn after_bus_error(&mut self) -> Option<Outcome> {
        if matches!(self.phase, Phase::Register | Phase::Review) {
            self.then = Some(Outcome::BusError);
            return self.withdraw();
        }
        Some(Outcome::BusError)
    }
}

const FIRST_SLOT: Slot = Slot::new(1).unwrap();
