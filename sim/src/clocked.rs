// SPDX-License-Identifier: MIT OR Apache-2.0
//! A block of hardware on its own clock, in any virtual time.
//!
//! A world has a [`Clocked`] for each block, of any type, and schedules its clock edges in the
//! kernel. While nothing happens on a block's pins its clock sleeps, which does not change its
//! behaviour and saves most of the simulation work.

use timing::Time;

/// A block under test with the buses around it.
pub trait Block {
    /// Why it cannot continue.
    type Error;

    /// One cycle of the clock, with what stands on the pins. True when something moved on them: the
    /// block took what it was offered, or has something for its owner.
    ///
    /// # Errors
    /// When the block breaks a rule of its buses.
    fn clock(&mut self) -> Result<bool, Self::Error>;

    /// Whether more will move on the pins though nobody comes with anything new: something is offered
    /// that the block has not taken, or an answer is on its way through a bus.
    fn has_work(&self) -> bool;
}

/// A block, and when its clock ticks.
///
/// ```
/// use lockstep_sim::clocked::{Block, Clocked};
/// use timing::{Kernel, Priority, Time};
///
/// /// Counts down what it is given.
/// struct Countdown(u32);
///
/// impl Block for Countdown {
///     type Error = std::convert::Infallible;
///
///     fn clock(&mut self) -> Result<bool, Self::Error> {
///         let moved = self.0 > 0;
///         self.0 = self.0.saturating_sub(1);
///         Ok(moved)
///     }
///
///     fn has_work(&self) -> bool {
///         self.0 > 0
///     }
/// }
///
/// let mut kernel = Kernel::new();
/// let mut block = Clocked::new(Countdown(0), Time::from_ns(4), Time::ZERO, 2);
/// block.block_mut().0 = 3;
/// if let Some(edge) = block.wake(Time::from_ns(6)) {
///     kernel.schedule_at(edge, Priority::ClockEdge, ());
/// }
/// while let Some((now, ())) = kernel.pop() {
///     if let Some(edge) = block.edge(now).unwrap() {
///         kernel.schedule_at(edge, Priority::ClockEdge, ());
///     }
/// }
/// // Three edges from 8 ns on, and two quiet ones.
/// assert_eq!((kernel.now(), block.block_mut().0), (Time::from_ns(24), 0));
/// ```
#[derive(Debug)]
pub struct Clocked<B> {
    block: B,
    period: Time,
    phase: Time,
    /// Cycles in a row without anything on the pins, after which the clock sleeps.
    sleeps_after: u32,
    quiet_cycles: u32,
    /// The edge that was announced to the world and is still to come, while the clock is awake.
    edge: Option<Time>,
}

impl<B: Block> Clocked<B> {
    /// A block with rising edges at `phase` and every `period` from there on, whose clock sleeps. It
    /// falls asleep after `sleeps_after` quiet cycles, by when the block must have nothing left to do
    /// by itself; `u32::MAX` never comes.
    ///
    /// # Panics
    /// When `period` is zero.
    pub fn new(block: B, period: Time, phase: Time, sleeps_after: u32) -> Self {
        assert!(period > Time::ZERO, "a clock of period 0");
        Clocked { block, period, phase, sleeps_after, quiet_cycles: 0, edge: None }
    }

    /// The block. Whoever puts something on its pins calls [`Clocked::wake`] then.
    pub fn block_mut(&mut self) -> &mut B {
        &mut self.block
    }

    /// Something has come to the pins before the edges of this instant, as deliveries do. Gives the
    /// edge to schedule, the first at or after `now`, when the clock slept; a clock that is awake
    /// has its next edge scheduled.
    ///
    /// What comes after the edges of an instant is seen a cycle later by a block that is awake.
    /// [`Clocked::wake_after`] makes it so for one that sleeps, too.
    #[must_use = "the edge must be scheduled"]
    pub fn wake(&mut self, now: Time) -> Option<Time> {
        let next = self.phase + now.saturating_sub(self.phase).next_multiple_of(self.period);
        self.wake_at(next)
    }

    /// As [`Clocked::wake`], for what comes after the edges of this instant, as decisions and
    /// timers do: the edge to schedule is the first after `now`.
    #[must_use = "the edge must be scheduled"]
    pub fn wake_after(&mut self, now: Time) -> Option<Time> {
        self.wake_at(match now < self.phase {
            true => self.phase,
            false => {
                let elapsed = now - self.phase + Time::from_ps(1);
                self.phase + elapsed.next_multiple_of(self.period)
            }
        })
    }

    fn wake_at(&mut self, next: Time) -> Option<Time> {
        self.quiet_cycles = 0;
        if self.edge.is_some() {
            return None;
        }
        self.edge = Some(next);
        self.edge
    }

    /// The edge at `now`: one cycle of the block. Gives the next edge to schedule; `None` when the
    /// clock falls asleep.
    ///
    /// # Errors
    /// Those of the block.
    ///
    /// # Panics
    /// When no edge was scheduled for `now`.
    #[must_use = "the edge must be scheduled"]
    pub fn edge(&mut self, now: Time) -> Result<Option<Time>, B::Error> {
        assert!(self.edge == Some(now), "no edge of this clock is due at {now}");
        let busy = self.block.clock()? || self.block.has_work();
        self.quiet_cycles = if busy { 0 } else { self.quiet_cycles + 1 };
        self.edge = (self.quiet_cycles < self.sleeps_after).then(|| now + self.period);
        Ok(self.edge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moves as long as it is offered something.
    #[derive(Default)]
    struct Bucket {
        offered: u32,
        cycles: u32,
    }

    impl Block for Bucket {
        type Error = &'static str;

        fn clock(&mut self) -> Result<bool, Self::Error> {
            self.cycles += 1;
            let moved = self.offered > 0;
            self.offered = self.offered.saturating_sub(1);
            if self.cycles == 100 { Err("worn out") } else { Ok(moved) }
        }

        fn has_work(&self) -> bool {
            self.offered > 0
        }
    }

    fn clocked(phase: u64) -> Clocked<Bucket> {
        Clocked::new(Bucket::default(), Time::from_ns(4), Time::from_ns(phase), 2)
    }

    #[test]
    fn edges_stand_at_the_phase_and_every_period_from_there() {
        let first = |phase, now| clocked(phase).wake(Time::from_ns(now)).expect("it slept");
        assert_eq!(first(0, 0), Time::ZERO);
        assert_eq!(first(0, 5), Time::from_ns(8));
        assert_eq!(first(3, 0), Time::from_ns(3));
        assert_eq!(first(3, 3), Time::from_ns(3));
        assert_eq!(first(3, 4), Time::from_ns(7));
    }

    #[test]
    fn the_clock_sleeps_after_quiet_cycles_and_no_sooner() {
        let mut clocked = clocked(0);
        clocked.block_mut().offered = 1;
        let mut edge = clocked.wake(Time::ZERO);
        assert_eq!(clocked.wake(Time::ZERO), None, "one edge at a time");
        let mut edges = 0;
        while let Some(now) = edge {
            edges += 1;
            if edges == 2 {
                // Just before it would have slept.
                assert_eq!(clocked.wake(now), None);
            }
            edge = clocked.edge(now).unwrap();
        }
        assert_eq!(edges, 3, "one that moves, and two quiet ones");
    }

    #[test]
    fn what_comes_after_the_edge_of_an_instant_is_seen_at_the_next() {
        let mut clocked = clocked(0);
        let now = clocked.wake(Time::from_ns(8)).unwrap();
        assert_eq!(clocked.edge(now), Ok(Some(Time::from_ns(12))));
        assert_eq!(clocked.edge(Time::from_ns(12)), Ok(None));
        assert_eq!(clocked.wake_after(Time::from_ns(12)), Some(Time::from_ns(16)));
        assert_eq!(self::clocked(3).wake_after(Time::from_ns(2)), Some(Time::from_ns(3)));
        assert_eq!(self::clocked(3).wake_after(Time::from_ns(3)), Some(Time::from_ns(7)));
    }

    #[test]
    fn a_fault_is_the_worlds_to_tell() {
        let mut clocked = clocked(0);
        clocked.block_mut().offered = 1000;
        let mut edge = clocked.wake(Time::ZERO).unwrap();
        let fault = loop {
            match clocked.edge(edge) {
                Ok(next) => edge = next.expect("busy"),
                Err(fault) => break fault,
            }
        };
        assert_eq!((fault, edge), ("worn out", Time::from_ns(4 * 99)));
    }

    #[test]
    #[should_panic(expected = "no edge of this clock is due at 3 ns")]
    fn an_edge_that_was_not_scheduled_is_the_worlds_mistake() {
        let _ = clocked(0).edge(Time::from_ns(3));
    }
}
