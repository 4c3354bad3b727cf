// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random tests over many seeds that name the seed and how to repeat it.

/// The random tests of a package.
#[derive(Clone, Copy, Debug)]
pub struct Seeds {
    package: &'static str,
}

impl Seeds {
    /// Those of the package with this name: `env!("CARGO_PKG_NAME")`.
    pub const fn of(package: &'static str) -> Self {
        Self { package }
    }

    /// Runs `test`, whose path is `name`, for `seeds` seeds, times `LOCKSTEP_CASES` when that is set,
    /// or only for `LOCKSTEP_SEED` when that is set.
    ///
    /// # Panics
    /// With the seed and the command that repeats it, when a test fails; with the variable, when one
    /// of the two is no number.
    pub fn each(self, name: &str, seeds: u64, test: impl Fn(u64) -> Result<(), String>) {
        let number = |variable: &str| {
            let text = std::env::var(variable).ok()?;
            let number: Result<u64, _> = text.parse();
            Some(number.unwrap_or_else(|_| panic!("{variable} is {text:?}, expected a number")))
        };
        let seeds = match number("LOCKSTEP_SEED") {
            Some(seed) => seed..seed + 1,
            None => 0..seeds * number("LOCKSTEP_CASES").unwrap_or(1),
        };
        for seed in seeds {
            if let Err(wrong) = test(seed) {
                panic!(
                    "seed {seed}: {wrong}; repeat with: LOCKSTEP_SEED={seed} cargo test \
                     -p {} {name} -- --exact",
                    self.package
                );
            }
        }
    }
}
