// SPDX-License-Identifier: MIT OR Apache-2.0
//! The messages of FaSST's RPCs: a header, and the coalesced requests of one worker to one machine, or
//! their answers in the same order.
//!
//! | message | bytes |
//! |---|---|
//! | header of requests | 16: view 4, kind 1, worker 1, count 1, spare 1, sequence 4, attempt 4 |
//! | header of responses | 12: the same without the attempt |
//! | read, lock, unlock, validate | 10: type 1, table 1, key 8 |
//! | an item (of a log record) | 18 and the value, see [`item`](crate::store::item) |
//! | log | 2 and the items: type 1, count 1 |
//! | backup, primary | 1 and the item |
//! | truncate | 5: type 1, attempt 4 |
//! | answer to read, lock | 1 if refused, else 9 and the value if there is a row |
//! | answer to validate | 8: the header's word |
//! | answer to the others | 1 |
//!
//! A value has as many bytes as its table says, so its length is not sent. A log record of one item has
//! 36 bytes beside the value, which is the paper's number: values have up to 4096 - 36 = 4060 bytes.

use crate::engine::Key;
pub use crate::rpc::{Header, Kind, REQUEST_HEADER, RESPONSE_HEADER};
use crate::store::item::{ITEM, Item, Items, key, version};
use crate::transact::{Intent, TableShape};
use crate::wire::{Reader, WireError, Writer};

/// The bytes of a message with a log record of one item, without the value.
pub const RECORD_OVERHEAD: usize = REQUEST_HEADER + 2 + ITEM;
/// The bit of a header's word that says that it is locked.
pub const LOCK_BIT: u64 = 1 << 63;

/// A request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Request<'a> {
    /// Read a row with its header, and lock the header if the row is to be written.
    Execute {
        /// The key.
        key: Key,
        /// Whether to lock.
        intent: Intent,
    },
    /// Unlock the header of a key, and change nothing.
    Unlock {
        /// The key.
        key: Key,
    },
    /// Say the header of a key.
    Validate {
        /// The key.
        key: Key,
    },
    /// Append a record to the log.
    Log {
        /// All changes of the transaction.
        items: Items<'a>,
    },
    /// Change a row of a backup.
    Backup {
        /// The change.
        item: Item<'a>,
    },
    /// Change a row of a primary.
    Primary {
        /// The change.
        item: Item<'a>,
        /// Whether it is the transaction's last one below the header, so that the version is raised and
        /// the lock goes.
        last: bool,
    },
    /// Forget the worker's records up to an attempt.
    Truncate {
        /// The last of them.
        attempt: u32,
    },
}

/// The types of requests on the wire.
pub(super) mod tag {
    pub const READ: u8 = 0;
    pub const LOCK: u8 = 1;
    pub const UNLOCK: u8 = 2;
    pub const VALIDATE: u8 = 3;
    pub const LOG: u8 = 4;
    pub const BACKUP: u8 = 5;
    pub const PRIMARY: u8 = 6;
    pub const PRIMARY_LAST: u8 = 7;
    pub const TRUNCATE: u8 = 8;
}

impl<'a> Request<'a> {
    /// Reads a request.
    ///
    /// # Errors
    /// When the bytes are no request for these tables.
    #[inline]
    pub fn decode(reader: &mut Reader<'a>, tables: &'a [TableShape]) -> Result<Self, WireError> {
        Ok(match reader.u8("a type of request")? {
            tag::READ => Self::Execute { key: key(reader, tables)?.0, intent: Intent::Read },
            tag::LOCK => Self::Execute { key: key(reader, tables)?.0, intent: Intent::Write },
            tag::UNLOCK => Self::Unlock { key: key(reader, tables)?.0 },
            tag::VALIDATE => Self::Validate { key: key(reader, tables)?.0 },
            tag::LOG => {
                let count = reader.u8("a count of items")?;
                let start = *reader;
                for _ in 0..count {
                    Item::decode(reader, tables)?;
                }
                let length = reader.position() - start.position();
                let bytes = { start }.bytes(length, "items")?;
                Self::Log { items: Items::new(bytes, tables) }
            }
            tag::BACKUP => Self::Backup { item: Item::decode(reader, tables)? },
            tag::PRIMARY => Self::Primary { item: Item::decode(reader, tables)?, last: false },
            tag::PRIMARY_LAST => Self::Primary { item: Item::decode(reader, tables)?, last: true },
            tag::TRUNCATE => Self::Truncate { attempt: reader.u32("an attempt's number")? },
            other => return Err(reader.unknown("a type of request (0 to 8)", other)),
        })
    }

    /// Appends the request. Tables that `tables` does not have give values of no bytes.
    pub fn encode(&self, tables: &[TableShape], out: &mut Vec<u8>) {
        let size = |key: Key| value_bytes(tables, key).unwrap_or(0);
        match *self {
            Self::Execute { key, intent: Intent::Read } => put_keyed(tag::READ, key, out),
            Self::Execute { key, intent: Intent::Write } => put_keyed(tag::LOCK, key, out),
            Self::Unlock { key } => put_keyed(tag::UNLOCK, key, out),
            Self::Validate { key } => put_keyed(tag::VALIDATE, key, out),
            Self::Log { items } => {
                out.put_u8(tag::LOG);
                out.put_u8(items.into_iter().count() as u8);
                out.extend_from_slice(items.bytes());
            }
            Self::Backup { item } => {
                out.put_u8(tag::BACKUP);
                item.encode(size(item.key), out);
            }
            Self::Primary { item, last } => {
                out.put_u8(if last { tag::PRIMARY_LAST } else { tag::PRIMARY });
                item.encode(size(item.key), out);
            }
            Self::Truncate { attempt } => {
                out.put_u8(tag::TRUNCATE);
                out.put_u32(attempt);
            }
        }
    }

    /// The bytes that [`Request::encode`] appends.
    pub fn encoded_len(&self, tables: &[TableShape]) -> usize {
        let size =
            |item: &Item<'_>| Item::len_of(item.change, value_bytes(tables, item.key).unwrap_or(0));
        match self {
            Self::Execute { .. } | Self::Unlock { .. } | Self::Validate { .. } => 10,
            Self::Log { items } => 2 + items.bytes().len(),
            Self::Backup { item } | Self::Primary { item, .. } => 1 + size(item),
            Self::Truncate { .. } => 5,
        }
    }
}

/// Appends a request that has a type and a key alone.
#[inline]
pub(super) fn put_keyed(tag: u8, key: Key, out: &mut Vec<u8>) {
    let mut bytes = [0; 10];
    (bytes[0], bytes[1]) = (tag, key.table.0);
    bytes[2..].copy_from_slice(&key.row.to_le_bytes());
    out.extend_from_slice(&bytes);
}

fn value_bytes(tables: &[TableShape], key: Key) -> Option<usize> {
    tables.get(usize::from(key.table.0)).map(|shape| usize::from(shape.value_bytes))
}

/// What a server says to a request to read or to lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executed<'a> {
    /// The header is locked by another transaction.
    Locked,
    /// This node is not the key's primary.
    Refused,
    /// The row, if there is one, and the version of its header.
    Found {
        /// The version.
        version: u64,
        /// The value, if there is a row.
        value: Option<&'a [u8]>,
    },
}

impl<'a> Executed<'a> {
    /// Appends it. A value gets `value_bytes`.
    #[inline]
    pub fn encode(&self, value_bytes: usize, out: &mut Vec<u8>) {
        match *self {
            Self::Locked => out.put_u8(0),
            Self::Refused => out.put_u8(1),
            Self::Found { version, value } => {
                out.put_u8(2 + u8::from(value.is_some()));
                out.put_u64(version);
                if let Some(value) = value {
                    out.put_field(value, value_bytes);
                }
            }
        }
    }

    /// Turns an answer that was encoded as found without a value, at byte `at`, into one for a row whose
    /// value was appended to it, if there is one.
    #[inline]
    pub fn set_found(out: &mut [u8], at: usize, version: u64, present: bool) {
        out[at] = 2 + u8::from(present);
        out[at + 1..at + 9].copy_from_slice(&version.to_le_bytes());
    }

    /// Reads it.
    ///
    /// # Errors
    /// When the bytes are no such answer.
    #[inline]
    pub fn decode(reader: &mut Reader<'a>, value_bytes: usize) -> Result<Self, WireError> {
        let status = reader.u8("an answer")?;
        match status {
            0 => return Ok(Self::Locked),
            1 => return Ok(Self::Refused),
            2 | 3 => {}
            _ => return Err(reader.unknown("an answer (0 to 3)", status)),
        }
        let version = version(reader)?;
        let value = match status {
            3 => Some(reader.bytes(value_bytes, "a value")?),
            _ => None,
        };
        Ok(Self::Found { version, value })
    }
}

/// What a server says to a request that changes something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// It is done.
    Yes,
    /// It cannot be done here.
    Refused,
}

impl Done {
    /// Appends it.
    #[inline]
    pub fn encode(self, out: &mut Vec<u8>) {
        out.put_u8(u8::from(self == Self::Refused));
    }

    /// Reads it.
    ///
    /// # Errors
    /// When the byte is another, or missing.
    #[inline]
    pub fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        match reader.u8("done or refused")? {
            0 => Ok(Self::Yes),
            1 => Ok(Self::Refused),
            other => Err(reader.unknown("done (0) or refused (1)", other)),
        }
    }
}

#[cfg(test)]
mod tests;
