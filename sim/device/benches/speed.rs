// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cost of an access and a copy in process, beside the floors: the bare model, and a plain
//! copy. What one thread does alone is counted in its own processor time, so that other programs
//! on the machine do not matter; copies, which the device's thread makes, in wall-clock time.
//!
//! `cargo bench -p lockstep-device --bench speed`

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use device::Simulated;
use driver::{Backend, CopyCommand, Device, Direction, Space, Status, Width};

const BOUND: Duration = Duration::from_secs(30);
const COPY_BYTES: u32 = 2 << 20;
const ROUNDS: usize = 9;

/// How many times a second `act`, which does it `times` times, by a clock: the median of some
/// measurements.
fn rate(clock: fn() -> Duration, times: u64, mut act: impl FnMut(u64)) -> f64 {
    let mut rates: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = clock();
            act(times);
            times as f64 / (clock() - start).as_secs_f64()
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

/// Processor time of this thread.
fn own_time() -> Duration {
    scheduled("/proc/thread-self")
}

/// Processor time of the thread that clocks the device and copies for it.
fn device_time() -> Duration {
    let threads = std::fs::read_dir("/proc/self/task").expect("Linux lists a process's threads");
    let device = threads.flatten().map(|thread| thread.path()).find(|thread| {
        let name = std::fs::read_to_string(thread.join("comm"));
        name.is_ok_and(|name| name.trim() == "device")
    });
    scheduled(device.expect("the device has a thread"))
}

/// Processor time of a thread: the first number that the kernel's scheduler tells.
fn scheduled(thread: impl AsRef<Path>) -> Duration {
    let told = std::fs::read_to_string(thread.as_ref().join("schedstat")).unwrap_or_default();
    let nanoseconds = told.split(' ').next().and_then(|text| text.parse().ok());
    Duration::from_nanos(nanoseconds.expect("Linux tells the processor time of threads"))
}

fn wall_time() -> Duration {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    START.elapsed()
}

fn read(device: &Device, offset: u64) -> u64 {
    device.backend().read(Space::Bar(0), offset, Width::Four).unwrap_or(u64::MAX)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let backend = Arc::new(Simulated::new("sim:".into())?);
    let device = Device::new(backend.clone())?;
    let toggled = rate(own_time, 1_000_000, |times| backend.toggle_only(times));
    println!("bare model, idle            {:8.3} million cycles/s", toggled / 1e6);
    let before = backend.counts().cycles;
    let reads = rate(own_time, 200_000, |times| {
        for _ in 0..times {
            black_box(read(&device, 0x28));
        }
    });
    let cycles = (backend.counts().cycles - before) as f64 / (ROUNDS as f64 * 200_000.0);
    println!("register reads              {:8.3} million/s, {cycles:.1} cycles each", reads / 1e6);
    let writes = rate(own_time, 200_000, |times| {
        for value in 0..times {
            let _ = backend.write(Space::Bar(0), 0x28, Width::Four, value);
        }
    });
    println!("register writes             {:8.3} million/s", writes / 1e6);
    let reads = rate(own_time, 50_000, |times| {
        for _ in 0..times {
            black_box(read(&device, 0x1100));
        }
    });
    println!("register reads, lock unit   {:8.3} million/s", reads / 1e6);

    let buffer = device.allocate(COPY_BYTES as usize)?;
    let window = device.window(2)?.ok_or("no card memory")?;
    let mut plain = vec![1u8; COPY_BYTES as usize];
    let floor = rate(wall_time, 200, |times| {
        for _ in 0..times {
            buffer.read(0, &mut plain);
            window.write(0, &plain);
        }
    });
    let gigabytes = |rate: f64| rate * f64::from(COPY_BYTES) / 1e9;
    println!("plain copies, 2 x 2 MiB     {:8.2} GB/s each", gigabytes(2.0 * floor));
    let mut queue = device.copy_queue(16)?;
    let host = buffer.bus_address();
    for (name, direction, source, destination) in [
        ("host to card", Direction::HostToCard, host, 0),
        ("card to host", Direction::CardToHost, 0, host),
    ] {
        let command = |interrupt| CopyCommand {
            direction,
            source,
            destination,
            bytes: COPY_BYTES,
            interrupt,
        };
        for (how, interrupt) in [("polled", false), ("interrupt", true)] {
            let one = rate(wall_time, 200, |times| {
                for _ in 0..times {
                    let done = queue.copy(command(interrupt), BOUND).expect("the copy ends");
                    assert_eq!(done.status, Status::Done);
                }
            });
            println!("{name}, 2 MiB, {how:9}   {:8.2} GB/s, one at a time", gigabytes(one));
        }
        for (clock_name, clock) in
            [("wall clock", wall_time as fn() -> Duration), ("device's thread", device_time)]
        {
            let many = rate(clock, 800, |times| {
                for _ in 0..times / 8 {
                    for _ in 0..8 {
                        queue.submit(command(true)).expect("there is room for 8");
                    }
                    for _ in 0..8 {
                        let done = queue.wait(BOUND).expect("the copy ends");
                        assert_eq!(done.status, Status::Done);
                    }
                }
            });
            println!(
                "{name}, 2 MiB, interrupt   {:8.2} GB/s, 8 at a time, by the {clock_name}",
                gigabytes(many)
            );
        }
    }
    Ok(())
}
