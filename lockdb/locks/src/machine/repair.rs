// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's repair of a bucket after a device died: it leaves queues and releases locks on behalf
//! of the dead transactions.
//!
//! No bucket is ever left half-changed, because every decision is one compare-and-swap of word 0;
//! a dead transaction leaves only its own words behind: a place in the queue, a slot placed but
//! not registered, a slot granted but not cleared, or the lock itself.

use super::release::{Left, first_in_line};
use super::{Access, Answer, Bounds};
use crate::{Head, Slot, Timestamp};

/// Takes one dead transaction out of one bucket, as [`super::Machine`] runs one request.
///
/// The caller guarantees that none of the dead transaction's accesses are still on their way (the
/// device has been reset, or its link is down).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Repair {
    dead: Timestamp,
    bounds: Bounds,
    state: State,
    changed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum State {
    Survey,
    /// The dead waiter is taken out of the queue.
    Evict {
        head: Head,
        slot: Slot,
    },
    /// A slot of the dead that the head does not name is cleared.
    Wipe(Slot),
    /// The dead holder's lock passes on.
    Pass {
        head: Head,
        next: Option<Timestamp>,
    },
}

/// How a [`Repair`] continues.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RepairStep {
    /// There is another access to be made.
    Continue,
    /// The bucket holds nothing of the dead transaction.
    Done {
        /// Whether there was anything.
        changed: bool,
        /// A live or dead waiter that was handed the lock, and has to be woken or repaired in turn.
        next: Option<Timestamp>,
    },
    /// An access failed; the bucket may still hold words of the dead.
    BusError,
}

impl Repair {
    /// The repair of one bucket from one dead transaction.
    pub fn new(dead: Timestamp, bounds: Bounds) -> Self {
        Self { dead, bounds, state: State::Survey, changed: false }
    }

    /// The access that it waits for.
    pub fn access(&self) -> Access {
        match self.state {
            State::Survey => Access::ReadLine,
            State::Evict { head, slot } => Access::swap_head(head, head.leave(slot)),
            State::Wipe(slot) => Access::Clear(slot),
            State::Pass { head, next } => {
                Access::swap_head(head, next.map_or(Head::FREE, |next| head.hand_over(next)))
            }
        }
    }

    /// Takes the answer to [`Repair::access`].
    ///
    /// # Panics
    /// When the answer is not of the access's kind.
    pub fn resume(&mut self, answer: Answer) -> RepairStep {
        match (self.state, answer) {
            (_, Answer::BusError) => RepairStep::BusError,
            (State::Survey, Answer::Line(line)) => self.survey(&line),
            (State::Evict { .. }, Answer::Word(_)) => self.go(State::Survey),
            (State::Wipe(_), Answer::Cleared) => {
                self.changed = true;
                self.go(State::Survey)
            }
            (State::Pass { head, next }, Answer::Word(old)) if old == head.word() => {
                RepairStep::Done { changed: true, next }
            }
            (State::Pass { .. }, Answer::Word(_)) => self.go(State::Survey),
            (state, answer) => panic!("{answer:?} is no answer to {state:?}"),
        }
    }

    fn go(&mut self, state: State) -> RepairStep {
        self.state = state;
        RepairStep::Continue
    }

    /// First the slots, so that the lock is never handed to a dead waiter of the same name; the
    /// lock last.
    fn survey(&mut self, line: &[u64; 8]) -> RepairStep {
        let head = Head::from_word(line[0]);
        if let Some(slot) =
            self.bounds.ring.all().find(|slot| line[slot.index()] == self.dead.word())
        {
            return self.go(match head.is_waiting(slot) {
                true => State::Evict { head, slot },
                false => State::Wipe(slot),
            });
        }
        if !head.is_held_by(self.dead) {
            return RepairStep::Done { changed: self.changed, next: None };
        }
        match first_in_line(head, line) {
            Ok(next) => self.go(State::Pass { head, next }),
            Err(Left) => self.go(State::Survey),
        }
    }
}
