// SPDX-License-Identifier: MIT OR Apache-2.0
//! A shared state, read.

use super::format::{AreaError, AreaHeader, PageEntry, TableEntry, VidEntry};
use crate::layout::{PAGE_BYTES, Page, PageError, PageKind, RecordId};

/// A shared state read from untrusted bytes: all of it is checked at once.
#[derive(Clone, Copy, Debug)]
pub struct Area<'a> {
    bytes: &'a [u8],
    header: AreaHeader,
    tables: &'a [[u8; TableEntry::BYTES]],
    vids: &'a [[u8; VidEntry::BYTES]],
    pages: &'a [[u8; PageEntry::BYTES]],
}

impl<'a> Area<'a> {
    /// Checks the bytes: checksums, places, order, and every page image. What follows the area is
    /// not looked at.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn verified(bytes: &'a [u8]) -> Result<Self, AreaError> {
        let header = AreaHeader::decode(bytes)?;
        let bytes = &bytes[..header.length as usize];
        let (found, expected) =
            (header.sections_checksum, crc32c::crc32c(&bytes[header.tables_at as usize..]));
        if found != expected {
            return Err(AreaError::Checksum { what: "the sections", found, expected });
        }
        let section = |from: u32, to: u32| &bytes[from as usize..to as usize];
        let area = Self {
            bytes,
            header,
            tables: section(header.tables_at, header.vids_at).as_chunks().0,
            vids: section(header.vids_at, header.pages_at).as_chunks().0,
            pages: section(header.pages_at, header.schemas_at).as_chunks().0,
        };
        area.check_tables()?;
        area.check_vids()?;
        area.check_pages()?;
        Ok(area)
    }

    /// The VID entries are those of the tables, one table after the other.
    fn check_tables(&self) -> Result<(), AreaError> {
        let mut first = 0_u64;
        for number in 0..self.tables.len() {
            let entry = self.table(number as u32).expect("one of the tables");
            let at = u64::from(self.header.tables_at) + (number * TableEntry::BYTES) as u64;
            let field = |offset: u64, what, found, expected| {
                Err(AreaError::Field { offset: at + offset, what, found, expected })
            };
            if u64::from(entry.first) != first {
                return field(4, "first VID entry of a table", entry.first.into(), first);
            }
            first += u64::from(entry.changed);
            if first > self.vids.len() as u64 {
                let left = self.vids.len() as u64 - u64::from(entry.first);
                return field(8, "number of VID entries", entry.changed.into(), left);
            }
            let (from, to) = (
                u64::from(entry.schema_at),
                u64::from(entry.schema_at) + u64::from(entry.schema_bytes),
            );
            if entry.schema_bytes != 0 && from < self.header.schemas_at.into() {
                return field(12, "offset of a schema", from, self.header.schemas_at.into());
            }
            if to > self.header.length {
                return field(16, "end of a schema", to, self.header.length);
            }
        }
        match first == self.vids.len() as u64 {
            true => Ok(()),
            false => Err(AreaError::Field {
                offset: 76,
                what: "number of VID entries",
                found: self.vids.len() as u64,
                expected: first,
            }),
        }
    }

    fn check_vids(&self) -> Result<(), AreaError> {
        let (mut before, mut at) = (None, u64::from(self.header.vids_at));
        for (number, table) in (0..).zip(self.tables.iter().map(TableEntry::decode)) {
            for entry in self.vids_of(table) {
                let key = entry.key();
                if let Some(before) = before.filter(|&before| before >= key) {
                    let (offset, found) = (at, key);
                    return Err(AreaError::Order { offset, what: "VID entry", found, before });
                }
                for (offset, what, found, expected) in [
                    (at + 4, "table of a VID entry", entry.table, number),
                    (at, "VID", entry.vid, entry.vid.min(table.vids.saturating_sub(1))),
                ] {
                    if found != expected || table.vids == 0 {
                        let (found, expected) = (found.into(), expected.into());
                        return Err(AreaError::Field { offset, what, found, expected });
                    }
                }
                before = Some(key);
                at += VidEntry::BYTES as u64;
            }
        }
        Ok(())
    }

    fn check_pages(&self) -> Result<(), AreaError> {
        let mut before = 0;
        for (number, entry) in self.pages.iter().map(PageEntry::decode).enumerate() {
            let offset = u64::from(self.header.pages_at) + (number * PageEntry::BYTES) as u64;
            if entry.page <= before {
                let found = entry.page;
                return Err(AreaError::Order { offset, what: "page", found, before });
            }
            before = entry.page;
            let (found, expected) = (u64::from(entry.image), number as u64);
            if found != expected {
                let (offset, what) = (offset + 8, "place of an image");
                return Err(AreaError::Field { offset, what, found, expected });
            }
            self.check_image(entry)?;
        }
        Ok(())
    }

    fn check_image(&self, entry: PageEntry) -> Result<(), AreaError> {
        let (offset, bytes) = self.image(entry.image);
        let failed = |fault| AreaError::Image { offset, page: entry.page, fault };
        let page = Page::verified(bytes, PageKind::Data, entry.page).map_err(failed)?;
        let (found, expected) = (page.header().checksum, entry.checksum);
        match found == expected {
            true => Ok(()),
            false => Err(failed(PageError::Checksum { found, expected })),
        }
    }

    fn image(&self, image: u32) -> (u64, &'a [u8; PAGE_BYTES]) {
        let offset = AreaHeader::BYTES + image as usize * PAGE_BYTES;
        let bytes = self.bytes[offset..].first_chunk().expect("the header's sizes were checked");
        (offset as u64, bytes)
    }

    /// The header.
    pub fn header(&self) -> &AreaHeader {
        &self.header
    }

    /// A table's entry; `None` when there are not so many tables.
    pub fn table(&self, table: u32) -> Option<TableEntry> {
        self.tables.get(table as usize).map(TableEntry::decode)
    }

    /// The schema of a table, if the area has it.
    pub fn schema(&self, table: TableEntry) -> Option<&'a [u8]> {
        let from = table.schema_at as usize;
        (table.schema_bytes != 0).then(|| &self.bytes[from..from + table.schema_bytes as usize])
    }

    /// The VID entries of a table, in the order of VIDs.
    pub fn vids_of(&self, table: TableEntry) -> impl ExactSizeIterator<Item = VidEntry> + use<'a> {
        let first = table.first as usize;
        self.vids[first..first + table.changed as usize].iter().map(VidEntry::decode)
    }

    /// The VID entries of a table from this VID on.
    pub fn vids_from(
        &self,
        table: TableEntry,
        vid: u32,
    ) -> impl ExactSizeIterator<Item = VidEntry> + use<'a> {
        let first = table.first as usize;
        let entries = &self.vids[first..first + table.changed as usize];
        let from = entries.partition_point(|entry| VidEntry::decode(entry).vid < vid);
        entries[from..].iter().map(VidEntry::decode)
    }

    /// What the area says of a VID: `None` when it is as the checkpoint has it.
    pub fn head(&self, table: TableEntry, vid: u32) -> Option<RecordId> {
        let entry = self.vids_from(table, vid).next().filter(|entry| entry.vid == vid)?;
        Some(RecordId::from_word(entry.record))
    }

    /// Which image is that of a logical page: `None` when the page is as the checkpoint has it.
    #[inline]
    pub fn image_of(&self, page: u64) -> Option<u32> {
        let at = self.pages.binary_search_by_key(&page, |entry| PageEntry::decode(entry).page);
        Some(PageEntry::decode(&self.pages[at.ok()?]).image)
    }

    /// An image.
    ///
    /// # Panics
    /// When there are not so many.
    #[inline]
    pub fn image_page(&self, image: u32) -> Page<'a> {
        Page::new(self.image(image).1)
    }

    /// The image of a logical page: `None` when the page is as the checkpoint has it.
    pub fn page(&self, page: u64) -> Option<Page<'a>> {
        self.image_of(page).map(|image| self.image_page(image))
    }

    /// All logical pages that have an image.
    pub fn pages(&self) -> impl ExactSizeIterator<Item = u64> + use<'a> {
        self.pages.iter().map(|entry| PageEntry::decode(entry).page)
    }
}
