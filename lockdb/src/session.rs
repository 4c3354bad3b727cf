// SPDX-License-Identifier: MIT OR Apache-2.0
//! A session: one thread's access to a store, and the workspace of its transactions.

use std::sync::Arc;
use std::time::Duration;

use super::database::Shared;
use super::error::{Error, Result};
use super::layout::{LinePointer, PAGE_BYTES, RecordId, VersionHeader, placed_bytes};
use super::maintenance::Maintainer;
use super::options::TransactionOptions;
use super::pages::{Pages, RESERVE};
use super::pins::Pins;
use super::schema::RowBuffer;
use super::transaction::{Reads, Transaction, WriteSet};
use locks::{HeldLocks, Statistics, Timestamp, nesting};

/// The longest pause after the ninth attempt of a transaction; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_micros(50);
/// Long enough that a hundred threads get by each other at one row.
const LONGEST_PAUSE: Duration = Duration::from_millis(5);
/// 2⁶⁴ by the golden ratio, odd.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// One thread's access to a store. Runs one transaction at a time.
///
/// Making one costs a lock of the store; keep it for as long as a thread has work.
#[derive(Debug)]
pub struct Session {
    pub(crate) shared: Arc<Shared>,
    /// Where it pins its snapshot.
    pub(crate) pin: usize,
    pub(crate) locks: HeldLocks,
    pub(crate) statistics: Statistics,
    pub(crate) open: OpenPages,
    pub(crate) writes: WriteSet,
    pub(crate) reads: Reads,
    /// Body of the log record in the making.
    pub(crate) body: Vec<u8>,
    pub(crate) last_commit: u64,
    /// A row in the making, kept for its memory: that of the last table.
    pub(crate) row: Option<RowBuffer>,
    /// A transaction was begun, and has not ended.
    pub(crate) in_transaction: bool,
    /// Dropped last: it may wait for the store's thread.
    _maintainer: Option<Arc<Maintainer>>,
}

impl Session {
    /// `None` when there are as many as there can be.
    pub(crate) fn new(shared: &Arc<Shared>, maintainer: &Option<Arc<Maintainer>>) -> Option<Self> {
        let pin = shared.pins.claim()?;
        Some(Self {
            shared: shared.clone(),
            pin,
            // Renamed before the first lock.
            locks: HeldLocks::new(Timestamp::MAX),
            statistics: Statistics::default(),
            open: OpenPages { reserve: RESERVE, ..OpenPages::default() },
            writes: WriteSet::default(),
            reads: Reads::default(),
            body: Vec::new(),
            last_commit: 0,
            row: None,
            in_transaction: false,
            _maintainer: maintainer.clone(),
        })
    }

    /// Begins a transaction, which is rolled back unless it is committed.
    pub fn begin(&mut self, options: impl Into<TransactionOptions>) -> Transaction<'_> {
        let age = None;
        Transaction::begin(self, options.into(), age, 0)
    }

    /// The place of this session's last commit in the order of commits; 0 before the first. Of a
    /// transaction that changed nothing, that of its snapshot.
    pub fn last_commit(&self) -> u64 {
        self.last_commit
    }

    /// Distinguishes it from the other open sessions: 0, 1, …, as errors name it
    /// ([`OldSnapshot::session`](super::OldSnapshot::session)).
    pub fn number(&self) -> usize {
        self.pin
    }

    /// Runs a transaction: commits it when `work` succeeds, rolls it back when it fails, and runs it
    /// again, as old as it was, when conflicts occurred.
    ///
    /// # Errors
    /// Those of `work`, and those of the commit. [`Error::TooManyAttempts`] after as many conflicts
    /// as the store's options admit. A lock that is not granted within the options' time limit ends
    /// it at once, with that conflict. [`Error::Nested`] when `work` itself is called by the
    /// closure of a transaction that blocks it.
    pub fn transaction<T, E: From<Error>>(
        &mut self,
        options: impl Into<TransactionOptions>,
        mut work: impl FnMut(&mut Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let options = options.into();
        let limit = self.shared.options.attempts;
        let _entered = nesting::enter(&self.shared.locks, self.pin);
        let mut age = None;
        for attempt in 0.. {
            let mut transaction = Transaction::begin(self, options, age, attempt);
            let failure = match work(&mut transaction) {
                Ok(value) => match transaction.commit() {
                    Ok(_) => return Ok(value),
                    Err(error) => E::from(error),
                },
                Err(error) => error,
            };
            age = transaction.age();
            let Some(conflict) = transaction.take_conflict() else { return Err(failure) };
            drop(transaction);
            if conflict.is_time_out() {
                return Err(E::from(Error::Conflict(conflict)));
            }
            if attempt + 1 == limit {
                let attempts = attempt + 1;
                return Err(E::from(Error::TooManyAttempts { attempts, last: conflict }));
            }
            self.back_off(attempt);
        }
        unreachable!("the loop ends by returning");
    }

    /// Lets others go first, after an attempt (counted from 0) that met a conflict: the longer the
    /// more often it did, and each session for another time.
    fn back_off(&self, attempt: u32) {
        match attempt {
            0..3 => {}
            3..8 => std::thread::yield_now(),
            _ => {
                let most = (FIRST_PAUSE * (1 << (attempt - 8).min(10))).min(LONGEST_PAUSE);
                // Any mixture will do that differs from session to session.
                let mixed = (self.pin as u64 ^ u64::from(attempt) << 16).wrapping_mul(SPREAD) >> 32;
                std::thread::sleep(most * (1 + mixed as u32 % 16) / 16);
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        Transaction::end_forgotten(self);
        self.pay_for_pages();
        self.open.finalize_all(&self.shared.pages);
        self.shared.pins.give_back(self.pin);
        self.shared.admission.note_free();
        self.shared.locks.report(&self.statistics);
    }
}

/// The pages that a session appends to: one for each table that it writes.
#[derive(Debug, Default)]
pub(crate) struct OpenPages {
    by_table: Vec<Option<OpenPage>>,
    /// Empty pages in stock, formatted for their table.
    spare: Vec<(u32, u64)>,
    /// Kept for its memory.
    plan: Vec<Planned>,
    /// How often it took a page.
    taken: u64,
    /// How many it has asked for since its session last looked whether vacuum is due.
    pub(crate) asked: u64,
    /// The number of pages that it leaves to others.
    reserve: u64,
}

/// How far a commit would fill a table's pages.
#[derive(Debug)]
struct Planned {
    table: u32,
    open: OpenPage,
    /// Spare pages of the table that it would use.
    spare: usize,
}

#[derive(Clone, Copy, Debug)]
struct OpenPage {
    page: u64,
    lines: u16,
    upper: u16,
}

impl OpenPage {
    const FULL: OpenPage = OpenPage { page: 0, lines: 0, upper: 0 };

    fn new(page: u64) -> Self {
        Self { page, lines: 0, upper: PAGE_BYTES as u16 }
    }

    /// Where a version with such a payload would begin.
    #[inline]
    fn place(&self, payload: usize) -> Option<usize> {
        let offset = usize::from(self.upper).checked_sub(placed_bytes(payload))?;
        (offset >= LinePointer::at(usize::from(self.lines) + 1)).then_some(offset)
    }

    #[inline]
    fn take(&mut self, offset: usize) {
        self.lines += 1;
        self.upper = offset as u16;
    }
}

impl OpenPages {
    /// Ensures that versions of these payloads, in this order, find room, so that appending them
    /// cannot fail.
    pub(crate) fn provide(
        &mut self,
        pages: &Pages,
        pins: &Pins,
        versions: impl Iterator<Item = (u32, usize)>,
    ) -> Result<()> {
        let mut plan = std::mem::take(&mut self.plan);
        plan.clear();
        let result = self.plan_pages(pages, pins, versions, &mut plan);
        self.plan = plan;
        result
    }

    fn plan_pages(
        &mut self,
        pages: &Pages,
        pins: &Pins,
        versions: impl Iterator<Item = (u32, usize)>,
        plan: &mut Vec<Planned>,
    ) -> Result<()> {
        for (table, payload) in versions {
            let at = plan.iter().position(|planned| planned.table == table);
            let at = at.unwrap_or_else(|| {
                let open = self.by_table.get(table as usize).copied().flatten();
                plan.push(Planned { table, open: open.unwrap_or(OpenPage::FULL), spare: 0 });
                plan.len() - 1
            });
            let planned = &mut plan[at];
            let offset = match planned.open.place(payload) {
                Some(offset) => offset,
                None => {
                    planned.open =
                        OpenPage::new(self.spare_page(pages, pins, table, planned.spare)?);
                    planned.spare += 1;
                    planned.open.place(payload).expect("a row fits into an empty page")
                }
            };
            planned.open.take(offset);
        }
        Ok(())
    }

    /// The table's `nth` page in stock.
    fn spare_page(&mut self, pages: &Pages, pins: &Pins, table: u32, nth: usize) -> Result<u64> {
        let mut stocked = self.spare.iter().filter(|(of, _)| *of == table);
        if let Some(&(_, page)) = stocked.nth(nth) {
            return Ok(page);
        }
        self.asked += 1;
        let page = pages.allocate(table, self.reserve, pins)?;
        self.taken += 1;
        self.spare.push((table, page));
        Ok(page)
    }

    /// Writes a version where [`OpenPages::provide`] has made room for it.
    #[inline]
    pub(crate) fn append(
        &mut self,
        pages: &Pages,
        table: u32,
        header: &VersionHeader,
        payload: &[u8],
        tombstone: bool,
    ) -> RecordId {
        let index = table as usize;
        if index >= self.by_table.len() {
            self.by_table.resize(index + 1, None);
        }
        let placed = self.by_table[index].and_then(|open| Some((open, open.place(payload.len())?)));
        let (mut open, offset) = placed.unwrap_or_else(|| self.next_page(pages, table, payload));
        pages.region().append(open.page, open.lines, offset, header, payload, tombstone);
        let record = RecordId::new(open.page, open.lines as u8);
        open.take(offset);
        self.by_table[index] = Some(open);
        record
    }

    #[cold]
    fn next_page(&mut self, pages: &Pages, table: u32, payload: &[u8]) -> (OpenPage, usize) {
        if let Some(full) = self.by_table[table as usize] {
            pages.finalize(full.page);
        }
        let at = self.spare.iter().position(|(of, _)| *of == table);
        let (_, page) = self.spare.remove(at.expect("room was provided"));
        let open = OpenPage::new(page);
        (open, open.place(payload.len()).expect("a row fits into an empty page"))
    }

    /// How often it has taken a page from the free ones.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Leaves all pages to vacuum.
    pub(crate) fn finalize_all(&mut self, pages: &Pages) {
        for open in self.by_table.drain(..).flatten() {
            pages.finalize(open.page);
        }
        for (_, page) in self.spare.drain(..) {
            pages.finalize(page);
        }
    }
}
