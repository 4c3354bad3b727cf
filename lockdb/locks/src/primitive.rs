// SPDX-License-Identifier: MIT OR Apache-2.0
//! The atomics and threads that the host embodiment uses, so that `loom` can replace them.

#[cfg(loom)]
pub(crate) use loom::{
    hint::spin_loop,
    sync::atomic::{AtomicU32, AtomicU64, Ordering, fence},
    sync::{Mutex, MutexGuard},
    thread::{Thread, current, yield_now},
};
#[cfg(not(loom))]
pub(crate) use std::{
    hint::spin_loop,
    sync::atomic::{AtomicU32, AtomicU64, Ordering, fence},
    sync::{Mutex, MutexGuard},
    thread::{Thread, current, yield_now},
};

use std::time::Duration;

/// Parks for at most `time`. (Under `loom` there is no time: until unparked.)
pub(crate) fn park_timeout(time: Duration) {
    #[cfg(loom)]
    {
        let _ = time;
        loom::thread::park();
    }
    #[cfg(not(loom))]
    std::thread::park_timeout(time);
}

/// A panic of another thread leaves our plain lists whole, so poison is nothing to us.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poison| poison.into_inner())
}
