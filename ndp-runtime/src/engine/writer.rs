// SPDX-License-Identifier: MIT OR Apache-2.0
//! The version writer: it puts new versions into reserved pages, which stay in the device's memory
//! until the host names their commit.

use std::collections::BTreeSet;

use lockdb::layout::{
    LinePointer, PAGE_BYTES, Page, PageBuffer, PageHeader, PageKind, RecordId, VERSION_BYTES,
    placed_bytes,
};
use lockdb::near_data::PageReservation;

use super::mutant::{Mutant, Planted};
use crate::job::{JobError, MAX_RESERVATIONS, reservation};

/// A page is full before it has more lines than a RecordID can name.
const _: () = {
    let most = (PAGE_BYTES - PageHeader::BYTES) / (LinePointer::BYTES + placed_bytes(0));
    assert!(most <= 1 << RecordId::LINE_BITS);
};

/// Fills reserved pages with versions, in the layout of the store.
pub(super) struct VersionWriter {
    table: u32,
    /// Reserved pages, the used ones first.
    reservations: Vec<PageReservation>,
    pages: Vec<WrittenPage>,
    /// Logical pages of all reservations (false), and their physical ones (true).
    reserved: BTreeSet<(bool, u64)>,
    mutants: Planted,
}

/// A page with at least one version.
struct WrittenPage {
    bytes: Box<PageBuffer>,
    lines: u16,
    /// Offset of the lowest version.
    upper: usize,
}

/// A version that is to be written.
pub(super) struct NewVersion<'a> {
    pub(super) vid: u32,
    pub(super) number: u32,
    pub(super) predecessor: RecordId,
    pub(super) payload: &'a [u8],
}

impl WrittenPage {
    fn new() -> Self {
        Self { bytes: Box::new(PageBuffer::ZERO), lines: 0, upper: PAGE_BYTES }
    }

    fn has_room(&self, payload: usize) -> bool {
        let lines_end = LinePointer::at(usize::from(self.lines) + 1);
        lines_end + placed_bytes(payload) <= self.upper
    }

    /// Appends a version whose `created` is 0; gives its line.
    fn append(&mut self, version: &NewVersion<'_>) -> u8 {
        let NewVersion { vid, number, predecessor, payload } = *version;
        assert!(self.has_room(payload.len()), "whoever appends has looked for room");
        let (line, at) = (usize::from(self.lines), self.upper - placed_bytes(payload.len()));
        let bytes = &mut self.bytes.0;
        // `created` and `invalidated` are zero already, as is the padding.
        bytes[at + 16..at + 24].copy_from_slice(&predecessor.word().to_le_bytes());
        bytes[at + 24..at + 28].copy_from_slice(&vid.to_le_bytes());
        bytes[at + 28..at + 32].copy_from_slice(&number.to_le_bytes());
        bytes[at + VERSION_BYTES..at + VERSION_BYTES + payload.len()].copy_from_slice(payload);
        let pointer = LinePointer::new(at, payload.len(), false);
        bytes[LinePointer::at(line)..LinePointer::at(line + 1)]
            .copy_from_slice(&pointer.0.to_le_bytes());
        self.upper = at;
        self.lines += 1;
        line as u8
    }
}

impl VersionWriter {
    pub(super) fn new(table: u32, mutants: Planted) -> Self {
        let (reservations, pages, reserved) = (Vec::new(), Vec::new(), BTreeSet::new());
        Self { table, reservations, pages, reserved, mutants }
    }

    /// Takes more pages.
    ///
    /// # Errors
    /// When one was reserved before, or there are more than [`MAX_RESERVATIONS`]; none is taken then.
    pub(super) fn reserve(&mut self, reservations: Vec<PageReservation>) -> Result<(), JobError> {
        let mut fresh = BTreeSet::new();
        let mut is_new = |key| !self.reserved.contains(&key) && fresh.insert(key);
        for (number, reservation) in reservations.iter().enumerate() {
            let PageReservation { page, place } = *reservation;
            let fault =
                |field, found, expected| Err(reservation::fault(number, field, found, expected));
            if self.reservations.len() + number >= MAX_RESERVATIONS as usize {
                return fault("page", page, "no more page reservations: there are too many");
            }
            if !is_new((false, page)) {
                return fault("page", page, "a page that was not granted before");
            }
            if !is_new((true, reservation.physical())) {
                return fault("place", place, "a place that was not granted before");
            }
        }
        self.reserved.append(&mut fresh);
        self.reservations.extend(reservations);
        Ok(())
    }

    /// Appends a version; `None` when it needs another page and none is reserved.
    pub(super) fn append(&mut self, version: &NewVersion<'_>) -> Option<RecordId> {
        if !self.pages.last().is_some_and(|page| page.has_room(version.payload.len())) {
            if self.pages.len() == self.reservations.len() {
                return None;
            }
            self.pages.push(WrittenPage::new());
        }
        let reservation = self.reservations[self.pages.len() - 1];
        let page = self.pages.last_mut().expect("there is one with room");
        Some(RecordId::new(reservation.page, page.append(version)))
    }

    /// How many pages have versions.
    pub(super) fn pages(&self) -> usize {
        self.pages.len()
    }

    /// The reservation of such a page.
    pub(super) fn reservation_of(&self, page: usize) -> PageReservation {
        self.reservations[page]
    }

    /// Stamps a page with the commit that it is of; it is then as the store's reader wants it.
    pub(super) fn finalize(
        &mut self,
        page: usize,
        commit: u64,
        epoch: u64,
        store: u64,
    ) -> &PageBuffer {
        let number = self.reservations[page].page;
        let WrittenPage { bytes, lines, upper } = &mut self.pages[page];
        for line in 0..usize::from(*lines) {
            let at = Page::new(&bytes.0).line(line).offset();
            if !self.mutants.has(Mutant::CreatedNotStamped) {
                bytes.0[at..at + 8].copy_from_slice(&commit.to_le_bytes());
            }
        }
        let newest = if self.mutants.has(Mutant::NewestNotStamped) { 0 } else { commit };
        let header = PageHeader::new(PageKind::Data, number, self.table);
        bytes.finalize(PageHeader {
            lines: *lines,
            upper: *upper as u16,
            newest,
            epoch,
            store,
            ..header
        });
        bytes
    }
}
