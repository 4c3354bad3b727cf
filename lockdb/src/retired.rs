// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages and VIDs that can no longer be found, but that a transaction may have found before, until
//! they can be reused.

use std::collections::VecDeque;

use super::pins::{OldSnapshot, Pins};

/// So many are made free at once, while others wait to take one.
const RECLAIMED_AT_ONCE: usize = 256;

/// Unlinked pages or VIDs, each with the commit that was published when it was unlinked, in the order
/// of these.
#[derive(Debug)]
pub(super) struct Retired<T>(VecDeque<(u64, T)>);

impl<T> Default for Retired<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> Retired<T> {
    /// Reused when all transactions that may have found it before `stamp` have ended.
    pub fn push(&mut self, stamp: u64, unlinked: T) {
        self.0.push_back((stamp, unlinked));
    }

    /// Makes some free whose readers have ended.
    pub fn reclaim_into(&mut self, free: &mut Vec<T>, pins: &Pins) {
        if self.0.is_empty() {
            return;
        }
        let oldest = pins.oldest().unwrap_or(u64::MAX);
        let passed = self.0.iter().take(RECLAIMED_AT_ONCE);
        let passed = passed.take_while(|&&(stamp, _)| stamp < oldest).count();
        free.extend(self.0.drain(..passed).map(|(_, unlinked)| unlinked));
    }

    /// Whether some cannot be reused yet by transactions that begin now, after commit `published`.
    pub fn await_commit(&self, published: u64) -> bool {
        self.0.back().is_some_and(|&(stamp, _)| stamp >= published)
    }

    /// The stamp of the one that has waited longest.
    pub fn oldest_stamp(&self) -> Option<u64> {
        self.0.front().map(|&(stamp, _)| stamp)
    }

    /// The snapshot that keeps that one from being used again.
    pub fn keeper(&self, pins: &Pins) -> Option<OldSnapshot> {
        pins.keeper(self.oldest_stamp()?)
    }
}
