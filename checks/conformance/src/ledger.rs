// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reference memory: the lines of the table, with the invariants that are checked at every
//! change.

use std::collections::VecDeque;

use locks::machine::{Access, Answer};
use locks::{Head, Ring, Slot, Timestamp};

use crate::mismatch::{MismatchError, Property};

const RING: Ring = Ring::FULL;

/// The lines as the sequence of accesses makes them.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    lines: Vec<Line>,
}

#[derive(Clone, Debug, Default)]
struct Line {
    words: [u64; 8],
    /// The registered waiters in the order in which they registered, by what the head told then.
    queue: VecDeque<Timestamp>,
    /// The agent that was told that it holds the lock and has not requested its release.
    owner: Option<Timestamp>,
}

impl Ledger {
    pub fn new(lines: usize) -> Self {
        Self { lines: vec![Line::default(); lines] }
    }

    pub fn words(&self, line: usize) -> [u64; 8] {
        self.lines[line].words
    }

    /// Performs an access.
    pub fn perform(
        &mut self,
        cycle: u64,
        line: usize,
        access: Access,
    ) -> Result<Answer, MismatchError> {
        let words = self.lines[line].words;
        match access {
            Access::LoadHead => Ok(Answer::Word(words[0])),
            Access::ReadLine => Ok(Answer::Line(words)),
            Access::CompareSwap { word, expected, new } => {
                let old = words[usize::from(word)];
                if old == expected {
                    self.write(cycle, line, usize::from(word), new)?;
                }
                Ok(Answer::Word(old))
            }
            Access::Clear(slot) => {
                self.write(cycle, line, slot.index(), 0)?;
                Ok(Answer::Cleared)
            }
        }
    }

    /// An agent was told that it holds the lock of a line.
    pub fn granted(&mut self, cycle: u64, line: usize, to: Timestamp) -> Result<(), MismatchError> {
        let state = &mut self.lines[line];
        let expected = "one holder at a time, named by the head";
        if state.owner.is_some_and(|owner| owner != to)
            || !Head::from_word(state.words[0]).is_held_by(to)
        {
            let found = format!(
                "T{to} granted line {line} while {:?} has it and the head is {:?}",
                state.owner,
                Head::from_word(state.words[0])
            );
            return Err(MismatchError::new(cycle, Property::Lock, expected, found));
        }
        state.owner = Some(to);
        Ok(())
    }

    /// An agent is about to give the lock of a line back.
    pub fn lets_go(&mut self, line: usize, who: Timestamp) {
        let owner = &mut self.lines[line].owner;
        if *owner == Some(who) {
            *owner = None;
        }
    }

    fn write(
        &mut self,
        cycle: u64,
        line: usize,
        word: usize,
        new: u64,
    ) -> Result<(), MismatchError> {
        let state = &mut self.lines[line];
        let before = Head::from_word(state.words[0]);
        state.words[word] = new;
        let wrong = |state: &Line, property, expected: &str| {
            let head = Head::from_word(state.words[0]);
            let found = format!("line {line} is {:x?}: {head:?}, after {before:?}", state.words);
            MismatchError::new(cycle, property, expected, found)
        };
        state.check().map_err(|expected| wrong(state, Property::Bucket, expected))?;
        if word == 0 {
            state.follow(before).map_err(|expected| wrong(state, Property::Lock, expected))?;
        }
        Ok(())
    }
}

impl Line {
    /// The invariants of every line: `docs/lock-protocol.md`, "Words".
    fn check(&self) -> Result<(), &'static str> {
        let head = Head::from_word(self.words[0]);
        head.check(RING)?;
        for slot in RING.all() {
            let word = self.words[slot.index()];
            match Timestamp::of_word(word) {
                _ if word & 0xFFFF != 0 => return Err("a slot holds a timestamp and no more"),
                None if head.is_waiting(slot) => return Err("a registered slot names its waiter"),
                Some(owner) if head.is_waiting(slot) && head.is_held_by(owner) => {
                    return Err("a transaction never waits for itself");
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Follows one change of the head: a waiter entered, left, or was granted.
    fn follow(&mut self, before: Head) -> Result<(), &'static str> {
        let after = Head::from_word(self.words[0]);
        let name = |slot: Slot| Timestamp::of_word(self.words[slot.index()]);
        let entered: Vec<_> =
            RING.all().filter(|&s| after.is_waiting(s) && !before.is_waiting(s)).collect();
        let left: Vec<_> =
            RING.all().filter(|&s| !after.is_waiting(s) && before.is_waiting(s)).collect();
        let passes = before.holder() != after.holder();
        if self.owner.is_some() && after.holder() != self.owner {
            return Err("who was granted the lock holds it until its release");
        }
        match (passes, before.holder(), after.holder()) {
            (true, Some(_), Some(next)) => {
                let first = self.queue.pop_front();
                let alone = left.len() == 1 && entered.is_empty();
                if first != Some(next) || !alone {
                    return Err("the lock passes to who has waited longest");
                }
            }
            (true, ..) if !self.queue.is_empty() => return Err("nobody waits for a free lock"),
            (true, ..) => {}
            (false, ..) => {
                self.queue.extend(entered.iter().filter_map(|&slot| name(slot)));
                for slot in left {
                    let leaver = name(slot);
                    self.queue.retain(|&waiter| Some(waiter) != leaver);
                }
            }
        }
        let told: Vec<_> = after.queue(RING).filter_map(name).collect();
        if self.queue != told {
            return Err("the ring is in the order in which the waiters registered");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(number: u64) -> Timestamp {
        Timestamp::new(number).unwrap()
    }

    fn swap(word: u8, expected: Head, new: Head) -> Access {
        Access::CompareSwap { word, expected: expected.word(), new: new.word() }
    }

    /// T1 holds the line, T2 and T3 wait in the slots 1 and 2.
    fn queue() -> (Ledger, Head) {
        let mut ledger = Ledger::new(1);
        let (one, two) = (Slot::new(1).unwrap(), Slot::new(2).unwrap());
        let held = Head::held_by(t(1));
        let first = held.register(one);
        let second = first.register(two);
        for access in [
            swap(0, Head::FREE, held),
            swap(1, Head::FREE, Head::held_by(t(2))),
            swap(0, held, first),
            swap(2, Head::FREE, Head::held_by(t(3))),
            swap(0, first, second),
        ] {
            ledger.perform(0, 0, access).unwrap();
        }
        (ledger, second)
    }

    fn property(result: Result<Answer, MismatchError>) -> Property {
        result.expect_err("a mismatch").property
    }

    #[test]
    fn the_lock_passes_to_who_has_waited_longest() {
        let (mut ledger, head) = queue();
        let right = head.hand_over(t(2));
        let wrong = head.hand_over(t(3));
        assert_eq!(property(ledger.clone().perform(0, 0, swap(0, head, wrong))), Property::Bucket);
        assert_eq!(ledger.perform(0, 0, swap(0, head, right)), Ok(Answer::Word(head.word())));
    }

    #[test]
    fn nobody_overtakes() {
        let (mut ledger, head) = queue();
        // `first` jumps to slot 2.
        let jumped = Head::from_word(head.word() & !(7 << 6) | 2 << 6);
        assert_eq!(property(ledger.perform(0, 0, swap(0, head, jumped))), Property::Lock);
    }

    #[test]
    fn a_lock_is_not_taken_from_its_owner() {
        let (mut ledger, head) = queue();
        ledger.granted(0, 0, t(1)).unwrap();
        let next = head.hand_over(t(2));
        let taken = ledger.clone().perform(0, 0, swap(0, head, next));
        assert_eq!(property(taken), Property::Lock);
        assert!(ledger.granted(0, 0, t(2)).is_err(), "two owners");
        ledger.lets_go(0, t(1));
        ledger.perform(0, 0, swap(0, head, next)).unwrap();
        ledger.granted(0, 0, t(2)).unwrap();
    }

    #[test]
    fn a_registered_slot_is_not_cleared() {
        let (mut ledger, _) = queue();
        let cleared = ledger.perform(0, 0, Access::Clear(Slot::new(1).unwrap()));
        assert_eq!(property(cleared), Property::Bucket);
    }
}
