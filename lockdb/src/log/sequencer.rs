// SPDX-License-Identifier: MIT OR Apache-2.0
//! The order of commits: dense numbers, each with its place in the log, and the completed prefix.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

/// A cache line, and the one that the processor fetches beside it, of its own.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Padded<T>(pub T);

/// Hands out commits and gathers them again.
///
/// Invariants: a commit is given out only while fewer than `ends.len()` are under way, so commit
/// `c` alone owns the slot `c` modulo `ends.len()` from then until `published` has gone past it;
/// ends only grow. So `c + 1` is done when its slot holds more than that of `c`, and less means
/// an older commit's end.
#[derive(Debug)]
pub(super) struct Sequencer {
    next: Padded<Mutex<Next>>,
    /// The largest P such that all commits up to P are done.
    published: Padded<AtomicU64>,
    /// The end LSN of each done commit.
    ends: Box<[AtomicU64]>,
}

/// What was given out last, and limits known to hold, so that giving seldom looks elsewhere.
#[derive(Debug)]
struct Next {
    commit: u64,
    lsn: u64,
    commit_limit: u64,
    lsn_limit: u64,
}

/// A commit's number and place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommitPlace {
    pub commit: u64,
    pub lsn: u64,
    pub end: u64,
}

impl Sequencer {
    /// Begins after `commit`, at `lsn`, with room for `slots` commits under way, a power of two.
    pub fn new(commit: u64, lsn: u64, slots: usize) -> Self {
        assert!(slots.is_power_of_two(), "{slots} slots");
        let ends: Box<[AtomicU64]> = (0..slots).map(|_| AtomicU64::new(0)).collect();
        ends[commit as usize & (slots - 1)].store(lsn, Ordering::Relaxed);
        let next = Next { commit, lsn, commit_limit: commit, lsn_limit: lsn };
        Self { next: Padded(Mutex::new(next)), published: Padded(AtomicU64::new(commit)), ends }
    }

    /// The next commit, with `bytes` bytes of log; `None` when there is no room now.
    ///
    /// `room` is what the LSN at the end must not exceed: of this record alone, if it is `large`.
    #[inline]
    pub fn begin(
        &self,
        bytes: u64,
        large: bool,
        room: Option<impl FnOnce() -> u64>,
    ) -> Option<CommitPlace> {
        let mut next = self.next.0.lock();
        let place = CommitPlace { commit: next.commit + 1, lsn: next.lsn, end: next.lsn + bytes };
        if place.commit > next.commit_limit {
            next.commit_limit = self.published() + self.ends.len() as u64 - 1;
            if place.commit > next.commit_limit {
                return None;
            }
        }
        if let (Some(room), true) = (room, place.end > next.lsn_limit) {
            let limit = room();
            if !large {
                next.lsn_limit = limit;
            }
            if place.end > limit {
                return None;
            }
        }
        (next.commit, next.lsn) = (place.commit, place.end);
        Some(place)
    }

    /// Marks a commit done.
    #[inline]
    pub fn finish(&self, place: CommitPlace) {
        // Release: a thread that sees it published sees all earlier writes of its thread.
        self.slot(place.commit).store(place.end, Ordering::Release);
    }

    /// Moves `published` over the done prefix; returns it.
    #[inline]
    pub fn advance(&self) -> u64 {
        let from = self.published();
        let mut to = from;
        let mut end = self.slot(from).load(Ordering::Acquire);
        loop {
            let next = self.slot(to + 1).load(Ordering::Acquire);
            if next <= end {
                break;
            }
            (to, end) = (to + 1, next);
        }
        if to == from {
            return from;
        }
        // If `published` is still `from`, no slot that we read can have changed hands; else what
        // we read means nothing, and the exchange fails.
        let moved =
            self.published.0.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire);
        moved.map_or_else(|published| published, |_| to)
    }

    /// The last commit of the done prefix.
    #[inline]
    pub fn published(&self) -> u64 {
        self.published.0.load(Ordering::Acquire)
    }

    /// The last commit of the done prefix and its end LSN.
    pub fn completed(&self) -> (u64, u64) {
        loop {
            let published = self.published();
            let end = self.slot(published).load(Ordering::Acquire);
            // The slot changes hands only after `published` has gone on.
            if self.published() == published {
                return (published, end);
            }
        }
    }

    /// The last commit given out and its end LSN.
    pub fn tail(&self) -> (u64, u64) {
        let next = self.next.0.lock();
        (next.commit, next.lsn)
    }

    #[inline]
    fn slot(&self, commit: u64) -> &AtomicU64 {
        &self.ends[commit as usize & (self.ends.len() - 1)]
    }
}
