// SPDX-License-Identifier: MIT OR Apache-2.0
//! The event kernel: virtual time and a deterministic event queue.
//!
//! A run is a pure function of what is scheduled. Two events never tie by accident:
//! they are ordered by time, then by a named [`Priority`], then by the order in
//! which they were inserted.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::Time;

/// The order of events of the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Priority {
    /// A message or answer arrives. First, so that an agent that acts at this instant acts
    /// on everything that has arrived by it.
    Deliver = 0,
    /// A clock edge of an RTL model. After deliveries, as a register samples what
    /// was stable before the edge; before decisions, which see its outputs.
    ClockEdge = 1,
    /// An agent decides and issues. After all arrivals, so that the decision does not
    /// depend on which of two arrivals was inserted first.
    Issue = 2,
    /// A sampler or a time limit looks. Last, so that it sees the instant settled and
    /// an answer that comes exactly at a limit still counts.
    Observe = 3,
}

/// Bits of a key below the priority: 2^56 insertions in one run.
const SEQUENCE_BITS: u32 = 56;

/// Time, priority and insertion number in one integer, so that one comparison orders.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u128);

impl Key {
    fn new(time: Time, priority: Priority, sequence: u64) -> Self {
        let low = (priority as u64) << SEQUENCE_BITS | sequence;
        Key(u128::from(time.as_ps()) << 64 | u128::from(low))
    }

    fn time(self) -> Time {
        Time::from_ps((self.0 >> 64) as u64)
    }
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

/// The queue of pending events of one run, and its clock.
///
/// There is no cancellation: an event that may become void carries what its receiver
/// needs to recognise that, which costs less than a handle on every event.
pub struct Kernel<E> {
    pending: BinaryHeap<Pending<E>>,
    now: Time,
    inserted: u64,
}

impl<E> Default for Kernel<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> Kernel<E> {
    /// An empty queue at [`Time::ZERO`].
    pub fn new() -> Self {
        Kernel { pending: BinaryHeap::new(), now: Time::ZERO, inserted: 0 }
    }

    /// The instant of the event handed out last.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Events that are pending.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// The instant of the next event.
    pub fn next_time(&self) -> Option<Time> {
        self.pending.peek().map(|next| next.key.time())
    }

    /// Puts `event` at the instant `time`.
    ///
    /// # Panics
    /// When `time` lies before [`Kernel::now`].
    pub fn schedule_at(&mut self, time: Time, priority: Priority, event: E) {
        assert!(time >= self.now, "event scheduled in the past: for {time}, now is {}", self.now);
        assert!(self.inserted < 1 << SEQUENCE_BITS, "2^56 events were scheduled in one run");
        let key = Key::new(time, priority, self.inserted);
        self.inserted += 1;
        self.pending.push(Pending { key, event });
    }

    /// Puts `event` at `delay` after now.
    pub fn schedule_after(&mut self, delay: Time, priority: Priority, event: E) {
        self.schedule_at(self.now + delay, priority, event);
    }

    /// Takes the next event and moves the clock to its instant.
    pub fn pop(&mut self) -> Option<(Time, E)> {
        let Pending { key, event } = self.pending.pop()?;
        self.now = key.time();
        Some((self.now, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_by_priority_then_by_insertion() {
        let mut kernel = Kernel::new();
        let instant = Time::from_ns(5);
        kernel.schedule_at(instant, Priority::Observe, "observe");
        kernel.schedule_at(instant, Priority::Issue, "issue");
        kernel.schedule_at(instant, Priority::Deliver, "deliver, first");
        kernel.schedule_at(instant, Priority::ClockEdge, "edge");
        kernel.schedule_at(instant, Priority::Deliver, "deliver, second");
        kernel.schedule_at(Time::from_ns(4), Priority::Observe, "earlier");
        let order: Vec<_> = std::iter::from_fn(|| kernel.pop()).map(|(_, name)| name).collect();
        assert_eq!(
            order,
            ["earlier", "deliver, first", "deliver, second", "edge", "issue", "observe"]
        );
        assert_eq!(kernel.now(), instant);
    }

    #[test]
    #[should_panic(expected = "event scheduled in the past: for 4 ns, now is 5 ns")]
    fn the_past_is_refused() {
        let mut kernel = Kernel::new();
        kernel.schedule_at(Time::from_ns(5), Priority::Deliver, ());
        kernel.pop();
        kernel.schedule_at(Time::from_ns(4), Priority::Deliver, ());
    }
}
