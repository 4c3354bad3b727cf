//! Waiting for another thread that has only finite work to do.

use std::hint::spin_loop;
use std::thread::yield_now;
use std::time::{Duration, Instant};

/// About as long as a commit takes to be installed.
const SPINS: u32 = 200;
/// Between two looks at the clock.
const YIELDS: u32 = 16;

/// One wait.
pub(super) struct Patience {
    limit: Duration,
    looks: u32,
    /// Set late, so that a short wait never asks for the time.
    since: Option<Instant>,
}

impl Patience {
    pub fn new(limit: Duration) -> Self {
        Self { limit, looks: 0, since: None }
    }

    /// Waits a moment; an error is the time waited, when it is over the limit.
    pub fn pause(&mut self) -> Result<(), Duration> {
        self.looks = self.looks.wrapping_add(1);
        if self.looks < SPINS && self.since.is_none() {
            spin_loop();
            return Ok(());
        }
        if self.looks.is_multiple_of(YIELDS) {
            let waited = self.since.get_or_insert_with(Instant::now).elapsed();
            if waited > self.limit {
                return Err(waited);
            }
        }
        yield_now();
        Ok(())
    }
}
