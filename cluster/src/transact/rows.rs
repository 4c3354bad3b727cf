// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rows that a transaction has fetched, and its changes of them.

use super::{Intent, Missing};
use crate::engine::Key;

/// A change of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// Another value in its place.
    Update,
    /// A row where there was none.
    Insert,
    /// No row where there was one.
    Delete,
}

/// One row of a transaction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// Its key.
    pub key: Key,
    /// What it was fetched for.
    pub intent: Intent,
    /// The version of its header when it was fetched.
    pub version: u64,
    /// Its digest when it was fetched.
    pub digest: u64,
    /// Whether there is a row, changes included.
    present: bool,
    /// Whether there was one when it was fetched.
    was_present: bool,
    changed: bool,
    /// Its value among the bytes.
    start: u32,
    length: u32,
}

impl Row {
    /// Its change, if it has one. (A row that was made and deleted again has none.)
    pub fn change(&self) -> Option<Change> {
        match (self.was_present, self.present, self.changed) {
            (_, _, false) | (false, false, true) => None,
            (true, true, true) => Some(Change::Update),
            (false, true, true) => Some(Change::Insert),
            (true, false, true) => Some(Change::Delete),
        }
    }

    /// Whether there is a row, changes included.
    pub fn is_present(&self) -> bool {
        self.present
    }

    /// Whether there was a row when it was fetched.
    pub fn was_present(&self) -> bool {
        self.was_present
    }
}

/// The rows of one transaction, in the order in which they were fetched, each key once. Used again for
/// the next one, without new memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rows {
    rows: Vec<Row>,
    bytes: Vec<u8>,
    /// The bytes as they were fetched, for another run of the logic.
    fetched: Vec<u8>,
}

impl Rows {
    /// No rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all, and keeps the memory.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.bytes.clear();
        self.fetched.clear();
    }

    /// Takes a row as it was fetched: its header's version, and its value if there is a row. A key that
    /// is there already is replaced: it was fetched again for another intent.
    pub fn fetched(&mut self, key: Key, intent: Intent, version: u64, value: Option<&[u8]>) {
        let start = self.fetched.len() as u32;
        self.fetched.extend_from_slice(value.unwrap_or_default());
        self.bytes.truncate(start as usize);
        self.bytes.extend_from_slice(&self.fetched[self.bytes.len()..]);
        let (present, length) = (value.is_some(), self.fetched.len() as u32 - start);
        let row = Row {
            key,
            intent,
            version,
            digest: super::digest(value),
            present,
            was_present: present,
            changed: false,
            start,
            length,
        };
        match self.rows.iter_mut().find(|row| row.key == key) {
            Some(old) => *old = row,
            None => self.rows.push(row),
        }
    }

    /// All rows.
    pub fn all(&self) -> &[Row] {
        &self.rows
    }

    /// Whether `key` was fetched for `intent`, or for more than that.
    pub fn has(&self, key: Key, intent: Intent) -> bool {
        self.rows.iter().any(|row| row.key == key && row.intent >= intent)
    }

    /// The value of a row as it is now, or `None` if there is none.
    pub fn value_of(&self, row: &Row) -> Option<&[u8]> {
        row.present.then(|| &self.bytes[row.start as usize..(row.start + row.length) as usize])
    }

    /// Reads the row of `key`; `None` if there is none.
    ///
    /// # Errors
    /// When the key was not fetched.
    pub fn get(&self, key: Key) -> Result<Option<&[u8]>, Missing> {
        let row = self.rows.iter().find(|row| row.key == key);
        let row = row.ok_or(Missing { key, intent: Intent::Read })?;
        Ok(self.value_of(row))
    }

    /// The value of `key` to be changed in place; `None` if there is no row.
    ///
    /// # Errors
    /// When the key was not fetched to be written.
    pub fn get_mut(&mut self, key: Key) -> Result<Option<&mut [u8]>, Missing> {
        let row = Self::writable(&mut self.rows, key)?;
        if !row.present {
            return Ok(None);
        }
        row.changed = true;
        Ok(Some(&mut self.bytes[row.start as usize..(row.start + row.length) as usize]))
    }

    /// Makes a row of this value; `false`, and nothing done, if there is one.
    ///
    /// # Errors
    /// When the key was not fetched to be written.
    pub fn insert(&mut self, key: Key, value: &[u8]) -> Result<bool, Missing> {
        let row = Self::writable(&mut self.rows, key)?;
        if row.present {
            return Ok(false);
        }
        (row.present, row.changed) = (true, true);
        (row.start, row.length) = (self.bytes.len() as u32, value.len() as u32);
        self.bytes.extend_from_slice(value);
        Ok(true)
    }

    /// Deletes the row; `false` if there is none.
    ///
    /// # Errors
    /// When the key was not fetched to be written.
    pub fn delete(&mut self, key: Key) -> Result<bool, Missing> {
        let row = Self::writable(&mut self.rows, key)?;
        let was = std::mem::replace(&mut row.present, false);
        row.changed |= was;
        Ok(was)
    }

    fn writable(rows: &mut [Row], key: Key) -> Result<&mut Row, Missing> {
        let row = rows.iter_mut().find(|row| row.key == key && row.intent == Intent::Write);
        row.ok_or(Missing { key, intent: Intent::Write })
    }
}
