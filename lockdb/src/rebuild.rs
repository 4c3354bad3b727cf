// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rebuild after recovery: indexes and the counts of dead bytes are computed from the pages.
//!
//! An operation that needs them waits, or builds them; a store with its own thread is open in the
//! meantime. Near-data reads and updates do not need them, as they change no key. But a near-data
//! commit gives tuples new newest versions, on which the build depends, so such a commit happens
//! either before or after the build.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::database::Shared;
use super::error::{Error, Result};
use super::layout::{PAGE_BYTES, Place, RecordId};
use super::memory::VersionRef;
use super::native::PAGES_FILE;
use super::pages::{PageState, Pages};
use super::schema::{IndexKey, RowRef};
use super::table::{Table, Which};

/// Whether the indexes are there.
#[derive(Debug, Default)]
pub(crate) struct Indexes {
    /// Changed under the mutex alone.
    state: AtomicU8,
    /// Pages that have been read for them.
    read: AtomicU64,
    around: Mutex<Around>,
    changed: Condvar,
}

/// The state of the index build.
#[derive(Debug, Default)]
struct Around {
    failure: Option<Arc<Error>>,
    /// Near-data commits in progress that do not need the indexes: the build begins after these.
    commits: usize,
}

/// States of [`Indexes`].
const NOT_BEGUN: u8 = 0;
const BUILDING: u8 = 1;
const READY: u8 = 2;
const FAILED: u8 = 3;

/// So long no operation waits while no page is read.
const TIMEOUT: Duration = Duration::from_secs(60);

impl Indexes {
    #[inline]
    fn is(&self, state: u8) -> bool {
        self.state.load(Ordering::Acquire) == state
    }

    /// Whether they are there.
    #[inline]
    pub(crate) fn are_ready(&self) -> bool {
        self.is(READY)
    }

    /// Begins the building, behind the commits that do without; says whether it had not begun yet.
    ///
    /// # Errors
    /// When such a commit takes more than a minute.
    fn begin(&self) -> Result<bool> {
        let mut around = self.around.lock();
        if !self.is(NOT_BEGUN) {
            return Ok(false);
        }
        self.state.store(BUILDING, Ordering::Release);
        let since = Instant::now();
        while around.commits > 0 {
            let waited = since.elapsed();
            if waited > TIMEOUT {
                self.state.store(NOT_BEGUN, Ordering::Release);
                self.changed.notify_all();
                return Err(Error::IndexesStalled { read: 0, waited });
            }
            self.changed.wait_for(&mut around, Duration::from_secs(1));
        }
        Ok(true)
    }

    /// Returns when the building that has begun is over.
    ///
    /// # Errors
    /// What stood in the way of it; or that nothing has happened for a minute.
    fn wait_for_end(&self) -> Result<()> {
        let mut around = self.around.lock();
        let (mut seen, mut since) = (self.read.load(Ordering::Relaxed), Instant::now());
        loop {
            match (self.is(READY), &around.failure) {
                (true, _) => return Ok(()),
                (_, Some(failure)) => return Err(Error::Indexes(failure.clone())),
                (_, None) => {}
            }
            self.changed.wait_for(&mut around, Duration::from_secs(1));
            let (read, waited) = (self.read.load(Ordering::Relaxed), since.elapsed());
            if read != seen {
                (seen, since) = (read, Instant::now());
            } else if waited > TIMEOUT {
                return Err(Error::IndexesStalled { read, waited });
            }
        }
    }

    fn end(&self, outcome: Result<()>) {
        let mut around = self.around.lock();
        let state = if outcome.is_ok() { READY } else { FAILED };
        around.failure = outcome.err().map(Arc::new);
        self.state.store(state, Ordering::Release);
        self.changed.notify_all();
    }

    /// Keeps the building from beginning as long as the result lives. `None` when it has begun, and is
    /// not done.
    pub(crate) fn hold_off(&self) -> Option<HeldOff<'_>> {
        let mut around = self.around.lock();
        let ready = self.is(READY);
        if !ready && !self.is(NOT_BEGUN) {
            return None;
        }
        around.commits += usize::from(!ready);
        Some(HeldOff((!ready).then_some(self)))
    }
}

/// A near-data commit that does without the indexes, or with all of them.
#[derive(Debug)]
pub(crate) struct HeldOff<'i>(Option<&'i Indexes>);

impl Drop for HeldOff<'_> {
    fn drop(&mut self) {
        if let Some(indexes) = self.0 {
            indexes.around.lock().commits -= 1;
            indexes.changed.notify_all();
        }
    }
}

impl Shared {
    /// Returns when the indexes are there; builds them, if no other thread has begun to.
    ///
    /// # Errors
    /// What stood in the way of building them; or that nothing has happened for a minute.
    #[inline]
    pub(crate) fn need_indexes(&self) -> Result<()> {
        if self.indexes.are_ready() { Ok(()) } else { self.build_indexes(&AtomicBool::new(false)) }
    }

    /// As [`Shared::need_indexes`]. Leaves off when told to stop: the store is then gone.
    ///
    /// # Errors
    /// As there; that it was stopped.
    #[cold]
    pub(crate) fn build_indexes(&self, stop: &AtomicBool) -> Result<()> {
        if self.indexes.begin()? {
            let unwinding = Unwinding(&self.indexes);
            let outcome = self.rebuild(stop);
            std::mem::forget(unwinding);
            self.indexes.end(outcome);
        }
        self.indexes.wait_for_end()
    }

    /// Reads every version once: enters the rows into the indexes, gives the VIDs of deleted tuples
    /// free, and counts what no VID map leads to. No transaction changes anything meanwhile.
    fn rebuild(&self, stop: &AtomicBool) -> Result<()> {
        let (tables, last) = (self.tables(), self.log.published());
        let mut entries: Vec<Entries> = tables.iter().map(|table| Entries::of(table)).collect();
        for page in 1..self.pages.end() {
            if stop.load(Ordering::Relaxed) {
                let stopped = std::io::Error::other("the store is being closed");
                return Err(Error::system("cannot build the indexes")(stopped));
            }
            self.indexes.read.fetch_add(1, Ordering::Relaxed);
            if self.pages.usage(page).0 != PageState::Finalized {
                continue;
            }
            self.pages.ensure(page)?;
            let of = self.pages.region().table(page) as usize;
            if of >= entries.len() {
                let what = format!("a page of table {of}, of {} tables", entries.len());
                return Err(corrupt_page(&self.pages, page, what));
            }
            self.enter_page(&mut entries[of], page, last)?;
        }
        for mut entries in entries {
            entries.insert_all(&self.pages)?;
            let Entries { table, rows, .. } = entries;
            let used = table.vids();
            let free = (0..used).filter(|&vid| table.head(vid).is_none());
            let free: Vec<u32> = free.collect();
            if rows + free.len() as u64 != u64::from(used) {
                check_heads(&self.pages, table)?;
            }
            table.adopt_vids(used, free);
        }
        Ok(())
    }

    /// Enters the rows of a page, whose versions are of commit `last` or older.
    fn enter_page(&self, entries: &mut Entries<'_>, page: u64, last: u64) -> Result<()> {
        let (pages, table) = (&self.pages, entries.table);
        pages.clear_dead(page);
        for line in 0..pages.region().lines(page) {
            let record = RecordId::new(page, line as u8);
            let version = pages.region().version(record);
            let (vid, created) = (version.vid(), version.created());
            if created > last {
                let what = format!("{record} is of commit {created}, but the log ends at {last}");
                return Err(corrupt_page(pages, page, what));
            }
            if vid >= table.vids() {
                let what = format!("{record} is of VID {vid}, of {}", table.vids());
                return Err(corrupt_page(pages, page, what));
            }
            let checked = table.schema().check(version.payload());
            checked.map_err(|error| corrupt_page(pages, page, format!("{record}: {error}")))?;
            let is_head = table.head(vid) == record;
            if !is_head || version.is_tombstone() {
                pages.note_dead(version);
            }
            // The hint there may refer to a lost commit, or be missing. No transaction is left that
            // could see an older version.
            version.invalidate(if is_head { 0 } else { last });
            if is_head && version.is_tombstone() {
                // No transaction is left that could see the row; its numbers start again.
                table.set_head(vid, RecordId::NONE);
            } else if is_head {
                entries.add(version);
            }
        }
        if entries.are_many() { entries.insert_all(pages) } else { Ok(()) }
    }
}

/// Waiting threads are notified if the thread that builds the indexes dies.
struct Unwinding<'a>(&'a Indexes);

impl Drop for Unwinding<'_> {
    fn drop(&mut self) {
        let died = std::io::Error::other("the thread that was building them has panicked");
        self.0.end(Err(Error::system("cannot build the indexes")(died)));
    }
}

/// The entries of a table's indexes that are not in these yet.
struct Entries<'t> {
    table: &'t Table,
    by_index: Vec<(Which, Vec<(IndexKey, u32)>)>,
    /// All rows so far.
    rows: u64,
}

/// Inserting so many at once in the order of their keys is several times as fast as one by one: a
/// node of the tree is then in the processor's cache when it is wanted again.
const AT_ONCE: usize = 1 << 20;

impl<'t> Entries<'t> {
    fn of(table: &'t Table) -> Self {
        let secondary = (0..table.schema().indexes().len()).map(Which::Secondary);
        let indexes = std::iter::once(Which::Primary).chain(secondary);
        Self { table, by_index: indexes.map(|which| (which, Vec::new())).collect(), rows: 0 }
    }

    fn add(&mut self, version: VersionRef<'_>) {
        let (vid, row) = (version.vid(), RowRef::new(self.table.schema(), version.payload()));
        for (which, entries) in &mut self.by_index {
            entries.push((self.table.entry(*which, vid, row), vid));
        }
        self.rows += 1;
    }

    fn are_many(&self) -> bool {
        self.by_index.iter().any(|(_, entries)| entries.len() >= AT_ONCE)
    }

    fn insert_all(&mut self, pages: &Pages) -> Result<()> {
        for (which, entries) in &mut self.by_index {
            entries.sort_unstable();
            for (key, vid) in entries.drain(..) {
                if !self.table.enter(*which, key, vid) {
                    let what =
                        format!("table {:?}: VID {vid} has another's key", self.table.name());
                    return Err(corrupt_page(pages, self.table.head(vid).page(), what));
                }
            }
        }
        Ok(())
    }
}

/// Each VID leads to a version of its own, or to none.
fn check_heads(pages: &Pages, table: &Table) -> Result<()> {
    (0..table.vids()).try_for_each(|vid| head_version(pages, table, vid).map(drop))
}

/// The newest version of a tuple, by an untrusted map.
pub(super) fn head_version<'p>(
    pages: &'p Pages,
    table: &Table,
    vid: u32,
) -> Result<Option<VersionRef<'p>>> {
    let head = table.head(vid);
    if head.is_none() {
        return Ok(None);
    }
    let page = head.page();
    let wrong = || {
        let what = format!("table {:?}: VID {vid} leads to {head}, which is not its", table.name());
        corrupt_page(pages, page, what)
    };
    let in_use = |state| matches!(state, PageState::Open | PageState::Finalized);
    if page >= pages.end() || !in_use(pages.usage(page).0) {
        return Err(wrong());
    }
    pages.ensure(page)?;
    let region = pages.region();
    if u16::from(head.line()) >= region.lines(page) || region.table(page) != table.id() {
        return Err(wrong());
    }
    let version = region.version(head);
    if version.vid() != vid {
        return Err(wrong());
    }
    Ok(Some(version))
}

fn corrupt_page(pages: &Pages, page: u64, what: impl Into<String>) -> Error {
    let known = page < pages.end();
    let place = if known { pages.physical_page(page) } else { 0 };
    let offset = Place::from_word(place).physical() * PAGE_BYTES as u64;
    let what = format!("logical page {page}: {}", what.into());
    Error::Corrupt { file: PAGES_FILE.into(), offset, what }
}
