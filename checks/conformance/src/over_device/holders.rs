// SPDX-License-Identifier: MIT OR Apache-2.0
//! The holders and waiters of each lock, according to what the agents were told: exclusion and
//! order, as far as software can see them.

use std::collections::BTreeMap;

use locks::{Head, Ring, Timestamp};

use crate::mismatch::{MismatchError, Property};

/// An acquire that is open, on either side.
#[derive(Clone, Copy, Debug)]
struct Wait {
    line: usize,
    transaction: Timestamp,
    /// Before the request was on its way.
    asked: u64,
    /// After it was known that it waits.
    queued: Option<u64>,
    /// A cancel was requested for it, so it may lose its place.
    leaving: bool,
}

/// What the agents know of locks and queues.
#[derive(Clone, Debug)]
pub(super) struct Holders {
    owners: Vec<Option<Timestamp>>,
    waits: BTreeMap<u64, Wait>,
    /// Counts what happens, to distinguish before and after.
    moment: u64,
}

impl Holders {
    pub fn new(lines: usize) -> Self {
        Self { owners: vec![None; lines], waits: BTreeMap::new(), moment: 0 }
    }

    pub fn owner(&self, line: usize) -> Option<Timestamp> {
        self.owners[line]
    }

    /// Whether the transaction has another acquire open for the line.
    pub fn has_another(&self, serial: u64, line: usize, transaction: Timestamp) -> bool {
        let same = |wait: &Wait| wait.line == line && wait.transaction == transaction;
        self.waits.iter().any(|(&other, wait)| other != serial && same(wait))
    }

    pub fn asks(&mut self, serial: u64, line: usize, transaction: Timestamp) {
        self.moment += 1;
        let (asked, queued, leaving) = (self.moment, None, false);
        self.waits.insert(serial, Wait { line, transaction, asked, queued, leaving });
    }

    pub fn queued(&mut self, serial: u64) {
        self.moment += 1;
        if let Some(wait) = self.waits.get_mut(&serial) {
            wait.queued = Some(self.moment);
        }
    }

    /// A cancel of one of the transaction's waits is on its way: all of them may end by it.
    pub fn may_leave(&mut self, transaction: Timestamp) {
        for wait in self.waits.values_mut().filter(|wait| wait.transaction == transaction) {
            wait.leaving = true;
        }
    }

    /// Whether a cancel has been asked for that may have ended this wait.
    pub fn is_leaving(&self, serial: u64) -> bool {
        self.waits.get(&serial).is_some_and(|wait| wait.leaving)
    }

    /// An acquire has ended without the lock.
    pub fn ends(&mut self, serial: u64) {
        self.waits.remove(&serial);
    }

    /// An agent was told that it holds the lock, for the acquire `serial`.
    pub fn granted(
        &mut self,
        now: u64,
        serial: u64,
        line: usize,
        head: u64,
    ) -> Result<(), MismatchError> {
        let Some(wait) = self.waits.remove(&serial) else {
            let found = format!("acquire {serial} of line {line} granted after its end");
            return Err(MismatchError::new(now, Property::Lock, "one end of each acquire", found));
        };
        let Wait { transaction, .. } = wait;
        let owner = self.owners[line];
        let named = Head::from_word(head).is_held_by(transaction);
        if owner.is_some_and(|owner| owner != transaction) || !named {
            let head = Head::from_word(head);
            let found = format!(
                "T{transaction} granted line {line} while {owner:?} has it and the head is {head:?}"
            );
            let expected = "one holder at a time, named by the head";
            return Err(MismatchError::new(now, Property::Lock, expected, found));
        }
        self.in_order(now, serial, wait)?;
        self.owners[line] = Some(transaction);
        Ok(())
    }

    /// A request that was known to wait before this one was submitted is granted first. Requests of
    /// one transaction share a place, and a cancel gives one up: nothing is said of those.
    fn in_order(&self, now: u64, serial: u64, wait: Wait) -> Result<(), MismatchError> {
        let Wait { line, transaction, asked, .. } = wait;
        let again = self.owners[line] == Some(transaction);
        if again || self.has_another(serial, line, transaction) {
            return Ok(());
        }
        let before = |other: u64, earlier: &Wait| {
            earlier.line == line
                && earlier.queued.is_some_and(|queued| queued < asked)
                && !earlier.leaving
                && !self.has_another(other, line, earlier.transaction)
        };
        match self.waits.iter().find(|(other, earlier)| before(**other, earlier)) {
            None => Ok(()),
            Some((_, earlier)) => {
                let found = format!(
                    "T{transaction} granted line {line}, for which T{} waited already when it asked",
                    earlier.transaction
                );
                let expected = "the lock passes to who has waited longest";
                Err(MismatchError::new(now, Property::Lock, expected, found))
            }
        }
    }

    /// An agent is about to release a lock; says whether it has it.
    pub fn lets_go(&mut self, line: usize, transaction: Timestamp) -> bool {
        let owner = &mut self.owners[line];
        let had = *owner == Some(transaction);
        if had {
            *owner = None;
        }
        had
    }

    /// The invariants of a head.
    pub fn check_head(&self, now: u64, line: usize, word: u64) -> Result<(), MismatchError> {
        let head = Head::from_word(word);
        let wrong = |property, expected: &str| {
            let found = format!("the head of line {line} is {head:?} ({word:#x})");
            Err(MismatchError::new(now, property, expected, found))
        };
        if let Err(expected) = head.check(Ring::FULL) {
            return wrong(Property::Bucket, expected);
        }
        match self.owners[line] {
            Some(owner) if !head.is_held_by(owner) => {
                wrong(Property::Lock, &format!("held by T{owner}, which was granted it"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(number: u64) -> Timestamp {
        Timestamp::new(number).unwrap()
    }

    fn held(number: u64) -> u64 {
        Head::held_by(t(number)).word()
    }

    #[test]
    fn two_are_not_granted_one_lock() {
        let mut holders = Holders::new(1);
        holders.asks(1, 0, t(1));
        holders.asks(2, 0, t(2));
        holders.granted(0, 1, 0, held(1)).unwrap();
        assert!(holders.clone().granted(0, 2, 0, held(2)).is_err());
        assert!(holders.lets_go(0, t(1)));
        holders.granted(0, 2, 0, held(2)).unwrap();
    }

    #[test]
    fn a_grant_that_memory_does_not_show_is_none() {
        let mut holders = Holders::new(1);
        holders.asks(1, 0, t(1));
        assert!(holders.granted(0, 1, 0, held(2)).is_err());
    }

    #[test]
    fn nobody_overtakes_who_was_known_to_wait() {
        let mut holders = Holders::new(1);
        holders.asks(1, 0, t(1));
        holders.queued(1);
        holders.asks(2, 0, t(2));
        assert!(holders.clone().granted(0, 2, 0, held(2)).is_err());
        // A cancel is on its way: it may have left.
        holders.may_leave(t(1));
        holders.granted(0, 2, 0, held(2)).unwrap();
    }

    #[test]
    fn a_head_names_who_was_granted() {
        let mut holders = Holders::new(1);
        holders.asks(1, 0, t(1));
        holders.granted(0, 1, 0, held(1)).unwrap();
        assert!(holders.check_head(0, 0, held(1)).is_ok());
        assert!(holders.check_head(0, 0, held(2)).is_err());
        assert!(holders.check_head(0, 0, 1).is_err());
    }
}
