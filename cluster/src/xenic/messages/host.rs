// SPDX-License-Identifier: MIT OR Apache-2.0
//! The messages that cross the slot between a host and its NIC.

use super::record::{change_kind, put_change_kind};
use super::{KEY, Keys, Versions, key, put_key, put_keys, value_bytes};
use crate::engine::{Ending, Key};
use crate::transact::{Change, TableShape};
use crate::wire::{Reader, WireError, Writer};

/// The bytes of what all but [`Applied`] begin with: kind, worker, attempt.
pub const HEAD: usize = 6;
/// The bytes of [`Applied`].
pub const APPLIED: usize = 9;

/// Of which attempt a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Head {
    /// The worker of the thread.
    pub worker: u8,
    /// Its attempt.
    pub attempt: u32,
}

impl Head {
    fn encode(self, kind: u8, out: &mut Vec<u8>) {
        out.put_u8(kind);
        out.put_u8(self.worker);
        out.put_u32(self.attempt);
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(Self { worker: reader.u8("a worker")?, attempt: reader.u32("an attempt")? })
    }
}

/// Changes of a write set: without versions, which the NIC has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteSet<'a> {
    /// How many there are.
    pub number: u8,
    /// Their bytes.
    pub bytes: &'a [u8],
}

/// Appends a change of a write set.
pub fn put_write(key: Key, change: Change, value: &[u8], out: &mut Vec<u8>) {
    put_change_kind(change, out);
    put_key(key, out);
    out.extend_from_slice(value);
}

fn write<'a>(
    reader: &mut Reader<'a>,
    tables: &[TableShape],
) -> Result<(Key, Change, &'a [u8]), WireError> {
    let change = change_kind(reader)?;
    let key = key(reader, tables)?;
    let length = if change == Change::Delete { 0 } else { value_bytes(tables, key) };
    Ok((key, change, reader.bytes(length, "a value")?))
}

impl<'a> WriteSet<'a> {
    /// One change after the other.
    pub fn iter(
        &self,
        tables: &'a [TableShape],
    ) -> impl Iterator<Item = (Key, Change, &'a [u8])> + use<'a> {
        let mut reader = Reader::new(self.bytes);
        std::iter::from_fn(move || match reader.is_at_end() {
            true => None,
            false => write(&mut reader, tables).ok(),
        })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u8(self.number);
        out.extend_from_slice(self.bytes);
    }

    fn decode(reader: &mut Reader<'a>, tables: &[TableShape]) -> Result<Self, WireError> {
        let number = reader.u8("a number of changes")?;
        let start = *reader;
        for _ in 0..number {
            write(reader, tables)?;
        }
        let length = reader.position() - start.position();
        Ok(Self { number, bytes: { start }.bytes(length, "changes")? })
    }
}

/// From a host's thread to a core of its NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToNic<'a> {
    /// Begin a transaction, and run its logic.
    BeginShipped {
        /// The attempt.
        head: Head,
        /// The input.
        input: &'a [u8],
        /// The keys to be read that are known already.
        reads: Keys<'a>,
        /// Those to be written.
        locks: Keys<'a>,
    },
    /// Begin a transaction whose logic the host runs.
    Begin {
        /// The attempt.
        head: Head,
        /// Keys to be read.
        reads: Keys<'a>,
        /// Keys to be written.
        locks: Keys<'a>,
    },
    /// The logic wants more keys.
    More {
        /// The attempt.
        head: Head,
        /// Keys to be read.
        reads: Keys<'a>,
        /// Keys to be written.
        locks: Keys<'a>,
    },
    /// The logic has run, and these are its changes.
    Writes {
        /// The attempt.
        head: Head,
        /// The changes.
        writes: WriteSet<'a>,
    },
    /// The logic has given up.
    RollBack {
        /// The attempt.
        head: Head,
    },
    /// Begin a transaction that the host has run on its own tables: commit it if they were up to date.
    Local {
        /// The attempt.
        head: Head,
        /// What was read, with versions.
        reads: Versions<'a>,
        /// The changes.
        writes: WriteSet<'a>,
    },
    /// Say whether the host's own tables are up to date.
    LocalReads {
        /// The attempt.
        head: Head,
        /// What was read, with versions.
        reads: Versions<'a>,
    },
    /// A record was applied.
    Applied(Applied),
}

/// A record in a log was applied by the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The view, as far as two bytes tell.
    pub view: u16,
    /// Whether it was known to have committed, and not only a record of one shard.
    pub is_committed: bool,
    /// The slot of the cluster.
    pub owner: u16,
    /// The transaction of the slot.
    pub count: u32,
}

mod tag {
    pub const BEGIN_SHIPPED: u8 = 0;
    pub const BEGIN: u8 = 1;
    pub const MORE: u8 = 2;
    pub const WRITES: u8 = 3;
    pub const ROLL_BACK: u8 = 4;
    pub const LOCAL: u8 = 5;
    pub const LOCAL_READS: u8 = 6;
    pub const APPLIED: u8 = 7;
    pub const APPLIED_COMMITTED: u8 = 8;
    pub const ROWS: u8 = 16;
    pub const OUTCOME: u8 = 17;
}

impl<'a> ToNic<'a> {
    /// The attempt that it is about, if it is about one.
    pub fn head(&self) -> Option<Head> {
        match *self {
            Self::BeginShipped { head, .. }
            | Self::Begin { head, .. }
            | Self::More { head, .. }
            | Self::Writes { head, .. }
            | Self::RollBack { head }
            | Self::Local { head, .. }
            | Self::LocalReads { head, .. } => Some(head),
            Self::Applied(_) => None,
        }
    }

    /// Appends it.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match *self {
            Self::BeginShipped { head, input, reads, locks } => {
                head.encode(tag::BEGIN_SHIPPED, out);
                out.put_count(input.len());
                out.extend_from_slice(input);
                put_keys(reads, locks, out);
            }
            Self::Begin { head, reads, locks } => {
                head.encode(tag::BEGIN, out);
                put_keys(reads, locks, out);
            }
            Self::More { head, reads, locks } => {
                head.encode(tag::MORE, out);
                put_keys(reads, locks, out);
            }
            Self::Writes { head, writes } => {
                head.encode(tag::WRITES, out);
                writes.encode(out);
            }
            Self::RollBack { head } => head.encode(tag::ROLL_BACK, out),
            Self::Local { head, reads, writes } => {
                head.encode(tag::LOCAL, out);
                out.put_u16(reads.len() as u16);
                out.extend_from_slice(reads.0);
                writes.encode(out);
            }
            Self::LocalReads { head, reads } => {
                head.encode(tag::LOCAL_READS, out);
                out.put_u16(reads.len() as u16);
                out.extend_from_slice(reads.0);
            }
            Self::Applied(Applied { view, is_committed, owner, count }) => {
                out.put_u8(if is_committed { tag::APPLIED_COMMITTED } else { tag::APPLIED });
                out.put_u16(view);
                out.put_u16(owner);
                out.put_u32(count);
            }
        }
    }

    /// The bytes that [`ToNic::encode`] appends.
    pub fn encoded_len(&self) -> usize {
        let keys = |reads: &Keys<'_>, locks: &Keys<'_>| 2 + (reads.len() + locks.len()) * KEY;
        match self {
            Self::BeginShipped { input, reads, locks, .. } => {
                HEAD + 1 + input.len() + keys(reads, locks)
            }
            Self::Begin { reads, locks, .. } | Self::More { reads, locks, .. } => {
                HEAD + keys(reads, locks)
            }
            Self::Writes { writes, .. } => HEAD + 1 + writes.bytes.len(),
            Self::RollBack { .. } => HEAD,
            Self::Local { reads, writes, .. } => HEAD + 2 + reads.0.len() + 1 + writes.bytes.len(),
            Self::LocalReads { reads, .. } => HEAD + 2 + reads.0.len(),
            Self::Applied(_) => APPLIED,
        }
    }

    /// Reads one.
    ///
    /// # Errors
    /// When the bytes are no message of a host with these tables.
    pub fn decode(bytes: &'a [u8], tables: &[TableShape]) -> Result<Self, WireError> {
        let reader = &mut Reader::new(bytes);
        let kind = reader.u8("a kind of message")?;
        if matches!(kind, tag::APPLIED | tag::APPLIED_COMMITTED) {
            let view = reader.u16("a view's number")?;
            let owner = reader.u16("a slot")?;
            let count = reader.u32("a count")?;
            reader.end("a record's name")?;
            let is_committed = kind == tag::APPLIED_COMMITTED;
            return Ok(Self::Applied(Applied { view, is_committed, owner, count }));
        }
        if kind > tag::LOCAL_READS {
            return Err(reader.unknown("a kind of message of a host (0 to 8)", kind));
        }
        let head = Head::decode(reader)?;
        let message = match kind {
            tag::BEGIN_SHIPPED => {
                let length = reader.u8("the length of an input")?;
                let input = reader.bytes(length.into(), "an input")?;
                let (reads, locks) = keys(reader, tables)?;
                Self::BeginShipped { head, input, reads, locks }
            }
            tag::BEGIN | tag::MORE => {
                let (reads, locks) = keys(reader, tables)?;
                match kind {
                    tag::BEGIN => Self::Begin { head, reads, locks },
                    _ => Self::More { head, reads, locks },
                }
            }
            tag::WRITES => Self::Writes { head, writes: WriteSet::decode(reader, tables)? },
            tag::ROLL_BACK => Self::RollBack { head },
            _ => {
                let number = reader.u16("a number of keys")?;
                let reads = Versions::decode(reader, number, tables)?;
                match kind {
                    tag::LOCAL => {
                        Self::Local { head, reads, writes: WriteSet::decode(reader, tables)? }
                    }
                    _ => Self::LocalReads { head, reads },
                }
            }
        };
        reader.end("a message of a host")?;
        Ok(message)
    }
}

fn keys<'a>(
    reader: &mut Reader<'a>,
    tables: &[TableShape],
) -> Result<(Keys<'a>, Keys<'a>), WireError> {
    let [reads, locks] = super::numbers(reader)?;
    let reads = Keys::decode(reader, reads, tables)?;
    Ok((reads, Keys::decode(reader, locks, tables)?))
}

/// From a core of the NIC to a thread of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToHost<'a> {
    /// The rows of the keys that the host has sent last, in their order.
    Rows {
        /// The attempt.
        head: Head,
        /// The rows, as [`put_row`](super::put_row) writes them.
        rows: &'a [u8],
    },
    /// The attempt has ended.
    Outcome {
        /// The attempt.
        head: Head,
        /// How.
        ending: Ending,
    },
}

impl<'a> ToHost<'a> {
    /// Appends it.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Rows { head, rows } => {
                head.encode(tag::ROWS, out);
                out.extend_from_slice(rows);
            }
            Self::Outcome { head, ending } => head.encode(tag::OUTCOME + ending as u8, out),
        }
    }

    /// The bytes that [`ToHost::encode`] appends.
    pub fn encoded_len(&self) -> usize {
        match self {
            Self::Rows { rows, .. } => HEAD + rows.len(),
            Self::Outcome { .. } => HEAD,
        }
    }

    /// Reads one.
    ///
    /// # Errors
    /// When the bytes are no message of a NIC to its host.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, WireError> {
        let reader = &mut Reader::new(bytes);
        let kind = reader.u8("a kind of message")?;
        let ending = kind.checked_sub(tag::OUTCOME).map(usize::from);
        let ending = ending.and_then(|ending| Ending::ALL.get(ending).copied());
        if kind != tag::ROWS && ending.is_none() {
            return Err(reader.unknown("a kind of message of a NIC (16 to 22)", kind));
        }
        let head = Head::decode(reader)?;
        let Some(ending) = ending else { return Ok(Self::Rows { head, rows: reader.rest() }) };
        reader.end("an outcome")?;
        Ok(Self::Outcome { head, ending })
    }
}
