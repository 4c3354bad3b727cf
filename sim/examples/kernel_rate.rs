//! Measures the event kernel with the hold model: the queue is kept at a constant
//! length, each step takes the next event and schedules one at a random later time.

use lockstep_sim::kernel::{Kernel, Priority, Time};
use std::time::Instant;

fn main() {
    const STEPS: u64 = 20_000_000;
    for pending in [100_u64, 1_000, 4_000, 16_000] {
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
        let start = Instant::now();
        for _ in 0..STEPS {
            let (_, event) = kernel.pop().expect("the queue keeps its length");
            kernel.schedule_after(delay(), Priority::Deliver, event);
        }
        let rate = STEPS as f64 / start.elapsed().as_secs_f64() / 1e6;
        println!("{pending:6} pending: {rate:6.1} million events/s");
    }
}
