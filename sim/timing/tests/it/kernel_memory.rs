// SPDX-License-Identifier: MIT OR Apache-2.0
//! The event kernel allocates nothing once it has its memory. Each thread counts its own allocations.

#[path = "../counting/mod.rs"]
mod counting;

use timing::{Kernel, Priority, Time};

const PENDING: u64 = 3_000;

/// Delays of several kinds, one after the other: all at one instant, within a bucket, short, all of
/// one length, far.
fn delay(step: u64, now: u64, random: u64) -> u64 {
    match step / 40_000 % 6 {
        0 => (1 << 21) - now % (1 << 21),
        1 => random % 1_000,
        2 => random % 1_000_000,
        3 => 500_000,
        4 => random >> (random % 40) >> 20,
        _ => random % 100_000_000,
    }
}

/// The allocations of many steps of a kernel that keeps its length, after so many others.
fn allocations(mut kernel: Kernel<u64>, warm_up: u64) -> u64 {
    let mut random = 1_u64;
    let mut schedule = |kernel: &mut Kernel<u64>, step: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let priority = if random.is_multiple_of(3) { Priority::Deliver } else { Priority::Issue };
        let delay = delay(step, kernel.now().as_ps(), random);
        kernel.schedule_after(Time::from_ps(delay), priority, step);
    };
    for step in 0..PENDING {
        schedule(&mut kernel, step);
    }
    let mut before = 0;
    for step in 0..warm_up + 480_000 {
        if step == warm_up {
            before = counting::allocations();
        }
        kernel.pop().expect("it keeps its length");
        schedule(&mut kernel, step);
        if step.is_multiple_of(64) {
            kernel.next_time();
        }
    }
    counting::allocations() - before
}

#[test]
fn nothing_is_allocated_within_the_capacity() {
    assert_eq!(allocations(Kernel::with_capacity(PENDING as usize), 0), 0);
}

/// The same load once more needs no more memory than the first time.
#[test]
fn little_is_allocated_after_a_while() {
    let after = allocations(Kernel::new(), 480_000);
    assert!(after <= 8, "{after} allocations");
}
