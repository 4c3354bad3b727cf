// SPDX-License-Identifier: MIT OR Apache-2.0
//! A slot: how one object lies in memory, so that whoever reads its lines one by one sees whether they belong
//! together.
//!
//! ```text
//! slot of 32 bytes (two in a line)      slot of 128 bytes
//!   word 0  meta                          line 0  meta, key, value words 0 to 5
//!   word 1  key                           line 1  meta, value words 6 to 12
//!   word 2  value words 0 and 1
//! ```
//!
//! Each part of a slot that lies in a line of its own begins with the same meta word. A writer gives it an odd
//! stamp, then writes the other words of the part, then gives it the new meta word with an even stamp, part
//! after part. So lines with equal and even meta words are from one version of the slot, in whatever order
//! they were read. The stamp grows with every write and survives that the slot is emptied.
//!
//! Source: the lines' own versions are FaRM's ("FaRM: Fast Remote Memory", NSDI 2014, section 5.3); Xenic
//! (section 4.1.2) has hardware transactions in their place.

/// Words of 8 bytes in a cache line.
pub const LINE_WORDS: usize = 8;
/// Bytes of a cache line.
pub const LINE_BYTES: usize = 64;
/// The longest value that lies in its slot, in bytes. Source: Xenic, section 4.1.2.
pub const MOST_INLINE_BYTES: usize = 256;

/// The first word of each part of a slot.
///
/// ```text
/// 63            32  31  30        29    28      20  19      0
///     version      (0)  pointer   used    length     stamp
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Meta(pub u64);

impl Meta {
    /// Bits of the stamp.
    pub const STAMP_BITS: u32 = 20;
    const STAMP: u64 = (1 << Self::STAMP_BITS) - 1;
    const LENGTH_SHIFT: u32 = 20;
    const LENGTH: u64 = 0x1FF;
    const USED: u64 = 1 << 29;
    const POINTER: u64 = 1 << 30;

    /// An object with a value of `length` bytes in its slot, or, when `pointer` is set, one whose slot has an
    /// address and a length in place of the value. The stamp is 0.
    ///
    /// # Panics
    /// When `length` is more than [`MOST_INLINE_BYTES`].
    pub const fn object(version: u32, length: usize, pointer: bool) -> Self {
        assert!(length <= MOST_INLINE_BYTES, "a longer value lies out of line");
        let flags = if pointer { Self::USED | Self::POINTER } else { Self::USED };
        Meta((version as u64) << 32 | flags | (length as u64) << Self::LENGTH_SHIFT)
    }

    /// The same with another stamp, taken modulo 2²⁰.
    #[must_use]
    pub const fn with_stamp(self, stamp: u32) -> Self {
        Meta(self.0 & !Self::STAMP | stamp as u64 & Self::STAMP)
    }

    /// Number of times that the slot began or ended to be written, modulo 2²⁰.
    pub const fn stamp(self) -> u32 {
        (self.0 & Self::STAMP) as u32
    }

    /// Whether the part is being written, so that its other words say nothing.
    pub const fn is_being_written(self) -> bool {
        self.0 & 1 == 1
    }

    /// Whether an object is here.
    pub const fn is_used(self) -> bool {
        self.0 & Self::USED != 0
    }

    /// Whether the slot has the address and the length of the value, which is not in it.
    pub const fn is_pointer(self) -> bool {
        self.0 & Self::POINTER != 0
    }

    /// Bytes of the value in the slot, at most 511 in a word that no writer made.
    pub const fn length(self) -> usize {
        (self.0 >> Self::LENGTH_SHIFT & Self::LENGTH) as usize
    }

    /// The object's version, which grows by one with each update, modulo 2³².
    pub const fn version(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// The size of a table's slots.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SlotLayout {
    bytes: usize,
}

impl SlotLayout {
    /// The smallest slot that takes values of `bytes`: 16, 32 or 64 bytes, or a multiple of 64. Longer values
    /// than [`MOST_INLINE_BYTES`] lie out of line, behind a slot of 32 bytes or more.
    pub const fn for_values_of(bytes: usize) -> Self {
        let bytes = match bytes {
            0 => 16,
            1..=16 => 32,
            17..=48 => 64,
            49..=MOST_INLINE_BYTES => LINE_BYTES + (bytes - 48).div_ceil(56) * LINE_BYTES,
            _ => 32,
        };
        SlotLayout { bytes }
    }

    /// Bytes of a slot.
    pub const fn bytes(self) -> usize {
        self.bytes
    }

    /// 8-byte words of a slot.
    pub const fn words(self) -> usize {
        self.bytes / 8
    }

    /// The longest value that fits into the slot, in bytes, at most [`MOST_INLINE_BYTES`].
    pub const fn value_bytes(self) -> usize {
        let room = self.bytes - 8 * (self.parts() + 1);
        if room < MOST_INLINE_BYTES { room } else { MOST_INLINE_BYTES }
    }

    /// Parts of a slot, each in a line of its own and with a meta word.
    pub const fn parts(self) -> usize {
        self.bytes.div_ceil(LINE_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_fits_into_the_slot_that_is_made_for_it() {
        for length in 0..=MOST_INLINE_BYTES {
            let layout = SlotLayout::for_values_of(length);
            assert!(layout.value_bytes() >= length, "{length} bytes in {layout:?}");
            assert!(layout.bytes() <= LINE_BYTES || layout.bytes().is_multiple_of(LINE_BYTES));
        }
        assert_eq!(SlotLayout::for_values_of(64).bytes(), 128);
        assert_eq!(SlotLayout::for_values_of(256).bytes(), 320);
    }

    #[test]
    fn the_fields_of_a_meta_word_do_not_touch_each_other() {
        let meta = Meta::object(u32::MAX, 256, true).with_stamp(5);
        assert_eq!((meta.version(), meta.length(), meta.stamp()), (u32::MAX, 256, 5));
        assert!(meta.is_used() && meta.is_pointer() && meta.is_being_written());
        let empty = Meta::default().with_stamp(u32::MAX);
        assert_eq!((empty.version(), empty.length(), empty.stamp()), (0, 0, (1 << 20) - 1));
        assert!(!empty.is_used() && !empty.is_pointer());
    }
}
