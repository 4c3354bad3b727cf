// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's table, as far as the index has to know it.

use thiserror::Error;

use super::request::{Place, Request};

/// The largest D_m: a read has at most 64 slots (`probe_scan`).
pub const MOST_DISPLACEMENT: u8 = 63;
/// The largest slot, in bytes.
pub const MOST_SLOT_BYTES: u16 = 320;

/// Base and shape of the host's table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Table {
    base: u64,
    slots: u32,
    segments: u32,
    slot_bytes: u16,
    limit: u8,
    more: u8,
}

/// A table that an index cannot serve.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Error)]
pub enum TableError {
    /// D_m.
    #[error("displacement limit {0}, expected 0 to {MOST_DISPLACEMENT}")]
    Limit(u8),
    /// Bytes of a slot.
    #[error("slots of {0} bytes, expected 16, 32, or a multiple of 64 up to {MOST_SLOT_BYTES}")]
    SlotBytes(u16),
    /// k.
    #[error("k is {0}, expected 1 to 64: with 0, the known displacement is not read")]
    More(u8),
    /// The slots reach beyond the last address.
    #[error("{slots} slots of {slot_bytes} bytes from {base:#x} on reach beyond 64-bit addresses")]
    Beyond {
        /// Address of the first slot.
        base: u64,
        /// Homes.
        slots: u32,
        /// Bytes of each.
        slot_bytes: u16,
    },
}

impl Table {
    /// A table of `slots` homes and `limit` (D_m) slots behind them, of `slot_bytes` each, from the address
    /// `base` on, in `segments` segments; a first read has `more` slots more than the known displacement. The slot at that
    /// displacement is one of them, so 2 is the paper's k = 1.
    ///
    /// # Errors
    /// What does not fit, with its value.
    pub fn new(
        base: u64,
        slots: u32,
        slot_bytes: u16,
        limit: u8,
        more: u8,
        segments: u32,
    ) -> Result<Self, TableError> {
        if limit > MOST_DISPLACEMENT {
            return Err(TableError::Limit(limit));
        }
        let whole_lines = slot_bytes.is_multiple_of(64) && slot_bytes <= MOST_SLOT_BYTES;
        if slot_bytes == 0 || !matches!(slot_bytes, 16 | 32) && !whole_lines {
            return Err(TableError::SlotBytes(slot_bytes));
        }
        if !(1..=64).contains(&more) {
            return Err(TableError::More(more));
        }
        let bytes = (u64::from(slots) + u64::from(limit)) * u64::from(slot_bytes);
        if base.checked_add(bytes).is_none() {
            return Err(TableError::Beyond { base, slots, slot_bytes });
        }
        Ok(Table { base, slots, segments, slot_bytes, limit, more })
    }

    /// Address of the first slot.
    pub const fn base(&self) -> u64 {
        self.base
    }

    /// Homes.
    pub const fn slots(&self) -> u32 {
        self.slots
    }

    /// Segments, each with an entry of the index.
    pub const fn segments(&self) -> u32 {
        self.segments
    }

    /// Bytes of a slot.
    pub const fn slot_bytes(&self) -> u16 {
        self.slot_bytes
    }

    /// D_m: the largest displacement of an object outside the overflow buckets.
    pub const fn limit(&self) -> u8 {
        self.limit
    }

    /// How many slots a first read has more than the known displacement: the paper's k and one.
    pub const fn more(&self) -> u8 {
        self.more
    }

    /// Whether a request names an entry, a home and a displacement that the table has.
    pub fn has<const WORDS: usize>(&self, request: &Request<WORDS>) -> bool {
        request.segment < self.segments
            && request.home < self.slots
            && (!request.operation.has_hint() || request.hint.displacement <= self.limit)
    }

    /// Where to look for a key in its first read.
    ///
    /// Source: Xenic, section 4.1.3 (d_i + k, with k = 1, up to the limit D_m). That the slot at d_i comes on top
    /// is what its Table 2 needs (`docs/remote-tables.md`).
    pub fn place(&self, home: u32, displacement: u8, directory: u64) -> Place {
        let slots = displacement.saturating_add(self.more).min(self.limit + 1);
        let offset = u64::from(home) * u64::from(self.slot_bytes);
        Place { address: self.base.wrapping_add(offset), slots, directory }
    }
}
