// SPDX-License-Identifier: MIT OR Apache-2.0
//! The traits that a transactional store implements for the workloads.
//!
//! An adapter implements [`Load`] to fill its tables, [`Session`] for one worker's handle and
//! [`Access`] for the inside of one transaction. Nothing here allocates: tables are numbers, keys
//! are slices of integers, rows are read and changed in place by closures.

use std::ops::ControlFlow;

use super::schema::{ColumnKind, TableDefinition, TableId, Value};

/// A consistency condition that does not hold, or a row that a workload cannot lack and does
/// not find.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{condition}: {found}")]
pub struct ConsistencyError {
    /// The condition, as a sentence about a sound database.
    pub condition: &'static str,
    /// Where it is broken, and what stands there.
    pub found: String,
}

impl ConsistencyError {
    /// `condition` does not hold: see `found`.
    pub fn new(condition: &'static str, found: impl Into<String>) -> Self {
        Self { condition, found: found.into() }
    }
}

/// Where an initial population goes.
pub trait Load {
    /// Why a row was not taken.
    type Error;

    /// Makes the tables, empty. Called once, first.
    fn create(&mut self, tables: &'static [TableDefinition]) -> Result<(), Self::Error>;

    /// Takes one row: a value for each column. Rows of a table come in any order, each key
    /// once. The row may be visible at once or only after [`Load::finish`].
    fn row(&mut self, table: TableId, row: &[Value<'_>]) -> Result<(), Self::Error>;

    /// All rows have been given.
    fn finish(&mut self) -> Result<(), Self::Error>;
}

/// Whether a transaction may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// It calls [`Access::get`], [`Access::scan`] and [`Access::scan_index`] only.
    ReadOnly,
    /// It may call anything.
    ReadWrite,
}

/// How a transaction ends: from a body what it wants, from a session what has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<T> {
    /// Its changes stand.
    Committed(T),
    /// The transaction's own logic gave up (no funds, no such row): nothing has changed. This
    /// is a result and no error; it is not tried again.
    RolledBack(T),
}

impl<T> Outcome<T> {
    /// Whether the changes stand.
    pub fn is_committed(&self) -> bool {
        matches!(self, Self::Committed(_))
    }

    /// The transaction's return value, whether it committed or not.
    pub fn value(&self) -> &T {
        let (Self::Committed(value) | Self::RolledBack(value)) = self;
        value
    }
}

/// The logic of one transaction.
pub trait Body {
    /// Its return value.
    type Output;

    /// Whether it may write.
    fn mode(&self) -> Mode;

    /// Runs it, possibly several times: after a conflict the store undoes all and begins again.
    ///
    /// # Errors
    /// Those of the store go through unchanged, and end this try. A [`ConsistencyError`] says that the
    /// database is not sound.
    fn run<A: Access>(&mut self, access: &mut A) -> Result<Outcome<Self::Output>, A::Error>;
}

/// One worker's handle on a store.
pub trait Session {
    /// Why a transaction has no outcome.
    type Error: std::error::Error + From<ConsistencyError>;

    /// Runs `body` as one transaction: repeatedly while the store finds it in conflict with
    /// others, within the bounds that the session has for that. Commits or rolls back as the
    /// body's outcome says.
    ///
    /// # Errors
    /// When the store gave up, or the body returned an error that another try cannot mend. The
    /// transaction has changed nothing, unless the error says that its fate is unknown.
    fn transact<B: Body>(&mut self, body: &mut B) -> Result<Outcome<B::Output>, Self::Error>;
}

/// Direction of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Smallest key first.
    Ascending,
    /// Largest key first.
    Descending,
}

/// What can be done inside one transaction.
///
/// Keys are the values of the primary key's columns in order. Any error ends the transaction:
/// the body returns it, and the session decides whether to try again.
pub trait Access {
    /// Why an operation failed.
    type Error: From<ConsistencyError>;

    /// A row as it is read.
    type Row<'r>: Row;

    /// A row as it is changed.
    type RowMut<'r>: RowMut;

    /// Reads the row of this key; `None` when there is none.
    fn get<T>(
        &mut self,
        table: TableId,
        key: &[i64],
        read: impl FnOnce(&Self::Row<'_>) -> T,
    ) -> Result<Option<T>, Self::Error>;

    /// Changes the row of this key, which is locked first and then read; `None` when there is
    /// none. The primary key stays as it is.
    fn update<T>(
        &mut self,
        table: TableId,
        key: &[i64],
        change: impl FnOnce(&mut Self::RowMut<'_>) -> T,
    ) -> Result<Option<T>, Self::Error>;

    /// Adds a row: a value for each column. `false`, and nothing done, when its key exists.
    fn insert(&mut self, table: TableId, row: &[Value<'_>]) -> Result<bool, Self::Error>;

    /// Removes the row of this key; `false` when there is none.
    fn delete(&mut self, table: TableId, key: &[i64]) -> Result<bool, Self::Error>;

    /// Visits rows in the order of their primary keys, until the visitor breaks. `from` and `to`
    /// are beginnings of keys, both included: a key counts when its first `from.len()` parts are
    /// not below `from` and its first `to.len()` parts not above `to`. Two empty slices are the
    /// whole table.
    fn scan(
        &mut self,
        table: TableId,
        from: &[i64],
        to: &[i64],
        order: Order,
        visit: impl FnMut(&Self::Row<'_>) -> ControlFlow<()>,
    ) -> Result<(), Self::Error>;

    /// Visits rows in the order of the secondary index number `index` of the table, until the
    /// visitor breaks: those whose first indexed columns equal `prefix`.
    fn scan_index(
        &mut self,
        table: TableId,
        index: usize,
        prefix: &[Value<'_>],
        order: Order,
        visit: impl FnMut(&Self::Row<'_>) -> ControlFlow<()>,
    ) -> Result<(), Self::Error>;
}

/// A row as it is read. Columns are numbers, as in [`TableDefinition::columns`].
///
/// # Panics
/// All methods but `is_null`: when the column is null or of another kind. Workloads know their
/// schema, so this is a fault of the program and not of its input.
pub trait Row {
    /// Whether the value is missing.
    fn is_null(&self, column: usize) -> bool;
    /// Of a [`ColumnKind::Int`].
    fn int(&self, column: usize) -> i64;
    /// Of a [`ColumnKind::Fixed`].
    fn fixed(&self, column: usize) -> &[u8];
    /// Of a [`ColumnKind::Text`].
    fn text(&self, column: usize) -> &str;

    /// The integer, unless null.
    fn int_or_null(&self, column: usize) -> Option<i64> {
        (!self.is_null(column)).then(|| self.int(column))
    }

    /// The value of a column of this kind, or null.
    fn value(&self, column: usize, kind: ColumnKind) -> Value<'_> {
        match kind {
            _ if self.is_null(column) => Value::Null,
            ColumnKind::Int => Value::Int(self.int(column)),
            ColumnKind::Fixed(_) => Value::Fixed(self.fixed(column)),
            ColumnKind::Text(_) => Value::Text(self.text(column)),
        }
    }
}

/// A row as it is changed. What is set is no longer null.
///
/// # Panics
/// As [`Row`]; also when the bytes are not as many as a fixed column has, when a text is too
/// long, or when the column belongs to the primary key.
pub trait RowMut: Row {
    /// Sets a [`ColumnKind::Int`].
    fn set_int(&mut self, column: usize, value: i64);
    /// Sets a [`ColumnKind::Fixed`].
    fn set_fixed(&mut self, column: usize, value: &[u8]);
    /// Sets a [`ColumnKind::Text`].
    fn set_text(&mut self, column: usize, value: &str);

    /// Adds to a [`ColumnKind::Int`] and returns the sum.
    fn add(&mut self, column: usize, change: i64) -> i64 {
        let sum = self.int(column) + change;
        self.set_int(column, sum);
        sum
    }
}
