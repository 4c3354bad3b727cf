// SPDX-License-Identifier: MIT OR Apache-2.0
//! The caching index of a NIC: for each segment of the host's table an entry with cached objects, their locks,
//! versions and pins, and a hint where the others lie (`docs/nic-lookup.md`, `nic_index_cache`).
//!
//! What an operation does and answers is here; the RTL in `hw/rtl/nic/nic_index_cache.sv` does and answers the
//! same, with the entries in NIC memory and a cache of them on chip.
//!
//! Source: Xenic, sections 4.1.3 (entries, hints) and 4.2 (locks, validation, pins).

mod entry;
mod layout;
mod request;
mod table;
mod wire;

#[cfg(test)]
mod exhaustive;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use entry::{Entry, MOST_OBJECTS, Object};
pub use layout::{entry_lines, entry_stride, entry_words};
pub use request::{
    Answer, DIRECTORY_BITS, Found, Hint, Operation, Place, Request, Status, UnknownOperation,
};
pub use table::{MOST_DISPLACEMENT, MOST_SLOT_BYTES, Table, TableError};
pub use wire::{answer_words, request_words};

/// The index of a whole table.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Index<const OBJECTS: usize, const WORDS: usize> {
    table: Table,
    most_pins: u8,
    /// Those that are not as they were at the beginning.
    entries: BTreeMap<u32, Entry<OBJECTS, WORDS>>,
}

impl<const OBJECTS: usize, const WORDS: usize> Index<OBJECTS, WORDS> {
    /// The empty index of a table, whose objects take at most `most_pins` pins.
    pub fn new(table: Table, most_pins: u8) -> Self {
        Index { table, most_pins, entries: BTreeMap::new() }
    }

    /// The table.
    pub const fn table(&self) -> &Table {
        &self.table
    }

    /// Carries out a request. One that the table does not have (see [`Table::has`]) is refused as
    /// [`Status::OutOfRange`], and changes nothing.
    pub fn apply(&mut self, request: &Request<WORDS>) -> Answer<WORDS> {
        if !self.table.has(request) {
            return Answer::refused(Status::OutOfRange);
        }
        let entry = self.entries.entry(request.segment).or_default();
        entry.apply(request, &self.table, self.most_pins)
    }

    /// Gives a segment an entry: the one in NIC memory, which is what a block finds after a reset.
    pub fn restore(&mut self, segment: u32, entry: Entry<OBJECTS, WORDS>) {
        self.entries.insert(segment, entry);
    }

    /// The entry of a segment.
    pub fn entry(&self, segment: u32) -> Entry<OBJECTS, WORDS> {
        self.entries.get(&segment).cloned().unwrap_or_default()
    }
}
