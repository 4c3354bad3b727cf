// SPDX-License-Identifier: MIT OR Apache-2.0
//! The mixes that are run.

use ndp_runtime::engine::Skipped;

use super::{Tally, mix};

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn random_mixes_keep_what_their_isolation_levels_promise() {
    let (first, cases) =
        (from_environment("LOCKSTEP_SEED", 1), from_environment("LOCKSTEP_CASES", 12));
    let mut all = Tally::default();
    for seed in first..first + cases {
        let tally = mix(seed, Skipped::default()).unwrap_or_else(|broken| {
            panic!(
                "{broken}\nrepeat: LOCKSTEP_SEED={seed} LOCKSTEP_CASES=1 cargo test -p \
                 lockstep-system random_mixes"
            )
        });
        all.committed += tally.committed;
        all.written += tally.written;
        all.left += tally.left;
        all.turned_away += tally.turned_away;
    }
    println!("{cases} mixes from seed {first}: {all:?}");
    if cases >= 12 {
        let seen = all.written > 0 && all.left > 0 && all.turned_away > 0;
        assert!(seen && all.committed as u64 > 20 * cases, "{all:?}");
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
