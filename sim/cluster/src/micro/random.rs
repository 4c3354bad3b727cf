// SPDX-License-Identifier: MIT OR Apache-2.0
//! A small generator for choices of benchmarks.

/// SplitMix64.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Random(u64);

impl Random {
    /// The generator of a thread.
    pub fn of(seed: u64, node: u16, thread: u8) -> Self {
        let mut random = Self(seed ^ (u64::from(node) << 40 | u64::from(thread) << 32));
        random.next();
        random
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}
