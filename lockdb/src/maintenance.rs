// SPDX-License-Identifier: MIT OR Apache-2.0
//! Background work of a store, done by its own thread or by sessions.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

use super::database::Shared;
use super::options::IndexBuild;
use super::session::Session;

/// Pages that are checked for each page that sessions take: a sweep over n pages ends before n / 16
/// more are taken.
const PACE: u64 = 16;

/// At most so many at a time.
const AT_ONCE: u64 = 256;

/// A session that has taken pages while too many are in use gives vacuum so long at the most, be it
/// with work or waiting for its turn.
const HELD_UP: Duration = Duration::from_micros(500);

/// While all pages are in use and none can be freed, the thread yields the processor.
const BREATH: Duration = Duration::from_millis(10);

/// Without anything to do the thread looks around all the same.
const IDLE: Duration = Duration::from_secs(1);

impl Session {
    /// Between two transactions, without a snapshot: a session that has taken pages does its share
    /// of vacuum. No other session ever waits for vacuum.
    #[inline]
    pub(crate) fn maintain_in_passing(&mut self) {
        if self.open.asked > 0 {
            let timeout = self.shared.options.room_timeout;
            self.open.asked = u64::from(self.vacuum_in_passing(timeout));
        }
    }

    /// A session ends. It waits for no room.
    pub(crate) fn pay_for_pages(&mut self) {
        if self.open.asked > 0 && !thread::panicking() {
            self.vacuum_in_passing(Duration::ZERO);
        }
    }

    /// Says whether something is left to do.
    #[cold]
    fn vacuum_in_passing(&self, room_timeout: Duration) -> bool {
        let shared = &self.shared;
        if !shared.options.vacuum {
            return false;
        }
        // Vacuum needs the indexes; its thread does not let a session wait for these.
        if let Some(thread) = shared.maintainer.get().filter(|_| !shared.indexes.are_ready()) {
            shared.pages.take_debt();
            thread.unpark();
            return false;
        }
        let pressed = shared.pages.are_excessive() || !shared.pages.has_room(&shared.pins);
        if !pressed && !shared.pages.owes_vacuum() {
            return false;
        }
        if let Some(thread) = shared.maintainer.get() {
            thread.unpark();
            if !pressed {
                shared.pages.take_debt();
                return false;
            }
        }
        if pressed {
            shared.vacuum_under_pressure(self.open.asked, room_timeout);
            return false;
        }
        let Some(mut vacuum) = shared.maintenance.try_lock() else { return false };
        let debt = shared.pages.take_debt();
        let now = debt.min(AT_ONCE / PACE);
        let left = shared.vacuum_on(&mut vacuum, now * PACE);
        // A sweep that has ended has settled all.
        let left = if vacuum.has_ended() { 0 } else { debt - now + left.div_ceil(PACE) };
        shared.pages.add_debt(left);
        left > 0
    }
}

impl Shared {
    /// Vacuums, or waits while another thread does: for a short time by the pages that a session
    /// has asked for, or for `room_timeout` when there is no other way to get one.
    fn vacuum_under_pressure(&self, asked: u64, room_timeout: Duration) {
        let (since, mut steps, mut sweeps) = (Instant::now(), 0, 0);
        let held_up = HELD_UP.saturating_mul(asked.min(u64::from(u32::MAX)) as u32);
        loop {
            let turn = self.maintenance.try_lock();
            let worked = turn.is_some();
            if let Some(mut vacuum) = turn {
                sweeps += u32::from(self.vacuum_on(&mut vacuum, AT_ONCE) == 0);
                steps += 1;
            }
            let (starved, hopeful) = self.room_to_come(sweeps, room_timeout);
            let done = steps >= asked || steps > 0 && !self.pages.are_excessive();
            // A session that gets no turn does not wait for long, since another thread is
            // vacuuming.
            let held_up = if worked { held_up } else { HELD_UP };
            let timeout = if starved { room_timeout.max(held_up) } else { held_up };
            if done && !starved || since.elapsed() >= timeout {
                return;
            }
            if !worked || starved && !hopeful {
                thread::sleep(HELD_UP / 10);
            }
        }
    }

    /// Whether no page is free while one may come soon, and whether that is for vacuum to
    /// bring about, which has looked at all pages so many times.
    fn room_to_come(&self, sweeps: u32, timeout: Duration) -> (bool, bool) {
        if self.pages.has_room(&self.pins) {
            return (false, false);
        }
        match self.pages.keeper(&self.pins) {
            // A snapshot that is as old as that is likely to stay.
            Some(keeper) => (keeper.oldest_for < timeout, false),
            // Two whole sweeps, and the rest of the one before, leave nothing to hope for.
            None => (sweeps < 3 && !timeout.is_zero(), true),
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
        if shared.options.vacuum && shared.pages.vacuum_is_due() {
            if !shared.indexes.are_ready() && shared.build_indexes(stop).is_err() {
                return;
            }
            let mut vacuum = shared.maintenance.lock();
            shared.vacuum_on(&mut vacuum, AT_ONCE);
            let hopeful = vacuum.is_hopeful();
            drop(vacuum);
            // Vacuum stays due, whatever it finds.
            if !hopeful && shared.pages.are_used_up() {
                thread::park_timeout(BREATH);
            }
        } else if shared.shared_state_is_due() || shared.log_is_due() {
            // A failure here is reported to the next caller of a checkpoint or a shared state, and
            // is tried again: a disk may have room by then.
            if shared.checkpoint().is_err() {
                thread::park_timeout(IDLE);
            }
        } else {
            thread::park_timeout(IDLE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::{Isolation, Options, TransactionOptions};
    use super::super::schema::{Schema, Type};
    use super::super::{Database, Durability};

    const QUICK: TransactionOptions =
        TransactionOptions { isolation: Isolation::Snapshot, durability: Durability::None };

    #[test]
    fn a_begin_waits_for_no_vacuum_of_others() {
        let store = Database::in_memory(Options::small()).unwrap();
        let schema = Schema::builder("t").column("id", Type::Int64).column("n", Type::Int64);
        let table = store.create_table(schema.primary_key(&["id"]).build().unwrap()).unwrap();
        let mut sessions = [(); 3].map(|()| store.session().unwrap());
        let [holder, reader, writer] = &mut sessions;
        let mut write = |n: i64| {
            let done = writer.transaction(QUICK, |transaction| match n {
                0 => transaction.insert(&table, &[0.into(), 0.into()]),
                _ => transaction
                    .update(&table, &0, |row| {
                        row.set_int(1, n);
                        Ok(())
                    })
                    .map(drop),
            });
            done.unwrap();
        };
        write(0);
        drop(reader.begin(QUICK));
        let _old = holder.begin(QUICK);
        let (shared, mut n) = (&store.shared, 0);
        let held = shared.maintenance.lock();
        // No session vacuums, and yet all of these begin.
        while !shared.pages.are_excessive() {
            n += 1;
            write(n);
        }
        drop(reader.begin(QUICK));
        drop(held);
        // A vacuum is needed, but readers do not perform it.
        assert!(shared.pages.owes_vacuum());
        let owed = shared.pages.take_debt();
        shared.pages.add_debt(owed);
        drop(reader.begin(QUICK));
        assert_eq!(shared.pages.take_debt(), owed);
    }
}
