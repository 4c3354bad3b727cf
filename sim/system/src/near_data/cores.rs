// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's cores: each does one thing at a time.

use timing::Time;

/// When each core is free.
pub(crate) struct Cores(Vec<Time>);

impl Cores {
    pub fn new(cores: u32) -> Self {
        Self(vec![Time::ZERO; cores as usize])
    }

    /// Gives a core so much to do behind what it has; when that is done.
    pub fn work(&mut self, core: u32, now: Time, length: Time) -> Time {
        let free = &mut self.0[core as usize];
        *free = now.max(*free) + length;
        *free
    }
}
