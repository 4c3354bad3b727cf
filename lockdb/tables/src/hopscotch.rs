// SPDX-License-Identifier: MIT OR Apache-2.0
//! FaRM's table: hopscotch hashing in buckets of H/2 = 4 slots, with chains for what does not fit.
//!
//! An object lies in its home bucket or in the next one, so that one read of H slots finds it; or in the chain
//! of its home. FaRM has the link within the bucket; here it lies apart and is read in the same round trip.
//!
//! Source: "FaRM: Fast Remote Memory", NSDI 2014, section 5.2.

use crate::chain;
use crate::error::{ShapeError, TableError, check};
use crate::hash;
use crate::job::Job;
use crate::link::Link;
use crate::memory::HostMemory;
use crate::mutant::{Mutant, planted};
use crate::object::Image;
use crate::slot::LINE_WORDS;
use crate::table::{Place, Placement, Table};
use crate::walk::{Ground, Node, Values, Walk};

/// A hopscotch table over a memory.
pub type HopscotchTable<M> = Table<Hopscotch, M>;

/// Slots that an object may lie in (H).
pub const NEIGHBOURHOOD: u32 = 8;
/// Slots of a bucket.
const BUCKET: u32 = NEIGHBOURHOOD / 2;
/// How far an insertion looks for a free slot.
const PROBE: u32 = 128;

/// What a hopscotch table is made from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// Number of home buckets of 4 slots, from 1 to 2²⁸.
    pub buckets: u32,
    /// Number of overflow buckets of 4 slots.
    pub overflow_buckets: u32,
    /// The values.
    pub values: Values,
}

/// The geometry of a hopscotch table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Hopscotch {
    ground: Ground,
    buckets: u32,
    /// The first words of the links and of the overflow buckets.
    links: usize,
    overflow: usize,
    overflow_buckets: u32,
}

impl Hopscotch {
    /// The geometry of such a table: one more bucket than homes, the links, the overflow buckets, the heap.
    ///
    /// # Errors
    /// When a field of the shape is out of its bounds.
    pub fn new(shape: Shape) -> Result<Self, ShapeError> {
        let Shape { buckets, overflow_buckets, values } = shape;
        check((1..=1 << 28).contains(&buckets), "buckets", buckets, "1 to 2^28")?;
        check(overflow_buckets <= 1 << 31, "overflow_buckets", overflow_buckets, "at most 2^31")?;
        let slot = Ground::new(values, 0)?.layout.words();
        let main = (buckets as usize + 1) * BUCKET as usize * slot;
        let links = main.next_multiple_of(LINE_WORDS);
        let overflow = (links + buckets as usize).next_multiple_of(LINE_WORDS);
        let size = chain::lead_words(slot) + BUCKET as usize * slot;
        let ground = Ground::new(values, overflow + overflow_buckets as usize * size)?;
        Ok(Hopscotch { ground, buckets, links, overflow, overflow_buckets })
    }

    /// The home of a key: the index of its bucket.
    #[inline]
    pub fn home(&self, key: u64) -> u32 {
        hash::home(key, self.buckets)
    }

    fn slot_word(&self, slot: u32) -> usize {
        slot as usize * self.ground.layout.words()
    }

    /// The moves that bring a free slot into the neighbourhood of a home, the first one first, and the slot.
    fn hops<M: HostMemory>(&self, job: &Job<'_, M>, home: u32) -> Option<(Vec<(u32, u32)>, u32)> {
        let all = (self.buckets + 1) * BUCKET;
        let probed = home * BUCKET..(home * BUCKET + PROBE).min(all);
        let mut free = probed.into_iter().find(|&slot| !job.is_used(self.slot_word(slot)))?;
        let mut moves = Vec::new();
        while free / BUCKET > home + 1 {
            // Only objects whose home is the bucket before may lie in both.
            let bucket = free / BUCKET - 1;
            let at_home = |&slot: &u32| self.home(job.key(self.slot_word(slot))) == bucket;
            let from = (bucket * BUCKET..(bucket + 1) * BUCKET).find(at_home)?;
            moves.push((from, free));
            free = from;
        }
        Some((moves, free))
    }
}

impl Walk for Hopscotch {
    #[inline]
    fn ground(&self) -> &Ground {
        &self.ground
    }

    #[inline]
    fn first(&self, key: u64) -> Node {
        let home = self.home(key);
        let link = Some(self.links + home as usize);
        let slots = self.slot_word(home * BUCKET);
        Node { slots, count: NEIGHBOURHOOD as usize, lead: 0, link }
    }

    fn behind(&self, link: Link) -> Option<Node> {
        let (place, _) = link.bucket().filter(|bucket| bucket.0 < self.overflow_buckets)?;
        let slot = self.ground.layout.words();
        let lead = chain::lead_words(slot);
        let start = self.overflow + place as usize * (lead + BUCKET as usize * slot);
        Some(Node { slots: start + lead, count: BUCKET as usize, lead, link: Some(start + 1) })
    }
}

impl Placement for Hopscotch {
    fn positions(&self) -> u32 {
        (self.buckets + 1) * BUCKET
    }

    fn reach(&self) -> u32 {
        PROBE
    }

    fn position(&self, key: u64) -> u32 {
        self.home(key) * BUCKET
    }

    fn slots(&self) -> u64 {
        self.buckets as u64 * BUCKET as u64
    }

    fn overflow_units(&self) -> u32 {
        self.overflow_buckets
    }

    fn place<M: HostMemory>(
        &self,
        job: &mut Job<'_, M>,
        image: &Image<'_>,
    ) -> Result<i32, TableError> {
        let Some((mut moves, free)) = self.hops(job, self.home(image.key)) else {
            return chain::place(self, job, image);
        };
        if planted(Mutant::MovesFromHome) {
            moves.reverse();
        }
        for (from, to) in moves {
            job.copy(self.slot_word(from), self.slot_word(to));
        }
        job.write(self.slot_word(free), image);
        Ok(0)
    }

    fn remove<M: HostMemory>(&self, job: &mut Job<'_, M>, key: u64, place: Place) -> i32 {
        chain::remove(self, job, key, place)
    }
}
