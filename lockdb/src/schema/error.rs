// SPDX-License-Identifier: MIT OR Apache-2.0
//! The errors of schemas, rows and keys.

use super::Type;

/// Why a schema was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// A name is empty or too long.
    #[error("table {table:?}: the {what} name {name:?} has {} bytes: expected 1 to {limit}", name.len())]
    Name {
        /// The table.
        table: String,
        /// The kind of name: a table, column or index.
        what: &'static str,
        /// The name.
        name: String,
        /// The most bytes that a name may have.
        limit: usize,
    },
    /// Two columns or two indexes have one name.
    #[error("table {table:?}: there are two {what} named {name:?}")]
    Duplicate {
        /// The table.
        table: String,
        /// The duplicated item.
        what: &'static str,
        /// Their name.
        name: String,
    },
    /// Too many columns or indexes, or none.
    #[error("table {table:?}: {found} {what}: expected {least} to {most}")]
    Count {
        /// The table.
        table: String,
        /// The counters.
        what: String,
        /// How many there are.
        found: usize,
        /// The fewest admitted.
        least: usize,
        /// The most admitted.
        most: usize,
    },
    /// A key names a column that the table does not have.
    #[error("table {table:?}: {key} names column {column:?}, which the table does not have")]
    NoSuchColumn {
        /// The table.
        table: String,
        /// The key: the primary key or an index.
        key: String,
        /// The column's name, or its number.
        column: String,
    },
    /// A key names a column twice.
    #[error("table {table:?}: {key} names column {column:?} twice")]
    RepeatedColumn {
        /// The table.
        table: String,
        /// The key.
        key: String,
        /// The column.
        column: String,
    },
    /// A column of the primary key admits nulls.
    #[error("table {table:?}: column {column:?} of the primary key must not admit nulls")]
    NullableKey {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// A column `Fixed(0)`, or longer than a row.
    #[error("table {table:?}: column {column:?} has {found} bytes: expected 1 to {most}")]
    FixedLength {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// The length asked for.
        found: usize,
        /// The most that fits in a row.
        most: usize,
    },
    /// A row would not fit in a page even if all variable columns were empty.
    #[error("table {table:?}: the shortest row has {found} bytes: expected at most {limit}")]
    TooLong {
        /// The table.
        table: String,
        /// The length of the shortest row.
        found: usize,
        /// The most that fits.
        limit: usize,
    },
    /// Bytes that should encode a schema do not.
    #[error("schema encoding, byte {offset}: found {found}, expected {expected}")]
    Encoding {
        /// Where in the bytes.
        offset: usize,
        /// What is there.
        found: String,
        /// The expected value there.
        expected: &'static str,
    },
}

/// Why a row was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// More or fewer values than columns.
    #[error("table {table:?}: {found} values given, expected one for each of {expected} columns")]
    ColumnCount {
        /// The table.
        table: String,
        /// How many values were given.
        found: usize,
        /// How many columns the table has.
        expected: usize,
    },
    /// The table has no such column.
    #[error("table {table:?}: no column {column}, expected one of {columns}")]
    NoSuchColumn {
        /// The table.
        table: String,
        /// The column's name or number as given.
        column: String,
        /// The columns that there are.
        columns: String,
    },
    /// A value of another type than the column's.
    #[error("table {table:?}, column {column:?}: found {found}, expected {expected}")]
    WrongType {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// The value as given, shortened if long.
        found: String,
        /// The column's type.
        expected: Type,
    },
    /// A null in a column that admits none.
    #[error("table {table:?}, column {column:?}: found a null, expected {expected}")]
    Null {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// The column's type.
        expected: Type,
    },
    /// A text longer than its `Fixed` column.
    #[error(
        "table {table:?}, column {column:?}: text {text} has {found} bytes, expected at most {limit}"
    )]
    TextTooLong {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// The text, shortened if long.
        text: String,
        /// Its length in bytes.
        found: usize,
        /// The column's length in bytes.
        limit: usize,
    },
    /// A text for a `Fixed` column that ends in a zero byte, which reading would take for padding.
    #[error(
        "table {table:?}, column {column:?}: text {text} ends in a zero byte, expected another end"
    )]
    TextEndsInZero {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// The text, shortened if long.
        text: String,
    },
    /// The row would not fit in a page.
    #[error("table {table:?}: the row has {found} bytes, expected at most {limit}")]
    TooLong {
        /// The table.
        table: String,
        /// The length of the row's payload in bytes.
        found: usize,
        /// The most that fits.
        limit: usize,
    },
    /// Bytes that should be a row of this table are not.
    #[error("table {table:?}, {place}: found {found}, expected {expected}")]
    Damaged {
        /// The table.
        table: String,
        /// Which part of the payload.
        place: String,
        /// What is there.
        found: String,
        /// The expected value there.
        expected: String,
    },
}

/// Why a key does not fit an index.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// A value of another type than the column's.
    #[error("table {table:?}, {index}, column {column:?}: found {found}, expected {expected}")]
    WrongType {
        /// The table.
        table: String,
        /// The primary key, or an index by its name.
        index: String,
        /// The column.
        column: String,
        /// The value as given, shortened if long.
        found: String,
        /// The values that the column allows.
        expected: String,
    },
    /// More or fewer values than the key has columns.
    #[error("table {table:?}, {index}: found {found} values, expected {expected} ({columns})")]
    ColumnCount {
        /// The table.
        table: String,
        /// The primary key, or an index by its name.
        index: String,
        /// How many values were given.
        found: usize,
        /// How many there should be.
        expected: String,
        /// The key's columns with their types.
        columns: String,
    },
}
