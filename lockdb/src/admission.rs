// SPDX-License-Identifier: MIT OR Apache-2.0
//! Admission to a store's sessions, of which there is a fixed number.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// So long the first in line lets others pass: to hand each session over would cost more than most
/// transactions take.
const POLITE: Duration = Duration::from_millis(1);

/// The waiting threads. The first of them is served next.
#[derive(Debug, Default)]
pub(crate) struct Admission {
    line: Mutex<VecDeque<Thread>>,
    /// The first in line has waited for long: no other thread is served before it.
    pressing: AtomicBool,
}

impl Admission {
    /// What `take` gives, at once or as soon as there is something.
    ///
    /// # Errors
    /// The time waited, when it is over `timeout`.
    #[inline]
    pub(crate) fn admit<T>(
        &self,
        timeout: impl FnOnce() -> Duration,
        mut take: impl FnMut() -> Option<T>,
    ) -> Result<T, Duration> {
        let free = if self.pressing.load(Ordering::Relaxed) { None } else { take() };
        free.map_or_else(|| self.wait(timeout(), take), Ok)
    }

    #[cold]
    fn wait<T>(
        &self,
        timeout: Duration,
        mut take: impl FnMut() -> Option<T>,
    ) -> Result<T, Duration> {
        let (since, place) = (Instant::now(), InLine::enter(self));
        loop {
            let waited = since.elapsed();
            if place.is_first() {
                if waited >= POLITE {
                    self.pressing.store(true, Ordering::Relaxed);
                    // A thread that frees a session that we do not find sees that we wait.
                    fence(Ordering::SeqCst);
                }
                if let Some(taken) = take() {
                    return Ok(taken);
                }
            }
            let Some(left) = timeout.checked_sub(waited) else { return Err(waited) };
            let polite = POLITE.saturating_sub(waited);
            thread::park_timeout(if polite.is_zero() { left } else { polite.min(left) });
        }
    }

    /// To be called when something has come free.
    #[inline]
    pub(crate) fn note_free(&self) {
        fence(Ordering::SeqCst);
        if self.pressing.load(Ordering::Relaxed) {
            self.wake_first();
        }
    }

    #[cold]
    fn wake_first(&self) {
        if let Some(first) = self.line.lock().front() {
            first.unpark();
        }
    }
}

/// This thread's place in the line, until it is dropped.
struct InLine<'a>(&'a Admission);

impl<'a> InLine<'a> {
    fn enter(admission: &'a Admission) -> Self {
        admission.line.lock().push_back(thread::current());
        Self(admission)
    }

    fn is_first(&self) -> bool {
        self.0.line.lock().front().is_some_and(is_this)
    }
}

impl Drop for InLine<'_> {
    fn drop(&mut self) {
        let mut line = self.0.line.lock();
        let was_first = line.front().is_some_and(is_this);
        line.retain(|waiter| !is_this(waiter));
        if was_first {
            // The next one looks at once whether it has to press itself.
            self.0.pressing.store(false, Ordering::Relaxed);
            line.front().inspect(|next| next.unpark());
        }
    }
}

/// A thread waits once at a time.
fn is_this(waiter: &Thread) -> bool {
    waiter.id() == thread::current().id()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// Many threads, few things: every thread gets one in the end, and none gets an extra one.
    #[test]
    fn all_are_served() {
        let (admission, free) = (Admission::default(), AtomicUsize::new(2));
        let take = || {
            let less = |count: usize| count.checked_sub(1);
            free.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).ok()
        };
        let for_ever = || Duration::from_secs(100);
        thread::scope(|threads| {
            for _ in 0..20 {
                threads.spawn(|| {
                    for round in 0..200 {
                        admission.admit(for_ever, take).expect("a wait is shorter than this");
                        if round % 50 == 0 {
                            thread::sleep(Duration::from_micros(200));
                        }
                        free.fetch_add(1, Ordering::SeqCst);
                        admission.note_free();
                    }
                });
            }
        });
        assert_eq!(free.load(Ordering::SeqCst), 2);
        assert!(admission.line.lock().is_empty() && !admission.pressing.load(Ordering::SeqCst));
    }

    #[test]
    fn a_wait_ends_at_its_timeout() {
        let admission = Admission::default();
        let (timeout, nothing) = (Duration::from_millis(10), || None::<()>);
        let waited = admission.admit(|| timeout, nothing).expect_err("there is nothing");
        assert!(waited >= timeout);
        // A thread that gave up does not block others.
        assert_eq!(admission.admit(|| timeout, || Some(())), Ok(()));
    }
}
