//! Numbers that a seed repeats.

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// Runs `test` for `LOCKSTEP_SEED` alone, else for as many seeds as `LOCKSTEP_CASES` says, else for
/// `default`; a failure says how to repeat it.
#[cfg(test)]
pub(crate) fn for_seeds(name: &str, default: u64, test: impl Fn(u64)) {
    struct Case<'a>(&'a str, u64);
    impl Drop for Case<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                let Case(name, seed) = self;
                eprintln!("seed {seed}; repeat: LOCKSTEP_SEED={seed} cargo test -p lockdb {name}");
            }
        }
    }
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        Some(text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}, expected a number")))
    };
    let seeds: std::ops::Range<u64> = match number("LOCKSTEP_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("LOCKSTEP_CASES").unwrap_or(default),
    };
    for seed in seeds {
        let _case = Case(name, seed);
        test(seed);
    }
}
