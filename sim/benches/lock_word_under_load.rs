// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cost of a lock word for host and device as the load of the other side rises from 0 to 100 %:
//! figure 4 of the ccSLT paper in terms of single accesses.
//!
//! Closed loops. The measured side always has a request under way; the other side
//! pauses for part of the time. A request is one compare-and-swap, or a read that
//! keeps a copy and then the swap, as the paper's protocol has it ("The request
//! traverses the queue (single cacheline access) and inserts the TX timestamp").
//!
//! `cargo bench -p lockstep-sim --bench lock_word_under_load`

use lockstep_sim::coherence::{
    AgentId, CoherenceEvent, CoherentMemory, Completion, Notification, Operation,
};
use timing::platform::Platform;
use timing::{Kernel, Priority, Time};

const TABLE: u64 = 4 << 20;
const TABLE_LINES: u64 = TABLE / 64;

#[derive(Clone, Copy)]
enum Event {
    Memory(CoherenceEvent),
    Issue { agent: AgentId, slot: usize },
}

/// Which lines a side asks for.
#[derive(Clone, Copy)]
enum Lines {
    /// Any of so many, from a first on.
    Random { first: u64, count: u64 },
    /// Both sides walk through the table on the same winding path; the side that is
    /// not measured is up to so many steps ahead.
    SamePath { ahead: u64 },
}

/// How one side behaves.
#[derive(Clone, Copy)]
struct Load {
    lines: Lines,
    /// Requests under way at once for each agent.
    overlap: usize,
    reads_first: bool,
    /// Part of the time in which it works.
    duty: f64,
}

/// One table of the output.
struct Case {
    title: &'static str,
    cores: u32,
    host: Lines,
    device: Lines,
    overlap: usize,
    reads_first: bool,
}

/// Sum of latencies, and their number.
#[derive(Clone, Copy, Default)]
struct Mean {
    picoseconds: u64,
    count: u64,
}

impl Mean {
    fn ns(self) -> f64 {
        self.picoseconds as f64 / self.count.max(1) as f64 / 1e3
    }
}

/// One lock request under way.
#[derive(Clone, Copy, Default)]
struct Slot {
    began: Time,
    address: u64,
    is_swapping: bool,
}

struct Probe {
    kernel: Kernel<Event>,
    memory: CoherentMemory,
    slots: Vec<Vec<Slot>>,
    loads: Vec<Load>,
    means: Vec<Mean>,
    random: u64,
    /// Steps of the measured side on the common path.
    steps: u64,
}

impl Probe {
    fn new(platform: &Platform, host_agents: u32, host: Load, device: Load) -> Self {
        let mut memory = CoherentMemory::placed_by_platform(platform, 0, TABLE).expect("coherent");
        memory.warm_memory_caches();
        let device_agent = memory.device_agent(0).0 as usize;
        let loads: Vec<_> =
            (0..memory.agents()).map(|a| if a == device_agent { device } else { host }).collect();
        let mut kernel = Kernel::new();
        for agent in (0..host_agents as usize).chain([device_agent]) {
            for slot in 0..loads[agent].overlap {
                // Agents that start in step stay in step for long; the first access of
                // each comes a little later than the one before.
                let start = Time::from_ps(1_700 * (agent * 64 + slot) as u64);
                let agent = AgentId(agent as u8);
                kernel.schedule_at(start, Priority::Issue, Event::Issue { agent, slot });
            }
        }
        Probe {
            kernel,
            slots: loads.iter().map(|load| vec![Slot::default(); load.overlap]).collect(),
            means: vec![Mean::default(); memory.agents()],
            memory,
            loads,
            random: 0x9E37_79B9_7F4A_7C15,
            steps: 0,
        }
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % below
    }

    fn submit(&mut self, now: Time, agent: AgentId, slot: usize, operation: Operation) {
        let kernel = &mut self.kernel;
        let mut schedule =
            |time, event| kernel.schedule_at(time, Priority::Deliver, Event::Memory(event));
        self.memory.submit(now, agent, slot as u64, operation, &mut schedule).expect("in table");
    }

    fn issue(&mut self, now: Time, agent: AgentId, slot: usize) {
        let load = self.loads[agent.0 as usize];
        let line = match load.lines {
            Lines::Random { first, count } => first + self.draw(count),
            Lines::SamePath { ahead } => {
                let step = self.steps + if load.duty < 1.0 { self.draw(ahead) } else { 0 };
                self.steps += u64::from(load.duty == 1.0);
                // An odd factor visits every line once before it repeats.
                step.wrapping_mul(0x9E37_79B1) % TABLE_LINES
            }
        };
        let address = 64 * line;
        let is_swapping = !load.reads_first;
        self.slots[agent.0 as usize][slot] = Slot { began: now, address, is_swapping };
        let operation = if load.reads_first {
            Operation::ReadLine { address, keep_copy: true }
        } else {
            Operation::CompareSwap { address, expected: 0, new: 0 }
        };
        self.submit(now, agent, slot, operation);
    }

    fn completed(&mut self, now: Time, completion: Completion) {
        let (agent, slot) = (completion.agent, completion.request as usize);
        let Slot { began, address, is_swapping } = self.slots[agent.0 as usize][slot];
        if !is_swapping {
            self.slots[agent.0 as usize][slot].is_swapping = true;
            let swap = Operation::CompareSwap { address, expected: 0, new: 0 };
            return self.submit(now, agent, slot, swap);
        }
        let took = now - began;
        let mean = &mut self.means[agent.0 as usize];
        mean.picoseconds += took.as_ps();
        mean.count += 1;
        let duty = self.loads[agent.0 as usize].duty;
        let pause = Time::from_ps((took.as_ps() as f64 * (1.0 / duty - 1.0)) as u64);
        self.kernel.schedule_after(pause, Priority::Issue, Event::Issue { agent, slot });
    }

    /// Means of host and device over `length`.
    fn run(&mut self, length: Time) -> (f64, f64) {
        while let Some((now, event)) = self.kernel.pop().filter(|(now, _)| *now < length) {
            match event {
                Event::Issue { agent, slot } => self.issue(now, agent, slot),
                Event::Memory(event) => {
                    let mut ended = None;
                    let kernel = &mut self.kernel;
                    let mut schedule = |time, event| {
                        kernel.schedule_at(time, Priority::Deliver, Event::Memory(event))
                    };
                    self.memory.handle(now, event, &mut schedule, &mut |notice| {
                        if let Notification::Completed(completion) = notice {
                            ended = Some(completion);
                        }
                    });
                    if let Some(completion) = ended {
                        self.completed(now, completion);
                    }
                }
            }
        }
        let device = self.memory.device_agent(0).0 as usize;
        (self.means[0].ns(), self.means[device].ns())
    }
}

/// Mean latency of the measured side, in ns, while the other works `duty` of the time.
fn measure(platform: &Platform, case: &Case, duty: f64, is_host: bool) -> f64 {
    // Never quite 1, which marks the measured side.
    let other = duty * 0.999_999;
    let (host_duty, device_duty) = if is_host { (1.0, other) } else { (other, 1.0) };
    let reads_first = case.reads_first;
    let host = Load { lines: case.host, overlap: 1, reads_first, duty: host_duty };
    let overlap = if device_duty > 0.0 { case.overlap } else { 0 };
    let device = Load { lines: case.device, overlap, reads_first, duty: device_duty };
    let cores = if host_duty > 0.0 { case.cores } else { 0 };
    let mut probe = Probe::new(platform, cores, host, device);
    let (host_ns, device_ns) = probe.run(Time::from_us(4_000));
    if is_host { host_ns } else { device_ns }
}

fn main() {
    let platform = Platform::named("n1sdp-u280-ccix").expect("valid");
    let all = Lines::Random { first: 0, count: TABLE_LINES };
    let few = |count| Lines::Random { first: 0, count };
    let path = Lines::SamePath { ahead: 16 };
    let case = |title, cores, lines, overlap, reads_first| Case {
        title,
        cores,
        host: lines,
        device: lines,
        overlap,
        reads_first,
    };
    let apart = Case {
        title: "16 lines each, apart; read + swap; device 16 at a time",
        cores: 1,
        host: few(16),
        device: Lines::Random { first: 1024, count: 16 },
        overlap: 16,
        reads_first: true,
    };
    let cases = [
        case("4 MiB at random; swap; device 16 at a time", 1, all, 16, false),
        case("4 MiB on the same path; swap; device 1 at a time", 1, path, 1, false),
        case("4 MiB on the same path; swap; device 16 at a time", 1, path, 16, false),
        case("4 MiB on the same path; read + swap; device 1 at a time", 1, path, 1, true),
        case("4 MiB on the same path; read + swap; device 4 at a time", 1, path, 4, true),
        case("4 MiB on the same path; read + swap; device 16 at a time", 1, path, 16, true),
        case("16 lines; swap; device 16 at a time", 1, few(16), 16, false),
        case("8 lines; swap; device 64 at a time", 1, few(8), 64, false),
        case("16 lines; read + swap; device 1 at a time", 1, few(16), 1, true),
        case("16 lines; read + swap; device 16 at a time", 1, few(16), 16, true),
        case("16 lines; read + swap; 4 cores, device 16 at a time", 4, few(16), 16, true),
        apart,
    ];
    for case in cases {
        println!("\n{}\n  other side's load    host ns   device ns", case.title);
        for percent in [0, 10, 25, 50, 75, 100] {
            let duty = f64::from(percent) / 100.0;
            let host_ns = measure(&platform, &case, duty, true);
            let device_ns = measure(&platform, &case, duty, false);
            println!("  {percent:14} %  {host_ns:9.0}  {device_ns:10.0}");
        }
    }
}
