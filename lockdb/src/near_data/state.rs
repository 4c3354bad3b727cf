// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of a transaction's near-data updates.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

use super::super::layout::{LinePointer, PAGE_BYTES, RecordId, placed_bytes};
use super::super::table::Table;
use super::record::FinalizedPage;
use super::{AdoptError, Adopted, NearDataError, PageReservation};

/// A transaction's near-data updates, of each table at most one.
#[derive(Debug, Default)]
pub(crate) struct NearData {
    tables: Vec<NearTable>,
    /// Buckets that the transaction holds, the first `known` of its [`HeldLocks`](locks::HeldLocks).
    pub(super) buckets: HashSet<usize, RandomState>,
    pub(super) known: usize,
    /// What all places that were reserved are of.
    pub(super) epoch: Option<u64>,
    /// Counts what cannot be undone in part: reservations, versions that were taken over, rows left.
    pub(crate) works: u64,
    /// Whether a device was to finalize its pages and has not.
    pub(super) finalize_failed: bool,
}

/// A table that was handed to a device.
#[derive(Debug)]
pub(crate) struct NearTable {
    pub(super) table: u32,
    /// The snapshot of the invocation.
    pub(super) snapshot: u64,
    reserved: Vec<ReservedPage>,
    /// Where in `reserved` a logical page is.
    by_page: HashMap<u64, usize, RandomState>,
    rows: Vec<Adopted>,
    vids: HashSet<u32, RandomState>,
}

#[derive(Debug)]
struct ReservedPage {
    reservation: PageReservation,
    /// Bit *n* of all: line *n* is adopted.
    lines: [u64; 4],
}

impl ReservedPage {
    fn adopted(&self) -> u32 {
        self.lines.iter().map(|word| word.count_ones()).sum()
    }

    /// The first line that is not adopted.
    fn first_missing(&self) -> u32 {
        let whole = self.lines.iter().take_while(|&&word| word == u64::MAX).count();
        whole as u32 * 64 + self.lines.get(whole).map_or(0, |word| word.trailing_ones())
    }

    /// Marks a line; says whether it was not.
    fn mark(&mut self, line: u8) -> bool {
        let (word, bit) = (&mut self.lines[usize::from(line) / 64], 1 << (line % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    fn unmark(&mut self, line: u8) {
        self.lines[usize::from(line) / 64] &= !(1 << (line % 64));
    }
}

impl NearData {
    pub(super) fn table(&self, table: u32) -> Option<&NearTable> {
        self.tables.iter().find(|near| near.table == table)
    }

    pub(super) fn table_mut(&mut self, table: u32) -> Option<&mut NearTable> {
        self.tables.iter_mut().find(|near| near.table == table)
    }

    pub(super) fn tables(&self) -> &[NearTable] {
        &self.tables
    }

    /// A table is handed to a device, which is to work at this snapshot.
    pub(super) fn invoke(&mut self, table: u32, snapshot: u64) {
        match self.table_mut(table) {
            Some(near) => near.snapshot = snapshot,
            None => self.tables.push(NearTable {
                table,
                snapshot,
                reserved: Vec::new(),
                by_page: HashMap::default(),
                rows: Vec::new(),
                vids: HashSet::default(),
            }),
        }
    }

    /// Whether a device writes the table.
    pub(crate) fn is_written(&self, table: u32) -> bool {
        self.table(table).is_some_and(|near| !near.reserved.is_empty())
    }

    /// Refuses what the host may not do with a table.
    #[cold]
    pub(crate) fn check_untouched(&self, table: &Table) -> Result<(), NearDataError> {
        self.check_usable()?;
        match self.is_written(table.id) {
            true => Err(NearDataError::InUse { table: table.name().into() }),
            false => Ok(()),
        }
    }

    /// Refuses whatever comes after a finalization that failed.
    pub(super) fn check_usable(&self) -> Result<(), NearDataError> {
        match self.finalize_failed {
            true => Err(NearDataError::FinalizeFailed),
            false => Ok(()),
        }
    }

    pub(crate) fn finalize_failed(&self) -> bool {
        self.finalize_failed
    }

    /// Versions that were adopted.
    pub(crate) fn rows(&self) -> usize {
        self.tables.iter().map(|near| near.rows.len()).sum()
    }

    /// All that was reserved.
    pub(super) fn reservations(&self) -> impl Iterator<Item = PageReservation> {
        self.tables.iter().flat_map(|near| &near.reserved).map(|reserved| reserved.reservation)
    }

    /// Nobody may ever write to its pages again.
    pub(crate) fn abandon_reservations(&mut self) {
        self.tables.iter_mut().for_each(|near| near.reserved.clear());
    }

    /// The pages that versions were adopted of, by their numbers. None of their lines is left out:
    /// what stands in a page is part of the commit, or would pass for a version of it.
    pub(super) fn finalized_pages(&self) -> Result<Vec<FinalizedPage>, NearDataError> {
        let mut pages = Vec::new();
        for near in &self.tables {
            for reserved in &near.reserved {
                let (lines, line) = (reserved.adopted(), reserved.first_missing());
                let PageReservation { page, place } = reserved.reservation;
                if line != lines {
                    return Err(NearDataError::MissingLine { page, line, adopted: lines });
                }
                if lines > 0 {
                    pages.push(FinalizedPage { page, place, table: near.table, lines });
                }
            }
        }
        pages.sort_unstable_by_key(|finalized| finalized.page);
        Ok(pages)
    }
}

impl NearTable {
    pub(super) fn reserve(&mut self, reservation: PageReservation, epoch: u64) {
        debug_assert!(reservation.is_of(epoch), "a place of the finalization's epoch");
        self.by_page.insert(reservation.page, self.reserved.len());
        self.reserved.push(ReservedPage { reservation, lines: [0; 4] });
    }

    pub(super) fn rows(&self) -> &[Adopted] {
        &self.rows
    }

    pub(super) fn has_adopted(&self, vid: u32) -> bool {
        self.vids.contains(&vid)
    }

    /// Notes a row, after a check of all that concerns the reservations.
    pub(super) fn note(&mut self, row: &Adopted) -> Result<(), AdoptError> {
        let record = row.record;
        let Some(&at) = self.by_page.get(&record.page()) else {
            return Err(AdoptError::Page { record });
        };
        let least = (LinePointer::BYTES + placed_bytes(0)) as u32;
        let (found, most) = (row.superseded_bytes, PAGE_BYTES as u32);
        if !(least..=most).contains(&found) {
            return Err(AdoptError::SupersededBytes { found, least, most });
        }
        if self.vids.contains(&row.vid) {
            return Err(AdoptError::Twice);
        }
        if !self.reserved[at].mark(record.line()) {
            return Err(AdoptError::Record { record });
        }
        self.vids.insert(row.vid);
        self.rows.push(*row);
        Ok(())
    }

    /// Forgets all rows but the first `count`.
    pub(super) fn forget_rows(&mut self, count: usize) {
        for row in self.rows.drain(count..) {
            self.vids.remove(&row.vid);
            self.reserved[self.by_page[&row.record.page()]].unmark(row.record.line());
        }
    }
}

/// RecordIDs of a page whose lines continue beyond what [`ReservedPage`] marks do not exist.
const _: () = assert!(RecordId::LINE_BITS == 8);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Place;

    fn row(vid: u32, page: u64, line: u8) -> Adopted {
        let (record, predecessor) = (RecordId::new(page, line), RecordId::new(1, line));
        Adopted { vid, number: 2, record, predecessor, superseded_bytes: 60, locked: true }
    }

    #[test]
    fn a_page_is_finalized_with_all_its_lines_or_not_at_all() {
        let mut near = NearData::default();
        near.invoke(3, 9);
        let table = near.table_mut(3).unwrap();
        for page in [12, 11, 10] {
            table.reserve(PageReservation { page, place: Place::new(page + 100, 5).word() }, 5);
        }
        for line in (0..200).rev() {
            table.note(&row(u32::from(line), 11, line)).unwrap();
        }
        assert_eq!(table.note(&row(0, 10, 0)), Err(AdoptError::Twice));
        let record = RecordId::new(11, 7);
        assert_eq!(table.note(&row(900, 11, 7)), Err(AdoptError::Record { record }));
        let record = RecordId::new(13, 0);
        assert_eq!(table.note(&row(900, 13, 0)), Err(AdoptError::Page { record }));
        let pages = near.finalized_pages().unwrap();
        let place = Place::new(111, 5).word();
        assert_eq!(pages, [FinalizedPage { page: 11, place, table: 3, lines: 200 }]);
        let table = near.table_mut(3).unwrap();
        table.note(&row(900, 11, 201)).unwrap();
        let missing = near.finalized_pages();
        let expected = NearDataError::MissingLine { page: 11, line: 200, adopted: 201 };
        assert_eq!(format!("{:?}", missing.unwrap_err()), format!("{expected:?}"));
        let table = near.table_mut(3).unwrap();
        table.forget_rows(200);
        assert!(!table.has_adopted(900));
        assert_eq!(near.finalized_pages().unwrap(), pages);
        assert_eq!(near.reservations().count(), 3);
    }
}
