// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changing rows: insert, update, delete.

use std::fmt;

use super::super::error::{Error, Result};
use super::super::layout::{LAST_VERSION, next_version};
use super::super::options::Isolation;
use super::super::schema::{IndexKey, Key, RowBuffer, RowRef, Value, ValueRef};
use super::super::table::{Table, Which};
use super::locking::LockedRow;
use super::write_set::MadeEntry;
use super::{LockWait, Transaction};

impl Transaction<'_> {
    /// Inserts a row, given by its columns' values.
    ///
    /// # Errors
    /// As [`Transaction::insert_row`], and when the values do not fit the table.
    pub fn insert(&mut self, table: &Table, values: &[Value]) -> Result<()> {
        let mut row = self.take_buffer(table);
        let result = row.fill(values).map_err(Error::from);
        let result = result.and_then(|()| self.insert_row(table, &row));
        self.session.row = Some(row);
        result
    }

    /// Inserts a row. Waits for a transaction that is inserting or deleting a row of the same key.
    ///
    /// # Errors
    /// [`Error::DuplicateKey`] when a row of its key exists: the transaction continues without it.
    /// A conflict, or the other errors of [`Transaction::get`].
    pub fn insert_row(&mut self, table: &Table, row: &RowBuffer) -> Result<()> {
        self.change(table)?;
        Self::check_schema(table, row)?;
        let row = RowRef::new(table.schema(), row.as_row().payload());
        let key = table.schema().primary().of_row(row);
        let (vid, locked) = self.lock_key(table, &key)?;
        let exists = match self.session.writes.find(table.id, vid) {
            Some(own) => !own.tombstone,
            None => locked.exists,
        };
        if exists {
            return Err(Self::duplicate(table, KeyText(row)));
        }
        let tuple = (table.id, vid, Self::next_number(table, vid, locked)?);
        for index in 0..table.schema().indexes().len() {
            self.make_entry(table, Which::Secondary(index), vid, row);
        }
        self.session.writes.push(tuple, locked.head, row.payload(), false);
        Ok(())
    }

    /// The beginning of each change of a table.
    #[inline]
    fn change(&mut self, table: &Table) -> Result<()> {
        self.session.shared.check_writable("changes")?;
        self.operate_on(table)
    }

    /// The tuple of a key, made when there is none, and its lock.
    fn lock_key(&mut self, table: &Table, key: &IndexKey) -> Result<(u32, LockedRow)> {
        loop {
            let Some(vid) = table.find(key) else {
                match self.make_tuple(table, key)? {
                    Some(made) => return Ok(made),
                    None => continue,
                }
            };
            if let Some(own) = self.session.writes.find(table.id, vid) {
                let (head, number) = (own.head, own.number - 1);
                return Ok((vid, LockedRow { head, number, exists: false }));
            }
            let held_before = self.session.locks.buckets().len();
            let locked = self.lock_row(table, vid, LockWait::Wait)?;
            let locked = locked.expect("only rows of callers that asked to skip are skipped");
            // The creator of the tuple may have rolled back while we waited, and removed it.
            if table.find(key) == Some(vid) {
                if self.isolation == Isolation::Serializable {
                    self.note_read(table, vid, key.clone())?;
                }
                return Ok((vid, locked));
            }
            self.unlock_last(held_before);
        }
    }

    /// A tuple without versions for a key, and its lock; `None` when another transaction was
    /// faster.
    ///
    /// It is locked before it can be found: otherwise another transaction could put a version
    /// there, and we take its index entry away with our own rollback.
    fn make_tuple(&mut self, table: &Table, key: &IndexKey) -> Result<Option<(u32, LockedRow)>> {
        let shared = &self.session.shared;
        let vid = table.allocate_vid(&shared.pins);
        let vid = vid.inspect_err(|_| shared.note_refusal(Some(table)))?;
        let held_before = self.session.locks.buckets().len();
        let locked = match self.lock_row(table, vid, LockWait::Wait) {
            Ok(locked) => locked.expect("only rows of callers that asked to skip are skipped"),
            // Another row's lock, in the same bucket, was in the way.
            Err(error) => {
                table.retire_vid(vid, self.session.shared.log.published());
                return Err(error);
            }
        };
        if !table.enter(Which::Primary, key.clone(), vid) {
            self.unlock_last(held_before);
            table.retire_vid(vid, self.session.shared.log.published());
            return Ok(None);
        }
        self.note_absent(table, key.clone());
        let entry = MadeEntry { table: table.id, which: Which::Primary, key: key.clone(), vid };
        self.session.writes.note_entry(entry);
        Ok(Some((vid, locked)))
    }

    /// Changes a row: `change` gets it as it stands under its lock. Gives what `change` gives, or
    /// `None` when there is no row of the key.
    ///
    /// # Errors
    /// Those of `change`: the row stays as it was, and locked. [`Error::KeyChanged`]; a conflict, or
    /// the other errors of [`Transaction::get`].
    pub fn update<T>(
        &mut self,
        table: &Table,
        key: &(impl Key + ?Sized),
        change: impl FnOnce(&mut RowBuffer) -> Result<T>,
    ) -> Result<Option<T>> {
        self.change(table)?;
        let key = table.schema().primary().key(key)?;
        let Some((vid, locked)) = self.lock_target(table, key)? else { return Ok(None) };
        let mut row = self.take_buffer(table);
        let change = |row: &mut RowBuffer| change(row).map(Some);
        let changed = self.change_row(table, vid, locked, &mut row, change);
        self.session.row = Some(row);
        changed
    }

    /// Changes a row whose lock is held on the transaction's behalf, such as by a device. `number`
    /// is the version that is locked. Gives what `change` gives.
    ///
    /// The lock stands in the store's lock table until the commit returns. If it stands elsewhere,
    /// nobody may vacuum the store between this call and the commit: vacuum asks the store's own
    /// locks before it moves a version.
    ///
    /// # Errors
    /// [`Error::NotThatVersion`] when the row's newest version is another one, so that the lock
    /// protects nothing; the other errors of [`Transaction::update`].
    pub fn update_locked<T>(
        &mut self,
        table: &Table,
        vid: u32,
        number: u32,
        change: impl FnOnce(&mut RowBuffer) -> Result<T>,
    ) -> Result<T> {
        self.change(table)?;
        let locked = self.locked_elsewhere(table, vid, number)?;
        let mut row = self.take_buffer(table);
        let change = |row: &mut RowBuffer| change(row).map(Some);
        let changed = self.change_row(table, vid, locked, &mut row, change);
        self.session.row = Some(row);
        changed.map(|value| value.expect("it is always changed"))
    }

    /// Changes a row of which the transaction has the lock; `None` when `change` leaves it as it is.
    pub(crate) fn change_row<T>(
        &mut self,
        table: &Table,
        vid: u32,
        locked: LockedRow,
        row: &mut RowBuffer,
        change: impl FnOnce(&mut RowBuffer) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let schema = table.schema();
        let before = self.locked(table, vid, locked);
        row.copy_from(before);
        let Some(value) = change(row)? else { return Ok(None) };
        Self::check_schema(table, row)?;
        let after = row.as_row();
        if !schema.primary().is_same(before, after) {
            let table = table.name().into();
            let (from, to) = (KeyText(before).to_string(), KeyText(after).to_string());
            return Err(Error::KeyChanged { table, from, to });
        }
        let tuple = (table.id, vid, Self::next_number(table, vid, locked)?);
        let moved = |&index: &usize| !schema.secondary(index).is_same(before, after);
        let moved: Vec<usize> = (0..schema.indexes().len()).filter(moved).collect();
        for index in moved {
            self.make_entry(table, Which::Secondary(index), vid, after);
        }
        self.session.writes.push(tuple, locked.head, row.as_row().payload(), false);
        Ok(Some(value))
    }

    /// Deletes a row. Says whether there was one.
    ///
    /// # Errors
    /// A conflict, or the other errors of [`Transaction::get`].
    pub fn delete(&mut self, table: &Table, key: &(impl Key + ?Sized)) -> Result<bool> {
        self.change(table)?;
        let key = table.schema().primary().key(key)?;
        let Some((vid, locked)) = self.lock_target(table, key)? else { return Ok(false) };
        // A tombstone keeps the row, so that vacuum can tell which index entries lead to it.
        let mut row = self.take_buffer(table);
        row.copy_from(self.locked(table, vid, locked));
        let number = next_version(locked.number).unwrap_or(LAST_VERSION + 1);
        let tuple = (table.id, vid, number);
        self.session.writes.push(tuple, locked.head, row.as_row().payload(), true);
        self.session.row = Some(row);
        Ok(true)
    }

    /// The number of a row's new version.
    #[inline]
    fn next_number(table: &Table, vid: u32, locked: LockedRow) -> Result<u32> {
        let full = || Error::VersionsUsedUp { table: table.name().into(), vid };
        next_version(locked.number).ok_or_else(full)
    }

    /// Whether a row was made for this table, or for one just like it.
    #[inline]
    fn check_schema(table: &Table, row: &RowBuffer) -> Result<()> {
        if row.schema().is(table.schema()) || row.schema() == table.schema() {
            return Ok(());
        }
        let (table, of) = (table.name().into(), row.schema().name().into());
        Err(Error::RowOfOtherTable { table, of })
    }

    /// Finds and locks the row to be changed.
    fn lock_target(&mut self, table: &Table, key: IndexKey) -> Result<Option<(u32, LockedRow)>> {
        let Some(vid) = table.find(&key) else {
            self.note_absent(table, key);
            return Ok(None);
        };
        if self.isolation == Isolation::Serializable {
            self.note_read(table, vid, key)?;
        }
        let locked = self.lock_visible(table, vid, LockWait::Wait)?;
        Ok(locked.map(|locked| (vid, locked)))
    }

    /// Makes the entry of a row in an index, unless it is there: an older version may have the key.
    fn make_entry(&mut self, table: &Table, which: Which, vid: u32, row: RowRef<'_>) {
        let key = table.entry(which, vid, row);
        if table.enter(which, key.clone(), vid) {
            self.session.writes.note_entry(MadeEntry { table: table.id, which, key, vid });
        }
    }

    /// The session's row buffer, when it is one of this table, else a new one.
    pub(crate) fn take_buffer(&mut self, table: &Table) -> RowBuffer {
        let ours = |row: &RowBuffer| row.schema().is(table.schema());
        let kept = self.session.row.take().filter(ours);
        kept.unwrap_or_else(|| RowBuffer::new(table.schema()))
    }
}

/// The values of a row's primary key, for people.
struct KeyText<'a>(RowRef<'a>);

impl fmt::Display for KeyText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schema = self.0.schema();
        for (at, &column) in schema.primary_key().iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{} = ", schema.columns()[column].name)?;
            match self.0.get(column) {
                ValueRef::Int(value) => write!(f, "{value}")?,
                ValueRef::Float(value) => write!(f, "{value:?}")?,
                ValueRef::Bool(value) => write!(f, "{value}")?,
                ValueRef::Text(value) => write!(f, "{value:?}")?,
                other => write!(f, "{other}")?,
            }
        }
        Ok(())
    }
}
