// SPDX-License-Identifier: MIT OR Apache-2.0
//! The events that come next, sorted.

use super::heap::{Heap, Instant};
use super::wheel::PRIORITY_BITS;

/// An event more than this many before the end goes to the heap, so that none costs more than it
/// would there.
const SHIFTED: usize = 16;

struct Soon<E> {
    /// Of [`Run::key`].
    key: u32,
    event: E,
}

/// All events of a span of time, from the start of the last bucket that was taken to its end.
///
/// What is scheduled within the span goes into the sorted part if its place there is near the front;
/// else into the heap beside it. Of two events of the same instant the one in the sorted part was
/// inserted first.
pub(super) struct Run<E> {
    /// The first picosecond of the span.
    start: u64,
    /// The last picosecond of the span.
    last: u64,
    /// The last event first.
    sorted: Vec<Soon<E>>,
    late: Heap<E>,
}

impl<E> Run<E> {
    /// Nothing, at the span from 0 to `last`.
    pub fn with_capacity(last: u64, events: usize) -> Self {
        let (sorted, late) = (Vec::with_capacity(events), Heap::with_capacity(events));
        Run { start: 0, last, sorted, late }
    }

    pub fn start(&self) -> u64 {
        self.start
    }

    pub fn last(&self) -> u64 {
        self.last
    }

    /// Events that were scheduled within the span, too far from its front.
    pub fn late(&self) -> usize {
        self.late.len()
    }

    /// The order of an instant within the span.
    fn key(&self, at: Instant) -> u32 {
        ((at.time - self.start) as u32) << PRIORITY_BITS | at.priority
    }

    pub fn instant(&self, key: u32) -> Instant {
        let time = self.start + u64::from(key >> PRIORITY_BITS);
        Instant { time, priority: key % (1 << PRIORITY_BITS) }
    }

    /// Begins another span. Nothing may be left of the one before.
    pub fn begin(&mut self, start: u64, last: u64) {
        debug_assert!(self.sorted.is_empty() && self.late.is_empty());
        (self.start, self.last) = (start, last);
    }

    pub fn reserve(&mut self, events: usize) {
        self.sorted.reserve(events);
    }

    /// Puts an event before all that are there.
    pub fn push_front(&mut self, key: u32, event: E) {
        self.sorted.push(Soon { key, event });
    }

    /// As [`Run::push_front`], by its instant.
    pub fn restore(&mut self, at: Instant, event: E) {
        self.push_front(self.key(at), event);
    }

    /// Puts an event of the span behind all those of its instant.
    pub fn insert(&mut self, at: Instant, event: E) {
        let key = self.key(at);
        let len = self.sorted.len();
        let least = len.saturating_sub(SHIFTED);
        let mut place = len;
        while place > least && self.sorted[place - 1].key <= key {
            place -= 1;
        }
        let near = place > least || least == 0;
        if near && self.late.peek().is_none_or(|late| at < late) {
            self.sorted.insert(place, Soon { key, event });
        } else {
            self.late.push(at, event);
        }
    }

    pub fn peek(&self) -> Option<Instant> {
        let next = self.sorted.last().map(|soon| self.instant(soon.key));
        match self.late.peek() {
            None => next,
            late => next.into_iter().chain(late).min(),
        }
    }

    /// An event that is likely to come next, seen without a search.
    #[inline]
    pub fn likely_next(&self) -> Option<&E> {
        self.sorted.last().map(|soon| &soon.event)
    }

    pub fn pop(&mut self) -> Option<(Instant, E)> {
        if let Some(late) = self.late.peek()
            && self.sorted.last().is_none_or(|soon| late < self.instant(soon.key))
        {
            return self.late.pop();
        }
        self.sorted.pop().map(|Soon { key, event }| (self.instant(key), event))
    }
}
