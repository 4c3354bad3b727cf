// SPDX-License-Identifier: MIT OR Apache-2.0
//! An object as words: in its slot, and its value in the heap.
//!
//! ```text
//! value out of line            first line: ticket, key, version and length, value words 0 to 4
//!                              others:     ticket, seven value words
//! ```
//!
//! A *ticket* is a number that no other write to the heap has, even; odd while the line is written. So lines
//! with equal tickets are from one write, whatever lay there before. The first line repeats key, version and
//! length, so that a value that was replaced is not taken for the one the slot named.

use crate::mutant::{Mutant, planted};
use crate::slot::{LINE_WORDS, Meta, SlotLayout};
use crate::stores::Stores;

/// Value bytes in the first line of a value out of line, and in each of the others.
const FIRST_BYTES: usize = 40;
const LINE_VALUE_BYTES: usize = 56;

/// Where a value out of line is: the number of its first line in the heap, and its length in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pointer {
    pub(crate) line: u32,
    pub(crate) length: u32,
}

impl Pointer {
    pub(crate) fn of_word(word: u64) -> Self {
        Pointer { line: (word >> 32) as u32, length: word as u32 }
    }

    pub(crate) fn word(self) -> u64 {
        (self.line as u64) << 32 | self.length as u64
    }

    /// Lines that the value takes.
    pub(crate) fn lines(self) -> u32 {
        let length = self.length as usize;
        1 + length.saturating_sub(FIRST_BYTES).div_ceil(LINE_VALUE_BYTES) as u32
    }
}

/// A new content for a slot.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    pub(crate) key: u64,
    pub(crate) version: u32,
    pub(crate) value: &'a [u8],
    pub(crate) pointer: Option<Pointer>,
}

impl Image<'_> {
    /// A word of the slot; the meta word with a stamp of 0.
    pub(crate) fn word(&self, word: usize) -> u64 {
        match (word, self.pointer) {
            (word, pointer) if word.is_multiple_of(LINE_WORDS) => {
                let length = if pointer.is_some() { 0 } else { self.value.len() };
                Meta::object(self.version, length, pointer.is_some()).0
            }
            (1, _) => self.key,
            (2, Some(pointer)) => pointer.word(),
            (_, Some(_)) => 0,
            (word, None) => word_of(self.value, value_word(word)),
        }
    }
}

/// Which word of the value a word of the slot is, if it is neither a meta word nor the key.
fn value_word(word: usize) -> usize {
    match word / LINE_WORDS {
        0 => word - 2,
        part => 6 + (part - 1) * (LINE_WORDS - 1) + word % LINE_WORDS - 1,
    }
}

/// Word `index` of a value, filled up with 0.
fn word_of(value: &[u8], index: usize) -> u64 {
    let rest = value.get(index * 8..).unwrap_or_default();
    match rest.first_chunk() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => rest.iter().rev().fold(0, |word, &byte| word << 8 | byte as u64),
    }
}

/// Appends words to a value until it has `length` bytes.
#[inline]
fn append(value: &mut Vec<u8>, words: impl IntoIterator<Item = u64>, length: usize) {
    for word in words {
        let missing = (length - value.len()).min(8);
        value.extend_from_slice(&word.to_le_bytes()[..missing]);
    }
}

/// What a slot says about a key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Look {
    /// It is empty.
    Empty,
    /// It has this other key.
    Other(u64),
    /// It is being written, or its parts are of several writes.
    Unclear,
    /// It has the key.
    Match(Meta),
}

/// Looks at the words of a slot.
pub(crate) fn look(slot: &[u64], key: u64) -> Look {
    let meta = Meta(slot[0]);
    match slot[1] {
        _ if meta.is_being_written() => Look::Unclear,
        _ if !meta.is_used() => Look::Empty,
        other if other != key => Look::Other(other),
        _ if planted(Mutant::PartsNotCompared) => Look::Match(meta),
        _ if slot.iter().step_by(LINE_WORDS).all(|&part| part == meta.0) => Look::Match(meta),
        _ => Look::Unclear,
    }
}

/// The value in a slot that [`look`] has matched.
#[inline]
pub(crate) fn value_in_slot(slot: &[u64], value: &mut Vec<u8>) {
    let length = Meta(slot[0]).length();
    let words = (2..slot.len()).filter(|word| word % LINE_WORDS != 0);
    value.clear();
    append(value, words.map(|word| slot[word]), length);
}

/// Whether a slot of this layout can have a value of the length that its meta word says.
pub(crate) fn fits(layout: SlotLayout, meta: Meta) -> bool {
    meta.is_pointer() && layout.words() > 2 || meta.length() <= layout.value_bytes()
}

/// Writes a value out of line, from word `to` on.
pub(crate) fn write_out_of_line(stores: &mut Stores, to: usize, ticket: u64, image: &Image<'_>) {
    let pointer = image.pointer.expect("the value lies out of line");
    let mut words = (0..).map(|index| word_of(image.value, index));
    for line in 0..pointer.lines() as usize {
        let line_start = to + line * LINE_WORDS;
        stores.push(line_start, ticket | 1);
        let head = [image.key, (image.version as u64) << 32 | pointer.length as u64];
        let head = if line == 0 { &head[..] } else { &[] };
        for (word, value) in head.iter().copied().chain(&mut words).take(LINE_WORDS - 1).enumerate()
        {
            stores.push(line_start + 1 + word, value);
        }
        stores.push(line_start, ticket);
    }
}

/// The value out of line in `lines`, if they are from one write and it is the value of this key and version.
pub(crate) fn value_out_of_line(
    lines: &[u64],
    key: u64,
    version: u32,
    pointer: Pointer,
    value: &mut Vec<u8>,
) -> bool {
    let ticket = lines[0];
    let whole = lines.iter().step_by(LINE_WORDS).all(|&other| other == ticket && other & 1 == 0);
    let head = [key, (version as u64) << 32 | pointer.length as u64];
    if lines[1..3] != head || !(whole || planted(Mutant::TicketsNotCompared)) {
        return false;
    }
    value.clear();
    let words = (3..lines.len()).filter(|word| word % LINE_WORDS != 0);
    append(value, words.map(|word| lines[word]), pointer.length as usize);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slot::MOST_INLINE_BYTES;

    #[test]
    fn values_of_each_length_come_back_from_their_slots() {
        let bytes: Vec<u8> = (0..=255).chain([7]).collect();
        for length in 0..=MOST_INLINE_BYTES {
            let layout = SlotLayout::for_values_of(length);
            let image = Image { key: 9, version: 3, value: &bytes[..length], pointer: None };
            let slot: Vec<u64> = (0..layout.words()).map(|word| image.word(word)).collect();
            let Look::Match(meta) = look(&slot, 9) else { panic!("{slot:?}") };
            let mut value = vec![1];
            value_in_slot(&slot, &mut value);
            assert_eq!(
                (meta.version(), &value[..], fits(layout, meta)),
                (3, &bytes[..length], true)
            );
            assert_eq!(look(&slot, 8), Look::Other(9));
        }
    }

    #[test]
    fn values_of_each_length_come_back_from_the_heap() {
        let bytes: Vec<u8> = (0..2000).map(|byte| byte as u8).collect();
        for length in 0..bytes.len() {
            let pointer = Pointer { line: 0, length: length as u32 };
            let image =
                Image { key: 9, version: 3, value: &bytes[..length], pointer: Some(pointer) };
            let mut stores = Stores::default();
            write_out_of_line(&mut stores, 0, 4, &image);
            let mut lines = vec![0; pointer.lines() as usize * LINE_WORDS];
            stores.list().iter().for_each(|store| lines[store.word] = store.value);
            let mut value = Vec::new();
            assert!(value_out_of_line(&lines, 9, 3, pointer, &mut value));
            assert_eq!(value, &bytes[..length]);
            let longer = Pointer { length: length as u32 + 1, ..pointer };
            assert!(!value_out_of_line(&lines, 9, 3, longer, &mut value));
            assert!(!value_out_of_line(&lines, 9, 4, pointer, &mut value));
        }
    }
}
