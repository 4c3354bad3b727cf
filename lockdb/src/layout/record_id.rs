// SPDX-License-Identifier: MIT OR Apache-2.0
//! The logical location of a version.

use std::fmt;

/// The logical address of a tuple version: its logical page, and its line in the page.
///
/// Source: ccSLT paper, section 2.3, "all logical RecordIDs can be resolved to physical persistent
/// pointers through a logical-to-physical address mapping".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct RecordId(u64);

impl RecordId {
    /// No version: the end of a chain, or a VID that has none.
    pub const NONE: RecordId = RecordId(0);

    /// Bits of the line number.
    pub const LINE_BITS: u32 = 8;

    /// The address of line `line` of logical page `page`.
    ///
    /// # Panics
    /// When `page` is 0, which no data page has, or has more than 56 bits.
    #[inline]
    pub const fn new(page: u64, line: u8) -> Self {
        assert!(page != 0 && page >> (64 - Self::LINE_BITS) == 0);
        Self(page << Self::LINE_BITS | line as u64)
    }

    /// From the word that stands in a map or in a version; any word is one.
    #[inline]
    pub const fn from_word(word: u64) -> Self {
        Self(word)
    }

    /// The word that stands in a map or in a version.
    #[inline]
    pub const fn word(self) -> u64 {
        self.0
    }

    /// Whether there is no version.
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The logical page.
    #[inline]
    pub const fn page(self) -> u64 {
        self.0 >> Self::LINE_BITS
    }

    /// The line in the page.
    #[inline]
    pub const fn line(self) -> u8 {
        self.0 as u8
    }
}

impl fmt::Debug for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_none() {
            return f.write_str("none");
        }
        write!(f, "{}.{}", self.page(), self.line())
    }
}
