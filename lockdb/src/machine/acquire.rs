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
            return Some(queued(head, Place { slot, guest: true }, ring));
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
            let place = Place { slot: self.slot, guest: false };
            return Some(queued(self.head.register(self.slot), place, ring));
        }
        self.then = self.count_round();
        // Wait-die has to look at the timestamps ahead again; plain queueing only needs the room.
        let may_wait = self.request == Request::Acquire(Rule::Queue)
            && !old.is_held_by(self.transaction)
            && old.may_enter(self.slot, ring);
        if self.then.is_none() && may_wait {
            self.head = old;
            return None;
        }
        self.go(Phase::Withdraw)
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

/// The registered slot of a transaction.
fn slot_of(transaction: Timestamp, head: Head, line: &[u64; 8], ring: Ring) -> Option<Slot> {
    head.queue(ring).find(|slot| line[slot.index()] == transaction.word())
}

pub(super) fn queued(head: Head, place: Place, ring: Ring) -> Outcome {
    let position = head.position(place.slot, ring).expect("a queued request is registered");
    Outcome::Queued { place, position }
}
