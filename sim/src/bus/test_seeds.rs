// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random tests over many seeds that name the seed and how to repeat it.

/// Runs `test` for `seeds` seeds, or only for `LOCKSTEP_SEED` when that is set. A test
/// that fails prints its seed and the command that repeats it; `name` is its path.
pub fn for_each_seed(name: &str, seeds: u64, test: impl Fn(u64)) {
    /// Prints on the way out of a panic.
    struct Announce<'a>(&'a str, u64);
    impl Drop for Announce<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                let Announce(name, seed) = self;
                eprintln!(
                    "seed {seed}; repeat with: LOCKSTEP_SEED={seed} \
                     cargo test -p lockstep-sim --lib {name} -- --exact"
                );
            }
        }
    }
    let chosen = std::env::var("LOCKSTEP_SEED").ok().map(|text| {
        text.parse().unwrap_or_else(|_| panic!("LOCKSTEP_SEED is {text:?}, expected a number"))
    });
    for seed in chosen.map_or(0..seeds, |seed: u64| seed..seed + 1) {
        let _announce = Announce(name, seed);
        test(seed);
    }
}
