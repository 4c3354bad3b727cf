//! The bound of a wait.

use std::time::{Duration, Instant};

use rustix::event::Timespec;

use crate::Error;

/// A moment by which a wait must have ended, and the bound it came from (for the error's sake).
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    at: Instant,
    bound: Duration,
}

impl Deadline {
    /// The longest bound: a year. A longer one is taken for this.
    pub const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

    /// `bound` from now.
    pub fn after(bound: Duration) -> Self {
        let bound = bound.min(Self::LONGEST);
        Self { at: Instant::now() + bound, bound }
    }

    /// What is left of the bound; zero once it has passed.
    pub fn left(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    /// What is left, as `poll` takes it; the error of a wait for `waited_for` once nothing is.
    pub(crate) fn timespec(&self, waited_for: &'static str) -> Result<Timespec, Error> {
        let left = self.left();
        if left.is_zero() {
            return Err(Error::Timeout { waited_for, bound: self.bound });
        }
        Ok(Timespec::try_from(left).expect("a bound of at most a year fits a timespec"))
    }
}
