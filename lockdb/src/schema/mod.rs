// SPDX-License-Identifier: MIT OR Apache-2.0
//! Typed rows: columns, values, their bytes in a version, and keys for the indexes.
//!
//! A [`Schema`] says which columns a table has and where each lies in a row's payload. [`RowRef`]
//! reads a payload in place, [`RowBuffer`] makes and changes one, and [`Schema::check`] says
//! whether bytes of unknown origin are one. [`IndexKey`] is what the indexes sort by; callers give
//! keys as plain values through [`Key`].
//!
//! ```
//! use lockdb::schema::{RowBuffer, Schema, Type};
//!
//! let schema = Schema::builder("account")
//!     .column("id", Type::Int64)
//!     .column("balance", Type::Int64)
//!     .nullable_column("note", Type::Text)
//!     .primary_key(&["id"])
//!     .build()?;
//! let mut row = RowBuffer::from_values(&schema, &[7.into(), 100.into(), "opened today".into()])?;
//! row.set_int(1, 250);
//! assert_eq!(row.as_row().int(1), 250);
//! assert_eq!(row.as_row().text(2), "opened today");
//! assert_eq!(schema.primary().of_row(row.as_row()), schema.primary().key(&7)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod column;
mod csv;
mod encoding;
mod error;
mod index_key;
mod key;
mod layout;
mod row;
mod row_buffer;
#[cfg(test)]
mod tests;
mod value;

pub use column::{Column, Index, MAX_COLUMNS, MAX_NAME, Schema, SchemaBuilder, Type};
pub use csv::{CsvError, CsvRows, csv_header, csv_line};
pub use error::{KeyError, RowError, SchemaError};
pub use index_key::IndexKey;
pub use key::{Key, KeyColumns, KeyEncoder};
pub use layout::MAX_PAYLOAD;
pub use row::RowRef;
pub use row_buffer::RowBuffer;
pub use value::{Value, ValueRef};
