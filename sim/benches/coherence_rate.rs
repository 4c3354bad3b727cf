// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measures the coherent memory: four cores and a device with 64 accesses under way
//! compare and swap at random in a 4 MiB table.
//!
//! `cargo bench -p lockstep-sim --bench coherence_rate -- [operations]`

use lockstep_sim::coherence::{
    AgentId, CoherenceEvent, CoherentMemory, Completion, Notification, Operation,
};
use std::time::Instant;
use timing::platform::Platform;
use timing::{Kernel, Priority, Time};

const TABLE: u64 = 4 << 20;

/// What was given behind `--`; cargo adds an argument of its own.
fn arguments() -> impl Iterator<Item = String> {
    std::env::args().skip(1).filter(|argument| argument != "--bench")
}

fn main() {
    let operations: u64 = match arguments().next() {
        Some(text) => text.parse().expect("a number of operations"),
        None => 2_000_000,
    };
    let platform = Platform::named("n1sdp-u280-ccix").expect("valid");
    let mut memory = CoherentMemory::placed_by_platform(&platform, 0, TABLE).expect("coherent");
    memory.warm_memory_caches();
    let mut kernel = Kernel::<CoherenceEvent>::new();
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut submit = |memory: &mut CoherentMemory, kernel: &mut Kernel<_>, now, agent| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let address = (random % TABLE) & !63;
        let swap = Operation::CompareSwap { address, expected: 0, new: random };
        let mut schedule = |time, event| kernel.schedule_at(time, Priority::Deliver, event);
        memory.submit(now, agent, 0, swap, &mut schedule).expect("in the table");
    };
    let device = memory.device_agent(0).0;
    for agent in (0..device).chain([device; 64]) {
        submit(&mut memory, &mut kernel, Time::ZERO, AgentId(agent));
    }
    let start = Instant::now();
    let (mut completed, mut events) = (0, 0_u64);
    while completed < operations {
        let (now, event) = kernel.pop().expect("a closed loop does not end");
        events += 1;
        let mut ended: Option<Completion> = None;
        let mut schedule = |time, event| kernel.schedule_at(time, Priority::Deliver, event);
        memory.handle(now, event, &mut schedule, &mut |notice| {
            if let Notification::Completed(completion) = notice {
                ended = Some(completion);
            }
        });
        if let Some(completion) = ended {
            completed += 1;
            submit(&mut memory, &mut kernel, now, completion.agent);
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{:.2} million operations/s, {:.2} million events/s, {} of virtual time",
        completed as f64 / seconds / 1e6,
        events as f64 / seconds / 1e6,
        kernel.now()
    );
}
