// SPDX-License-Identifier: MIT OR Apache-2.0
//! Taking the lock, or a place in its queue.

use super::{Machine, Outcome, Phase, Place, Refusal, Request, Rule};
use crate::{Head, Ring, Slot, Timestamp};

impl Machine {
    #[inline]
    pub(super) fn after_take(&mut self, old: Head) -> Option<Outcome> {
        if old.is_held_by(self.transaction) {
            return Some(Outcome::Granted { again: true });
        }
        self.read_line(Phase::Look)
    }

    #[cold]
    pub(super) fn after_look(&mut self, line: &[u64; 8]) -> Option<Outcome> {
        let head = Head::from_word(line[0]);
        if head.is_held_by(self.transaction) {
            return Some(Outcome::Granted { again: true });
        }
        if head == Head::FREE {
            return self.count_round().or_else(|| self.go(Phase::Take));
        }
        let ring = self.bounds.ring;
        if let Some(slot) = slot_of(self.transaction, head, line, ring) {
            return Some(queued(head, Place { slot, shared: true }, ring));
        }
        if let Some(refusal) = self.refuses_to_wait(head, line) {
            return Some(Outcome::Refused(refusal));
        }
        let Some(slot) = head.entrance(line, ring) else {
            return Some(Outcome::Refused(Refusal::Full));
        };
        if let Some(end) = self.count_round() {
            return Some(end);
        }
        (self.head, self.slot) = (head, slot);
        self.go(Phase::Place)
    }

    #[cold]
    pub(super) fn after_place(&mut self, old: u64) -> Option<Outcome> {
        if old == 0 { self.go(Phase::Register) } else { self.read_line(Phase::Look) }
    }

    #[cold]
    pub(super) fn after_register(&mut self, old: Head) -> Option<Outcome> {
        let ring = self.bounds.ring;
        if old == self.head {
            let place = Place { slot: self.slot, shared: false };
            return Some(queued(self.head.register(self.slot), place, ring));
        }
        self.then = self.count_round();
        if self.then.is_some() || !self.may_still_enter(old) {
            return self.withdraw();
        }
        self.head = Head::FREE;
        self.go(Phase::Review)
    }

    /// The head has changed since the slot was chosen: another request of this transaction may have
    /// registered in the meantime, and so may an older transaction. Only the slots tell.
    #[cold]
    pub(super) fn after_review(&mut self, line: &[u64; 8]) -> Option<Outcome> {
        let head = Head::from_word(line[0]);
        let registered = slot_of(self.transaction, head, line, self.bounds.ring).is_some();
        if !self.may_still_enter(head) || registered || self.refuses_to_wait(head, line).is_some() {
            return self.withdraw();
        }
        self.head = head;
        self.go(Phase::Register)
    }

    /// Gives the placed slot back; then the end that was decided, or another look.
    pub(super) fn withdraw(&mut self) -> Option<Outcome> {
        self.head = Head::FREE;
        self.go(Phase::Withdraw)
    }

    fn may_still_enter(&self, head: Head) -> bool {
        !head.is_held_by(self.transaction) && head.may_enter(self.slot, self.bounds.ring)
    }

    #[cold]
    pub(super) fn after_withdraw(&mut self) -> Option<Outcome> {
        self.then.or_else(|| self.read_line(Phase::Look))
    }

    /// Another round begins; the end, if it is one too many.
    fn count_round(&mut self) -> Option<Outcome> {
        if self.bounds.rounds == 0 {
            return None;
        }
        if self.rounds == self.bounds.rounds {
            return Some(Outcome::Refused(Refusal::Contended));
        }
        self.rounds += 1;
        None
    }

    fn refuses_to_wait(&self, head: Head, line: &[u64; 8]) -> Option<Refusal> {
        match self.request {
            Request::Acquire(Rule::NoWait) => Some(Refusal::Busy),
            Request::Acquire(Rule::WaitDie) => {
                let older = |word: u64| Timestamp::of_word(word) < Some(self.transaction);
                let die = older(line[0])
                    || head.queue(self.bounds.ring).any(|slot| older(line[slot.index()]));
                die.then_some(Refusal::Die)
            }
            _ => None,
        }
    }
}

/// The registered slot of a transaction; of several, the one with the lowest number.
fn slot_of(transaction: Timestamp, head: Head, line: &[u64; 8], ring: Ring) -> Option<Slot> {
    let mine = |slot: &Slot| line[slot.index()] == transaction.word();
    ring.all().filter(|&slot| head.is_waiting(slot)).find(mine)
}

pub(super) fn queued(head: Head, place: Place, ring: Ring) -> Outcome {
    let position = head.position(place.slot, ring).expect("a queued request is registered");
    Outcome::Queued { place, position }
}
