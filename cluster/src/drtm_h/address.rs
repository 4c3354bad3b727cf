// SPDX-License-Identifier: MIT OR Apache-2.0
//! The addresses of a host's memory that one-sided verbs access.
//!
//! Rows of a cluster's tables are functions of their keys and have no place, so an address names its row. What is there:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | the lock: the attempt that holds it, or 0 |
//! | 8 | the version, with bit 63 set if there is a row |
//! | as the table says | the value |

use crate::engine::{Key, TableNumber};

/// Bytes of lock and version.
pub const HEADER: u32 = 16;
/// The bit of a version's word that says that there is a row.
pub const PRESENT: u64 = 1 << 63;
/// Addresses have room for so many tables.
pub const MOST_TABLES: usize = 16;

/// The bit of addresses of logs.
const LOG: u64 = 1 << 63;
/// Addresses of locks are multiples of 8, as atomics want them.
const ROW_SHIFT: u32 = 3;
const ROW_BITS: u32 = 56;

/// An address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// The lock of a row, and behind it its version and value.
    Lock(Key),
    /// The version of a row, and behind it its value.
    Version(Key),
    /// The log that a thread's peers write.
    Log {
        /// The thread.
        thread: u8,
    },
}

impl Address {
    /// Its number.
    ///
    /// # Panics
    /// When the key has more than 56 bits, or the table's number more than four.
    pub fn number(self) -> u64 {
        let row = |key: Key| {
            assert!(key.row >> ROW_BITS == 0, "row {:#x} has no address", key.row);
            assert!(usize::from(key.table.0) < MOST_TABLES, "table {} has none", key.table.0);
            u64::from(key.table.0) << (ROW_BITS + ROW_SHIFT) | key.row << ROW_SHIFT
        };
        match self {
            Self::Lock(key) => row(key),
            Self::Version(key) => row(key) | 1,
            Self::Log { thread } => LOG | u64::from(thread),
        }
    }

    /// The address of a number.
    pub fn of(number: u64) -> Self {
        let row = number >> ROW_SHIFT & ((1 << ROW_BITS) - 1);
        let key = Key { table: TableNumber((number >> (ROW_BITS + ROW_SHIFT)) as u8 & 15), row };
        match (number & LOG, number & 1) {
            (0, 0) => Self::Lock(key),
            (0, _) => Self::Version(key),
            _ => Self::Log { thread: number as u8 },
        }
    }
}

/// A version as its word.
pub fn version_word(version: u64, present: bool) -> u64 {
    version | if present { PRESENT } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_back() {
        for table in [0, 3, 15] {
            for row in [0, 1, 7, 1 << 40, (1 << 56) - 1] {
                let key = Key { table: TableNumber(table), row };
                let lock = Address::Lock(key);
                assert!(lock.number().is_multiple_of(8));
                assert_eq!(Address::of(lock.number()), lock);
                assert_eq!(Address::of(Address::Version(key).number()), Address::Version(key));
            }
        }
        let log = Address::Log { thread: 31 };
        assert_eq!(Address::of(log.number()), log);
    }
}
