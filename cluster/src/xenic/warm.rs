// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the index of a NIC holds after a long run, where it has no memory for an entry of each segment.
//!
//! Virtual runs are too short to bring that about. So transactions are drawn before, and the keys that they ask for go
//! through the same policy as in a run: an entry that was not used since the hand came by is forgotten. Only which
//! entries there are is kept, a bit for each segment; their objects are what the host's table has.

use std::hash::Hash;
use std::sync::Arc;

use super::Fixed;
use super::displacements::Place;
use crate::engine::Key;
use crate::mix::{mix, scale};
use crate::placement::PartitionId;
use crate::transact::{Rows, Transactions};

/// Keys that are asked for, for each segment of a node: the index then holds what is asked for often.
const KEYS: u64 = 3;
/// The most transactions that are drawn.
const MOST_DRAWN: u64 = 5_000_000;
/// The most workers whose inputs are drawn.
const MOST_SOURCES: u32 = 1 << 12;

/// A bit for each segment of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(count: u32) -> Self {
        Self(vec![0; count.div_ceil(64) as usize])
    }

    fn has(&self, at: u32) -> bool {
        self.0[at as usize / 64] >> (at % 64) & 1 == 1
    }

    fn set(&mut self, at: u32) {
        self.0[at as usize / 64] |= 1 << (at % 64);
    }

    /// Clears a bit, and says whether it was set.
    fn take(&mut self, at: u32) -> bool {
        let had = self.has(at);
        self.0[at as usize / 64] &= !(1 << (at % 64));
        had
    }
}

/// The entries that a node's index had at the start, and that nobody has asked for since.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Remembered {
    partition: PartitionId,
    /// The number of each table's first segment, and of all segments.
    bases: Arc<[u32]>,
    present: Bits,
    /// Which of them were used since the hand came by.
    used: Bits,
    left: usize,
    hand: u32,
}

impl Remembered {
    /// How many there are, each of which takes the memory of an entry.
    pub fn left(&self) -> usize {
        self.left
    }

    fn all(&self) -> u32 {
        self.bases[self.bases.len() - 1]
    }

    /// The bit of a segment, if the node had that at the start.
    fn at(&self, partition: PartitionId, table: u8, segment: u32) -> Option<u32> {
        (partition == self.partition).then(|| self.bases[usize::from(table)] + segment)
    }

    /// The entry of a segment becomes one of the index. Says whether there was one.
    pub fn take(&mut self, partition: PartitionId, table: u8, segment: u32) -> bool {
        let at = self.at(partition, table, segment);
        let had = at.is_some_and(|at| self.present.take(at));
        self.left -= usize::from(had);
        had
    }

    /// Forgets the next entry that was not used. Says whether there was one.
    pub fn forget(&mut self) -> bool {
        while self.left > 0 {
            let at = self.hand;
            self.hand = (at + 1) % self.all();
            if !self.used.take(at) && self.present.take(at) {
                self.left -= 1;
                return true;
            }
        }
        false
    }
}

/// An index while transactions are drawn: which entries it has, in the order of the hand.
struct Clock {
    most: usize,
    ring: Vec<u32>,
    hand: usize,
    present: Bits,
    used: Bits,
}

impl Clock {
    /// With memory for `most` of so many entries, filled with some that were not used.
    fn new(most: usize, all: u32) -> Self {
        let mut clock =
            Self { most, ring: Vec::new(), hand: 0, present: Bits::new(all), used: Bits::new(all) };
        let is_chosen = |at: &u32| scale(mix((*at).into()), all.into()) < most as u64;
        for at in (0..all).filter(is_chosen).take(most) {
            clock.present.set(at);
            clock.ring.push(at);
        }
        clock
    }

    fn ask(&mut self, at: u32) {
        if !self.present.has(at) {
            if self.ring.len() < self.most {
                self.ring.push(at);
            } else {
                while self.used.take(self.ring[self.hand]) {
                    self.hand = (self.hand + 1) % self.most;
                }
                self.present.take(self.ring[self.hand]);
                self.ring[self.hand] = at;
                self.hand = (self.hand + 1) % self.most;
            }
            self.present.set(at);
        }
        self.used.set(at);
    }
}

/// The number of each table's first segment, and of all segments of a node.
pub(super) fn bases(places: &[Place]) -> Arc<[u32]> {
    let mut all = vec![0_u32];
    let segments = places.iter().map(|place| place.table.segments());
    all.extend(segments.scan(0_u32, |sum, of| {
        *sum = sum.saturating_add(of);
        Some(*sum)
    }));
    all.into()
}

/// What the index of each node remembers, by the node's partition. Only keys that transactions know they need before
/// they have read any are asked for.
pub(super) fn draw<T: Transactions>(fixed: &Fixed<T>) -> Vec<Remembered> {
    let Fixed { settings, workload, layout, places, .. } = fixed;
    let bases = bases(places);
    let segments = bases[bases.len() - 1];
    let most = settings.index_entries as usize;
    let mut clocks: Vec<Clock> = (0..settings.nodes).map(|_| Clock::new(most, segments)).collect();
    // Of workers that are at home where those of the run are, and draw other inputs.
    let workers =
        u32::from(settings.nodes) * u32::from(settings.threads) * u32::from(settings.workers);
    let first = workers.max(1);
    let step = (workers / MOST_SOURCES).max(1) as usize;
    let mut sources: Vec<T::Source> =
        (first..first + first).step_by(step).map(|worker| workload.source(worker)).collect();
    let (mut asked, mut drawn) = (0, 0);
    let enough = KEYS * u64::from(segments) * u64::from(settings.nodes);
    let (mut rows, mut wanted) = (Rows::new(), Vec::new());
    while asked < enough && drawn < MOST_DRAWN {
        let before = drawn;
        for source in &mut sources {
            let Some(input) = workload.draw(source) else { continue };
            drawn += 1;
            rows.clear();
            wanted.clear();
            workload.declare(&input, &rows, &mut wanted);
            asked += wanted.len() as u64;
            for (key, _) in &wanted {
                let PartitionId(partition) = layout.partition_of(*key);
                clocks[usize::from(partition)].ask(number(&bases, places, *key));
            }
        }
        if drawn == before {
            break;
        }
    }
    let remembered = |(partition, clock): (usize, Clock)| Remembered {
        partition: PartitionId(partition as u16),
        bases: Arc::clone(&bases),
        left: clock.ring.len(),
        present: clock.present,
        used: clock.used,
        hand: 0,
    };
    clocks.into_iter().enumerate().map(remembered).collect()
}

fn number(bases: &[u32], places: &[Place], key: Key) -> u32 {
    let table = usize::from(key.table.0);
    bases[table] + places[table].home(key).segment
}

#[cfg(test)]
mod tests {
    use super::*;

    fn present(clock: &Clock) -> Vec<u32> {
        (0..clock.present.0.len() as u32 * 64).filter(|at| clock.present.has(*at)).collect()
    }

    #[test]
    fn a_clock_keeps_what_is_asked_for_often() {
        let mut clock = Clock::new(8, 64);
        for round in 0..100 {
            (0..6).for_each(|at| clock.ask(at));
            clock.ask(6 + round % 58);
        }
        let kept = present(&clock);
        assert_eq!(kept.len(), 8);
        assert!((0..6).all(|at| kept.contains(&at)), "{kept:?}");
    }

    #[test]
    fn what_is_remembered_is_taken_once_and_forgotten_unused_first() {
        let of = |bits: &[u32]| {
            let mut all = Bits::new(64);
            bits.iter().for_each(|at| all.set(*at));
            all
        };
        let mut remembered = Remembered {
            partition: PartitionId(2),
            bases: [0, 8, 64].into(),
            left: 4,
            present: of(&[10, 11, 12, 13]),
            used: of(&[10, 11, 13]),
            hand: 0,
        };
        let have = remembered.left();
        assert!(!remembered.take(PartitionId(1), 1, 3), "of another partition");
        assert!(
            remembered.take(PartitionId(2), 1, 3),
            "segment 3 of the second table is number 11"
        );
        assert!(!remembered.take(PartitionId(2), 1, 3), "no more");
        assert_eq!(remembered.left(), have - 1);
        assert!(remembered.forget());
        assert!(!remembered.present.has(12), "12 alone was not used");
        while remembered.forget() {}
        assert_eq!((remembered.left(), present_of(&remembered)), (0, 0));
    }

    fn present_of(remembered: &Remembered) -> u32 {
        remembered.present.0.iter().copied().map(u64::count_ones).sum()
    }
}
