// SPDX-License-Identifier: MIT OR Apache-2.0
//! A small generator for choices of benchmarks.

use cluster::mix;

/// A count, of which each number is mixed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Random(u64);

impl Random {
    /// The generator of a thread.
    pub fn of(seed: u64, node: u16, thread: u8) -> Self {
        let mut random = Self(mix(seed ^ (u64::from(node) << 40 | u64::from(thread) << 32)));
        random.next();
        random
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix(self.0)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}
