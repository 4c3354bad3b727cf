// SPDX-License-Identifier: MIT OR Apache-2.0
//! The seeds of an experiment.

use crate::experiment::Clock;

/// One seed after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// Of all draws of the first run; the next has the next seed, and 0 comes after the last.
    pub first: u64,
    /// How many runs in virtual time, at least 1; in wall-clock time there is one.
    pub count: u32,
}

impl Seeds {
    /// As arguments of a command, a blank before each.
    pub fn arguments(&self, clock: Clock) -> String {
        match clock {
            Clock::Virtual => format!(" --seed {} --seeds {}", self.first, self.count),
            Clock::Wall => format!(" --seed {}", self.first),
        }
    }

    /// Those of an experiment that is measured by `clock`, in words.
    pub fn text(&self, clock: Clock) -> String {
        let last = self.first.wrapping_add(u64::from(self.count) - 1);
        match clock {
            Clock::Virtual if self.count > 1 => format!("{} to {last}", self.first),
            _ => self.first.to_string(),
        }
    }
}
