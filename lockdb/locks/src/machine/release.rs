// SPDX-License-Identifier: MIT OR Apache-2.0
//! Giving the lock back, or to the next in the queue.
//!
//! The hand-over is one compare-and-swap that names the next holder, so a grant is never in flight
//! and cannot be lost when an agent dies.

use super::{Machine, Outcome, Phase};
use crate::{Head, Timestamp};

/// The first waiter left between the read of word 0 and the read of its slot. (Software only: in
/// hardware the line is one snapshot.)
pub(super) struct Left;

/// The next waiter to be granted, according to the line.
pub(super) fn first_in_line(head: Head, line: &[u64; 8]) -> Result<Option<Timestamp>, Left> {
    match head.first() {
        None => Ok(None),
        Some(first) => Timestamp::of_word(line[first.index()]).map(Some).ok_or(Left),
    }
}

impl Machine {
    #[inline]
    pub(super) fn after_free(&mut self, old: Head) -> Option<Outcome> {
        if !old.is_held_by(self.transaction) {
            return Some(Outcome::NotHeld);
        }
        if old.has_waiters() {
            return self.read_line(Phase::Survey);
        }
        self.pass(old, None)
    }

    #[cold]
    pub(super) fn after_survey(&mut self, line: &[u64; 8]) -> Option<Outcome> {
        let head = Head::from_word(line[0]);
        if !head.is_held_by(self.transaction) {
            return Some(Outcome::NotHeld);
        }
        match first_in_line(head, line) {
            Ok(next) => self.pass(head, next),
            Err(Left) => self.read_line(Phase::Survey),
        }
    }

    #[cold]
    pub(super) fn after_hand_over(&mut self, old: Head) -> Option<Outcome> {
        if old == self.head {
            return Some(Outcome::Released { next: self.next });
        }
        self.read_line(Phase::Survey)
    }

    fn pass(&mut self, head: Head, next: Option<Timestamp>) -> Option<Outcome> {
        (self.head, self.next) = (head, next);
        self.go(Phase::HandOver)
    }
}
