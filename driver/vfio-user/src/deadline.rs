// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bound of a wait.

use std::time::{Duration, Instant};

use rustix::event::Timespec;

use crate::Error;

/// A moment by which a wait must have ended, and the bound it came from (for the error's sake).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    at: Instant,
    bound: Duration,
}

impl Deadline {
    /// The longest bound: a year. A longer one is taken for this.
    const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

    /// `bound` from now.
    pub(crate) fn after(bound: Duration) -> Self {
        let bound = bound.min(Self::LONGEST);
        Self { at: Instant::now() + bound, bound }
    }

    /// What is left of the bound; zero once it has passed.
    pub(crate) fn left(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    /// The error of a wait for `waited_for`, once nothing is left.
    pub(crate) fn check(&self, waited_for: &'static str) -> Result<(), Error> {
        if self.left().is_zero() {
            return Err(Error::Timeout { waited_for, bound: self.bound });
        }
        Ok(())
    }

    /// What is left, as `poll` takes it.
    pub(crate) fn timespec(&self, waited_for: &'static str) -> Result<Timespec, Error> {
        self.check(waited_for)?;
        Ok(Timespec::try_from(self.left()).expect("a bound of at most a year fits a timespec"))
    }
}
