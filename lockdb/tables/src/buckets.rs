// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chains of buckets with a fixed number of slots: DrTM+H's table, and FaSST's, which is like MICA's.
//!
//! ```text
//! word 0            header: 63 bits of version, lock bit (FaSST's main buckets alone)
//! word 1            link to the next bucket
//! ...               the slots, each within its lines
//! ```
//!
//! Sources: Xenic, section 4.1.4, for DrTM+H's; FaSST, section 5, for its own.

use crate::chain;
use crate::error::{ShapeError, TableError, check};
use crate::hash;
use crate::job::Job;
use crate::link::Link;
use crate::memory::HostMemory;
use crate::object::Image;
use crate::slot::LINE_WORDS;
use crate::table::{Place, Placement, Table};
use crate::walk::{Ground, Node, Values, Walk};

/// A table of buckets over a memory.
pub type BucketTable<M> = Table<Buckets, M>;

/// What a table of buckets is made from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// Number of main buckets, from 1 to 2³¹.
    pub buckets: u32,
    /// Slots of a bucket: for DrTM+H 4, 8 or 16, for FaSST 7 to 15.
    pub slots: u32,
    /// Number of overflow buckets.
    pub overflow_buckets: u32,
    /// The values.
    pub values: Values,
}

/// The geometry of a table of buckets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Buckets {
    ground: Ground,
    buckets: u32,
    slots: u32,
    has_headers: bool,
    /// The first word of the overflow buckets.
    overflow: usize,
    overflow_buckets: u32,
}

impl Buckets {
    /// DrTM+H's table.
    ///
    /// # Errors
    /// When a field of the shape is out of its bounds.
    pub fn chained(shape: Shape) -> Result<Self, ShapeError> {
        check(matches!(shape.slots, 4 | 8 | 16), "slots", shape.slots, "4, 8 or 16")?;
        Self::new(shape, false)
    }

    /// FaSST's table: the header of a main bucket is lock and version of all keys whose home it is.
    ///
    /// # Errors
    /// When a field of the shape is out of its bounds.
    pub fn mica(shape: Shape) -> Result<Self, ShapeError> {
        check((7..=15).contains(&shape.slots), "slots", shape.slots, "7 to 15")?;
        Self::new(shape, true)
    }

    fn new(shape: Shape, has_headers: bool) -> Result<Self, ShapeError> {
        let Shape { buckets, slots, overflow_buckets, values } = shape;
        check((1..=1 << 31).contains(&buckets), "buckets", buckets, "1 to 2^31")?;
        check(overflow_buckets <= 1 << 31, "overflow_buckets", overflow_buckets, "at most 2^31")?;
        let size = bucket_words(Ground::new(values, 0)?, slots);
        let overflow = (buckets as usize * size).next_multiple_of(LINE_WORDS);
        let ground = Ground::new(values, overflow + overflow_buckets as usize * size)?;
        Ok(Buckets { ground, buckets, slots, has_headers, overflow, overflow_buckets })
    }

    /// The home of a key: the index of its main bucket.
    #[inline]
    pub fn home(&self, key: u64) -> u32 {
        hash::home(key, self.buckets)
    }

    /// The bucket that begins at a word.
    fn bucket(&self, start: usize) -> Node {
        let lead = chain::lead_words(self.ground.layout.words());
        Node { slots: start + lead, count: self.slots as usize, lead, link: Some(start + 1) }
    }

    fn size(&self) -> usize {
        bucket_words(self.ground, self.slots)
    }
}

fn bucket_words(ground: Ground, slots: u32) -> usize {
    let slot = ground.layout.words();
    chain::lead_words(slot) + slots as usize * slot
}

impl Walk for Buckets {
    #[inline]
    fn ground(&self) -> &Ground {
        &self.ground
    }

    #[inline]
    fn first(&self, key: u64) -> Node {
        self.bucket(self.home(key) as usize * self.size())
    }

    fn behind(&self, link: Link) -> Option<Node> {
        let (place, _) = link.bucket().filter(|bucket| bucket.0 < self.overflow_buckets)?;
        Some(self.bucket(self.overflow + place as usize * self.size()))
    }

    #[inline]
    fn header(&self, key: u64) -> Option<usize> {
        self.has_headers.then(|| self.home(key) as usize * self.size())
    }
}

impl Placement for Buckets {
    fn positions(&self) -> u32 {
        self.buckets
    }

    fn reach(&self) -> u32 {
        1
    }

    fn position(&self, key: u64) -> u32 {
        self.home(key)
    }

    fn slots(&self) -> u64 {
        self.buckets as u64 * self.slots as u64
    }

    fn overflow_units(&self) -> u32 {
        self.overflow_buckets
    }

    fn place<M: HostMemory>(
        &self,
        job: &mut Job<'_, M>,
        image: &Image<'_>,
    ) -> Result<i32, TableError> {
        chain::place(self, job, image)
    }

    fn remove<M: HostMemory>(&self, job: &mut Job<'_, M>, key: u64, place: Place) -> i32 {
        chain::remove(self, job, key, place)
    }
}

impl<M: HostMemory> Table<Buckets, M> {
    /// Takes the transaction lock of all keys in the bucket of `key`, and says their version; `None` when it is
    /// taken. Writes under the lock raise the version and leave the lock.
    ///
    /// # Panics
    /// When the table has no headers.
    pub fn try_lock(&self, key: u64) -> Option<u64> {
        self.change_header(key, |header| (header & 1 == 0).then_some(header | 1))
            .map(|old| old >> 1)
    }

    /// Gives the transaction lock back, and says whether it was taken.
    ///
    /// # Panics
    /// When the table has no headers.
    pub fn unlock(&self, key: u64) -> bool {
        self.change_header(key, |header| (header & 1 == 1).then_some(header & !1)).is_some()
    }

    /// Changes the header, and says what it was.
    fn change_header(&self, key: u64, change: impl FnOnce(u64) -> Option<u64>) -> Option<u64> {
        let word = self.geometry().header(key).expect("this table has no headers");
        self.locked(key, |memory| {
            let old = memory.load(word);
            memory.store(word, change(old)?);
            Some(old)
        })
    }
}
