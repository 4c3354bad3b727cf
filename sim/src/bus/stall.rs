// SPDX-License-Identifier: MIT OR Apache-2.0
//! Seeded random stalls.
//!
//! Each channel draws from its own ChaCha stream, chosen by its name, so that adding a
//! channel or changing the pattern of one does not disturb the others.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// When a channel holds back.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum StallPattern {
    /// Never.
    #[default]
    None,
    /// In each cycle by itself with this probability, 0 to 1.
    Random {
        /// Probability of a stalled cycle.
        probability: f64,
    },
    /// In runs: in each free cycle a run begins with this probability and then lasts 1
    /// to `longest` cycles, evenly drawn.
    Burst {
        /// Probability that a run begins in a free cycle.
        probability: f64,
        /// Longest run in cycles, at least 1.
        longest: u32,
    },
}

/// The stalls of one channel.
#[derive(Debug, Clone)]
pub struct Stall {
    kind: Kind,
    generator: ChaCha8Rng,
}

/// A pattern with its probability as the bound of a 32-bit draw.
#[derive(Debug, Clone, Copy)]
enum Kind {
    None,
    Random { below: u64 },
    Burst { below: u64, longest: u32, left: u32 },
}

impl Stall {
    /// Stalls of `channel` (any name that is unique in the run) after `pattern`.
    ///
    /// # Panics
    /// When a probability is not within 0 to 1 or `longest` is 0.
    pub fn new(pattern: StallPattern, seed: u64, channel: &str) -> Self {
        let kind = match pattern {
            StallPattern::None => Kind::None,
            StallPattern::Random { probability } => Kind::Random { below: below(probability) },
            StallPattern::Burst { probability, longest } => {
                assert!(longest > 0, "stall of {channel}: longest is 0, expected at least 1");
                Kind::Burst { below: below(probability), longest, left: 0 }
            }
        };
        Stall { kind, generator: channel_generator(seed, channel) }
    }

    /// Whether the channel holds back in this cycle. Call once a cycle.
    #[inline(always)]
    pub fn stalled(&mut self) -> bool {
        // Apart, so that a channel without stalls costs one comparison.
        !matches!(self.kind, Kind::None) && self.drawn()
    }

    #[inline(never)]
    fn drawn(&mut self) -> bool {
        match &mut self.kind {
            Kind::None => false,
            Kind::Random { below } => u64::from(self.generator.next_u32()) < *below,
            Kind::Burst { left, .. } if *left > 0 => {
                *left -= 1;
                true
            }
            Kind::Burst { below, longest, left } => {
                let begins = u64::from(self.generator.next_u32()) < *below;
                if begins {
                    *left = self.generator.random_range(0..*longest);
                }
                begins
            }
        }
    }
}

/// The random stream of `channel` under `seed`: ChaCha keyed by the seed, its 64-bit
/// stream number the FNV-1a hash of the name.
pub fn channel_generator(seed: u64, channel: &str) -> ChaCha8Rng {
    let hash = channel.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(hash);
    generator
}

/// A 32-bit draw lies below this with `probability`; 2^32 for certainty.
pub(crate) fn below(probability: f64) -> u64 {
    assert!(
        (0.0..=1.0).contains(&probability),
        "stall probability is {probability}, expected 0 to 1"
    );
    (probability * 4_294_967_296.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(pattern: StallPattern, seed: u64, channel: &str, cycles: usize) -> Vec<bool> {
        let mut stall = Stall::new(pattern, seed, channel);
        (0..cycles).map(|_| stall.stalled()).collect()
    }

    #[test]
    fn the_same_seed_and_name_repeat_and_others_differ() {
        let pattern = StallPattern::Random { probability: 0.5 };
        let one = draw(pattern, 7, "m_axi AW", 256);
        assert_eq!(one, draw(pattern, 7, "m_axi AW", 256));
        assert_ne!(one, draw(pattern, 8, "m_axi AW", 256));
        assert_ne!(one, draw(pattern, 7, "m_axi AR", 256));
    }

    #[test]
    fn stalls_as_often_as_asked() {
        let share = |pattern| draw(pattern, 1, "a", 100_000).iter().filter(|s| **s).count();
        assert_eq!(share(StallPattern::None), 0);
        assert_eq!(share(StallPattern::Random { probability: 0.0 }), 0);
        assert_eq!(share(StallPattern::Random { probability: 1.0 }), 100_000);
        assert!((24_000..26_000).contains(&share(StallPattern::Random { probability: 0.25 })));
        // A free stretch lasts 9 cycles on average (chance 0.1), a run 5.5.
        let bursts = share(StallPattern::Burst { probability: 0.1, longest: 10 });
        assert!((35_000..41_000).contains(&bursts), "{bursts}");
    }

    #[test]
    fn bursts_reach_their_longest_run() {
        let drawn = draw(StallPattern::Burst { probability: 0.01, longest: 4 }, 3, "a", 20_000);
        let runs = drawn.split(|stalled| !stalled).map(<[bool]>::len);
        let lengths: std::collections::BTreeSet<usize> = runs.filter(|run| *run > 0).collect();
        assert!(lengths.is_superset(&(1..=4).collect()), "{lengths:?}");
    }

    #[test]
    #[should_panic(expected = "stall probability is 1.5, expected 0 to 1")]
    fn refuses_an_impossible_probability() {
        Stall::new(StallPattern::Random { probability: 1.5 }, 0, "a");
    }
}
