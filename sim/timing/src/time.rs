// SPDX-License-Identifier: MIT OR Apache-2.0
//! Virtual time: an integer count of picoseconds.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

/// A point in, or a length of, virtual time, in picoseconds.
///
/// 64 bits last for 213 days; arithmetic that leaves them panics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The start of every run, and the empty duration.
    pub const ZERO: Time = Time(0);
    /// The last representable instant.
    pub const MAX: Time = Time(u64::MAX);

    /// `picoseconds` ps.
    pub const fn from_ps(picoseconds: u64) -> Self {
        Time(picoseconds)
    }

    /// `nanoseconds` ns.
    ///
    /// # Panics
    /// When the result does not fit 64 bits of picoseconds.
    pub const fn from_ns(nanoseconds: u64) -> Self {
        Self::scaled(nanoseconds, 1_000)
    }

    /// `microseconds` µs.
    ///
    /// # Panics
    /// When the result does not fit 64 bits of picoseconds.
    pub const fn from_us(microseconds: u64) -> Self {
        Self::scaled(microseconds, 1_000_000)
    }

    /// `nanoseconds` ns, or [`Time::MAX`] when they do not fit 64 bits of picoseconds: for lengths of
    /// somebody's choice, which may well be meant as "never".
    pub const fn saturating_from_ns(nanoseconds: u64) -> Self {
        Time(nanoseconds.saturating_mul(1_000))
    }

    const fn scaled(count: u64, picoseconds_each: u64) -> Self {
        match count.checked_mul(picoseconds_each) {
            Some(picoseconds) => Time(picoseconds),
            None => panic!("virtual time does not fit 64 bits of picoseconds"),
        }
    }

    /// Whole picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Whole nanoseconds, rounded down.
    pub const fn as_ns(self) -> u64 {
        self.0 / 1_000
    }

    /// Nanoseconds, for reports.
    pub fn as_ns_f64(self) -> f64 {
        self.0 as f64 / 1_000.0
    }

    /// `self - earlier`, or zero when `earlier` is later.
    pub const fn saturating_sub(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }

    /// `self + length`, or [`Time::MAX`].
    pub const fn saturating_add(self, length: Time) -> Time {
        Time(self.0.saturating_add(length.0))
    }

    /// The least multiple of `period` that is not less than this.
    ///
    /// # Panics
    /// When `period` is zero, or the multiple leaves 64 bits of picoseconds.
    pub const fn next_multiple_of(self, period: Time) -> Time {
        match self.0.checked_next_multiple_of(period.0) {
            Some(picoseconds) => Time(picoseconds),
            None => panic!("virtual time passed 2^64 ps, or a period of 0"),
        }
    }
}

impl Add for Time {
    type Output = Time;

    fn add(self, length: Time) -> Time {
        Time(self.0.checked_add(length.0).expect("virtual time passed 2^64 ps"))
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, length: Time) {
        *self = *self + length;
    }
}

impl Sub for Time {
    type Output = Time;

    fn sub(self, earlier: Time) -> Time {
        Time(self.0.checked_sub(earlier.0).expect("a length of virtual time below zero"))
    }
}

impl Mul<u64> for Time {
    type Output = Time;

    fn mul(self, times: u64) -> Time {
        Time(self.0.checked_mul(times).expect("virtual time passed 2^64 ps"))
    }
}

impl fmt::Display for Time {
    /// Exact, in the largest unit of ps, ns and µs that is not above the value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (divisor, digits, unit) = match self.0 {
            0..1_000 => return write!(f, "{} ps", self.0),
            1_000..1_000_000 => (1_000, 3, "ns"),
            _ => (1_000_000, 6, "us"),
        };
        let (whole, rest) = (self.0 / divisor, self.0 % divisor);
        if rest == 0 {
            return write!(f, "{whole} {unit}");
        }
        let fraction = format!("{rest:0digits$}");
        write!(f, "{whole}.{} {unit}", fraction.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_stays_within_64_bits_or_says_so() {
        let period = Time::from_ns(4);
        assert_eq!(period * 3, Time::from_ns(12));
        assert_eq!(Time::from_ps(4_001).next_multiple_of(period), Time::from_ns(8));
        assert_eq!(Time::from_ns(8).next_multiple_of(period), Time::from_ns(8));
        assert_eq!(
            (Time::from_ps(1_999).as_ns(), Time::MAX.saturating_add(period)),
            (1, Time::MAX)
        );
        assert_eq!(Time::saturating_from_ns(u64::MAX), Time::MAX);
        for overflow in [|| Time::MAX * 2, || Time::MAX + Time::from_ps(1)] {
            assert!(std::panic::catch_unwind(overflow).is_err());
        }
    }

    #[test]
    fn times_are_printed_exactly() {
        for (time, text) in [
            (Time::from_ps(0), "0 ps"),
            (Time::from_ps(999), "999 ps"),
            (Time::from_ns(80), "80 ns"),
            (Time::from_ps(4_200), "4.2 ns"),
            (Time::from_ps(1_000_001), "1.000001 us"),
            (Time::from_us(3), "3 us"),
        ] {
            assert_eq!(time.to_string(), text);
        }
    }
}
