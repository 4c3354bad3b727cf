// SPDX-License-Identifier: MIT OR Apache-2.0
//! Looks for a key in the lines that one read of a table brought (`docs/nic-lookup.md`, `probe_scan`).
//!
//! The same machine is the meaning of the RTL in `hw/rtl/nic/probe_scan.sv` and the look-up of software that
//! reads a remote table. The layout of slots is that of the crate `tables`.
//!
//! Source: Xenic, sections 4.1.2 (slots that a DMA may meet half-written) and 4.1.3 (a read of d + k slots, a
//! second adjacent one up to D_m, then the overflow bucket).

mod wire;

use tables::slot::{LINE_BYTES, LINE_WORDS, Meta, SlotLayout};
use thiserror::Error;

pub use wire::{ANSWER_HEADER_WORDS, SCAN_WORDS, UnknownStatus};

/// The most slots that one read brings.
pub const MOST_SLOTS: u8 = 64;
/// The most words of a value that an answer carries.
pub const MOST_VALUE_WORDS: usize = 8;

/// What one scanner is made for: the parameters of the hardware.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    slot: SlotLayout,
    value_words: usize,
}

impl Shape {
    /// For slots of this layout, and answers with `value_words` words of 8 bytes, 1 to [`MOST_VALUE_WORDS`].
    ///
    /// # Errors
    /// When an answer cannot have so many words.
    pub fn new(slot: SlotLayout, value_words: usize) -> Result<Self, ScanError> {
        match value_words {
            1..=MOST_VALUE_WORDS => Ok(Self { slot, value_words }),
            _ => Err(ScanError::ValueWords(value_words)),
        }
    }

    /// The layout of a slot.
    pub const fn slot(self) -> SlotLayout {
        self.slot
    }

    /// Words of 8 bytes of the value in an answer.
    pub const fn value_words(self) -> usize {
        self.value_words
    }

    /// Lines that `slots` slots touch, the first of which begins at `first_word` of its line.
    pub const fn lines(self, first_word: usize, slots: usize) -> usize {
        (first_word + slots * self.slot.words()).div_ceil(LINE_WORDS)
    }

    /// Whether a slot begins at this word of a line.
    pub const fn begins_at(self, word: usize) -> bool {
        word < LINE_WORDS && word.is_multiple_of(self.slot.words())
    }
}

/// What to look for, and in what.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scan {
    /// The caller's name for the scan. It comes back with the answer.
    pub token: u8,
    /// The key.
    pub key: u64,
    /// The word of the first line at which the first slot begins, 0 to 7.
    pub first_word: u8,
    /// Slots of the read, 1 to [`MOST_SLOTS`].
    pub slots: u8,
    /// The displacement of the first slot; of an overflow bucket, its place in the bucket.
    pub displacement: u16,
    /// D_m: the largest displacement that an object outside the overflow buckets has.
    pub limit: u16,
    /// Whether the slots are the rest of the overflow bucket.
    pub is_overflow: bool,
    /// The sum of what was read before in the same look-up, modulo 2³².
    pub sum: u32,
    /// Whether a slot that was read before in the same look-up was torn.
    pub torn: bool,
}

impl Scan {
    /// The displacement behind the last slot: where an adjacent second read begins.
    pub const fn end(&self) -> u32 {
        self.displacement as u32 + self.slots as u32
    }

    fn check(&self) -> Result<(), ScanError> {
        if !(1..=MOST_SLOTS).contains(&self.slots) {
            return Err(ScanError::Slots(self.slots));
        }
        if usize::from(self.first_word) >= LINE_WORDS {
            return Err(ScanError::FirstWord(self.first_word));
        }
        Ok(())
    }
}

/// A scan, or a scanner, that cannot be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Error)]
pub enum ScanError {
    /// The number of slots.
    #[error("a scan of {0} slots, expected 1 to {MOST_SLOTS}")]
    Slots(u8),
    /// The word of the first slot.
    #[error("the first slot begins at word {0} of a line, expected 0 to 7")]
    FirstWord(u8),
    /// The words of a value.
    #[error("answers with {0} words of a value, expected 1 to {MOST_VALUE_WORDS}")]
    ValueWords(usize),
}

/// A line of the read, as it came.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Line {
    /// Its words.
    pub words: [u64; LINE_WORDS],
    /// Whether it is the last line of the read.
    pub is_last: bool,
    /// Whether the bus answered with an error, so that the words say nothing.
    pub has_error: bool,
}

/// What came out of a scan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Status {
    /// A whole slot has the key.
    Found = 0,
    /// Not found up to a displacement below D_m: the adjacent slots have to be read.
    More = 1,
    /// Not found up to D_m: the overflow bucket has to be read.
    Overflow = 2,
    /// Not found anywhere, to be confirmed by a second look-up with the same sum.
    Absent = 3,
    /// Not found, and a slot of this scan was torn, so that it may have had the key.
    Torn = 4,
    /// A line had an error, their number was wrong, or no slot begins at the first word.
    Error = 5,
}

/// The answer to a scan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Answer {
    /// That of the scan.
    pub token: u8,
    /// What came out. With [`Status::Error`], all that follows is zero.
    pub status: Status,
    /// Of the slot that has the key; otherwise the displacement behind the last slot. Modulo 2¹⁶.
    pub displacement: u16,
    /// The first word of the slot that has the key, otherwise zero.
    pub meta: Meta,
    /// The first words of that slot's value, whatever its length. Those beyond the slot, and beyond what an
    /// answer carries, are zero.
    pub value: [u64; MOST_VALUE_WORDS],
    /// The scan's sum and the stamps of all its slots, modulo 2³². Of a slot of several parts, the first
    /// part's stamp counts.
    pub sum: u32,
    /// Whether a slot was torn in this scan or before it.
    pub torn: bool,
}

/// A scan that is under way.
///
/// A slot is *whole* when the stamp of its first part is even, and it is empty or the meta words of all its parts
/// are equal; otherwise it is *torn*. (One store empties a slot, in the first part. The others stay as they were.) If several whole slots have the key, which are copies of one object then, the first counts.
///
/// ```
/// use nic::scan::{Line, ProbeScan, Scan, Shape, Status};
/// use tables::slot::{Meta, SlotLayout};
///
/// let shape = Shape::new(SlotLayout::for_values_of(16), 2)?;
/// let scan = Scan {
///     token: 7, key: 42, first_word: 4, slots: 1, displacement: 3, limit: 8,
///     is_overflow: false, sum: 0, torn: false,
/// };
/// let mut line = Line { is_last: true, ..Line::default() };
/// line.words[4..].copy_from_slice(&[Meta::object(1, 16, false).0, 42, 10, 20]);
/// let answer = ProbeScan::new(shape, scan)?.take(&line).expect("it was the last line");
/// assert_eq!((answer.status, answer.displacement), (Status::Found, 3));
/// assert_eq!(answer.value[..2], [10, 20]);
/// # Ok::<(), nic::scan::ScanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ProbeScan {
    shape: Shape,
    scan: Scan,
    /// Lines taken.
    lines: usize,
    /// Slots whose first part was taken.
    slots: usize,
    /// The slot that is being taken.
    open: Open,
    found: Option<Found>,
    sum: u32,
    torn: bool,
    has_error: bool,
}

/// The slot of which parts may follow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Open {
    /// Of its first part.
    meta: Meta,
    has_key: bool,
    torn: bool,
    value: [u64; MOST_VALUE_WORDS],
    /// Words of the value so far, also those that no answer carries.
    words: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Found {
    /// Which of the scan's slots.
    slot: usize,
    meta: Meta,
    value: [u64; MOST_VALUE_WORDS],
}

impl ProbeScan {
    /// Begins a scan.
    ///
    /// # Errors
    /// When it has no slots or more than [`MOST_SLOTS`], or its first word is not in a line.
    pub fn new(shape: Shape, scan: Scan) -> Result<Self, ScanError> {
        scan.check()?;
        Ok(Self {
            shape,
            scan,
            lines: 0,
            slots: 0,
            open: Open::default(),
            found: None,
            sum: scan.sum,
            torn: false,
            has_error: !shape.begins_at(scan.first_word.into()),
        })
    }

    /// Takes the next line; with the last one gives the answer. Any number of lines may come: a wrong one
    /// makes the answer an error.
    pub fn take(&mut self, line: &Line) -> Option<Answer> {
        let expected = self.shape.lines(self.scan.first_word.into(), self.scan.slots.into());
        self.has_error |= line.has_error || line.is_last != (self.lines + 1 == expected);
        if !self.has_error {
            self.take_words(&line.words);
        }
        self.lines += 1;
        line.is_last.then(|| self.answer())
    }

    fn take_words(&mut self, words: &[u64; LINE_WORDS]) {
        let parts = self.shape.slot.parts();
        let first = if self.lines == 0 { self.scan.first_word.into() } else { 0 };
        for part in words[first..].chunks(self.shape.slot.bytes().min(LINE_BYTES) / 8) {
            let number = self.lines % parts;
            if number == 0 {
                if self.slots == self.scan.slots.into() {
                    return;
                }
                self.open_slot(part);
            } else {
                // A slot is emptied by its first part alone.
                let meta = self.open.meta;
                self.open.torn |= meta.is_used() && part[0] != meta.0;
                self.open.add_value(&part[1..]);
            }
            if number + 1 == parts {
                self.close_slot();
            }
        }
    }

    fn open_slot(&mut self, part: &[u64]) {
        let meta = Meta(part[0]);
        self.open = Open {
            meta,
            has_key: meta.is_used() && part[1] == self.scan.key,
            torn: meta.is_being_written(),
            ..Open::default()
        };
        self.open.add_value(&part[2..]);
        self.sum = self.sum.wrapping_add(meta.stamp());
        self.slots += 1;
    }

    fn close_slot(&mut self) {
        let Open { meta, has_key, torn, mut value, .. } = self.open;
        self.torn |= torn;
        if has_key && !torn && self.found.is_none() {
            value[self.shape.value_words..].fill(0);
            self.found = Some(Found { slot: self.slots - 1, meta, value });
        }
    }

    fn answer(&self) -> Answer {
        let Scan { token, limit, is_overflow, .. } = self.scan;
        let nothing = Answer {
            token,
            status: Status::Error,
            displacement: 0,
            meta: Meta::default(),
            value: [0; MOST_VALUE_WORDS],
            sum: 0,
            torn: false,
        };
        if self.has_error {
            return nothing;
        }
        let (sum, torn) = (self.sum, self.torn || self.scan.torn);
        if let Some(Found { slot, meta, value }) = self.found {
            let displacement = self.scan.displacement.wrapping_add(slot as u16);
            return Answer { token, status: Status::Found, displacement, meta, value, sum, torn };
        }
        let status = match () {
            () if self.torn => Status::Torn,
            () if is_overflow => Status::Absent,
            () if self.scan.end() <= limit.into() => Status::More,
            () => Status::Overflow,
        };
        Answer { status, displacement: self.scan.end() as u16, sum, torn, ..nothing }
    }
}

impl Open {
    fn add_value(&mut self, words: &[u64]) {
        for &word in words {
            if let Some(place) = self.value.get_mut(self.words) {
                *place = word;
            }
            self.words += 1;
        }
    }
}

#[cfg(test)]
mod tests;
