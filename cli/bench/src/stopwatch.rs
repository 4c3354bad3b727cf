// SPDX-License-Identifier: MIT OR Apache-2.0
//! Times of work in nanoseconds.

use std::time::Instant;

use super::Size;

/// How long `work` takes, in nanoseconds for each of its `count` chunks.
pub fn each(count: u64, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e9 / count as f64
}

/// The best times of two works that are measured in turns, so that whatever else the machine
/// does meets both.
pub fn best_of_both(
    size: Size,
    mut value: impl FnMut() -> f64,
    mut floor: impl FnMut() -> f64,
) -> (f64, f64) {
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..size.rounds {
        best.1 = best.1.min(floor());
        best.0 = best.0.min(value());
    }
    best
}
