// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random histories: levels, threads, keys and operations drawn from a seed, each history held to
//! the levels that its transactions were promised.

mod perform;
mod plan;
pub mod runs;

use runs::{Kind, run};
use seeds::Seeds;

fn check(kind: Kind, seeds: &Seeds) {
    let mut committed = 0;
    seeds.each(|seed| run(kind, seed, None).map(|outcome| committed += outcome.committed));
    println!("{committed} transactions committed in {} histories", seeds.count());
    assert!(committed > 0 || !seeds.is_whole(), "some get through");
}

/// The same seed is the same history.
#[test]
fn interleaved_histories() {
    check(Kind::Interleaved, &seeds::of!(400));
}

/// The seed draws what each thread does; how they meet is the machine's.
#[test]
fn threaded_histories() {
    check(Kind::Threads, &seeds::of!(200));
}
