// SPDX-License-Identifier: MIT OR Apache-2.0
//! The indices of a submission and a completion ring: no memory, no registers, no clock.
//!
//! Counts run freely through 16 bits. Entry n of a ring is slot n modulo the ring's size, a power
//! of two of at most 4096, so a wrap of the count at 65536 is also one of the slots, and the number
//! of passes between two wraps is even, which keeps the phase in step.

use crate::map::queue::{LOG2_ENTRIES_LARGEST, LOG2_ENTRIES_SMALLEST};

/// Whether rings can have so many entries: a power of two from 2 to 4096.
pub fn is_ring_size(entries: u16) -> bool {
    let log2_entries = LOG2_ENTRIES_SMALLEST..=LOG2_ENTRIES_LARGEST;
    entries.is_power_of_two() && log2_entries.contains(&(entries.trailing_zeros() as u8))
}

/// A count of the device that cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImpossibleCount {
    /// What the device says.
    pub found: u16,
    /// The least that it may be.
    pub least: u16,
    /// The most that it may be, going up from `least` modulo 65536.
    pub most: u16,
}

/// The ring that software fills: what was written, and what the device is known to have fetched.
///
/// Invariant: `tail - head`, modulo 65536, is at most `entries`.
#[derive(Debug, Clone)]
pub struct SubmissionRing {
    entries: u16,
    tail: u16,
    head: u16,
}

impl SubmissionRing {
    /// An empty ring.
    ///
    /// # Panics
    /// When rings cannot have so many entries.
    pub fn new(entries: u16) -> Self {
        assert!(is_ring_size(entries), "a ring of {entries} entries");
        SubmissionRing { entries, tail: 0, head: 0 }
    }

    /// Entries that are written and not known to be fetched.
    pub fn unfetched(&self) -> u16 {
        self.tail.wrapping_sub(self.head)
    }

    /// Whether no entry is free as far as is known; [`SubmissionRing::fetched`] may tell more.
    pub fn is_full(&self) -> bool {
        self.unfetched() == self.entries
    }

    /// The slot to write next, unless the ring is full.
    pub fn slot(&self) -> Option<usize> {
        (!self.is_full()).then(|| usize::from(self.tail & (self.entries - 1)))
    }

    /// Counts an entry as written; gives the new count for the doorbell.
    ///
    /// # Panics
    /// When the ring is full.
    pub fn push(&mut self) -> u16 {
        assert!(!self.is_full(), "a submission ring of {} entries is full", self.entries);
        self.tail = self.tail.wrapping_add(1);
        self.tail
    }

    /// The count of entries written, for the doorbell.
    pub fn tail(&self) -> u16 {
        self.tail
    }

    /// Learns from the device how many entries it has fetched.
    ///
    /// # Errors
    /// When it cannot have fetched so many; nothing changes.
    pub fn fetched(&mut self, head: u16) -> Result<(), ImpossibleCount> {
        if head.wrapping_sub(self.head) > self.unfetched() {
            return Err(ImpossibleCount { found: head, least: self.head, most: self.tail });
        }
        self.head = head;
        Ok(())
    }
}

/// The ring that the device fills: what was consumed, and what the device was told of it.
///
/// Invariant: `head - acknowledged`, modulo 65536, is less than half the entries between calls. So a
/// device that is held back by a full ring, whose completions have all been consumed, has been told.
#[derive(Debug, Clone)]
pub struct CompletionRing {
    entries: u16,
    head: u16,
    acknowledged: u16,
}

impl CompletionRing {
    /// An empty ring, zeroed in memory.
    ///
    /// # Panics
    /// When rings cannot have so many entries.
    pub fn new(entries: u16) -> Self {
        assert!(is_ring_size(entries), "a ring of {entries} entries");
        CompletionRing { entries, head: 0, acknowledged: 0 }
    }

    /// The slot where the next completion will be.
    pub fn slot(&self) -> usize {
        usize::from(self.head & (self.entries - 1))
    }

    /// The phase that the next completion will carry: true on the first pass, false on the second,
    /// and so on. Until it is there, the slot holds the other one.
    pub fn phase(&self) -> bool {
        self.head & self.entries == 0
    }

    /// Counts a completion as consumed. When the device should be told, gives the count for it.
    pub fn pop(&mut self) -> Option<u16> {
        self.head = self.head.wrapping_add(1);
        let due = self.head.wrapping_sub(self.acknowledged) >= self.entries / 2;
        due.then(|| {
            self.acknowledged = self.head;
            self.head
        })
    }
}

#[cfg(test)]
mod tests;
