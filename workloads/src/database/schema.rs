// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables as every store can have them: typed columns, a primary key of integers, secondary
//! indexes.

/// A table, as its place in [`Workload::tables`](super::Workload::tables).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId(pub usize);

/// The parts of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableDefinition {
    /// Its name, unique within the workload: lower case, letters and underscores.
    pub name: &'static str,
    /// Its columns, in the order of their numbers from 0.
    pub columns: &'static [Column],
    /// The first so many columns are the primary key. All of them are integers, not null.
    pub key_columns: usize,
    /// Its secondary indexes.
    pub indexes: &'static [IndexDefinition],
}

/// A secondary index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexDefinition {
    /// Its name, unique within the table.
    pub name: &'static str,
    /// Numbers of the indexed columns, none of them nullable. They contain the primary key, so
    /// that the order of the entries is total.
    pub columns: &'static [usize],
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, unique within the table.
    pub name: &'static str,
    /// What its values are.
    pub kind: ColumnKind,
    /// Whether a value may be missing.
    pub nullable: bool,
}

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// A signed integer of 64 bits.
    Int,
    /// Exactly so many bytes.
    Fixed(usize),
    /// Text of at most so many bytes.
    Text(usize),
}

/// One value, borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value<'v> {
    /// None.
    Null,
    /// Of a [`ColumnKind::Int`].
    Int(i64),
    /// Of a [`ColumnKind::Fixed`].
    Fixed(&'v [u8]),
    /// Of a [`ColumnKind::Text`].
    Text(&'v str),
}

impl Column {
    /// An integer.
    pub const fn int(name: &'static str) -> Self {
        Self { name, kind: ColumnKind::Int, nullable: false }
    }

    /// Exactly `bytes` bytes.
    pub const fn fixed(name: &'static str, bytes: usize) -> Self {
        Self { name, kind: ColumnKind::Fixed(bytes), nullable: false }
    }

    /// Text of at most `bytes` bytes.
    pub const fn text(name: &'static str, bytes: usize) -> Self {
        Self { name, kind: ColumnKind::Text(bytes), nullable: false }
    }

    /// The same, but values may be missing.
    pub const fn or_null(self) -> Self {
        Self { nullable: true, ..self }
    }

    /// Whether `value` may stand in this column.
    pub fn takes(&self, value: Value<'_>) -> bool {
        match (self.kind, value) {
            (_, Value::Null) => self.nullable,
            (ColumnKind::Int, Value::Int(_)) => true,
            (ColumnKind::Fixed(bytes), Value::Fixed(value)) => value.len() == bytes,
            (ColumnKind::Text(most), Value::Text(value)) => value.len() <= most,
            _ => false,
        }
    }
}

impl TableDefinition {
    /// The first column whose value does not fit, or the number of columns when the row has
    /// another length. `None` for a sound row.
    pub fn misfit(&self, row: &[Value<'_>]) -> Option<usize> {
        if row.len() != self.columns.len() {
            return Some(self.columns.len());
        }
        self.columns.iter().zip(row).position(|(column, value)| !column.takes(*value))
    }
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Value::Int(value)
    }
}

impl<'v> From<&'v str> for Value<'v> {
    fn from(value: &'v str) -> Self {
        Value::Text(value)
    }
}

impl<'v> From<&'v String> for Value<'v> {
    fn from(value: &'v String) -> Self {
        Value::Text(value)
    }
}

impl<'v, const N: usize> From<&'v [u8; N]> for Value<'v> {
    fn from(value: &'v [u8; N]) -> Self {
        Value::Fixed(value)
    }
}

impl<'v, T: Into<Value<'v>>> From<Option<T>> for Value<'v> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}
