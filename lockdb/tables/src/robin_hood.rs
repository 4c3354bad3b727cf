// SPDX-License-Identifier: MIT OR Apache-2.0
//! Xenic's table: Robin Hood hashing with a limit on displacements, and overflow buckets.
//!
//! Source: Xenic, section 4.1.2.

mod place;

use crate::error::{ShapeError, check};
use crate::hash;
use crate::link::Link;
use crate::memory::HostMemory;
use crate::slot::{LINE_WORDS, Meta};
use crate::table::Table;
use crate::walk::{Ground, Hint, Node, Values, Walk};

/// A Robin Hood table over a memory.
pub type RobinHoodTable<M> = Table<RobinHood, M>;

/// How many slots are read beyond the one at the displacement of the hint (k), so that a key which an insertion
/// has moved by one is still found. Source: Xenic, section 4.1.3. (That the slot at the displacement comes on top
/// is what reproduces the objects read of its Table 2.)
pub const BEYOND_HINT: usize = 1;
/// How far an object may lie from its home when there is no limit, in slots. At an occupancy of 90 % the next
/// free slot is some thousands away at most.
const MOST_REACH: u32 = 1 << 16;

/// The most slots that a displacement may be limited to.
pub const MOST_LIMIT: u32 = 63;

/// What a Robin Hood table is made from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// Number of homes, from 1 to 2³¹.
    pub slots: u32,
    /// The largest displacement (D_m), from 1 to 63 slots. With none there are no overflow buckets, and all
    /// writers take turns.
    pub limit: Option<u32>,
    /// Homes in a segment, a power of two.
    pub segment: u32,
    /// Slots for overflow buckets.
    pub overflow_slots: u32,
    /// The values.
    pub values: Values,
}

/// The geometry of a Robin Hood table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RobinHood {
    ground: Ground,
    slots: u32,
    /// The largest displacement, also when there is no limit.
    reach: u32,
    limited: bool,
    /// Homes in a segment are 2 to the power of this.
    segment_shift: u32,
    /// First words of the directory and of the overflow area.
    directory: usize,
    overflow: usize,
    overflow_slots: u32,
}

impl RobinHood {
    /// The geometry of such a table: `limit` more slots than homes, the directory, the overflow buckets, the
    /// heap.
    ///
    /// # Errors
    /// When a field of the shape is out of its bounds.
    pub fn new(shape: Shape) -> Result<Self, ShapeError> {
        let Shape { slots, limit, segment, overflow_slots, values } = shape;
        check((1..=1 << 31).contains(&slots), "slots", slots, "1 to 2^31")?;
        if let Some(limit) = limit {
            check((1..=MOST_LIMIT).contains(&limit), "limit", limit, "1 to 63")?;
        }
        let fits = segment.is_power_of_two() && segment <= slots.next_power_of_two();
        check(fits, "segment", segment, "a power of two, at most the slots rounded up to one")?;
        check(overflow_slots <= 1 << 31, "overflow_slots", overflow_slots, "at most 2^31")?;
        let size = Ground::new(values, 0)?.layout.words();
        let reach = limit.unwrap_or(slots.min(MOST_REACH));
        let directory = ((slots + reach) as usize * size).next_multiple_of(LINE_WORDS);
        let segments = slots.div_ceil(segment) as usize;
        let overflow = (directory + segments).next_multiple_of(LINE_WORDS);
        let ground = Ground::new(values, overflow + overflow_slots as usize * size)?;
        let segment_shift = segment.trailing_zeros();
        let limited = limit.is_some();
        Ok(RobinHood {
            ground,
            slots,
            reach,
            limited,
            segment_shift,
            directory,
            overflow,
            overflow_slots,
        })
    }

    /// The home of a key: the index of the slot that it lies in if it can.
    #[inline]
    pub fn home(&self, key: u64) -> u32 {
        hash::home(key, self.slots)
    }

    /// Number of homes.
    pub fn homes(&self) -> u32 {
        self.slots
    }

    /// The largest displacement (D_m), if there is a limit.
    pub fn limit(&self) -> Option<u32> {
        self.limited.then_some(self.reach)
    }

    /// Homes in a segment; the last one may have fewer.
    pub fn homes_in_segment(&self) -> u32 {
        1 << self.segment_shift
    }

    /// Number of slots outside overflow buckets, also those behind the last home.
    pub fn all_slots(&self) -> u32 {
        self.slots + self.reach
    }

    /// Number of segments.
    pub fn segments(&self) -> u32 {
        self.slots.div_ceil(1 << self.segment_shift)
    }

    /// The segment of a home.
    pub fn segment(&self, home: u32) -> u32 {
        home >> self.segment_shift
    }

    /// The word of a segment in the directory: a [`Link`] to its overflow bucket.
    pub fn directory_word(&self, segment: u32) -> usize {
        self.directory + segment as usize
    }

    /// The first word of a slot outside overflow buckets.
    #[inline]
    pub fn slot_word(&self, slot: u32) -> usize {
        slot as usize * self.ground.layout.words()
    }

    /// The first word of a slot of the overflow area.
    pub fn overflow_word(&self, slot: u32) -> usize {
        self.overflow + slot as usize * self.ground.layout.words()
    }

    /// Slots of the overflow area.
    pub fn overflow_slots(&self) -> u32 {
        self.overflow_slots
    }
}

impl Walk for RobinHood {
    #[inline]
    fn ground(&self) -> &Ground {
        &self.ground
    }

    #[inline]
    fn first(&self, key: u64) -> Node {
        let home = self.home(key);
        let link = self.limited.then(|| self.directory_word(self.segment(home)));
        let count = self.reach as usize + 1;
        // The last home has no more slots behind it than the limit.
        Node {
            slots: self.slot_word(home),
            count: count.min((self.all_slots() - home) as usize),
            lead: 0,
            link,
        }
    }

    fn behind(&self, link: Link) -> Option<Node> {
        let (place, order) = link.bucket()?;
        let inside = place as u64 + (1 << order) <= self.overflow_slots as u64;
        let slots = self.overflow_word(place);
        inside.then_some(Node { slots, count: 1 << order, lead: 0, link: None })
    }

    fn adjacent(&self, node: &Node) -> Option<Node> {
        if self.limited {
            return None;
        }
        let size = self.ground.layout.words();
        let slots = node.slots + node.count * size;
        let left = self.all_slots() as usize - slots / size;
        let count = left.min(self.reach as usize + 1);
        (count > 0).then_some(Node { slots, count, lead: 0, link: None })
    }

    /// Without a limit the objects lie in the order of their homes, without holes.
    fn ends_at(&self, key: u64, other: Option<u64>) -> bool {
        !self.limited && other.is_none_or(|other| self.home(other) > self.home(key))
    }

    #[inline]
    fn has_ends(&self) -> bool {
        !self.limited
    }

    fn hinted(&self, hint: Hint, count: usize) -> usize {
        let all = if self.limited { count } else { 32 };
        hint.displacement.map_or(all, |displacement| displacement as usize + 1 + BEYOND_HINT)
    }

    fn further(&self, read: usize, count: usize) -> usize {
        if self.limited { count } else { count.min(2 * read) }
    }
}

impl<M: HostMemory> Table<RobinHood, M> {
    /// The hints of all segments, as a NIC has them that has just seen the whole table. Those of segments that
    /// are written meanwhile may be out of date.
    pub fn hints(&self) -> Vec<Hint> {
        let geometry = self.geometry();
        let word = |segment| geometry.directory_word(segment);
        let overflow = |segment| Some(Link(self.memory().load(word(segment))));
        let hint = |segment| Hint { displacement: Some(0), overflow: overflow(segment) };
        let mut hints: Vec<Hint> = (0..geometry.segments()).map(hint).collect();
        for slot in 0..geometry.all_slots() {
            let word = geometry.slot_word(slot);
            if !Meta(self.memory().load(word)).is_used() {
                continue;
            }
            let home = geometry.home(self.memory().load(word + 1));
            let hint = &mut hints[geometry.segment(home) as usize];
            let displacement = slot.saturating_sub(home).min(u16::MAX as u32) as u16;
            hint.displacement = hint.displacement.max(Some(displacement));
        }
        hints
    }
}
