// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operations of a transaction before it commits near-data updates.

use super::super::database::Shared;
use super::super::error::{Error, Result};
use super::super::layout::{RecordId, next_version};
use super::super::mutant::Mutant;
use super::super::options::Isolation;
use super::super::schema::RowBuffer;
use super::super::table::Table;
use super::super::transaction::Transaction;
use super::{AdoptError, Adopted, Invocation, NearData, NearDataError, PageReservation};
use locks::{Repaired, Timestamp};

impl Transaction<'_> {
    /// Hands a table to a device: for it to read, or, with [`Transaction::reserve_pages`], to change.
    ///
    /// Gives the transaction's locks their name, and collects the shared state; after a checkpoint,
    /// when a device has written pages since the last, or the area would be too large. At READ
    /// COMMITTED the transaction's snapshot becomes that of the invocation; at SERIALIZABLE the table
    /// counts as read. Until the transaction ends vacuum leaves the table as it is, unless it is long
    /// overdue, so that no version is moved between a device's snapshot and its lock: keep the
    /// transaction short.
    ///
    /// # Errors
    /// [`NearDataError::AlreadyWritten`], [`NearDataError::InUse`]; those of
    /// [`Transaction::shared_state`]. The store's indexes need not be there.
    pub fn near_data(&mut self, table: &Table) -> Result<Invocation> {
        self.reach_near(table)?;
        let name = || table.name().to_owned();
        if self.session.writes.has_table(table.id) {
            return Err(NearDataError::AlreadyWritten { table: name() }.into());
        }
        let near = self.near.as_deref();
        if near.is_some_and(|near| near.is_written(table.id)) {
            return Err(NearDataError::InUse { table: name() }.into());
        }
        let again = near.is_some_and(|near| near.table(table.id).is_some());
        self.name_locks()?;
        let shared = self.session.shared.clone();
        let shared_state = match again {
            true => shared.shared_state()?,
            false => shared.shared_state_with(|| table.begin_invocation())?,
        };
        let header = *shared_state.header();
        if self.isolation == Isolation::ReadCommitted {
            self.snapshot = header.snapshot;
        }
        assert!(
            (header.oldest..=header.snapshot).contains(&self.snapshot),
            "vacuum and a later commit leave a pinned snapshot: {} to {}, not {}",
            header.oldest,
            header.snapshot,
            self.snapshot
        );
        if self.isolation == Isolation::Serializable && !again {
            self.session.reads.note_table(table);
        }
        self.near.get_or_insert_default().invoke(table.id, self.snapshot);
        Ok(Invocation {
            shared_state,
            snapshot: self.snapshot,
            timestamp: self.session.locks.timestamp(),
            table: table.id,
            store: header.store,
            isolation: self.isolation,
            vids: table.vids(),
        })
    }

    /// The beginning of each operation here.
    fn reach_near(&self, table: &Table) -> Result<()> {
        self.reach(table)?;
        Ok(self.near.as_deref().map_or(Ok(()), NearData::check_usable)?)
    }

    /// Pages for a device to write versions of a table to. From now on the transaction itself neither
    /// reads nor writes the table, as it would not see the device's versions.
    ///
    /// They are this transaction's until it ends. Vacuum and checkpoints pass them over, and those
    /// that no version was adopted of are given back at its end.
    ///
    /// # Errors
    /// [`NearDataError::NotInvoked`]; [`Error::Full`] when there are not so many pages: none is
    /// reserved then.
    pub fn reserve_pages(&mut self, table: &Table, count: usize) -> Result<Vec<PageReservation>> {
        self.reach_near(table)?;
        self.session.shared.check_writable("changes")?;
        invoked(&mut self.near, table)?;
        if self.session.writes.has_table(table.id) && !self.writes_near(table) {
            return Err(NearDataError::AlreadyWritten { table: table.name().into() }.into());
        }
        let shared = &self.session.shared;
        let storage = shared.pages.storage().expect("its table was handed to a device");
        // Of the newest checkpoint at the first reservation: the finalization has one epoch for all
        // of them, and epochs only grow, so that it stays one that readers accept.
        let near = self.near.as_deref_mut().expect("it has tables");
        let epoch = *near.epoch.get_or_insert_with(|| storage.epoch());
        let pages = shared.pages.reserve(count, &shared.pins).inspect_err(|_| {
            self.session.open.asked += count as u64;
            shared.note_refusal(None);
            shared.pages.add_debt(count as u64);
        })?;
        near.works += 1;
        let near = near.table_mut(table.id).expect("it was found above");
        let reservations =
            pages.into_iter().map(|page| PageReservation { page, place: storage.allocate(epoch) });
        Ok(reservations.inspect(|&reservation| near.reserve(reservation, epoch)).collect())
    }

    /// Takes over versions that a device has made in reserved pages, with their locks. The commit
    /// publishes them.
    ///
    /// The locks stand in the store's lock table under [`Invocation::timestamp`], on the versions
    /// before; the transaction gives them back at its end. What is checked of a predecessor's header
    /// is checked when its page is in the host's memory: else the device has read it from the page
    /// that the host would read.
    ///
    /// # Errors
    /// [`NearDataError::NotInvoked`], and [`NearDataError::Adopt`] for the first row that is wrong.
    /// None is taken over then, nor any lock.
    pub fn adopt(&mut self, table: &Table, rows: &[Adopted]) -> Result<()> {
        self.reach_near(table)?;
        let (shared, timestamp) = (&*self.session.shared, self.session.locks.timestamp());
        let near = invoked(&mut self.near, table)?;
        let (before, vids) = (near.rows().len(), table.vids());
        for row in rows {
            let checked = match self.session.writes.find(table.id, row.vid) {
                Some(_) => Err(AdoptError::Twice),
                None => check(shared, table, vids, timestamp, near.snapshot, row),
            };
            if let Err(fault) = checked.and_then(|()| near.note(row)) {
                near.forget_rows(before);
                let (table, vid) = (table.name().into(), row.vid);
                return Err(NearDataError::Adopt { table, vid, fault }.into());
            }
        }
        self.note_work();
        for row in rows {
            self.take_over(table, row.vid, row.number - 1);
        }
        Ok(())
    }

    /// Takes over a lock that a device has got for a row that it has not changed, such as one that it
    /// leaves to the host: version `number` of `vid`. The transaction gives it back at its end.
    ///
    /// # Errors
    /// [`NearDataError::NotInvoked`]; [`AdoptError::NotLocked`] when the transaction does not hold it.
    pub fn adopt_lock(&mut self, table: &Table, vid: u32, number: u32) -> Result<()> {
        self.reach_near(table)?;
        invoked(&mut self.near, table)?;
        let (shared, timestamp) = (&*self.session.shared, self.session.locks.timestamp());
        check_locked(shared, table, timestamp, vid, number).map_err(|fault| {
            let table = table.name().into();
            NearDataError::Adopt { table, vid, fault }
        })?;
        self.take_over(table, vid, number);
        Ok(())
    }

    /// From now on no savepoint from before is gone back to.
    fn note_work(&mut self) {
        self.near.as_deref_mut().expect("a table was handed to a device").works += 1;
    }

    /// The transaction releases all locks in its name, whether host or device took them.
    fn take_over(&mut self, table: &Table, vid: u32, number: u32) {
        let shared = &self.session.shared;
        if shared.mutants.has(Mutant::NearDataLocksLeft) {
            return;
        }
        let bucket = shared.locks.bucket_of(table.lock_key(vid, number));
        let (held, near) = (&mut self.session.locks, self.near.as_deref_mut());
        let near = near.expect("a table was handed to a device");
        near.buckets.extend(&held.buckets()[near.known..]);
        if near.buckets.insert(bucket) {
            held.take_over(bucket);
        }
        near.known = held.buckets().len();
    }

    /// Changes a row that a device has left to the host, because its newest version is in the host's
    /// memory alone: locks that version, and gives it to `change`. `None` when there is no row any
    /// more, or `change` leaves it as it is.
    ///
    /// # Errors
    /// [`NearDataError::NotLeft`] except for READ COMMITTED, or when the device's own version of
    /// the row was adopted; those of [`Transaction::update`].
    pub fn update_left<T>(
        &mut self,
        table: &Table,
        vid: u32,
        change: impl FnOnce(&mut RowBuffer) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        self.reach_near(table)?;
        self.session.shared.need_indexes()?;
        let near = invoked(&mut self.near, table)?;
        if vid >= table.vids() {
            let (table, fault) = (table.name().into(), AdoptError::Vid { vids: table.vids() });
            return Err(NearDataError::Adopt { table, vid, fault }.into());
        }
        if self.isolation != Isolation::ReadCommitted || near.has_adopted(vid) {
            return Err(NearDataError::NotLeft { table: table.name().into(), vid }.into());
        }
        self.note_work();
        let Some(locked) = self.lock_latest(table, vid)? else { return Ok(None) };
        let mut row = self.take_buffer(table);
        let changed = self.change_row(table, vid, locked, &mut row, change);
        self.session.row = Some(row);
        changed
    }

    /// Ends the transaction without a change, and takes all that has its name out of the lock table:
    /// also what a device had taken that is cut off, and has told nobody. Does the latter when the
    /// transaction has ended already by a conflict, too.
    ///
    /// The caller guarantees that the device is fenced: none of its accesses, to the lock table or to
    /// reserved pages, is still on its way.
    ///
    /// # Errors
    /// [`Error::Ended`] when the transaction was committed.
    pub fn abandon_fenced(&mut self) -> Result<Repaired> {
        self.roll_back_unless_ended()?;
        if !self.named {
            return Ok(Repaired::default());
        }
        let name = self.session.locks.timestamp();
        Ok(self.session.shared.locks.repair(&[name]))
    }

    /// As [`Transaction::abandon_fenced`], of a device that could not be fenced: pages that it may
    /// still be writing stay out of use until the store is opened again, and locks that it takes
    /// from now on stay in the table until then.
    ///
    /// # Errors
    /// [`Error::Ended`] when the transaction was committed.
    pub fn abandon(&mut self) -> Result<()> {
        if let Some(near) = self.near.as_deref_mut() {
            near.abandon_reservations();
        }
        self.roll_back_unless_ended()
    }

    /// Gives back what the transaction has of near-data updates: reservations, except for `finalized`
    /// ones, and vacuum's timeout. Its locks are the caller's care.
    #[inline]
    pub(crate) fn leave_near_data(&mut self, finalized: &[u64]) {
        if let Some(near) = self.near.take() {
            self.leave(&near, finalized);
        }
    }

    #[cold]
    fn leave(&self, near: &NearData, finalized: &[u64]) {
        let shared = &self.session.shared;
        debug_assert!(finalized.is_sorted(), "for the search below");
        let unused =
            |reservation: &PageReservation| finalized.binary_search(&reservation.page).is_err();
        let unused: Vec<PageReservation> = near.reservations().filter(unused).collect();
        if !unused.is_empty() && !shared.mutants.has(Mutant::NearDataReservationsKept) {
            let storage = shared.pages.storage().expect("there are places on it");
            storage.give_back(unused.iter().map(|reservation| reservation.place));
            shared.pages.give_back(unused.iter().map(|reservation| reservation.page));
        }
        for near in near.tables() {
            shared.table_by_id(near.table).end_invocation();
        }
    }

    fn writes_near(&self, table: &Table) -> bool {
        self.near.as_deref().is_some_and(|near| near.is_written(table.id))
    }
}

/// The transaction's state of a table that was handed to a device.
fn invoked<'n>(
    near: &'n mut Option<Box<NearData>>,
    table: &Table,
) -> Result<&'n mut super::state::NearTable, Error> {
    let found = near.as_deref_mut().and_then(|near| near.table_mut(table.id));
    found.ok_or_else(|| NearDataError::NotInvoked { table: table.name().into() }.into())
}

/// All that can be said of a row without its reservations.
fn check(
    shared: &Shared,
    table: &Table,
    vids: u32,
    timestamp: Timestamp,
    snapshot: u64,
    row: &Adopted,
) -> Result<(), AdoptError> {
    if row.vid >= vids {
        return Err(AdoptError::Vid { vids });
    }
    let Some(number) = row.number.checked_sub(1).filter(|&number| number > 0) else {
        return Err(AdoptError::Number { found: row.number, expected: 2 });
    };
    next_version(number).ok_or(AdoptError::VersionsUsedUp)?;
    check_locked(shared, table, timestamp, row.vid, number)?;
    check_head(table, row)?;
    check_predecessor(shared, snapshot, row)
}

fn check_locked(
    shared: &Shared,
    table: &Table,
    expected: Timestamp,
    vid: u32,
    number: u32,
) -> Result<(), AdoptError> {
    let bucket = shared.locks.bucket_of(table.lock_key(vid, number));
    let holder = shared.locks.buckets()[bucket].head().holder();
    match holder == Some(expected) {
        true => Ok(()),
        false => Err(AdoptError::NotLocked { bucket, holder, expected }),
    }
}

/// The version before is still the newest.
pub(super) fn check_head(table: &Table, row: &Adopted) -> Result<(), AdoptError> {
    let (found, expected) = (row.predecessor, table.head(row.vid));
    match found == expected && expected != RecordId::NONE {
        true => Ok(()),
        false => Err(AdoptError::Head { found, expected }),
    }
}

/// The version before, if it is in memory.
fn check_predecessor(shared: &Shared, snapshot: u64, row: &Adopted) -> Result<(), AdoptError> {
    if !shared.pages.is_in_memory(row.predecessor.page()) {
        return Ok(());
    }
    let version = shared.pages.region().version(row.predecessor);
    let (created, found) = (version.created(), row.number);
    match next_version(version.number()) {
        Some(expected) if found == expected => {}
        Some(expected) => return Err(AdoptError::Number { found, expected }),
        None => return Err(AdoptError::VersionsUsedUp),
    }
    if created > snapshot || version.is_tombstone() {
        return Err(AdoptError::NotVisible { created, snapshot });
    }
    Ok(())
}
