// SPDX-License-Identifier: MIT OR Apache-2.0
//! The emptying of one page.

use std::collections::btree_map::Entry;

use super::super::database::Shared;
use super::super::error::{Error, Result};
use super::super::layout::{RecordId, VersionHeader};
use super::super::memory::VersionRef;
use super::super::mutant::Mutant;
use super::super::schema::{IndexKey, RowRef};
use super::super::table::{Table, Which};
use super::{Begun, Effort, Sweep, Unlinked, Vacuum};
use locks::{Policy, Waiting};

/// The outcome of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nobody finds it any more. It had so many dead versions.
    Emptied { dead: u64 },
    /// A snapshot needs one of its versions, until the horizon comes to this commit at least.
    Pinned { until: u64 },
    /// A transaction has one of its rows locked, or there was no room.
    Busy,
    /// A device is at work on its table.
    Spared,
    /// The step's effort is spent: it is to be looked at again in the next.
    Unfinished,
}

/// How a version of the page stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// No snapshot sees it, now or later, and no walk along its chain gets to it.
    Dead,
    /// The newest version of a row.
    Newest,
    /// The newest version of a tuple, and all snapshots see that it is deleted.
    Deleted,
    /// A snapshot may need it where it is, until the horizon comes to this commit at least.
    Needed { until: u64 },
    /// It is not the newest, and does not tell what has superseded it.
    Unknown,
}

/// A page in the course of being emptied. Only vacuum makes pages free, so while it runs every
/// RecordID that it finds in a VID map leads to a version, and so does every predecessor above the
/// horizon.
struct Emptying<'s> {
    shared: &'s Shared,
    vacuum: &'s mut Vacuum,
    sweep: &'s mut Sweep,
    table: &'s Table,
    page: u64,
    horizon: u64,
    unlinked: &'s mut Unlinked,
}

/// What was tried, of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Attempt {
    Done,
    /// A transaction was in the way, or there was no room.
    Busy,
    /// The step's effort is spent.
    Unfinished,
}

/// How often a row's lock is tried for: that of a row which is changed all the time is seldom free.
const TRIES: usize = 8;

/// Moves the staying versions out of a finalized page, and unlinks the page, unless it is needed.
pub(super) fn empty(
    shared: &Shared,
    vacuum: &mut Vacuum,
    sweep: &mut Sweep,
    page: u64,
    unlinked: &mut Unlinked,
) -> Result<Outcome> {
    shared.pages.ensure(page)?;
    let table = shared.table_by_id(shared.pages.region().table(page));
    // A row that is moved between a device's snapshot and its lock looks changed to the device.
    if table.is_invoked() && vacuum.may_wait(shared) {
        return Ok(Outcome::Spared);
    }
    let horizon = vacuum.horizon;
    Emptying { shared, vacuum, sweep, table, page, horizon, unlinked }.run()
}

impl<'s> Emptying<'s> {
    fn run(&mut self) -> Result<Outcome> {
        let (mut dead, mut others) = (0, 0);
        // First look, then touch: nothing is moved out of a page that has to stay.
        for record in self.records() {
            match self.standing(record) {
                Standing::Dead => dead += 1,
                Standing::Newest | Standing::Deleted => others += 1,
                Standing::Needed { until } => return Ok(Outcome::Pinned { until }),
                Standing::Unknown => match self.look_along_chain(record)? {
                    None => return Ok(Outcome::Unfinished),
                    Some(Standing::Needed { until }) => return Ok(Outcome::Pinned { until }),
                    Some(_) => dead += 1,
                },
            }
        }
        if others > 0 || self.has_indexes() {
            // Only vacuum makes pages free, so this is the page of which it has done them.
            let begun = self.vacuum.begun.filter(|begun| begun.page == self.page);
            let mut begun = begun.unwrap_or(Begun { page: self.page, rows: 0, busy: false });
            let versions = self.versions();
            let rows = versions.chunk_by(|(vid, _), (other, _)| vid == other);
            for row in rows.skip(begun.rows) {
                match self.take_out(row[0].0, row)? {
                    Attempt::Done => {}
                    Attempt::Busy => begun.busy = true,
                    Attempt::Unfinished => {
                        self.vacuum.begun = Some(begun);
                        return Ok(Outcome::Unfinished);
                    }
                }
                begun.rows += 1;
            }
            if begun.busy {
                return Ok(Outcome::Busy);
            }
        }
        self.unlinked.pages.push(self.page);
        Ok(Outcome::Emptied { dead })
    }

    fn records(&self) -> impl Iterator<Item = RecordId> + use<> {
        let page = self.page;
        (0..self.shared.pages.region().lines(page)).map(move |line| RecordId::new(page, line as u8))
    }

    /// The page's versions, by their VIDs when each row is to be dealt with once.
    fn versions(&self) -> Vec<(u32, RecordId)> {
        let region = self.shared.pages.region();
        let mut versions: Vec<_> =
            self.records().map(|record| (region.version(record).vid(), record)).collect();
        if self.has_indexes() {
            versions.sort_unstable_by_key(|&(vid, record)| (vid, record.word()));
        }
        versions
    }

    fn has_indexes(&self) -> bool {
        !self.table.schema().indexes().is_empty()
    }

    fn standing(&mut self, record: RecordId) -> Standing {
        self.vacuum.effort.visit();
        let version = self.shared.pages.region().version(record);
        let (created, superseded) = (version.created(), version.invalidated());
        if superseded != 0 {
            // One that was moved elsewhere is superseded by its copy, of the same commit.
            return match superseded <= self.horizon.max(created) {
                true => Standing::Dead,
                false => Standing::Needed { until: superseded },
            };
        }
        if self.table.head(version.vid()) == record {
            return match version.is_tombstone() {
                false => Standing::Newest,
                true if created <= self.horizon => Standing::Deleted,
                true => Standing::Needed { until: created },
            };
        }
        match created <= self.horizon {
            true => Standing::Unknown,
            // So is its successor, whose walk leads to it.
            false => Standing::Needed { until: created },
        }
    }

    /// Finds out how a version stands that is older than the horizon, and not the newest: a walk along
    /// the chain, if it gets to it, tells it. `None` when the effort is spent before.
    fn look_along_chain(&mut self, record: RecordId) -> Result<Option<Standing>> {
        let version = self.shared.pages.region().version(record);
        let vid = version.vid();
        let walked = self.walk_chain(vid)?.is_some();
        self.forget_short(vid);
        if !walked {
            return Ok(None);
        }
        if version.invalidated() == 0 {
            // No snapshot's walk gets to it. So it has a successor that is not newer than the horizon.
            version.invalidate(self.horizon);
        }
        Ok(Some(self.standing(record)))
    }

    /// Walks what a row's chain has had since it was walked last; gives its head, or `None` when the
    /// effort is spent.
    fn walk_chain(&mut self, vid: u32) -> Result<Option<RecordId>> {
        let chain = self.sweep.chains.entry((self.table.id, vid)).or_default();
        chain.walk(&self.shared.pages, (self.table, vid), self.horizon, &mut self.vacuum.effort)
    }

    fn forget_short(&mut self, vid: u32) {
        let chains = &mut self.sweep.chains;
        if let Entry::Occupied(chain) = chains.entry((self.table.id, vid))
            && !chain.get().is_worth_keeping()
        {
            chain.remove();
        }
    }

    /// Ensures that nobody needs these versions of a row any more.
    fn take_out(&mut self, vid: u32, versions: &[(u32, RecordId)]) -> Result<Attempt> {
        let mut dead = std::mem::take(&mut self.vacuum.dead);
        dead.clear();
        let mut done = true;
        for &(_, record) in versions {
            match self.standing(record) {
                Standing::Dead => dead.push(record),
                Standing::Newest => done &= self.move_version(record)?,
                Standing::Deleted => done &= self.remove_tuple(record),
                // Superseded since the first look.
                Standing::Needed { .. } | Standing::Unknown => done = false,
            }
        }
        let attempt = self.remove_entries(vid, &dead)?;
        self.vacuum.dead = dead;
        self.forget_short(vid);
        Ok(if done { attempt } else { attempt.max(Attempt::Busy) })
    }

    /// Puts a row's newest version elsewhere.
    fn move_version(&mut self, record: RecordId) -> Result<bool> {
        let shared = self.shared;
        self.vacuum.effort.spend(Effort::CHANGE);
        let version = shared.pages.region().version(record);
        let size = (self.table.id, version.payload().len());
        match self.vacuum.open.provide(&shared.pages, &shared.pins, std::iter::once(size)) {
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
            if shared.mutants.has(Mutant::VacuumWithoutLock) {
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
            version.invalidate(created);
            pages.note_dead(version);
            self.sweep.done.versions_moved += 1;
        }
        self.unlock_row();
        Ok(unchanged)
    }

    /// Removes a deleted tuple: its entries, then its place in the VID map.
    fn remove_tuple(&mut self, record: RecordId) -> bool {
        self.vacuum.effort.spend(Effort::CHANGE);
        let version = self.shared.pages.region().version(record);
        let vid = version.vid();
        if !self.lock_row(vid, version.number()) {
            return false;
        }
        let unchanged = self.table.head(vid) == record;
        if unchanged {
            // A tombstone has the deleted row. The keys of older rows go with their versions.
            let row = RowRef::new(self.table.schema(), version.payload());
            let primary = self.table.entry(Which::Primary, vid, row);
            self.table.remove_entry(Which::Primary, &primary, vid);
            for index in 0..self.table.schema().indexes().len() {
                let key = self.table.entry(Which::Secondary(index), vid, row);
                self.remove_entry(index, vid, &key);
            }
            self.table.set_head(vid, RecordId::NONE);
            self.unlinked.tuples.push((self.table.id, vid));
            self.sweep.done.tuples_removed += 1;
        }
        self.unlock_row();
        unchanged
    }

    /// Removes the secondary entries of dead versions' keys that no other version has. Each entry is
    /// so the care of some version in a page that is not emptied yet.
    fn remove_entries(&mut self, vid: u32, dead: &[RecordId]) -> Result<Attempt> {
        if !self.has_indexes() || dead.is_empty() {
            return Ok(Attempt::Done);
        }
        // Most updates change no key: the entry is the newest version's care. No lock is needed to
        // leave it.
        let newest = self.version(self.table.head(vid))?;
        if newest.is_some_and(|newest| dead.iter().all(|&dead| self.have_same_keys(newest, dead))) {
            return Ok(Attempt::Done);
        }
        for _ in 0..TRIES {
            let Some(head) = self.walk_chain(vid)? else { return Ok(Attempt::Unfinished) };
            let newest = self.version(head)?;
            // A writer of the row may count on an entry that it found: its lock keeps us away from
            // then until its version is there.
            self.vacuum.effort.spend(Effort::CHANGE);
            if !self.lock_row(vid, newest.map_or(0, |newest| newest.number())) {
                // The lock's holder may need our processor.
                if self.vacuum.effort.is_spent() {
                    break;
                }
                self.vacuum.effort.spend(Effort::YIELD);
                std::thread::yield_now();
                continue;
            }
            let unchanged = self.table.head(vid) == head;
            if unchanged {
                dead.iter().for_each(|&dead| self.remove_entries_of(vid, dead, newest));
            }
            self.unlock_row();
            if unchanged {
                return Ok(Attempt::Done);
            }
        }
        Ok(Attempt::Busy)
    }

    /// The version of a record, if it is one.
    fn version(&self, record: RecordId) -> Result<Option<VersionRef<'s>>> {
        let shared = self.shared;
        if record.is_none() { Ok(None) } else { shared.pages.version(record).map(Some) }
    }

    /// Whether a version has the same secondary keys as one of the page.
    fn have_same_keys(&self, version: VersionRef<'_>, record: RecordId) -> bool {
        let schema = self.table.schema();
        let row = RowRef::new(schema, self.shared.pages.region().version(record).payload());
        let other = RowRef::new(schema, version.payload());
        (0..schema.indexes().len()).all(|index| schema.secondary(index).is_same(row, other))
    }

    /// Removes the secondary entries of a dead version's keys that no other version has. The row is
    /// locked, and its chain is walked.
    fn remove_entries_of(&mut self, vid: u32, dead: RecordId, newest: Option<VersionRef<'_>>) {
        let (table, dead) = (self.table, self.shared.pages.region().version(dead));
        for index in 0..table.schema().indexes().len() {
            let key_of = |version: VersionRef<'_>| {
                let row = RowRef::new(table.schema(), version.payload());
                table.entry(Which::Secondary(index), vid, row)
            };
            let key = key_of(dead);
            let chain = &self.sweep.chains[&(table.id, vid)];
            if newest.is_none_or(|newest| key_of(newest) != key)
                && !chain.has_key(index, &key, self.horizon)
            {
                self.remove_entry(index, vid, &key);
            }
        }
    }

    fn remove_entry(&mut self, index: usize, vid: u32, key: &IndexKey) {
        self.vacuum.effort.spend(Effort::CHANGE);
        let removed = self.table.remove_entry(Which::Secondary(index), key, vid);
        self.sweep.done.entries_removed += u64::from(removed);
    }

    /// Takes a row's lock if it is free. With it, and the number still that of the row's newest
    /// version, no transaction is changing the row.
    fn lock_row(&mut self, vid: u32, number: u32) -> bool {
        if self.shared.mutants.has(Mutant::VacuumWithoutLock) {
            return true;
        }
        let waiting = Waiting { policy: Policy::NoWait, ..self.shared.options.waiting };
        let key = self.table.lock_key(vid, number);
        let Vacuum { locks, statistics, .. } = &mut *self.vacuum;
        locks.lock(&self.shared.locks, key, &waiting, statistics).is_ok()
    }

    fn unlock_row(&mut self) {
        let Vacuum { locks, statistics, .. } = &mut *self.vacuum;
        // A lock that a repair took away no longer matters.
        let _ = locks.release_to(0, &self.shared.locks, statistics);
    }
}
