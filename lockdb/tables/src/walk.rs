// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a key may lie: all that a table's geometry says about it, without memory.

use crate::error::{ShapeError, check};
use crate::link::Link;
use crate::slot::{LINE_WORDS, MOST_INLINE_BYTES, SlotLayout};
use std::fmt::Debug;
use std::hash::Hash;

/// The longest value, in bytes.
pub const MOST_VALUE_BYTES: usize = 1 << 20;

/// The values of a table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Values {
    /// The smallest slot for values of so many bytes is chosen ([`SlotLayout::for_values_of`]); those that do
    /// not fit into it lie out of line.
    pub inline_bytes: usize,
    /// The limit of a value in bytes, at most [`MOST_VALUE_BYTES`].
    pub longest: usize,
    /// Lines of 64 bytes for values out of line.
    pub heap_lines: u32,
}

impl Values {
    /// Values of at most `bytes` bytes in their slots.
    pub const fn inline(bytes: usize) -> Self {
        Values { inline_bytes: bytes, longest: bytes, heap_lines: 0 }
    }
}

/// What all tables have: the size of slots, the heap, and the size of the whole.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ground {
    pub(crate) layout: SlotLayout,
    pub(crate) longest: usize,
    /// First word of the heap.
    pub(crate) heap: usize,
    pub(crate) heap_lines: u32,
    /// Words of the table.
    pub(crate) words: usize,
}

impl Ground {
    /// The heap comes last, behind `words` words.
    pub(crate) fn new(values: Values, words: usize) -> Result<Self, ShapeError> {
        let Values { inline_bytes, longest, heap_lines } = values;
        let most = MOST_INLINE_BYTES;
        check(inline_bytes <= most, "inline_bytes", inline_bytes, "at most 256")?;
        check(longest <= MOST_VALUE_BYTES, "longest", longest, "at most 2^20")?;
        let room = longest <= inline_bytes || heap_lines > 0;
        check(room, "heap_lines", heap_lines, "at least 1 for values out of line")?;
        // Behind a slot of 16 bytes there is no room for an address.
        let least = if longest > inline_bytes { inline_bytes.max(1) } else { inline_bytes };
        let layout = SlotLayout::for_values_of(least);
        let heap = words.next_multiple_of(LINE_WORDS);
        let words = heap + heap_lines as usize * LINE_WORDS;
        Ok(Ground { layout, longest, heap, heap_lines, words })
    }

    /// The size of slots.
    pub fn layout(&self) -> SlotLayout {
        self.layout
    }

    /// The limit of a value in bytes.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Words of the table, a multiple of 8.
    pub fn words(&self) -> usize {
        self.words
    }
}

/// Slots in a row, and where it says what comes behind them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Node {
    /// First word of the first slot.
    pub slots: usize,
    /// Number of slots.
    pub count: usize,
    /// Words directly before the slots that belong to the node; the link may be among them.
    pub lead: usize,
    /// The word of the [`Link`].
    pub link: Option<usize>,
}

impl Node {
    /// Whether the link is read with the slots.
    pub(crate) fn has_link_in_lead(&self) -> bool {
        self.link.is_some_and(|link| (self.slots - self.lead..self.slots).contains(&link))
    }
}

/// The way of a look-up through a table: a row of slots, then those that links name.
pub trait Walk: Clone + Eq + Hash + Debug {
    /// Size of slots and table.
    fn ground(&self) -> &Ground;

    /// The slots in which a key may lie first of all.
    fn first(&self, key: u64) -> Node;

    /// The slots behind a link; `None` when the link names none, or none of the table.
    fn behind(&self, link: Link) -> Option<Node>;

    /// The slots next to those of `node`, when neither a link nor [`Walk::ends_at`] ended the walk.
    fn adjacent(&self, _node: &Node) -> Option<Node> {
        None
    }

    /// Whether `key` cannot lie behind a slot that is empty or has the key `other`.
    fn ends_at(&self, _key: u64, _other: Option<u64>) -> bool {
        false
    }

    /// Whether [`Walk::ends_at`] is ever true.
    fn has_ends(&self) -> bool {
        false
    }

    /// The word of the version that all keys of a bucket share, if the table has such.
    fn header(&self, _key: u64) -> Option<usize> {
        None
    }

    /// How many slots of the first node a reader is to read first, of `count`, by its hint.
    fn hinted(&self, _hint: Hint, count: usize) -> usize {
        count
    }

    /// How many slots of a node, of `count`, have been read after the next read, if `read` were so far.
    fn further(&self, _read: usize, count: usize) -> usize {
        count
    }
}

/// What a reader knows of a key's place before it reads, perhaps out of date.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Hint {
    /// The highest displacement of the keys of the segment (Xenic's d_i), in slots.
    pub displacement: Option<u16>,
    /// The segment's word of the directory.
    pub overflow: Option<Link>,
}
