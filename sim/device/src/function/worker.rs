// SPDX-License-Identifier: MIT OR Apache-2.0
//! The thread that clocks the board while there is something to do.

use std::time::{Duration, Instant};

use super::*;

/// Clock cycles of a slice: threads that wait for the mutex wait no longer, or for one chunk of a
/// copy.
const SLICE: u32 = 16;

/// Clock cycles between two chunks of a copy while the RTL waits for nothing but copies: enough to
/// take the end of one in.
const BETWEEN_CHUNKS: u32 = 4;

/// How long to look for new work repeatedly before sleeping until it comes: waking up takes
/// about as long.
const SPIN: Duration = Duration::from_micros(20);

/// How long the worker waits to see whether another access follows the last one.
const PAUSE: Duration = Duration::from_micros(1);

/// For how long accesses that follow each other may delay a slice in which work is in progress.
const COURTESY: Duration = Duration::from_micros(20);

/// The same for a slice that, as far as can be seen, only lets the RTL come to rest.
const COURTESY_AT_REST: Duration = Duration::from_micros(500);

/// How often to look at the lines whose copies are kept while nothing else is to do.
const LOOK: Duration = Duration::from_micros(20);

pub(super) fn work(shared: &Shared) {
    let mut state = shared.state.lock();
    let mut seen = 0;
    while !state.ended {
        if shared.accesses.load(Ordering::Relaxed) != seen {
            let bound = if state.board.is_at_work() { COURTESY } else { COURTESY_AT_REST };
            MutexGuard::unlocked(&mut state, || seen = let_pass(&shared.accesses, bound));
        }
        if state.slice() {
            MutexGuard::bump(&mut state);
            continue;
        }
        shared.kicked.store(false, Ordering::Relaxed);
        MutexGuard::unlocked(&mut state, || spin(&shared.kicked));
        if shared.kicked.load(Ordering::Relaxed) {
            continue;
        }
        if state.board.keeps_copies() {
            shared.wake.wait_for(&mut state, LOOK);
        } else {
            shared.wake.wait(&mut state);
        }
    }
}

/// A thread that accesses registers one after the other clocks the board itself, and would have to
/// be handed the mutex for each. So they go first, for a while. Gives the accesses that it has
/// seen.
fn let_pass(accesses: &AtomicU32, bound: Duration) -> u32 {
    let start = Instant::now();
    let (mut seen, mut since) = (accesses.load(Ordering::Relaxed), start);
    loop {
        std::hint::spin_loop();
        let (now, time) = (accesses.load(Ordering::Relaxed), Instant::now());
        if now != seen {
            (seen, since) = (now, time);
        }
        if time - since >= PAUSE || time - start >= bound {
            return seen;
        }
    }
}

/// Until the worker is kicked, for a moment.
fn spin(kicked: &AtomicBool) {
    let start = Instant::now();
    while !kicked.load(Ordering::Relaxed) && start.elapsed() < SPIN {
        std::hint::spin_loop();
    }
}

impl State {
    /// Does a little of what is to do; false when there was nothing.
    fn slice(&mut self) -> bool {
        if self.failure.is_some() {
            return false;
        }
        let host = reach(&self.configuration, &self.space);
        self.board.look_at_copies(host);
        if self.board.is_idle() {
            return false;
        }
        self.board.move_chunk(host);
        let cycles = if self.board.waits_for_copies() { BETWEEN_CHUNKS } else { SLICE };
        let mut world = World { host, msix: &mut self.msix, jobs: &self.jobs };
        for _ in 0..cycles {
            if let Err(fault) = self.board.clock(&mut world) {
                self.failure = Some(fault.to_string());
                return false;
            }
        }
        true
    }
}
