// SPDX-License-Identifier: MIT OR Apache-2.0
//! Latencies of the device: interrupts, and doorbell to completion.

use std::time::{Duration, Instant};

use driver::{CopyCommand, CopyDone, CopyQueue, Direction, QueueError};

use super::{OpenBackend, median};
use crate::{Measurement, Size};

const SAMPLES: u64 = 50;
/// Looks at the ring before the thread lets others run.
const POLLS: u32 = 100;
const TIMEOUT: Duration = Duration::from_secs(10);

/// From the write of a register that raises an interrupt until the thread that waits for it
/// continues.
pub fn of_an_interrupt(size: Size, backend: &OpenBackend) -> Result<Measurement, String> {
    let measured = (|| {
        let (shell, interrupt) = (backend.device.shell(), backend.device.interrupt(0)?);
        samples(size, || {
            shell.force_interrupt(0)?;
            Ok(interrupt.wait(TIMEOUT).map(drop)?)
        })
    })();
    let value = measured.map_err(|error: QueueError| error.to_string())?;
    Ok(backend.figure("interrupt, median", "µs", value / 1e3))
}

/// From a copy of one line that is written into the ring, by way of doorbell and device, until its
/// completion is seen there.
pub fn of_a_completion(size: Size, backend: &OpenBackend) -> Result<Measurement, String> {
    let measured = (|| {
        let memory = backend.device.allocate(4096)?;
        let mut queue = backend.device.copy_queue(2)?;
        let (source, direction) = (memory.bus_address(), Direction::HostToHost);
        let command = CopyCommand {
            direction,
            source,
            destination: source + 64,
            bytes: 64,
            interrupt: false,
        };
        samples(size, || {
            queue.submit(command)?;
            seen(&mut queue)?.succeeded().map(drop)
        })
    })();
    let value = measured.map_err(|error: QueueError| error.to_string())?;
    Ok(backend.figure("doorbell to completion, median", "µs", value / 1e3))
}

/// Looks for a completion repeatedly: to sleep in between would be most of the time.
fn seen(queue: &mut CopyQueue) -> Result<CopyDone, QueueError> {
    let begun = Instant::now();
    while begun.elapsed() < TIMEOUT {
        for _ in 0..POLLS {
            if let Some(done) = queue.poll()? {
                return Ok(done);
            }
            std::hint::spin_loop();
        }
        std::thread::yield_now();
    }
    queue.check()?;
    let (waited_for, bound) = ("the completion of a copy".into(), format!("{TIMEOUT:?}"));
    Err(QueueError::Timeout { waited_for, bound })
}

/// The median time of `one`, in nanoseconds.
fn samples(size: Size, mut one: impl FnMut() -> Result<(), QueueError>) -> Result<f64, QueueError> {
    let count = u64::from(size.rounds) * size.of(SAMPLES);
    let times: Result<Vec<f64>, QueueError> = (0..count)
        .map(|_| {
            let begun = Instant::now();
            one()?;
            Ok(begun.elapsed().as_nanos() as f64)
        })
        .collect();
    Ok(median(times?))
}
