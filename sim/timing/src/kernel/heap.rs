// SPDX-License-Identifier: MIT OR Apache-2.0
//! A binary heap of events, for those that the buckets of the wheel are not made for.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Bits of a key below the priority: 2^56 insertions in one run.
const SEQUENCE_BITS: u32 = 56;

/// Time, priority and insertion number in one integer, so that one comparison orders.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u128);

impl Key {
    fn new(time: u64, priority: u32, sequence: u64) -> Self {
        let low = u64::from(priority) << SEQUENCE_BITS | sequence;
        Key(u128::from(time) << 64 | u128::from(low))
    }

    fn instant(self) -> Instant {
        Instant { time: (self.0 >> 64) as u64, priority: (self.0 as u64 >> SEQUENCE_BITS) as u32 }
    }
}

/// When an event happens, in picoseconds, and its place among others of the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Instant {
    pub time: u64,
    pub priority: u32,
}

struct Pending<E> {
    key: Key,
    event: E,
}

// Reversed, because `BinaryHeap` hands out its greatest element.
impl<E> Ord for Pending<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

impl<E> PartialOrd for Pending<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Pending<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<E> Eq for Pending<E> {}

/// Events in the order of their instants, equal ones in that of their insertion.
pub(super) struct Heap<E> {
    pending: BinaryHeap<Pending<E>>,
    inserted: u64,
}

impl<E> Heap<E> {
    pub fn with_capacity(events: usize) -> Self {
        Heap { pending: BinaryHeap::with_capacity(events), inserted: 0 }
    }

    pub fn len(&self) -> usize {
        self.pending.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    pub fn peek(&self) -> Option<Instant> {
        self.pending.peek().map(|next| next.key.instant())
    }

    pub fn push(&mut self, at: Instant, event: E) {
        assert!(self.inserted < 1 << SEQUENCE_BITS, "2^56 events were scheduled in one run");
        let key = Key::new(at.time, at.priority, self.inserted);
        self.inserted += 1;
        self.pending.push(Pending { key, event });
    }

    pub fn pop(&mut self) -> Option<(Instant, E)> {
        self.pending.pop().map(|next| (next.key.instant(), next.event))
    }
}
