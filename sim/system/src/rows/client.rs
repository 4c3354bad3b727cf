// SPDX-License-Identifier: MIT OR Apache-2.0
//! How one agent reads and writes rows.

use std::sync::Arc;

use lockdb::Session;
use locks::TupleKey;

use super::{BALANCE, OPTIONS, Protection, Rows, Version, WRITES};
use crate::RunError;

/// One agent's way to the rows.
#[derive(Debug)]
pub(crate) struct Client {
    rows: Arc<Rows>,
    session: Session,
    /// The rows that the present transaction has locked, as they were then, in that order.
    held: Vec<Held>,
    /// Its writes.
    written: Vec<Written>,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    row: u64,
    /// The lock that it was read under.
    key: TupleKey,
    version: Version,
}

/// One row's new version, committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub row: u64,
    /// The amount added to the balance, in cents.
    pub added: i64,
    /// A trace's lock was of an older version than the one that it was written onto.
    pub overtaken: bool,
}

impl Client {
    /// # Errors
    /// When there are as many as the store admits.
    pub fn new(rows: Arc<Rows>) -> Result<Self, RunError> {
        let session = rows.database.session()?;
        Ok(Self { rows, session, held: Vec::new(), written: Vec::new() })
    }

    /// The newest version of a row.
    ///
    /// # Errors
    /// When the store is full.
    pub fn newest(&mut self, row: u64) -> Result<Version, RunError> {
        let _alone = self.rows.alone();
        Ok(self.rows.newest(&mut self.session, row)?)
    }

    /// The lock of a row was granted, and this is the version that it protects.
    pub fn hold(&mut self, row: u64, key: TupleKey, version: Version) {
        match self.held.iter_mut().find(|held| held.row == row) {
            Some(held) => (held.key, held.version) = (key, version),
            None => self.held.push(Held { row, key, version }),
        }
    }

    /// A lock is given back before the commit: its row is not written.
    pub fn let_go(&mut self, key: TupleKey) {
        self.held.retain(|held| held.key != key);
    }

    /// The transaction writes nothing.
    pub fn forget(&mut self) {
        self.held.clear();
    }

    /// Whether the transaction has anything to write.
    pub fn has_work(&self) -> bool {
        !self.held.is_empty()
    }

    /// Writes and commits: moves `amount` cents from each second row that is held to the one before
    /// it, and pays them into the last one if their number is odd.
    ///
    /// # Errors
    /// When a row has a version other than the one that was locked, or the store is full.
    pub fn write(&mut self, amount: i64) -> Result<(), RunError> {
        let rows = self.rows.clone();
        let _alone = rows.alone();
        self.written.clear();
        for (place, held) in self.held.iter_mut().enumerate() {
            let added = if place % 2 == 1 { -amount } else { amount };
            let mut overtaken = false;
            if rows.protection == Protection::Trace {
                let newest = rows.newest(&mut self.session, held.row)?;
                overtaken = newest.number != held.version.number;
                held.version = newest;
            }
            self.written.push(Written { row: held.row, added, overtaken });
        }
        let mut transaction = self.session.begin(OPTIONS);
        for (held, written) in self.held.iter().zip(&self.written) {
            let Version { vid, number, balance, .. } = held.version;
            let update = transaction.update_locked(&rows.table, vid, number, |row| {
                let writes = row.as_row().int(WRITES);
                row.set_int(BALANCE, balance + written.added);
                row.set_int(WRITES, writes + 1);
                Ok(())
            });
            update.map_err(|error| RunError::Update { row: held.row, source: error.into() })?;
        }
        transaction.commit()?;
        self.held.clear();
        Ok(())
    }

    /// The writes of the last transaction.
    pub fn written(&self) -> &[Written] {
        &self.written
    }
}

impl Rows {
    /// Waits until nobody else uses the store, where the locks do not see to it: not even vacuum,
    /// which a session does in passing, is kept off a row by a trace's lock.
    fn alone(&self) -> Option<parking_lot::MutexGuard<'_, ()>> {
        let needed = self.protection == Protection::Trace;
        needed.then(|| self.alone.lock())
    }
}
