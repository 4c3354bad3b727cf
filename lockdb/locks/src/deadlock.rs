// SPDX-License-Identifier: MIT OR Apache-2.0
//! The waits-for relation, read from the table itself.
//!
//! The slots hold timestamps, so a search needs no other book-keeping, and it sees device
//! transactions as well as the host's.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Bucket, Head, Ring, Timestamp};

/// Edges from each waiter to the holder.
///
/// None to the waiters ahead of it: they are waited for as well, but they wait for the same holder,
/// so a cycle through one of them is a detour of a cycle without it, or becomes one when the bucket
/// is handed on; and to leave the queue would not open it. So a transaction that breaks a cycle
/// holds what another one in it waits for, and host transactions, which wait once at a time, are in
/// one cycle at the most: one dies for each.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct WaitsFor {
    edges: BTreeMap<Timestamp, BTreeSet<Timestamp>>,
}

impl WaitsFor {
    /// Reads all buckets. Each is read by itself, so an edge may be gone when the next is read: a
    /// cycle is certain only if it is still there on a second reading.
    pub fn read(buckets: &[Bucket]) -> Self {
        let mut graph = Self::default();
        for bucket in buckets {
            if bucket.head().has_waiters() {
                graph.add(&bucket.line());
            }
        }
        graph
    }

    /// Adds the edges of one bucket, given its words.
    pub fn add(&mut self, line: &[u64; 8]) {
        let head = Head::from_word(line[0]);
        let Some(holder) = head.holder() else { return };
        for slot in head.queue(Ring::FULL) {
            // Zero: the waiter left while the line was read. A holder may wait behind itself: it
            // was granted the lock at another of its places.
            let waiter = Timestamp::of_word(line[slot.index()]);
            if let Some(waiter) = waiter.filter(|&waiter| waiter != holder) {
                self.edges.entry(waiter).or_default().insert(holder);
            }
        }
    }

    /// With one more edge, from a transaction that waits without a slot.
    pub fn with_edge(mut self, waiter: Timestamp, holder: Option<Timestamp>) -> Self {
        if let Some(holder) = holder.filter(|&holder| holder != waiter) {
            self.edges.entry(waiter).or_default().insert(holder);
        }
        self
    }

    /// A cycle of waiting that goes through `start`, beginning with it.
    pub fn cycle_through(&self, start: Timestamp) -> Option<Vec<Timestamp>> {
        let mut path = vec![start];
        let mut seen = BTreeSet::new();
        self.search(start, &mut path, &mut seen).then_some(path)
    }

    /// Depth-first; the depth is at most the number of waiters.
    fn search(
        &self,
        start: Timestamp,
        path: &mut Vec<Timestamp>,
        seen: &mut BTreeSet<Timestamp>,
    ) -> bool {
        let here = path[path.len() - 1];
        for &next in self.edges.get(&here).into_iter().flatten() {
            if next == start {
                return true;
            }
            if seen.insert(next) {
                path.push(next);
                if self.search(start, path, seen) {
                    return true;
                }
                path.pop();
            }
        }
        false
    }

    /// Whether each in the list waits for the next, and the last for the first.
    pub fn has_cycle(&self, cycle: &[Timestamp]) -> bool {
        let waits = |from, to| self.edges.get(from).is_some_and(|edges| edges.contains(to));
        !cycle.is_empty()
            && cycle.iter().zip(cycle.iter().cycle().skip(1)).all(|(from, to)| waits(from, to))
    }
}

/// A cycle is broken by its youngest member. If that one cannot (it runs on a device, which has no
/// search), a transaction that has seen the same cycle this often leaves instead.
const SIGHTINGS: u32 = 4;

/// The cycles that one wait has seen so far.
#[derive(Clone, Debug, Default)]
pub struct Suspicion {
    cycle: Vec<Timestamp>,
    sightings: u32,
}

impl Suspicion {
    /// Takes note of a cycle; whether `transaction`, a member, is the one to leave its queue.
    pub fn is_ours_to_break(&mut self, cycle: Vec<Timestamp>, transaction: Timestamp) -> bool {
        let youngest = cycle.iter().max() == Some(&transaction);
        self.sightings = if cycle == self.cycle { self.sightings + 1 } else { 1 };
        self.cycle = cycle;
        youngest || self.sightings >= SIGHTINGS
    }

    /// The cycle seen last.
    pub fn cycle(&self) -> &[Timestamp] {
        &self.cycle
    }
}
