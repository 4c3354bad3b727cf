// SPDX-License-Identifier: MIT OR Apache-2.0
//! A serial store on ordered maps: the oracle for others, and the store of the tests.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::schema::{TableDefinition, TableId, Value};
use super::store::{
    Access, Body, ConsistencyError, Load, Mode, Order, Outcome, Row, RowMut, Session,
};

/// A store for one session: transactions run one after the other, in the caller's thread.
///
/// It is strict where other stores may be lax: a row that breaks its schema, a write in a
/// read-only transaction and a change of a primary key are errors.
#[derive(Clone, Debug, Default)]
pub struct Reference {
    tables: Vec<ReferenceTable>,
    retry_every: u64,
    transactions: u64,
}

/// The inside of a transaction of the [`Reference`].
#[derive(Debug)]
pub(super) struct ReferenceTransaction<'r> {
    tables: &'r mut [ReferenceTable],
    mode: Mode,
    /// The undo records: the rows before each change, in the order of the changes.
    undo: Vec<Undo>,
}

/// Why the reference did not do something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// The database is not sound.
    #[error(transparent)]
    Violation(#[from] ConsistencyError),
    /// A row that does not fit its table.
    #[error("table `{table}`: column {column} of the row: expected {expected}")]
    Row {
        /// The table.
        table: &'static str,
        /// The column's number.
        column: usize,
        /// The values that the column accepts.
        expected: String,
    },
    /// The population holds this key twice.
    #[error("table `{table}`: key {key:?}: expected one row of this key")]
    Twice {
        /// The table.
        table: &'static str,
        /// The key.
        key: Vec<i64>,
    },
    /// A transaction that said that it only reads has written.
    #[error("table `{table}`: expected no write in a read-only transaction")]
    ReadOnly {
        /// The table.
        table: &'static str,
    },
}

/// A row of the [`Reference`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceRow {
    cells: Vec<Cell>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cell {
    Null,
    Int(i64),
    Fixed(Vec<u8>),
    Text(String),
}

#[derive(Clone, Debug)]
struct ReferenceTable {
    definition: &'static TableDefinition,
    rows: BTreeMap<Vec<i64>, ReferenceRow>,
    /// One set an index: the values of its columns, then the primary key.
    indexes: Vec<BTreeSet<(Vec<Cell>, Vec<i64>)>>,
}

#[derive(Clone, Debug)]
struct Undo {
    table: TableId,
    key: Vec<i64>,
    before: Option<ReferenceRow>,
}

impl Reference {
    /// An empty store that undoes every n-th transaction once and runs it again, as a store
    /// does after a conflict. 0 for never.
    pub fn retrying_every(n: u64) -> Self {
        Self { retry_every: n, ..Self::default() }
    }

    /// Number of rows of a table.
    pub fn rows(&self, table: TableId) -> usize {
        self.tables[table.0].rows.len()
    }

    /// The tables that it has been given.
    pub fn definitions(&self) -> impl Iterator<Item = &'static TableDefinition> {
        self.tables.iter().map(|table| table.definition)
    }

    /// The transaction's changes are there as soon as made, and stand unless undone.
    pub(super) fn begin(&mut self, mode: Mode) -> ReferenceTransaction<'_> {
        ReferenceTransaction { tables: &mut self.tables, mode, undo: Vec::new() }
    }
}

impl ReferenceTransaction<'_> {
    fn undo_all(self) {
        for Undo { table, key, before } in self.undo.into_iter().rev() {
            self.tables[table.0].put(key, before);
        }
    }

    /// Puts `after` in the place of what is there, remembering that.
    fn change(&mut self, table: TableId, key: &[i64], after: Option<ReferenceRow>) {
        let before = self.tables[table.0].put(key.to_vec(), after);
        self.undo.push(Undo { table, key: key.to_vec(), before });
    }

    fn check_writable(&self, table: TableId) -> Result<(), ReferenceError> {
        match self.mode {
            Mode::ReadWrite => Ok(()),
            Mode::ReadOnly => {
                Err(ReferenceError::ReadOnly { table: self.tables[table.0].definition.name })
            }
        }
    }
}

impl ReferenceTable {
    fn new(definition: &'static TableDefinition) -> Self {
        let indexes = vec![BTreeSet::new(); definition.indexes.len()];
        Self { definition, rows: BTreeMap::new(), indexes }
    }

    /// The row now stands for this key, in the map and in all indexes. Returns the one before.
    fn put(&mut self, key: Vec<i64>, after: Option<ReferenceRow>) -> Option<ReferenceRow> {
        let before = self.rows.remove(&key);
        for (entries, index) in self.indexes.iter_mut().zip(self.definition.indexes) {
            let entry = |row: &ReferenceRow| {
                let cells = index.columns.iter().map(|&column| row.cells[column].clone());
                (cells.collect::<Vec<_>>(), key.clone())
            };
            if let Some(row) = &before {
                entries.remove(&entry(row));
            }
            if let Some(row) = &after {
                entries.insert(entry(row));
            }
        }
        if let Some(row) = after {
            self.rows.insert(key, row);
        }
        before
    }

    fn check_row(&self, row: &[Value<'_>]) -> Result<(), ReferenceError> {
        let Some(column) = self.definition.misfit(row) else { return Ok(()) };
        let expected = match self.definition.columns.get(column) {
            Some(expected) => format!("{expected:?}"),
            None => "one value a column".into(),
        };
        Err(ReferenceError::Row { table: self.definition.name, column, expected })
    }

    fn key_of(&self, row: &[Value<'_>]) -> Vec<i64> {
        let key = row[..self.definition.key_columns].iter();
        key.map(|value| match value {
            Value::Int(part) => *part,
            _ => unreachable!("the columns of a primary key are integers, and the row fits"),
        })
        .collect()
    }
}

impl Load for Reference {
    type Error = ReferenceError;

    fn create(&mut self, tables: &'static [TableDefinition]) -> Result<(), ReferenceError> {
        self.tables = tables.iter().map(ReferenceTable::new).collect();
        Ok(())
    }

    fn row(&mut self, table: TableId, row: &[Value<'_>]) -> Result<(), ReferenceError> {
        let table = &mut self.tables[table.0];
        table.check_row(row)?;
        let key = table.key_of(row);
        if table.rows.contains_key(&key) {
            return Err(ReferenceError::Twice { table: table.definition.name, key });
        }
        table.put(key, Some(ReferenceRow::from(row)));
        Ok(())
    }

    fn finish(&mut self) -> Result<(), ReferenceError> {
        Ok(())
    }
}

impl Session for Reference {
    type Error = ReferenceError;

    fn transact<B: Body>(&mut self, body: &mut B) -> Result<Outcome<B::Output>, ReferenceError> {
        self.transactions += 1;
        if self.retry_every != 0 && self.transactions.is_multiple_of(self.retry_every) {
            let mut transaction = self.begin(body.mode());
            let first_try = body.run(&mut transaction);
            transaction.undo_all();
            first_try?;
        }
        let mut transaction = self.begin(body.mode());
        let outcome = body.run(&mut transaction);
        if !matches!(outcome, Ok(Outcome::Committed(_))) {
            transaction.undo_all();
        }
        outcome
    }
}

impl Access for ReferenceTransaction<'_> {
    type Error = ReferenceError;
    type Row<'r> = ReferenceRow;
    type RowMut<'r> = ReferenceRow;

    fn get<T>(
        &mut self,
        table: TableId,
        key: &[i64],
        read: impl FnOnce(&ReferenceRow) -> T,
    ) -> Result<Option<T>, ReferenceError> {
        Ok(self.tables[table.0].rows.get(key).map(read))
    }

    fn update<T>(
        &mut self,
        table: TableId,
        key: &[i64],
        change: impl FnOnce(&mut ReferenceRow) -> T,
    ) -> Result<Option<T>, ReferenceError> {
        self.check_writable(table)?;
        let here = &self.tables[table.0];
        let Some(mut row) = here.rows.get(key).cloned() else { return Ok(None) };
        let result = change(&mut row);
        let values = row.values();
        here.check_row(&values)?;
        let moved = here.key_of(&values).iter().zip(key).position(|(now, was)| now != was);
        if let Some(column) = moved {
            let expected = format!("the key that it was found by, {key:?}");
            return Err(ReferenceError::Row { table: here.definition.name, column, expected });
        }
        self.change(table, key, Some(row));
        Ok(Some(result))
    }

    fn insert(&mut self, table: TableId, row: &[Value<'_>]) -> Result<bool, ReferenceError> {
        self.check_writable(table)?;
        let here = &self.tables[table.0];
        here.check_row(row)?;
        let key = here.key_of(row);
        let is_new = !here.rows.contains_key(&key);
        if is_new {
            self.change(table, &key, Some(ReferenceRow::from(row)));
        }
        Ok(is_new)
    }

    fn delete(&mut self, table: TableId, key: &[i64]) -> Result<bool, ReferenceError> {
        self.check_writable(table)?;
        let exists = self.tables[table.0].rows.contains_key(key);
        if exists {
            self.change(table, key, None);
        }
        Ok(exists)
    }

    fn scan(
        &mut self,
        table: TableId,
        from: &[i64],
        to: &[i64],
        order: Order,
        visit: impl FnMut(&ReferenceRow) -> ControlFlow<()>,
    ) -> Result<(), ReferenceError> {
        let table = &self.tables[table.0];
        let padded = |part: &[i64], filler| {
            let mut key = part.to_vec();
            key.resize(table.definition.key_columns, filler);
            key
        };
        let (least, most) = (padded(from, i64::MIN), padded(to, i64::MAX));
        if least <= most {
            visit_in(table.rows.range(least..=most).map(|(_, row)| row), order, visit);
        }
        Ok(())
    }

    fn scan_index(
        &mut self,
        table: TableId,
        index: usize,
        prefix: &[Value<'_>],
        order: Order,
        visit: impl FnMut(&ReferenceRow) -> ControlFlow<()>,
    ) -> Result<(), ReferenceError> {
        let table = &self.tables[table.0];
        let prefix: Vec<Cell> = prefix.iter().copied().map(Cell::from).collect();
        let entries = table.indexes[index].range((prefix.clone(), Vec::new())..);
        // The end of a prefix has no key of its own, so what is within is collected first.
        let within: Vec<_> = entries.take_while(|(cells, _)| cells.starts_with(&prefix)).collect();
        visit_in(within.iter().map(|(_, key)| &table.rows[key]), order, visit);
        Ok(())
    }
}

fn visit_in<'t>(
    rows: impl DoubleEndedIterator<Item = &'t ReferenceRow>,
    order: Order,
    visit: impl FnMut(&'t ReferenceRow) -> ControlFlow<()>,
) {
    // Where the visitor broke off is of no interest.
    let _ = match order {
        Order::Ascending => rows.into_iter().try_for_each(visit),
        Order::Descending => rows.rev().try_for_each(visit),
    };
}

impl ReferenceRow {
    fn values(&self) -> Vec<Value<'_>> {
        self.cells.iter().map(Cell::value).collect()
    }

    /// The cell, whose kind must not change.
    fn set(&mut self, column: usize, value: Cell) {
        let cell = &mut self.cells[column];
        let fits = matches!(cell, Cell::Null)
            || std::mem::discriminant(cell) == std::mem::discriminant(&value);
        assert!(fits, "column {column} is {cell:?}, and was set to {value:?}");
        *cell = value;
    }
}

impl From<&[Value<'_>]> for ReferenceRow {
    fn from(row: &[Value<'_>]) -> Self {
        Self { cells: row.iter().copied().map(Cell::from).collect() }
    }
}

impl Row for ReferenceRow {
    fn is_null(&self, column: usize) -> bool {
        self.cells[column] == Cell::Null
    }

    fn int(&self, column: usize) -> i64 {
        match &self.cells[column] {
            Cell::Int(value) => *value,
            other => panic!("column {column} is {other:?}, not an integer"),
        }
    }

    fn fixed(&self, column: usize) -> &[u8] {
        match &self.cells[column] {
            Cell::Fixed(value) => value,
            other => panic!("column {column} is {other:?}, not fixed bytes"),
        }
    }

    fn text(&self, column: usize) -> &str {
        match &self.cells[column] {
            Cell::Text(value) => value,
            other => panic!("column {column} is {other:?}, not a text"),
        }
    }
}

impl RowMut for ReferenceRow {
    fn set_int(&mut self, column: usize, value: i64) {
        self.set(column, Cell::Int(value));
    }

    fn set_fixed(&mut self, column: usize, value: &[u8]) {
        self.set(column, Cell::Fixed(value.to_vec()));
    }

    fn set_text(&mut self, column: usize, value: &str) {
        self.set(column, Cell::Text(value.into()));
    }
}

impl Cell {
    fn value(&self) -> Value<'_> {
        match self {
            Cell::Null => Value::Null,
            Cell::Int(value) => Value::Int(*value),
            Cell::Fixed(value) => Value::Fixed(value),
            Cell::Text(value) => Value::Text(value),
        }
    }
}

impl From<Value<'_>> for Cell {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Null => Cell::Null,
            Value::Int(value) => Cell::Int(value),
            Value::Fixed(value) => Cell::Fixed(value.to_vec()),
            Value::Text(value) => Cell::Text(value.into()),
        }
    }
}
