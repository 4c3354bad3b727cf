// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the work of cores costs.

use cluster::engine::{Work, WorkCounts};
use timing::Time;

/// The costs of a kind of core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuCosts {
    /// A poll that found something, beside what it found.
    pub poll: Time,
    /// Each kind of work, in the order of [`Work::ALL`].
    pub work: [Time; Work::COUNT],
    /// How long all of that takes when all cores are busy, in thousandths of what it takes when one is.
    pub loaded: u32,
}

impl CpuCosts {
    /// The same cost for each piece of work, for tests.
    pub const fn uniform(each: Time) -> Self {
        Self { poll: each, work: [each; Work::COUNT], loaded: 1000 }
    }

    /// The costs as they are when `busy` cores of the chip are in use: those of one, or those of all.
    #[must_use]
    pub fn with_cores(&self, busy: usize) -> Self {
        if busy <= 1 {
            return self.clone();
        }
        let slower = |time: Time| Time::from_ps(time.as_ps() * u64::from(self.loaded) / 1000);
        Self { poll: slower(self.poll), work: self.work.map(slower), loaded: 1000 }
    }

    /// How long a burst takes in which so much was done: never less than a nanosecond, so that time
    /// goes on whatever the costs are.
    pub fn of(&self, counts: &WorkCounts) -> Time {
        let each = self.work.iter().zip(counts.all());
        let work = each.map(|(cost, count)| cost.as_ps() * u64::from(*count)).sum::<u64>();
        Time::from_ps((self.poll.as_ps() + work).max(1_000))
    }
}
