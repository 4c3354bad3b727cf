// SPDX-License-Identifier: MIT OR Apache-2.0
//! Page frames: the host's side of native storage, where versions are written and read.
//!
//! The frame of logical page *n* stands at byte *n* × 8,192, so that a RecordID leads to its
//! version without a look-up.
//!
//! Invariants, on which every `unsafe` block here rests:
//! 1. A frame has one writer at a time: the session that has the page open, or the loader of a page
//!    from storage before a RecordID into it can exist.
//! 2. A version's bytes are complete before its RecordID is published (with `Release`) in a VID map
//!    or a predecessor field, and do not change afterwards, except for the `invalidated` hint,
//!    which is only touched as an atomic.
//! 3. A frame is not written again after its retirement until every transaction that could hold a
//!    RecordID into it has ended.

use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use memmap2::{Advice, MmapRaw};

use super::Home;

use crate::layout::{
    LinePointer, PAGE_BYTES, Page, PageBuffer, PageHeader, RecordId, VERSION_BYTES, VersionHeader,
    placed_bytes,
};

/// The frames of all logical pages, reserved at once, taken as they are first touched.
#[derive(Debug)]
pub struct Region {
    map: MmapRaw,
    pages: u64,
}

const WORDS: usize = PAGE_BYTES / size_of::<u64>();

impl Region {
    /// Reserves the frames of logical pages 0 to `pages` − 1.
    ///
    /// # Errors
    /// When the system refuses the address space.
    pub fn reserve(home: &Home, pages: u64) -> io::Result<Self> {
        let bytes = usize::try_from(pages * PAGE_BYTES as u64).map_err(io::Error::other)?;
        let map = home.map("frames", bytes)?;
        // Fewer misses in the TLB; without huge pages everything works as well.
        let _ = map.advise(Advice::HugePage);
        Ok(Self { map, pages })
    }

    /// How many frames there are.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    #[inline]
    fn frame(&self, page: u64) -> *mut u8 {
        assert!(page < self.pages, "page {page} of {}", self.pages);
        // SAFETY: the frame lies inside the mapping, by the line above.
        unsafe { self.map.as_mut_ptr().add(page as usize * PAGE_BYTES) }
    }

    #[inline]
    fn word(&self, page: u64, word: usize) -> &AtomicU64 {
        assert!(word < WORDS);
        // SAFETY: inside the frame, aligned, and alive as long as `self`; all that is ever written
        // to a frame is written as atomics.
        unsafe { &*self.frame(page).cast::<AtomicU64>().add(word) }
    }

    #[inline]
    fn half_word(&self, page: u64, at: usize) -> &AtomicU32 {
        assert!(at < PAGE_BYTES && at.is_multiple_of(4));
        // SAFETY: as in `word`. Words of four and of eight bytes are not mixed for one location while
        // two threads access it: line pointers and the line count are published before others look.
        unsafe { &*self.frame(page).add(at).cast::<AtomicU32>() }
    }

    /// Makes a frame an empty data page of a table.
    ///
    /// The caller is the frame's one writer (invariants 1 and 3).
    pub fn format(&self, page: u64, header: PageHeader) {
        let mut buffer = PageBuffer::ZERO;
        buffer.finalize(header);
        self.put_halves(page, &buffer.0[..PageHeader::BYTES]);
    }

    /// Puts a whole page, read from storage and verified, into its frame.
    ///
    /// The caller is the frame's one writer, and publishes the page afterwards with `Release`.
    pub fn load(&self, page: u64, bytes: &[u8; PAGE_BYTES]) {
        let lines_end = LinePointer::at(usize::from(Page::new(bytes).header().lines));
        self.put_halves(page, &bytes[..lines_end]);
        for word in lines_end.div_ceil(8)..WORDS {
            let value = bytes[word * 8..word * 8 + 8].try_into().expect("eight bytes");
            self.word(page, word).store(u64::from_le_bytes(value), Ordering::Relaxed);
        }
    }

    /// Header and line pointers are accessed in words of four bytes, versions in words of eight.
    fn put_halves(&self, page: u64, bytes: &[u8]) {
        for (half, bytes) in bytes.as_chunks::<4>().0.iter().enumerate() {
            self.half_word(page, half * 4).store(u32::from_le_bytes(*bytes), Ordering::Relaxed);
        }
    }

    /// A copy of the page as it stands: all lines that were published before the call, complete, and
    /// zeroes between them and their versions.
    pub fn copy(&self, page: u64, into: &mut PageBuffer) {
        *into = PageBuffer::ZERO;
        let (lines, upper) = self.extent(page);
        let lines_end = LinePointer::at(usize::from(lines));
        for (half, bytes) in into.0[..lines_end].chunks_exact_mut(4).enumerate() {
            let value = self.half_word(page, half * 4).load(Ordering::Relaxed);
            bytes.copy_from_slice(&value.to_le_bytes());
        }
        let first = usize::from(upper) / 8;
        for (word, bytes) in into.0[first * 8..].chunks_exact_mut(8).enumerate() {
            let value = self.word(page, first + word).load(Ordering::Relaxed);
            bytes.copy_from_slice(&value.to_le_bytes());
        }
        into.0[20..22].copy_from_slice(&lines.to_le_bytes());
        into.0[22..24].copy_from_slice(&upper.to_le_bytes());
    }

    /// Line pointers in use, and where the lowest version begins. All of it is complete.
    #[inline]
    fn extent(&self, page: u64) -> (u16, u16) {
        let both = self.half_word(page, 20).load(Ordering::Acquire);
        (both as u16, (both >> 16) as u16)
    }

    /// Line pointers in use; whatever they point to is complete.
    #[inline]
    pub fn lines(&self, page: u64) -> u16 {
        self.extent(page).0
    }

    /// Bytes that versions and their line pointers take.
    pub fn used_bytes(&self, page: u64) -> usize {
        let (lines, upper) = self.extent(page);
        usize::from(lines) * LinePointer::BYTES + PAGE_BYTES - usize::from(upper)
    }

    /// The table that the page's tuples belong to.
    pub fn table(&self, page: u64) -> u32 {
        self.half_word(page, 16).load(Ordering::Relaxed)
    }

    /// Writes a version at `offset` and makes it the page's line `line`.
    ///
    /// The caller is the frame's one writer, and `offset` lies below every version of the page and
    /// above its line pointers.
    #[inline]
    pub fn append(
        &self,
        page: u64,
        line: u16,
        offset: usize,
        header: &VersionHeader,
        payload: &[u8],
        tombstone: bool,
    ) {
        debug_assert!(
            offset.is_multiple_of(8) && offset + VERSION_BYTES + payload.len() <= PAGE_BYTES
        );
        debug_assert!(LinePointer::at(usize::from(line) + 1) <= offset);
        self.put_version(page, offset, header, payload);
        let pointer = LinePointer::new(offset, payload.len(), tombstone);
        self.half_word(page, LinePointer::at(usize::from(line)))
            .store(pointer.0, Ordering::Relaxed);
        let lines_and_upper = u32::from(line + 1) | (offset as u32) << 16;
        self.half_word(page, 20).store(lines_and_upper, Ordering::Release);
    }

    /// Puts a version in the place of another, if it takes as much room; says whether it does.
    ///
    /// The caller is the frame's one writer, and nobody else has ever seen the other version: so
    /// recovery makes do with a tuple's last.
    pub(crate) fn replace(
        &self,
        record: RecordId,
        header: &VersionHeader,
        payload: &[u8],
        tombstone: bool,
    ) -> bool {
        let line = self.half_word(record.page(), LinePointer::at(usize::from(record.line())));
        let old = LinePointer(line.load(Ordering::Relaxed));
        if placed_bytes(old.payload()) != placed_bytes(payload.len()) {
            return false;
        }
        self.put_version(record.page(), old.offset(), header, payload);
        let pointer = LinePointer::new(old.offset(), payload.len(), tombstone);
        line.store(pointer.0, Ordering::Relaxed);
        true
    }

    #[inline]
    fn put_version(&self, page: u64, offset: usize, header: &VersionHeader, payload: &[u8]) {
        let first = offset / 8;
        let identity = u64::from(header.vid) | u64::from(header.version) << 32;
        self.word(page, first).store(header.created, Ordering::Relaxed);
        self.word(page, first + 1).store(header.invalidated, Ordering::Relaxed);
        self.word(page, first + 2).store(header.predecessor, Ordering::Relaxed);
        self.word(page, first + 3).store(identity, Ordering::Relaxed);
        let (whole, rest) = payload.as_chunks::<8>();
        let mut word = first + 4;
        for bytes in whole {
            self.word(page, word).store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
            word += 1;
        }
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.word(page, word).store(u64::from_le_bytes(last), Ordering::Relaxed);
        }
    }

    /// The version that a published RecordID names. Its page must be in memory.
    #[inline]
    pub fn version(&self, record: RecordId) -> VersionRef<'_> {
        let page = record.page();
        let pointer = LinePointer(
            self.half_word(page, LinePointer::at(usize::from(record.line())))
                .load(Ordering::Relaxed),
        );
        debug_assert!(pointer.offset() != 0, "{record} is a line of its page");
        VersionRef { region: self, page, pointer }
    }
}

/// A version in its frame.
#[derive(Clone, Copy)]
pub struct VersionRef<'r> {
    region: &'r Region,
    page: u64,
    pointer: LinePointer,
}

impl<'r> VersionRef<'r> {
    #[inline]
    fn word(&self, word: usize) -> &'r AtomicU64 {
        self.region.word(self.page, self.pointer.offset() / 8 + word)
    }

    /// The logical page that it stands in.
    #[inline]
    pub fn page(&self) -> u64 {
        self.page
    }

    /// What it takes of the page, its line pointer included.
    #[inline]
    pub fn placed_bytes(&self) -> usize {
        LinePointer::BYTES + placed_bytes(self.pointer.payload())
    }

    /// Commit timestamp of its creator.
    #[inline]
    pub fn created(&self) -> u64 {
        self.word(0).load(Ordering::Relaxed)
    }

    /// The version before it.
    #[inline]
    pub fn predecessor(&self) -> RecordId {
        RecordId::from_word(self.word(2).load(Ordering::Relaxed))
    }

    /// Its tuple.
    #[inline]
    pub fn vid(&self) -> u32 {
        self.word(3).load(Ordering::Relaxed) as u32
    }

    /// Its number.
    #[inline]
    pub fn number(&self) -> u32 {
        (self.word(3).load(Ordering::Relaxed) >> 32) as u32
    }

    /// Whether it says that the tuple is deleted.
    #[inline]
    pub fn is_tombstone(&self) -> bool {
        self.pointer.is_tombstone()
    }

    /// A commit by which it was superseded, when known; 0 when not
    /// ([`VersionHeader::invalidated`]).
    #[inline]
    pub fn invalidated(&self) -> u64 {
        self.word(1).load(Ordering::Relaxed)
    }

    /// Leaves the hint that it was superseded by this commit, or before.
    #[inline]
    pub fn invalidate(&self, commit: u64) {
        self.word(1).store(commit, Ordering::Relaxed);
    }

    /// The row's bytes (a tombstone's are those of the row that was deleted).
    #[inline]
    pub fn payload(&self) -> &'r [u8] {
        let start = self.pointer.offset() + VERSION_BYTES;
        assert!(start + self.pointer.payload() <= PAGE_BYTES);
        // What was written before the RecordID was published is seen: the caller's `Acquire` did
        // that, and this keeps the compiler from reading earlier.
        fence(Ordering::Acquire);
        // SAFETY: inside the frame, by the assertion; complete and unchanged as long as the caller's
        // transaction lives (invariants 2 and 3).
        unsafe {
            std::slice::from_raw_parts(
                self.region.frame(self.page).add(start),
                self.pointer.payload(),
            )
        }
    }
}
