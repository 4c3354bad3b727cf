// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading single rows.

use std::ops::Bound;

use super::super::error::Result;
use super::super::options::Isolation;
use super::super::schema::{IndexKey, Key, RowRef};
use super::super::table::{Table, Which};
use super::reads::RangeRead;
use super::{LockWait, Transaction};

impl Transaction<'_> {
    /// The row of a primary key, as the transaction sees it.
    ///
    /// # Errors
    /// When the key does not fit the table, a page cannot be read, or the transaction has ended.
    #[inline]
    pub fn get<'a>(
        &'a mut self,
        table: &'a Table,
        key: &(impl Key + ?Sized),
    ) -> Result<Option<RowRef<'a>>> {
        self.operate_on(table)?;
        let key = table.schema().primary().key(key)?;
        match table.find(&key) {
            Some(vid) => {
                if self.isolation == Isolation::Serializable {
                    self.note_read(table, vid, key)?;
                }
                self.row(table, vid)
            }
            None => {
                self.note_absent(table, key);
                Ok(None)
            }
        }
    }

    /// The row of a primary key, locked until the end of the transaction: nobody else changes it
    /// meanwhile. At READ COMMITTED it is the row as it stands once the lock is got.
    ///
    /// # Errors
    /// As [`Transaction::get`]; a conflict when the lock is not granted, or (except at READ
    /// COMMITTED) the row was changed since the snapshot.
    pub fn get_for_update<'a>(
        &'a mut self,
        table: &'a Table,
        key: &(impl Key + ?Sized),
        wait: LockWait,
    ) -> Result<Option<RowRef<'a>>> {
        self.operate_on(table)?;
        let key = table.schema().primary().key(key)?;
        let Some(vid) = table.find(&key) else {
            self.note_absent(table, key);
            return Ok(None);
        };
        if self.isolation == Isolation::Serializable {
            self.note_read(table, vid, key)?;
        }
        match self.lock_visible(table, vid, wait)? {
            Some(_) => self.row(table, vid),
            None => Ok(None),
        }
    }

    /// The newest committed version of a tuple, whatever the snapshot, with its number: what a lock
    /// is asked for. `None` when there is none, or when it is a tombstone.
    ///
    /// # Errors
    /// When a page cannot be read, or the transaction has ended.
    pub fn newest_version<'a>(
        &'a mut self,
        table: &'a Table,
        vid: u32,
    ) -> Result<Option<(u32, RowRef<'a>)>> {
        self.operate_on(table)?;
        let head = table.head(vid);
        if head.is_none() {
            return Ok(None);
        }
        let version = self.session.shared.pages.version(head)?;
        let row = || RowRef::new(table.schema(), version.payload());
        Ok((!version.is_tombstone()).then(|| (version.number(), row())))
    }

    /// The row of a tuple: the transaction's own, else that of its snapshot.
    #[inline]
    pub(super) fn row<'a>(&'a self, table: &'a Table, vid: u32) -> Result<Option<RowRef<'a>>> {
        if let Some(write) = self.session.writes.find(table.id, vid) {
            let payload = self.session.writes.payload(write);
            return Ok((!write.tombstone).then(|| RowRef::new(table.schema(), payload)));
        }
        let version = self.session.shared.visible(table, vid, self.snapshot)?;
        Ok(version.map(|version| RowRef::new(table.schema(), version.payload())))
    }

    /// For validation: that a tuple's row is read, or that none is there.
    pub(super) fn note_read(&mut self, table: &Table, vid: u32, key: IndexKey) -> Result<()> {
        if self.session.writes.find(table.id, vid).is_some() {
            return Ok(());
        }
        match self.session.shared.visible(table, vid, self.snapshot)? {
            Some(_) => self.session.reads.note_row(table, vid),
            None => self.note_absent(table, key),
        }
        Ok(())
    }

    /// For validation: that a key has no row.
    pub(super) fn note_absent(&mut self, table: &Table, key: IndexKey) {
        if self.isolation == Isolation::Serializable {
            let (low, high) = (Bound::Included(key.clone()), Bound::Included(key));
            let (table, which) = (table.id, Which::Primary);
            self.session.reads.note_range(RangeRead { table, which, low, high }, 0);
        }
    }
}
