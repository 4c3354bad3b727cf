// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asking how a queued request stands, and leaving the queue.
//!
//! Both need word 0 only: it names the holder and tells which slots wait, and the slot is the
//! request's own until the request clears it.

use super::{Machine, Outcome, Phase, Place, Request, acquire::queued};
use crate::Head;

impl Machine {
    pub(super) fn after_inspect(&mut self, head: Head) -> Option<Outcome> {
        let (Request::Cancel(place) | Request::Poll(place)) = self.request else {
            unreachable!("only cancel and poll inspect");
        };
        if head.is_held_by(self.transaction) {
            // Another request of this transaction was granted first: it must not wait for itself.
            if head.is_waiting(place.slot) && !place.shared {
                return self.leave(head);
            }
            return self.end(place, Outcome::Granted { again: false });
        }
        if !head.is_waiting(place.slot) {
            return self.end(place, Outcome::Cancelled);
        }
        match self.request {
            Request::Poll(_) => Some(queued(head, place, self.bounds.ring)),
            // The owner continues waiting; the shared waiter alone gives up.
            _ if place.shared => Some(Outcome::Cancelled),
            _ => self.leave(head),
        }
    }

    fn leave(&mut self, head: Head) -> Option<Outcome> {
        self.head = head;
        self.go(Phase::Leave)
    }

    pub(super) fn after_leave(&mut self, old: Head) -> Option<Outcome> {
        if old != self.head {
            return self.after_inspect(old);
        }
        let holds = old.is_held_by(self.transaction);
        self.clear(if holds { Outcome::Granted { again: false } } else { Outcome::Cancelled })
    }

    /// The head no longer names the slot: its owner clears it.
    fn end(&mut self, place: Place, outcome: Outcome) -> Option<Outcome> {
        if place.shared { Some(outcome) } else { self.clear(outcome) }
    }

    fn clear(&mut self, outcome: Outcome) -> Option<Outcome> {
        self.head = Head::FREE;
        self.then = Some(outcome);
        self.go(Phase::Clear)
    }
}
