// SPDX-License-Identifier: MIT OR Apache-2.0
//! A node's replica of one partition.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Item;
use crate::engine::{Key, TableNumber, TransactionId};
use crate::placement::{HeaderId, Partitioning};
use crate::transact::Change;

/// Nobody: the manager coordinates no transactions.
const NOBODY: TransactionId = TransactionId(u64::MAX);

/// The header of a bucket or of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// Its version: how many transactions have changed rows under it.
    pub version: u64,
    holder: TransactionId,
    /// How many rows were made under it, less those that were deleted.
    pub(super) rows_made: i32,
}

impl Header {
    const INITIAL: Self = Self { version: 0, holder: NOBODY, rows_made: 0 };

    /// Who has locked it.
    pub fn holder(&self) -> Option<TransactionId> {
        (self.holder != NOBODY).then_some(self.holder)
    }

    pub(super) fn set_holder(&mut self, holder: Option<TransactionId>) {
        self.holder = holder.unwrap_or(NOBODY);
    }
}

/// A row that was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The version of its header that it was written with.
    pub(super) version: u64,
    /// Its place among the values of its table; [`Row::DELETED`] if there is no row any more.
    place: u32,
}

impl Row {
    const DELETED: u32 = u32::MAX;

    pub(super) fn is_present(self) -> bool {
        self.place != Self::DELETED
    }
}

/// A row as one replica sends it to another that is being filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CopiedRow<'a> {
    /// The row.
    pub key: Key,
    /// The version of its header.
    pub header_version: u64,
    /// The version of its header that it was written with.
    pub version: u64,
    /// Its value, or `None` if it is deleted.
    pub value: Option<&'a [u8]>,
}

/// One table's part of a partition: what differs from the initial rows.
#[derive(Clone, Debug)]
struct Part {
    headers: HashMap<u64, Header, FixedState>,
    rows: HashMap<u64, Row, FixedState>,
    /// All values, of one length.
    values: Vec<u8>,
    value_bytes: usize,
    /// The places of values that are used no more.
    free: Vec<u32>,
}

impl Part {
    fn value_of(&self, row: Row) -> Option<&[u8]> {
        let start = row.place as usize * self.value_bytes;
        row.is_present().then(|| &self.values[start..start + self.value_bytes])
    }

    /// Writes a row, which has the table's length, or deletes it. Returns whether there was a row among
    /// those that were written.
    fn write(&mut self, row: u64, version: u64, value: Option<&[u8]>) -> Option<bool> {
        let old = self.rows.get(&row).copied();
        let place = match (value, old.filter(|old| old.is_present())) {
            (Some(value), Some(old)) => {
                let start = old.place as usize * self.value_bytes;
                self.values[start..start + self.value_bytes].copy_from_slice(value);
                old.place
            }
            (Some(value), None) => self.place(value),
            (None, Some(old)) => {
                self.free.push(old.place);
                Row::DELETED
            }
            (None, None) => Row::DELETED,
        };
        self.rows.insert(row, Row { version, place });
        old.map(Row::is_present)
    }

    fn place(&mut self, value: &[u8]) -> u32 {
        if let Some(place) = self.free.pop() {
            let start = place as usize * self.value_bytes;
            self.values[start..start + self.value_bytes].copy_from_slice(value);
            return place;
        }
        // Values of no bytes all have one place.
        let place = self.values.len().checked_div(self.value_bytes).unwrap_or(0) as u32;
        self.values.extend_from_slice(value);
        place
    }
}

/// A replica of a partition.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    parts: Vec<Part>,
    /// Whether it has still to be filled: rows that are not here may have been written.
    pub(super) is_filling: bool,
}

impl Partition {
    pub(super) fn new(layout: &Partitioning) -> Self {
        let tables = (0..layout.tables()).map(|table| TableNumber(table as u8));
        let parts = tables.map(|table| Part {
            headers: HashMap::default(),
            rows: HashMap::default(),
            values: Vec::new(),
            value_bytes: usize::from(layout.value_bytes(table).unwrap_or(0)),
            free: Vec::new(),
        });
        Self { parts: parts.collect(), is_filling: false }
    }

    fn part(&mut self, table: TableNumber) -> &mut Part {
        &mut self.parts[usize::from(table.0)]
    }

    pub(super) fn header(&self, id: HeaderId) -> Header {
        let headers = &self.parts[usize::from(id.table.0)].headers;
        headers.get(&id.bucket).copied().unwrap_or(Header::INITIAL)
    }

    pub(super) fn header_mut(&mut self, id: HeaderId) -> &mut Header {
        self.part(id.table).headers.entry(id.bucket).or_insert(Header::INITIAL)
    }

    /// A header that is as at the start is not kept.
    pub(super) fn unlock(&mut self, id: HeaderId, by: TransactionId) -> bool {
        let headers = &mut self.part(id.table).headers;
        let Some(header) = headers.get_mut(&id.bucket) else { return false };
        let held = header.holder == by;
        if held {
            header.holder = NOBODY;
            if *header == Header::INITIAL {
                headers.remove(&id.bucket);
            }
        }
        held
    }

    pub(super) fn unlock_all(&mut self) {
        for part in &mut self.parts {
            part.headers.retain(|_, header| {
                header.holder = NOBODY;
                *header != Header::INITIAL
            });
        }
    }

    /// The locked headers: their tables and buckets, and who has locked them.
    pub(super) fn locked(&self) -> impl Iterator<Item = (TableNumber, u64, TransactionId)> {
        let of = |(table, part): (usize, _)| {
            let Part { headers, .. }: &Part = part;
            let locked =
                headers.iter().filter_map(|(bucket, header)| Some((bucket, header.holder()?)));
            locked.map(move |(bucket, by)| (TableNumber(table as u8), *bucket, by))
        };
        self.parts.iter().enumerate().flat_map(of)
    }

    pub(super) fn row(&self, key: Key) -> Option<Row> {
        self.parts[usize::from(key.table.0)].rows.get(&key.row).copied()
    }

    /// Whether `version` of a row is newer than what is here.
    ///
    /// Where all is here, the header tells: a backup gets the changes under a header in their order, for
    /// a transaction locks the header only when its predecessor has changed all replicas. Two rows of one
    /// transaction under one header come with the same version, so then the row's own version counts.
    /// Where rows are still being copied, a header may be ahead of its rows, and only the row's counts.
    fn is_news(&self, id: HeaderId, key: Key, version: u64) -> bool {
        let header = self.header(id).version;
        let row = || self.row(key).map_or(0, |row| row.version);
        header < version || (self.is_filling || header == version) && row() < version
    }

    /// Applies a change, unless it was applied already, and says whether it was not.
    pub(super) fn apply(&mut self, id: HeaderId, item: &Item<'_>) -> bool {
        let version = item.fetched.saturating_add(1);
        if !self.is_news(id, item.key, version) {
            return false;
        }
        let value = (item.change != Change::Delete).then_some(item.value);
        self.part(id.table).write(item.key.row, version, value);
        let made = match item.change {
            Change::Update => 0,
            Change::Insert => 1,
            Change::Delete => -1,
        };
        let header = self.header_mut(id);
        header.version = header.version.max(version);
        header.rows_made += made;
        true
    }

    /// Takes a row that was copied from a primary, if it is newer than what is here.
    pub(super) fn merge(&mut self, id: HeaderId, row: &CopiedRow<'_>) {
        if self.row(row.key).is_none_or(|old| old.version < row.version) {
            self.part(id.table).write(row.key.row, row.version, row.value);
        }
        let header = self.header_mut(id);
        header.version = header.version.max(row.header_version);
    }

    /// Forgets that a row was written: a planted bug.
    #[cfg(feature = "mutants")]
    pub(super) fn forget(&mut self, key: Key) {
        self.part(key.table).rows.remove(&key.row);
    }

    /// All rows that were written, in the order of tables and keys.
    pub(super) fn written(&self) -> Vec<Key> {
        let mut keys = Vec::with_capacity(self.parts.iter().map(|part| part.rows.len()).sum());
        for (table, part) in self.parts.iter().enumerate() {
            let table = TableNumber(table as u8);
            keys.extend(part.rows.keys().map(|row| Key { table, row: *row }));
        }
        keys.sort_unstable();
        keys
    }

    /// The value of a row that was written; `None` if it is deleted.
    pub(super) fn value_of(&self, key: Key, row: Row) -> Option<&[u8]> {
        self.parts[usize::from(key.table.0)].value_of(row)
    }

    /// The versions of headers that are not as at the start, in their order.
    pub(super) fn versions(&self, table: TableNumber) -> Vec<(u64, u64)> {
        let headers = self.parts[usize::from(table.0)].headers.iter();
        let versions = headers.filter(|(_, header)| header.version > 0);
        let mut versions: Vec<_> =
            versions.map(|(bucket, header)| (*bucket, header.version)).collect();
        versions.sort_unstable();
        versions
    }

    /// The bytes that this replica takes beside the initial rows: of rows, of headers and of values.
    pub(super) fn bytes(&self) -> usize {
        let of = |part: &Part| {
            part.headers.allocation_size() + part.rows.allocation_size() + part.values.capacity()
        };
        self.parts.iter().map(of).sum()
    }
}

impl PartialEq for Part {
    /// Where values lie does not count.
    fn eq(&self, other: &Self) -> bool {
        let is_same = |(row, ours): (&u64, &Row)| {
            other.rows.get(row).is_some_and(|theirs| {
                ours.version == theirs.version && self.value_of(*ours) == other.value_of(*theirs)
            })
        };
        self.headers == other.headers
            && self.rows.len() == other.rows.len()
            && self.rows.iter().all(is_same)
    }
}

impl Hash for Part {
    /// The entries of a map have no order, so their hashes are added up.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let with = FixedState::default();
        let headers = self.headers.iter().map(|entry| with.hash_one(entry));
        headers.fold(0, u64::wrapping_add).hash(state);
        let rows = self.rows.iter();
        let rows = rows.map(|(row, at)| with.hash_one((row, at.version, self.value_of(*at))));
        rows.fold(0, u64::wrapping_add).hash(state);
    }
}

impl PartialEq for Partition {
    fn eq(&self, other: &Self) -> bool {
        self.is_filling == other.is_filling && self.parts == other.parts
    }
}

impl Eq for Partition {}

impl Hash for Partition {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.is_filling.hash(state);
        self.parts.hash(state);
    }
}

// What the documents say of memory.
const _: () = assert!(size_of::<(u64, Header)>() == 32 && size_of::<(u64, Row)>() == 24);
