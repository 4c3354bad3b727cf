// SPDX-License-Identifier: MIT OR Apache-2.0
//! How an entry lies in NIC memory.
//!
//! ```text
//! word 0              63     26 25   10 9 8  6 5            0
//!                     directory   epoch 0 hand  displacement
//! then, for each object
//!   word 0            key
//!   word 1            63     32 31   16 15    8 7   4 3       2       1       0
//!                      version   owner    pins    0   updated content locked  used
//!   words 2, …        value
//! ```
//!
//! Entries begin at multiples of their *stride*, the lines of an entry rounded up to a power of two, so that
//! none crosses a boundary of 4,096 bytes. Words behind the last object are 0. Memory that is 0 is an index of
//! empty entries. Bits of a place that is not used mean nothing, as do an owner that has no lock, and version
//! and value without content.

use super::entry::{Entry, MOST_OBJECTS, Object};
use super::request::DIRECTORY_BITS;
use super::table::MOST_DISPLACEMENT;

/// Words of 8 bytes in a line.
const LINE_WORDS: usize = 8;
const HAND_AT: u32 = 6;
const EPOCH_AT: u32 = 10;
const DIRECTORY_AT: u32 = 64 - DIRECTORY_BITS;
const USED: u64 = 1;
const LOCKED: u64 = 1 << 1;
const CONTENT: u64 = 1 << 2;
const UPDATED: u64 = 1 << 3;

/// Words that entries of this shape use.
pub const fn entry_words(objects: usize, value_words: usize) -> usize {
    1 + objects * (2 + value_words)
}

/// Lines of 64 bytes that entries of this shape use.
pub const fn entry_lines(objects: usize, value_words: usize) -> usize {
    entry_words(objects, value_words).div_ceil(LINE_WORDS)
}

/// Bytes from one entry to the next.
pub const fn entry_stride(objects: usize, value_words: usize) -> u64 {
    entry_lines(objects, value_words).next_power_of_two() as u64 * 64
}

impl<const OBJECTS: usize, const WORDS: usize> Entry<OBJECTS, WORDS> {
    /// The words of the entry's lines.
    pub fn encode(&self) -> Vec<u64> {
        let mut words = Vec::with_capacity(entry_lines(OBJECTS, WORDS) * LINE_WORDS);
        words.push(
            self.directory << DIRECTORY_AT
                | u64::from(self.epoch) << EPOCH_AT
                | u64::from(self.hand) << HAND_AT
                | u64::from(self.displacement),
        );
        for object in &self.objects {
            match object {
                Some(object) => encode(object, &mut words),
                None => words.extend(std::iter::repeat_n(0, 2 + WORDS)),
            }
        }
        words.resize(entry_lines(OBJECTS, WORDS) * LINE_WORDS, 0);
        words
    }

    /// The entry that these words are. What no entry of an index holds, such as a hand behind the last object,
    /// is taken modulo what there is.
    ///
    /// # Panics
    /// When there are fewer words than an entry has.
    pub fn decode(words: &[u64]) -> Self {
        let mut objects = [None; OBJECTS];
        for (object, words) in objects.iter_mut().zip(words[1..].chunks_exact(2 + WORDS)) {
            *object = decode(words);
        }
        Entry {
            displacement: words[0] as u8 & MOST_DISPLACEMENT,
            hand: (words[0] >> HAND_AT) as u8 % MOST_OBJECTS as u8 % OBJECTS as u8,
            epoch: (words[0] >> EPOCH_AT) as u16,
            directory: words[0] >> DIRECTORY_AT,
            objects,
        }
    }
}

fn encode<const WORDS: usize>(object: &Object<WORDS>, words: &mut Vec<u64>) {
    let Object { key, content, owner, pins, is_updated } = *object;
    let mut meta = USED | u64::from(pins) << 8;
    if is_updated {
        meta |= UPDATED;
    }
    if let Some(owner) = owner {
        meta |= LOCKED | u64::from(owner) << 16;
    }
    let (version, value) = content.unwrap_or((0, [0; WORDS]));
    if content.is_some() {
        meta |= CONTENT | u64::from(version) << 32;
    }
    words.extend([key, meta]);
    words.extend(value);
}

fn decode<const WORDS: usize>(words: &[u64]) -> Option<Object<WORDS>> {
    let meta = words[1];
    if meta & USED == 0 {
        return None;
    }
    let value = || {
        let mut value = [0; WORDS];
        value.copy_from_slice(&words[2..]);
        ((meta >> 32) as u32, value)
    };
    Some(Object {
        key: words[0],
        content: (meta & CONTENT != 0).then(value),
        owner: (meta & LOCKED != 0).then_some((meta >> 16) as u16),
        pins: (meta >> 8) as u8,
        is_updated: meta & UPDATED != 0,
    })
}
