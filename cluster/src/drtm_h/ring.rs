// SPDX-License-Identifier: MIT OR Apache-2.0
//! The log of a thread in host memory, which its peers write by one-sided WRITEs: records that wait to be applied.
//!
//! A record has 9 bytes, attempt 8 and count 1, and the changes of the rows that this node is a backup of, as
//! [items](crate::store::item). It is written when all is locked and validated, so each is of a transaction that has
//! committed: without failures none has to wait for a decision. A worker writes no record before all replicas have the
//! one before, so a ring has room by construction.

use std::collections::VecDeque;

use crate::engine::TransactionId;
use crate::store::{Item, Items};
use crate::transact::TableShape;
use crate::wire::{Reader, WireError, Writer};

/// The bytes of a record without its items.
pub(super) const RECORD: usize = 9;

/// The records that wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Ring {
    records: VecDeque<Vec<u8>>,
    /// Buffers to be used again.
    spare: Vec<Vec<u8>>,
}

impl Ring {
    /// A record lands.
    pub fn push(&mut self, record: &[u8]) {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(record);
        self.records.push_back(buffer);
    }

    /// Takes the oldest record.
    pub fn pop(&mut self) -> Option<Vec<u8>> {
        self.records.pop_front()
    }

    /// Takes a buffer back.
    pub fn give(&mut self, buffer: Vec<u8>) {
        self.spare.push(buffer);
    }

    /// The record that would be applied next.
    pub fn first(&self) -> Option<&[u8]> {
        self.records.front().map(|record| &record[..])
    }

    /// How many records wait.
    pub fn len(&self) -> usize {
        self.records.len()
    }
}

/// Appends a record.
pub(super) fn encode<'a>(
    by: TransactionId,
    items: impl Iterator<Item = Item<'a>>,
    value_bytes: impl Fn(&Item<'a>) -> usize,
    out: &mut Vec<u8>,
) {
    out.put_u64(by.0);
    let count = out.len();
    out.put_u8(0);
    for item in items {
        item.encode(value_bytes(&item), out);
        out[count] += 1;
    }
}

/// The transaction of a record, if it is one.
pub(super) fn name_of(record: &[u8]) -> Option<TransactionId> {
    Some(TransactionId(u64::from_le_bytes(*record.first_chunk()?)))
}

/// The changes of a record.
pub(super) fn items<'a>(record: &'a [u8], tables: &'a [TableShape]) -> Items<'a> {
    Items::new(record.get(RECORD..).unwrap_or_default(), tables)
}

/// Reads a record as a whole.
///
/// # Errors
/// When the bytes are none.
pub(super) fn check(bytes: &[u8], tables: &[TableShape]) -> Result<(), WireError> {
    let reader = &mut Reader::new(bytes);
    reader.u64("an attempt")?;
    for _ in 0..reader.u8("a count of items")? {
        Item::decode(reader, tables)?;
    }
    reader.end("a record")
}
