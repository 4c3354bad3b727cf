//! The emptying of one page.

use super::super::database::Shared;
use super::super::error::{Error, Result};
use super::super::fault::Fault;
use super::super::layout::{RecordId, VersionHeader};
use super::super::memory::VersionRef;
use super::super::schema::RowRef;
use super::super::table::{Table, Which};
use super::{Unlinked, Vacuum, Vacuumed};
use crate::{Policy, Waiting};

/// How a version of the page stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// No snapshot sees it, now or later, and no walk along its chain gets to it.
    Dead,
    /// The newest version of a row.
    Newest,
    /// The newest version of a tuple, and all snapshots see that it is deleted.
    Deleted,
    /// A snapshot may need it where it is.
    Needed,
}

/// A page in the course of being emptied. Only vacuum makes pages free, so while it runs every
/// RecordID that it finds in a VID map leads to a version, and so does every predecessor above the
/// horizon.
struct Emptying<'s> {
    shared: &'s Shared,
    vacuum: &'s mut Vacuum,
    table: &'s Table,
    page: u64,
    horizon: u64,
    unlinked: &'s mut Unlinked,
    done: &'s mut Vacuumed,
}

/// Moves out of a sealed page what stays, and unlinks the page, unless somebody needs it.
pub(super) fn empty(
    shared: &Shared,
    vacuum: &mut Vacuum,
    page: u64,
    horizon: u64,
    unlinked: &mut Unlinked,
    done: &mut Vacuumed,
) -> Result<()> {
    shared.pages.ensure(page)?;
    let table = shared.table_by_id(shared.pages.region().table(page));
    // A row that is moved between a device's snapshot and its lock looks changed to the device.
    if table.is_invoked() && vacuum.is_patient(shared) {
        done.pages_spared += 1;
        return Ok(());
    }
    Emptying { shared, vacuum, table, page, horizon, unlinked, done }.run()
}

impl Emptying<'_> {
    fn run(&mut self) -> Result<()> {
        let (mut dead, mut others) = (0, 0);
        // First look, then touch: nothing is moved out of a page that has to stay.
        for record in self.records() {
            match self.standing(record)? {
                Standing::Dead => dead += 1,
                Standing::Newest | Standing::Deleted => others += 1,
                Standing::Needed => {
                    self.done.pages_pinned += 1;
                    return Ok(());
                }
            }
        }
        if others > 0 || self.has_indexes() {
            let mut emptied = true;
            for record in self.records() {
                emptied &= self.take_out(record)?;
            }
            if !emptied {
                self.done.pages_busy += 1;
                return Ok(());
            }
        }
        self.done.versions_removed += dead;
        self.done.pages_freed += 1;
        self.unlinked.pages.push(self.page);
        Ok(())
    }

    fn records(&self) -> impl Iterator<Item = RecordId> + use<> {
        let page = self.page;
        (0..self.shared.pages.region().lines(page)).map(move |line| RecordId::new(page, line as u8))
    }

    fn has_indexes(&self) -> bool {
        !self.table.schema().indexes().is_empty()
    }

    fn standing(&self, record: RecordId) -> Result<Standing> {
        let version = self.shared.pages.region().version(record);
        let successor = version.invalidated();
        if successor != 0 && successor <= self.horizon {
            return Ok(Standing::Dead);
        }
        let head = self.table.head(version.vid());
        if head == record {
            return Ok(match version.is_tombstone() {
                false => Standing::Newest,
                true if version.created() <= self.horizon => Standing::Deleted,
                true => Standing::Needed,
            });
        }
        let found = self.find_above_horizon(head, |at, _| at == record)?;
        Ok(if found { Standing::Needed } else { Standing::Dead })
    }

    /// Whether one of the versions that a snapshot may see, or may pass on its way to one, fits.
    fn find_above_horizon(
        &self,
        head: RecordId,
        fits: impl Fn(RecordId, VersionRef<'_>) -> bool,
    ) -> Result<bool> {
        let mut at = head;
        while !at.is_none() {
            let version = self.shared.pages.version(at)?;
            if fits(at, version) {
                return Ok(true);
            }
            if version.created() <= self.horizon {
                // All snapshots see this one or a newer one. What it leads to may be gone.
                break;
            }
            at = version.predecessor();
        }
        Ok(false)
    }

    /// Sees to it that nobody needs the record any more; says whether that is so.
    fn take_out(&mut self, record: RecordId) -> Result<bool> {
        match self.standing(record)? {
            Standing::Dead => self.remove_entries(record),
            Standing::Newest => self.move_version(record),
            Standing::Deleted => self.remove_tuple(record),
            Standing::Needed => Ok(false),
        }
    }

    /// Puts a row's newest version elsewhere.
    fn move_version(&mut self, record: RecordId) -> Result<bool> {
        let shared = self.shared;
        let version = shared.pages.region().version(record);
        let size = (self.table.id, version.payload().len());
        let passed = |stamp| shared.pins.have_passed(stamp);
        match self.vacuum.open.provide(&shared.pages, passed, std::iter::once(size)) {
            Ok(()) => {}
            // Pages without any row to move give room all the same.
            Err(Error::Full { .. }) => return Ok(false),
            Err(error) => return Err(error),
        }
        let (vid, number) = (version.vid(), version.number());
        if !self.lock_row(vid, number) {
            return Ok(false);
        }
        let unchanged = self.table.head(vid) == record;
        if unchanged {
            if shared.faults.has(Fault::VacuumWithoutLock) {
                std::thread::yield_now();
            }
            let created = version.created();
            // Snapshots that need an older version are needed themselves: by the horizon.
            let above = created > self.horizon;
            let predecessor = if above { version.predecessor() } else { RecordId::NONE };
            let header = VersionHeader {
                created,
                invalidated: 0,
                predecessor: predecessor.word(),
                vid,
                version: number,
            };
            let (pages, payload) = (&shared.pages, version.payload());
            let placed = self.vacuum.open.append(pages, self.table.id, &header, payload, false);
            self.table.set_head(vid, placed);
            pages.note_dead(version);
            self.done.versions_moved += 1;
        }
        self.unlock_row();
        Ok(unchanged)
    }

    /// Removes a deleted tuple: its entries, then its place in the VID map.
    fn remove_tuple(&mut self, record: RecordId) -> Result<bool> {
        let version = self.shared.pages.region().version(record);
        let vid = version.vid();
        if !self.lock_row(vid, version.number()) {
            return Ok(false);
        }
        let unchanged = self.table.head(vid) == record;
        if unchanged {
            // A tombstone has the deleted row. The keys of older rows go with their versions.
            let row = RowRef::new(self.table.schema(), version.payload());
            let primary = self.table.entry(Which::Primary, vid, row);
            self.table.remove_entry(Which::Primary, &primary, vid);
            for index in (0..self.table.schema().indexes().len()).map(Which::Secondary) {
                self.remove_entry(index, vid, row);
            }
            self.table.set_head(vid, RecordId::NONE);
            self.unlinked.tuples.push((self.table.id, vid));
            self.done.tuples_removed += 1;
        }
        self.unlock_row();
        Ok(unchanged)
    }

    /// Removes the secondary entries of a dead version's keys that no other version has. Each entry
    /// is so the care of some version in a page that is not emptied yet.
    fn remove_entries(&mut self, record: RecordId) -> Result<bool> {
        if !self.has_indexes() {
            return Ok(true);
        }
        let version = self.shared.pages.region().version(record);
        let (vid, schema) = (version.vid(), self.table.schema());
        let row = RowRef::new(schema, version.payload());
        let head = self.table.head(vid);
        let newest = match head.is_none() {
            true => None,
            false => Some(self.shared.pages.version(head)?),
        };
        let has_key = |version: VersionRef<'_>, index: usize| {
            schema.secondary(index).is_same(row, RowRef::new(schema, version.payload()))
        };
        let count = schema.indexes().len();
        // Most updates change no key: the entry is the newest version's care. No lock is needed to
        // leave it.
        if (0..count).all(|index| newest.is_some_and(|newest| has_key(newest, index))) {
            return Ok(true);
        }
        // A writer of the row may count on an entry that it found: its lock keeps us away from then
        // until its version is there.
        if !self.lock_row(vid, newest.map_or(0, |newest| newest.number())) {
            return Ok(false);
        }
        let unchanged = self.table.head(vid) == head;
        let mut result = Ok(unchanged);
        for index in (0..count).filter(|_| unchanged) {
            match self.find_above_horizon(head, |_, version| has_key(version, index)) {
                Ok(true) => {}
                Ok(false) => self.remove_entry(Which::Secondary(index), vid, row),
                Err(error) => result = Err(error),
            }
        }
        self.unlock_row();
        result
    }

    fn remove_entry(&mut self, which: Which, vid: u32, row: RowRef<'_>) {
        let key = self.table.entry(which, vid, row);
        self.done.entries_removed += u64::from(self.table.remove_entry(which, &key, vid));
    }

    /// Takes a row's lock if it is free. With it, and the number still that of the row's newest
    /// version, no transaction is changing the row.
    fn lock_row(&mut self, vid: u32, number: u32) -> bool {
        if self.shared.faults.has(Fault::VacuumWithoutLock) {
            return true;
        }
        let waiting = Waiting { policy: Policy::NoWait, ..self.shared.options.waiting };
        let key = self.table.lock_key(vid, number);
        let Vacuum { locks, statistics, .. } = &mut *self.vacuum;
        locks.lock(&self.shared.locks, key, &waiting, statistics).is_ok()
    }

    fn unlock_row(&mut self) {
        let Vacuum { locks, statistics, .. } = &mut *self.vacuum;
        // A lock that a repair took away is nobody's concern any more.
        let _ = locks.release_to(0, &self.shared.locks, statistics);
    }
}
