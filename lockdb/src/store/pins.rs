//! Which snapshots are in use: what vacuum may not touch yet.

use std::sync::atomic::{AtomicU64, Ordering, fence};

use crate::primitive::{Mutex, lock};

/// One slot for each session; a session pins its snapshot there while a transaction runs.
#[derive(Debug)]
pub(crate) struct Pins {
    slots: Box<[Slot]>,
    free: Mutex<Vec<usize>>,
}

/// A snapshot plus one; 0 when nothing is pinned. Alone on its cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Slot(AtomicU64);

const NOTHING: u64 = 0;
/// Snapshot 0: older than all, while the session finds out which one is its own.
const BEGINNING: u64 = 1;

impl Pins {
    pub(crate) fn new(sessions: usize) -> Self {
        let slots = (0..sessions).map(|_| Slot::default()).collect();
        Self { slots, free: Mutex::new((0..sessions).rev().collect()) }
    }

    /// How many sessions there can be at once.
    pub(crate) fn limit(&self) -> usize {
        self.slots.len()
    }

    /// A slot for a session; `None` when all are taken.
    pub(crate) fn claim(&self) -> Option<usize> {
        lock(&self.free).pop()
    }

    /// Gives a slot back.
    pub(crate) fn give_back(&self, slot: usize) {
        self.unpin(slot);
        lock(&self.free).push(slot);
    }

    /// Pins what `published` says, and nothing newer than what is read from now on.
    #[inline]
    pub(crate) fn pin(&self, slot: usize, published: impl FnOnce() -> u64) -> u64 {
        let word = &self.slots[slot].0;
        word.store(BEGINNING, Ordering::Relaxed);
        // Before this session reads any map, whoever looks for pins sees this one (or had unlinked
        // what it removes before this session could read it).
        fence(Ordering::SeqCst);
        let snapshot = published();
        word.store(snapshot + 1, Ordering::Release);
        snapshot
    }

    #[inline]
    pub(crate) fn unpin(&self, slot: usize) {
        self.slots[slot].0.store(NOTHING, Ordering::Release);
    }

    /// The oldest snapshot in use; `None` when none is.
    pub(crate) fn oldest(&self) -> Option<u64> {
        fence(Ordering::SeqCst);
        let pinned = self.slots.iter().map(|slot| slot.0.load(Ordering::Acquire));
        pinned.filter(|&word| word != NOTHING).map(|word| word - 1).min()
    }

    /// No snapshot older than this one is in use, nor will be: `published` is read first.
    pub(crate) fn horizon(&self, published: impl FnOnce() -> u64) -> u64 {
        let bound = published();
        self.oldest().map_or(bound, |oldest| oldest.min(bound))
    }

    /// Whether everybody who could have seen what was unlinked at `stamp` (the published commit
    /// after the unlinking) has ended.
    pub(crate) fn have_passed(&self, stamp: u64) -> bool {
        self.oldest().is_none_or(|oldest| oldest > stamp)
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
        assert!(!pins.have_passed(5) && pins.have_passed(4));
        pins.unpin(a);
        assert_eq!(pins.oldest(), Some(7));
        pins.give_back(b);
        assert!(pins.have_passed(u64::MAX - 1));
        assert!(pins.claim().is_some());
    }
}
