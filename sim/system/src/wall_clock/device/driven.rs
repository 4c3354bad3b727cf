// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lock unit of a device behind a driver. Requests go through its lock queue; the table stands
//! in memory of this process that the device was given, so neither side copies it. Copies that the
//! unit keeps of lines are the device's to look after.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use driver::lock_unit::stream::{TAGS, UnitRequest, UnitResponse};
use driver::{Device, LockQueue, QueueError};
use timing::Time;

use super::UnitBehind;
use crate::report::UnitReport;
use crate::{LockMemory, RunError};

/// Looks at the completion ring before the thread lets others run.
const POLLS: u32 = 100;

/// Between two questions whether the device still runs the queue: a dead one writes no responses.
const CHECK_EVERY: Duration = Duration::from_millis(10);

/// How often RETURN is read until no request is open: the run's last response has come by then.
const DRAIN_READS: u32 = 1000;

/// The unit behind a driver.
pub struct Driven {
    device: Device,
    queue: LockQueue,
    /// Requests were written, but the doorbell was not rung.
    untold: bool,
    checked: Instant,
    /// Keeps the table mapped until the device is done with it.
    _table: Arc<LockMemory>,
}

impl Driven {
    /// Brings the device's unit into use on a new table, which is in the memory that this gives
    /// back. Before that the device is reset: whoever had it may have left it anyhow.
    ///
    /// # Errors
    /// When the device is not as it should be, does not answer in time, or gets no memory.
    pub fn new(device: &Device, buckets: u64) -> Result<(Self, Arc<LockMemory>), RunError> {
        let (table, queue) = Self::start(device, buckets).map_err(|error| failed(device, error))?;
        let (device, checked) = (device.clone(), Instant::now());
        Ok((Self { device, queue, untold: false, checked, _table: table.clone() }, table))
    }

    fn start(device: &Device, buckets: u64) -> Result<(Arc<LockMemory>, LockQueue), QueueError> {
        device.reset()?;
        let table = LockMemory::of_device(device, buckets)?;
        let base = table.bus_address().expect("memory of a device");
        device.lock_unit().start(base, buckets.trailing_zeros())?;
        // One entry for each request that can be open, so that it is never full.
        let queue = device.lock_queue(TAGS as u16)?;
        Ok((Arc::new(table), queue))
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
            if let Some(response) = self.queue.poll()? {
                return Ok(Some(response));
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
        self.queue.enqueue(request).map_err(|error| failed(&self.device, error))
    }

    fn work(&mut self, _now: Time) -> Result<Option<UnitResponse>, RunError> {
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
