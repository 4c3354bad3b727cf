// SPDX-License-Identifier: MIT OR Apache-2.0
//! The mixes that are run.

use ndp_runtime::engine::Skipped;

use super::{Tally, mix};

#[test]
fn random_mixes_keep_what_their_isolation_levels_promise() {
    let (seeds, mut all) = (seeds::of!(12), Tally::default());
    for seed in &seeds {
        let tally = mix(seed, Skipped::default()).unwrap_or_else(|broken| panic!("{broken}"));
        all.committed += tally.committed;
        all.written += tally.written;
        all.left += tally.left;
        all.turned_away += tally.turned_away;
    }
    println!("{} mixes: {all:?}", seeds.count());
    if seeds.is_whole() {
        let seen = all.written > 0 && all.left > 0 && all.turned_away > 0;
        assert!(seen && all.committed as u64 > 20 * seeds.count(), "{all:?}");
    }
}

/// A row's update without its lock, or without the look at the host's VID map under it, is noticed.
#[test]
fn random_mixes_notice_a_step_that_is_left_out() {
    let without = |skipped| (1..40).any(|seed| mix(seed, skipped).is_err());
    assert!(without(Skipped { lock: true, check: true }));
    assert!(without(Skipped { lock: false, check: true }));
    assert!(without(Skipped { lock: true, check: false }));
}
