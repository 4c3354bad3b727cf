// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which buckets of a level have events: one bit for each, and one for each 64 of those.
//!
//! `#[inline]` as the kernel, being generic, is compiled in the crates that use it.

use std::hint::select_unpredictable;

use super::wheel::BUCKETS;

const WORDS: usize = BUCKETS / 64;

/// A set of buckets that is searched in two steps, however few there are in it.
pub(super) struct Occupied {
    words: [u64; WORDS],
    /// Bit `i` says that word `i` is not zero.
    summary: u64,
}

// The summary is one word.
const _: () = assert!(WORDS == 64);

impl Occupied {
    pub const fn none() -> Self {
        Occupied { words: [0; WORDS], summary: 0 }
    }

    #[inline]
    pub fn insert(&mut self, bucket: usize) {
        self.words[bucket / 64] |= 1 << (bucket % 64);
        self.summary |= 1 << (bucket / 64);
    }

    #[inline]
    pub fn remove(&mut self, bucket: usize) {
        let word = &mut self.words[bucket / 64];
        *word &= !(1 << (bucket % 64));
        self.summary &= !(u64::from(*word == 0) << (bucket / 64));
    }

    /// The first bucket of the set from `from` on, around the end if need be.
    #[inline]
    pub fn next_around(&self, from: usize) -> Option<usize> {
        if self.summary == 0 {
            return None;
        }
        let here = self.words[from / 64] & (u64::MAX << (from % 64));
        // Words behind `from` come first. The word of `from` itself comes last, as its rest is empty.
        let turn = (from / 64 + 1) as u32;
        let other = (turn + self.summary.rotate_right(turn).trailing_zeros()) as usize % WORDS;
        // A branch would go either way.
        let word = select_unpredictable(here != 0, from / 64, other);
        let bits =
            select_unpredictable(here != 0, u64::MAX << (from % 64), u64::MAX) & self.words[word];
        Some(word * 64 + bits.trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_bucket_is_found_around_the_end() {
        let mut set = Occupied::none();
        assert_eq!(set.next_around(7), None);
        for bucket in [0, 63, 64, 700, BUCKETS - 1] {
            set.insert(bucket);
        }
        for (from, next) in [(0, 0), (1, 63), (64, 64), (65, 700), (701, BUCKETS - 1)] {
            assert_eq!(set.next_around(from), Some(next), "from {from}");
        }
        for bucket in [0, 64, BUCKETS - 1] {
            set.remove(bucket);
        }
        assert_eq!(set.next_around(701), Some(63));
        assert_eq!(set.next_around(64), Some(700));
        set.remove(700);
        assert_eq!(set.next_around(64), Some(63));
        set.remove(63);
        assert_eq!(set.next_around(64), None);
    }
}
