// SPDX-License-Identifier: MIT OR Apache-2.0
//! The place of a page on storage.

/// A physical page, and which checkpoint wrote it: the word that stands in the L2P map, in the
/// directory and in the superblock.
///
/// | bits | what |
/// |---|---|
/// | 39:0 | physical page: it begins at 8,192 times this byte of the file |
/// | 62:40 | the low 23 bits of the checkpoint's epoch |
/// | 63 | in the host's map alone: the host has the page in memory |
///
/// A page says itself which checkpoint wrote it. If that is not the one that the place names, the
/// disk has lost a write or put it elsewhere, and what stands there is an older page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Place(u64);

impl Place {
    /// No place. (Physical page 0 is a superblock.)
    pub const NONE: Place = Place(0);
    /// Bits of the physical page.
    pub const PHYSICAL_BITS: u32 = 40;
    /// Bits of the epoch.
    pub const EPOCH_BITS: u32 = 23;

    /// The place of a physical page that the checkpoint of `epoch` has written.
    ///
    /// # Panics
    /// When the physical page has more than 40 bits.
    pub const fn new(physical: u64, epoch: u64) -> Self {
        assert!(physical >> Self::PHYSICAL_BITS == 0);
        Self(physical | Self::epoch_bits(epoch) << Self::PHYSICAL_BITS)
    }

    /// From the word that stands in a map; bit 63 is left out.
    pub const fn from_word(word: u64) -> Self {
        Self(word & !(1 << 63))
    }

    /// The word that stands in a map.
    pub const fn word(self) -> u64 {
        self.0
    }

    /// The physical page.
    pub const fn physical(self) -> u64 {
        self.0 & ((1 << Self::PHYSICAL_BITS) - 1)
    }

    /// Whether a page that the checkpoint of `epoch` wrote may stand here.
    pub const fn is_of(self, epoch: u64) -> bool {
        self.0 >> Self::PHYSICAL_BITS == Self::epoch_bits(epoch)
    }

    const fn epoch_bits(epoch: u64) -> u64 {
        epoch & ((1 << Self::EPOCH_BITS) - 1)
    }
}

const _: () = assert!(Place::PHYSICAL_BITS + Place::EPOCH_BITS == 63);
