// SPDX-License-Identifier: MIT OR Apache-2.0
//! Points and lengths of time as machines see them.

use std::ops::{Add, Sub};

/// A point of time in picoseconds since the start of the node's clock. It is the driver's to give; a
/// machine never reads a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// So many picoseconds after the clock's start.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Picoseconds after the clock's start.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// How long ago `earlier` was; nothing if it has yet to come.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

/// A length of time in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Span {
    /// So many picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// So many nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns * 1_000)
    }

    /// So many microseconds.
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000_000)
    }

    /// Its picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }
}

impl Add<Span> for Instant {
    type Output = Self;

    fn add(self, span: Span) -> Self {
        Self(self.0 + span.0)
    }
}

impl Sub<Span> for Instant {
    type Output = Self;

    /// Not before the clock's start.
    fn sub(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}
