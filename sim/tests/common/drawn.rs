// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cases of a random test, drawn from a seed that is told.

use std::hash::{BuildHasher, RandomState};

use proptest::test_runner::{Config, RngSeed};

/// Draws `cases` from the seed in `PROPTEST_RNG_SEED`, or from a new one, and prints
/// the command that repeats them, which is seen when the test fails.
pub fn drawn(test_file: &str, cases: u32) -> Config {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let seed = match config.rng_seed {
        RngSeed::Fixed(seed) => seed,
        RngSeed::Random => RandomState::new().hash_one(()),
    };
    println!(
        "seed {seed}; again with: PROPTEST_RNG_SEED={seed} \
         cargo test -p {} --test {test_file}",
        env!("CARGO_PKG_NAME")
    );
    Config { rng_seed: RngSeed::Fixed(seed), ..config }
}
