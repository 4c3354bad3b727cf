// SPDX-License-Identifier: MIT OR Apache-2.0
//! The workloads of [`workloads::database`] on fetched rows: their logic is written once, for all
//! stores, over [`database::Access`], and [`Replay`] is that over [`Rows`].
//!
//! A row is stored as the columns that are not of its key, one after the other: integers in eight bytes,
//! or fewer if a table says so, little-endian, fixed bytes as they are, and texts in as many bytes as
//! the longest has, filled up with zeros. An integer that is null is stored as the smallest one. The
//! key's columns are packed into eight bytes.

mod layout;

use std::cell::Cell;
use std::ops::ControlFlow;

use workloads::database::{
    self, ConsistencyError, Order, Outcome, Row as _, TableDefinition, TableId, Value,
};

pub use layout::{Layout, LayoutError};

use super::{Decision, Missing, Rows};
use crate::engine::{Key, TableNumber};

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

/// A table whose rows never change. Each node can have all of it, so it is read without the protocol.
#[derive(Clone, Copy)]
struct Constant<'r> {
    table: TableId,
    row: &'r dyn Fn(&[i64], &mut Vec<u8>) -> bool,
}

/// The inside of a transaction whose rows have been fetched. Scans are answered by an error, as a protocol that finds
/// rows by their hash has none; or from the fetched rows, if the workload fetches all that can be visited
/// ([`Replay::with_scans`]).
pub struct Replay<'r> {
    layouts: &'r [Layout],
    rows: &'r mut Rows,
    constant: Option<Constant<'r>>,
    scanned: Option<&'r [TableDefinition]>,
    /// Whether a column was given an integer that it has no room for.
    is_overfull: Cell<bool>,
}

impl<'r> Replay<'r> {
    /// The inside of a transaction that begins from the rows as fetched; `layouts` are those of the
    /// workload's tables, in their order.
    pub fn new(layouts: &'r [Layout], rows: &'r mut Rows) -> Self {
        rows.reset();
        Self { layouts, rows, constant: None, scanned: None, is_overfull: Cell::new(false) }
    }

    /// The same with a table that never changes: `row` appends the value of a key, or returns `false`
    /// if there is none. It need not be fetched, and cannot be written.
    #[must_use]
    pub fn with_constant(
        mut self,
        table: TableId,
        row: &'r dyn Fn(&[i64], &mut Vec<u8>) -> bool,
    ) -> Self {
        self.constant = Some(Constant { table, row });
        self
    }

    /// The same, where a scan visits those of its rows that were fetched, in their order: for a workload that finds by
    /// rows of its own which rows a scan would visit, and fetches all of them. `tables` are the definitions.
    #[must_use]
    pub fn with_scans(mut self, tables: &'r [TableDefinition]) -> Self {
        self.scanned = Some(tables);
        self
    }

    /// Runs the logic of a transaction, and says what the protocol is to do. Logic that finds rows that
    /// contradict each other rolls back, which their validation will show to be an abort. It also rolls
    /// back where a column has no room for a number: its client is told so, as of an account without
    /// funds.
    ///
    /// # Errors
    /// [`Missing`] for the first key that was not fetched.
    pub fn run<T>(
        mut self,
        logic: impl FnOnce(&mut Self) -> Result<Outcome<T>, Stopped>,
    ) -> Result<Decision, Missing> {
        match logic(&mut self) {
            Ok(Outcome::Committed(_)) if !self.is_overfull.get() => Ok(Decision::Commit),
            Ok(_) | Err(Stopped::Unsound(_)) => Ok(Decision::RollBack),
            Err(Stopped::Missing(missing)) => Err(missing),
        }
    }

    fn key(&self, table: TableId, key: &[i64]) -> Result<Key, Stopped> {
        self.layout(table).key(table, key.iter().copied())
    }

    fn layout(&self, table: TableId) -> &'r Layout {
        &self.layouts[table.0]
    }

    /// The rows and the layout of `table`, which is to be written.
    fn writable(&mut self, table: TableId) -> Result<(&mut Rows, &'r Layout), Stopped> {
        let layout = &self.layouts[table.0];
        match self.constant {
            Some(constant) if constant.table == table => {
                let found = format!("a write of `{}`", layout.name());
                Err(ConsistencyError::new("rows of a table that never changes stay", found).into())
            }
            _ => Ok((self.rows, layout)),
        }
    }
}

impl Layout {
    fn key(&self, table: TableId, key: impl IntoIterator<Item = i64>) -> Result<Key, Stopped> {
        let row = self.try_pack(key).ok_or_else(|| {
            ConsistencyError::new(
                "keys fit their bits",
                format!("one of `{}` does not", self.name()),
            )
        })?;
        Ok(Key { table: TableNumber(table.0 as u8), row })
    }
}

/// A row as it is read or changed.
#[derive(Debug)]
pub struct RowView<'r, B> {
    layout: &'r Layout,
    key: &'r [i64],
    bytes: B,
    is_overfull: &'r Cell<bool>,
}

/// A row as it is read.
type View<'r> = RowView<'r, &'r [u8]>;

impl<B: AsRef<[u8]>> database::Row for RowView<'_, B> {
    fn is_null(&self, column: usize) -> bool {
        column >= self.key.len() && self.layout.is_null(self.bytes.as_ref(), column)
    }

    fn int(&self, column: usize) -> i64 {
        match self.key.get(column) {
            Some(part) => *part,
            None => self.layout.int(self.bytes.as_ref(), column),
        }
    }

    fn fixed(&self, column: usize) -> &[u8] {
        self.layout.bytes(self.bytes.as_ref(), column)
    }

    fn text(&self, column: usize) -> &str {
        self.layout.text(self.bytes.as_ref(), column)
    }
}

impl RowView<'_, &mut [u8]> {
    fn set(&mut self, column: usize, value: Value<'_>) {
        if !self.layout.set(self.bytes, column, &value) {
            assert!(
                matches!(value, Value::Int(_)),
                "column {column} of `{}` cannot be {value:?}",
                self.layout.name()
            );
            self.is_overfull.set(true);
        }
    }
}

impl database::RowMut for RowView<'_, &mut [u8]> {
    fn set_int(&mut self, column: usize, value: i64) {
        self.set(column, Value::Int(value));
    }

    fn set_fixed(&mut self, column: usize, value: &[u8]) {
        self.set(column, Value::Fixed(value));
    }

    fn set_text(&mut self, column: usize, value: &str) {
        self.set(column, Value::Text(value));
    }
}

impl database::Access for Replay<'_> {
    type Error = Stopped;
    type Row<'r> = View<'r>;
    type RowMut<'r> = RowView<'r, &'r mut [u8]>;

    fn get<T>(
        &mut self,
        table: TableId,
        key: &[i64],
        read: impl FnOnce(&Self::Row<'_>) -> T,
    ) -> Result<Option<T>, Stopped> {
        let (layout, is_overfull) = (self.layout(table), &self.is_overfull);
        if let Some(constant) = self.constant.filter(|constant| constant.table == table) {
            let mut bytes = Vec::with_capacity(layout.value_bytes().into());
            let is_there = (constant.row)(key, &mut bytes);
            return Ok(is_there.then(|| read(&RowView { layout, key, bytes: &bytes, is_overfull })));
        }
        let bytes = self.rows.get(self.key(table, key)?)?;
        Ok(bytes.map(|bytes| read(&RowView { layout, key, bytes, is_overfull })))
    }

    fn update<T>(
        &mut self,
        table: TableId,
        key: &[i64],
        change: impl FnOnce(&mut Self::RowMut<'_>) -> T,
    ) -> Result<Option<T>, Stopped> {
        let found = self.key(table, key)?;
        let (_, layout) = self.writable(table)?;
        let is_overfull = &self.is_overfull;
        let bytes = self.rows.get_mut(found)?;
        Ok(bytes.map(|bytes| change(&mut RowView { layout, key, bytes, is_overfull })))
    }

    fn insert(&mut self, table: TableId, row: &[Value<'_>]) -> Result<bool, Stopped> {
        let layout = self.layout(table);
        let parts = row[..layout.key_parts()].iter().map(|part| match part {
            Value::Int(part) => *part,
            other => panic!("the key of a row of `{}` has {other:?}", layout.name()),
        });
        let key = layout.key(table, parts)?;
        if !layout.takes(row) {
            let found = format!("{row:?} for `{}`", layout.name());
            return Err(ConsistencyError::new("columns have room for their values", found).into());
        }
        let (rows, layout) = self.writable(table)?;
        Ok(rows.insert_with(key, |bytes| layout.write(row, bytes))?)
    }

    fn delete(&mut self, table: TableId, key: &[i64]) -> Result<bool, Stopped> {
        let key = self.key(table, key)?;
        Ok(self.writable(table)?.0.delete(key)?)
    }

    fn scan(
        &mut self,
        table: TableId,
        from: &[i64],
        to: &[i64],
        order: Order,
        visit: impl FnMut(&Self::Row<'_>) -> ControlFlow<()>,
    ) -> Result<(), Stopped> {
        let is_within = |row: &View<'_>| {
            let part = |column: &usize| row.int(*column);
            let below = (0..from.len()).map(|column| part(&column)).lt(from.iter().copied());
            let above = (0..to.len()).map(|column| part(&column)).gt(to.iter().copied());
            !below && !above
        };
        // The first column of a key stands highest, so keys have the order of their columns.
        self.visit(table, is_within, |_| (), order, visit)
    }

    fn scan_index(
        &mut self,
        table: TableId,
        index: usize,
        prefix: &[Value<'_>],
        order: Order,
        visit: impl FnMut(&Self::Row<'_>) -> ControlFlow<()>,
    ) -> Result<(), Stopped> {
        let Some(tables) = self.scanned else { return Err(no_scan(self.layout(table))) };
        let definition = &tables[table.0];
        let indexed = definition.indexes[index].columns;
        let value = |row: &View<'_>, column: usize| {
            Owned::of(row.value(column, definition.columns[column].kind))
        };
        let is_within = |row: &View<'_>| {
            let mut columns = indexed.iter().zip(prefix);
            columns.all(|(column, expected)| value(row, *column) == Owned::of(*expected))
        };
        let place = |row: &View<'_>| -> Vec<Owned> {
            indexed.iter().map(|column| value(row, *column)).collect()
        };
        self.visit(table, is_within, place, order, visit)
    }
}

/// A value of an index, as rows are ordered by it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owned {
    Null,
    Int(i64),
    Bytes(Box<[u8]>),
}

impl Owned {
    fn of(value: Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Int(value) => Self::Int(value),
            Value::Fixed(value) => Self::Bytes(value.into()),
            Value::Text(value) => Self::Bytes(value.as_bytes().into()),
        }
    }
}

impl Replay<'_> {
    /// Visits the fetched rows of a table that are there and within, ordered by place, and then by key.
    fn visit<P: Ord>(
        &self,
        table: TableId,
        is_within: impl Fn(&View<'_>) -> bool,
        place: impl Fn(&View<'_>) -> P,
        order: Order,
        mut visit: impl FnMut(&View<'_>) -> ControlFlow<()>,
    ) -> Result<(), Stopped> {
        let (layout, is_overfull) = (self.layout(table), &self.is_overfull);
        if self.scanned.is_none() {
            return Err(no_scan(layout));
        }
        let mut found = Vec::new();
        for row in self.rows.all().iter().filter(|row| row.key.table.0 == table.0 as u8) {
            let Some(bytes) = self.rows.value_of(row) else { continue };
            let key: Vec<i64> = layout.unpack_all(row.key.row).collect();
            let view = RowView { layout, key: &key, bytes, is_overfull };
            if is_within(&view) {
                found.push((place(&view), row.key.row, bytes));
            }
        }
        found.sort_unstable();
        if order == Order::Descending {
            found.reverse();
        }
        for (_, row, bytes) in found {
            let key: Vec<i64> = layout.unpack_all(row).collect();
            if visit(&RowView { layout, key: &key, bytes, is_overfull }).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// What a scan of fetched rows is answered by, where a workload has none.
fn no_scan(layout: &Layout) -> Stopped {
    let found = format!("a scan of `{}`", layout.name());
    ConsistencyError::new("fetched rows are asked for by their keys", found).into()
}

#[cfg(test)]
mod tests {
    use workloads::database::{Access as _, Column, Row as _, RowMut as _, TableDefinition};

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
    fn rows_are_read_changed_made_and_deleted() {
        let (layouts, mut rows) = ([layout()], Rows::new());
        let [there, new] = [[1, 2], [1, 3]];
        let mut value = Vec::new();
        layouts[0].write(&[1.into(), 2.into(), (b"abc").into(), 7.into()], &mut value);
        assert_eq!((value.len(), layouts[0].value_bytes()), (11, 11));
        let key = |key: [i64; 2]| layouts[0].key(TableId(0), key).expect("it fits");
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
        let key = layouts[0].key(TableId(0), [1, 2]).expect("it fits");
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
    fn a_number_without_room_rolls_back() {
        let layout = Layout::with_integers(&TABLE, &[8, 0], |_| 1).expect("sound");
        let (layouts, mut rows) = ([layout], Rows::new());
        let [there, new] = [[1, 2], [1, 3]].map(|key| layouts[0].pack(key));
        let key = |row| Key { table: TableNumber(0), row };
        let mut value = Vec::new();
        layouts[0].write(&[1.into(), 2.into(), (b"abc").into(), 120.into()], &mut value);
        rows.fetched(key(there), Intent::Write, 0, Some(&value));
        rows.fetched(key(new), Intent::Write, 0, None);
        let mut add = |number: i64| {
            Replay::new(&layouts, &mut rows).run(|replay| {
                replay.update(TableId(0), &[1, 2], |row| row.add(3, number))?;
                Ok(Outcome::Committed(()))
            })
        };
        assert_eq!(add(7), Ok(Decision::Commit));
        assert_eq!(add(8), Ok(Decision::RollBack));
        assert_eq!(add(-249), Ok(Decision::RollBack));
        assert_eq!(add(-248), Ok(Decision::Commit));
        let mut insert = |number: i64, second: i64| {
            Replay::new(&layouts, &mut rows).run(|replay| {
                let row = [1.into(), second.into(), (b"new").into(), number.into()];
                replay.insert(TableId(0), &row).map(Outcome::Committed)
            })
        };
        assert_eq!(insert(127, 3), Ok(Decision::Commit));
        assert_eq!(insert(128, 3), Ok(Decision::RollBack));
        assert_eq!(insert(127, 256), Ok(Decision::RollBack), "the key has no room");
    }

    #[test]
    fn a_table_that_never_changes_is_read_without_being_fetched() {
        let (layouts, mut rows) = ([layout()], Rows::new());
        let row = |key: &[i64], bytes: &mut Vec<u8>| {
            if key[1] == 2 {
                layouts[0].write(&[1.into(), 2.into(), (b"abc").into(), key[0].into()], bytes);
            }
            key[1] == 2
        };
        let mut replay = Replay::new(&layouts, &mut rows).with_constant(TableId(0), &row);
        assert_eq!(replay.get(TableId(0), &[9, 2], |row| row.int(3)), Ok(Some(9)));
        assert_eq!(replay.get(TableId(0), &[9, 3], |row| row.int(3)), Ok(None));
        let refused = replay.update(TableId(0), &[9, 2], |_| ());
        assert!(matches!(refused, Err(Stopped::Unsound(_))), "{refused:?}");
        let refused = replay.delete(TableId(0), &[9, 2]);
        assert!(matches!(refused, Err(Stopped::Unsound(_))), "{refused:?}");
    }
}
