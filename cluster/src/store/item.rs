// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes of rows, and their bytes in logs and messages.
//!
//! An item has 18 bytes and its value: change 1, table 1, key 8, fetched version 8. A value has as many bytes
//! as its table says, so its length is not there; a deletion has none.

use crate::engine::{Key, TableNumber};
use crate::transact::{Change, Rows, TableShape};
use crate::wire::{Reader, WireError, Writer};

/// The bytes of an item without its value.
pub const ITEM: usize = 18;
/// Versions are below this.
const MOST_VERSIONS: u64 = 1 << 63;

/// A change of one row by a transaction, as logs keep it and replicas apply it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Item<'a> {
    /// The row.
    pub key: Key,
    /// What happens to it.
    pub change: Change,
    /// The version of its header that the transaction locked; the change makes the next one of it.
    pub fetched: u64,
    /// Its new value; empty if it is deleted.
    pub value: &'a [u8],
}

impl<'a> Item<'a> {
    /// The change of a transaction's row number `row`, if it has one.
    pub fn of(rows: &'a Rows, row: usize) -> Option<Self> {
        let row = rows.all().get(row)?;
        let change = row.change()?;
        let value = match change {
            Change::Delete => &[],
            Change::Update | Change::Insert => rows.value_of(row).unwrap_or_default(),
        };
        Some(Self { key: row.key, change, fetched: row.version, value })
    }

    /// All changes of a transaction.
    pub fn all_of(rows: &'a Rows) -> impl Iterator<Item = Self> {
        (0..rows.all().len()).filter_map(|row| Self::of(rows, row))
    }

    /// The bytes of one, where values have `value_bytes`.
    pub fn len_of(change: Change, value_bytes: usize) -> usize {
        ITEM + if change == Change::Delete { 0 } else { value_bytes }
    }

    /// Appends it. The value gets `value_bytes`.
    #[inline]
    pub fn encode(&self, value_bytes: usize, out: &mut Vec<u8>) {
        let change = match self.change {
            Change::Update => 0,
            Change::Insert => 1,
            Change::Delete => 2,
        };
        out.put_u8(change);
        put_key(self.key, out);
        out.put_u64(self.fetched);
        if self.change != Change::Delete {
            out.put_field(self.value, value_bytes);
        }
    }

    /// Reads one.
    ///
    /// # Errors
    /// When the bytes are no item of these tables.
    #[inline]
    pub fn decode(reader: &mut Reader<'a>, tables: &[TableShape]) -> Result<Self, WireError> {
        let change = match reader.u8("a change")? {
            0 => Change::Update,
            1 => Change::Insert,
            2 => Change::Delete,
            other => return Err(reader.unknown("update (0), insert (1) or delete (2)", other)),
        };
        let (key, value_bytes) = key(reader, tables)?;
        let fetched = version(reader)?;
        let length = if change == Change::Delete { 0 } else { value_bytes };
        let value = reader.bytes(length, "a value")?;
        Ok(Self { key, change, fetched, value })
    }
}

/// The items of a log record, in the bytes in which they were sent and are kept.
#[derive(Clone, Copy, Debug)]
pub struct Items<'a> {
    bytes: &'a [u8],
    tables: &'a [TableShape],
}

impl<'a> Items<'a> {
    /// The items in these bytes. What cannot be read ends them.
    pub fn new(bytes: &'a [u8], tables: &'a [TableShape]) -> Self {
        Self { bytes, tables }
    }

    /// Their bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

impl<'a> IntoIterator for Items<'a> {
    type Item = Item<'a>;
    type IntoIter = ItemsIter<'a>;

    fn into_iter(self) -> ItemsIter<'a> {
        ItemsIter { reader: Reader::new(self.bytes), tables: self.tables }
    }
}

/// Reads one item after the other.
#[derive(Clone, Debug)]
pub struct ItemsIter<'a> {
    reader: Reader<'a>,
    tables: &'a [TableShape],
}

impl<'a> Iterator for ItemsIter<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        Item::decode(&mut self.reader, self.tables).ok()
    }
}

impl PartialEq for Items<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

fn put_key(key: Key, out: &mut Vec<u8>) {
    out.put_u8(key.table.0);
    out.put_u64(key.row);
}

/// Reads a version, of 63 bits at most.
///
/// # Errors
/// When there is none.
#[inline]
pub fn version(reader: &mut Reader<'_>) -> Result<u64, WireError> {
    let at = reader.position();
    match reader.u64("a version")? {
        found @ MOST_VERSIONS.. => {
            Err(WireError::Unknown { expected: "a version below 2^63", found, at })
        }
        version => Ok(version),
    }
}

/// Reads a key, and says the bytes of a value of its table.
///
/// # Errors
/// When there is none of these tables.
#[inline]
pub fn key(reader: &mut Reader<'_>, tables: &[TableShape]) -> Result<(Key, usize), WireError> {
    let table = reader.u8("a table")?;
    let Some(shape) = tables.get(usize::from(table)) else {
        return Err(reader.unknown("a table of the workload", table));
    };
    let row = reader.u64("a key")?;
    Ok((Key { table: TableNumber(table), row }, usize::from(shape.value_bytes)))
}
