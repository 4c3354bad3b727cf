// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an engine has to offer: snapshots to read from, and atomic, isolated transactions.

use std::path::Path;

use anyhow::{Result, anyhow};

use crate::Durability;

/// Bytes of a row's value: the balance, and as much beside it.
pub const VALUE_BYTES: usize = 16;

/// The value of a row.
pub type Value = [u8; VALUE_BYTES];

/// A key-value store with transactions.
pub trait Engine: Sized + Sync {
    /// Its name in the report.
    const NAME: &'static str;

    /// The release that was measured.
    fn version() -> String;

    /// A new, empty store in an empty folder.
    ///
    /// # Errors
    /// Those of the engine.
    fn open(folder: &Path, durability: Durability) -> Result<Self>;

    /// Does `work` on one snapshot.
    ///
    /// # Errors
    /// Those of the engine and of `work`.
    fn read(&self, work: &mut dyn FnMut(&dyn Reads) -> Result<()>) -> Result<()>;

    /// Does `work` in one transaction, at snapshot isolation or better, and ends it as `work`
    /// says. It is tried once: after a conflict the caller may try again.
    ///
    /// # Errors
    /// Those of the engine but for conflicts, and those of `work`, after which nothing is
    /// changed.
    fn write(&self, work: &mut dyn FnMut(&mut dyn Writes) -> Result<Verdict>) -> Result<Outcome>;
}

/// How a transaction is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All of it is to happen.
    Commit,
    /// Nothing of it is to happen.
    RollBack,
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All of it happened, as durably as was asked for.
    Committed,
    /// It was rolled back, as it was to be.
    RolledBack,
    /// It met another one, and nothing of it happened.
    Conflict,
}

/// Rows as one snapshot sees them.
pub trait Reads {
    /// The balance of a row.
    ///
    /// # Errors
    /// When there is no such row, and those of the engine.
    fn get(&self, row: u64) -> Result<i64>;
}

/// Rows as one transaction sees them.
pub trait Writes {
    /// The balance of a row, which the transaction means to change or rests on.
    ///
    /// # Errors
    /// When there is no such row, those of the engine, and conflicts as the engine tells them;
    /// hand them on.
    fn get(&mut self, row: u64) -> Result<i64>;

    /// Sets the balance of a row.
    ///
    /// # Errors
    /// Those of the engine, and conflicts as the engine tells them; hand them on.
    fn put(&mut self, row: u64, balance: i64) -> Result<()>;
}

/// The key of a row: big-endian, so that keys sort as rows do.
pub fn key(row: u64) -> [u8; 8] {
    row.to_be_bytes()
}

/// The value with this balance.
pub fn value(balance: i64) -> Value {
    let mut value = [0xA5; VALUE_BYTES];
    value[..8].copy_from_slice(&balance.to_le_bytes());
    value
}

/// The balance in what was found as the value of `row`.
///
/// # Errors
/// When there is no value, or one of another length.
pub fn balance(row: u64, value: Option<&[u8]>) -> Result<i64> {
    let value = value.ok_or_else(|| anyhow!("row {row} is not there"))?;
    let value: Value = value.try_into().map_err(|_| {
        anyhow!("row {row} has a value of {} bytes; expected {VALUE_BYTES}", value.len())
    })?;
    let (balance, _) = value.split_first_chunk().expect("a value is longer than a balance");
    Ok(i64::from_le_bytes(*balance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balances_come_back() {
        for sum in [i64::MIN, -1, 0, 1, i64::MAX] {
            assert_eq!(balance(7, Some(&value(sum))).expect("whole"), sum);
        }
        let short = balance(7, Some(&[0; 3])).expect_err("too short").to_string();
        assert_eq!(short, "row 7 has a value of 3 bytes; expected 16");
        assert_eq!(balance(7, None).expect_err("missing").to_string(), "row 7 is not there");
    }
}
