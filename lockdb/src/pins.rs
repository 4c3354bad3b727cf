// SPDX-License-Identifier: MIT OR Apache-2.0
//! The snapshots in use, which limit vacuum.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// One slot for each session; a session pins its snapshot there while a transaction runs.
#[derive(Debug)]
pub(crate) struct Pins {
    slots: Box<[Slot]>,
    free: Mutex<Vec<usize>>,
    /// The pin that vacuum has found to be the oldest, and when it found it first.
    oldest_met: Mutex<Option<(Pin, Instant)>>,
}

/// The pin of a session, on cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Slot {
    /// A snapshot plus one; 0 when nothing is pinned.
    snapshot: AtomicU64,
    /// How many transactions have pinned one here. Written by the slot's session alone.
    transactions: AtomicU64,
}

const NOTHING: u64 = 0;
/// Snapshot 0: older than all, while the session finds out which one is its own.
const BEGINNING: u64 = 1;

/// One pin of one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pin {
    slot: usize,
    transaction: u64,
    snapshot: u64,
}

impl Pin {
    /// Whether nobody knows yet how old it will be.
    fn is_beginning(&self) -> bool {
        self.snapshot + 1 == BEGINNING
    }
}

/// The snapshot of a running transaction because of which versions are kept that nobody else needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OldSnapshot {
    /// The [number](super::Session::number) of the transaction's session.
    pub session: usize,
    /// The commit up to which it sees everything. What was superseded after it is kept.
    pub snapshot: u64,
    /// How long vacuum has known it as the oldest of all; zero when it has not met it yet.
    pub oldest_for: Duration,
}

impl fmt::Display for OldSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { session, snapshot, oldest_for } = self;
        write!(
            f,
            "a transaction of session {session} keeps all that was superseded after its snapshot \
             {snapshot}, the oldest of all for at least {oldest_for:.1?}"
        )
    }
}

impl Pins {
    pub(crate) fn new(sessions: usize) -> Self {
        let slots = (0..sessions).map(|_| Slot::default()).collect();
        let free = Mutex::new((0..sessions).rev().collect());
        Self { slots, free, oldest_met: Mutex::new(None) }
    }

    /// How many sessions there can be at once.
    pub(crate) fn limit(&self) -> usize {
        self.slots.len()
    }

    /// A slot for a session; `None` when all are taken.
    pub(crate) fn claim(&self) -> Option<usize> {
        self.free.lock().pop()
    }

    /// Gives a slot back.
    pub(crate) fn give_back(&self, slot: usize) {
        self.unpin(slot);
        self.free.lock().push(slot);
    }

    /// Pins what `published` says, and nothing newer than what is read from now on.
    #[inline]
    pub(crate) fn pin(&self, slot: usize, published: impl FnOnce() -> u64) -> u64 {
        let Slot { snapshot: word, transactions } = &self.slots[slot];
        transactions.store(transactions.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        word.store(BEGINNING, Ordering::Relaxed);
        // Before this session reads any map, a search for pins sees this one (or had unlinked
        // what it removes before this session could read it).
        fence(Ordering::SeqCst);
        let snapshot = published();
        word.store(snapshot + 1, Ordering::Release);
        snapshot
    }

    #[inline]
    pub(crate) fn unpin(&self, slot: usize) {
        self.slots[slot].snapshot.store(NOTHING, Ordering::Release);
    }

    /// The oldest snapshot in use; `None` when none is.
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.pins().map(|pin| pin.snapshot).min()
    }

    /// The pins that there are.
    fn pins(&self) -> impl Iterator<Item = Pin> {
        fence(Ordering::SeqCst);
        (0..self.slots.len()).filter_map(|slot| self.pin_of(slot))
    }

    /// The oldest snapshot that is known, and in use.
    fn oldest_known(&self) -> Option<Pin> {
        self.pins().filter(|pin| !pin.is_beginning()).min_by_key(|pin| pin.snapshot)
    }

    fn pin_of(&self, slot: usize) -> Option<Pin> {
        let Slot { snapshot: word, transactions } = &self.slots[slot];
        let mut pinned = word.load(Ordering::Acquire);
        // Its session needs a moment to find its snapshot, unless it is put off the processor.
        for _ in 0..64 {
            if pinned != BEGINNING {
                break;
            }
            std::hint::spin_loop();
            pinned = word.load(Ordering::Acquire);
        }
        let transaction = transactions.load(Ordering::Relaxed);
        (pinned != NOTHING).then(|| Pin { slot, transaction, snapshot: pinned - 1 })
    }

    /// No snapshot older than this one is in use, nor will be: `published` is read first.
    pub(crate) fn horizon(&self, published: impl FnOnce() -> u64) -> u64 {
        let bound = published();
        self.oldest().map_or(bound, |oldest| oldest.min(bound))
    }

    /// Keeps in mind which snapshot is the oldest, and since when.
    pub(crate) fn meet_oldest(&self) {
        let (oldest, mut met) = (self.oldest_known(), self.oldest_met.lock());
        if met.map(|(pin, _)| pin) != oldest {
            *met = oldest.map(|pin| (pin, Instant::now()));
        }
    }

    /// The oldest snapshot in use, if it is not newer than `commit`.
    pub(crate) fn keeper(&self, commit: u64) -> Option<OldSnapshot> {
        let oldest = self.oldest_known().filter(|oldest| oldest.snapshot <= commit)?;
        let Pin { slot: session, snapshot, .. } = oldest;
        let met = self.oldest_met.lock().filter(|&(met, _)| met == oldest);
        let oldest_for = met.map_or(Duration::ZERO, |(_, since)| since.elapsed());
        Some(OldSnapshot { session, snapshot, oldest_for })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_horizon_is_the_oldest_pin() {
        let pins = Pins::new(2);
        let (a, b) = (pins.claim().unwrap(), pins.claim().unwrap());
        assert_eq!(pins.claim(), None);
        assert_eq!(pins.horizon(|| 9), 9);
        assert_eq!(pins.pin(a, || 5), 5);
        assert_eq!(pins.pin(b, || 7), 7);
        assert_eq!((pins.horizon(|| 9), pins.oldest()), (5, Some(5)));
        pins.unpin(a);
        assert_eq!(pins.oldest(), Some(7));
        pins.give_back(b);
        assert_eq!(pins.oldest(), None);
        assert!(pins.claim().is_some());
    }

    /// Another transaction of the same session, at the same snapshot, is another one.
    #[test]
    fn the_age_of_a_keeper_is_that_of_its_transaction() {
        let pins = Pins::new(2);
        let slot = pins.claim().unwrap();
        pins.pin(slot, || 5);
        let unmet = OldSnapshot { session: slot, snapshot: 5, oldest_for: Duration::ZERO };
        assert_eq!(
            (pins.keeper(9), pins.keeper(5), pins.keeper(4)),
            (Some(unmet), Some(unmet), None)
        );
        pins.meet_oldest();
        std::thread::sleep(Duration::from_millis(1));
        assert!(pins.keeper(9).unwrap().oldest_for >= Duration::from_millis(1));
        pins.unpin(slot);
        assert_eq!(pins.keeper(9), None);
        pins.pin(slot, || 5);
        assert_eq!(pins.keeper(9), Some(unmet));
    }
}
