// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where waiters sleep after they have spun for a while.
//!
//! A sleeper is found by its timestamp, which is what the hand-over names. The order that makes a
//! lost wake impossible: the sleeper enters its name, then looks at the head once more; the waker
//! changes the head, then looks for names. Each side has a sequentially consistent fence between
//! its two steps, so at least one of them sees the other.

use std::time::Duration;

use crate::Timestamp;
use crate::primitive::{AtomicU32, Mutex, Ordering, Thread, current, fence, lock, park_timeout};

/// Sleepers, spread over a fixed number of lists.
#[derive(Debug)]
pub(crate) struct Parking {
    lots: Box<[Lot]>,
}

#[derive(Debug)]
struct Lot {
    sleepers: AtomicU32,
    list: Mutex<Vec<Sleeper>>,
}

#[derive(Debug)]
struct Sleeper {
    transaction: Timestamp,
    bucket: usize,
    thread: Thread,
}

impl Lot {
    #[cold]
    fn unpark(&self, bucket: usize, transaction: Timestamp) {
        for sleeper in lock(&self.list).iter() {
            if sleeper.transaction == transaction && sleeper.bucket == bucket {
                sleeper.thread.unpark();
            }
        }
    }
}

impl Parking {
    pub(crate) fn new(lots: usize) -> Self {
        let lot = |_| Lot { sleepers: AtomicU32::new(0), list: Mutex::new(Vec::new()) };
        Self { lots: (0..lots).map(lot).collect() }
    }

    fn lot(&self, bucket: usize) -> &Lot {
        &self.lots[bucket % self.lots.len()]
    }

    /// Sleeps until woken or for `time`, unless `still_waiting` says that there is no need.
    pub(crate) fn sleep(
        &self,
        bucket: usize,
        transaction: Timestamp,
        time: Duration,
        still_waiting: impl FnOnce() -> bool,
    ) {
        let lot = self.lot(bucket);
        lock(&lot.list).push(Sleeper { transaction, bucket, thread: current() });
        lot.sleepers.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if still_waiting() {
            park_timeout(time);
        }
        let me = current().id();
        lock(&lot.list).retain(|sleeper| sleeper.thread.id() != me);
        lot.sleepers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Wakes the sleeper of this name, after the head has been changed in its favour.
    #[inline]
    pub(crate) fn wake(&self, bucket: usize, transaction: Timestamp) {
        fence(Ordering::SeqCst);
        let lot = self.lot(bucket);
        if lot.sleepers.load(Ordering::Relaxed) == 0 {
            return;
        }
        lot.unpark(bucket, transaction);
    }
}
