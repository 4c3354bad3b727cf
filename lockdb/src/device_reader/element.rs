// SPDX-License-Identifier: MIT OR Apache-2.0
//! A processing element: the visibility check of one part of a table's VID map.

use std::ops::{ControlFlow, Range};

use super::super::layout::{
    LinePointer, MAP_WORDS, Page, PageBuffer, PageKind, Place, RecordId, VersionHeader,
};
use super::super::schema::{RowError, RowRef, Schema};
use super::error::DeviceError;
use super::native::PhysicalPages;
use super::reader::DeviceReader;
use super::walk::{PageAt, PageFacts, Visible, Walk, WalkError, WalkMemory};

/// Pages of storage that an element keeps, at most, of 8 KiB each.
const FRAMES: usize = 4096;

/// Finds the rows of a part of a table that a snapshot sees.
pub struct ProcessingElement<'r, 'a, P: PhysicalPages + ?Sized> {
    pages: CheckedPages<'r, 'a, P>,
    table: u32,
    snapshot: u64,
    vids: Range<u32>,
    /// The chunk of the VID map that it has.
    heads: Box<PageBuffer>,
}

/// The pages that walks lead to.
struct CheckedPages<'r, 'a, P: PhysicalPages + ?Sized> {
    reader: &'r DeviceReader<'a, P>,
    /// Pages that were read, each where its number says. Like a cache in hardware. Empty until there
    /// is the first.
    frames: Vec<Option<Frame>>,
}

/// A page of storage, checked once: a page that fails stays as it is.
struct Frame {
    number: u64,
    page: Box<PageBuffer>,
    checked: Result<PageFacts, DeviceError>,
}

/// A VID whose row cannot be determined, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("VID {vid}, fault {code}: {error}", code = fault.code())]
pub struct BrokenWalkError {
    /// The tuple.
    pub vid: u32,
    /// The fault, with the code that hardware reports.
    pub fault: WalkError,
    /// The version that the walk was at, or on its way to; [`RecordId::NONE`] when not even the
    /// chunk of the VID map can be read that has the tuple.
    pub record: RecordId,
    /// The fault, with its place.
    pub error: DeviceError,
}

/// A row that the snapshot sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceRow<'a> {
    /// Its tuple.
    pub vid: u32,
    /// The version that is seen.
    pub record: RecordId,
    /// The commit that created that version.
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

impl<'r, 'a, P: PhysicalPages + ?Sized> ProcessingElement<'r, 'a, P> {
    pub(super) fn new(
        reader: &'r DeviceReader<'a, P>,
        table: u32,
        snapshot: u64,
        vids: Range<u32>,
    ) -> Self {
        let heads = Box::new(PageBuffer::ZERO);
        Self { pages: CheckedPages { reader, frames: Vec::new() }, table, snapshot, vids, heads }
    }

    /// The VIDs that are its part.
    pub fn vids(&self) -> Range<u32> {
        self.vids.clone()
    }

    /// Gives it another part, which may be beyond the one that it was made for. It keeps the pages
    /// that it has read.
    pub fn move_to(&mut self, vids: Range<u32>) {
        self.vids = vids;
    }

    /// Visits all rows of its part, in the order of their VIDs, until `visit` breaks off.
    ///
    /// # Errors
    /// When a page is damaged, or a chain leads nowhere.
    pub fn visit(
        &mut self,
        mut visit: impl FnMut(DeviceRow<'_>) -> ControlFlow<()>,
    ) -> Result<(), DeviceError> {
        let mut failed = Ok(());
        self.visit_each(|row| match row {
            Ok(row) => visit(row),
            Err(broken) => {
                failed = Err(broken.error);
                ControlFlow::Break(())
            }
        });
        failed
    }

    /// Visits all rows of its part, in the order of their VIDs, until `visit` breaks off. A VID whose
    /// row cannot be determined is visited with its fault, and does not end the part.
    pub fn visit_each(
        &mut self,
        mut visit: impl FnMut(Result<DeviceRow<'_>, BrokenWalkError>) -> ControlFlow<()>,
    ) {
        let Range { start, end } = self.vids;
        let reader = self.pages.reader;
        let mut changed = reader.area().vids_from(reader.table(self.table).entry, start).peekable();
        let mut next = start;
        while next < end {
            let chunk = next as usize / MAP_WORDS;
            let until = ((chunk as u64 + 1) * MAP_WORDS as u64).min(end.into()) as u32;
            // Two sorted streams are merged: the checkpoint's heads, and the changes.
            let read = reader.read_vids(self.table, chunk, &mut self.heads);
            for vid in next..until {
                let row = match (changed.next_if(|entry| entry.vid == vid), &read) {
                    (Some(entry), _) => self.see(vid, RecordId::from_word(entry.record)),
                    (None, Ok(true)) => self.see(vid, self.old_head(vid)),
                    (None, Ok(false)) => Ok(None),
                    (None, Err(error)) => Err(BrokenWalkError::without_head(vid, error.clone())),
                };
                if row.transpose().is_some_and(|row| visit(row).is_break()) {
                    return;
                }
            }
            next = until;
        }
    }

    /// The row of one VID, of its part or not.
    ///
    /// # Errors
    /// As [`ProcessingElement::visit`].
    pub fn row(&mut self, vid: u32) -> Result<Option<DeviceRow<'_>>, DeviceError> {
        let (reader, chunk) = (self.pages.reader, vid as usize / MAP_WORDS);
        let head = match reader.area().head(reader.table(self.table).entry, vid) {
            Some(head) => head,
            None if reader.read_vids(self.table, chunk, &mut self.heads)? => self.old_head(vid),
            None => RecordId::NONE,
        };
        self.see(vid, head).map_err(|broken| broken.error)
    }

    /// Of the chunk that it has.
    fn old_head(&self, vid: u32) -> RecordId {
        let word = Page::new(&self.heads.0).word(vid as usize % MAP_WORDS);
        RecordId::from_word(word)
    }

    /// Walks a tuple's chain to the version that the snapshot sees.
    #[inline]
    fn see(&mut self, vid: u32, head: RecordId) -> Result<Option<DeviceRow<'_>>, BrokenWalkError> {
        let mut walk = Walk::new(self.table, self.snapshot, vid, head);
        let version = match walk.run(&mut self.pages) {
            Ok(Some(version)) => version,
            Ok(None) => return Ok(None),
            Err(fault) => return Err(self.broken(&walk, fault)),
        };
        let Visible { record, at, offset, payload, created, number } = version;
        let payload = &self.pages.page(record.page(), at).bytes()[offset..offset + payload];
        Ok(Some(DeviceRow { vid, record, created, number, payload }))
    }

    #[cold]
    fn broken(&self, walk: &Walk, fault: WalkError) -> BrokenWalkError {
        let (vid, record) = (walk.vid(), walk.record());
        let of_page = self.pages.failure(record.page()).filter(|_| fault <= WalkError::Stranger);
        let error =
            of_page.unwrap_or(DeviceError::Version { table: self.table, vid, record, fault });
        BrokenWalkError { vid, fault, record, error }
    }
}

impl BrokenWalkError {
    #[cold]
    fn without_head(vid: u32, error: DeviceError) -> Self {
        Self { vid, fault: error.walk_fault(), record: RecordId::NONE, error }
    }
}

impl<'a, P: PhysicalPages + ?Sized> CheckedPages<'_, 'a, P> {
    /// A page that was checked.
    #[inline]
    fn page(&self, page: u64, at: PageAt) -> Page<'_> {
        match at {
            PageAt::Image(image) => self.reader.area().image_page(image),
            PageAt::Stored(_) => {
                let frame = self.frames[page as usize % FRAMES].as_ref();
                Page::new(&frame.expect("the page was checked just now").page.0)
            }
        }
    }

    /// What is wrong with a page, if that is why a walk has ended.
    fn failure(&self, page: u64) -> Option<DeviceError> {
        let frame = self.frames.get(page as usize % FRAMES)?.as_ref()?;
        frame.checked.as_ref().err().filter(|_| frame.number == page).cloned()
    }

    fn read(&mut self, page: u64, place: Place) -> Result<PageFacts, WalkError> {
        self.frames.resize_with(FRAMES, || None);
        let frame = &mut self.frames[page as usize % FRAMES];
        if frame.as_ref().is_none_or(|frame| frame.number != page) {
            let mut buffer = match frame.take() {
                Some(frame) => frame.page,
                None => Box::new(PageBuffer::ZERO),
            };
            let read = self.reader.storage().read(PageKind::Data, page, place, &mut buffer);
            let checked = read.map(|header| PageFacts::of(&header));
            *frame = Some(Frame { number: page, page: buffer, checked });
        }
        let frame = frame.as_ref().expect("a page was just put there");
        frame.checked.as_ref().copied().map_err(DeviceError::walk_fault)
    }
}

impl<P: PhysicalPages + ?Sized> WalkMemory for CheckedPages<'_, '_, P> {
    #[inline]
    fn place(&mut self, page: u64) -> Result<PageAt, WalkError> {
        Ok(match self.reader.area().image_of(page) {
            Some(image) => PageAt::Image(image),
            None => PageAt::Stored(self.reader.place(page)),
        })
    }

    #[inline]
    fn check(&mut self, page: u64, at: PageAt) -> Result<PageFacts, WalkError> {
        match at {
            // The whole area was checked when the reader was opened.
            PageAt::Image(_) => Ok(PageFacts::of(&self.page(page, at).header())),
            PageAt::Stored(place) => self.read(page, place),
        }
    }

    #[inline]
    fn line(&mut self, page: u64, at: PageAt, line: u8) -> Result<LinePointer, WalkError> {
        Ok(self.page(page, at).line(line.into()))
    }

    #[inline]
    fn version(
        &mut self,
        page: u64,
        at: PageAt,
        offset: usize,
    ) -> Result<VersionHeader, WalkError> {
        Ok(self.page(page, at).version_at(offset))
    }
}
