// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transactions: reads at a snapshot, private writes under row locks, and the commit that publishes
//! them.

pub(super) mod commit;
mod locking;
mod read;
mod reads;
mod scan;
mod validation;
mod write;
mod write_set;

use std::sync::Arc;

use super::database::Shared;
use super::error::{ConflictError, Ending, Error, Result};
use super::log::Durability;
use super::mutant::Mutant;
use super::near_data::{NearData, NearDataError};
use super::options::{Isolation, TransactionOptions};
use super::session::Session;
use super::table::{Table, Which};
use locks::{Timestamp, nesting};

pub use locking::LockWait;
pub use scan::Order;

pub(crate) use reads::Reads;
pub(super) use validation::Validation;
pub(crate) use write_set::WriteSet;

use write_set::{MadeEntry, Mark};

#[cfg(test)]
mod tests;

/// A running transaction. Dropped without a commit, it is rolled back. (Pages that a device could not
/// [finalize](Transaction::commit_finalizing) stay out of use then until the store is opened
/// again.) One that is [forgotten](std::mem::forget) is rolled back when its session begins the
/// next, or ends; what was reserved for a device stays out of use.
#[derive(Debug)]
pub struct Transaction<'s> {
    pub(super) session: &'s mut Session,
    pub(super) isolation: Isolation,
    durability: Durability,
    pub(super) snapshot: u64,
    state: State,
    /// What devices do for it.
    pub(super) near: Option<Box<NearData>>,
    /// Its place in the order of age, drawn when it first locks.
    age: Option<u64>,
    attempt: u32,
    /// Whether the session's locks are under this attempt's name.
    pub(super) named: bool,
    savepoints: Vec<SavedState>,
}

#[derive(Debug)]
enum State {
    Running,
    Ended(Ending),
    /// Ended by a conflict.
    Conflict(ConflictError),
}

/// A point in a transaction to which it can be rolled back; see [`Transaction::savepoint`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Savepoint(usize);

#[derive(Clone, Copy, Debug)]
struct SavedState {
    writes: Mark,
    locks: usize,
    /// What devices had done, if they were at work already.
    near: Option<u64>,
}

impl<'s> Transaction<'s> {
    pub(crate) fn begin(
        session: &'s mut Session,
        options: TransactionOptions,
        age: Option<u64>,
        attempt: u32,
    ) -> Self {
        Self::end_forgotten(session);
        session.in_transaction = true;
        session.maintain_in_passing();
        session.writes.clear();
        session.reads.clear();
        let shared = &session.shared;
        let snapshot = shared.pins.pin(session.pin, || shared.log.published());
        let TransactionOptions { isolation, durability } = options;
        Self {
            session,
            isolation,
            durability,
            snapshot,
            state: State::Running,
            near: None,
            age,
            attempt,
            named: false,
            savepoints: Vec::new(),
        }
    }

    /// Rolls back what a transaction has left that was neither ended nor dropped.
    #[inline]
    pub(crate) fn end_forgotten(session: &mut Session) {
        if session.in_transaction {
            Transaction::left_in(session).end(State::Ended(Ending::RolledBack));
        }
    }

    /// A transaction of a session as it was left. What devices did for it is forgotten.
    #[cold]
    fn left_in(session: &mut Session) -> Transaction<'_> {
        Transaction {
            session,
            isolation: Isolation::default(),
            durability: Durability::None,
            snapshot: 0,
            state: State::Running,
            near: None,
            age: None,
            attempt: 0,
            named: true,
            savepoints: Vec::new(),
        }
    }

    /// The commit up to which it sees everything; at READ COMMITTED that of its last operation.
    pub fn snapshot(&self) -> u64 {
        self.snapshot
    }

    /// How far it is kept apart from others.
    pub fn isolation(&self) -> Isolation {
        self.isolation
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.session.shared
    }

    pub(crate) fn age(&self) -> Option<u64> {
        self.age
    }

    /// The conflict that ended it, if one did.
    pub(crate) fn take_conflict(&mut self) -> Option<ConflictError> {
        match std::mem::replace(&mut self.state, State::Ended(Ending::Conflict)) {
            State::Conflict(conflict) => Some(conflict),
            other => {
                self.state = other;
                None
            }
        }
    }

    /// Remembers the present state, to come back to it with [`Transaction::rollback_to`].
    ///
    /// # Errors
    /// When the transaction has ended.
    pub fn savepoint(&mut self) -> Result<Savepoint> {
        self.check_running()?;
        let (writes, locks) = (self.session.writes.mark(), self.session.locks.buckets().len());
        let near = self.near_works();
        self.savepoints.push(SavedState { writes, locks, near });
        Ok(Savepoint(self.savepoints.len() - 1))
    }

    /// Undoes what was written since the savepoint, and gives back the locks taken since. The
    /// savepoint stays; those after it are gone. What was read stays read. Beside a
    /// [near-data update](Transaction::near_data) all locks stay to the end.
    ///
    /// # Errors
    /// When the savepoint is gone, or devices have done something since; when the transaction has
    /// ended.
    pub fn rollback_to(&mut self, savepoint: Savepoint) -> Result<()> {
        self.check_running()?;
        let savepoints = self.savepoints.len();
        let Some(&saved) = self.savepoints.get(savepoint.0) else {
            return Err(Error::Savepoint { savepoint: savepoint.0, savepoints });
        };
        if self.near.is_some() && self.near_works() != saved.near {
            return Err(NearDataError::Savepoint { savepoint: savepoint.0 }.into());
        }
        self.savepoints.truncate(savepoint.0 + 1);
        self.undo_to(saved);
        Ok(())
    }

    fn near_works(&self) -> Option<u64> {
        self.near.as_deref().map(|near| near.works)
    }

    /// Ends the transaction without a change.
    ///
    /// # Errors
    /// When it has ended already.
    pub fn rollback(&mut self) -> Result<()> {
        self.check_running()?;
        self.end(State::Ended(Ending::RolledBack));
        Ok(())
    }

    /// Ends it without a change, if no conflict has.
    pub(super) fn roll_back_unless_ended(&mut self) -> Result<()> {
        match self.state {
            State::Running => self.rollback(),
            State::Ended(Ending::Committed) => Err(Error::Ended { how: Ending::Committed }),
            State::Ended(_) | State::Conflict(_) => Ok(()),
        }
    }

    /// Refuses what comes after the end.
    pub(super) fn check_running(&self) -> Result<()> {
        match self.state {
            State::Running => Ok(()),
            State::Ended(how) => Err(Error::Ended { how }),
            State::Conflict(_) => Err(Error::Ended { how: Ending::Conflict }),
        }
    }

    /// The beginning of each operation on a table.
    #[inline]
    fn operate_on(&mut self, table: &Table) -> Result<()> {
        self.reach(table)?;
        self.session.shared.need_indexes()?;
        if let Some(near) = &self.near {
            near.check_untouched(table)?;
        }
        let shared = &self.session.shared;
        if self.isolation == Isolation::ReadCommitted
            || shared.mutants.has(Mutant::SnapshotTakenLate)
        {
            self.snapshot = shared.log.published();
        }
        Ok(())
    }

    /// The transaction runs, and the table is one of its store's.
    #[inline]
    pub(super) fn reach(&self, table: &Table) -> Result<()> {
        self.check_running()?;
        let shared = &self.session.shared;
        if table.store != shared.id {
            return Err(Error::ForeignTable { table: table.name().into() });
        }
        Ok(())
    }

    /// Ends the transaction because of a conflict: at once, so that they can continue.
    /// Returns when a new snapshot shows what they did: else it would meet the same conflict again.
    #[cold]
    pub(super) fn fail(&mut self, conflict: ConflictError) -> Error {
        self.end(State::Conflict(conflict.clone()));
        let seen = conflict.by().map_or(Ok(()), |by| self.session.shared.await_published(by));
        match seen {
            Ok(()) => Error::Conflict(conflict),
            Err(stalled) => {
                self.state = State::Ended(Ending::Conflict);
                stalled
            }
        }
    }

    /// Undoes everything that is not committed, and gives all locks back.
    fn end(&mut self, state: State) {
        debug_assert!(matches!(self.state, State::Running));
        self.leave_near_data(&[]);
        self.undo_to(SavedState { writes: Mark::default(), locks: 0, near: None });
        self.session.shared.pins.unpin(self.session.pin);
        self.session.in_transaction = false;
        self.state = state;
    }

    fn undo_to(&mut self, saved: SavedState) {
        if self.session.shared.mutants.has(Mutant::RolledBackWritesKept) && saved.locks > 0 {
            return;
        }
        let made = self.session.writes.undo_to(saved.writes);
        // Under the locks: nobody else makes an entry for these rows meanwhile.
        for entry in &made {
            self.take_back(entry);
        }
        self.release_to(saved.locks);
    }

    /// Gives back all locks but the first `count`; none as long as a device may count on them.
    fn release_to(&mut self, count: usize) {
        if self.near.is_some() {
            return;
        }
        let Session { shared, locks, statistics, .. } = &mut *self.session;
        // A lock that a repair took away no longer matters.
        let _ = locks.release_to(count, &shared.locks, statistics);
    }

    fn take_back(&self, entry: &MadeEntry) {
        let shared = &self.session.shared;
        let table = shared.table_by_id(entry.table);
        table.remove_entry(entry.which, &entry.key, entry.vid);
        if entry.which == Which::Primary {
            // The key was new, so was its VID.
            table.retire_vid(entry.vid, shared.unlinking_stamp());
        }
    }

    /// Puts the session's locks under this attempt's name, before the first of them is taken.
    #[inline]
    pub(super) fn name_locks(&mut self) -> Result<()> {
        if self.named { Ok(()) } else { self.draw_name() }
    }

    fn draw_name(&mut self) -> Result<()> {
        let tries = self.attempt as u8;
        if tries == 0 {
            // New, or so often refused that the number of the attempt starts again.
            self.age = None;
        }
        let shared = &self.session.shared;
        let age = *self.age.get_or_insert_with(|| shared.draw_age());
        let name = Timestamp::of_attempt(age, tries);
        let limit = (1 << 40) - 1;
        let name = name.ok_or(Error::full("transaction ages", limit))?;
        nesting::name(&shared.locks, self.session.pin, name);
        self.session.locks.rename(name);
        self.named = true;
        Ok(())
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if matches!(self.state, State::Running) {
            if let Some(near) = self.near.as_deref_mut().filter(|near| near.finalize_failed()) {
                // Nobody has said that the device is idle: it may be writing them.
                near.abandon_reservations();
            }
            self.end(State::Ended(Ending::RolledBack));
        }
    }
}
