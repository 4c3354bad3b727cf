// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lock unit behind a driver: host software and RTL on two sides of a socket, or of a bus.
//!
//! The cases are those of [`crate::run`]. The agents of the host run `locks`'s machines with
//! atomics of this process, on memory that the device shares; the requests of the device's agents
//! go through the lock queue. No oracle sees the unit's accesses here, and the two sides run at
//! speeds of their own, so a seed repeats the requests, but not the order of events. The visible
//! behaviour is checked against the rules: `docs/acceptance.md`, "The lock table over a socket".

mod holders;
mod judge;
mod place;
mod runner;

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use driver::lock_unit::Counters;
use driver::{Device, DeviceError, DmaBuffer, LockQueue, QueueError};

use crate::case::{Case, LockTableShape};
use crate::draw;
use crate::mismatch::{MismatchError, Property};
use runner::Runner;

/// Entries of the lock queue's rings: more than there are tags, so that they are never full for long.
const ENTRIES: u16 = 512;
/// Lines of memory for tables.
const LINES: usize = 64;
/// Reads of RETURN until the unit is idle.
const DRAIN_READS: u32 = 10_000;

/// How long things may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The whole of a case. It decides when the run gives up, not whether the device is fast.
    pub case: Duration,
    /// One cycle of the case's timeout, pauses and paces.
    pub cycle: Duration,
}

/// The coverage over all cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Witnessed {
    /// Requests of hosts.
    pub host_requests: u64,
    /// Accesses of hosts.
    pub host_accesses: u64,
    /// Requests that the unit was given.
    pub device_requests: u64,
    /// Grants that were reported to agents of either side.
    pub grants: u64,
    /// Waiting acquires of the device whose end the unit reported by itself.
    pub notices: u64,
    /// Responses of the unit by their code.
    pub responses: [u64; 13],
}

impl Witnessed {
    fn add(&mut self, other: &Witnessed) {
        self.host_requests += other.host_requests;
        self.host_accesses += other.host_accesses;
        self.device_requests += other.device_requests;
        self.grants += other.grants;
        self.notices += other.notices;
        for (sum, more) in self.responses.iter_mut().zip(other.responses) {
            *sum += more;
        }
    }
}

/// Why a case did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceRunError {
    /// The unit does not follow the rules. Its "cycle" is in [`Bounds::cycle`]s since the case began.
    #[error(transparent)]
    Mismatch(#[from] MismatchError),
    /// The queue does not continue.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// The host's machine met words in the table that nothing lawful writes.
    #[error("a machine of the host cannot go on: {0}")]
    Damaged(String),
}

impl From<DeviceError> for DeviceRunError {
    fn from(error: DeviceError) -> Self {
        DeviceRunError::Queue(error.into())
    }
}

/// A case that failed, with all that is needed to ask for the same again.
#[derive(Clone, Debug)]
pub struct Failed {
    /// The seed that it was drawn from.
    pub seed: u64,
    /// The case as it was run.
    pub case: Box<Case>,
    /// How it failed.
    pub trouble: DeviceRunError,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, case, trouble } = self;
        writeln!(f, "seed {seed} ({}):", draw::Profile::of_seed(*seed))?;
        case.to_string().lines().try_for_each(|line| writeln!(f, "  {line}"))?;
        write!(f, "{trouble}")
    }
}

/// A device whose lock unit runs cases.
pub struct Unit {
    device: Device,
    memory: DmaBuffer,
    queue: LockQueue,
    bounds: Bounds,
    witnessed: Witnessed,
}

impl Unit {
    /// Takes the lock unit and the lock queue of a device.
    ///
    /// # Errors
    /// When there is no memory, or what the device reports.
    pub fn new(device: &Device, bounds: Bounds) -> Result<Self, QueueError> {
        device.reset()?;
        let memory = device.allocate(64 * LINES)?;
        let queue = device.lock_queue(ENTRIES)?;
        device.lock_unit().identify()?;
        let (device, witnessed) = (device.clone(), Witnessed::default());
        Ok(Self { device, memory, queue, bounds, witnessed })
    }

    /// The coverage so far.
    pub fn witnessed(&self) -> Witnessed {
        self.witnessed
    }

    /// Runs the case of a seed.
    ///
    /// # Errors
    /// How it failed; the device should be reset before anything else.
    pub fn check_seed(&mut self, seed: u64) -> Result<(), Box<Failed>> {
        let case = place::placed(draw::case(seed), self.memory.bus_address(), LINES);
        match self.check(&case) {
            Ok(()) => Ok(()),
            Err(trouble) => Err(Box::new(Failed { seed, case: Box::new(case), trouble })),
        }
    }

    fn check(&mut self, case: &Case) -> Result<(), DeviceRunError> {
        let LockTableShape { base, log2_buckets, .. } = case.table;
        let mut unit = self.device.lock_unit();
        unit.drain(DRAIN_READS)?;
        unit.configure(base, log2_buckets.into())?;
        unit.enable()?;
        let before = unit.counters()?;
        let runner = Runner::new(case, self.bounds, &self.memory, &mut self.queue);
        // The machines of `locks` trust their table, which a device may have damaged.
        let end = catch_unwind(AssertUnwindSafe(|| runner.run()));
        let (witnessed, counted) = end.unwrap_or_else(|panic| Err(damaged(&*panic)))?;
        unit.drain(DRAIN_READS)?;
        check_counters(before, unit.counters()?, counted)?;
        if unit.bus_error_pending()? {
            let mismatch = MismatchError::new(0, Property::Registers, "no bus error", "ISR is 1");
            return Err(mismatch.into());
        }
        self.witnessed.add(&witnessed);
        Ok(())
    }
}

fn damaged(panic: &(dyn Any + Send)) -> DeviceRunError {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    DeviceRunError::Damaged(text.unwrap_or("without a message").into())
}

/// The counters that count requests and responses have counted those that were seen.
fn check_counters(
    before: Counters,
    after: Counters,
    expected: Counters,
) -> Result<(), MismatchError> {
    let pairs = [
        ("requests", before.requests, after.requests, expected.requests),
        ("granted", before.granted, after.granted, expected.granted),
        ("granted again", before.granted_again, after.granted_again, expected.granted_again),
        ("queued", before.queued, after.queued, expected.queued),
        ("refused", before.refused, after.refused, expected.refused),
        ("released", before.released, after.released, expected.released),
        ("handed over", before.handed_over, after.handed_over, expected.handed_over),
        ("cancelled", before.cancelled, after.cancelled, expected.cancelled),
        (
            "errors of the requester",
            before.requester_errors,
            after.requester_errors,
            expected.requester_errors,
        ),
        ("bus errors", before.bus_errors, after.bus_errors, expected.bus_errors),
    ];
    for (name, before, after, expected) in pairs {
        if after.wrapping_sub(before) != expected {
            let expected = format!("counter of {name} to have counted {expected}");
            let found = format!("{}", after.wrapping_sub(before));
            return Err(MismatchError::new(0, Property::Registers, expected, found));
        }
    }
    Ok(())
}
