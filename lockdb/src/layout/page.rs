// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages: a header, line pointers that grow upward, tuple versions that grow downward.

use std::mem::offset_of;

use super::RecordId;

/// Size of a page, logical or physical.
pub const PAGE_BYTES: usize = 8192;

/// What a version costs beside its payload and its line pointer.
pub const VERSION_BYTES: usize = size_of::<VersionHeader>();

/// The first 64 bytes of every page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct PageHeader {
    /// [`PageHeader::MAGIC`].
    pub magic: u32,
    /// CRC-32C of everything after this field.
    pub checksum: u32,
    /// The logical page, or the number of the map page.
    pub page: u64,
    /// The table that its tuples belong to.
    pub table: u32,
    /// Line pointers in use.
    pub lines: u16,
    /// Offset of the lowest byte that a version occupies; [`PAGE_BYTES`] when there is none.
    pub upper: u16,
    /// The largest creating timestamp in the page.
    pub newest: u64,
    /// The checkpoint that wrote the page.
    pub epoch: u64,
    /// A [`PageKind`].
    pub kind: u32,
    /// Zero.
    pub reserved: [u8; 12],
    /// Identity of the store that wrote the page.
    pub store: u64,
}

/// The contents of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PageKind {
    /// Tuple versions.
    Data = 1,
    /// A chunk of a table's VID map: 1,016 RecordIDs.
    VidMap = 2,
    /// A chunk of the L2P map: 1,016 [places](super::Place).
    PageMap = 3,
    /// Schemas, and where the map pages stand.
    Directory = 4,
}

/// The number of the last version that a row can have. One is left for its tombstone.
pub const LAST_VERSION: u32 = u32::MAX - 1;

/// The number of a row's next version after `number` (0: it has none). `None` after the last: numbers
/// name what is locked, so none comes again.
#[inline]
pub const fn next_version(number: u32) -> Option<u32> {
    if number < LAST_VERSION { Some(number + 1) } else { None }
}

/// The first 32 bytes of a tuple version; the payload follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct VersionHeader {
    /// Commit timestamp of the transaction that created the version (`TX_C` or `TX_U` of the
    /// paper's Figure 2).
    pub created: u64,
    /// A hint: a commit by which it was superseded, that of its successor or a later one; its own when
    /// it was moved elsewhere; 0 when not known here.
    pub invalidated: u64,
    /// The version before this one.
    pub predecessor: u64,
    /// The tuple's VID.
    pub vid: u32,
    /// The version's number, from 1; of a row at most [`LAST_VERSION`].
    pub version: u32,
}

const _: () = {
    assert!(size_of::<PageHeader>() == 64 && size_of::<VersionHeader>() == 32);
    assert!(offset_of!(PageHeader, page) == 8 && offset_of!(PageHeader, table) == 16);
    assert!(offset_of!(PageHeader, lines) == 20 && offset_of!(PageHeader, upper) == 22);
    assert!(offset_of!(PageHeader, newest) == 24 && offset_of!(PageHeader, epoch) == 32);
    assert!(offset_of!(PageHeader, kind) == 40 && offset_of!(PageHeader, store) == 56);
    assert!(offset_of!(VersionHeader, predecessor) == 16 && offset_of!(VersionHeader, vid) == 24);
    assert!(cfg!(target_endian = "little"), "pages are read and written as they stand");
};

impl PageHeader {
    /// Size of a page's header.
    pub const BYTES: usize = size_of::<PageHeader>();
    /// "LKPG".
    pub const MAGIC: u32 = u32::from_le_bytes(*b"LKPG");

    /// The header of an empty page.
    pub fn new(kind: PageKind, page: u64, table: u32) -> Self {
        let upper = PAGE_BYTES as u16;
        Self { magic: Self::MAGIC, page, table, upper, kind: kind as u32, ..Self::default() }
    }
}

/// Where a version stands in its page: bits 13:0 its offset, 27:14 the bytes of its payload,
/// bit 28 whether it is a tombstone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct LinePointer(pub u32);

impl LinePointer {
    /// Size of a line pointer.
    pub const BYTES: usize = 4;
    const FIELD: u32 = 0x3FFF;

    /// A line pointer.
    #[inline]
    pub const fn new(offset: usize, payload: usize, tombstone: bool) -> Self {
        debug_assert!(offset < PAGE_BYTES && payload < PAGE_BYTES);
        Self(offset as u32 | (payload as u32) << 14 | (tombstone as u32) << 28)
    }

    /// Offset of the version's header in the page.
    #[inline]
    pub const fn offset(self) -> usize {
        (self.0 & Self::FIELD) as usize
    }

    /// Bytes of the payload.
    #[inline]
    pub const fn payload(self) -> usize {
        (self.0 >> 14 & Self::FIELD) as usize
    }

    /// Whether the version says that the tuple is deleted. Its payload is the row as it was.
    #[inline]
    pub const fn is_tombstone(self) -> bool {
        self.0 >> 28 & 1 != 0
    }

    /// Offset of line `line` in its page.
    #[inline]
    pub const fn at(line: usize) -> usize {
        PageHeader::BYTES + line * Self::BYTES
    }
}

/// What a version with such a payload takes of a page, without its line pointer.
#[inline]
pub const fn placed_bytes(payload: usize) -> usize {
    (VERSION_BYTES + payload).next_multiple_of(8)
}

/// A page's bytes, aligned as the region aligns them.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct PageBuffer(pub [u8; PAGE_BYTES]);

impl PageBuffer {
    /// Zeroes.
    pub const ZERO: PageBuffer = PageBuffer([0; PAGE_BYTES]);

    /// Writes the header with the checksum of the page as it stands.
    pub fn finalize(&mut self, header: PageHeader) {
        self.put_header(PageHeader { magic: PageHeader::MAGIC, ..header });
        let checksum = crc32c::crc32c(&self.0[8..]);
        self.0[4..8].copy_from_slice(&checksum.to_le_bytes());
    }

    pub(crate) fn put_header(&mut self, header: PageHeader) {
        let PageHeader {
            magic,
            checksum,
            page,
            table,
            lines,
            upper,
            newest,
            epoch,
            kind,
            reserved,
            store,
        } = header;
        self.0[0..4].copy_from_slice(&magic.to_le_bytes());
        self.0[4..8].copy_from_slice(&checksum.to_le_bytes());
        self.0[8..16].copy_from_slice(&page.to_le_bytes());
        self.0[16..20].copy_from_slice(&table.to_le_bytes());
        self.0[20..22].copy_from_slice(&lines.to_le_bytes());
        self.0[22..24].copy_from_slice(&upper.to_le_bytes());
        self.0[24..32].copy_from_slice(&newest.to_le_bytes());
        self.0[32..40].copy_from_slice(&epoch.to_le_bytes());
        self.0[40..44].copy_from_slice(&kind.to_le_bytes());
        self.0[44..56].copy_from_slice(&reserved);
        self.0[56..64].copy_from_slice(&store.to_le_bytes());
    }
}

/// The error in a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The file ends before it.
    #[error("the file ends before the page does")]
    BeyondEnd,
    /// It is none.
    #[error("magic {found:#010x}, expected {expected:#010x}", expected = PageHeader::MAGIC)]
    Magic {
        /// The value found there.
        found: u32,
    },
    /// Its bytes have changed.
    #[error("checksum {found:#010x}, the bytes give {expected:#010x}")]
    Checksum {
        /// The value in the header.
        found: u32,
        /// Of the page's bytes.
        expected: u32,
    },
    /// Another page stands in its place.
    #[error("{field} {found}, expected {expected}")]
    Stranger {
        /// Which field of the header.
        field: &'static str,
        /// The value found there.
        found: u64,
        /// The name that was looked up.
        expected: u64,
    },
    /// A line pointer, or the number of them, points out of the page.
    #[error("line {line} of {lines} (at offset {offset}) is not inside the page")]
    Line {
        /// The line.
        line: usize,
        /// Lines in the page, by its header.
        lines: usize,
        /// Where the line pointer points.
        offset: usize,
    },
}

/// A page read from untrusted bytes.
#[derive(Clone, Copy)]
pub struct Page<'a>(&'a [u8; PAGE_BYTES]);

impl<'a> Page<'a> {
    /// Reads bytes as a page, without a look at them.
    pub fn new(bytes: &'a [u8; PAGE_BYTES]) -> Self {
        Self(bytes)
    }

    /// Reads bytes as a page after checking all that can be: magic, checksum, and that it is the
    /// page that was looked for. Every line of a data page lies inside it.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn verified(
        bytes: &'a [u8; PAGE_BYTES],
        kind: PageKind,
        page: u64,
    ) -> Result<Self, PageError> {
        let checked = Self::identified(bytes, kind, page)?;
        if kind == PageKind::Data {
            checked.check_lines()?;
        }
        Ok(checked)
    }

    /// Reads bytes as a page after checking magic, checksum, and that it is the page that was looked
    /// for. Lines are to be checked when they are used.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn identified(
        bytes: &'a [u8; PAGE_BYTES],
        kind: PageKind,
        page: u64,
    ) -> Result<Self, PageError> {
        let checked = Self(bytes);
        let header = checked.header();
        if header.magic != PageHeader::MAGIC {
            return Err(PageError::Magic { found: header.magic });
        }
        let expected = crc32c::crc32c(&bytes[8..]);
        if header.checksum != expected {
            return Err(PageError::Checksum { found: header.checksum, expected });
        }
        for (field, found, expected) in [
            ("kind", u64::from(header.kind), u64::from(kind as u32)),
            ("page number", header.page, page),
        ] {
            if found != expected {
                return Err(PageError::Stranger { field, found, expected });
            }
        }
        Ok(checked)
    }

    fn check_lines(self) -> Result<(), PageError> {
        let lines = self.lines();
        let lines_end = LinePointer::at(lines);
        if lines_end > PAGE_BYTES {
            return Err(PageError::Line { line: lines, lines, offset: lines_end });
        }
        for line in 0..lines {
            let pointer = self.line(line);
            let (offset, end) =
                (pointer.offset(), pointer.offset() + placed_bytes(pointer.payload()));
            if !offset.is_multiple_of(8) || offset < lines_end || end > PAGE_BYTES {
                return Err(PageError::Line { line, lines, offset });
            }
        }
        Ok(())
    }

    /// All bytes.
    pub fn bytes(self) -> &'a [u8; PAGE_BYTES] {
        self.0
    }

    /// The header.
    pub fn header(self) -> PageHeader {
        let mut reserved = [0; 12];
        reserved.copy_from_slice(&self.0[44..56]);
        PageHeader {
            magic: self.u32(0),
            checksum: self.u32(4),
            page: self.u64(8),
            table: self.u32(16),
            lines: self.u32(20) as u16,
            upper: (self.u32(20) >> 16) as u16,
            newest: self.u64(24),
            epoch: self.u64(32),
            kind: self.u32(40),
            reserved,
            store: self.u64(56),
        }
    }

    /// Line pointers in use.
    pub fn lines(self) -> usize {
        usize::from(self.u32(20) as u16)
    }

    /// A line pointer.
    ///
    /// # Panics
    /// When it would lie beyond the page.
    pub fn line(self, line: usize) -> LinePointer {
        LinePointer(self.u32(LinePointer::at(line)))
    }

    /// The version at a line: header, payload, and whether it is a tombstone. `None` when the page
    /// has no such line.
    pub fn version(self, line: usize) -> Option<(VersionHeader, &'a [u8], bool)> {
        if line >= self.lines() || LinePointer::at(line + 1) > PAGE_BYTES {
            return None;
        }
        let pointer = self.line(line);
        let start = pointer.offset();
        let payload =
            self.0.get(start + VERSION_BYTES..start + VERSION_BYTES + pointer.payload())?;
        Some((self.version_at(start), payload, pointer.is_tombstone()))
    }

    /// The header of the version at an offset.
    ///
    /// # Panics
    /// When it would lie beyond the page.
    #[inline]
    pub fn version_at(self, offset: usize) -> VersionHeader {
        VersionHeader {
            created: self.u64(offset),
            invalidated: self.u64(offset + 8),
            predecessor: self.u64(offset + 16),
            vid: self.u32(offset + 24),
            version: self.u32(offset + 28),
        }
    }

    /// All versions, by their RecordIDs.
    pub fn versions(self) -> impl Iterator<Item = (RecordId, VersionHeader, &'a [u8], bool)> {
        let page = self.header().page;
        (0..self.lines()).filter_map(move |line| {
            let (header, payload, tombstone) = self.version(line)?;
            Some((RecordId::new(page, line as u8), header, payload, tombstone))
        })
    }

    fn u32(self, at: usize) -> u32 {
        u32::from_le_bytes(self.0[at..at + 4].try_into().expect("four bytes"))
    }

    fn u64(self, at: usize) -> u64 {
        u64::from_le_bytes(self.0[at..at + 8].try_into().expect("eight bytes"))
    }
}
