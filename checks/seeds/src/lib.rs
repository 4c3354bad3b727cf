// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many cases a random test draws, from which seed on, and how a failure is repeated.
//!
//! A *case* is the smallest thing that a random test repeats. Each case has a seed, from which all
//! that is random in it is drawn; cases know nothing of each other. Two variables of the environment
//! mean the same in every random test:
//!
//! | `LOCKSTEP_SEED` | `LOCKSTEP_CASES` | cases |
//! |---|---|---|
//! | | | as many as the test has by default, with the seeds from 0 on |
//! | | N | N, with the seeds from 0 on |
//! | S | | one, with seed S |
//! | S | N | N, with the seeds from S on |
//!
//! A test that goes through several kinds of cases draws that many of each kind. Tests whose cases
//! take long have few by default, often one.
//!
//! [`each!`] runs a closure for each seed; [`of!`] gives the [`Seeds`] to tests with loops of their
//! own. When a case fails, its seed and the command that repeats it alone are printed, for example:
//!
//! ```text
//! repeat with: LOCKSTEP_SEED=17 cargo test -p lockdb --test it
//! durability::crashes::every_commit_survives -- --exact
//! ```
//!
//! ```
//! seeds::each!(300, |seed| {
//!     assert_eq!(seed.reverse_bits().reverse_bits(), seed);
//! });
//!
//! // What all cases together have to meet, they meet if there are enough of them.
//! let (seeds, mut odd) = (seeds::of!(20), 0);
//! for seed in &seeds {
//!     odd += seed % 2;
//! }
//! assert!(odd > 0 || !seeds.is_whole());
//! ```
//!
//! With the feature `proptest`, the macro `proptest!` gives each case of a property a seed of its own,
//! too.

mod environment;
mod place;
#[cfg(feature = "proptest")]
mod property;

pub use place::Target;
#[cfg(feature = "proptest")]
pub use property::one_case;

#[cfg(feature = "proptest")]
#[doc(hidden)]
pub use ::proptest;

use std::fmt::Display;

use environment::Chosen;
use place::TestPlace;

/// The [`Seeds`] of a random test that draws so many cases by default.
///
/// To be used on the thread of the test, in the crate of the test: both go into the command that
/// repeats a case. See [`Seeds::new`] for its panics.
#[macro_export]
macro_rules! of {
    ($default:expr) => {
        $crate::Seeds::new($default, $crate::target!())
    };
}

/// Runs a closure for each seed of a random test that draws so many cases by default.
///
/// The closure takes the seed, a `u64`, and gives nothing, or a result whose error can be displayed.
/// See [`Seeds::each`] for its panics.
#[macro_export]
macro_rules! each {
    ($default:expr, $case:expr $(,)?) => {
        $crate::of!($default).each($case)
    };
}

/// The seeds of a random test.
#[derive(Clone, Debug)]
pub struct Seeds {
    chosen: Chosen,
    default: u64,
    place: TestPlace,
}

impl Seeds {
    /// The seeds that the environment chooses; as it does not, the first `default` ones. [`of!`]
    /// calls this with the target in which it stands.
    ///
    /// # Panics
    /// When a variable is not what it should be, or `default` is 0.
    #[must_use]
    pub fn new(default: u64, target: Target) -> Self {
        assert!(default > 0, "a random test has at least one case");
        match Chosen::from_environment(default) {
            Ok(chosen) => Self { chosen, default, place: TestPlace::here(target) },
            Err(bad) => panic!("{bad}"),
        }
    }

    /// How many cases there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.chosen.count
    }

    /// The first of them, for tests that draw all their cases from it.
    pub fn first(&self) -> u64 {
        self.chosen.first
    }

    /// Whether there are at least as many cases as by default: enough of them to meet all that the
    /// test wants to have met.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.count() >= self.default
    }

    /// The seeds, in order. A panic before the next one is asked for is a failure of the case.
    pub fn iter(&self) -> Cases {
        Cases { next: 0, running: None, seeds: self.clone() }
    }

    /// Runs a closure for each seed.
    ///
    /// # Panics
    /// With the first case that panics, or whose result is an error. Then the command that repeats
    /// the case is printed.
    #[track_caller]
    pub fn each<O: Outcome>(&self, mut case: impl FnMut(u64) -> O) {
        for seed in self {
            if let Some(error) = case(seed).error() {
                panic!("seed {seed}: {error}");
            }
        }
    }
}

impl IntoIterator for &Seeds {
    type Item = u64;
    type IntoIter = Cases;

    fn into_iter(self) -> Cases {
        self.iter()
    }
}

impl IntoIterator for Seeds {
    type Item = u64;
    type IntoIter = Cases;

    fn into_iter(self) -> Cases {
        self.iter()
    }
}

/// The seeds of cases, one after the other. Dropped by a panic, it prints how to repeat the case
/// that was running.
#[derive(Debug)]
pub struct Cases {
    seeds: Seeds,
    /// How many cases were begun.
    next: u64,
    running: Option<u64>,
}

impl Iterator for Cases {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let Chosen { first, count } = self.seeds.chosen;
        self.running = (self.next < count).then(|| first + self.next);
        self.next += u64::from(self.running.is_some());
        self.running
    }
}

impl Drop for Cases {
    fn drop(&mut self) {
        if let Some(seed) = self.running.filter(|_| std::thread::panicking()) {
            eprintln!("repeat with: {}", self.seeds.place.command(seed));
        }
    }
}

/// What a case ends with.
pub trait Outcome {
    /// The error, if there is one.
    fn error(self) -> Option<String>;
}

impl Outcome for () {
    fn error(self) -> Option<String> {
        None
    }
}

impl<T, E: Display> Outcome for Result<T, E> {
    fn error(self) -> Option<String> {
        self.err().map(|error| error.to_string())
    }
}
