// SPDX-License-Identifier: MIT OR Apache-2.0
//! Logical pages: which are in use, which are in memory, and where they stand on storage.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::{Error, Result};
use super::layout::{PAGE_BYTES, PageHeader, PageKind, RecordId};
use super::memory::{Region, SharedArray, VersionRef};
use super::native::NativeStorage;
use super::options::Options;
use super::pins::{OldSnapshot, Pins};
use super::retired::Retired;
use parking_lot::Mutex;

/// All logical pages of a store. Page 0 is never used, so that RecordID 0 is no record.
#[derive(Debug)]
pub(crate) struct Pages {
    region: Region,
    /// The L2P map: for each logical page its physical page (0: none), and [`Pages::IN_MEMORY`].
    physical: SharedArray,
    /// For each logical page a [`PageState`], and above it how many of its bytes versions take that
    /// are dead: superseded, moved elsewhere, or tombstones.
    usage: SharedArray,
    allocation: Mutex<Allocation>,
    /// Pages that were taken since vacuum is due, and for which no session has vacuumed yet.
    debt: AtomicU64,
    /// The newest commit of which a device has written pages.
    newest_finalized: AtomicU64,
    /// Held while a page is brought in.
    loading: Mutex<()>,
    storage: Option<NativeStorage>,
}

/// What a logical page is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum PageState {
    /// For nothing.
    Free = 0,
    /// A session appends to it.
    Open = 1,
    /// Full, or left behind by its session.
    Finalized = 2,
    /// Emptied by vacuum; a transaction may still read it.
    Retired = 3,
    /// A device may write it, elsewhere; it cannot be found before that is committed.
    Reserved = 4,
}

#[derive(Debug)]
struct Allocation {
    /// All pages from here on have never been used.
    next: u64,
    free: Vec<u64>,
    /// Emptied pages.
    retired: Retired<u64>,
    /// Pages that may have versions which no checkpoint has. Empty in a store without files.
    dirty: BTreeSet<u64>,
    /// Pages that stand on storage as a device has written them, which no checkpoint has.
    unnamed: Vec<u64>,
    /// Neither free nor retired nor reserved.
    in_use: u64,
    reserved: u64,
    /// Vacuum is due when this many are in use.
    vacuum_at: u64,
    /// How often a page was taken.
    taken: u64,
    /// How often at the last flush.
    flushed: u64,
    /// The horizon at which vacuum last had to keep a page because of a snapshot.
    kept_at: Option<u64>,
}

/// This many pages are left to vacuum: when every page has a row to be moved, it could make no room
/// without one.
pub(super) const RESERVE: u64 = 1;

/// Below this many pages in use vacuum is not worthwhile.
pub(crate) const SMALL: u64 = 64;

impl Pages {
    /// Bit of an L2P word: the host has the page in memory.
    pub(crate) const IN_MEMORY: u64 = 1 << 63;
    const DEAD: u64 = 1 << 32;
    /// Bytes of a page for versions and their line pointers.
    const ROOM: u64 = (PAGE_BYTES - PageHeader::BYTES) as u64;

    pub(crate) fn new(options: &Options, storage: Option<NativeStorage>) -> io::Result<Self> {
        let pages = options.pages;
        let allocation = Allocation {
            next: 1,
            free: Vec::new(),
            retired: Retired::default(),
            dirty: BTreeSet::new(),
            unnamed: Vec::new(),
            in_use: 0,
            reserved: 0,
            vacuum_at: SMALL,
            taken: 0,
            flushed: 0,
            kept_at: None,
        };
        Ok(Self {
            region: Region::reserve(&options.memory, pages)?,
            physical: SharedArray::reserve_in(&options.memory, "page-map", pages as usize)?,
            usage: SharedArray::reserve(pages as usize)?,
            allocation: Mutex::new(allocation),
            debt: AtomicU64::new(0),
            newest_finalized: AtomicU64::new(0),
            loading: Mutex::new(()),
            storage,
        })
    }

    pub(crate) fn region(&self) -> &Region {
        &self.region
    }

    pub(crate) fn storage(&self) -> Option<&NativeStorage> {
        self.storage.as_ref()
    }

    /// A version, brought into memory when it is not there.
    #[inline]
    pub(crate) fn version(&self, record: RecordId) -> Result<VersionRef<'_>> {
        self.ensure(record.page())?;
        Ok(self.region.version(record))
    }

    /// Ensures that a page is in memory.
    #[inline]
    pub(crate) fn ensure(&self, page: u64) -> Result<()> {
        if !self.is_in_memory(page) {
            self.bring_in(page)?;
        }
        Ok(())
    }

    /// Whether a page is in memory. (Of one that holds no versions this says nothing.)
    #[inline]
    pub(crate) fn is_in_memory(&self, page: u64) -> bool {
        self.physical.word(page as usize).load(Ordering::Acquire) & Self::IN_MEMORY != 0
    }

    #[cold]
    fn bring_in(&self, page: u64) -> Result<()> {
        let _one_at_a_time = self.loading.lock();
        let word = self.physical.word(page as usize);
        let standing = word.load(Ordering::Acquire);
        if standing & Self::IN_MEMORY != 0 {
            return Ok(());
        }
        let storage = self.storage.as_ref().expect("without storage all pages are in memory");
        let bytes = storage.read(PageKind::Data, page, standing)?;

        self.region.load(page, &bytes.0);
        word.fetch_or(Self::IN_MEMORY, Ordering::Release);
        Ok(())
    }

    /// An empty page for versions of `table`, unless only `reserve` are left. `pins` tells which
    /// retired ones may be used again.
    pub(crate) fn allocate(&self, table: u32, reserve: u64, pins: &Pins) -> Result<u64> {
        let mut allocation = self.allocation.lock();
        let page = allocation.take(self.region.pages(), reserve, pins)?;
        self.count(&mut allocation);
        if self.storage.is_some() {
            allocation.dirty.insert(page);
        }
        self.region.format(page, PageHeader::new(PageKind::Data, page, table));
        self.usage.word(page as usize).store(PageState::Open as u64, Ordering::Release);
        self.physical.word(page as usize).fetch_or(Self::IN_MEMORY, Ordering::Release);
        Ok(page)
    }

    /// A page comes to hold versions.
    fn count(&self, allocation: &mut Allocation) {
        allocation.in_use += 1;
        allocation.taken += 1;
        if allocation.in_use >= allocation.vacuum_at {
            self.debt.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Pages for a device to write, all of them or none. Their frames are not touched.
    pub(crate) fn reserve(&self, count: usize, pins: &Pins) -> Result<Vec<u64>> {
        let mut allocation = self.allocation.lock();
        let mut pages = Vec::new();
        for _ in 0..count {
            match allocation.take(self.region.pages(), RESERVE, pins) {
                Ok(page) => pages.push(page),
                Err(error) => {
                    allocation.free.append(&mut pages);
                    return Err(error);
                }
            }
        }
        allocation.reserved += count as u64;
        for &page in &pages {
            self.usage.word(page as usize).store(PageState::Reserved as u64, Ordering::Release);
        }
        Ok(pages)
    }

    /// Reserved pages that no transaction has found, nor will.
    pub(crate) fn give_back(&self, pages: impl IntoIterator<Item = u64>) {
        let mut allocation = self.allocation.lock();
        for page in pages {
            debug_assert_eq!(self.usage(page).0, PageState::Reserved);
            self.usage.word(page as usize).store(PageState::Free as u64, Ordering::Release);
            allocation.reserved -= 1;
            allocation.free.push(page);
        }
    }

    /// A device has written a reserved page to its place, where it is read from when it is first
    /// needed. Gives the place where an earlier page of this number stands, 0 if nowhere. The caller
    /// holds the mutex of maintenance.
    pub(crate) fn settle_reservation(&self, page: u64, place: u64) -> u64 {
        let mut allocation = self.allocation.lock();
        debug_assert_eq!(self.usage(page).0, PageState::Reserved);
        let before = self.physical.word(page as usize).swap(place, Ordering::AcqRel);
        self.usage.word(page as usize).store(PageState::Finalized as u64, Ordering::Release);
        allocation.reserved -= 1;
        allocation.unnamed.push(page);
        self.count(&mut allocation);
        before & !Self::IN_MEMORY
    }

    /// A device has written pages of this commit.
    pub(crate) fn note_finalized(&self, commit: u64) {
        self.newest_finalized.fetch_max(commit, Ordering::Release);
    }

    /// Whether a page is only on storage, and all its versions are of `snapshot` or older, which is a
    /// commit since the store was opened: what devices have not written since stood there then.
    pub(crate) fn is_as_old_as(&self, page: u64, snapshot: u64) -> bool {
        !self.is_in_memory(page) && self.newest_finalized.load(Ordering::Acquire) <= snapshot
    }

    /// Whether there are pages on storage that no checkpoint has.
    pub(crate) fn has_unnamed(&self) -> bool {
        !self.allocation.lock().unnamed.is_empty()
    }

    /// Those pages; the caller takes them over.
    pub(crate) fn take_unnamed(&self) -> Vec<u64> {
        std::mem::take(&mut self.allocation.lock().unnamed)
    }

    /// These pages on storage are not in a checkpoint after all.
    pub(crate) fn mark_unnamed(&self, pages: impl IntoIterator<Item = u64>) {
        self.allocation.lock().unnamed.extend(pages);
    }

    /// The page gets no more versions.
    pub(crate) fn finalize(&self, page: u64) {
        let states = PageState::Open as u64 ^ PageState::Finalized as u64;
        let before = self.usage.word(page as usize).fetch_xor(states, Ordering::AcqRel);
        debug_assert_eq!(before as u8, PageState::Open as u8, "only open pages are finalized");
    }

    /// No row stands in this version any more: it is superseded, or was moved, or is a tombstone.
    /// To be called once for each.
    #[inline]
    pub(crate) fn note_dead(&self, version: VersionRef<'_>) {
        let bytes = version.placed_bytes() as u64 * Self::DEAD;
        self.usage.word(version.page() as usize).fetch_add(bytes, Ordering::Relaxed);
    }

    /// As [`Pages::note_dead`], of a version in a page that need not be in memory.
    pub(crate) fn note_dead_bytes(&self, page: u64, bytes: u32) {
        let bytes = u64::from(bytes) * Self::DEAD;
        self.usage.word(page as usize).fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts again.
    pub(crate) fn clear_dead(&self, page: u64) {
        self.usage.word(page as usize).fetch_and(Self::DEAD - 1, Ordering::Relaxed);
    }

    /// What a page is used for, and how many of its bytes dead versions take.
    pub(crate) fn usage(&self, page: u64) -> (PageState, u32) {
        let word = self.usage.word(page as usize).load(Ordering::Acquire);
        let state = match word as u8 {
            0 => PageState::Free,
            1 => PageState::Open,
            2 => PageState::Finalized,
            3 => PageState::Retired,
            _ => PageState::Reserved,
        };
        (state, (word >> 32) as u32)
    }

    /// What a page is used for whose versions are in its frame, and may be newer there than on storage:
    /// open or finalized. `None` of any other.
    pub(crate) fn use_in_memory(&self, page: u64) -> Option<PageState> {
        let state = self.usage(page).0;
        let used = matches!(state, PageState::Open | PageState::Finalized);
        (used && self.is_in_memory(page)).then_some(state)
    }

    /// Whether a page gets no more versions, and at most half of it is taken by those that stay.
    pub(crate) fn is_sparse(&self, page: u64) -> bool {
        let (state, dead) = self.usage(page);
        if state != PageState::Finalized || self.ensure(page).is_err() {
            return false;
        }
        let live = (self.region.used_bytes(page) as u64).saturating_sub(u64::from(dead));
        live * 2 <= Self::ROOM
    }

    /// An emptied page: it can no longer be found; reused when the transactions that may have found
    /// it before `stamp` have ended.
    pub(crate) fn retire(&self, page: u64, stamp: u64) {
        let mut allocation = self.allocation.lock();
        self.usage.word(page as usize).store(PageState::Retired as u64, Ordering::Release);
        allocation.retired.push(stamp, page);
        allocation.in_use -= 1;
    }

    /// Logical pages 1 to this one (exclusive) have been used at some time.
    pub(crate) fn end(&self) -> u64 {
        self.allocation.lock().next
    }

    /// At this horizon vacuum had to keep a page because of a snapshot.
    pub(crate) fn note_kept(&self, horizon: u64) {
        self.allocation.lock().kept_at = Some(horizon);
    }

    /// Whether there is a page to be taken.
    pub(crate) fn has_room(&self, pins: &Pins) -> bool {
        self.allocation.lock().has_room(self.region.pages(), RESERVE, pins)
    }

    /// Whether emptied pages cannot be reused yet by transactions that begin now, after commit
    /// `published`.
    pub(crate) fn await_commit(&self, published: u64) -> bool {
        self.allocation.lock().retired.await_commit(published)
    }

    /// The snapshot without which there would be more room.
    pub(crate) fn keeper(&self, pins: &Pins) -> Option<OldSnapshot> {
        self.allocation.lock().keeper(pins)
    }

    /// How many pages hold versions.
    pub(crate) fn in_use(&self) -> u64 {
        self.allocation.lock().in_use
    }

    /// Whether so many pages are in use that vacuum is due.
    pub(crate) fn vacuum_is_due(&self) -> bool {
        let allocation = self.allocation.lock();
        allocation.in_use >= allocation.vacuum_at
    }

    /// Whether there is hardly a page left.
    pub(crate) fn are_used_up(&self) -> bool {
        let allocation = self.allocation.lock();
        allocation.in_use + allocation.reserved + RESERVE + 2 >= self.region.pages()
    }

    /// Whether it is so long overdue that transactions should wait for it.
    pub(crate) fn are_excessive(&self) -> bool {
        let allocation = self.allocation.lock();
        allocation.in_use >= allocation.vacuum_at + allocation.vacuum_at / 2
    }

    /// A vacuum is done: the next is due when twice as many pages are in use as it has left. Of those
    /// in use now it has not seen the ones that were taken after `taken`, and `kept` it would have
    /// emptied if it could: for these it tries again soon.
    pub(crate) fn schedule_vacuum(&self, taken: u64, kept: u64) {
        let mut allocation = self.allocation.lock();
        let left = allocation.in_use.saturating_sub(allocation.taken - taken);
        allocation.schedule(left, kept, self.region.pages());
        self.debt.store(0, Ordering::Relaxed);
    }

    /// How often a page was taken from the free ones.
    pub(crate) fn taken(&self) -> u64 {
        self.allocation.lock().taken
    }

    /// Whether pages were taken for which a vacuum is needed.
    #[inline]
    pub(crate) fn owes_vacuum(&self) -> bool {
        self.debt.load(Ordering::Relaxed) != 0
    }

    /// How many these are; the caller takes over the count.
    pub(crate) fn take_debt(&self) -> u64 {
        self.debt.swap(0, Ordering::Relaxed)
    }

    /// For so many no session has vacuumed after all.
    pub(crate) fn add_debt(&self, pages: u64) {
        self.debt.fetch_add(pages, Ordering::Relaxed);
    }

    /// Vacuum has taken so many pages itself.
    pub(crate) fn forgive(&self, pages: u64) {
        let less = |debt: u64| Some(debt.saturating_sub(pages));
        let _ = self.debt.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// The L2P map as the plain array that devices read: entry *n* is the physical page of logical
    /// page *n* (0: it has none yet), and above it whether the host has it in memory.
    pub(crate) fn page_map(&self) -> &SharedArray {
        &self.physical
    }

    /// Where the newest checkpoint has a page; 0 when it has not.
    pub(crate) fn physical_page(&self, page: u64) -> u64 {
        self.physical.word(page as usize).load(Ordering::Acquire) & !Self::IN_MEMORY
    }

    /// Notes where a page stands that the host has in memory. Gives where it stood before.
    pub(crate) fn set_physical_page(&self, page: u64, physical: u64) -> u64 {
        let word = self.physical.word(page as usize);
        word.swap(physical | Self::IN_MEMORY, Ordering::AcqRel) & !Self::IN_MEMORY
    }

    /// Notes that a page stands no longer at `physical`.
    pub(crate) fn forget_physical_page(&self, page: u64, physical: u64) {
        let word = self.physical.word(page as usize);
        debug_assert_eq!(word.load(Ordering::Acquire) & !Self::IN_MEMORY, physical);
        word.fetch_and(Self::IN_MEMORY, Ordering::AcqRel);
    }

    /// The pages that may have versions which no checkpoint has; the caller takes them over.
    pub(crate) fn take_dirty(&self) -> BTreeSet<u64> {
        let mut allocation = self.allocation.lock();
        allocation.flushed = allocation.taken;
        std::mem::take(&mut allocation.dirty)
    }

    /// The same pages; the next checkpoint stays responsible for them.
    pub(crate) fn dirty(&self) -> BTreeSet<u64> {
        self.allocation.lock().dirty.clone()
    }

    /// How many pages were taken since a checkpoint began to write them.
    pub(crate) fn taken_since_flush(&self) -> u64 {
        let allocation = self.allocation.lock();
        allocation.taken - allocation.flushed
    }

    /// Pages for the next checkpoint to write.
    pub(crate) fn mark_dirty(&self, pages: impl IntoIterator<Item = u64>) {
        self.allocation.lock().dirty.extend(pages);
    }

    /// Pages below `end` that are not in use, but have a place on storage.
    pub(crate) fn left_behind(&self, end: u64) -> Vec<(u64, u64)> {
        let unused = |page: &u64| {
            matches!(
                self.usage(*page).0,
                PageState::Free | PageState::Retired | PageState::Reserved
            )
        };
        let placed = (1..end).filter(unused).map(|page| (page, self.physical_page(page)));
        placed.filter(|&(_, physical)| physical != 0).collect()
    }

    /// Takes over the L2P map of a checkpoint: entry *n* is the physical page of logical page *n*,
    /// 0 when it has none.
    pub(crate) fn adopt(&self, map: &[u64]) -> Result<()> {
        if map.len() as u64 > self.region.pages() {
            return Err(Error::full("pages", self.region.pages()));
        }
        let mut allocation = self.allocation.lock();
        allocation.next = (map.len() as u64).max(1);
        for (page, &physical) in map.iter().enumerate().skip(1) {
            self.physical.word(page).store(physical, Ordering::Release);
            if physical == 0 {
                allocation.free.push(page as u64);
            } else {
                self.usage.word(page).store(PageState::Finalized as u64, Ordering::Release);
                allocation.in_use += 1;
            }
        }
        let in_use = allocation.in_use;
        allocation.schedule(in_use, 0, self.region.pages());
        Ok(())
    }
}

impl Allocation {
    /// Vacuum is due when twice as many pages are in use as `left`, not counting `kept` of them, or an
    /// eighth more than all of them, and before all `limit` are.
    fn schedule(&mut self, left: u64, kept: u64, limit: u64) {
        let due = (left.saturating_sub(kept) * 2).max(left + left / 8);
        self.vacuum_at = due.min(left.midpoint(limit - RESERVE)).max(SMALL);
    }

    /// Whether there are more pages to be taken than `reserve`.
    fn has_room(&mut self, limit: u64, reserve: u64, pins: &Pins) -> bool {
        if self.free.len() as u64 <= reserve {
            self.retired.reclaim_into(&mut self.free, pins);
        }
        self.free.len() as u64 + (limit - self.next) > reserve
    }

    /// A page that holds nothing.
    fn take(&mut self, limit: u64, reserve: u64, pins: &Pins) -> Result<u64> {
        if !self.has_room(limit, reserve, pins) {
            return Err(Error::Full { what: "pages", limit, kept_by: self.keeper(pins) });
        }
        if let Some(page) = self.free.pop() {
            return Ok(page);
        }
        self.next += 1;
        Ok(self.next - 1)
    }

    /// The snapshot that keeps vacuum from emptying pages, or those that it has emptied from being
    /// used again.
    fn keeper(&self, pins: &Pins) -> Option<OldSnapshot> {
        pins.keeper(self.retired.oldest_stamp().max(self.kept_at)?)
    }
}
