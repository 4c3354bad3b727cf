// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random streams and shares of a mix.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The stream of one agent: what it draws depends on seed and agent, not on other agents.
/// Stream 0 of a seed is left to what concerns all agents ([`common_stream`]).
pub(crate) fn agent_stream(seed: u64, agent: u32) -> ChaCha8Rng {
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

/// The place in `shares`, which are percentages and sum to 100, that one draw falls on.
pub(crate) fn draw_share(shares: impl Iterator<Item = u32>, random: &mut impl Rng) -> usize {
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
