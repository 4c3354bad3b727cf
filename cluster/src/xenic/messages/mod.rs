// SPDX-License-Identifier: MIT OR Apache-2.0
//! The messages of Xenic: between NICs, and over the slot between a NIC and its host.
//!
//! `docs/xenic.md` has their bytes in a table. A value has as many bytes as its table says, so its length
//! is not sent; a row that is not there has none.

pub mod host;
mod record;
#[cfg(test)]
mod tests;

pub use record::{CHANGE, Change, Changes, Record};

use crate::engine::{Key, NodeId, Stage, TableNumber, TransactionId};
use crate::transact::TableShape;
use crate::wire::{Reader, WireError, Writer};

/// The bytes of a header.
pub const HEADER: usize = 10;
/// The bytes of a key.
pub const KEY: usize = 9;
/// Added to the kind of a request in its answer.
const ANSWER: u8 = 0x80;
/// Versions are below this: two bits of the word that carries one say something else.
pub const MOST_VERSIONS: u32 = 1 << 30;
/// There is a row.
const PRESENT: u32 = 1 << 31;
/// The row was fetched to be written.
const TO_WRITE: u32 = 1 << 30;
/// Rows have numbers below this, and tables below [`MOST_TABLES`]: an address in host memory has both.
pub const MOST_ROWS: u64 = 1 << 56;
/// See [`MOST_ROWS`].
pub const MOST_TABLES: usize = 1 << 7;

/// What a message between NICs asks for, or answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Read some keys, lock and read others.
    Execute,
    /// Lock keys, and say their versions.
    Lock,
    /// Compare versions.
    Validate,
    /// Append a record to the log, and apply it later.
    Log,
    /// Append a record to the log, give its objects their values, and unlock what the transaction has locked.
    Commit,
    /// The same with the record that the node has.
    CommitKept,
    /// Unlock what the transaction has locked.
    Release,
    /// Run the logic, and have the changes logged.
    Ship,
    /// Nothing: all transactions before it are over.
    End,
}

impl Kind {
    const ALL: [Self; 9] = [
        Self::Execute,
        Self::Lock,
        Self::Validate,
        Self::Log,
        Self::Commit,
        Self::CommitKept,
        Self::Release,
        Self::Ship,
        Self::End,
    ];

    /// The phase that its messages are counted by.
    pub const fn stage(self) -> Stage {
        match self {
            Self::Execute | Self::Lock | Self::Ship => Stage::Execute,
            Self::Validate => Stage::Validate,
            Self::Log | Self::End => Stage::Log,
            Self::Commit | Self::CommitKept => Stage::Primary,
            Self::Release => Stage::Abort,
        }
    }
}

/// The header of a message between NICs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// The sender's view, as far as two bytes tell.
    pub view: u16,
    /// What is asked or answered.
    pub kind: Kind,
    /// Whether it is an answer.
    pub is_answer: bool,
    /// Which message of the transaction it is, or answers.
    pub step: u8,
    /// The slot of the coordinator.
    pub slot: u16,
    /// Which transaction of the slot.
    pub count: u32,
}

impl Header {
    /// Appends it.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut bytes = [0; HEADER];
        bytes[..2].copy_from_slice(&self.view.to_le_bytes());
        bytes[2] = self.kind as u8 | if self.is_answer { ANSWER } else { 0 };
        bytes[3] = self.step;
        bytes[4..6].copy_from_slice(&self.slot.to_le_bytes());
        bytes[6..].copy_from_slice(&self.count.to_le_bytes());
        out.extend_from_slice(&bytes);
    }

    /// Reads it.
    ///
    /// # Errors
    /// When the bytes are no header.
    pub fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let view = reader.u16("a view's number")?;
        let number = reader.u8("a kind of message")?;
        let Some(kind) = Kind::ALL.get(usize::from(number & !ANSWER)).copied() else {
            return Err(reader.unknown("a kind of message (0 to 8)", number));
        };
        let step = reader.u8("a step")?;
        if step >= STEPS {
            return Err(reader.unknown("a step below 128", step));
        }
        let slot = reader.u16("a slot")?;
        let count = reader.u32("a count")?;
        Ok(Self { view, kind, is_answer: number & ANSWER != 0, step, slot, count })
    }

    /// The header of the answer.
    pub fn answer(self) -> Self {
        Self { is_answer: true, ..self }
    }
}

/// Messages of a transaction are numbered below this.
pub const STEPS: u8 = 128;

/// What is known of a row that is sent: its version, and what goes with it into one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Version {
    /// The version.
    pub number: u32,
    /// Whether there is a row.
    pub present: bool,
    /// Whether it was fetched to be written, where that is said.
    pub to_write: bool,
}

impl Version {
    /// The word that it is sent as.
    pub fn word(self) -> u32 {
        let flag = |is_set, bit| if is_set { bit } else { 0 };
        let flags = flag(self.present, PRESENT) | flag(self.to_write, TO_WRITE);
        self.number & (MOST_VERSIONS - 1) | flags
    }

    /// Appends it.
    pub fn encode(self, out: &mut Vec<u8>) {
        out.put_u32(self.word());
    }

    /// Reads it.
    ///
    /// # Errors
    /// When the bytes end.
    pub fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let word = reader.u32("a version")?;
        let number = word & (MOST_VERSIONS - 1);
        Ok(Self { number, present: word & PRESENT != 0, to_write: word & TO_WRITE != 0 })
    }
}

/// Appends a key.
pub fn put_key(key: Key, out: &mut Vec<u8>) {
    let mut bytes = [0; KEY];
    bytes[0] = key.table.0;
    bytes[1..].copy_from_slice(&key.row.to_le_bytes());
    out.extend_from_slice(&bytes);
}

/// Reads a key of these tables.
///
/// # Errors
/// When there is no such table, or the row has no address.
pub fn key(reader: &mut Reader<'_>, tables: &[TableShape]) -> Result<Key, WireError> {
    let table = reader.u8("a table")?;
    if usize::from(table) >= tables.len() {
        return Err(reader.unknown("a table of the workload", table));
    }
    let at = reader.position();
    let row = reader.u64("a key")?;
    if row >= MOST_ROWS {
        return Err(WireError::Unknown { expected: "a key below 2^56", found: row, at });
    }
    Ok(Key { table: TableNumber(table), row })
}

/// The bytes of a value of this table.
pub fn value_bytes(tables: &[TableShape], key: Key) -> usize {
    tables.get(usize::from(key.table.0)).map_or(0, |table| usize::from(table.value_bytes))
}

/// Keys one after the other, all of which have been read once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keys<'a>(&'a [u8]);

impl<'a> Keys<'a> {
    /// Keys that [`put_key`] has written.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len() / KEY
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = Key> + use<'a> {
        self.0.chunks_exact(KEY).map(key_of)
    }

    pub(super) fn decode(
        reader: &mut Reader<'a>,
        number: u8,
        tables: &[TableShape],
    ) -> Result<Self, WireError> {
        let mut check = *reader;
        for _ in 0..number {
            key(&mut check, tables)?;
        }
        Ok(Self(reader.bytes(usize::from(number) * KEY, "keys")?))
    }
}

fn key_of(bytes: &[u8]) -> Key {
    let row = bytes[1..KEY].first_chunk().map_or(0, |row| u64::from_le_bytes(*row));
    Key { table: TableNumber(bytes[0]), row }
}

/// Keys with versions, one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Versions<'a>(&'a [u8]);

/// The bytes of a key with a version.
pub const VERSIONED: usize = KEY + 4;

impl<'a> Versions<'a> {
    /// Keys with versions that [`put_key`] and [`Version::encode`] have written.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len() / VERSIONED
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = (Key, Version)> + use<'a> {
        self.0.chunks_exact(VERSIONED).map(|bytes| {
            let version = Version::decode(&mut Reader::new(&bytes[KEY..])).unwrap_or_default();
            (key_of(bytes), version)
        })
    }

    pub(super) fn decode(
        reader: &mut Reader<'a>,
        number: u16,
        tables: &[TableShape],
    ) -> Result<Self, WireError> {
        let mut check = *reader;
        for _ in 0..number {
            key(&mut check, tables)?;
            Version::decode(&mut check)?;
        }
        Ok(Self(reader.bytes(usize::from(number) * VERSIONED, "keys with versions")?))
    }
}

/// Rows with their keys, one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyedRows<'a>(&'a [u8]);

impl<'a> KeyedRows<'a> {
    /// Rows that [`put_keyed_row`] has written.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Their bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.0
    }

    /// One after the other.
    pub fn iter(
        &self,
        tables: &'a [TableShape],
    ) -> impl Iterator<Item = (Key, Version, Option<&'a [u8]>)> + use<'a> {
        let mut reader = Reader::new(self.0);
        std::iter::from_fn(move || keyed_row(&mut reader, tables).ok())
    }
}

/// Appends a key and its row.
pub fn put_keyed_row(key: Key, version: Version, value: Option<&[u8]>, out: &mut Vec<u8>) {
    put_key(key, out);
    put_row(version, value, out);
}

fn keyed_row<'a>(
    reader: &mut Reader<'a>,
    tables: &[TableShape],
) -> Result<(Key, Version, Option<&'a [u8]>), WireError> {
    let key = key(reader, tables)?;
    let (version, value) = row(reader, value_bytes(tables, key))?;
    Ok((key, version, value))
}

/// Appends a row: its version, and its value if there is one.
pub fn put_row(version: Version, value: Option<&[u8]>, out: &mut Vec<u8>) {
    Version { present: value.is_some(), ..version }.encode(out);
    out.extend_from_slice(value.unwrap_or_default());
}

/// Reads a row.
///
/// # Errors
/// When the bytes end.
pub fn row<'a>(
    reader: &mut Reader<'a>,
    value_bytes: usize,
) -> Result<(Version, Option<&'a [u8]>), WireError> {
    let version = Version::decode(reader)?;
    let value = match version.present {
        true => Some(reader.bytes(value_bytes, "a value")?),
        false => None,
    };
    Ok((version, value))
}

/// A request between NICs, behind its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// Read some keys, lock and read others.
    Execute {
        /// To be read.
        reads: Keys<'a>,
        /// To be locked and read.
        locks: Keys<'a>,
    },
    /// Lock keys, and say their versions.
    Lock {
        /// The keys.
        keys: Keys<'a>,
    },
    /// Compare versions.
    Validate {
        /// The keys.
        keys: Versions<'a>,
    },
    /// Append a record.
    Log {
        /// The record.
        record: Record<'a>,
    },
    /// Append a record of what has committed.
    Commit {
        /// The record.
        record: Record<'a>,
    },
    /// The record that the node has has committed.
    CommitKept,
    /// Unlock.
    Release,
    /// Run the logic.
    Ship {
        /// The transaction.
        transaction: TransactionId,
        /// Its input.
        input: &'a [u8],
        /// Keys to be read.
        reads: Keys<'a>,
        /// Keys to be locked and read.
        locks: Keys<'a>,
        /// How many rows of the coordinator there are.
        rows: u8,
        /// The rows of the coordinator.
        own: KeyedRows<'a>,
    },
    /// All is over.
    End,
}

impl<'a> Request<'a> {
    /// Reads what follows a header of this kind, to the end.
    ///
    /// # Errors
    /// When the bytes are no such request of a cluster with these tables and so many partitions.
    pub fn decode(
        kind: Kind,
        reader: &mut Reader<'a>,
        tables: &[TableShape],
        partitions: u16,
    ) -> Result<Self, WireError> {
        let request = match kind {
            Kind::Execute => {
                let [reads, locks] = numbers(reader)?;
                let reads = Keys::decode(reader, reads, tables)?;
                Self::Execute { reads, locks: Keys::decode(reader, locks, tables)? }
            }
            Kind::Lock => {
                let number = reader.u8("a number of keys")?;
                Self::Lock { keys: Keys::decode(reader, number, tables)? }
            }
            Kind::Validate => {
                let number = reader.u8("a number of keys")?;
                Self::Validate { keys: Versions::decode(reader, number.into(), tables)? }
            }
            Kind::Log => Self::Log { record: Record::decode(reader, tables, partitions)? },
            Kind::Commit => Self::Commit { record: Record::decode(reader, tables, partitions)? },
            Kind::CommitKept => Self::CommitKept,
            Kind::Release => Self::Release,
            Kind::End => Self::End,
            Kind::Ship => {
                let transaction = TransactionId(reader.u64("a transaction")?);
                let length = reader.u8("the length of an input")?;
                let input = reader.bytes(length.into(), "an input")?;
                let [reads, locks] = numbers(reader)?;
                let reads = Keys::decode(reader, reads, tables)?;
                let locks = Keys::decode(reader, locks, tables)?;
                let rows = reader.u8("a number of rows")?;
                let start = *reader;
                for _ in 0..rows {
                    keyed_row(reader, tables)?;
                }
                let length = reader.position() - start.position();
                let own = KeyedRows({ start }.bytes(length, "rows")?);
                Self::Ship { transaction, input, reads, locks, rows, own }
            }
        };
        reader.end("a request")?;
        Ok(request)
    }

    /// Appends it.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Execute { reads, locks } => put_keys(reads, locks, out),
            Self::Lock { keys } => {
                out.put_count(keys.len());
                out.extend_from_slice(keys.0);
            }
            Self::Validate { keys } => {
                out.put_count(keys.len());
                out.extend_from_slice(keys.0);
            }
            Self::Log { record } | Self::Commit { record } => record.encode(out),
            Self::CommitKept | Self::Release | Self::End => {}
            Self::Ship { transaction, input, reads, locks, rows, own } => {
                out.put_u64(transaction.0);
                out.put_count(input.len());
                out.extend_from_slice(input);
                put_keys(reads, locks, out);
                out.put_u8(rows);
                out.extend_from_slice(own.0);
            }
        }
    }

    /// The bytes that [`Request::encode`] appends.
    pub fn encoded_len(&self) -> usize {
        match self {
            Self::Execute { reads, locks } => 2 + reads.0.len() + locks.0.len(),
            Self::Lock { keys } => 1 + keys.0.len(),
            Self::Validate { keys } => 1 + keys.0.len(),
            Self::Log { record } | Self::Commit { record } => record.encoded_len(),
            Self::CommitKept | Self::Release | Self::End => 0,
            Self::Ship { input, reads, locks, own, .. } => {
                8 + 1 + input.len() + 2 + reads.0.len() + locks.0.len() + 1 + own.0.len()
            }
        }
    }
}

/// The keys that a message asks to be looked up, as far as they are at a fixed place, without a check of anything: a
/// hint to look ahead.
pub fn keys_asked_for(message: &[u8]) -> impl Iterator<Item = Key> {
    let at = |place: usize| usize::from(message.get(place).copied().unwrap_or(0));
    let (start, number, length) = match at(2) as u8 {
        kind if kind == Kind::Execute as u8 => (HEADER + 2, at(HEADER) + at(HEADER + 1), KEY),
        kind if kind == Kind::Lock as u8 => (HEADER + 1, at(HEADER), KEY),
        kind if kind == Kind::Validate as u8 => (HEADER + 1, at(HEADER), VERSIONED),
        kind if kind == Kind::Ship as u8 => {
            // Behind the transaction and its input.
            let keys = HEADER + 8 + 1 + at(HEADER + 8);
            (keys + 2, at(keys) + at(keys + 1), KEY)
        }
        _ => (0, 0, KEY),
    };
    let keys = message.get(start..).unwrap_or_default().chunks_exact(length);
    keys.take(number).map(|bytes| key_of(&bytes[..KEY]))
}

/// The coordinator that a message names, if it is a LOG: a hint to look ahead.
pub fn coordinator_of(kind: Kind, message: &[u8]) -> Option<NodeId> {
    let transaction = message.get(HEADER..)?.first_chunk().filter(|_| kind == Kind::Log)?;
    Some(TransactionId(u64::from_le_bytes(*transaction)).node())
}

fn numbers(reader: &mut Reader<'_>) -> Result<[u8; 2], WireError> {
    Ok([reader.u8("a number of keys to be read")?, reader.u8("a number of keys to be locked")?])
}

pub(super) fn put_keys(reads: Keys<'_>, locks: Keys<'_>, out: &mut Vec<u8>) {
    out.put_count(reads.len());
    out.put_count(locks.len());
    out.extend_from_slice(reads.0);
    out.extend_from_slice(locks.0);
}

/// How a request that may be refused ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Verdict {
    /// It was done. Of a SHIP: the changes are being logged.
    Done,
    /// Another transaction has locked a key.
    Locked,
    /// A version is another one.
    Changed,
    /// There was no room in an entry of the index.
    Room,
    /// The node is not the primary of a key.
    Refused,
    /// Of a SHIP: the logic has changed nothing.
    Unchanged,
    /// Of a SHIP: the logic gave up.
    RolledBack,
    /// Of a SHIP: the logic wants more rows, so nothing was done.
    More,
}

impl Verdict {
    const ALL: [Self; 8] = [
        Self::Done,
        Self::Locked,
        Self::Changed,
        Self::Room,
        Self::Refused,
        Self::Unchanged,
        Self::RolledBack,
        Self::More,
    ];

    /// Reads it.
    ///
    /// # Errors
    /// When the byte is none.
    pub fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let number = reader.u8("a verdict")?;
        let verdict = Self::ALL.get(usize::from(number)).copied();
        verdict.ok_or_else(|| reader.unknown("a verdict (0 to 7)", number))
    }
}
