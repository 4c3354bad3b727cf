//! The lock unit of a device behind a driver. Requests go through its lock queue; the table stands
//! in memory of this process that the device was given, so neither side copies it. Copies that the
//! unit keeps of lines are the device's to look after.

use std::ptr::NonNull;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use driver::{Device, DmaBuffer, LockQueue, QueueError};
use lockdb::{Bucket, SharedMemory};
use sim::lock_unit::stream::{TAGS, UnitRequest, UnitResponse};

use super::UnitBehind;
use crate::RunError;
use crate::report::UnitReport;

/// Looks at the completion ring before the thread lets others run.
const POLLS: u32 = 100;

/// Between two questions whether the device still runs the queue: a dead one writes no responses.
const CHECK_EVERY: Duration = Duration::from_millis(10);

/// How often RETURN is read until no request is open: the run's last response has come by then.
const DRAIN_READS: u32 = 1000;

/// Memory for the lock table that a device can reach.
#[derive(Debug)]
pub struct DeviceTable(DmaBuffer);

// SAFETY: a buffer keeps its mapping, which is readable, writable and zeroed from the start, in its
// place until it is dropped. Here it is reached by nobody but the table, whose accesses are atomics.
unsafe impl SharedMemory for DeviceTable {
    fn start(&self) -> NonNull<u8> {
        self.0.memory().start()
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

impl DeviceTable {
    /// Zeroed memory for a table, in huge pages where there are any.
    ///
    /// # Errors
    /// When there is no such memory, or the device does not take it.
    pub fn new(device: &Device, buckets: u64) -> Result<Self, RunError> {
        let too_large = || {
            let (field, expected) = ("buckets", "a table that fits into memory".into());
            driver::DeviceError::OutOfRange { field, value: buckets, expected }
        };
        let bytes = usize::try_from(buckets).ok().and_then(|b| b.checked_mul(size_of::<Bucket>()));
        let buffer = bytes.ok_or_else(too_large).and_then(|bytes| device.allocate(bytes));
        Ok(Self(buffer.map_err(|error| failed(device, error))?))
    }
}

/// The unit behind a driver.
pub struct Driven {
    device: Device,
    queue: LockQueue,
    /// Requests were written that the device has not been told of.
    untold: bool,
    checked: Instant,
    /// Keeps the table mapped until the device is done with it.
    _table: Arc<DeviceTable>,
}

impl Driven {
    /// Brings the device's unit into use on `table`, after a reset: whoever had the device before
    /// may have left it anyhow.
    ///
    /// # Errors
    /// When the device is not as it should be, or does not answer in time.
    pub fn new(device: &Device, table: Arc<DeviceTable>, buckets: u64) -> Result<Self, RunError> {
        device.reset().map_err(|error| failed(device, error))?;
        let (base, log2_buckets) = (table.0.device_address(), buckets.trailing_zeros());
        let started = device.lock_unit().start(base, log2_buckets);
        started.map_err(|error| failed(device, error))?;
        // One entry for each request that can be open, so that it is never full.
        let queue = device.lock_queue(TAGS as u16).map_err(|error| failed(device, error))?;
        let device = device.clone();
        Ok(Self { device, queue, untold: false, checked: Instant::now(), _table: table })
    }

    fn tell(&mut self) -> Result<(), QueueError> {
        if self.untold {
            self.queue.ring()?;
            self.untold = false;
        }
        Ok(())
    }

    /// The next response, if one comes within a moment.
    fn look(&mut self) -> Result<Option<UnitResponse>, QueueError> {
        self.tell()?;
        for _ in 0..POLLS {
            if let Some(beat) = self.queue.poll()? {
                let violation = |bad: sim::lock_unit::stream::BadResponse| QueueError::Violation {
                    queue: "lock",
                    detail: bad.to_string(),
                };
                return UnitResponse::decode(beat).map(Some).map_err(violation);
            }
            std::hint::spin_loop();
        }
        if self.checked.elapsed() >= CHECK_EVERY {
            self.queue.check()?;
            self.checked = Instant::now();
        }
        thread::yield_now();
        Ok(None)
    }
}

impl UnitBehind for Driven {
    fn request(&mut self, request: UnitRequest) -> Result<(), RunError> {
        self.untold = true;
        self.queue.enqueue(request.encode()).map_err(|error| failed(&self.device, error))
    }

    fn work(&mut self, _now: u64) -> Result<Option<UnitResponse>, RunError> {
        self.look().map_err(|error| failed(&self.device, error))
    }

    fn finish(&mut self) -> Result<UnitReport, RunError> {
        let mut unit = self.device.lock_unit();
        let counters = unit.drain(DRAIN_READS).and_then(|()| unit.counters());
        Ok(UnitReport::new(None, &counters.map_err(|error| failed(&self.device, error))?))
    }
}

impl Drop for Driven {
    /// Whatever came of the run, the device is to have no work left on the table when its memory is
    /// taken away.
    fn drop(&mut self) {
        // A device that is gone has none.
        let _ = self.device.reset();
    }
}

fn failed(device: &Device, error: impl Into<QueueError>) -> RunError {
    RunError::Device { device: device.information().name.clone(), source: error.into() }
}
