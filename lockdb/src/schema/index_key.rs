// SPDX-License-Identifier: MIT OR Apache-2.0
//! Keys as the indexes sort them: bytes whose order is that of the columns' values.
//!
//! A key is its columns' encodings, one after the other, so that keys compare column by column:
//!
//! | column | bytes |
//! |---|---|
//! | of any type that admits nulls | first 0 for a null, which nothing follows, or 1 |
//! | Int64 | 1: 128 + n, or 127 - n if negative; then the n low bytes, the highest first, where n counts those that differ from the sign (n = 0 for 0 and -1) |
//! | Float64 | 8, the highest first: all bits flipped if negative, else the sign alone |
//! | Bool | 1: 0 or 1 |
//! | Fixed, Text, Bytes | each byte, but 1 1 for 0 and 1 2 for 1; then 0 |
//!
//! No encoding is the beginning of another one of the same column, so the keys that begin with
//! given columns are those that begin with their bytes. Integers are cut to what they need since
//! the four of TPC-C's order lines then take ten bytes, which two words hold.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Bound;
use std::sync::Arc;

/// The longest key that needs no allocation, in bytes.
const INLINE: usize = 28;

/// A key of an index: bytes that compare as the values do that they are made of.
///
/// It takes 32 bytes; a key longer than 28 lies elsewhere, shared by its copies.
#[derive(Clone)]
pub struct IndexKey {
    /// The first 8 bytes, big-endian, followed by zeros if there are fewer: it decides most
    /// comparisons, before anything needs to be known of the form.
    first: u64,
    rest: Rest,
}

/// By length, so that equal keys have one form.
#[derive(Clone)]
enum Rest {
    /// Of a key of up to [`INLINE`] bytes: those from the ninth on, in the same manner.
    Short { length: u8, tail: u32, words: [u64; 2] },
    /// Of a key of more: all its bytes.
    Long(Arc<[u8]>),
}

const _: () = assert!(size_of::<IndexKey>() == 32, "two keys fit in a cache line");

impl IndexKey {
    /// The key of these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut builder = KeyBuilder::default();
        builder.push_bytes(bytes);
        builder.finish()
    }

    /// How many bytes it has.
    pub fn len(&self) -> usize {
        match &self.rest {
            Rest::Short { length, .. } => (*length).into(),
            Rest::Long(bytes) => bytes.len(),
        }
    }

    /// Whether it is of no column.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.with_bytes(<[u8]>::to_vec)
    }

    /// The key with a row's VID behind it: what tells rows of one key apart in an index that
    /// admits several.
    #[must_use]
    pub fn with_vid(&self, vid: u32) -> Self {
        let mut builder = self.to_builder();
        builder.push(u64::from(vid) << 32, 4);
        builder.finish()
    }

    /// The VID that [`IndexKey::with_vid`] put behind a key.
    ///
    /// # Panics
    /// When the key is shorter than a VID.
    pub fn vid(&self) -> u32 {
        self.with_bytes(|bytes| {
            let vid = bytes.last_chunk().expect("the key has a VID at its end");
            u32::from_be_bytes(*vid)
        })
    }

    /// Bounds within which lie all keys that begin with this one, itself included, and no others.
    pub fn prefix_range(&self) -> (Bound<Self>, Bound<Self>) {
        (Bound::Included(self.clone()), self.prefix_end().map_or(Bound::Unbounded, Bound::Excluded))
    }

    /// The least key that is above all that begin with this one; `None` if there is none above.
    pub fn prefix_end(&self) -> Option<Self> {
        self.with_bytes(|bytes| {
            let last = bytes.iter().rposition(|byte| *byte != u8::MAX)?;
            let mut end = bytes[..=last].to_vec();
            end[last] += 1;
            Some(Self::from_bytes(&end))
        })
    }

    fn with_bytes<R>(&self, use_bytes: impl FnOnce(&[u8]) -> R) -> R {
        match &self.rest {
            Rest::Short { length, tail, words: [second, third] } => {
                let mut bytes = [0; INLINE];
                bytes[..8].copy_from_slice(&self.first.to_be_bytes());
                bytes[8..16].copy_from_slice(&second.to_be_bytes());
                bytes[16..24].copy_from_slice(&third.to_be_bytes());
                bytes[24..].copy_from_slice(&tail.to_be_bytes());
                use_bytes(&bytes[..usize::from(*length)])
            }
            Rest::Long(bytes) => use_bytes(bytes),
        }
    }

    #[inline]
    fn to_builder(&self) -> KeyBuilder {
        match &self.rest {
            Rest::Short { length, tail, words: [second, third] } => KeyBuilder {
                high: u128::from(self.first) << 64 | u128::from(*second),
                low: u128::from(*third) << 64 | u128::from(*tail) << 32,
                length: (*length).into(),
                long: Vec::new(),
            },
            Rest::Long(bytes) => KeyBuilder { long: bytes.to_vec(), ..KeyBuilder::default() },
        }
    }

    #[inline]
    fn cmp_rest(&self, other: &Self) -> Ordering {
        match (&self.rest, &other.rest) {
            (
                Rest::Short { length, tail, words: [second, third] },
                Rest::Short { length: other_length, tail: other_tail, words: other_words },
            ) => {
                // The zeros behind a shorter key make it no greater than one that continues.
                let [other_second, other_third] = other_words;
                (second.cmp(other_second))
                    .then_with(|| third.cmp(other_third))
                    .then_with(|| tail.cmp(other_tail))
                    .then_with(|| length.cmp(other_length))
            }
            _ => self.cmp_long(other),
        }
    }

    /// Compares when one at least is long.
    #[cold]
    fn cmp_long(&self, other: &Self) -> Ordering {
        self.with_bytes(|bytes| other.with_bytes(|other_bytes| bytes.cmp(other_bytes)))
    }
}

impl Ord for IndexKey {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.first.cmp(&other.first).then_with(|| self.cmp_rest(other))
    }
}

impl PartialOrd for IndexKey {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for IndexKey {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for IndexKey {}

impl Hash for IndexKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.rest {
            // Equal keys have equal words: one length, and zeros behind it.
            Rest::Short { length, tail, words } => {
                state.write_u64(self.first ^ u64::from(*length));
                state.write_u64(words[0]);
                state.write_u64(words[1] ^ u64::from(*tail));
            }
            Rest::Long(bytes) => bytes.hash(state),
        }
    }
}

/// Its bytes in hexadecimal.
impl fmt::Debug for IndexKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IndexKey(")?;
        self.with_bytes(|bytes| bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")))?;
        f.write_str(")")
    }
}

/// A key in the making.
#[derive(Debug, Default)]
pub(super) struct KeyBuilder {
    /// The first 16 bytes while there are at most [`INLINE`], big-endian, followed by zeros.
    /// Not an array of words: that would be in memory, and be waited for.
    high: u128,
    /// The bytes from the seventeenth on, in the same manner.
    low: u128,
    /// How many bytes there are in both.
    length: usize,
    /// All bytes, once there are more.
    long: Vec<u8>,
}

impl KeyBuilder {
    #[inline]
    pub fn null(&mut self) {
        self.push(0, 1);
    }

    /// Goes before each value of a column that admits nulls.
    #[inline]
    pub fn not_null(&mut self) {
        self.push(1 << 56, 1);
    }

    #[inline]
    pub fn int(&mut self, value: i64) {
        let sign = (value >> 63).cast_unsigned();
        let bytes = (value.cast_unsigned() ^ sign).checked_ilog2().map_or(0, |bit| bit / 8 + 1);
        let head = u64::from(0x80 + bytes) ^ sign & 0xff;
        if bytes < 8 {
            // One push of both; of the value's higher bytes, the shift leaves nothing.
            let low = if bytes == 0 { 0 } else { value.cast_unsigned() << (64 - 8 * bytes) >> 8 };
            self.push(head << 56 | low, bytes as usize + 1);
        } else {
            self.push(head << 56, 1);
            self.push(value.cast_unsigned(), 8);
        }
    }

    #[inline]
    pub fn float(&mut self, value: f64) {
        let bits = value.to_bits();
        let negative = bits >> 63 != 0;
        self.push(if negative { !bits } else { bits | 1 << 63 }, 8);
    }

    #[inline]
    pub fn bool(&mut self, value: bool) {
        self.push(u64::from(value) << 56, 1);
    }

    /// Text or bytes, with what makes their end plain.
    pub fn variable(&mut self, value: &[u8]) {
        for run in value.chunk_by(|_, byte| *byte > 1) {
            match run {
                [escaped @ ..=1, rest @ ..] => {
                    self.push_bytes(&[1, 1 + escaped]);
                    self.push_bytes(rest);
                }
                run => self.push_bytes(run),
            }
        }
        self.push(0, 1);
    }

    /// Bytes as they are.
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.push(u64::from_be_bytes(word), chunk.len());
        }
    }

    /// Adds the `count` high bytes of a word; the others are zero.
    #[inline]
    fn push(&mut self, word: u64, count: usize) {
        debug_assert!(count == 8 || word << (8 * count) == 0, "{word:#x} has {count} bytes");
        if self.length + count > INLINE || !self.long.is_empty() {
            // By value, so that a short key's builder has no address and stays in registers.
            *self = std::mem::take(self).push_long(word, count);
            return;
        }
        let (word, bits) = (u128::from(word) << 64, 8 * self.length);
        if bits < 128 {
            self.high |= word >> bits;
            if bits > 64 {
                self.low |= word << (128 - bits);
            }
        } else {
            self.low |= word >> (bits - 128);
        }
        self.length += count;
    }

    #[cold]
    fn push_long(mut self, word: u64, count: usize) -> Self {
        if self.long.is_empty() {
            let bytes = [self.high.to_be_bytes(), self.low.to_be_bytes()];
            self.long.extend(&bytes.as_flattened()[..self.length]);
        }
        self.long.extend(&word.to_be_bytes()[..count]);
        self
    }

    #[inline]
    pub fn finish(self) -> IndexKey {
        if !self.long.is_empty() {
            return self.finish_long();
        }
        let Self { high, low, length, .. } = self;
        let length = u8::try_from(length).expect("a short key has at most 28 bytes");
        let words = [high as u64, (low >> 64) as u64];
        let first = (high >> 64) as u64;
        IndexKey { first, rest: Rest::Short { length, tail: (low >> 32) as u32, words } }
    }

    #[cold]
    fn finish_long(self) -> IndexKey {
        debug_assert!(self.long.len() > INLINE, "a key has one form");
        let first = u64::from_be_bytes(*self.long.first_chunk().expect("a long key has 8 bytes"));
        IndexKey { first, rest: Rest::Long(self.long.into()) }
    }
}
