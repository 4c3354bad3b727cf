// SPDX-License-Identifier: MIT OR Apache-2.0
//! The requests of DrTM+H's RPCs and their answers, behind the headers of [`rpc`](crate::rpc).
//!
//! | message | bytes |
//! |---|---|
//! | lock | 18: type 1, table 1, key 8, version 8 |
//! | unlock | 10: type 1, table 1, key 8 |
//! | commit | 1 and the [item](crate::store::item): 19 and the value |
//! | flush (only before a worker rests) | 1 |
//! | answer | 1 |

use crate::engine::Key;
use crate::rpc::REQUEST_HEADER;
use crate::store::Item;
use crate::store::item::{ITEM, key, version};
use crate::transact::TableShape;
use crate::wire::{Reader, WireError, Writer};

/// The bytes of a message that brings one change, without its value.
pub const CHANGE_OVERHEAD: usize = REQUEST_HEADER + 1 + ITEM;

/// A request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Request<'a> {
    /// Lock a row, if it still has this version.
    Lock {
        /// The row.
        key: Key,
        /// Its version as it was read.
        version: u64,
    },
    /// Unlock a row, and change nothing.
    Unlock {
        /// The row.
        key: Key,
    },
    /// Change a row, and unlock it.
    Commit {
        /// The change.
        item: Item<'a>,
    },
    /// Apply all records of the log that the worker's thread writes.
    Flush,
}

impl<'a> Request<'a> {
    /// Reads a request.
    ///
    /// # Errors
    /// When the bytes are no request for these tables.
    pub fn decode(reader: &mut Reader<'a>, tables: &[TableShape]) -> Result<Self, WireError> {
        Ok(match reader.u8("a type of request")? {
            0 => Self::Lock { key: key(reader, tables)?.0, version: version(reader)? },
            1 => Self::Unlock { key: key(reader, tables)?.0 },
            2 => Self::Commit { item: Item::decode(reader, tables)? },
            3 => Self::Flush,
            other => return Err(reader.unknown("a type of request (0 to 3)", other)),
        })
    }

    /// Appends it. Tables that `tables` does not have give values of no bytes.
    pub fn encode(&self, tables: &[TableShape], out: &mut Vec<u8>) {
        let put_key = |tag: u8, key: Key, out: &mut Vec<u8>| {
            out.put_u8(tag);
            out.put_u8(key.table.0);
            out.put_u64(key.row);
        };
        match *self {
            Self::Lock { key, version } => {
                put_key(0, key, out);
                out.put_u64(version);
            }
            Self::Unlock { key } => put_key(1, key, out),
            Self::Commit { item } => {
                out.put_u8(2);
                item.encode(value_bytes(tables, item.key), out);
            }
            Self::Flush => out.put_u8(3),
        }
    }
}

/// The bytes of a value of this key's table.
pub(super) fn value_bytes(tables: &[TableShape], key: Key) -> usize {
    tables.get(usize::from(key.table.0)).map_or(0, |table| usize::from(table.value_bytes))
}

/// What a server says to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is done.
    Done,
    /// Another transaction has locked the row.
    Locked,
    /// The row has another version by now.
    Changed,
    /// It cannot be done here.
    Refused,
}

impl Answer {
    /// Appends it.
    pub fn encode(self, out: &mut Vec<u8>) {
        out.put_u8(self as u8);
    }

    /// Reads it.
    ///
    /// # Errors
    /// When the byte is another, or missing.
    pub fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(match reader.u8("an answer")? {
            0 => Self::Done,
            1 => Self::Locked,
            2 => Self::Changed,
            3 => Self::Refused,
            other => return Err(reader.unknown("an answer (0 to 3)", other)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::TableNumber;
    use crate::transact::Change;

    #[test]
    fn requests_come_back_and_have_the_bytes_of_the_table() {
        let tables = [TableShape::hashed("rows", 4, 8)];
        let key = Key { table: TableNumber(0), row: 77 };
        let item = Item { key, change: Change::Update, fetched: 5, value: &[1, 2, 3, 4] };
        for (request, bytes) in [
            (Request::Lock { key, version: 9 }, 18),
            (Request::Unlock { key }, 10),
            (Request::Commit { item }, 19 + 4),
            (Request::Flush, 1),
        ] {
            let mut out = Vec::new();
            request.encode(&tables, &mut out);
            assert_eq!(out.len(), bytes, "{request:?}");
            let reader = &mut Reader::new(&out);
            assert_eq!(Request::decode(reader, &tables), Ok(request));
            assert!(reader.is_at_end());
            // Whatever is cut off is missed.
            let cut = Request::decode(&mut Reader::new(&out[..bytes - 1]), &tables);
            assert!(cut.is_err(), "{request:?}");
        }
        for answer in [Answer::Done, Answer::Locked, Answer::Changed, Answer::Refused] {
            let mut out = Vec::new();
            answer.encode(&mut out);
            assert_eq!(Answer::decode(&mut Reader::new(&out)), Ok(answer));
        }
        assert!(Answer::decode(&mut Reader::new(&[4])).is_err());
    }
}
