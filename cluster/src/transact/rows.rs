// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rows that a transaction has fetched, and its changes of them.

use super::{Intent, Missing};
use crate::engine::{Access, Key};
use crate::near;

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
    was_present: bool,
    was_at: Place,
    present: bool,
    at: Place,
    changed: bool,
}

/// Where a value is among the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Place {
    start: u32,
    length: u32,
}

impl Place {
    fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start as usize..][..self.length as usize]
    }

    fn of_mut(self, bytes: &mut [u8]) -> &mut [u8] {
        &mut bytes[self.start as usize..][..self.length as usize]
    }
}

impl Row {
    /// Its change, if it has one. (A row that was made and deleted again has none; one that was deleted
    /// and made again has another value.)
    pub fn change(&self) -> Option<Change> {
        match (self.changed, self.was_present, self.present) {
            (false, ..) | (true, false, false) => None,
            (true, true, true) => Some(Change::Update),
            (true, false, true) => Some(Change::Insert),
            (true, true, false) => Some(Change::Delete),
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
    /// The values as they were fetched, to which [`Rows::reset`] goes back.
    fetched: Vec<u8>,
    /// The same with all changes, and behind them the values of new rows. Empty until there is a change.
    bytes: Vec<u8>,
    changed: bool,
}

impl Rows {
    /// No rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all, and keeps the memory.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.fetched.clear();
        self.bytes.clear();
        self.changed = false;
    }

    /// Undoes all changes, so that the logic may run once more.
    pub fn reset(&mut self) {
        if !self.changed {
            return;
        }
        self.bytes.clear();
        for row in &mut self.rows {
            (row.present, row.at, row.changed) = (row.was_present, row.was_at, false);
        }
        self.changed = false;
    }

    /// Takes a row as it was fetched: its header's version, and its value if there is a row. Of a key
    /// that is there already it takes the place: it was fetched again for another intent, and only what
    /// was found last counts. Undoes all changes, as they did not know of this row.
    pub fn fetched(&mut self, key: Key, intent: Intent, version: u64, value: Option<&[u8]>) {
        self.reset();
        let digest = super::digest(value);
        let (was_present, value) = (value.is_some(), value.unwrap_or_default());
        let was_at = Place { start: self.fetched.len() as u32, length: value.len() as u32 };
        self.fetched.extend_from_slice(value);
        let (present, at) = (was_present, was_at);
        let row =
            Row { key, intent, version, digest, was_present, was_at, present, at, changed: false };
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
        row.present.then(|| row.at.of(if self.changed { &self.bytes } else { &self.fetched }))
    }

    /// The value of `key` as it was fetched, without changes; `None` if it was not fetched, or there was
    /// no row. A declaration goes by it, as the logic may have run already.
    pub fn as_fetched(&self, key: Key) -> Option<&[u8]> {
        let row = self.rows.iter().find(|row| row.key == key)?;
        row.was_present.then(|| row.was_at.of(&self.fetched))
    }

    /// Fetches the rows, and where the next one will be.
    #[inline]
    pub(crate) fn fetch(&self) {
        near::fetch_start(&self.rows, 2);
        near::fetch(self.rows.as_ptr_range().end);
        near::fetch(self.fetched.as_ptr());
        near::fetch(self.fetched.as_ptr_range().end);
    }

    /// The rows that have a change, with it.
    pub fn changes(&self) -> impl Iterator<Item = (&Row, Change)> {
        self.rows.iter().filter_map(|row| Some((row, row.change()?)))
    }

    /// What a driver is told when the transaction may commit: each row as it was read, and each change
    /// with the version that its header will have.
    pub fn accesses(&self) -> impl Iterator<Item = Access> {
        let writes = self.changes().map(|(row, _)| Access {
            key: row.key,
            version: row.version + 1,
            digest: super::digest(self.value_of(row)),
            writes: true,
        });
        self.reads().chain(writes)
    }

    /// What a driver is told when the transaction has changed nothing: each row as it was read.
    pub fn reads(&self) -> impl Iterator<Item = Access> {
        self.rows.iter().map(|row| {
            let Row { key, version, digest, .. } = *row;
            Access { key, version, digest, writes: false }
        })
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
        let row = writable(&mut self.rows, key)?;
        if !row.present {
            return Ok(None);
        }
        begin_change(&mut self.changed, &self.fetched, &mut self.bytes);
        row.changed = true;
        Ok(Some(row.at.of_mut(&mut self.bytes)))
    }

    /// Makes a row of this value; `false`, and nothing done, if there is one.
    ///
    /// # Errors
    /// When the key was not fetched to be written.
    pub fn insert(&mut self, key: Key, value: &[u8]) -> Result<bool, Missing> {
        self.insert_with(key, |bytes| bytes.extend_from_slice(value))
    }

    /// Makes a row of the value that `write` appends; `false`, and nothing done, if there is one.
    ///
    /// # Errors
    /// When the key was not fetched to be written.
    pub fn insert_with(
        &mut self,
        key: Key,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Result<bool, Missing> {
        let row = writable(&mut self.rows, key)?;
        if row.present {
            return Ok(false);
        }
        begin_change(&mut self.changed, &self.fetched, &mut self.bytes);
        let start = self.bytes.len();
        write(&mut self.bytes);
        row.at = Place { start: start as u32, length: (self.bytes.len() - start) as u32 };
        (row.present, row.changed) = (true, true);
        Ok(true)
    }

    /// Deletes the row; `false` if there is none.
    ///
    /// # Errors
    /// When the key was not fetched to be written.
    pub fn delete(&mut self, key: Key) -> Result<bool, Missing> {
        let row = writable(&mut self.rows, key)?;
        if !row.present {
            return Ok(false);
        }
        begin_change(&mut self.changed, &self.fetched, &mut self.bytes);
        (row.present, row.changed) = (false, true);
        Ok(true)
    }
}

/// The first change works on a copy: most transactions change nothing.
fn begin_change(changed: &mut bool, fetched: &[u8], bytes: &mut Vec<u8>) {
    if !*changed {
        *changed = true;
        bytes.extend_from_slice(fetched);
    }
}

fn writable(rows: &mut [Row], key: Key) -> Result<&mut Row, Missing> {
    let row = rows.iter_mut().find(|row| row.key == key && row.intent == Intent::Write);
    row.ok_or(Missing { key, intent: Intent::Write })
}

#[cfg(test)]
mod tests;
