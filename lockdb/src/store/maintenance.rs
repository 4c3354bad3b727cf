//! What a store does beside transactions, and who does it: a thread of its own, or sessions in
//! passing.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, TryLockError};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

use super::database::Shared;
use super::options::IndexBuild;
use super::vacuum::Vacuum;
use crate::primitive::lock;

/// Pages that are looked at for each page that sessions take: a sweep over n pages ends before n / 16
/// more are taken.
const PACE: u64 = 16;

/// At most so many at a time, so that no transaction is held up for long.
const AT_ONCE: u64 = 256;

/// A session that finds too many pages in use waits so long for its turn to vacuum.
const HELD_UP: Duration = Duration::from_millis(10);

/// Without anything to do the thread looks around all the same.
const IDLE: Duration = Duration::from_secs(1);

impl Shared {
    /// A session passes by between two transactions, without a snapshot: it does what is due.
    #[inline]
    pub(crate) fn maintain_in_passing(&self) {
        if self.pages.owes_vacuum() {
            self.vacuum_in_passing();
        }
    }

    #[cold]
    fn vacuum_in_passing(&self) {
        // It needs the indexes; its thread does not let a session wait for these.
        if let Some(thread) = self.maintainer.get().filter(|_| !self.indexes.are_ready()) {
            self.pages.take_debt();
            return thread.unpark();
        }
        let excessive = self.pages.are_excessive();
        if let Some(thread) = self.maintainer.get() {
            thread.unpark();
            if !excessive {
                self.pages.take_debt();
                return;
            }
        }
        let turn = if excessive { self.wait_for_turn() } else { self.try_turn() };
        let Some(mut vacuum) = turn else { return };
        let pages = if excessive { AT_ONCE } else { AT_ONCE.min(self.pages.take_debt() * PACE) };
        self.vacuum_on(&mut vacuum, pages);
    }

    fn try_turn(&self) -> Option<MutexGuard<'_, Vacuum>> {
        match self.maintenance.try_lock() {
            Ok(vacuum) => Some(vacuum),
            Err(TryLockError::Poisoned(poison)) => Some(poison.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// `None` when somebody else takes too long: then it does what is to be done.
    fn wait_for_turn(&self) -> Option<MutexGuard<'_, Vacuum>> {
        let since = Instant::now();
        loop {
            match self.try_turn() {
                None if since.elapsed() < HELD_UP => thread::sleep(Duration::from_micros(50)),
                turn => return turn,
            }
        }
    }
}

/// The store's own thread. Lives as long as the handles of the store; the last of them to go waits
/// for it.
#[derive(Debug)]
pub(crate) struct Maintainer {
    stop: Arc<AtomicBool>,
    /// Taken when it ends.
    thread: Option<JoinHandle<()>>,
}

impl Maintainer {
    pub(crate) fn start(shared: Arc<Shared>) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (of, stopped) = (shared.clone(), stop.clone());
        let thread = thread::Builder::new()
            .name("store maintenance".into())
            .spawn(move || maintain(&of, &stopped))?;
        let woken: Thread = thread.thread().clone();
        shared.maintainer.set(woken).expect("a store has one thread");
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Maintainer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // Had it panicked, it would have said so.
            let _ = thread.join();
        }
    }
}

fn maintain(shared: &Shared, stop: &AtomicBool) {
    if shared.options.indexes == IndexBuild::AtOpen && shared.build_indexes(stop).is_err() {
        return;
    }
    if shared.options.read_only {
        return;
    }
    while !stop.load(Ordering::Acquire) {
        if shared.pages.vacuum_is_due() {
            if !shared.indexes.are_ready() && shared.build_indexes(stop).is_err() {
                return;
            }
            shared.vacuum_on(&mut lock(&shared.maintenance), AT_ONCE);
            if shared.pages.are_used_up() {
                // Vacuum stays due, whatever it finds: let others have the processor.
                thread::park_timeout(HELD_UP);
            }
        } else if shared.shared_state_is_due() || shared.log_is_due() {
            // What fails here is told to whoever asks for a checkpoint or a shared state, and is
            // tried again: a disk may have room by then.
            if shared.checkpoint().is_err() {
                thread::park_timeout(IDLE);
            }
        } else {
            thread::park_timeout(IDLE);
        }
    }
}
