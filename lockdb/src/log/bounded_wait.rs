// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waiting for another thread that has only finite work to do.

use std::hint::spin_loop;
use std::thread::{sleep, yield_now};
use std::time::{Duration, Instant};

/// About as long as a commit takes to be installed.
const SPINS: u32 = 200;
/// Between two looks at the clock.
const YIELDS: u32 = 16;
/// After this time a waiter sleeps briefly, since the other thread may need this processor.
const AWAKE: Duration = Duration::from_millis(1);
const NAP: Duration = Duration::from_micros(50);

/// One wait.
pub(super) struct BoundedWait {
    limit: Duration,
    looks: u32,
    /// The last look at the clock: a late one, so that a short wait never asks for the time.
    looked: Option<Instant>,
    waited: Duration,
}

/// A pause counts as at most this part of the limit: a thread that was stopped for longer (a
/// process by a signal, a machine with its host) has not waited, for the others were stopped as
/// well.
const PART: u32 = 16;

impl BoundedWait {
    pub fn new(limit: Duration) -> Self {
        Self { limit, looks: 0, looked: None, waited: Duration::ZERO }
    }

    /// Waits a moment; an error is the time waited, when it is over the limit.
    pub fn pause(&mut self) -> Result<(), Duration> {
        self.looks = self.looks.wrapping_add(1);
        if self.looks < SPINS && self.looked.is_none() {
            spin_loop();
            return Ok(());
        }
        let naps = self.waited > AWAKE;
        if naps || self.looks.is_multiple_of(YIELDS) {
            let now = Instant::now();
            let pause = now - self.looked.replace(now).unwrap_or(now);
            self.waited += pause.min(self.limit / PART);
            if self.waited > self.limit {
                return Err(self.waited);
            }
        }
        if naps {
            sleep(NAP)
        } else {
            yield_now()
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_stopped_goes_on_waiting() {
        let limit = Duration::from_millis(20);
        let mut wait = BoundedWait::new(limit);
        (0..SPINS + YIELDS).for_each(|_| wait.pause().expect("a moment, many times"));
        std::thread::sleep(3 * limit);
        (0..YIELDS).for_each(|_| wait.pause().expect("one long pause"));
        let waited = (0..).find_map(|_| wait.pause().err());
        assert!(waited > Some(limit));
    }
}
