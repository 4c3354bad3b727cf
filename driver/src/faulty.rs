// SPDX-License-Identifier: MIT OR Apache-2.0
//! A backend with faults of the link, switched on at run time.
//!
//! It shows how a driver handles a bad link, without one: a read that never completes returns its
//! error without delay.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::{Backend, DeviceError, HostMemory, Information, Interrupt, Space, Width};

/// No fault at any number of accesses.
const NEVER: u64 = u64::MAX;

/// The switches. They may be turned from any thread while the device is in use.
#[derive(Debug)]
pub struct Faults {
    /// Reads and writes so far.
    accesses: AtomicU64,
    /// From this access on the device is gone.
    removed_at: AtomicU64,
    /// From this access on reads do not come back.
    silent_at: AtomicU64,
    /// Interrupts still to be lost.
    drop_interrupts: AtomicU64,
    /// Interrupts still to be delivered twice.
    repeat_interrupts: AtomicU64,
    refuse_maps: AtomicBool,
    refuse_unmaps: AtomicBool,
    fail_resets: AtomicBool,
}

impl Default for Faults {
    fn default() -> Self {
        Faults {
            accesses: AtomicU64::new(0),
            removed_at: AtomicU64::new(NEVER),
            silent_at: AtomicU64::new(NEVER),
            drop_interrupts: AtomicU64::new(0),
            repeat_interrupts: AtomicU64::new(0),
            refuse_maps: AtomicBool::new(false),
            refuse_unmaps: AtomicBool::new(false),
            fail_resets: AtomicBool::new(false),
        }
    }
}

impl Faults {
    /// The reads and writes so far.
    pub fn accesses(&self) -> u64 {
        self.accesses.load(Ordering::SeqCst)
    }

    /// Surprise removal after so many more accesses: reads answer all-ones, writes are dropped,
    /// interrupts do not come.
    pub fn remove_after(&self, accesses: u64) {
        self.removed_at.store(self.accesses().saturating_add(accesses), Ordering::SeqCst);
    }

    /// After so many more accesses reads end as [`DeviceError::Timeout`]; writes, which are posted,
    /// are dropped without a word.
    pub fn fall_silent_after(&self, accesses: u64) {
        self.silent_at.store(self.accesses().saturating_add(accesses), Ordering::SeqCst);
    }

    /// Loses the next interrupts, of any vector.
    pub fn drop_interrupts(&self, count: u64) {
        self.drop_interrupts.store(count, Ordering::SeqCst);
    }

    /// Delivers each of the next interrupts, of any vector, a second time.
    pub fn repeat_interrupts(&self, count: u64) {
        self.repeat_interrupts.store(count, Ordering::SeqCst);
    }

    /// Refuses to map memory.
    pub fn refuse_maps(&self, on: bool) {
        self.refuse_maps.store(on, Ordering::SeqCst);
    }

    /// Refuses to unmap memory; it stays mapped.
    pub fn refuse_unmaps(&self, on: bool) {
        self.refuse_unmaps.store(on, Ordering::SeqCst);
    }

    /// Fails to reset the device, which stays as it is.
    pub fn fail_resets(&self, on: bool) {
        self.fail_resets.store(on, Ordering::SeqCst);
    }

    /// Switches all faults off.
    pub fn heal(&self) {
        self.removed_at.store(NEVER, Ordering::SeqCst);
        self.silent_at.store(NEVER, Ordering::SeqCst);
        self.drop_interrupts(0);
        self.repeat_interrupts(0);
        self.refuse_maps(false);
        self.refuse_unmaps(false);
        self.fail_resets(false);
    }

    fn removed(&self) -> bool {
        self.accesses() >= self.removed_at.load(Ordering::SeqCst)
    }

    /// Counts an access; what becomes of it.
    fn access(&self) -> Fate {
        let number = self.accesses.fetch_add(1, Ordering::SeqCst);
        if number >= self.removed_at.load(Ordering::SeqCst) {
            Fate::Removed
        } else if number >= self.silent_at.load(Ordering::SeqCst) {
            Fate::Silent
        } else {
            Fate::Sound
        }
    }
}

enum Fate {
    Sound,
    Removed,
    Silent,
}

/// Takes at most `wanted` from what is left of a count; gives what was taken.
fn take_from(left: &AtomicU64, wanted: u64) -> u64 {
    let before = left
        .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| Some(left.saturating_sub(wanted)));
    before.map_or(0, |before| before.min(wanted))
}

/// A backend that behaves as another one until a fault is switched on.
#[derive(Debug)]
pub struct Faulty<B> {
    backend: B,
    faults: Arc<Faults>,
}

impl<B: Backend> Faulty<B> {
    /// Without faults at first.
    pub fn new(backend: B) -> Self {
        Faulty { backend, faults: Arc::default() }
    }

    /// The switches.
    pub fn faults(&self) -> Arc<Faults> {
        self.faults.clone()
    }
}

fn refused(attempted: &str) -> DeviceError {
    DeviceError::Refused { attempted: attempted.into(), reason: "a fault is switched on".into() }
}

impl<B: Backend> Backend for Faulty<B> {
    fn information(&self) -> &Information {
        self.backend.information()
    }

    fn read(&self, space: Space, offset: u64, width: Width) -> Result<u64, DeviceError> {
        match self.faults.access() {
            Fate::Sound => self.backend.read(space, offset, width),
            Fate::Removed => Ok(width.all_ones()),
            Fate::Silent => Err(DeviceError::Timeout {
                waited_for: format!("the completion of a read of {space} at 0x{offset:X}"),
                bound: "the link's completion time-out (a fault is switched on)".into(),
            }),
        }
    }

    fn write(
        &self,
        space: Space,
        offset: u64,
        width: Width,
        value: u64,
    ) -> Result<(), DeviceError> {
        match self.faults.access() {
            Fate::Sound => self.backend.write(space, offset, width, value),
            Fate::Removed | Fate::Silent => Ok(()),
        }
    }

    fn map(&self, memory: &Arc<HostMemory>) -> Result<u64, DeviceError> {
        if self.faults.refuse_maps.load(Ordering::SeqCst) {
            return Err(refused("map memory"));
        }
        self.backend.map(memory)
    }

    fn unmap(&self, address: u64) -> Result<(), DeviceError> {
        if self.faults.refuse_unmaps.load(Ordering::SeqCst) {
            return Err(refused("unmap memory"));
        }
        self.backend.unmap(address)
    }

    fn interrupt(&self, vector: u32) -> Result<Box<dyn Interrupt>, DeviceError> {
        let interrupt = self.backend.interrupt(vector)?;
        let faults = self.faults.clone();
        Ok(Box::new(FaultyInterrupt { interrupt, faults, again: AtomicU64::new(0) }))
    }

    fn window(&self, bar: u8) -> Result<Option<Arc<HostMemory>>, DeviceError> {
        self.backend.window(bar)
    }

    fn reset(&self) -> Result<(), DeviceError> {
        if self.faults.removed() {
            return Err(DeviceError::Gone { offset: 0 });
        }
        if self.faults.fail_resets.load(Ordering::SeqCst) {
            return Err(refused("reset the device"));
        }
        self.backend.reset()
    }
}

/// A vector whose interrupts may be lost, or come twice.
struct FaultyInterrupt {
    interrupt: Box<dyn Interrupt>,
    faults: Arc<Faults>,
    /// To be delivered once more, by the next call.
    again: AtomicU64,
}

impl FaultyInterrupt {
    /// What is left of so many interrupts after the faults.
    fn pass(&self, count: u64) -> u64 {
        if self.faults.removed() {
            return 0;
        }
        let left = count - take_from(&self.faults.drop_interrupts, count);
        let again = take_from(&self.faults.repeat_interrupts, left);
        self.again.fetch_add(again, Ordering::SeqCst);
        left
    }
}

impl Interrupt for FaultyInterrupt {
    fn vector(&self) -> u32 {
        self.interrupt.vector()
    }

    fn take(&self) -> Result<u64, DeviceError> {
        let again = self.again.swap(0, Ordering::SeqCst);
        Ok(again + self.pass(self.interrupt.take()?))
    }

    fn wait(&self, bound: Duration) -> Result<u64, DeviceError> {
        let started = Instant::now();
        loop {
            let again = self.again.swap(0, Ordering::SeqCst);
            if again > 0 {
                return Ok(again);
            }
            let count = self.pass(self.interrupt.wait(bound.saturating_sub(started.elapsed()))?);
            if count > 0 {
                return Ok(count);
            }
        }
    }
}
