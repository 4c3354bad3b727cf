// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pins threads to one processor, so that a measurement does not migrate.

use std::thread;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Runs `work` on a thread that stays on the first processor.
///
/// # Panics
/// When `work` does.
pub fn on_one_processor<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let pinned = || {
        to_processor(0);
        work()
    };
    thread::scope(|scope| scope.spawn(pinned).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Keeps the calling thread on the `number`th of the processors that it may run on, modulo
/// their count. Where the system refuses, the thread stays free: a measurement may then vary
/// more.
pub fn to_processor(number: usize) {
    let Ok(set) = sched_getaffinity(None) else { return };
    let allowed: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect();
    let Some(&chosen) = allowed.get(number % allowed.len().max(1)) else { return };
    let mut one = CpuSet::new();
    one.set(chosen);
    let _ = sched_setaffinity(None, &one);
}
