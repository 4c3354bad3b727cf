// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statistics for the tests of this crate.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const DRAWS: u64 = 200_000;

/// Chi-square statistic of 200,000 draws against the expected shares, minus its mean, in standard
/// deviations. Values are pooled until each pool expects at least 20 draws.
pub(crate) fn chi_square_deviation(
    draw: impl Fn(&mut ChaCha8Rng) -> usize,
    shares: &[f64],
    seed: u64,
) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut seen = vec![0u64; shares.len()];
    for _ in 0..DRAWS {
        seen[draw(&mut random)] += 1;
    }
    let (mut statistic, mut pools) = (0.0, 0.0);
    let (mut expected, mut observed) = (0.0, 0.0);
    for (value, share) in shares.iter().enumerate() {
        expected += share * DRAWS as f64;
        observed += seen[value] as f64;
        if expected >= 20.0 {
            statistic += (observed - expected).powi(2) / expected;
            pools += 1.0;
            (expected, observed) = (0.0, 0.0);
        }
    }
    let freedom: f64 = pools - 1.0;
    (statistic - freedom) / (2.0 * freedom).sqrt()
}
