//! Virtual time: an integer count of picoseconds.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A point in, or a length of, virtual time, in picoseconds.
///
/// 64 bits last for 213 days; arithmetic that leaves them panics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

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

    /// Nanoseconds, for reports.
    pub fn as_ns_f64(self) -> f64 {
        self.0 as f64 / 1_000.0
    }

    /// `self - earlier`, or zero when `earlier` is later.
    pub const fn saturating_sub(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
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
    fn times_are_printed_exactly() {
        for (time, text) in [
            (Time(0), "0 ps"),
            (Time(999), "999 ps"),
            (Time::from_ns(80), "80 ns"),
            (Time(4_200), "4.2 ns"),
            (Time(1_000_001), "1.000001 us"),
            (Time::from_us(3), "3 us"),
        ] {
            assert_eq!(time.to_string(), text);
        }
    }
}
