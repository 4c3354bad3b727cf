// SPDX-License-Identifier: MIT OR Apache-2.0
//! The walk of one VID, as a pure machine: what to fetch next, and what follows from it.
//!
//! It refines the [visibility rule](super::super::visibility), which it uses: it handles versions
//! in pages, the places of pages, and the possible errors of each. It does not read anything
//! itself. The element in software drives it with bytes that are at hand ([`Walk::run`]), an
//! actor in virtual time with answers that come later, and the hardware is compared with it.
//!
//! A hop, from a [`RecordId`] to the next older one, takes four fetches: where the page stands
//! ([`Next::Place`]), what the check of the page has found ([`Next::Check`]), the line pointer
//! ([`Next::Line`]) and the version's header ([`Next::Version`]). All checks of a hop are made in the
//! order of their codes. What comes out depends on the bytes alone, not on what was walked before.
//!
//! Source: ccSLT paper, section 2.3, the visibility check of a processing element.

use super::super::layout::{
    LinePointer, PAGE_BYTES, Page, PageError, PageHeader, PageKind, Place, RecordId, VERSION_BYTES,
    VersionHeader, placed_bytes,
};
use super::super::visibility::{self, Seen, Step};

/// What a walk may meet that ends it without an answer. Its number is the code that hardware
/// reports; the checks of one hop are made in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[repr(u8)]
pub enum WalkError {
    /// The page has neither an image in the shared state nor a place in the L2P map.
    #[error("is in a page that has no place")]
    NoPlace = 1,
    /// Its place lies beyond the end of native storage.
    #[error("is in a page beyond the end of storage")]
    BeyondStorage = 2,
    /// What stands there is no page, or its bytes have changed.
    #[error("is in a page whose checksum is wrong")]
    Checksum = 3,
    /// Another page stands there: by its kind, number, store, or the checkpoint that wrote it. (Of an
    /// image in the shared state: by kind and number.)
    #[error("is in a place where another page stands")]
    Stranger = 4,
    /// The page belongs to another table.
    #[error("is in a page of another table")]
    OtherTable = 5,
    /// The page has no such line: the line is not below [`PageHeader::lines`].
    #[error("is a line that its page does not have")]
    NoLine = 6,
    /// The line pointer does not lead to a version in the page: its offset is no multiple of 8, or
    /// lies before the end of all line pointers, or the version ends behind the page.
    #[error("is a line that leads out of its page")]
    BadLine = 7,
    /// The version is of another tuple.
    #[error("is a version of another tuple")]
    OtherTuple = 8,
    /// The version is not older than its successor. Every cycle ends here.
    #[error("is not older than its successor")]
    NotOlder = 9,
    /// Memory has answered with an error. Of hardware alone.
    #[error("is where memory has answered with an error")]
    Bus = 10,
}

impl WalkError {
    /// All, in the order of their codes.
    pub const ALL: [Self; 10] = [
        Self::NoPlace,
        Self::BeyondStorage,
        Self::Checksum,
        Self::Stranger,
        Self::OtherTable,
        Self::NoLine,
        Self::BadLine,
        Self::OtherTuple,
        Self::NotOlder,
        Self::Bus,
    ];

    /// The number that hardware and result sets have for it.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Of such a number; `None` when it is of no fault.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code).checked_sub(1)?).copied()
    }
}

impl From<PageError> for WalkError {
    fn from(fault: PageError) -> Self {
        match fault {
            PageError::BeyondEnd => Self::BeyondStorage,
            PageError::Magic { .. } | PageError::Checksum { .. } => Self::Checksum,
            PageError::Stranger { .. } => Self::Stranger,
            PageError::Line { .. } => Self::BadLine,
        }
    }
}

/// Where a logical page stands for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageAt {
    /// In the shared state: which of its images.
    Image(u32),
    /// On native storage; [`Place::NONE`] when it stands nowhere.
    Stored(Place),
}

/// The properties of a checked data page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFacts {
    /// The table that its tuples belong to.
    pub table: u32,
    /// Line pointers in use.
    pub lines: u16,
}

impl PageFacts {
    /// Of a header that was checked.
    pub fn of(header: &PageHeader) -> Self {
        Self { table: header.table, lines: header.lines }
    }

    /// Checks an image of the shared state.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn of_image(bytes: &[u8; PAGE_BYTES], page: u64) -> Result<Self, PageError> {
        Ok(Self::of(&Page::identified(bytes, PageKind::Data, page)?.header()))
    }
}

/// The checkpoint that a shared state is relative to: which pages on storage are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lineage {
    /// Identity of the store.
    pub store: u64,
    /// The checkpoint's number.
    pub epoch: u64,
}

impl Lineage {
    /// Checks bytes that stand at `place` of native storage, and gives their header. Of data pages,
    /// lines are not looked at.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(
        self,
        bytes: &[u8; PAGE_BYTES],
        kind: PageKind,
        page: u64,
        place: Place,
    ) -> Result<PageHeader, PageError> {
        let header = Page::identified(bytes, kind, page)?.header();
        let stranger = |field, found, expected| PageError::Stranger { field, found, expected };
        if header.store != self.store {
            return Err(stranger("store", header.store, self.store));
        }
        // Of a later checkpoint, or of another than the place says: what stood here was given up.
        if header.epoch > self.epoch || !place.is_of(header.epoch) {
            return Err(stranger("epoch", header.epoch, self.epoch));
        }
        Ok(header)
    }
}

/// The next need of a walk, or its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Where a logical page stands: the page entries of the shared state first, then the L2P map. To
    /// be answered by [`Walk::placed`].
    Place {
        /// The logical page.
        page: u64,
    },
    /// What the check of the page has found, now or when it was first touched. To be answered by
    /// [`Walk::checked`].
    Check {
        /// The logical page.
        page: u64,
        /// Where it stands.
        at: PageAt,
    },
    /// A line pointer: the four bytes at [`LinePointer::at`] of the page. To be answered by
    /// [`Walk::line`].
    Line {
        /// The logical page.
        page: u64,
        /// Where it stands.
        at: PageAt,
        /// The line, of those that the page has.
        line: u8,
    },
    /// A version's header: 32 bytes, inside the page, at a multiple of 8. To be answered by
    /// [`Walk::version`].
    Version {
        /// The logical page.
        page: u64,
        /// Where it stands.
        at: PageAt,
        /// Offset of the header in the page.
        offset: usize,
    },
    /// The end: the version that the snapshot sees.
    Visible(Visible),
    /// The end: the snapshot sees no row.
    Absent,
    /// The end: something is wrong.
    Fault(WalkError),
}

/// The version that a snapshot sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visible {
    /// The version.
    pub record: RecordId,
    /// Where its page stands.
    pub at: PageAt,
    /// Offset of its payload in the page.
    pub offset: usize,
    /// Bytes of the payload; they lie inside the page.
    pub payload: usize,
    /// The commit timestamp of its creator.
    pub created: u64,
    /// Its number.
    pub number: u32,
}

/// What a machine of walks reads.
pub trait WalkMemory {
    /// Where a logical page stands: an image of the shared state, or else what the L2P map says.
    ///
    /// # Errors
    /// [`WalkError::Bus`].
    fn place(&mut self, page: u64) -> Result<PageAt, WalkError>;

    /// Checks a page, or remembers what the check has found.
    ///
    /// # Errors
    /// [`WalkError::BeyondStorage`], [`WalkError::Checksum`], [`WalkError::Stranger`],
    /// [`WalkError::Bus`].
    fn check(&mut self, page: u64, at: PageAt) -> Result<PageFacts, WalkError>;

    /// Reads a line pointer of a page that was checked.
    ///
    /// # Errors
    /// [`WalkError::Bus`].
    fn line(&mut self, page: u64, at: PageAt, line: u8) -> Result<LinePointer, WalkError>;

    /// Reads the header of a version.
    ///
    /// # Errors
    /// [`WalkError::Bus`].
    fn version(&mut self, page: u64, at: PageAt, offset: usize)
    -> Result<VersionHeader, WalkError>;
}

/// The walk of one VID along its chain, new to old.
#[derive(Clone, Copy, Debug)]
pub struct Walk {
    table: u32,
    snapshot: u64,
    vid: u32,
    /// The version that it is on its way to.
    record: RecordId,
    /// The commit that created the version that it came from.
    newer: u64,
    /// Lines of the page that it is in.
    lines: u16,
    /// The line that it is at.
    pointer: LinePointer,
    next: Next,
}

impl Walk {
    /// From the head of a VID's chain: its entry in the shared state, or else its word in the VID map.
    #[inline]
    pub fn new(table: u32, snapshot: u64, vid: u32, head: RecordId) -> Self {
        let (lines, pointer) = (0, LinePointer(0));
        let (record, newer) = (head, u64::MAX);
        let mut walk =
            Self { table, snapshot, vid, record, newer, lines, pointer, next: Next::Absent };
        walk.follow(visibility::enter(head));
        walk
    }

    /// What it needs next, or its end.
    #[inline]
    pub fn next(&self) -> Next {
        self.next
    }

    /// The tuple.
    pub fn vid(&self) -> u32 {
        self.vid
    }

    /// The version that it is at, or on its way to. After a fault: where the fault is.
    #[inline]
    pub fn record(&self) -> RecordId {
        self.record
    }

    /// Where the page stands that it has asked for.
    ///
    /// # Panics
    /// When that is not what it has asked for; so do all answers.
    #[inline]
    pub fn placed(&mut self, at: PageAt) {
        let Next::Place { page } = self.next else { unasked(self.next) };
        self.next = match at {
            PageAt::Stored(Place::NONE) => Next::Fault(WalkError::NoPlace),
            at => Next::Check { page, at },
        };
    }

    /// The result of the page check.
    ///
    /// # Panics
    /// As [`Walk::placed`].
    #[inline]
    pub fn checked(&mut self, facts: PageFacts) {
        let Next::Check { page, at } = self.next else { unasked(self.next) };
        let line = self.record.line();
        self.lines = facts.lines;
        self.next = if facts.table != self.table {
            Next::Fault(WalkError::OtherTable)
        } else if u16::from(line) >= facts.lines {
            Next::Fault(WalkError::NoLine)
        } else {
            Next::Line { page, at, line }
        };
    }

    /// The line pointer.
    ///
    /// # Panics
    /// As [`Walk::placed`].
    #[inline]
    pub fn line(&mut self, pointer: LinePointer) {
        let Next::Line { page, at, .. } = self.next else { unasked(self.next) };
        let (offset, end) = (pointer.offset(), pointer.offset() + placed_bytes(pointer.payload()));
        let inside = offset >= LinePointer::at(self.lines.into()) && end <= PAGE_BYTES;
        self.pointer = pointer;
        self.next = match inside && offset.is_multiple_of(8) {
            true => Next::Version { page, at, offset },
            false => Next::Fault(WalkError::BadLine),
        };
    }

    /// The version's header.
    ///
    /// # Panics
    /// As [`Walk::placed`].
    #[inline]
    pub fn version(&mut self, header: VersionHeader) {
        let Next::Version { at, offset, .. } = self.next else { unasked(self.next) };
        let VersionHeader { created, predecessor, vid, version: number, .. } = header;
        if vid != self.vid {
            self.next = Next::Fault(WalkError::OtherTuple);
        } else if created >= self.newer {
            self.next = Next::Fault(WalkError::NotOlder);
        } else {
            let predecessor = RecordId::from_word(predecessor);
            let seen = Seen { created, predecessor, tombstone: self.pointer.is_tombstone() };
            self.newer = created;
            match visibility::step(self.snapshot, seen) {
                Step::Visible => {
                    let (record, payload) = (self.record, self.pointer.payload());
                    let offset = offset + VERSION_BYTES;
                    self.next =
                        Next::Visible(Visible { record, at, offset, payload, created, number });
                }
                other => self.follow(other),
            }
        }
    }

    /// The request cannot be fulfilled.
    pub fn failed(&mut self, fault: WalkError) {
        self.next = Next::Fault(fault);
    }

    #[inline]
    fn follow(&mut self, step: Step) {
        match step {
            Step::Look(record) => {
                self.record = record;
                self.next = Next::Place { page: record.page() };
            }
            Step::Absent => self.next = Next::Absent,
            Step::Visible => unreachable!("a version is visible where it has been looked at"),
        }
    }

    /// Walks to the end; `None` when the snapshot sees no row. A fault is at [`Walk::record`].
    ///
    /// # Errors
    /// The fault that ends it.
    #[inline]
    pub fn run(&mut self, memory: &mut impl WalkMemory) -> Result<Option<Visible>, WalkError> {
        loop {
            match self.next {
                Next::Place { page } => self.placed(memory.place(page)?),
                Next::Check { page, at } => self.checked(memory.check(page, at)?),
                Next::Line { page, at, line } => self.line(memory.line(page, at, line)?),
                Next::Version { page, at, offset } => {
                    self.version(memory.version(page, at, offset)?);
                }
                Next::Visible(version) => return Ok(Some(version)),
                Next::Absent => return Ok(None),
                Next::Fault(fault) => return Err(fault),
            }
        }
    }
}

#[cold]
fn unasked(next: Next) -> ! {
    panic!("an answer to something else than {next:?}")
}
