// SPDX-License-Identifier: MIT OR Apache-2.0
//! Word 0 of a bucket: the holder of the lock and its waiters, in one word.
//!
//! | bits | field | meaning |
//! |---|---|---|
//! | 63:16 | `holder` | timestamp of the holder; 0 means free |
//! | 15:9 | `waiting` | bit 8+p is set when slot p (1 to 7) is a registered waiter |
//! | 8:6 | `first` | slot of the next to be granted; 0 if there is no waiter |
//! | 5:0 | `cancels` | waiters that left during this holder's tenure; stops at 63 |
//!
//! `cancels` is what makes a hand-over safe: between the holder's read of slot `first` and its
//! compare-and-swap, that slot can only have changed hands if a waiter left, and then the word is
//! another one. It never wraps: once it is 63, no request may enter until the lock has been handed
//! over or freed, so no slot changes hands unnoticed.

use std::fmt;

use crate::Timestamp;

/// A place in the queue of a bucket: word 1 to 7 of its line.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Slot(u8);

impl Slot {
    /// The slot with this number; `None` unless it is 1 to 7.
    pub const fn new(number: u8) -> Option<Self> {
        if number >= 1 && number <= 7 { Some(Self(number)) } else { None }
    }

    /// The number, 1 to 7; also the index of its word in the line.
    #[inline]
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The index of its word in the line.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The slots of a bucket as a ring: 1 → 2 → … → `slots` → 1.
///
/// Real tables have seven. The model checker uses fewer, so that a few agents fill the queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ring {
    slots: u8,
}

impl Ring {
    /// The ring of a 64-byte bucket.
    pub const FULL: Ring = Ring { slots: 7 };

    /// A ring of 1 to 7 slots; `None` for other lengths.
    pub const fn new(slots: u8) -> Option<Self> {
        if slots >= 1 && slots <= 7 { Some(Self { slots }) } else { None }
    }

    /// All slots, from the one after `start` round to `start` itself.
    fn after(self, start: Slot) -> impl Iterator<Item = Slot> {
        (1..=self.slots).map(move |step| Slot((start.0 - 1 + step) % self.slots + 1))
    }

    /// All slots, from `start` round to the one before it.
    fn from(self, start: Slot) -> impl Iterator<Item = Slot> {
        (0..self.slots).map(move |step| Slot((start.0 - 1 + step) % self.slots + 1))
    }

    /// All slots in the order of their numbers.
    pub fn all(self) -> impl Iterator<Item = Slot> {
        self.from(Slot(1))
    }
}

/// Word 0 of a bucket. See the module for its fields.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Head(u64);

impl Head {
    /// Nobody holds the lock; nobody waits.
    pub const FREE: Head = Head(0);
    /// Where the count of cancels stops.
    pub const MOST_CANCELS: u8 = 63;

    /// The head with these bits.
    #[inline]
    pub const fn from_word(word: u64) -> Self {
        Self(word)
    }

    /// Its bits.
    #[inline]
    pub const fn word(self) -> u64 {
        self.0
    }

    /// Held by `holder`, nobody waiting.
    #[inline]
    pub const fn held_by(holder: Timestamp) -> Self {
        Self(holder.word())
    }

    /// The holder of the lock.
    #[inline]
    pub const fn holder(self) -> Option<Timestamp> {
        Timestamp::of_word(self.0)
    }

    /// Whether `transaction` holds the lock.
    #[inline]
    pub fn is_held_by(self, transaction: Timestamp) -> bool {
        self.holder() == Some(transaction)
    }

    /// Whether `slot` is a registered waiter.
    #[inline]
    pub const fn is_waiting(self, slot: Slot) -> bool {
        self.0 >> (8 + slot.0) & 1 == 1
    }

    /// Whether there are waiters.
    #[inline]
    pub const fn has_waiters(self) -> bool {
        self.0 & 0xFE00 != 0
    }

    /// The slot that is granted next.
    #[inline]
    pub const fn first(self) -> Option<Slot> {
        Slot::new((self.0 >> 6 & 7) as u8)
    }

    /// How many waiters left during this tenure, at most [`Head::MOST_CANCELS`].
    #[inline]
    pub const fn cancels(self) -> u8 {
        (self.0 & 0x3F) as u8
    }

    /// The registered slots, in the order in which they will be granted.
    pub fn queue(self, ring: Ring) -> impl Iterator<Item = Slot> {
        self.first()
            .into_iter()
            .flat_map(move |first| ring.from(first))
            .filter(move |&slot| self.is_waiting(slot))
    }

    /// How far `slot` is from the grant: 1 is next. `None` when it does not wait.
    pub fn position(self, slot: Slot, ring: Ring) -> Option<u8> {
        self.queue(ring).position(|waiting| waiting == slot).map(|ahead| ahead as u8 + 1)
    }

    /// Whether a request in `slot` could register now: another transaction holds the lock, the
    /// count of cancels has not run out, and no registered slot comes behind `slot`.
    pub fn may_enter(self, slot: Slot, ring: Ring) -> bool {
        self.holder().is_some()
            && self.cancels() < Self::MOST_CANCELS
            && self.entrances(ring).any(|entrance| entrance == slot)
    }

    /// The slots behind every registered waiter, nearest first.
    fn entrances(self, ring: Ring) -> impl Iterator<Item = Slot> {
        let start = match self.queue(ring).last() {
            Some(last) => last,
            None => Slot(ring.slots), // the ring is entered at slot 1
        };
        ring.after(start).take_while(move |&slot| !self.is_waiting(slot))
    }

    /// The slot where a request may be placed, given the line's words: the nearest empty one
    /// behind every registered waiter. `None`: the queue is full.
    pub fn entrance(self, line: &[u64; 8], ring: Ring) -> Option<Slot> {
        if self.cancels() >= Self::MOST_CANCELS {
            return None;
        }
        self.entrances(ring).find(|slot| line[slot.index()] == 0)
    }

    /// The head after `slot` has joined the queue.
    ///
    /// # Panics
    /// When `slot` waits already.
    pub fn register(self, slot: Slot) -> Self {
        assert!(!self.is_waiting(slot), "{slot:?} registers twice in {self:?}");
        let entered = self.0 | 1 << (8 + slot.0);
        Self(if self.has_waiters() { entered } else { entered | (slot.0 as u64) << 6 })
    }

    /// The head after `slot` has left the queue without being granted.
    ///
    /// # Panics
    /// When `slot` does not wait.
    pub fn leave(self, slot: Slot) -> Self {
        let cancels = (self.cancels() + 1).min(Self::MOST_CANCELS);
        Self(self.without(slot).0 & !0x3F | cancels as u64)
    }

    /// The head after the lock has passed to `next`, which waits in slot `first`.
    ///
    /// # Panics
    /// If there is no waiter.
    #[inline]
    pub fn hand_over(self, next: Timestamp) -> Self {
        let first = self.first().expect("a lock is handed over to a waiter");
        Self(next.word() | self.without(first).0 & 0xFFC0)
    }

    /// The head with `slot` taken out of the queue and `first` moved on if it was that.
    #[inline]
    fn without(self, slot: Slot) -> Self {
        assert!(self.is_waiting(slot), "{slot:?} leaves {self:?} where it does not wait");
        let rest = Self(self.0 & !(1 << (8 + slot.0)));
        if self.first() != Some(slot) {
            return rest;
        }
        // Bit p - 1 stands for slot p: the nearest above `slot`, else the nearest from the start.
        let waiting = rest.0 >> 9 & 0x7F;
        let above = waiting & (0x7F << slot.0);
        let next = if above != 0 { above } else { waiting };
        let first = if next != 0 { next.trailing_zeros() as u64 + 1 } else { 0 };
        Self(rest.0 & !(7 << 6) | first << 6)
    }

    /// The invariants of every reachable head.
    ///
    /// # Errors
    /// The sentence that does not hold.
    pub fn check(self, ring: Ring) -> Result<(), &'static str> {
        let first_waits = self.first().is_some_and(|first| self.is_waiting(first));
        match () {
            () if self.holder().is_none() && self.0 != 0 => Err("a free bucket is 0"),
            () if self.has_waiters() && !first_waits => Err("`first` names a registered waiter"),
            () if !self.has_waiters() && self.first().is_some() => {
                Err("`first` is 0 when nobody waits")
            }
            () if self.0 >> 9 & 0x7F >> ring.slots << ring.slots != 0 => {
                Err("only slots of the ring wait")
            }
            () => Ok(()),
        }
    }
}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.holder() {
            None => write!(f, "free")?,
            Some(holder) => write!(f, "{holder:?}")?,
        }
        if self.has_waiters() {
            let queue: Vec<u8> = self.queue(Ring::FULL).map(Slot::get).collect();
            write!(f, " queue {queue:?}")?;
        }
        if self.cancels() > 0 {
            write!(f, " cancels {}", self.cancels())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(n: u64) -> Timestamp {
        Timestamp::new(n).unwrap()
    }

    fn s(n: u8) -> Slot {
        Slot::new(n).unwrap()
    }

    #[test]
    fn the_queue_runs_round_the_ring() {
        let head = Head::held_by(t(9)).register(s(6)).register(s(7)).register(s(1));
        assert_eq!(head.queue(Ring::FULL).collect::<Vec<_>>(), [s(6), s(7), s(1)]);
        assert_eq!(head.position(s(1), Ring::FULL), Some(3));
        assert_eq!(head.entrance(&[0; 8], Ring::FULL), Some(s(2)));
        assert!(head.may_enter(s(5), Ring::FULL));
        assert!(!head.may_enter(s(7), Ring::FULL));
    }

    #[test]
    fn a_gap_before_a_waiter_is_no_entrance() {
        let head = Head::held_by(t(9)).register(s(1)).register(s(2)).register(s(3));
        let head = head.leave(s(2));
        assert!(!head.may_enter(s(2), Ring::FULL));
        assert_eq!(head.entrance(&[0; 8], Ring::FULL), Some(s(4)));
        assert_eq!(head.cancels(), 1);
    }

    #[test]
    fn a_placed_slot_is_passed_over_and_a_full_ring_refuses() {
        let head = Head::held_by(t(9)).register(s(1));
        let mut line = [0; 8];
        line[2] = t(5).word();
        assert_eq!(head.entrance(&line, Ring::FULL), Some(s(3)));
        line = [t(5).word(); 8];
        assert_eq!(head.entrance(&line, Ring::FULL), None);
    }

    #[test]
    fn hand_over_takes_the_first_and_forgets_the_cancels() {
        let head = Head::held_by(t(9)).register(s(2)).register(s(3)).register(s(4));
        let head = head.leave(s(3)).hand_over(t(7));
        assert_eq!(head, Head::held_by(t(7)).register(s(4)));
        assert_eq!(head.hand_over(t(8)), Head::held_by(t(8)));
    }

    #[test]
    fn nobody_enters_once_the_cancels_have_run_out() {
        let mut head = Head::held_by(t(9));
        for _ in 0..80 {
            head = head.register(s(1)).leave(s(1));
        }
        assert_eq!(head.cancels(), Head::MOST_CANCELS);
        assert!(!head.may_enter(s(1), Ring::FULL));
        assert_eq!(head.entrance(&[0; 8], Ring::FULL), None);
    }

    #[test]
    fn check_names_what_is_wrong() {
        let ring = Ring::new(2).unwrap();
        assert!(Head::held_by(t(1)).register(s(2)).check(ring).is_ok());
        assert!(Head::held_by(t(1)).register(s(3)).check(ring).is_err());
        assert!(Head::from_word(1).check(ring).is_err());
        assert!(Head::from_word(t(1).word() | 1 << 6).check(ring).is_err());
        assert!(Head::from_word(t(1).word() | 1 << 9).check(ring).is_err());
    }
}
