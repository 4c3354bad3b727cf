// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transaction timestamps, as they stand in the words of a bucket.

use std::fmt;

/// The timestamp that names a transaction in the lock table: 1 to 2⁴⁸ − 1.
///
/// Timestamps are unique per transaction and come from one monotonic source, so a smaller one is
/// an older transaction (ccSLT paper, section 3, "a small queue that stores the timestamps of
/// transactions").
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// Width of a timestamp in bits.
    pub const BITS: u32 = 48;
    /// The largest timestamp.
    pub const MAX: Timestamp = Timestamp((1 << Self::BITS) - 1);

    /// A timestamp from its number; `None` for 0 and for numbers of more than 48 bits.
    #[inline]
    pub const fn new(number: u64) -> Option<Self> {
        if number == 0 || number > Self::MAX.0 { None } else { Some(Self(number)) }
    }

    /// The timestamp of one try of a transaction: as old as its first try, and yet another word.
    ///
    /// A transaction that wait-die refused must come back as old as it was, so that it lives in
    /// the end. It must not come back with the very same timestamp: a head that it held before and
    /// holds again would look unchanged to an observer that saw it in between, though other waiters
    /// may be in the queue by now.
    ///
    /// `age` orders transactions by age and is unique to each; `attempt` counts its tries.
    /// `None` when `age` is 0 or has more than 40 bits.
    #[inline]
    pub const fn of_attempt(age: u64, attempt: u8) -> Option<Self> {
        if age == 0 || age >> (Self::BITS - 8) != 0 {
            return None;
        }
        Self::new(age << 8 | attempt as u64)
    }

    /// The number, 1 to 2⁴⁸ − 1.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The word that stands in a slot, or in word 0 of a bucket that nobody waits for.
    #[inline]
    pub const fn word(self) -> u64 {
        self.0 << 16
    }

    /// The timestamp in a word of a bucket; `None` when there is none.
    #[inline]
    pub const fn of_word(word: u64) -> Option<Self> {
        Self::new(word >> 16)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "T{}", self.0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_enforced() {
        assert!(Timestamp::new(0).is_none());
        assert!(Timestamp::new(1 << 48).is_none());
        assert_eq!(Timestamp::new((1 << 48) - 1), Some(Timestamp::MAX));
    }

    #[test]
    fn tries_are_as_old_as_their_transaction_and_all_different() {
        let of = |age, attempt| Timestamp::of_attempt(age, attempt).unwrap();
        assert!(of(1, 0) < of(1, 1) && of(1, 255) < of(2, 0));
        assert!(Timestamp::of_attempt(0, 1).is_none());
        assert!(Timestamp::of_attempt(1 << 40, 0).is_none());
        assert_eq!(Timestamp::of_attempt((1 << 40) - 1, 255), Some(Timestamp::MAX));
    }

    #[test]
    fn words_carry_the_timestamp_above_the_queue_bits() {
        let t = Timestamp::new(0xABC).unwrap();
        assert_eq!(t.word(), 0xABC_0000);
        assert_eq!(Timestamp::of_word(t.word() | 0xFFFF), Some(t));
        assert_eq!(Timestamp::of_word(0xFFFF), None);
    }
}
