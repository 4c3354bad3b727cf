// SPDX-License-Identifier: MIT OR Apache-2.0
//! The clocks of nodes.

use cluster::engine::Instant;
use timing::Time;

/// A clock that may go ahead of true time or behind it, and faster or slower, and never back.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    /// What it showed at the true time `since`.
    shown: u64,
    since: u64,
    /// How much faster than true time it goes, in millionths.
    drift: i32,
}

const MILLION: u128 = 1_000_000;

impl Clock {
    /// What it shows at the true time `now`.
    pub fn at(&self, now: Time) -> Instant {
        let passed = now.as_ps().saturating_sub(self.since);
        if self.drift == 0 {
            return Instant::from_ps(self.shown + passed);
        }
        let passed = u128::from(passed) * self.rate() / MILLION;
        Instant::from_ps(self.shown.saturating_add(passed.try_into().unwrap_or(u64::MAX)))
    }

    /// The first true time at which it shows `instant` or more.
    pub fn when(&self, instant: Instant) -> Time {
        let ahead = instant.as_ps().saturating_sub(self.shown);
        if self.drift == 0 {
            return Time::from_ps(self.since.saturating_add(ahead));
        }
        let ahead = (u128::from(ahead) * MILLION).div_ceil(self.rate());
        Time::from_ps(self.since.saturating_add(ahead.try_into().unwrap_or(u64::MAX)))
    }

    /// It jumps ahead at the true time `now`, and goes at another rate from then on.
    pub fn set(&mut self, now: Time, ahead: Time, drift: i32) {
        let shown = self.at(now).as_ps().saturating_add(ahead.as_ps());
        *self = Self { shown, since: now.as_ps(), drift };
    }

    /// Millionths of its time that pass in a millionth of true time: at least one.
    fn rate(&self) -> u128 {
        u128::from((1_000_000 + i64::from(self.drift)).max(1).unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_shows_an_instant_when_it_says_so() {
        seeds::each!(200, |seed| {
            let mut clock = Clock::default();
            let mut now = 0;
            for step in 0..20 {
                let random = seed.wrapping_add(step).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                now += random >> 40;
                let before = clock.at(Time::from_ps(now));
                let drift = (random % 1000) as i32 - 500;
                clock.set(Time::from_ps(now), Time::from_ps(random % 3), drift);
                assert!(clock.at(Time::from_ps(now)) >= before, "it went back");
                let instant = Instant::from_ps(before.as_ps() + (random >> 44));
                let when = clock.when(instant);
                assert!(clock.at(when) >= instant, "{clock:?} at {when}");
                let earlier = when.saturating_sub(Time::from_ps(1));
                assert!(when <= Time::from_ps(now) || clock.at(earlier) < instant);
            }
        });
    }
}
