// SPDX-License-Identifier: MIT OR Apache-2.0
//! The floor: the same queue as one binary heap, whose keys hold time, priority and insertion number.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use timing::{Priority, Time};

struct Pending<E> {
    key: u128,
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

/// What [`timing::Kernel`] does, by a heap.
pub struct HeapKernel<E> {
    pending: BinaryHeap<Pending<E>>,
    now: Time,
    inserted: u64,
}

impl<E> HeapKernel<E> {
    pub fn new() -> Self {
        HeapKernel { pending: BinaryHeap::new(), now: Time::ZERO, inserted: 0 }
    }

    pub fn schedule_at(&mut self, time: Time, priority: Priority, event: E) {
        assert!(time >= self.now, "event scheduled in the past: for {time}, now is {}", self.now);
        let low = (priority as u64) << 56 | self.inserted;
        self.inserted += 1;
        let key = u128::from(time.as_ps()) << 64 | u128::from(low);
        self.pending.push(Pending { key, event });
    }

    pub fn pop(&mut self) -> Option<(Time, E)> {
        let Pending { key, event } = self.pending.pop()?;
        self.now = Time::from_ps((key >> 64) as u64);
        Some((self.now, event))
    }
}
