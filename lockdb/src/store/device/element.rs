//! A processing element: the visibility check of one part of a table's VID map.

use std::ops::{ControlFlow, Range};

use super::super::layout::{MAP_WORDS, Page, PageBuffer, PageKind, RecordId, VersionHeader};
use super::super::schema::{RowError, RowRef, Schema};
use super::super::visibility::{self, Seen, Step};
use super::error::DeviceError;
use super::native::PhysicalPages;
use super::reader::DeviceReader;

/// Pages of storage that an element keeps, at most, of 8 KiB each.
const FRAMES: usize = 4096;

/// Finds the rows of a part of a table that a snapshot sees.
pub struct ProcessingElement<'r, 'a, P: PhysicalPages + ?Sized> {
    reader: &'r DeviceReader<'a, P>,
    table: u32,
    snapshot: u64,
    vids: Range<u32>,
    /// Pages that it has read, and checked, each where its number says. Like a cache in hardware.
    /// Empty until there is the first.
    frames: Vec<Option<Frame>>,
    /// The piece of the VID map that it has.
    heads: Box<PageBuffer>,
}

struct Frame {
    number: u64,
    page: Box<PageBuffer>,
}

/// A row that the snapshot sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceRow<'a> {
    /// Its tuple.
    pub vid: u32,
    /// The version that is seen.
    pub record: RecordId,
    /// Who created that version.
    pub created: u64,
    /// The version's number.
    pub number: u32,
    /// The row's bytes, by its table's schema.
    pub payload: &'a [u8],
}

impl<'a> DeviceRow<'a> {
    /// The row, to read its columns.
    ///
    /// # Errors
    /// When the bytes break the schema.
    pub fn columns(&self, schema: &'a Schema) -> Result<RowRef<'a>, RowError> {
        schema.check(self.payload)?;
        Ok(RowRef::new(schema, self.payload))
    }
}

/// Where a page was found.
#[derive(Clone, Copy)]
enum Found<'a> {
    InArea(Page<'a>),
    InFrame(usize),
}

impl<'r, 'a, P: PhysicalPages + ?Sized> ProcessingElement<'r, 'a, P> {
    pub(super) fn new(
        reader: &'r DeviceReader<'a, P>,
        table: u32,
        snapshot: u64,
        vids: Range<u32>,
    ) -> Self {
        let heads = Box::new(PageBuffer::ZERO);
        Self { reader, table, snapshot, vids, frames: Vec::new(), heads }
    }

    /// The VIDs that are its part.
    pub fn vids(&self) -> Range<u32> {
        self.vids.clone()
    }

    /// Visits all rows of its part, in the order of their VIDs, until `visit` breaks off.
    ///
    /// # Errors
    /// When a page is damaged, or a chain leads nowhere.
    pub fn visit(
        &mut self,
        mut visit: impl FnMut(DeviceRow<'_>) -> ControlFlow<()>,
    ) -> Result<(), DeviceError> {
        let Range { start, end } = self.vids;
        let entry = self.reader.table(self.table).entry;
        let mut changed = self.reader.area().vids_from(entry, start).peekable();
        let mut next = start;
        while next < end {
            let piece = next as usize / MAP_WORDS;
            let until = ((piece as u64 + 1) * MAP_WORDS as u64).min(end.into()) as u32;
            // Two sorted streams are merged: the checkpoint's heads, and the changes.
            if self.reader.read_vids(self.table, piece, &mut self.heads)? {
                for vid in next..until {
                    let head = match changed.next_if(|entry| entry.vid == vid) {
                        Some(entry) => RecordId::from_word(entry.record),
                        None => self.old_head(vid),
                    };
                    if self.see(vid, head)?.is_some_and(|row| visit(row).is_break()) {
                        return Ok(());
                    }
                }
            } else {
                while let Some(entry) = changed.next_if(|entry| entry.vid < until) {
                    let head = RecordId::from_word(entry.record);
                    if self.see(entry.vid, head)?.is_some_and(|row| visit(row).is_break()) {
                        return Ok(());
                    }
                }
            }
            next = until;
        }
        Ok(())
    }

    /// The row of one VID, of its part or not.
    ///
    /// # Errors
    /// As [`ProcessingElement::visit`].
    pub fn row(&mut self, vid: u32) -> Result<Option<DeviceRow<'_>>, DeviceError> {
        let (reader, piece) = (self.reader, vid as usize / MAP_WORDS);
        let head = match reader.area().head(reader.table(self.table).entry, vid) {
            Some(head) => head,
            None if reader.read_vids(self.table, piece, &mut self.heads)? => self.old_head(vid),
            None => RecordId::NONE,
        };
        self.see(vid, head)
    }

    /// Of the piece that it has.
    fn old_head(&self, vid: u32) -> RecordId {
        let word = Page::new(&self.heads.0).word(vid as usize % MAP_WORDS);
        RecordId::from_word(word)
    }

    /// Walks a tuple's chain to the version that the snapshot sees.
    fn see(&mut self, vid: u32, head: RecordId) -> Result<Option<DeviceRow<'_>>, DeviceError> {
        let mut at = visibility::enter(head);
        let mut newer = u64::MAX;
        while let Step::Look(record) = at {
            let found = self.find_page(vid, record)?;
            let (version, _, tombstone) = self.version(found, vid, record)?;
            if version.created >= newer {
                return Err(self.broken(vid, record, "is not older than its successor"));
            }
            newer = version.created;
            let predecessor = RecordId::from_word(version.predecessor);
            at = visibility::step(
                self.snapshot,
                Seen { created: version.created, predecessor, tombstone },
            );
            if at == Step::Visible {
                let (_, payload, _) = self.version(found, vid, record)?;
                let VersionHeader { created, version: number, .. } = version;
                return Ok(Some(DeviceRow { vid, record, created, number, payload }));
            }
        }
        Ok(None)
    }

    fn version(
        &self,
        found: Found<'a>,
        vid: u32,
        record: RecordId,
    ) -> Result<(VersionHeader, &[u8], bool), DeviceError> {
        let page = match found {
            Found::InArea(page) => page,
            Found::InFrame(at) => {
                let frame = self.frames[at].as_ref().expect("a page was just put there");
                Page::new(&frame.page.0)
            }
        };
        if page.header().table != self.table {
            return Err(self.broken(vid, record, "is in a page of another table"));
        }
        match page.version(usize::from(record.line())) {
            None => Err(self.broken(vid, record, "is a line that its page does not have")),
            Some((version, ..)) if version.vid != vid => {
                Err(self.broken(vid, record, "is a version of another tuple"))
            }
            Some(version) => Ok(version),
        }
    }

    /// Finds a record's page: the shared state first, then native storage.
    fn find_page(&mut self, vid: u32, record: RecordId) -> Result<Found<'a>, DeviceError> {
        let page = record.page();
        if let Some(image) = self.reader.area().page(page) {
            return Ok(Found::InArea(image));
        }
        let place = self.reader.place(page);
        if place == 0 {
            return Err(self.broken(vid, record, "is in a page that has no place"));
        }
        self.frames.resize_with(FRAMES, || None);
        let at = page as usize % FRAMES;
        if self.frames[at].as_ref().is_none_or(|frame| frame.number != page) {
            let frame = self.frames[at].take();
            let mut buffer = frame.map_or_else(|| Box::new(PageBuffer::ZERO), |frame| frame.page);
            self.reader.storage().read(PageKind::Data, page, place, &mut buffer)?;
            self.frames[at] = Some(Frame { number: page, page: buffer });
        }
        Ok(Found::InFrame(at))
    }

    fn broken(&self, vid: u32, record: RecordId, what: &'static str) -> DeviceError {
        DeviceError::Version { table: self.table, vid, record, what }
    }
}
