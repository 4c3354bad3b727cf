// SPDX-License-Identifier: MIT OR Apache-2.0
//! The workloads of [`workloads::database`] on fetched rows: their logic is written once, for all
//! stores, over [`database::Access`], and [`Replay`] is that over [`Rows`].
//!
//! A row is stored as the columns that are not of its key, one after the other: integers in eight bytes,
//! little-endian, fixed bytes as they are. Its key's columns are packed into eight bytes.

use std::ops::ControlFlow;

use workloads::database::{
    self, ColumnKind, ConsistencyError, Order, TableDefinition, TableId, Value,
};

use super::{Missing, Rows};
use crate::engine::{Key, TableNumber};

/// The layout of a table's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    name: &'static str,
    /// For each column of the key: by how many bits it is shifted in the packed key.
    shifts: Box<[u32]>,
    /// For each other column: where it begins, and how many bytes it has.
    columns: Box<[(u16, u16)]>,
    value_bytes: u16,
}

/// A table that cannot be stored so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column `{column}` of table `{table}` is {found}: expected {expected}")]
pub struct LayoutError {
    /// The table.
    pub table: &'static str,
    /// Its column.
    pub column: &'static str,
    /// What it is.
    pub found: String,
    /// What it would have to be.
    pub expected: &'static str,
}

impl Layout {
    /// The layout of `table`, whose key's columns stand at these bits of the packed key, the first
    /// column highest.
    ///
    /// # Errors
    /// When a column is a text or may be null, or the row is longer than 65,535 bytes.
    ///
    /// # Panics
    /// When there are not as many shifts as columns in the key, or they do not fall.
    pub fn new(table: &TableDefinition, shifts: &[u32]) -> Result<Self, LayoutError> {
        let falls = shifts.is_sorted_by(|one, next| one > next) && shifts.iter().all(|s| *s < 64);
        assert!(shifts.len() == table.key_columns && falls, "`{}`: {shifts:?}", table.name);
        let mut bytes = 0;
        let mut columns = Vec::new();
        for column in &table.columns[table.key_columns..] {
            let refuse = |found: String, expected| {
                Err(LayoutError { table: table.name, column: column.name, found, expected })
            };
            let length = match column.kind {
                _ if column.nullable => return refuse("nullable".into(), "never null"),
                ColumnKind::Int => 8,
                ColumnKind::Fixed(length) => length,
                kind => return refuse(format!("{kind:?}"), "an integer or fixed bytes"),
            };
            if bytes + length > usize::from(u16::MAX) {
                return refuse(format!("{length} bytes"), "a row of at most 65,535 bytes");
            }
            columns.push((bytes as u16, length as u16));
            bytes += length;
        }
        Ok(Self {
            name: table.name,
            shifts: shifts.into(),
            columns: columns.into(),
            value_bytes: bytes as u16,
        })
    }

    /// The bytes of a row without its key.
    pub fn value_bytes(&self) -> u16 {
        self.value_bytes
    }

    /// The key packed into eight bytes. Every part must fit the bits that its table gives it.
    pub fn pack(&self, key: impl IntoIterator<Item = i64>) -> u64 {
        let parts = key.into_iter().zip(&self.shifts);
        parts.fold(0, |packed, (part, shift)| {
            debug_assert!(
                part >= 0 && (packed >> shift) & (part as u64) == 0,
                "key part {part} of `{}` does not fit above bit {shift}",
                self.name
            );
            packed | (part as u64) << shift
        })
    }

    /// The part of a packed key that is its column number `column`.
    pub fn unpack(&self, packed: u64, column: usize) -> i64 {
        let above = match column.checked_sub(1).map(|above| self.shifts[above]) {
            Some(above) => packed & ((1 << above) - 1),
            None => packed,
        };
        (above >> self.shifts[column]) as i64
    }

    /// Appends the bytes of a row, key columns left out.
    ///
    /// # Panics
    /// When the row does not fit the table.
    pub fn write(&self, row: &[Value<'_>], bytes: &mut Vec<u8>) {
        for (value, (_, length)) in row[self.shifts.len()..].iter().zip(&self.columns) {
            match value {
                Value::Int(value) => bytes.extend_from_slice(&value.to_le_bytes()),
                Value::Fixed(value) if value.len() == usize::from(*length) => {
                    bytes.extend_from_slice(value);
                }
                other => panic!("a row of `{}` has {other:?} in {length} bytes", self.name),
            }
        }
    }

    fn key_parts(&self) -> usize {
        self.shifts.len()
    }
}

/// Why the logic of a transaction stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// It needs another row.
    Missing(Missing),
    /// What it found cannot be in a sound database, or cannot be asked of fetched rows.
    Unsound(ConsistencyError),
}

impl From<Missing> for Stopped {
    fn from(missing: Missing) -> Self {
        Self::Missing(missing)
    }
}

impl From<ConsistencyError> for Stopped {
    fn from(error: ConsistencyError) -> Self {
        Self::Unsound(error)
    }
}

/// The inside of a transaction whose rows have been fetched. Scans are answered by an error: a protocol
/// that finds rows by their hash has none.
#[derive(Debug)]
pub struct Replay<'r> {
    layouts: &'r [Layout],
    rows: &'r mut Rows,
}

impl<'r> Replay<'r> {
    /// The inside of a transaction that begins from the rows as fetched; `layouts` are those of the
    /// workload's tables, in their order.
    pub fn new(layouts: &'r [Layout], rows: &'r mut Rows) -> Self {
        rows.reset();
        Self { layouts, rows }
    }

    fn key(&self, table: TableId, key: &[i64]) -> Key {
        key_of(&self.layouts[table.0], table, key.iter().copied())
    }
}

fn key_of(layout: &Layout, table: TableId, key: impl IntoIterator<Item = i64>) -> Key {
    Key { table: TableNumber(table.0 as u8), row: layout.pack(key) }
}

/// A row as it is read or changed.
#[derive(Debug)]
pub struct RowView<'r, B> {
    layout: &'r Layout,
    key: &'r [i64],
    bytes: B,
}

impl<B: AsRef<[u8]>> RowView<'_, B> {
    fn column(&self, column: usize) -> &[u8] {
        let (start, length) = self.layout.columns[column - self.layout.key_parts()];
        &self.bytes.as_ref()[usize::from(start)..][..usize::from(length)]
    }
}

impl<B: AsRef<[u8]>> database::Row for RowView<'_, B> {
    fn is_null(&self, _: usize) -> bool {
        false
    }

    fn int(&self, column: usize) -> i64 {
        match self.key.get(column) {
            Some(part) => *part,
            None => i64::from_le_bytes(self.column(column).try_into().expect("an integer")),
        }
    }

    fn fixed(&self, column: usize) -> &[u8] {
        self.column(column)
    }

    fn text(&self, column: usize) -> &str {
        panic!("column {column} of `{}` is not a text", self.layout.name)
    }
}

impl database::RowMut for RowView<'_, &mut [u8]> {
    fn set_int(&mut self, column: usize, value: i64) {
        self.set_fixed(column, &value.to_le_bytes());
    }

    fn set_fixed(&mut self, column: usize, value: &[u8]) {
        let (start, length) = self.layout.columns[column - self.layout.key_parts()];
        self.bytes[usize::from(start)..][..usize::from(length)].copy_from_slice(value);
    }

    fn set_text(&mut self, column: usize, _: &str) {
        panic!("column {column} of `{}` is not a text", self.layout.name)
    }
}

impl database::Access for Replay<'_> {
    type Error = Stopped;
    type Row<'r> = RowView<'r, &'r [u8]>;
    type RowMut<'r> = RowView<'r, &'r mut [u8]>;

    fn get<T>(
        &mut self,
        table: TableId,
        key: &[i64],
        read: impl FnOnce(&Self::Row<'_>) -> T,
    ) -> Result<Option<T>, Stopped> {
        let bytes = self.rows.get(self.key(table, key))?;
        let layout = &self.layouts[table.0];
        Ok(bytes.map(|bytes| read(&RowView { layout, key, bytes })))
    }

    fn update<T>(
        &mut self,
        table: TableId,
        key: &[i64],
        change: impl FnOnce(&mut Self::RowMut<'_>) -> T,
    ) -> Result<Option<T>, Stopped> {
        let found = self.key(table, key);
        let bytes = self.rows.get_mut(found)?;
        let layout = &self.layouts[table.0];
        Ok(bytes.map(|bytes| change(&mut RowView { layout, key, bytes })))
    }

    fn insert(&mut self, table: TableId, row: &[Value<'_>]) -> Result<bool, Stopped> {
        let layout = &self.layouts[table.0];
        let parts = row[..layout.key_parts()].iter().map(|part| match part {
            Value::Int(part) => *part,
            other => panic!("the key of a row of `{}` has {other:?}", layout.name),
        });
        let key = key_of(layout, table, parts);
        Ok(self.rows.insert_with(key, |bytes| layout.write(row, bytes))?)
    }

    fn delete(&mut self, table: TableId, key: &[i64]) -> Result<bool, Stopped> {
        let key = self.key(table, key);
        Ok(self.rows.delete(key)?)
    }

    fn scan(
        &mut self,
        table: TableId,
        _: &[i64],
        _: &[i64],
        _: Order,
        _: impl FnMut(&Self::Row<'_>) -> ControlFlow<()>,
    ) -> Result<(), Stopped> {
        Err(no_scan(&self.layouts[table.0]))
    }

    fn scan_index(
        &mut self,
        table: TableId,
        _: usize,
        _: &[Value<'_>],
        _: Order,
        _: impl FnMut(&Self::Row<'_>) -> ControlFlow<()>,
    ) -> Result<(), Stopped> {
        Err(no_scan(&self.layouts[table.0]))
    }
}

fn no_scan(layout: &Layout) -> Stopped {
    let found = format!("a scan of `{}`", layout.name);
    ConsistencyError::new("fetched rows are asked for by their keys", found).into()
}

#[cfg(test)]
mod tests {
    use workloads::database::{Access as _, Column, Row as _, RowMut as _};

    use super::*;
    use crate::transact::Intent;

    const TABLE: TableDefinition = TableDefinition {
        name: "wide",
        columns: &[
            Column::int("first"),
            Column::int("second"),
            Column::fixed("bytes", 3),
            Column::int("number"),
        ],
        key_columns: 2,
        indexes: &[],
    };

    fn layout() -> Layout {
        Layout::new(&TABLE, &[8, 0]).expect("integers and fixed bytes")
    }

    #[test]
    fn keys_are_packed_and_unpacked() {
        let layout = layout();
        for key in [[0, 0], [1, 255], [(1 << 55) + 3, 7]] {
            let packed = layout.pack(key);
            assert_eq!([0, 1].map(|column| layout.unpack(packed, column)), key);
        }
        assert_eq!(layout.pack([3, 4]), 0x304);
    }

    #[test]
    fn rows_are_read_changed_made_and_deleted() {
        let (layouts, mut rows) = ([layout()], Rows::new());
        let [there, new] = [[1, 2], [1, 3]];
        let mut value = Vec::new();
        layouts[0].write(&[1.into(), 2.into(), (b"abc").into(), 7.into()], &mut value);
        assert_eq!((value.len(), layouts[0].value_bytes()), (11, 11));
        let key = |key: [i64; 2]| key_of(&layouts[0], TableId(0), key);
        rows.fetched(key(there), Intent::Write, 0, Some(&value));
        rows.fetched(key(new), Intent::Write, 0, None);
        let mut replay = Replay::new(&layouts, &mut rows);
        let sum = replay.update(TableId(0), &there, |row| {
            assert_eq!((row.int(0), row.int(1), row.is_null(2)), (1, 2, false));
            row.set_fixed(2, b"xyz");
            row.add(3, 5)
        });
        assert_eq!(sum, Ok(Some(12)));
        let read = |row: &RowView<'_, &[u8]>| (row.fixed(2).to_vec(), row.int(3));
        assert_eq!(replay.get(TableId(0), &there, read), Ok(Some((b"xyz".to_vec(), 12))));
        assert_eq!(replay.get(TableId(0), &new, read), Ok(None));
        let row = [1.into(), 3.into(), (b"new").into(), (-1).into()];
        assert_eq!(replay.insert(TableId(0), &row), Ok(true));
        assert_eq!(replay.insert(TableId(0), &row), Ok(false));
        assert_eq!(replay.get(TableId(0), &new, read), Ok(Some((b"new".to_vec(), -1))));
        assert_eq!(replay.delete(TableId(0), &there), Ok(true));
        assert_eq!(replay.get(TableId(0), &there, read), Ok(None));
        let mut again = Replay::new(&layouts, &mut rows);
        assert_eq!(again.get(TableId(0), &there, read), Ok(Some((b"abc".to_vec(), 7))));
    }

    #[test]
    fn what_was_not_fetched_is_missing_and_scans_are_refused() {
        let (layouts, mut rows) = ([layout()], Rows::new());
        let key = key_of(&layouts[0], TableId(0), [1, 2]);
        let mut replay = Replay::new(&layouts, &mut rows);
        let missing = |intent| Stopped::Missing(Missing { key, intent });
        assert_eq!(replay.get(TableId(0), &[1, 2], |_| ()), Err(missing(Intent::Read)));
        assert_eq!(replay.update(TableId(0), &[1, 2], |_| ()), Err(missing(Intent::Write)));
        let scan =
            replay.scan(TableId(0), &[], &[], Order::Ascending, |_| ControlFlow::Continue(()));
        assert!(matches!(scan, Err(Stopped::Unsound(_))), "{scan:?}");
        rows.fetched(key, Intent::Read, 0, None);
        let mut replay = Replay::new(&layouts, &mut rows);
        assert_eq!(replay.get(TableId(0), &[1, 2], |_| ()), Ok(None));
        assert_eq!(replay.delete(TableId(0), &[1, 2]), Err(missing(Intent::Write)));
    }

    #[test]
    fn tables_that_cannot_be_laid_out_are_named() {
        const TEXT: &[Column] = &[Column::int("key"), Column::text("name", 9)];
        const NULL: &[Column] = &[Column::int("key"), Column::int("age").or_null()];
        const LONG: &[Column] =
            &[Column::int("key"), Column::fixed("huge", 65_530), Column::int("more")];
        for (columns, expected) in [
            (TEXT, "`name` of table `wide` is Text(9): expected an integer or fixed bytes"),
            (NULL, "`age` of table `wide` is nullable: expected never null"),
            (LONG, "`more` of table `wide` is 8 bytes: expected a row of at most 65,535 bytes"),
        ] {
            let table = TableDefinition { columns, key_columns: 1, ..TABLE };
            let error = Layout::new(&table, &[0]).expect_err("it has no fixed layout");
            assert_eq!(error.to_string(), format!("column {expected}"));
        }
    }
}
