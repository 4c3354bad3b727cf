//! Random histories: levels, threads, keys and operations drawn from a seed, each history held to
//! the levels that its transactions were promised.
//!
//! `LOCKSTEP_CASES` says how many, `LOCKSTEP_SEED` which one alone.

mod perform;
mod plan;
pub mod runs;

use std::ops::Range;

use runs::{Kind, run};

/// `LOCKSTEP_SEED` alone, else as many as `LOCKSTEP_CASES` says, else `default`.
fn seeds(default: u64) -> Range<u64> {
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        Some(text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}, expected a number")))
    };
    match number("LOCKSTEP_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("LOCKSTEP_CASES").unwrap_or(default),
    }
}

fn check(test: &str, kind: Kind, cases: u64) {
    let mut committed = 0;
    let seeds = seeds(cases);
    for seed in seeds.clone() {
        match run(kind, seed, None) {
            Ok(outcome) => committed += outcome.committed,
            Err(what) => panic!(
                "seed {seed}: {what}\nrepeat: LOCKSTEP_SEED={seed} cargo test -p lockdb --test \
                 isolation {test}"
            ),
        }
    }
    println!("{committed} transactions committed in {} histories", seeds.end - seeds.start);
    assert!(committed > 0, "some get through");
}

/// The same seed is the same history.
#[test]
fn interleaved_histories() {
    check("interleaved_histories", Kind::Interleaved, 400);
}

/// The seed draws what each thread does; how they meet is the machine's.
#[test]
fn threaded_histories() {
    check("threaded_histories", Kind::Threads, 200);
}
