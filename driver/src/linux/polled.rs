//! Interrupts of a device that nobody signals: its counters are read again and again.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::{DeviceError, Interrupt};

/// The longest pause between two reads of the counter.
const PAUSE_MAX: Duration = Duration::from_millis(1);

/// One vector, by its INTERRUPT_COUNT.
pub struct PolledInterrupt {
    vector: u32,
    /// What has been taken of the counter.
    taken: AtomicU32,
    /// Resets that the counter has been through when `taken` was put down.
    resets: AtomicU32,
    device: Box<dyn CountsInterrupts>,
}

/// The counters of a device, which begin at 0 after each reset.
pub trait CountsInterrupts: Send + Sync {
    /// The number of resets so far, then INTERRUPT_COUNT of the vector.
    fn count(&self, vector: u32) -> Result<(u32, u32), DeviceError>;

    /// The vector is not wanted any more.
    fn disable(&self, vector: u32);
}

impl PolledInterrupt {
    /// From the counter's present value on.
    pub fn new(vector: u32, device: Box<dyn CountsInterrupts>) -> Result<Self, DeviceError> {
        let (resets, count) = device.count(vector)?;
        Ok(PolledInterrupt { vector, taken: count.into(), resets: resets.into(), device })
    }
}

impl Interrupt for PolledInterrupt {
    fn vector(&self) -> u32 {
        self.vector
    }

    fn take(&self) -> Result<u64, DeviceError> {
        let (resets, count) = self.device.count(self.vector)?;
        if self.resets.swap(resets, Ordering::Relaxed) != resets {
            self.taken.store(0, Ordering::Relaxed);
        }
        // Two threads that take at once share the interrupts between them.
        let taken = self.taken.swap(count, Ordering::Relaxed);
        Ok(count.wrapping_sub(taken).into())
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
    use std::sync::{Arc, Mutex};

    impl CountsInterrupts for Arc<Mutex<(u32, u32)>> {
        fn count(&self, _vector: u32) -> Result<(u32, u32), DeviceError> {
            Ok(*self.lock().unwrap())
        }

        fn disable(&self, _vector: u32) {
            self.lock().unwrap().1 = 0xDEAD;
        }
    }

    #[test]
    fn counts_what_came_since_the_last_call_also_over_a_wrap_and_a_reset() {
        let device = Arc::new(Mutex::new((0, u32::MAX)));
        let interrupt = PolledInterrupt::new(1, Box::new(device.clone())).unwrap();
        assert_eq!(interrupt.take(), Ok(0));
        *device.lock().unwrap() = (0, 1);
        assert_eq!(interrupt.wait(Duration::ZERO), Ok(2));
        *device.lock().unwrap() = (1, 0);
        assert_eq!(interrupt.take(), Ok(0));
        *device.lock().unwrap() = (2, 5);
        assert_eq!(interrupt.take(), Ok(5));
        assert_eq!(
            interrupt.wait(Duration::from_millis(5)).unwrap_err().to_string(),
            "waited for an interrupt on vector 1: nothing within 5ms"
        );
        drop(interrupt);
        assert_eq!(device.lock().unwrap().1, 0xDEAD);
    }
}
