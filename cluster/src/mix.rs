// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers that look drawn, of numbers that are in order: for placement, pauses and digests.

/// 2^64 divided by the golden ratio, made odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A step of SplitMix64: all bits of the result depend on all bits of `word`, and no two words have the
/// same result.
pub fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(GOLDEN);
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// The word of which [`mix`] makes this.
pub(crate) fn unmix(word: u64) -> u64 {
    let word = (word ^ word >> 31 ^ word >> 62).wrapping_mul(0x3196_42b2_d24d_8ec3);
    let word = (word ^ word >> 27 ^ word >> 54).wrapping_mul(0x96de_1b17_3f11_9089);
    (word ^ word >> 30 ^ word >> 60).wrapping_sub(GOLDEN)
}

/// Brings a mixed number below `limit` evenly, by its upper bits.
pub(crate) fn scale(mixed: u64, limit: u64) -> u64 {
    ((u128::from(mixed) * u128::from(limit)) >> 64) as u64
}
