// SPDX-License-Identifier: MIT OR Apache-2.0
//! Vacuum: reclaims the space of versions that no snapshot sees any more, while transactions
//! continue.
//!
//! It processes *sparse* pages, of which at most half is occupied by versions that stay. It moves
//! these elsewhere, each under its row's lock, removes all references to the others, and frees the
//! page. `docs/store-vacuum.md` argues why no reader misses a version.

mod chain;
mod page;

use std::collections::BTreeMap;
use std::sync::atomic::{Ordering, fence};

use super::database::Shared;
use super::error::Result;
use super::layout::RecordId;
use super::mutant::Mutant;
use super::pages::SMALL;
use super::session::OpenPages;
use super::table::Table;
use chain::Chain;
use locks::{HeldLocks, Statistics, Timestamp};
use page::Outcome;

/// The work of a vacuum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vacuumed {
    /// Pages that it has emptied.
    pub pages_freed: u64,
    /// Sparse pages that it could not empty: some snapshot still needs a version there.
    pub pages_pinned: u64,
    /// Sparse pages that it could not empty: a transaction had a row locked, or there was no room.
    pub pages_busy: u64,
    /// Sparse pages that it has left to a transaction that has a device at work on their table.
    pub pages_spared: u64,
    /// Dead versions in the emptied pages.
    pub versions_removed: u64,
    /// Versions that it has moved elsewhere.
    pub versions_moved: u64,
    /// Deleted tuples whose last trace is gone.
    pub tuples_removed: u64,
    /// Entries of secondary indexes that led to nothing but dead versions.
    pub entries_removed: u64,
    /// How often it has looked at a version, in its page or along a chain.
    pub versions_visited: u64,
}

/// What vacuum keeps between its steps. Vacuum and checkpoints hold the mutex around it.
#[derive(Debug)]
pub(crate) struct Vacuum {
    /// Where versions are moved to.
    open: OpenPages,
    /// At most one at a time, so that it causes no deadlock.
    locks: HeldLocks,
    statistics: Statistics,
    /// The sweep that is under way in passing.
    sweep: Option<Sweep>,
    /// The oldest snapshot of which it has left everything.
    horizon: u64,
    /// It spares tables for devices while fewer pages are in use.
    timeout: u64,
    /// When the horizon comes to this commit, one of the pages can be emptied that the last sweep had
    /// to keep because of a snapshot; [`u64::MAX`] when it kept none.
    chance: u64,
    /// The work limit left to the current step.
    effort: Effort,
    /// The page that was left off in the middle.
    begun: Option<Begun>,
    /// Those of the row that is dealt with; kept for its memory.
    dead: Vec<RecordId>,
}

/// A page of which some rows are dealt with.
#[derive(Clone, Copy, Debug)]
struct Begun {
    page: u64,
    rows: usize,
    /// Whether one of them was locked.
    busy: bool,
}

/// One walk over all pages.
#[derive(Debug)]
pub(crate) struct Sweep {
    /// The page to be looked at next.
    next: u64,
    end: u64,
    /// Pages that had been taken from the free ones when it began.
    taken_before: u64,
    /// And those that it has taken itself.
    taken: u64,
    /// As [`Vacuum::chance`], of the pages so far.
    chance: u64,
    /// Long chains, by table and VID. A tree, like that of a chain's keys: to grow and to shrink, a
    /// hash table would hold up a step for as long as all the others take.
    chains: BTreeMap<(u32, u32), Chain>,
    done: Vacuumed,
}

/// The remaining work limit of a step of a sweep, which ends early rather than delay waiting
/// threads.
#[derive(Debug, Default)]
struct Effort {
    left: u64,
    visited: u64,
}

/// Pages and VIDs that can no longer be found, but may have been found before.
#[derive(Debug, Default)]
struct Unlinked {
    pages: Vec<u64>,
    /// Tables and VIDs.
    tuples: Vec<(u32, u32)>,
}

/// Pages that are checked in one step, during which no other vacuum or checkpoint runs.
const STEP: u64 = 256;

/// What a step may do, in looks at a version: some hundreds of microseconds.
const EFFORT: u64 = 1 << 13;

impl Effort {
    /// Of moving a version, and of taking an entry out of an index, lock included.
    const CHANGE: u64 = 16;
    /// Of leaving the processor to others: so a step does it a few times at the most.
    const YIELD: u64 = EFFORT / 8;
    /// Of a page that has to be read from storage.
    const READ: u64 = 256;

    fn is_spent(&self) -> bool {
        self.left == 0
    }

    fn spend(&mut self, looks: u64) {
        self.left = self.left.saturating_sub(looks);
    }

    /// One look at a version.
    fn visit(&mut self) {
        self.visited += 1;
        self.spend(1);
    }
}

impl Vacuum {
    /// `horizon` is the oldest snapshot that can be read.
    pub(crate) fn new(horizon: u64) -> Self {
        Self {
            horizon,
            timeout: 2 * SMALL,
            chance: u64::MAX,
            effort: Effort::default(),
            begun: None,
            dead: Vec::new(),
            open: OpenPages::default(),
            // Renamed before the first lock.
            locks: HeldLocks::new(Timestamp::MAX),
            statistics: Statistics::default(),
            sweep: None,
        }
    }

    /// Whether there is so much room that tables can be spared that devices are at work on.
    fn may_wait(&self, shared: &Shared) -> bool {
        shared.pages.in_use() < self.timeout && !shared.mutants.has(Mutant::NearDataVacuumed)
    }

    /// Whether a page that was kept because of a snapshot can be emptied by now.
    pub(crate) fn is_hopeful(&self) -> bool {
        self.sweep.as_ref().map_or(self.chance, |sweep| self.chance.min(sweep.chance))
            <= self.horizon
    }

    /// Whether no sweep is under way.
    pub(crate) fn has_ended(&self) -> bool {
        self.sweep.is_none()
    }

    /// The oldest snapshot that all versions are there for.
    pub(crate) fn horizon(&self) -> u64 {
        self.horizon
    }
}

impl Sweep {
    fn begin(shared: &Shared) -> Self {
        let (end, taken_before) = (shared.pages.end(), shared.pages.taken());
        let (chance, chains) = (u64::MAX, BTreeMap::new());
        Self { next: 1, end, taken_before, taken: 0, chance, chains, done: Vacuumed::default() }
    }

    fn is_done(&self) -> bool {
        self.next >= self.end && self.chains.is_empty()
    }

    /// At the end: frees what it has learned, as far as the effort goes.
    fn forget(&mut self, effort: &mut Effort) {
        while !effort.is_spent()
            && let Some(mut chain) = self.chains.first_entry()
        {
            if chain.get_mut().forget(effort) {
                chain.remove();
            }
        }
    }
}

impl Shared {
    /// Processes all pages once.
    pub(crate) fn vacuum(&self) -> Result<Vacuumed> {
        let mut sweep = Sweep::begin(self);
        while !sweep.is_done() {
            self.sweep_on(&mut self.maintenance.lock(), &mut sweep, STEP)?;
        }
        self.end_sweep(&mut self.maintenance.lock(), &sweep);
        Ok(sweep.done)
    }

    /// Continues with the sweep that is under way, or with a new one: looks at `pages` pages, or at
    /// fewer when there is much to do in them; gives how many of them it has left out. What cannot be
    /// read stays as it is, for [`Shared::vacuum`] to tell of.
    pub(crate) fn vacuum_on(&self, vacuum: &mut Vacuum, pages: u64) -> u64 {
        let mut sweep = vacuum.sweep.take().unwrap_or_else(|| Sweep::begin(self));
        let before = sweep.next;
        let _ = self.sweep_on(vacuum, &mut sweep, pages);
        if sweep.is_done() {
            self.end_sweep(vacuum, &sweep);
            return 0;
        }
        let left = pages - (sweep.next - before);
        // What it has learned is to be forgotten yet.
        let left = if sweep.next >= sweep.end { left.max(1) } else { left };
        vacuum.sweep = Some(sweep);
        left
    }

    fn end_sweep(&self, vacuum: &mut Vacuum, sweep: &Sweep) {
        if sweep.done.pages_spared == 0 {
            vacuum.timeout = 2 * self.pages.in_use().max(SMALL);
        }
        let kept = sweep.done.pages_pinned + sweep.done.pages_busy + sweep.done.pages_spared;
        vacuum.chance = sweep.chance;
        self.pages.schedule_vacuum(sweep.taken_before + sweep.taken, kept);
    }

    fn sweep_on(&self, vacuum: &mut Vacuum, sweep: &mut Sweep, pages: u64) -> Result<()> {
        self.need_indexes()?;
        self.pins.meet_oldest();
        let horizon = match self.mutants.has(Mutant::VacuumIgnoresSnapshots) {
            false => self.pins.horizon(|| self.log.published()),
            true => self.log.published(),
        };
        // A session that is about to pin counts as older than all; its snapshot will not be. Below
        // the horizon of an earlier step predecessors may lead nowhere.
        let horizon = vacuum.horizon.max(horizon);
        vacuum.horizon = horizon;
        let name = Timestamp::of_attempt(self.draw_age(), 0);
        vacuum.locks.rename(name.expect("a store draws fewer than 2^40 ages"));
        let (mut unlinked, mut result) = (Unlinked::default(), Ok(()));
        let taken_before = vacuum.open.taken();
        let until = sweep.end.min(sweep.next + pages);
        vacuum.effort = Effort { left: EFFORT, visited: 0 };
        while sweep.next < until && result.is_ok() && !vacuum.effort.is_spent() {
            let page = sweep.next;
            let was_in_memory = self.pages.is_in_memory(page);
            let sparse = self.pages.is_sparse(page);
            if !was_in_memory && self.pages.is_in_memory(page) {
                vacuum.effort.spend(Effort::READ);
            }
            if sparse {
                match page::empty(self, vacuum, sweep, page, &mut unlinked) {
                    Ok(Outcome::Unfinished) => break,
                    Ok(outcome) => self.note(sweep, outcome, horizon),
                    Err(error) => result = Err(error),
                }
            }
            vacuum.begun = None;
            sweep.next += 1;
        }
        if sweep.next >= sweep.end {
            sweep.forget(&mut vacuum.effort);
        }
        sweep.done.versions_visited += vacuum.effort.visited;
        let taken = vacuum.open.taken() - taken_before;
        sweep.taken += taken;
        self.pages.forgive(taken);
        self.retire(&unlinked);
        self.locks.report(&std::mem::take(&mut vacuum.statistics));
        result
    }

    /// Counts the outcome of a sparse page.
    fn note(&self, sweep: &mut Sweep, outcome: Outcome, horizon: u64) {
        let done = &mut sweep.done;
        match outcome {
            Outcome::Emptied { dead } => {
                done.versions_removed += dead;
                done.pages_freed += 1;
            }
            Outcome::Pinned { until } => {
                done.pages_pinned += 1;
                sweep.chance = sweep.chance.min(until);
                self.pages.note_kept(horizon);
            }
            Outcome::Busy => done.pages_busy += 1,
            Outcome::Spared => done.pages_spared += 1,
            Outcome::Unfinished => unreachable!("its turn comes again"),
        }
    }

    /// Unlinked pages and VIDs are reused when all transactions that may have found them have
    /// ended.
    fn retire(&self, unlinked: &Unlinked) {
        let stamp = self.unlinking_stamp();
        for &page in &unlinked.pages {
            self.pages.retire(page, stamp);
        }
        for &(table, vid) in &unlinked.tuples {
            self.table_by_id(table).retire_vid(vid, stamp);
        }
        // Without it a transaction would be refused first.
        if !unlinked.pages.is_empty() && !self.pages.has_room(&self.pins) {
            self.let_snapshots_pass();
        }
    }

    /// While nobody can commit, nobody's pin becomes newer than the stamp of what was unlinked: so a
    /// void commit, for transactions that begin from now on.
    fn let_snapshots_pass(&self) {
        // If it fails, the next commit reports why.
        drop(self.log.begin(0));
    }

    /// A transaction was refused as something is used up: ensures that the next can have what was
    /// unlinked before, of pages or, if one is given, of a table's VIDs.
    #[cold]
    pub(crate) fn note_refusal(&self, table: Option<&Table>) {
        let published = self.log.published();
        if table.map_or(self.pages.await_commit(published), |table| table.await_commit(published)) {
            self.let_snapshots_pass();
        }
    }

    /// To be read after something was unlinked: a transaction that pins a newer snapshot than this
    /// does not find it.
    pub(crate) fn unlinking_stamp(&self) -> u64 {
        // Without it this thread could see a commit published before others see its unlinking; then
        // one of them could pin the next commit and still find what was unlinked.
        fence(Ordering::SeqCst);
        self.log.published()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::files::{Files, Memory};
    use super::super::layout::RecordId;
    use super::super::options::{Isolation, Options, TransactionOptions};
    use super::super::schema::{RowBuffer, Schema, Type};
    use super::super::{Database, Durability};

    const ROWS: i64 = 2_000;
    const UNSYNCED: TransactionOptions =
        TransactionOptions { isolation: Isolation::Snapshot, durability: Durability::None };

    /// Changes the rows that `chosen` chooses, or inserts them.
    fn put(store: &Database, n: i64, chosen: impl Fn(i64) -> bool) {
        let table = store.table("t").unwrap();
        let mut session = store.session().unwrap();
        for id in (0..ROWS).filter(|&id| chosen(id)) {
            let done = session.transaction(UNSYNCED, |transaction| {
                let found = transaction.update(&table, &id, |row| {
                    row.set_int(1, n);
                    Ok(())
                })?;
                match found {
                    Some(()) => Ok(()),
                    None => transaction.insert(&table, &[id.into(), n.into()]),
                }
            });
            done.unwrap();
        }
    }

    /// A device that changes a row leaves no hint in the version before, when that one is only on
    /// storage. Here no version has one.
    #[test]
    fn a_long_chain_without_hints_is_walked_once() {
        let store = Database::in_memory(Options::small()).unwrap();
        let schema = Schema::builder("t").column("id", Type::Int64).column("n", Type::Int64);
        let table = store.create_table(schema.primary_key(&["id"]).build().unwrap()).unwrap();
        put(&store, 0, |id| id == 0);
        let (versions, mut writer) = (20_000, store.session().unwrap());
        let mut write = |values: std::ops::Range<i64>| {
            for n in values {
                let mut transaction = writer.begin(UNSYNCED);
                let change = |row: &mut RowBuffer| {
                    row.set_int(1, n);
                    Ok(())
                };
                transaction.update(&table, &0, change).unwrap().unwrap();
                transaction.commit().unwrap();
            }
        };
        let shared = &store.shared;
        // No session vacuums in passing.
        let held = shared.maintenance.lock();
        write(0..versions / 2);
        let mut reader = store.session().unwrap();
        let mut old = reader.begin(Isolation::Snapshot);
        write(versions / 2..versions);
        drop((writer, held));
        for page in (1..shared.pages.end()).filter(|&page| shared.pages.is_sparse(page)) {
            for line in 0..shared.pages.region().lines(page) {
                shared.pages.region().version(RecordId::new(page, line as u8)).invalidate(0);
            }
        }
        let done = store.vacuum().unwrap();
        let bound = 4 * versions as u64 + 2_000;
        assert!(done.versions_visited <= bound && done.pages_freed > 0, "{done:?}");
        assert_eq!(old.get(&table, &0).unwrap().map(|row| row.int(1)), Some(versions / 2 - 1));
        drop(old);
        store.vacuum().unwrap();
        // But for the page that vacuum itself has open.
        assert!(store.pages_in_use() <= 1, "{} pages", store.pages_in_use());
    }

    /// The store's thread, which looks around now and then while a snapshot keeps all pages,
    /// continues without a pause when that snapshot has ended.
    #[test]
    fn the_end_of_a_snapshot_gives_hope() {
        let store = Database::in_memory(Options::small()).unwrap();
        let schema = Schema::builder("t").column("id", Type::Int64).column("n", Type::Int64);
        store.create_table(schema.primary_key(&["id"]).build().unwrap()).unwrap();
        put(&store, 0, |_| true);
        let mut reader = store.session().unwrap();
        let old = reader.begin(Isolation::Snapshot);
        put(&store, 1, |_| true);
        let done = store.vacuum().unwrap();
        assert!(done.pages_pinned > 0, "{done:?}");
        let mut vacuum = store.shared.maintenance.lock();
        assert!(!vacuum.is_hopeful());
        drop(old);
        store.shared.vacuum_on(&mut vacuum, 1);
        assert!(vacuum.is_hopeful());
    }

    /// In a store without files nobody would ever take them off; nor is a page noted twice that is used
    /// repeatedly between two checkpoints.
    #[test]
    fn pages_for_the_next_checkpoint_are_noted_once_if_there_is_one() {
        let files: Arc<dyn Files> = Arc::new(Memory::new());
        let in_files = Database::open_in(files, Options::small()).unwrap();
        for (store, noted) in
            [(Database::in_memory(Options::small()).unwrap(), false), (in_files, true)]
        {
            let schema = Schema::builder("t").column("id", Type::Int64).column("n", Type::Int64);
            store.create_table(schema.primary_key(&["id"]).build().unwrap()).unwrap();
            (0..20).for_each(|n| put(&store, n, |_| true));
            let pages = &store.shared.pages;
            assert!(pages.taken() > 2 * pages.end(), "pages were used again");
            let dirty = pages.take_dirty().len() as u64;
            assert!(dirty < pages.end() && (dirty > 0) == noted, "{dirty} of {}", pages.end());
        }
    }

    /// A session that is about to pin a snapshot looks as if it had the oldest of all; what vacuum
    /// has let go before is gone all the same.
    #[test]
    fn what_was_let_go_once_is_not_looked_for_again() {
        let files: Arc<dyn Files> = Arc::new(Memory::new());
        let store = Database::open_in(files.clone(), Options::small()).unwrap();
        let schema = Schema::builder("t").column("id", Type::Int64).column("n", Type::Int64);
        store.create_table(schema.primary_key(&["id"]).build().unwrap()).unwrap();
        put(&store, 0, |_| true);
        // Pages of some rows' middle versions are freed; their first versions stay where most others
        // are the newest.
        for n in 1..10 {
            put(&store, n, |id| id % 5 < 2);
            store.vacuum().unwrap();
        }
        store.close().unwrap();
        drop(store);
        let store = Database::open_in(files, Options::small()).unwrap();
        // The freed pages are used again, for a version each; then those first ones become sparse.
        (0..30).for_each(|n| put(&store, 10, |id| id == n * 5 + 2));
        put(&store, 10, |id| id % 5 >= 2);
        let shared = &store.shared;
        let slot = shared.pins.claim().unwrap();
        shared.pins.pin(slot, || {
            store.vacuum().unwrap();
            shared.log.published()
        });
        shared.pins.give_back(slot);
    }
}
