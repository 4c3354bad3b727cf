// SPDX-License-Identifier: MIT OR Apache-2.0
//! Polled interrupts of a device without signals: its counters are read repeatedly.

use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::{DeviceError, Interrupt};

/// The longest pause between two reads of the counter.
const PAUSE_MAX: Duration = Duration::from_millis(1);

/// One vector, by its INTERRUPT_COUNT.
pub struct PolledInterrupt {
    vector: u32,
    /// What has been taken. Held while the counter is read, or of two threads that take at once the
    /// slower one would find that the counter runs backwards.
    taken: Mutex<Count>,
    device: Box<dyn CountsInterrupts>,
}

/// What a counter has come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Resets that the device has been through, after each of which it counts from 0.
    pub resets: u32,
    /// INTERRUPT_COUNT of the vector.
    pub interrupts: u32,
}

/// The counters of a device, which begin at 0 after each reset.
pub trait CountsInterrupts: Send + Sync {
    /// What the counter of the vector has come to; `None` while a reset is under way.
    fn count(&self, vector: u32) -> Result<Option<Count>, DeviceError>;

    /// The vector is not wanted any more.
    fn disable(&self, vector: u32);
}

impl PolledInterrupt {
    /// From the counter's present value on.
    pub fn new(vector: u32, device: Box<dyn CountsInterrupts>) -> Result<Self, DeviceError> {
        // Made first: when the counter cannot be read, dropping it disables the vector.
        let mut this = PolledInterrupt { vector, taken: Mutex::default(), device };
        let count = this.device.count(vector)?.unwrap_or_default();
        *this.taken.get_mut() = count;
        Ok(this)
    }
}

impl Interrupt for PolledInterrupt {
    fn vector(&self) -> u32 {
        self.vector
    }

    fn take(&self) -> Result<u64, DeviceError> {
        // A thread that panicked did so before it changed anything.
        let mut taken = self.taken.lock();
        let Some(count) = self.device.count(self.vector)? else { return Ok(0) };
        let before = if taken.resets == count.resets { taken.interrupts } else { 0 };
        *taken = count;
        let new = count.interrupts.wrapping_sub(before);
        // Backwards: somebody has reset the device by its configuration space.
        Ok(if new > u32::MAX / 2 { count.interrupts } else { new }.into())
    }

    fn wait(&self, bound: Duration) -> Result<u64, DeviceError> {
        let started = Instant::now();
        let mut pause = Duration::from_micros(1);
        loop {
            let count = self.take()?;
            if count > 0 {
                return Ok(count);
            }
            let left = bound.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Err(DeviceError::Timeout {
                    waited_for: format!("an interrupt on vector {}", self.vector),
                    bound: format!("{bound:?}"),
                });
            }
            thread::sleep(pause.min(left));
            pause = (2 * pause).min(PAUSE_MAX);
        }
    }
}

impl Drop for PolledInterrupt {
    fn drop(&mut self) {
        self.device.disable(self.vector);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Resets and interrupts, unless a reset is under way.
    type Counter = Arc<Mutex<Option<(u32, u32)>>>;

    impl CountsInterrupts for Counter {
        fn count(&self, _vector: u32) -> Result<Option<Count>, DeviceError> {
            Ok(self.lock().map(|(resets, interrupts)| Count { resets, interrupts }))
        }

        fn disable(&self, _vector: u32) {
            *self.lock() = Some((0, 0xDEAD));
        }
    }

    #[test]
    fn counts_what_came_since_the_last_call_also_over_a_wrap_and_a_reset() {
        let device = Arc::new(Mutex::new(Some((0, u32::MAX))));
        let interrupt = PolledInterrupt::new(1, Box::new(device.clone())).unwrap();
        assert_eq!(interrupt.take(), Ok(0));
        *device.lock() = Some((0, 1));
        assert_eq!(interrupt.wait(Duration::ZERO), Ok(2));
        *device.lock() = None;
        assert_eq!(interrupt.take(), Ok(0));
        *device.lock() = Some((1, 0));
        assert_eq!(interrupt.take(), Ok(0));
        *device.lock() = Some((2, 5));
        assert_eq!(interrupt.take(), Ok(5));
        *device.lock() = Some((2, 3));
        assert_eq!(interrupt.take(), Ok(3), "reset by configuration space");
        assert_eq!(
            interrupt.wait(Duration::from_millis(5)).unwrap_err().to_string(),
            "waited for an interrupt on vector 1: nothing within 5ms"
        );
        drop(interrupt);
        assert_eq!(*device.lock(), Some((0, 0xDEAD)));
    }

    /// Counts one more at each look.
    struct Busy(std::sync::atomic::AtomicU32);

    impl CountsInterrupts for Arc<Busy> {
        fn count(&self, _vector: u32) -> Result<Option<Count>, DeviceError> {
            let interrupts = 1 + self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            thread::yield_now();
            Ok(Some(Count { resets: 0, interrupts }))
        }

        fn disable(&self, _vector: u32) {}
    }

    #[test]
    fn threads_that_take_at_once_share_the_interrupts_between_them() {
        const TAKES: u64 = 10_000;
        let device = Arc::new(Busy(0.into()));
        let interrupt = PolledInterrupt::new(1, Box::new(device)).unwrap();
        let take = || (0..TAKES).map(|_| interrupt.take().unwrap()).sum::<u64>();
        let sums = thread::scope(|scope| {
            let threads = [(); 2].map(|()| scope.spawn(take));
            threads.map(|thread| thread.join().unwrap())
        });
        assert_eq!(sums.iter().sum::<u64>(), 2 * TAKES, "{sums:?}");
    }
}
