// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a table refuses. A refused operation has changed nothing.

use thiserror::Error;

/// An operation on a table that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TableError {
    /// An insertion of a key that is there.
    #[error("key {key} is in the table, expected one that is not")]
    KeyPresent {
        /// The key.
        key: u64,
    },
    /// An update or a deletion of a key that is not there.
    #[error("key {key} is not in the table, expected one that is")]
    UnknownKey {
        /// The key.
        key: u64,
    },
    /// No room for the object or for its value.
    #[error("no room for key {key}: no {wanted} {what} in a row are free, of {capacity}")]
    Full {
        /// The key.
        key: u64,
        /// What is full: "slots", "overflow slots" or "lines of the heap".
        what: &'static str,
        /// How many in a row were wanted.
        wanted: u32,
        /// How many there are.
        capacity: u32,
    },
    /// A value over the table's limit.
    #[error("the value has {length} bytes, expected at most {limit}")]
    ValueTooLong {
        /// Bytes of the value.
        length: usize,
        /// The limit in bytes.
        limit: usize,
    },
}

/// A table that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field} is {value}, expected {expected}")]
pub struct ShapeError {
    /// The field of the shape.
    pub field: &'static str,
    /// Its value.
    pub value: u64,
    /// What was expected.
    pub expected: &'static str,
}

/// An error unless `fits`.
pub(crate) fn check(
    fits: bool,
    field: &'static str,
    value: impl TryInto<u64>,
    expected: &'static str,
) -> Result<(), ShapeError> {
    let value = value.try_into().unwrap_or(u64::MAX);
    if fits { Ok(()) } else { Err(ShapeError { field, value, expected }) }
}
