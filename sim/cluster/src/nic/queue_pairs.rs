// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cache of a card for the state of its connections, its queue pairs.

/// A set-associative cache of queue pairs; each set replaces the one that was used least recently.
///
/// The state of all others stands in the host's memory, and has to be fetched from there.
#[derive(Clone, Debug)]
pub struct QueuePairCache {
    ways: usize,
    sets: usize,
    /// The queue pairs of each set, the most recent first; [`QueuePairCache::NONE`] behind them.
    held: Vec<u32>,
    misses: u64,
    uses: u64,
}

impl QueuePairCache {
    /// No queue pair has this number.
    const NONE: u32 = u32::MAX;

    /// An empty cache for `entries` queue pairs, in sets of `ways`.
    ///
    /// # Panics
    /// When `ways` is 0 or `entries` is no multiple of it above 0. The reader of platform files
    /// refuses such a cache.
    pub fn new(entries: usize, ways: usize) -> Self {
        assert!(
            ways > 0 && entries > 0 && entries.is_multiple_of(ways),
            "{entries} in {ways} ways"
        );
        QueuePairCache {
            ways,
            sets: entries / ways,
            held: vec![Self::NONE; entries],
            misses: 0,
            uses: 0,
        }
    }

    /// Uses a queue pair; whether it was there.
    pub fn touch(&mut self, queue_pair: u32) -> bool {
        debug_assert_ne!(queue_pair, Self::NONE, "no queue pair has this number");
        self.uses += 1;
        let first = self.set_of(queue_pair) * self.ways;
        let set = &mut self.held[first..first + self.ways];
        let found = set.iter().position(|held| *held == queue_pair);
        // All that were used since are one place older now.
        set[..=found.unwrap_or(self.ways - 1)].rotate_right(1);
        set[0] = queue_pair;
        self.misses += u64::from(found.is_none());
        found.is_some()
    }

    /// Numbers are scattered over the sets, as those of a host's queue pairs have no order that a cache
    /// could use.
    fn set_of(&self, queue_pair: u32) -> usize {
        // The finalizer of MurmurHash3 with 64 bits.
        let mut mixed = u64::from(queue_pair) + 1;
        for factor in [0xff51_afd7_ed55_8ccd_u64, 0xc4ce_b9fe_1a85_ec53] {
            mixed = (mixed ^ (mixed >> 33)).wrapping_mul(factor);
        }
        ((mixed ^ (mixed >> 33)) % self.sets as u64) as usize
    }

    /// How often a queue pair was used.
    pub fn uses(&self) -> u64 {
        self.uses
    }

    /// How often it was not there.
    pub fn misses(&self) -> u64 {
        self.misses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_gives_way() {
        let mut cache = QueuePairCache::new(2, 2);
        assert_eq!(
            [1, 2, 1, 3, 1, 2].map(|pair| cache.touch(pair)),
            [false, false, true, false, true, false]
        );
        assert_eq!((cache.uses(), cache.misses()), (6, 4));
    }

    #[test]
    fn what_fits_is_never_fetched_again() {
        let mut cache = QueuePairCache::new(64, 64);
        for round in 0..10 {
            for pair in 0..64 {
                assert_eq!(cache.touch(pair), round > 0);
            }
        }
    }

    /// The sets do not fill evenly, so misses begin before the cache is full.
    #[test]
    fn misses_rise_with_the_number_of_queue_pairs() {
        let misses = |pairs: u32| {
            let mut cache = QueuePairCache::new(128, 4);
            let mut state = 1_u64;
            for _ in 0..50_000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                cache.touch((state >> 33) as u32 % pairs);
            }
            cache.misses()
        };
        assert!(misses(48) < misses(89) && misses(89) < misses(176) && misses(176) < misses(800));
    }
}
