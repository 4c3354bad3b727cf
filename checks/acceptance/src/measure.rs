// SPDX-License-Identifier: MIT OR Apache-2.0
//! How fast the device answers through this backend. Nothing here passes or fails.

use std::fmt;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::checks::enable_all;
use crate::context::{CheckError, Context};
use crate::map;
use crate::queue::{CARD_TO_HOST, HOST_TO_CARD, HOST_TO_HOST, Queue, Submission};

/// Bytes of each copy of the throughput, unless contiguous memory allows less.
const COPY_BYTES: usize = 2 << 20;
/// Copies open at once.
const COPIES: u32 = 8;

/// A latency, of so many samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Latency {
    /// Half of the samples took no longer, in nanoseconds.
    pub median_ns: u64,
    /// 99 of 100 took no longer, in nanoseconds.
    pub p99_ns: u64,
    /// How many there were.
    pub samples: u32,
}

impl Latency {
    fn of(mut samples: Vec<Duration>) -> Option<Self> {
        samples.sort_unstable();
        let at = |percent: usize| {
            let index = (samples.len() * percent / 100).min(samples.len().checked_sub(1)?);
            Some(samples[index].as_nanos() as u64)
        };
        Some(Self { median_ns: at(50)?, p99_ns: at(99)?, samples: samples.len() as u32 })
    }
}

/// The measurement; `None` if there was none or it failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Measurements {
    /// A read of 32 bits of a register, until its value is there.
    pub register_read: Option<Latency>,
    /// Register writes of 32 bits per second, one after the other, the last one made sure of by a
    /// read.
    pub register_writes_per_s: Option<f64>,
    /// From the doorbell of a copy of 64 bytes until its completion is seen in memory.
    pub doorbell_to_completion: Option<Latency>,
    /// From the write that forces an interrupt until the wait for it returns.
    pub interrupt: Option<Latency>,
    /// Copies of up to 2 MiB from host to card, 10⁹ bytes a second.
    pub host_to_card_gb_per_s: Option<f64>,
    /// Likewise from card to host.
    pub card_to_host_gb_per_s: Option<f64>,
    /// Likewise from host to host.
    pub host_to_host_gb_per_s: Option<f64>,
}

impl fmt::Display for Measurements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let latencies = [
            ("register read", self.register_read),
            ("doorbell to completion", self.doorbell_to_completion),
            ("interrupt", self.interrupt),
        ];
        for (name, latency) in latencies {
            if let Some(Latency { median_ns, p99_ns, samples }) = latency {
                let (median, p99) = (median_ns as f64 / 1e3, p99_ns as f64 / 1e3);
                writeln!(f, "{name}: median {median:.2} µs, p99 {p99:.2} µs of {samples}")?;
            }
        }
        if let Some(rate) = self.register_writes_per_s {
            writeln!(f, "register writes: {:.3} million/s", rate / 1e6)?;
        }
        let rates = [
            ("host to card", self.host_to_card_gb_per_s),
            ("card to host", self.card_to_host_gb_per_s),
            ("host to host", self.host_to_host_gb_per_s),
        ];
        for (name, rate) in rates {
            if let Some(rate) = rate {
                writeln!(f, "copies {name}: {rate:.2} GB/s")?;
            }
        }
        Ok(())
    }
}

/// Measures everything, on a device that was just reset.
pub(crate) fn measure(context: &mut Context<'_>) -> Result<Measurements, CheckError> {
    Ok(Measurements {
        register_read: register_read(context)?,
        register_writes_per_s: Some(register_writes(context)?),
        doorbell_to_completion: doorbell_to_completion(context)?,
        interrupt: interrupt(context)?,
        host_to_card_gb_per_s: Some(copies(context, HOST_TO_CARD)?),
        card_to_host_gb_per_s: Some(copies(context, CARD_TO_HOST)?),
        host_to_host_gb_per_s: Some(copies(context, HOST_TO_HOST)?),
    })
}

fn samples(
    context: &Context<'_>,
    mut sample: impl FnMut() -> Result<Duration, CheckError>,
) -> Result<Option<Latency>, CheckError> {
    let samples: Result<Vec<_>, _> = (0..context.options.samples).map(|_| sample()).collect();
    Ok(Latency::of(samples?))
}

fn register_read(context: &Context<'_>) -> Result<Option<Latency>, CheckError> {
    samples(context, || {
        let begun = Instant::now();
        context.read(map::SHELL + map::SCRATCH_32)?;
        Ok(begun.elapsed())
    })
}

fn register_writes(context: &Context<'_>) -> Result<f64, CheckError> {
    let count = context.options.samples;
    let begun = Instant::now();
    for value in 0..count {
        context.write(map::SHELL + map::SCRATCH_32, value)?;
    }
    context.read(map::SHELL + map::SCRATCH_32)?;
    Ok(f64::from(count) / begun.elapsed().as_secs_f64())
}

fn doorbell_to_completion(context: &Context<'_>) -> Result<Option<Latency>, CheckError> {
    let mut queue = Queue::open(context, map::COPY_QUEUE, 4)?;
    let memory = context.memory(4096)?;
    let copy = Submission::copy(HOST_TO_HOST, memory.address, memory.address + 64, 64);
    samples(context, || {
        queue.push(copy);
        let begun = Instant::now();
        queue.ring(context)?;
        let what = || "the completion of a copy that is measured".into();
        context.wait_for(what, || Ok(queue.take()))?;
        let took = begun.elapsed();
        queue.give_back(context)?;
        Ok(took)
    })
}

fn interrupt(context: &Context<'_>) -> Result<Option<Latency>, CheckError> {
    let vectors = enable_all(context)?;
    samples(context, || {
        let begun = Instant::now();
        context.write(map::SHELL + map::INTERRUPT_FORCE, 1)?;
        vectors[0].wait(context.options.timeout)?;
        Ok(begun.elapsed())
    })
}

/// Bytes per nanosecond of copies in one direction, several open at once.
fn copies(context: &Context<'_>, opcode: u8) -> Result<f64, CheckError> {
    let mut queue = Queue::open(context, map::COPY_QUEUE, 4)?;
    let (from, to) = (context.memory(COPY_BYTES)?, context.memory(COPY_BYTES)?);
    let bytes = from.bytes().min(to.bytes()).min(COPY_BYTES) as u32;
    let (source, destination) = match opcode {
        HOST_TO_CARD => (from.address, 0),
        CARD_TO_HOST => (0, to.address),
        _ => (from.address, to.address),
    };
    // Pages are there once they were written.
    from.fill(1);
    to.fill(2);
    let copy = Submission::copy(opcode, source, destination, bytes);
    queue.perform(context, copy)?;
    let count = (context.options.samples / 4).clamp(COPIES, 512);
    let begun = Instant::now();
    let (mut sent, mut ended) = (0, 0);
    while ended < count {
        while sent < count && sent - ended < COPIES {
            queue.push(copy);
            queue.ring(context)?;
            sent += 1;
        }
        queue.wait(context)?;
        ended += 1;
    }
    Ok(f64::from(count) * f64::from(bytes) / begun.elapsed().as_nanos() as f64)
}
