// SPDX-License-Identifier: MIT OR Apache-2.0
//! The event kernel by itself, with the hold model: the queue keeps its length, and each step
//! takes the next event and schedules it again at a random later time.

use std::hint::black_box;

use timing::{Kernel, Priority, Time};

use super::{Goal, Measurement, Size, pin, stopwatch};

const EVENTS: u64 = 100_000;

/// About as many as a run has pending, and many more.
const PENDING: [u64; 2] = [100, 4_000];

/// With few and with many events pending.
pub fn measure(size: Size) -> Result<Vec<Measurement>, String> {
    Ok(PENDING.map(|pending| pin::on_one_processor(|| with(size, pending))).into())
}

fn with(size: Size, pending: u64) -> Measurement {
    let mut kernel = Kernel::<[u32; 3]>::new();
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut delay = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        Time::from_ps(random % 1_000_000)
    };
    for number in 0..pending {
        kernel.schedule_after(delay(), Priority::Deliver, [number as u32; 3]);
    }
    let events = size.of(EVENTS);
    let mut round = || {
        for _ in 0..events {
            let (_, event) = kernel.pop().expect("the queue keeps its length");
            kernel.schedule_after(delay(), Priority::Deliver, black_box(event));
        }
    };
    let best = (0..size.rounds).map(|_| stopwatch::each(events, &mut round));
    let best = best.fold(f64::INFINITY, f64::min);
    Measurement::new(format!("event kernel, {pending} pending"), "events/s", 1e9 / best)
        .goal(Goal::AtLeast(5e6))
}
