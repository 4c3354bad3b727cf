// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the cores of a NIC ask of its index, in their order, and what it answers: for hardware that stands beside
//! it in a run.

pub use nic::index::Operation;

use super::index::{Cached, Owner};
use crate::engine::Key;

/// A row, as an index with words for values knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its version.
    pub version: u32,
    /// The first eight bytes of its value, the first one lowest, and zeros behind a shorter one; `None` if there is
    /// no row.
    pub word: Option<u64>,
}

impl Row {
    /// The row with this value.
    pub fn of(row: Cached<'_>) -> Self {
        Self { version: row.version, word: row.value.map(word) }
    }
}

/// The first eight bytes of a value as a number.
pub fn word(value: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = value.len().min(8);
    bytes[..length].copy_from_slice(&value[..length]);
    u64::from_le_bytes(bytes)
}

/// What an index has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// A look-up: the row is cached, and nobody else has locked it.
    Row(Row),
    /// A look-up: the row has to be read from host memory.
    Miss,
    /// A look-up: another has locked the row.
    Locked,
    /// A look-up: there is no place for the lock.
    Full,
    /// Another operation: it is done.
    Done,
    /// Another operation: it cannot be done.
    Refused,
}

/// An operation of a core on the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The operation.
    pub operation: Operation,
    /// The key.
    pub key: Key,
    /// Who asks, where that matters.
    pub owner: Owner,
    /// What the row becomes, if it is changed.
    pub row: Option<Row>,
    /// The index's answer.
    pub answer: Answered,
}
