// SPDX-License-Identifier: MIT OR Apache-2.0
//! Records: what a transaction changes, as it is sent, kept in NIC memory, and written to logs.

use super::{key, put_key, value_bytes};
use crate::engine::{Key, TransactionId};
use crate::placement::PartitionId;
use crate::store::Item;
use crate::transact::{self, TableShape};
use crate::wire::{Reader, WireError, Writer};

/// The bytes of a change without its value.
pub const CHANGE: usize = 14;

/// A change of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<'a> {
    /// The row.
    pub key: Key,
    /// What happens to it.
    pub change: transact::Change,
    /// The version that was locked; the change makes the next one of it.
    pub fetched: u32,
    /// The new value; empty if it is deleted.
    pub value: &'a [u8],
}

impl<'a> From<Change<'a>> for Item<'a> {
    fn from(of: Change<'a>) -> Self {
        let Change { key, change, fetched, value } = of;
        Self { key, change, fetched: fetched.into(), value }
    }
}

pub(super) fn put_change_kind(change: transact::Change, out: &mut Vec<u8>) {
    out.put_u8(match change {
        transact::Change::Update => 0,
        transact::Change::Insert => 1,
        transact::Change::Delete => 2,
    });
}

pub(super) fn change_kind(reader: &mut Reader<'_>) -> Result<transact::Change, WireError> {
    Ok(match reader.u8("a change")? {
        0 => transact::Change::Update,
        1 => transact::Change::Insert,
        2 => transact::Change::Delete,
        other => return Err(reader.unknown("update (0), insert (1) or delete (2)", other)),
    })
}

impl<'a> Change<'a> {
    /// Appends it.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_change_kind(self.change, out);
        put_key(self.key, out);
        out.put_u32(self.fetched);
        out.extend_from_slice(self.value);
    }

    /// The bytes that [`Change::encode`] appends.
    pub fn encoded_len(&self) -> usize {
        CHANGE + self.value.len()
    }

    /// Reads one.
    ///
    /// # Errors
    /// When the bytes are no change of these tables.
    pub fn decode(reader: &mut Reader<'a>, tables: &[TableShape]) -> Result<Self, WireError> {
        let change = change_kind(reader)?;
        let key = key(reader, tables)?;
        let at = reader.position();
        let fetched = reader.u32("a version")?;
        if fetched >= super::MOST_VERSIONS {
            let found = fetched.into();
            return Err(WireError::Unknown { expected: "a version below 2^30", found, at });
        }
        let length = match change {
            transact::Change::Delete => 0,
            _ => value_bytes(tables, key),
        };
        Ok(Self { key, change, fetched, value: reader.bytes(length, "a value")? })
    }

    /// The value that the row has then, if there is one.
    pub fn new_value(&self) -> Option<&'a [u8]> {
        (self.change != transact::Change::Delete).then_some(self.value)
    }
}

/// Changes one after the other, all of which have been read once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes<'a> {
    /// How many there are.
    pub number: u8,
    /// Their bytes.
    pub bytes: &'a [u8],
}

impl<'a> Changes<'a> {
    /// One after the other.
    pub fn iter(&self, tables: &'a [TableShape]) -> impl Iterator<Item = Change<'a>> + use<'a> {
        let mut reader = Reader::new(self.bytes);
        std::iter::from_fn(move || match reader.is_at_end() {
            true => None,
            false => Change::decode(&mut reader, tables).ok(),
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u8(self.number);
        out.extend_from_slice(self.bytes);
    }

    pub(super) fn decode(
        reader: &mut Reader<'a>,
        tables: &[TableShape],
    ) -> Result<Self, WireError> {
        let number = reader.u8("a number of changes")?;
        let start = *reader;
        for _ in 0..number {
            Change::decode(reader, tables)?;
        }
        let length = reader.position() - start.position();
        Ok(Self { number, bytes: { start }.bytes(length, "changes")? })
    }
}

/// The changes of a record that is being written.
pub struct NewChanges<'o> {
    number: u8,
    out: &'o mut Vec<u8>,
}

impl NewChanges<'_> {
    /// Adds one.
    pub fn add(&mut self, change: &Change<'_>) {
        change.encode(self.out);
        self.number = self.number.saturating_add(1);
    }
}

/// The record of a transaction, or the part of it that one node has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The transaction.
    pub transaction: TransactionId,
    /// How many shards it writes.
    shards: u8,
    /// Which, if there are several.
    list: &'a [u8],
    /// The changes of the shards that the node replicates.
    pub changes: Changes<'a>,
}

impl<'a> Record<'a> {
    /// The record of a transaction that writes so many shards, the numbers of which are `list` if there are
    /// several.
    pub fn new(
        transaction: TransactionId,
        shards: u8,
        list: &'a [u8],
        changes: Changes<'a>,
    ) -> Self {
        Self { transaction, shards, list, changes }
    }

    /// Appends the record of a transaction that writes these shards, and the changes that `add_all` adds.
    pub fn put(
        transaction: TransactionId,
        shards: &[PartitionId],
        out: &mut Vec<u8>,
        add_all: impl FnOnce(&mut NewChanges<'_>),
    ) {
        out.put_u64(transaction.0);
        out.put_count(shards.len());
        if shards.len() > 1 {
            shards.iter().for_each(|shard| out.put_u16(shard.0));
        }
        let place = out.len();
        out.put_u8(0);
        let mut changes = NewChanges { number: 0, out };
        add_all(&mut changes);
        let NewChanges { number, out } = changes;
        out[place] = number;
    }

    /// Whether it writes several shards, so that one node's part does not decide.
    pub fn is_of_several(&self) -> bool {
        self.shards > 1
    }

    /// The shards that it writes, if they are several.
    pub fn listed(&self) -> impl Iterator<Item = PartitionId> + use<'a> {
        self.list.chunks_exact(2).map(|two| PartitionId(u16::from_le_bytes([two[0], two[1]])))
    }

    /// The same, of the transaction's other changes.
    #[must_use]
    pub fn with_changes<'b>(&self, changes: Changes<'b>) -> Record<'b>
    where
        'a: 'b,
    {
        Record { transaction: self.transaction, shards: self.shards, list: self.list, changes }
    }

    /// Appends it.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.transaction.0);
        self.encode_body(out);
    }

    /// Appends what follows the transaction's name.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        out.put_u8(self.shards);
        out.extend_from_slice(self.list);
        self.changes.encode(out);
    }

    /// The bytes that [`Record::encode`] appends.
    pub fn encoded_len(&self) -> usize {
        8 + 1 + self.list.len() + 1 + self.changes.bytes.len()
    }

    /// Reads one.
    ///
    /// # Errors
    /// When the bytes are no record of a cluster with these tables and so many partitions.
    pub fn decode(
        reader: &mut Reader<'a>,
        tables: &[TableShape],
        partitions: u16,
    ) -> Result<Self, WireError> {
        let transaction = TransactionId(reader.u64("a transaction")?);
        Self::decode_body(transaction, reader, tables, partitions)
    }

    /// Reads what follows the transaction's name.
    ///
    /// # Errors
    /// As [`Record::decode`].
    pub fn decode_body(
        transaction: TransactionId,
        reader: &mut Reader<'a>,
        tables: &[TableShape],
        partitions: u16,
    ) -> Result<Self, WireError> {
        let shards = reader.u8("a number of shards")?;
        if shards == 0 {
            return Err(reader.unknown("at least one shard", shards));
        }
        let length = if shards > 1 { usize::from(shards) * 2 } else { 0 };
        let at = reader.position();
        let list = reader.bytes(length, "shards")?;
        for two in list.chunks_exact(2) {
            let shard = u16::from_le_bytes([two[0], two[1]]);
            if shard >= partitions {
                let expected = "a partition of the cluster";
                return Err(WireError::Unknown { expected, found: shard.into(), at });
            }
        }
        Ok(Self { transaction, shards, list, changes: Changes::decode(reader, tables)? })
    }

    /// Takes apart one that was encoded here, and has nothing behind it. What it was made of was read before, and
    /// is not read again.
    pub fn kept(bytes: &'a [u8]) -> Option<Self> {
        let (transaction, rest) = bytes.split_first_chunk()?;
        let transaction = TransactionId(u64::from_le_bytes(*transaction));
        let (&shards, rest) = rest.split_first()?;
        let length = if shards > 1 { usize::from(shards) * 2 } else { 0 };
        let (list, rest) = rest.split_at_checked(length)?;
        let (&number, bytes) = rest.split_first()?;
        Some(Self { transaction, shards, list, changes: Changes { number, bytes } })
    }
}
