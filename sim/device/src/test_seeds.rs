// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random tests that print their seed and the command that repeats it.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Runs `test`, whose path is `name`, for `cases` seeds or LOCKSTEP_CASES of them, or for
/// LOCKSTEP_SEED alone.
pub(crate) fn for_each_seed(name: &str, cases: u64, test: impl Fn(&mut ChaCha8Rng)) {
    /// Prints on the way out of a panic.
    struct Announce<'a>(&'a str, u64);
    impl Drop for Announce<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                let Announce(name, seed) = self;
                eprintln!(
                    "seed {seed}; repeat with: LOCKSTEP_SEED={seed} \
                     cargo test -p lockstep-device --lib {name} -- --exact"
                );
            }
        }
    }
    let number = |variable: &str| {
        let text = std::env::var(variable).ok()?;
        Some(text.parse().unwrap_or_else(|_| panic!("{variable} is {text:?}, expected a number")))
    };
    let seeds = match number("LOCKSTEP_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("LOCKSTEP_CASES").unwrap_or(cases),
    };
    for seed in seeds {
        let _announce = Announce(name, seed);
        test(&mut ChaCha8Rng::seed_from_u64(seed));
    }
}
