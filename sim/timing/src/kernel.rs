// SPDX-License-Identifier: MIT OR Apache-2.0
//! The event kernel: virtual time and a deterministic event queue.
//!
//! A run is a pure function of what is scheduled. Two events never tie by accident:
//! they are ordered by time, then by a named [`Priority`], then by the order in
//! which they were inserted.
//!
//! Events wait in the buckets of a [`wheel`] by their time. The next bucket is sorted when its time has
//! come, and is then the [`run`] that events are taken from.

mod heap;
mod occupied;
mod order;
mod pool;
mod run;
mod wheel;

use crate::Time;
use heap::Instant;
use run::Run;
use wheel::Wheel;

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

/// So many events beside a wide run are put back into the wheel.
const CROWD: usize = 32;

/// The queue of pending events of one run, and its clock.
///
/// There is no cancellation: an event that may become void carries what its receiver
/// needs to recognise that, which costs less than a handle on every event.
pub struct Kernel<E> {
    /// The events that come next.
    run: Run<E>,
    /// The others.
    wheel: Wheel<E>,
    aside: Vec<(Instant, E)>,
    pending: usize,
    now: Time,
}

impl<E> Default for Kernel<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> Kernel<E> {
    /// An empty queue at [`Time::ZERO`].
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// An empty queue at [`Time::ZERO`] that allocates nothing as long as no more than so many events
    /// are pending.
    pub fn with_capacity(events: usize) -> Self {
        Kernel {
            run: Wheel::first_run(events),
            wheel: Wheel::with_capacity(events),
            aside: Vec::with_capacity(events),
            pending: 0,
            now: Time::ZERO,
        }
    }

    /// The instant of the event handed out last.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Events that are pending.
    pub fn len(&self) -> usize {
        self.pending
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.pending == 0
    }

    /// The instant of the next event.
    pub fn next_time(&self) -> Option<Time> {
        let next = self.run.peek().map(|at| at.time).or_else(|| self.wheel.peek(&self.run));
        next.map(Time::from_ps)
    }

    /// An event that is likely to be the next, if one is known without a long search: a hint, for fetching what
    /// it will need.
    #[inline]
    pub fn likely_next(&self) -> Option<&E> {
        self.run.likely_next().or_else(|| self.wheel.likely_next(&self.run))
    }

    /// Puts `event` at the instant `time`.
    ///
    /// # Panics
    /// When `time` lies before [`Kernel::now`].
    pub fn schedule_at(&mut self, time: Time, priority: Priority, event: E) {
        assert!(time >= self.now, "event scheduled in the past: for {time}, now is {}", self.now);
        self.pending += 1;
        let at = Instant { time: time.as_ps(), priority: priority as u32 };
        if at.time > self.run.last() {
            return self.wheel.insert(at, event);
        }
        self.run.insert(at, event);
        if self.run.late() > CROWD && Wheel::is_wide(&self.run) {
            self.wheel.narrow(&mut self.run, self.now.as_ps(), &mut self.aside);
        }
    }

    /// Puts `event` at `delay` after now.
    pub fn schedule_after(&mut self, delay: Time, priority: Priority, event: E) {
        self.schedule_at(self.now + delay, priority, event);
    }

    /// Takes the next event and moves the clock to its instant.
    pub fn pop(&mut self) -> Option<(Time, E)> {
        let (at, event) = match self.run.pop() {
            Some(next) => next,
            None => self.wheel.pop(&mut self.run)?,
        };
        self.pending -= 1;
        self.now = Time::from_ps(at.time);
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
    fn the_likely_next_event_of_a_later_bucket_is_seen() {
        let mut kernel = Kernel::new();
        let times = [3, 40, 900];
        for ns in times {
            kernel.schedule_at(Time::from_ns(ns), Priority::Deliver, ns);
        }
        for ns in times {
            assert_eq!(kernel.likely_next(), Some(&ns));
            kernel.pop();
        }
        assert_eq!(kernel.likely_next(), None);
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
