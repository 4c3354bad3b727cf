// SPDX-License-Identifier: MIT OR Apache-2.0
//! SERIALIZABLE: checks whether all reads of a transaction are still current when it has its place
//! in the order of commits.
//!
//! Later commits wait for a transaction with a place, so long work is done before. A transaction
//! with many reads validates them while others continue. Their commits in the meantime are recorded
//! for it (in a [`Watch`](super::super::watches::Watch)), and validated as well. Once it has its
//! place, it only has to check the last of these commits.

use std::cell::OnceCell;
use std::ops::Bound;

use super::super::database::Shared;
use super::super::error::{ConflictError, Result};
use super::super::layout::RecordId;
use super::super::log::Ticket;
use super::super::mutant::Mutant;
use super::super::schema::RowRef;
use super::super::watches::{Changed, Watch};
use super::WriteSet;
use super::reads::{ReadIndex, Reads};
use super::scan::is_empty;

/// Index entries that are fetched at once; so often it is checked what was committed meanwhile.
const BATCH: usize = 4096;
/// With so few changes left, looking at them with the place delays no commit.
const FEW: usize = 64;
/// Each round has the changes to look at that were made during the one before, so they become few.
const ROUNDS: usize = 16;
/// A transaction that has looked at little may find so many more index entries in its ranges.
const LITTLE_MORE: usize = 1024;

/// The validation of one transaction's reads.
#[derive(Debug)]
pub(crate) struct Validation<'a> {
    shared: &'a Shared,
    reads: &'a Reads,
    writes: &'a WriteSet,
    snapshot: u64,
    /// Once all was looked at ahead.
    ahead: Option<Ahead<'a>>,
}

/// What is needed to look at others' changes alone.
#[derive(Debug)]
struct Ahead<'a> {
    watch: Watch<'a>,
    /// Made for the first of them.
    index: OnceCell<ReadIndex<'a>>,
}

/// Why a look at all reads ended.
enum End {
    Changed(ConflictError),
    TooMany,
    Failed(super::super::Error),
}

impl From<super::super::Error> for End {
    fn from(error: super::super::Error) -> Self {
        End::Failed(error)
    }
}

impl<'a> Validation<'a> {
    pub(crate) fn new(
        shared: &'a Shared,
        reads: &'a Reads,
        writes: &'a WriteSet,
        snapshot: u64,
    ) -> Self {
        Self { shared, reads, writes, snapshot, ahead: None }
    }

    /// Before there is a place: looks at the reads if they are many. Gives what was changed of them.
    ///
    /// # Errors
    /// When a page cannot be read, or commits that are under way take too long.
    pub(crate) fn look_ahead(&mut self) -> Result<Option<ConflictError>> {
        match self.reads.looked_at() > self.shared.options.validated_in_place {
            true => self.look_ahead_at_all(),
            false => Ok(None),
        }
    }

    #[cold]
    fn look_ahead_at_all(&mut self) -> Result<Option<ConflictError>> {
        let shared = self.shared;
        let ahead =
            Ahead { watch: shared.watches.watch(self.reads.tables_read()), index: OnceCell::new() };
        // A commit that already has a place may not know of the watch. Once those are published,
        // their changes are seen by themselves.
        shared.await_published(shared.log.tail().commit)?;
        let meanwhile = || match self.look_at_changes(&ahead, u64::MAX)? {
            (_, Some(conflict)) => Err(End::Changed(conflict)),
            _ => Ok(()),
        };
        match self.look_at_all(usize::MAX, meanwhile) {
            Ok(()) => {}
            Err(End::Changed(conflict)) => return Ok(Some(conflict)),
            Err(End::Failed(error)) => return Err(error),
            Err(End::TooMany) => unreachable!("there is no limit"),
        }
        shared.mutants.pass_gate();
        for _ in 0..ROUNDS {
            match self.look_at_changes(&ahead, u64::MAX)? {
                (_, Some(conflict)) => return Ok(Some(conflict)),
                (..=FEW, None) => break,
                _ => {}
            }
        }
        self.ahead = Some(ahead);
        Ok(None)
    }

    /// The place in the order of commits, for a record with a body of `bytes`; or what was changed
    /// before it of what was read: then the place stays void.
    ///
    /// # Errors
    /// As [`Validation::look_ahead`], and those of [`Log::begin`](super::super::log::Log::begin).
    pub(crate) fn place(&mut self, bytes: usize) -> Result<Result<Ticket<'a>, ConflictError>> {
        loop {
            let ticket = self.shared.log.begin(bytes)?;
            self.shared.log.wait_for_predecessors(&ticket)?;
            if let Some(ahead) = &self.ahead {
                let (_, conflict) = self.look_at_changes(ahead, ticket.commit())?;
                return Ok(conflict.map_or(Ok(ticket), Err));
            }
            let most = self.shared.options.validated_in_place.saturating_add(LITTLE_MORE);
            match self.look_at_all(most, || Ok(())) {
                Ok(()) => return Ok(Ok(ticket)),
                Err(End::Changed(conflict)) => return Ok(Err(conflict)),
                Err(End::Failed(error)) => return Err(error),
                Err(End::TooMany) => drop(ticket),
            }
            if let Some(conflict) = self.look_ahead_at_all()? {
                return Ok(Err(conflict));
            }
        }
    }

    /// Looks at all that was read, or ends when that is more than `most`. All commits before its own,
    /// except for those on its watch, are published.
    fn look_at_all(
        &self,
        most: usize,
        mut meanwhile: impl FnMut() -> Result<(), End>,
    ) -> Result<(), End> {
        let Reads { rows, ranges, tables, .. } = self.reads;
        if self.shared.mutants.has(Mutant::ReadsNotValidated) {
            return Ok(());
        }
        let mut looks = 0;
        let mut look = |table: u32, vid: u32| {
            looks += 1;
            if looks > most {
                return Err(End::TooMany);
            }
            if looks % BATCH == 0 {
                meanwhile()?;
            }
            self.changed(table, vid)?.map_or(Ok(()), |conflict| Err(End::Changed(conflict)))
        };
        rows.iter().try_for_each(|row| look(row.table, row.vid))?;
        if self.shared.mutants.has(Mutant::RangesNotValidated) {
            return Ok(());
        }
        let mut vids = Vec::new();
        for range in ranges {
            let table = self.shared.table_by_id(range.table);
            let mut rest = (range.low.clone(), range.high.clone());
            while !is_empty(&rest) {
                vids.clear();
                let last = table.collect_vids(range.which, rest.clone(), BATCH, &mut vids);
                vids.iter().try_for_each(|&vid| look(range.table, vid))?;
                let Some(last) = last else { break };
                rest.0 = Bound::Excluded(last);
            }
        }
        for &table in tables {
            (0..self.shared.table_by_id(table).vids()).try_for_each(|vid| look(table, vid))?;
        }
        Ok(())
    }

    /// Whether a row that was read has been changed since the snapshot.
    fn changed(&self, table: u32, vid: u32) -> Result<Option<ConflictError>> {
        let (shared, snapshot) = (self.shared, self.snapshot);
        let table = shared.table_by_id(table);
        let head = table.head(vid);
        // What it has written itself was locked, and is unchanged since the snapshot.
        if head.is_none() || self.writes.find(table.id, vid).is_some() {
            return Ok(None);
        }
        if shared.pages.is_as_old_as(head.page(), snapshot) {
            return Ok(None);
        }
        let by = shared.pages.version(head)?.created();
        let table = table.name().to_owned();
        Ok((by > snapshot).then_some(ConflictError::Read { table, snapshot, by }))
    }

    /// Looks at what was noted down since the last time, of commits before `place`. Says how much
    /// that was, and which of it concerns what was read.
    fn look_at_changes(
        &self,
        ahead: &Ahead<'a>,
        place: u64,
    ) -> Result<(usize, Option<ConflictError>)> {
        let changes = ahead.watch.take();
        if self.shared.mutants.has(Mutant::ReadsNotValidated) {
            return Ok((changes.len(), None));
        }
        for change in changes.iter().filter(|change| change.commit < place) {
            let index = ahead.index.get_or_init(|| self.reads.index());
            if self.was_read(index, change)? {
                let table = self.shared.table_by_id(change.table).name().to_owned();
                let conflict =
                    ConflictError::Read { table, snapshot: self.snapshot, by: change.commit };
                return Ok((changes.len(), Some(conflict)));
            }
        }
        Ok((changes.len(), None))
    }

    /// Whether a row that was changed is one of those read, or is or was in a range that was read.
    fn was_read(&self, index: &ReadIndex<'_>, change: &Changed) -> Result<bool> {
        let &Changed { table, vid, before, now, .. } = change;
        if index.has_row(table, vid) {
            return Ok(true);
        }
        if self.shared.mutants.has(Mutant::RangesNotValidated) {
            return Ok(false);
        }
        if index.has_table(table) {
            return Ok(true);
        }
        let of = self.shared.table_by_id(table);
        for (which, ranges) in index.ranges_of(table) {
            let holds = |version: RecordId, shown: bool| -> Result<bool> {
                // Vacuum keeps what was there when the snapshot was pinned.
                let version = self.shared.pages.version(version)?;
                let row = RowRef::new(of.schema(), version.payload());
                let is_shown = version.created() <= self.snapshot;
                Ok((is_shown || !shown) && ranges.contain(&of.entry(which, vid, row)))
            };
            // A version between the snapshot's and this one is another commit's change.
            if holds(now, false)? || (!before.is_none() && holds(before, true)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
