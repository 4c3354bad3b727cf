// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random streams and shares of a mix.

use std::convert::Infallible;

use rand::{Rng, RngExt, SeedableRng, TryRng};
use rand_chacha::ChaCha8Rng;

/// The stream of one agent: what it draws depends on seed and agent, not on other agents.
/// Stream 0 of a seed is left to what concerns all agents.
pub fn agent_stream(seed: u64, agent: u32) -> ChaCha8Rng {
    numbered_stream(seed, u64::from(agent) + 1)
}

/// What all agents share: populations, constants of a run. `part` is below 2^32 - 1.
pub(crate) fn common_stream(seed: u64, part: u32) -> ChaCha8Rng {
    // Agents have streams 1 to 2^32.
    numbered_stream(seed, if part == 0 { 0 } else { (1 << 32) + u64::from(part) })
}

fn numbered_stream(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(stream);
    random
}

/// A short stream for one row of a population: what it draws depends on seed, part and key alone. So the
/// contents of a row can be had without those of the rows before it, and in a few nanoseconds, for which
/// ChaCha's blocks are too long.
///
/// It is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), begun at a mixture of the key.
#[derive(Clone, Debug)]
pub(crate) struct RowStream(u64);

impl RowStream {
    /// `part` keeps the draws of different purposes apart.
    pub(crate) fn new(seed: u64, part: u64, key: &[i64]) -> Self {
        let absorb = |state: u64, word: u64| mix((state ^ word).wrapping_add(GOLDEN));
        Self(
            key.iter()
                .fold(absorb(absorb(0, seed), part), |state, word| absorb(state, *word as u64)),
        )
    }
}

/// 2^64 divided by the golden ratio, made odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A bijection of which every bit of the result depends on all bits.
fn mix(mut word: u64) -> u64 {
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

impl TryRng for RowStream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.next_u64() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0 = self.0.wrapping_add(GOLDEN);
        Ok(mix(self.0))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        // Lengths that the compiler knows are copied without a call.
        let (words, rest) = bytes.as_chunks_mut::<8>();
        for word in words {
            *word = self.next_u64().to_le_bytes();
        }
        if !rest.is_empty() {
            rest.copy_from_slice(&self.next_u64().to_le_bytes()[..rest.len()]);
        }
        Ok(())
    }
}

/// The place in `shares`, which are percentages and sum to 100, that one draw falls on.
///
/// # Panics
/// When they sum to less, and the draw falls on none.
pub fn draw_share(shares: impl Iterator<Item = u32>, random: &mut impl Rng) -> usize {
    let mut percent = random.random_range(0..100u32);
    for (place, share) in shares.enumerate() {
        if percent < share {
            return place;
        }
        percent -= share;
    }
    unreachable!("the shares of a mix sum to 100 percent")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ() {
        let first = |mut random: ChaCha8Rng| random.next_u64();
        let draws = [
            first(common_stream(1, 0)),
            first(common_stream(1, 1)),
            first(agent_stream(1, 0)),
            first(agent_stream(1, 1)),
            first(agent_stream(1, u32::MAX)),
            first(agent_stream(2, 0)),
        ];
        for (place, draw) in draws.iter().enumerate() {
            assert!(!draws[..place].contains(draw), "stream {place} is another's");
        }
    }

    #[test]
    fn rows_have_streams_of_their_own() {
        // The generator's published first numbers from the state 1234567.
        let mut known = RowStream(1_234_567);
        assert_eq!(known.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(known.next_u64(), 3_203_168_211_198_807_973);
        let first = |seed, part, key: &[i64]| RowStream::new(seed, part, key).next_u64();
        let draws = [
            first(1, 0, &[0]),
            first(2, 0, &[0]),
            first(1, 1, &[0]),
            first(1, 0, &[1]),
            first(1, 0, &[-1]),
            first(1, 0, &[0, 0]),
            first(1, 0, &[0, 1]),
            first(1, 0, &[1, 0]),
        ];
        for (place, draw) in draws.iter().enumerate() {
            assert!(!draws[..place].contains(draw), "stream {place} is another's");
        }
    }

    #[test]
    fn shares_are_drawn_in_proportion() {
        let mut random = agent_stream(7, 0);
        let mut seen = [0; 3];
        for _ in 0..100_000 {
            seen[draw_share([45, 0, 55].into_iter(), &mut random)] += 1;
        }
        assert_eq!(seen[1], 0);
        assert!((44_000..46_000).contains(&seen[0]), "{seen:?}");
    }
}
