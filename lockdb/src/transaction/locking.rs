// SPDX-License-Identifier: MIT OR Apache-2.0
//! Row locks: taken in the shared lock table, on the version that the row has.

use super::super::error::{ConflictError, Ending, Error, Result};
use super::super::layout::RecordId;
use super::super::mutant::Mutant;
use super::super::options::Isolation;
use super::super::schema::RowRef;
use super::super::session::Session;
use super::super::table::Table;
use super::{State, Transaction};
use locks::{LockError, Policy, Waiting};

/// What to do about a row that another transaction has locked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockWait {
    /// Wait, as the store's options say.
    #[default]
    Wait,
    /// Fail with a conflict.
    Fail,
    /// Pass the row over, as if it were not there.
    Skip,
}

/// A row whose lock the transaction has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LockedRow {
    /// The newest version.
    pub(super) head: RecordId,
    /// Its number; 0 when there is none.
    pub(super) number: u32,
    /// Whether the newest version is a row, and no tombstone.
    pub(super) exists: bool,
}

/// How the newest version of a tuple looks.
#[derive(Clone, Copy, Debug)]
struct Newest {
    row: LockedRow,
    created: u64,
}

impl Transaction<'_> {
    /// Takes the lock of a row: of its newest version, so again when that has moved on meanwhile
    /// (ccSLT paper, section 3: "continues and requests a lock for t_v2"). `None` when the row is
    /// skipped.
    pub(super) fn lock_row(
        &mut self,
        table: &Table,
        vid: u32,
        wait: LockWait,
    ) -> Result<Option<LockedRow>> {
        let newest = self.newest(table, vid)?;
        self.lock_newest(table, vid, newest, wait)
    }

    #[inline]
    fn lock_newest(
        &mut self,
        table: &Table,
        vid: u32,
        mut newest: Newest,
        wait: LockWait,
    ) -> Result<Option<LockedRow>> {
        // The lock of the previous version, kept until that of the newer one is granted: a
        // transaction that waited behind us for the one waits behind us for the other.
        let mut passed: Option<u32> = None;
        loop {
            // First updater wins: no use to wait for the lock.
            self.check_unchanged(table, vid, &newest)?;
            let number = newest.row.number;
            let taken = self.take_lock(table, vid, number, wait)?;
            let mut is_new = taken.unwrap_or(false);
            if let Some(old) = passed.take() {
                let locks = &self.session.shared.locks;
                let (before, now) = (table.lock_key(vid, old), table.lock_key(vid, number));
                if taken.is_some() && locks.bucket_of(before) == locks.bucket_of(now) {
                    is_new = true;
                } else {
                    self.unlock(table, vid, old);
                }
            }
            if taken.is_none() {
                return Ok(None);
            }
            if table.head(vid) == newest.row.head {
                break;
            }
            // A newer version, or the same one that vacuum has moved.
            let now = self.newest(table, vid)?;
            if now.row.number == newest.row.number {
                newest = now;
                break;
            }
            passed = is_new.then_some(number);
            newest = now;
        }
        if self.isolation == Isolation::ReadCommitted
            && !self.session.shared.mutants.has(Mutant::NoReadAfterWait)
        {
            // Under its lock the newest version is committed; see it published, and see it.
            self.session.shared.await_published(newest.created)?;
            self.snapshot = self.session.shared.log.published();
        }
        Ok(Some(newest.row))
    }

    /// A row whose version `number` was locked on our behalf.
    pub(super) fn locked_elsewhere(
        &mut self,
        table: &Table,
        vid: u32,
        number: u32,
    ) -> Result<LockedRow> {
        if let Some(own) = self.session.writes.find(table.id, vid) {
            let row = LockedRow { head: own.head, number: own.number - 1, exists: true };
            if row.number != number || own.tombstone {
                let (table, found) = (table.name().into(), own.number);
                return Err(Error::NotThatVersion { table, vid, locked: number, found });
            }
            return Ok(row);
        }
        let newest = self.newest(table, vid)?;
        if newest.row.number != number || !newest.row.exists {
            let (table, found) = (table.name().into(), newest.row.number);
            return Err(Error::NotThatVersion { table, vid, locked: number, found });
        }
        self.check_unchanged(table, vid, &newest)?;
        self.session.shared.await_published(newest.created)?;
        Ok(newest.row)
    }

    #[inline]
    fn newest(&self, table: &Table, vid: u32) -> Result<Newest> {
        let head = table.head(vid);
        if head.is_none() {
            let row = LockedRow { head, number: 0, exists: false };
            return Ok(Newest { row, created: 0 });
        }
        let version = self.session.shared.pages.version(head)?;
        let row = LockedRow { head, number: version.number(), exists: !version.is_tombstone() };
        Ok(Newest { row, created: version.created() })
    }

    #[inline]
    fn check_unchanged(&mut self, table: &Table, vid: u32, newest: &Newest) -> Result<()> {
        if self.isolation == Isolation::ReadCommitted
            || newest.created <= self.snapshot
            || self.session.shared.mutants.has(Mutant::WriteConflictIgnored)
        {
            return Ok(());
        }
        let (table, snapshot, by) = (table.name().into(), self.snapshot, newest.created);
        Err(self.fail(ConflictError::Write { table, vid, snapshot, by }))
    }

    /// The row that a lock was taken for, as it stands: the transaction's own write, or the newest
    /// version.
    #[inline]
    pub(crate) fn locked<'a>(
        &'a self,
        table: &'a Table,
        vid: u32,
        locked: LockedRow,
    ) -> RowRef<'a> {
        let payload = match self.session.writes.find(table.id, vid) {
            Some(own) => self.session.writes.payload(own),
            None => self.session.shared.pages.region().version(locked.head).payload(),
        };
        RowRef::new(table.schema(), payload)
    }

    /// Takes one lock; says whether its bucket is new to the transaction. `None` when it is passed
    /// over.
    pub(super) fn take_lock(
        &mut self,
        table: &Table,
        vid: u32,
        number: u32,
        wait: LockWait,
    ) -> Result<Option<bool>> {
        self.name_locks()?;
        let Session { shared, locks, statistics, .. } = &mut *self.session;
        if shared.mutants.has(Mutant::LockSkipped) {
            return Ok(Some(false));
        }
        let mut waiting = shared.options.waiting;
        if wait != LockWait::Wait {
            waiting = Waiting { policy: Policy::NoWait, ..waiting };
        }
        match locks.lock(&shared.locks, table.lock_key(vid, number), &waiting, statistics) {
            Ok(is_new) => Ok(Some(is_new)),
            Err(LockError::Busy { .. } | LockError::Nested { .. }) if wait == LockWait::Skip => {
                Ok(None)
            }
            Err(LockError::Nested { outer, .. }) => {
                self.end(State::Ended(Ending::Conflict));
                Err(Error::Nested { table: table.name().into(), vid, outer })
            }
            Err(source) => {
                let table = table.name().into();
                Err(self.fail(ConflictError::Lock { table, vid, source }))
            }
        }
    }

    /// Gives back the lock of a version that is not the newest any more.
    fn unlock(&mut self, table: &Table, vid: u32, number: u32) {
        if self.near.is_some() {
            return; // a device may count on its bucket
        }
        let Session { shared, locks, statistics, .. } = &mut *self.session;
        // A lock that a repair took away no longer matters.
        let _ = locks.unlock(&shared.locks, table.lock_key(vid, number), statistics);
    }

    /// Gives back the lock that was taken last, of a row that turned out to be of no use.
    pub(super) fn unlock_last(&mut self, held_before: usize) {
        self.release_to(held_before);
    }

    /// The lock of a row that the transaction sees, its own writes included; `None` when it sees
    /// none, or when the row is gone by the time of the lock.
    pub(super) fn lock_visible(
        &mut self,
        table: &Table,
        vid: u32,
        wait: LockWait,
    ) -> Result<Option<LockedRow>> {
        if let Some(write) = self.session.writes.find(table.id, vid) {
            let (head, number) = (write.head, write.number - 1);
            return Ok((!write.tombstone).then_some(LockedRow { head, number, exists: true }));
        }
        let newest = self.newest(table, vid)?;
        let sees = match newest.row.number > 0 && newest.created <= self.snapshot {
            true => newest.row.exists,
            false => self.session.shared.visible(table, vid, self.snapshot)?.is_some(),
        };
        if !sees {
            return Ok(None);
        }
        let locked = self.lock_newest(table, vid, newest, wait)?;
        Ok(locked.filter(|row| row.exists))
    }

    /// The lock of a row's newest version, whatever the snapshot; `None` when it has none.
    pub(crate) fn lock_latest(&mut self, table: &Table, vid: u32) -> Result<Option<LockedRow>> {
        if let Some(write) = self.session.writes.find(table.id, vid) {
            let (head, number) = (write.head, write.number - 1);
            return Ok((!write.tombstone).then_some(LockedRow { head, number, exists: true }));
        }
        let locked = self.lock_row(table, vid, LockWait::Wait)?;
        Ok(locked.filter(|row| row.exists))
    }

    /// The error of a row that is there already.
    #[cold]
    pub(super) fn duplicate(table: &Table, key: impl std::fmt::Display) -> Error {
        Error::DuplicateKey { table: table.name().into(), key: key.to_string() }
    }
}
